//go:build linux

package trial

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Command is a command line of profuse that reads a profile. These words stand for others:
//
//	IN        the profile, perhaps damaged
//	INTACT    the intact profile
//	FOLDER    a folder with the profile alone
//	OUT, OUT.ext  the file that the command writes, with the extension of a result
//	WITH      what merging the profile needs beside it; the profile of a program
//	PROGRAM   the options that name its program; often none
type Command struct {
	Line     string
	Families []string // of the profiles or programs that it reads; nil for all profiles
}

// commands are all commands that read a profile, a program or a tracefile.
var commands = []Command{
	{Line: "show PROGRAM IN"},
	{Line: "show --json --counts PROGRAM IN"},
	{Line: "show --values --cutoffs IN", Families: []string{irpgo}},
	{Line: "show --by all PROGRAM IN", Families: []string{memprof}},
	{Line: "show --edges IN", Families: []string{mip}},
	{Line: "check PROGRAM IN"},
	{Line: "check --json PROGRAM IN INTACT"},
	{Line: "check --against INTACT PROGRAM IN"},
	{Line: "check --classes testdata/iprof/app/classes IN", Families: []string{iprof}},
	{Line: "merge -o OUT WITH IN"},
	{Line: "merge --max-lost-inputs 100% --max-lost-functions 100% -o OUT WITH INTACT IN INTACT"},
	{Line: "merge --format text -o OUT.proftext IN", Families: []string{irpgo}},
	{Line: "merge --rescue clamp --sparse --keep-vtable-names -o OUT INTACT IN", Families: []string{irpgo}},
	{Line: "merge --indexed-version 5 --weighted-input 18446744073709551615,IN -o OUT INTACT", Families: []string{irpgo}},
	{Line: "merge --per-binary -o OUT.d IN INTACT", Families: []string{irpgo}},
	{Line: "merge --format memprof-yaml -o OUT.memprof.yaml WITH IN", Families: []string{memprof}},
	{Line: "merge --memprof-full-schema --memprof-version 0 -o OUT WITH IN INTACT", Families: []string{memprof}},
	{Line: "merge --format yaml -o OUT.mip.yaml WITH IN", Families: []string{mip}},
	{Line: "merge --normalize total --drop-unresolved -o OUT IN INTACT", Families: []string{iprof}},
	{Line: "merge --format text --flatten -o OUT.prof IN INTACT", Families: []string{sample}},
	{Line: "merge --format extbinary --compress --md5-names --nest --merge-cold-contexts -o OUT IN INTACT", Families: []string{sample}},
	{Line: "watch --once --settle 0s -q -o OUT FOLDER"},
	{Line: "salvage -o OUT IN", Families: []string{irpgo}},
	{Line: "salvage --names-from INTACT --format text -o OUT.proftext IN", Families: []string{irpgo}},
	{Line: "salvage --names-from IN -o OUT INTACT", Families: []string{irpgo}},
	{Line: "top PROGRAM IN"},
	{Line: "top --json -n 0 PROGRAM IN"},
	{Line: "compare PROGRAM INTACT IN"},
	{Line: "compare --json PROGRAM IN INTACT"},
	{Line: "report -o OUT.html PROGRAM IN"},
	{Line: "report -o OUT.html PROGRAM INTACT IN"},
	{Line: "export --to pprof -o OUT.pprof PROGRAM IN"},
	{Line: "export --to folded -o OUT.folded --lines PROGRAM IN"},
	{Line: "export --to speedscope -o OUT.json --demangle PROGRAM IN"},
	{Line: "export --to json -o OUT.json PROGRAM IN"},
	{Line: "export --to ndjson -o OUT.ndjson PROGRAM IN"},
	{Line: "export --to csv -o OUT.csv PROGRAM IN"},
	{Line: "export --to callgrind -o OUT.callgrind PROGRAM IN"},
	{Line: "export --to lcov -o OUT.info PROGRAM IN"},
	{Line: "order make -o OUT.order PROGRAM IN"},
	{Line: "order make --by heat --format gnu-ld -o OUT.ld PROGRAM IN"},
	{Line: "order eval --trace IN testdata/mip/all.elf"},
	{Line: "mip create -o OUT.mip IN", Families: []string{mip}},
	{Line: "mip mip2yaml -o OUT.yaml IN", Families: []string{mip}},
	{Line: "mip yaml2mip -o OUT.mip IN", Families: []string{mip}},
	{Line: "iprof prune --top 3 --max-frames 2 -o OUT.iprof IN", Families: []string{iprof}},
	{Line: "iprof filter --keep *a* -o OUT.iprof IN", Families: []string{iprof}},
	{Line: "iprof renumber --indent -o OUT.iprof IN", Families: []string{iprof}},
	{Line: "llvm-profdata merge -o OUT IN", Families: []string{irpgo, memprof}},
	{Line: "llvm-profdata merge -text -o OUT.proftext IN INTACT", Families: []string{irpgo}},
	{Line: "llvm-profdata show --all-functions --counts --ic-targets --memop-sizes --detailed-summary IN", Families: []string{irpgo}},
	{Line: "llvm-profdata show --memory IN", Families: []string{memprof}},
	{Line: "llvm-profdata overlap INTACT IN", Families: []string{irpgo}},
	{Line: "llvm-profdata order IN", Families: []string{irpgo}},
	{Line: "llvm-profdata merge --sample -o OUT IN INTACT", Families: []string{sample}},
	{Line: "llvm-profdata merge --sample --text --split-layout -o OUT.prof IN", Families: []string{sample}},
	{Line: "llvm-profdata show --sample --detailed-summary --hot-func-list IN", Families: []string{sample}},
	{Line: "llvm-profdata overlap --sample INTACT IN", Families: []string{sample}},
	{Line: "llvm-mipdata create -p OUT.mip IN", Families: []string{mip}},
	{Line: "llvm-mipdata show -p IN", Families: []string{mip}},
	{Line: "llvm-mipdata covered -p IN", Families: []string{mip}},
	{Line: "llvm-mipdata order -p IN", Families: []string{mip}},
	{Line: "llvm-mipdata info -p IN", Families: []string{mip}},
	{Line: "llvm-mipdata mip2yaml -p IN -o OUT.yaml", Families: []string{mip}},
	{Line: "llvm-mipdata yaml2mip -p OUT.mip IN", Families: []string{mip}},
	{Line: "cc -fmachine-profile-use=IN -- clang-22 -c -o OUT.o testdata/mip/src/calc.c", Families: []string{mip, irpgo}},
	{Line: "doctor -- cp IN OUT"},
	{Line: "coverage PROGRAM IN"},
	{Line: "coverage --json --mismatched PROGRAM IN INTACT"},
	{Line: "coverage --to cobertura -o OUT.xml PROGRAM IN"},
	{Line: "llvm-cov export -instr-profile IN testdata/covmap/shapes-22.o", Families: []string{irpgo}},
	{Line: "llvm-cov report -show-mcdc-summary -instr-profile IN testdata/covmap/conditions-22.o", Families: []string{irpgo}},
	{Line: "coverage --program IN WITH", Families: []string{mapped, debug}},
	{Line: "coverage --json --mismatched --strict --program IN --program INTACT WITH", Families: []string{mapped, debug}},
	{Line: "coverage --to codecov -o OUT.json --program IN WITH", Families: []string{mapped}},
	{Line: "coverage --classes IN -o OUT.info WITH", Families: []string{classes}},
	{Line: "export --to lcov -o OUT.info --program IN WITH", Families: []string{mapped, debug}},
	{Line: "export --to callgrind -o OUT.callgrind --classes IN WITH", Families: []string{classes}},
	{Line: "report -o OUT.html --program IN WITH", Families: []string{mapped, debug}},
	{Line: "report -o OUT.html --classes IN WITH", Families: []string{classes}},
	{Line: "check --classes IN WITH", Families: []string{classes}},
	{Line: "merge -o OUT --program IN WITH", Families: []string{debug}},
	{Line: "show --by all --program IN WITH", Families: []string{debug}},
	{Line: "coverage --baseline INTACT -o OUT.info IN", Families: []string{tracefile}},
	{Line: "coverage --json IN INTACT", Families: []string{tracefile}},
	{Line: "coverage --to coveralls -o OUT.json IN", Families: []string{tracefile}},
	{Line: "llvm-profdata show --memory --profiled-binary IN WITH", Families: []string{debug}},
	{Line: "llvm-cov export -instr-profile WITH IN", Families: []string{mapped}},
	{Line: "llvm-cov export -format=lcov -instr-profile WITH IN -object INTACT", Families: []string{mapped}},
	{Line: "llvm-cov report -show-mcdc-summary -show-instantiation-summary -instr-profile WITH IN", Families: []string{mapped}},
	{Line: "llvm-cov show -show-regions -show-branches=count -show-mcdc -show-expansions -compilation-dir testdata/covmap/src -instr-profile WITH IN", Families: []string{mapped}},
}

// Commands returns the commands that read the profiles or programs of a family.
func Commands(family string) []Command {
	// Commands without families are for profiles, not for the programs and tracefiles beside them.
	return slices.DeleteFunc(slices.Clone(commands), func(c Command) bool {
		if c.Families == nil {
			return !isProfile(family)
		}
		return !slices.Contains(c.Families, family)
	})
}

// View returns a command that serves the profile on a port.
func View(s *Subject, port int) *Command {
	// A program is damaged beside an intact profile, which is what view then shows.
	input := "PROGRAM IN"
	switch s.Family {
	case classes:
		input = "--classes IN WITH"
	case mapped, debug:
		input = "--program IN WITH"
	}
	return &Command{Line: fmt.Sprintf("view --no-open --port %d %s", port, input)}
}

// Writes reports whether the command writes a file, whole or not at all.
func (c *Command) Writes() bool {
	return strings.Contains(c.Line, "OUT") && !strings.Contains(c.Line, "OUT.d") && !strings.HasPrefix(c.Line, "doctor ") &&
		!strings.HasPrefix(c.Line, "cc ") // what other programs write is theirs
}

// Name returns the words that name the command.
func (c *Command) Name() string {
	words := strings.Fields(c.Line)
	switch words[0] {
	case "mip", "iprof", "order", "llvm-cov", "llvm-profdata", "llvm-mipdata":
		return words[0] + " " + words[1]
	}
	return words[0]
}

// Files are the files of one run.
type Files struct{ In, Intact, Folder, Out string }

// Argv returns the command line, and the file that it writes; "" if none.
func (c *Command) Argv(profuse string, s *Subject, f Files) (argv []string, out string) {
	argv = []string{profuse}
	for _, w := range strings.Fields(c.Line) {
		switch {
		case w == "WITH":
			argv = append(argv, s.With...)
		case w == "PROGRAM":
			if len(s.With) > 1 { // an option; MIP has a file of another kind
				argv = append(argv, s.With...)
			}
		case strings.HasPrefix(w, "OUT"):
			// The default extension is the extension of merged profiles.
			if out = f.Out + strings.TrimPrefix(w, "OUT"); w == "OUT" {
				out += s.Out
			}
			argv = append(argv, out)
		// The tools run in other folders, too.
		case strings.HasPrefix(w, "testdata/"):
			if abs, err := filepath.Abs(w); err == nil {
				w = abs
			}
			argv = append(argv, w)
		default:
			// INTACT comes first, since IN is a part of it.
			argv = append(argv, strings.NewReplacer("INTACT", f.Intact, "IN", f.In, "FOLDER", f.Folder).Replace(w))
		}
	}
	return argv, out
}
