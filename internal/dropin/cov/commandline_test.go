package cov

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// buildMacros builds program from macros.c with clang 22, with its profile.
func buildMacros(t testing.TB) {
	t.Helper()
	llvmTool(t, 22, "llvm-cov")
	clang := llvmTool(t, 22, "clang")
	copySources(t)
	sh(t, clang, append(instrumented, "-Wl,--build-id", "macros.c", "-o", "program")...)
	profileOf(t, 22, "program")
}

// TestCommandLine compares options, messages and exit codes. P stands for the options that name program and profile.
func TestCommandLine(t *testing.T) {
	logCompared(t)
	buildMacros(t)
	for name, text := range map[string]string{
		"empty": "", "response": "-instr-profile=program.profdata\nprogram\n",
		"list1": "# a comment\nallowlist_fun:hit\n[llvmcov]\nallowlist_fun:cl*\nsrc:x\n[other]\nallowlist_fun:main\n",
		"list2": "[llvm*]\nallowlist_fun:{hit,never}\nallowlist_fun:[k-m]ai?\n",
		"list3": "#!special-case-list-v1\n[llvm.*]\nallowlist_fun:(hit|ma*)\n",
		"bad1":  "allowlist_fun:{b}\n", "bad2": "allowlist_fun:{b,c\n", "bad3": "allowlist_fun:[b\n", "bad4": "allowlist_fun:b\\\n",
		"bad5": "[llvmcov\n", "bad6": "allowlist_fun:\n", "bad7": "allowlist_fun:b=cat\n", "bad8": "allowlist_fun:=cat\n",
		"bad9": "allowlist_fun:{a,{b}}\n", "bad10": "[]\nallowlist_fun:b\n", "bad11": "#!special-case-list-v1\nallowlist_fun:(\n",
		"bad12": "\n\n#c\n  #d\nallowlist_fun:[z-a]\n",
	} {
		oracle.WriteFile(t, name, []byte(text))
	}
	for _, name := range []string{"folder/q.c", "folder/b/x/d.c", "folder/b/a.c", "folder/a.c"} {
		oracle.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666))
	}
	oracle.NoError(t, os.Symlink("nowhere", "folder/gone.c"))
	const p = "-instr-profile=program.profdata program"
	for line := range strings.Lines(`
-h
--help
-help
nonsense
export
export program
export -empty-profile
export -empty-profile program
export -empty-profile -format=lcov program
report -empty-profile program
show -empty-profile program
show -empty-profile program -output-dir=out
export -instr-profile=program.profdata
export -instr-profile=none program
report -instr-profile=none program
show -instr-profile=none program
show -instr-profile=program.profdata none
export -instr-profile=program.profdata none
export -instr-profile=macros.c program
export -instr-profile=empty program
report -instr-profile=program.profdata macros.c
report -instr-profile=program.profdata empty
report -instr-profile=program.profdata .
report -instr-profile=. program
report -instr-profile=program.profdata -object /bin/sh
report -instr-profile=program.profdata /bin/sh -object program
export -format=html P
report -format=html P
report -format=lcov P
show -format=lcov P
show -format=other P
show -use-color=x P
show -use-color=0 P
export -use-color -format=lcov P
show -line-coverage-gt=x P
show -num-threads=x P
show -num-threads=2 P
report -j 1 P
report -nonsense P
report -instr-profil=program.profdata program
report -skip-functions P
export -show-functions P
report P -instr-profile
report P -instr-profile=program.profdata
report @response
show @response -name=main
export -path-equivalence=a P
export -path-equivalence=,b P
show -coverage-watermark=a P
show -coverage-watermark=a,b P
show -coverage-watermark=90,b P
show -coverage-watermark=10,20 P
show -coverage-watermark=101,20 P
show -coverage-watermark=90,20 P
report -arch nothing P
report -arch x86_64 P
report -arch amd64 P
report -arch arm64 P
report -arch x86_64 -arch x86_64 P
report -arch x86_64 -arch x86_64 P -object program
report -show-functions P
report -show-functions P macros.c
report -show-functions P macros.c macros.h -show-branch-summary=0 -use-color
report -show-functions P macros.h -show-mcdc-summary -show-region-summary=0
report -Xdemangler=there-is-none P
report -Xdemangler=false P
report -Xdemangler=true P
report -Xdemangler=cat -show-functions P macros.c
report P nothing.c
report P macros.h macros.c macros.h
export P macros.h macros.c macros.h
export -format=lcov P macros.h macros.c
show P macros.h macros.c
show P -sources macros.h
report -sources macros.h -instr-profile=program.profdata program
report -instr-profile=program.profdata -object program -sources macros.c macros.h
report P -- macros.c
report -ignore-filename-regex=\.h$ P
export -ignore-filename-regex=\.h$ P
export -format=lcov -ignore-filename-regex=\.h$ -ignore-filename-regex=none P
show -ignore-filename-regex=\.h$ P macros.h macros.c
show -ignore-filename-regex=macros P
show -ignore-filename-regex=macros P macros.c
show -name=main P
show -name=m -name=hit P macros.c
show -name-regex=^h -name-regex=^ne P
show -name=nothing P
show -line-coverage-gt=50 -line-coverage-lt=10 P
show -region-coverage-lt=50 -name=ne P
show -name-allowlist=list1 P
show -name-allowlist=list2 P
show -name-allowlist=list3 P
show -name-allowlist=list1 -name-allowlist=list2 -name=main P
show -name-allowlist=none P
show -name-allowlist=bad1 P
show -name-allowlist=bad2 P
show -name-allowlist=bad3 P
show -name-allowlist=bad4 P
show -name-allowlist=bad5 P
show -name-allowlist=bad6 P
show -name-allowlist=bad7 P
show -name-allowlist=bad8 P
show -name-allowlist=bad9 P
show -name-allowlist=bad10 P
show -name-allowlist=bad11 P
show -name-allowlist=bad12 P
show -output-dir=macros.c P
show -output-dir=macros.c/x P
show -output-dir=out -use-color P
show -output-dir=out -show-created-time=0 P
show -output-dir=out -name=main P
show -output-dir=out -show-directory-coverage P macros.c
show -show-line-counts=0 P
show -tab-size=4 P
show -summary-only P
export -dump-collected-objects P -object x
report -dump-collected-paths P macros.c macros.h
report -dump-collected-paths P folder ./folder/b folder/
export -check-binary-ids P
export -debug-file-directory=. -instr-profile=program.profdata
export -debuginfod=0 P
`) {
		args := strings.Fields(strings.ReplaceAll(line, "P", p))
		if len(args) == 0 {
			continue
		}
		if strings.Contains(line, "_PROFILE") {
			t.Fatal(line)
		}
		compare(t, args...)
	}
}

// TestOlderProfile: a program that is newer than its profile is a warning.
func TestOlderProfile(t *testing.T) {
	buildMacros(t)
	info := oracle.Must(os.Stat("program"))(t)
	old := info.ModTime().Add(-3600e9)
	oracle.NoError(t, os.Chtimes("program.profdata", old, old))
	compare(t, "report", "-instr-profile=program.profdata", "program")
	compare(t, "export", "-format=lcov", "-instr-profile=program.profdata", "program", "-object=program", "-use-color")
	compare(t, "show", "-use-color", "-instr-profile=program.profdata", "program")
}

// TestBuildIDs: programs are found by the build ids in a profile.
func TestBuildIDs(t *testing.T) {
	buildMacros(t)
	ids := sh(t, llvmTool(t, 22, "llvm-profdata"), "show", "--binary-ids", "program.profdata")
	at := strings.LastIndex(strings.TrimSpace(ids), "\n") + 1
	id := strings.TrimSpace(ids[at:])
	if len(id) != 40 {
		t.Fatalf("the profile has no build id: %s", ids)
	}
	for _, dir := range []string{"debug", "debug/.build-id", "debug/.build-id/" + id[:2]} {
		oracle.NoError(t, os.Mkdir(dir, 0o777))
	}
	oracle.NoError(t, os.Link("program", "debug/.build-id/"+id[:2]+"/"+id[2:]+".debug"))
	const p = "-instr-profile=program.profdata"
	compare(t, "report", p, "-debug-file-directory=none")
	compare(t, "report", p, "-debug-file-directory=debug")
	compare(t, "export", p, "-debug-file-directory=none", "-debug-file-directory=debug", "-check-binary-ids")
	compare(t, "export", p, "-debug-file-directory=none", "-check-binary-ids")
	compare(t, "report", p, "-debug-file-directory=debug", "program")
}

// TestArchives: of an archive the members that have a mapping are read, also from a
// compressed file. Those of a thin archive are files.
func TestArchives(t *testing.T) {
	buildMacros(t)
	ar := oracle.Tool(t, "ar")
	oracle.WriteFile(t, "plain.c", []byte("int plain(void) { return 1; }\n"))
	clang := llvmTool(t, 22, "clang")
	sh(t, clang, append(instrumented, "-c", "macros.c", "-o", "macros.o")...)
	sh(t, clang, "-c", "plain.c", "-o", "plain.o")
	sh(t, ar, "rc", "mixed.a", "plain.o", "plain.c", "macros.o")
	oracle.NoError(t, os.Mkdir("lib", 0o777), os.Mkdir("lib/objects", 0o777))
	sh(t, clang, append(instrumented, "-c", "macros.c", "-o", "lib/objects/macros.o")...)
	sh(t, ar, "rcT", "lib/thin.a", "lib/objects/macros.o")
	data := oracle.ReadFile(t, "macros.o")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(data)
	oracle.NoError(t, z.Close(), os.WriteFile("macros.o.gz", packed.Bytes(), 0o666))
	const p = "-instr-profile=program.profdata"
	want := runMain(t, "export", p, "macros.o")
	for _, name := range []string{"mixed.a", "macros.o.gz"} {
		if got := runMain(t, "export", p, name); got.stdout != want.stdout || got.code != 0 {
			t.Errorf("%s: %+v", name, got)
		}
		if llvm := runLLVM(t, "export", p, name); llvm.code == 0 {
			t.Errorf("llvm-cov takes %s", name)
		}
	}
	compare(t, "report", p, "lib/thin.a")
	compare(t, "export", p, "lib/thin.a", "-object=program")
	oracle.NoError(t, os.Remove("lib/objects/macros.o"))
	compare(t, "report", p, "lib/thin.a")
	compare(t, "report", p, "plain.o")
	compare(t, "report", p, "plain.c")
}

// TestRawProfile: a raw profile gives what the indexed one gives.
func TestRawProfile(t *testing.T) {
	buildMacros(t)
	raw, indexed := runMain(t, "export", "-instr-profile=program.profraw", "program"), runMain(t, "export", "-instr-profile=program.profdata", "program")
	if raw != indexed || raw.code != 0 {
		t.Errorf("raw: %+v\nindexed: %+v", raw, indexed)
	}
}

// TestRefused: what is not supported is refused by name.
func TestRefused(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"gcov x.gcda", "error: the command gcov of llvm-cov is not supported by profuse\n"},
		{"convert-for-testing x -o y", "error: the command convert-for-testing of llvm-cov is not supported by profuse\n"},
		{`show -name-regex=(a)\1 -instr-profile=x y`, "back-references are not supported by profuse"},
	} {
		out := runMain(t, strings.Fields(test.args)...)
		if out.code != 1 || out.stdout != "" || !strings.Contains(out.stderr, test.want) {
			t.Errorf("%s: %+v", test.args, out)
		}
	}
}

// TestWrongExpressions: an expression with an error matches nothing, as in llvm-cov, and is a warning.
func TestWrongExpressions(t *testing.T) {
	buildMacros(t)
	for _, option := range []string{"-name-regex=(", "-ignore-filename-regex=("} {
		args := []string{"show", option, "-instr-profile=program.profdata", "program"}
		ours, llvm := runMain(t, args...), runLLVM(t, args...)
		if ours.stdout != llvm.stdout || ours.code != llvm.code || llvm.stderr != "" ||
			ours.stderr != "warning: regular expression '(' matches nothing: parentheses not balanced\n" {
			t.Errorf("%s: %+v\nLLVM: %+v", option, ours, llvm)
		}
	}
}

// TestOutputOverInput: no output takes the place of a program or the profile.
func TestOutputOverInput(t *testing.T) {
	buildMacros(t)
	oracle.NoError(t, os.Mkdir(outDir, 0o777))
	oracle.NoError(t, os.Rename("program.profdata", outDir+"/index.txt"))
	out := runMain(t, "show", "-output-dir="+outDir, "-instr-profile="+outDir+"/index.txt", "program")
	if out.code != 1 || !strings.Contains(out.stderr, "could not create index file!") {
		t.Errorf("%+v", out)
	}
}

// TestFolderOfSources: the files of a folder come in the order of their names, each once.
func TestFolderOfSources(t *testing.T) {
	buildMacros(t)
	if err := os.Symlink("..", "up"); err != nil {
		t.Skip(err)
	}
	oracle.NoError(t, os.Remove("up"))
	oracle.NoError(t, os.Symlink(".", "again"))
	folder := runMain(t, "report", "-instr-profile=program.profdata", "program", ".")
	files := runMain(t, "report", "-instr-profile=program.profdata", "program", "macros.c", "macros.h")
	if folder != files || folder.code != 0 {
		t.Errorf("%s\n%s", folder.stdout, files.stdout)
	}
}

// TestDamagedMappings: no output goes on without end for mappings with flipped bits.
func TestDamagedMappings(t *testing.T) {
	root := oracle.Root(t)
	program := oracle.ReadFile(t, filepath.Join(root, "testdata/covmap/shapes-22.o"))
	t.Chdir(t.TempDir())
	at, size := sectionOf(t, program, "__llvm_covfun")
	for bit, section := range hostile.Flips(program[at:at+size], 97) {
		oracle.WriteFile(t, "damaged.o", slices.Concat(program[:at], section, program[at+size:]))
		out := runMain(t, "show", "-empty-profile", "-show-expansions", "-show-branches=count", "-show-regions", "-show-mcdc", "damaged.o")
		if len(out.stdout) > 1<<20 {
			t.Errorf("bit %d: %d bytes", bit, len(out.stdout))
		}
	}
}

func sectionOf(t testing.TB, data []byte, name string) (at, size int) {
	t.Helper()
	f := oracle.Must(elf.NewFile(bytes.NewReader(data)))(t)
	s := f.Section(name)
	if s == nil {
		t.Fatal("no section " + name)
	}
	return int(s.Offset), int(s.Size)
}

// TestHelp: help and version are answers, with exit code 0.
func TestHelp(t *testing.T) {
	for args, want := range map[string]string{
		"export --help": "speaking llvm-cov)", "report -h": "speaking llvm-cov)", "show --help-hidden": "speaking llvm-cov)",
		"--version": "LLVM version 22.", "export --version": "LLVM version 22.",
	} {
		out := runMain(t, strings.Fields(args)...)
		if out.code != 0 || out.stderr != "" || !strings.Contains(out.stdout, want) {
			t.Errorf("%s: %+v", args, out)
		}
	}
	out := runMain(t)
	if out.code != 1 || !strings.HasPrefix(out.stderr, "Usage: llvm-cov") {
		t.Errorf("without arguments: %+v", out)
	}
}

// TestGlobs: patterns of names match as LLVM's GlobPattern does.
func TestGlobs(t *testing.T) {
	for pattern, c := range map[string]struct{ yes, no string }{
		"a*c": {"ac abc a/b/c", "ab xac"}, "a?c": {"abc a.c", "ac abbc"}, `a\*c`: {"a*c", "abc"}, "[a-c]x": {"ax cx", "dx -x"}, "[^a-c]x": {"dx ^x", "ax cx"},
		"[!ab]": {"c !", "a b"}, "[]a]": {"] a", "b"}, "[a-]": {"a -", "b"}, "[[^]": {"[ ^", "a"}, "[^]b": {"ab !b", "b ac"}, "{ab,c}d": {"abd cd", "bd ab,cd"}, "a,b}": {"a,b}", "a b"}, "a.b": {"a.b", "axb"},
	} {
		match, err := compileGlob(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		for want, names := range map[bool]string{true: c.yes, false: c.no} {
			for name := range strings.FieldsSeq(names) {
				if match(name) != want {
					t.Errorf("%s matches %s: %t", pattern, name, !want)
				}
			}
		}
	}
	for pattern, want := range map[string]error{
		"": errBlankGlob, "[a": errBracketGlob, "a[": errBracketGlob, "[]": errBracketGlob, `a\`: errStrayGlob, "[b-a]": errRangeGlob, "{a,{b,c}}": errNestedGlob, "{a,b": errOpenGlob,
		"{a}": errSingleGlob, strings.Repeat("{a,b}", 11): errTooManyGlobs,
	} {
		if _, err := compileGlob(pattern); err != want {
			t.Errorf("%q: error %v, want %v", pattern, err, want)
		}
	}
	for name, want := range map[string]string{
		"amd64": "x86_64", "arm64e": "aarch64", "i686-linux-gnu": "i386", "ppc64le": "powerpc64le", "armv7": "arm", "riscv64": "riscv64",
	} {
		if got := canonicalArch(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
