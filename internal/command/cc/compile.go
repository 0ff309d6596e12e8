package cc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// gnuMode is the last step that a command line asks for.
type gnuMode byte

// The step after which the compiler stops: none, -c, -S.
const (
	modeLink gnuMode = iota
	modeObjects
	modeAssembly
)

type gnuJob struct {
	*driver
	compiler *compiler
	options  instrument.Options
	target   asm.Target // of options
	args     []argument
	inputs   []*argument // of args
	sources  bool        // any input is a source
	// assembler is set if any input is an assembler source that is to be instrumented.
	assembler bool
	mode      gnuMode
	output    string // -o, "" if not given
	lto, fat  bool   // link-time optimization; with machine code in the objects, too
}

// run compiles one source after the other, as compilers do, and then links. It
// compiles the remaining sources even if one fails.
func (j *gnuJob) run(ctx context.Context, rustAssembly string) error {
	objects := map[*argument]string{}
	var failure error
	for _, in := range j.inputs {
		var err error
		switch {
		case in.input == inputSource, in.input == inputAssembler && j.assembler && j.mode != modeAssembly:
			objects[in], err = j.compile(ctx, in)
		case in.input == inputAssembler:
			if err = j.report.passed(in.value, "assembler source"); err == nil && j.mode == modeObjects {
				err = j.assembleAsIs(ctx, in)
			}
		}
		// A compiler that failed has said why; any other error is ours and ends the command.
		if exit := (*ExitError)(nil); err != nil && (ctx.Err() != nil || !errors.As(err, &exit)) {
			return err
		}
		if failure == nil {
			failure = err
		}
	}
	if failure != nil || j.mode != modeLink {
		return failure
	}
	return j.link(ctx, objects, rustAssembly)
}

// compile compiles a source and returns the object, or "" if the command stops before assembling.
func (j *gnuJob) compile(ctx context.Context, in *argument) (string, error) {
	dir, err := j.tempDir()
	if err != nil {
		return "", err
	}
	object := j.output
	if object == "" || j.mode == modeLink {
		object = stem(in.value) + ".o"
	}
	name := stem(in.value)
	if j.mode != modeLink && j.output != "" && j.output != "-" {
		// Compilers name auxiliary files after the output file.
		name = stem(j.output)
	}
	// With bitcode the linker generates the code, and only then is there anything to instrument.
	bitcode := j.lto && !j.fat && in.input == inputSource
	if bitcode || j.mode == modeLink {
		object = filepath.Join(dir, filepath.Base(object))
	}
	if bitcode {
		if err := j.driver.run(ctx, append(j.compileWords(in, "-c", object), j.dependencyWords(in)...)); err != nil {
			return "", err
		}
		return object, j.moveAuxiliary(dir)
	}
	assembly := filepath.Join(dir, name+".s")
	if err := j.printAssembly(ctx, in, assembly); err != nil {
		return "", err
	}
	if err := j.keepTemporaries(in, assembly); err != nil {
		return "", err
	}
	if j.mode == modeAssembly {
		object, err = "", j.deliver(assembly, cmp.Or(j.output, stem(in.value)+".s"))
	} else {
		err = j.assemble(ctx, assembly, object)
	}
	if err != nil {
		return "", err
	}
	return object, j.moveAuxiliary(dir)
}

// printAssembly makes the instrumented or laid out assembly of a source.
func (j *gnuJob) printAssembly(ctx context.Context, in *argument, assembly string) error {
	// Assembler sources are preprocessed at most, and have probes at the entries of functions alone.
	step, options := "-S", j.options
	if in.input == inputAssembler {
		step, options.EntriesOnly = "-E", true
	}
	if step == "-E" && (filepath.Ext(in.value) == ".s" && in.language == "" || in.language == "assembler") {
		if err := j.deliver(in.value, assembly); err != nil {
			return err
		}
	} else if err := j.driver.run(ctx, append(j.compileWords(in, step, assembly), j.dependencyWords(in)...)); err != nil {
		return err
	}
	if step == "-S" {
		return j.rewrite(in.value, assembly, options)
	}
	// Debug information of assembler sources is made of the lines of the file: they must keep their numbers.
	before, err := os.ReadFile(assembly)
	if err != nil {
		return err
	}
	if err := j.rewrite(in.value, assembly, options); err != nil {
		return err
	}
	after, err := os.ReadFile(assembly)
	if err != nil {
		return err
	}
	return os.WriteFile(assembly, keepLineNumbers(in.value, before, after), 0o666)
}

// keepLineNumbers gives each line of an assembler source its number, and each added line the number
// of the next source line.
func keepLineNumbers(source string, before, after []byte) []byte {
	var out []byte
	file, number := strconv.Quote(source), 1
	rest, before, _ := bytes.Cut(before, []byte("\n")) // of the line of that number
	added := true
	for line := range bytes.Lines(after) {
		text, want := bytes.TrimSpace(line), bytes.TrimSpace(rest)
		if len(text) == 0 && len(want) > 0 || !bytes.HasPrefix(want, text) {
			out, added = fmt.Appendf(out, "# %d %s\n%s", number, file, line), true
			continue
		}
		if added {
			out = fmt.Appendf(out, "# %d %s\n", number, file)
		}
		out, added = append(out, line...), false
		if rest = want[len(text):]; len(rest) > 0 {
			continue
		}
		number++
		if m := lineMarker.FindSubmatch(line); m != nil { // of the preprocessor
			number, _ = strconv.Atoi(string(m[1]))
			file = string(m[2])
		}
		rest, before, _ = bytes.Cut(before, []byte("\n"))
	}
	return out
}

// lineMarker matches the number and the name of the file of the next line.
var lineMarker = regexp.MustCompile(`^# (\d+) ("[^\n]*?")`)

// compileWords returns the command that compiles a source as step says: to
// assembly, or under link-time optimization to an object.
func (j *gnuJob) compileWords(in *argument, step, output string) []string {
	argv := slices.Clone(j.compiler.argv)
	for i := range j.args {
		a := &j.args[i]
		switch a.kind {
		case argInput:
			if a != in {
				continue
			}
			if in.language != "" {
				argv = append(argv, "-x", in.language)
			}
			argv = append(argv, a.words...)
		case argLink:
			// If the command does not link, the compiler warns that this option
			// is unused, as it would without the driver.
			if j.mode != modeLink {
				argv = append(argv, a.words...)
			}
		case argOutput, argLanguage, argMode, argDepend, argAssemble, argKeep, argIgnored:
		default:
			argv = append(argv, a.words...)
		}
	}
	// Options for the linker are unused in this step.
	if j.compiler.Clang && j.mode == modeLink {
		argv = append(argv, "-Wno-unused-command-line-argument")
	}
	argv = append(argv, j.compilerFlags(j.family(), j.target)...)
	if j.compiler.Clang {
		argv = append(argv, j.splitDebugWords(in)...)
	}
	// -dumpdir names auxiliary files since gcc 11.
	const dumpdirSince = 11
	if !j.compiler.Clang && j.compiler.Major >= dumpdirSince {
		argv = append(argv, "-dumpdir", j.auxiliaryPrefix())
	}
	return append(argv, step, "-o", output)
}

// splitDebugWords returns the options for the file with the debug information of a
// source, which clang would name after the assembly.
func (j *gnuJob) splitDebugWords(in *argument) []string {
	file := j.auxiliaryPrefix() + stem(in.value) + ".dwo"
	if j.mode != modeLink && j.output != "" {
		file = replaceExtension(j.output, ".dwo")
	}
	name := []string{"-Xclang", "-split-dwarf-file", "-Xclang", file}
	switch split := j.last("-gno-split-dwarf", "-gsplit-dwarf"); {
	case split == "":
		return nil
	case split == "-gsplit-dwarf=single": // the object
		name[3] = cmp.Or(j.output, stem(in.value)+".o")
		return name
	case j.mode == modeAssembly:
		return name
	}
	return append(name, "-Xclang", "-split-dwarf-output", "-Xclang", file)
}

func (j *gnuJob) auxiliaryPrefix() string {
	switch {
	case j.mode != modeLink && j.output != "":
		return strings.TrimSuffix(j.output, filepath.Base(j.output))
	case j.mode != modeLink:
		return ""
	case j.output != "":
		return replaceExtension(j.output, "") + "-"
	}
	return "a-"
}

// dependencyWords returns the options for make dependencies, with the names
// that the compiler would choose for the user's own output file.
func (j *gnuJob) dependencyWords(in *argument) []string {
	var words []string
	makes, named, targeted := false, false, false
	for _, a := range j.args {
		if a.kind != argDepend {
			continue
		}
		words = append(words, a.words...)
		word := a.words[0]
		switch {
		case word == "-MD", word == "-MMD", strings.HasPrefix(word, "--write-"):
			makes = true
		case strings.HasPrefix(word, "-MF"):
			named = true
		case strings.HasPrefix(word, "-MT"), strings.HasPrefix(word, "-MQ"):
			targeted = true
		}
	}
	if !makes {
		return words
	}
	// Make's target is the object that the user gets, not the assembly.
	if !targeted {
		words = append(words, "-MQ", cmp.Or(j.output, stem(in.value)+".o"))
	}
	if !named {
		file := stem(in.value) + ".d"
		switch {
		case j.output != "":
			file = replaceExtension(j.output, ".d")
		case j.mode == modeLink && !j.compiler.Clang:
			file = j.auxiliaryPrefix() + file
		}
		words = append(words, "-MF", file)
	}
	return words
}

// compilerFlags returns the options with which the compiler has to print assembly.
func (d *driver) compilerFlags(family instrument.Compiler, target asm.Target) []string {
	if d.evidence != nil {
		return instrument.UseFlags(family, target)
	}
	return instrument.CompilerFlags(family, target, d.flags.Profile())
}

// rewrite instruments or lays out an assembly file, as the flags ask.
func (d *driver) rewrite(source, file string, opt instrument.Options) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var out []byte
	var report func() error
	if d.evidence != nil {
		var used []instrument.FunctionUse
		out, used, err = instrument.Use(nil, text, d.evidence, instrument.UseOptions{Target: opt.Target, Split: d.flags.Split, CallsReturn: d.flags.CallsReturn})
		report = func() error { return d.report.laidOut(source, used) }
	} else {
		var done []instrument.FunctionReport
		out, done, err = instrument.Rewrite(nil, text, opt)
		report = func() error { return d.report.instrumented(source, done) }
	}
	switch {
	// A build may compile assembly that profuse cc has written before.
	case errors.Is(err, asm.ErrInstrumented):
		return d.report.passed(source, "instrumented before")
	case err != nil:
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := report(); err != nil {
		return err
	}
	return os.WriteFile(file, out, 0o666)
}

func (j *gnuJob) assemble(ctx context.Context, assembly, object string) error {
	argv := slices.Clone(j.compiler.argv)
	for _, a := range j.args {
		switch a.kind {
		case argMachine, argDebug, argAssemble:
			argv = append(argv, a.words...)
		case argCompile:
			if j.assembler && strings.HasPrefix(a.words[0], "-I") { // for .include
				argv = append(argv, a.words...)
			}
		}
	}
	if j.compiler.Clang {
		// Compiling has already printed the warnings about inline assembly, and
		// clang may warn that some files in its own text have no checksums.
		argv = append(argv, "-Wno-unused-command-line-argument", "-Wa,--no-warn")
	}
	return j.driver.run(ctx, append(argv, "-c", assembly, "-o", object))
}

// assembleAsIs assembles one assembler source of a command with several inputs.
func (j *gnuJob) assembleAsIs(ctx context.Context, in *argument) error {
	argv := slices.Clone(j.compiler.argv)
	for i := range j.args {
		a := &j.args[i]
		switch {
		case a.kind == argLanguage, a.kind == argInput && a != in:
			continue
		case a.kind == argInput && in.language != "":
			argv = append(argv, "-x", in.language)
		}
		argv = append(argv, a.words...)
	}
	return j.driver.run(ctx, argv)
}

// deliver copies an assembly file to the place that the user asked for.
func (j *gnuJob) deliver(assembly, to string) error {
	text, err := os.ReadFile(assembly)
	if err != nil {
		return err
	}
	if to == "-" {
		_, err = j.env.Stdout.Write(text)
		return err
	}
	return os.WriteFile(to, text, 0o666)
}

// keepTemporaries keeps the instrumented assembly if -save-temps asks for it.
func (j *gnuJob) keepTemporaries(in *argument, assembly string) error {
	if j.mode == modeAssembly {
		return nil
	}
	for _, a := range j.args {
		if a.kind != argKeep {
			continue
		}
		to := stem(in.value) + ".s"
		bare := !strings.Contains(a.words[0], "=")
		if (strings.HasSuffix(a.words[0], "=obj") || bare && !j.compiler.Clang) && j.output != "" {
			to = filepath.Join(filepath.Dir(j.output), to)
		}
		return j.deliver(assembly, to)
	}
	return nil
}

// moveAuxiliary copies the files that the compiler wrote beside the assembly, such as time traces and
// statistics, to the folder where it would have written them without the driver.
func (j *gnuJob) moveAuxiliary(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	to := "."
	if j.output != "" && j.mode != modeLink {
		to = filepath.Dir(j.output)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".s" || filepath.Ext(e.Name()) == ".o" || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		file := filepath.Join(to, e.Name())
		if filepath.Ext(file) == ".dwo" {
			file = j.auxiliaryPrefix() + e.Name()
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
