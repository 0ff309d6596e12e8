package cc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// rustc can print the assembly of a crate beside its objects. The driver asks for it, with one code
// generation unit so that the crate has one assembly file and one object; under -C lto=thin there is a
// pair for each crate. It rewrites and assembles the text and replaces rustc's objects by the results: in
// libraries after rustc has ended, and in linked images by acting as rustc's linker. With -C
// linker-plugin-lto rustc makes bitcode, and only the linker matters.

// isRustc reports whether the command runs rustc, also one with a release in its name.
func isRustc(argv []string) bool {
	name := programName(argv[len(argv)-1])
	return name == "rustc" || strings.HasPrefix(name, "rustc-")
}

// rustCommand is the parsed command line of rustc.
type rustCommand struct {
	emits      bool // --emit is given
	emitsLink  bool
	crateTypes []string
	crateName  string
	outDir     string
	output     string
	linker     string   // -C linker
	target     string   // --target
	machine    []string // arguments that choose the target
	words      []string
	queries    bool // prints information and compiles nothing
	thin       bool // -C lto=thin
	bitcode    bool // -C linker-plugin-lto
	packed     bool // -C split-debuginfo=packed
	inputs     []string
}

// rustSeparate lists the options whose value is the next argument.
var rustSeparate = asm.Words(`-L -l -o -C -W -A -D -F -Z --cfg --check-cfg --crate-type --crate-name --edition --emit --print
	--out-dir --explain --target --allow --warn --force-warn --deny --forbid --cap-lints --codegen --extern --sysroot
	--error-format --json --color --diagnostic-width --remap-path-prefix --remap-path-scope --env-set`)

// parseRustCommand reads what the driver needs of a command line; the words stay as they are but for the
// options that would make several objects, and the linker.
func parseRustCommand(args []string) (r rustCommand) {
	for len(args) > 0 {
		words, name, value := firstRustOption(args)
		args = args[len(words):]
		if name == "-o" {
			words = []string{name, value}
		}
		if r.readOption(name, value, words) {
			r.words = append(r.words, words...)
		}
	}
	r.emitsLink = r.emitsLink || !r.emits
	return r
}

// firstRustOption returns the words of the first option with its value, or the first input as a name.
func firstRustOption(args []string) (words []string, name, value string) {
	arg := args[0]
	switch {
	case rustSeparate[arg] && len(args) > 1:
		return args[:2], arg, args[1]
	case strings.HasPrefix(arg, "--"):
		arg, value, _ = strings.Cut(arg, "=")
	case len(arg) > 2 && arg[0] == '-' && rustSeparate[arg[:2]]:
		arg, value = arg[:2], arg[2:]
	}
	return args[:1], arg, value
}

// readOption reads an option or input. It reports whether the words stay in the command line.
func (r *rustCommand) readOption(name, value string, words []string) bool {
	switch name {
	case "-C", "--codegen":
		return r.readCodegen(value, words)
	case "--emit":
		r.emits = true
		for kind := range strings.SplitSeq(value, ",") {
			if kind, file, _ := strings.Cut(kind, "="); kind == "link" {
				r.emitsLink, r.output = true, cmp.Or(file, r.output)
			}
		}
	case "--crate-type":
		r.crateTypes = append(r.crateTypes, strings.Split(value, ",")...)
	case "--crate-name":
		r.crateName = value
	case "--out-dir":
		r.outDir = value
	case "-o":
		r.output = value
	case "--sysroot":
		r.machine = append(r.machine, words...)
	case "--target":
		r.target = value
		r.machine = append(r.machine, words...)
	case "--print", "-V", "-vV", "--version", "-h", "--help", "--explain":
		r.queries = true
	default:
		if name == "-" || !strings.HasPrefix(name, "-") {
			r.inputs = append(r.inputs, name)
		}
	}
	return true
}

// readCodegen is readOption for -C.
func (r *rustCommand) readCodegen(option string, words []string) bool {
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "codegen-units", "incremental": // would make several objects
		return false
	case "linker":
		r.linker = value
		return false
	case "target-cpu", "target-feature":
		r.machine = append(r.machine, words...)
	case "split-debuginfo":
		r.packed = value == "packed"
	case "lto":
		r.thin = value == "thin"
	case "linker-plugin-lto":
		r.bitcode = !slices.Contains([]string{"off", "no", "n", "false"}, value)
	}
	return true
}

// helper reports whether the crate runs only during the build: build scripts and procedural macros.
func (r *rustCommand) helper() bool {
	return slices.Contains(r.crateTypes, "proc-macro") || strings.HasPrefix(r.crateName, "build_script_")
}

// rustc runs a command line of rustc.
func (d *driver) rustc(ctx context.Context, argv, args []string) error {
	r := parseRustCommand(args)
	if r.queries || !r.emitsLink || r.helper() || len(r.inputs) != 1 {
		if r.helper() {
			if err := d.report.passed(r.crateName, "runs only while building"); err != nil {
				return err
			}
		}
		d.discardTemp()
		return d.passThrough(ctx, append(slices.Clone(argv), args...))
	}
	assembly := filepath.Join(d.temp, "crate.s")
	linker, err := d.linkerScript(assembly, r.linker)
	if err != nil {
		return err
	}
	target, err := d.rustTarget(ctx, argv, &r)
	if err != nil {
		return err
	}
	if r.packed && target.Format == asm.ELF {
		return errors.New("-C split-debuginfo=packed: rustc would pack the debug information of each crate twice; -C split-debuginfo=unpacked is possible")
	}
	if err := d.assemblerScript(argv[len(argv)-1], r.machine); err != nil {
		return err
	}
	command := slices.Concat(argv, r.words, d.compilerFlags(instrument.Rustc, target), []string{"-Clinker=" + linker})
	if r.bitcode {
		return d.run(ctx, command)
	}
	command, parts := r.printsAssembly(command, assembly, d.temp)
	if err := d.run(ctx, command); err != nil {
		return err
	}
	archives, err := d.rustArchives(ctx, argv, &r)
	if err != nil || len(archives) == 0 {
		return err
	}
	opt, err := d.flags.Options(target, true)
	if err != nil {
		return err
	}
	for _, archive := range archives {
		if err := d.replaceMembers(ctx, archive, parts, assembly, opt); err != nil {
			return err
		}
	}
	return nil
}

// printsAssembly returns the command that also writes the assembly, to the file assembly or, under ThinLTO,
// to files whose names rustc chooses, see rustPart, in the folder parts.
func (r *rustCommand) printsAssembly(command []string, assembly, temp string) (argv []string, parts string) {
	command, parts = append(command, "-Ccodegen-units=1"), cmp.Or(r.outDir, filepath.Dir(r.output))
	if r.thin {
		command = append(command, "--emit=asm")
	} else {
		command = append(command, "--emit=asm="+assembly)
	}
	if r.emits {
		return command, parts
	}
	if i := slices.Index(command, "-o"); r.thin && i > 0 { // rustc warns of -o beside several outputs
		return append(slices.Delete(command, i, i+2), "--emit=link="+r.output, "--out-dir="+temp), temp
	}
	return append(command, "--emit=link"), parts
}

// rustTarget returns the target that rustc compiles for.
func (d *driver) rustTarget(ctx context.Context, argv []string, r *rustCommand) (asm.Target, error) {
	triple := r.target
	if triple == "" {
		c, err := d.openCompiler(ctx, argv, nil)
		if err != nil {
			return asm.Target{}, err
		}
		triple = c.Triple
	}
	return asm.ParseTriple(strings.TrimSuffix(filepath.Base(triple), ".json"))
}

// linkerScript writes a program that rustc can call as its linker: it runs the
// driver in front of the real linker.
func (d *driver) linkerScript(assembly, linker string) (string, error) {
	// What rustc runs unless it is told otherwise, on Linux and macOS.
	if linker == "" {
		linker = "cc"
	}
	words, err := d.again(rustAssemblyOption, assembly)
	if err != nil {
		return "", err
	}
	return writeScript(filepath.Join(d.temp, "cc"), append(words, linker))
}

// again returns the command that runs the driver again with the same flags and an
// option of its own; a command to run follows.
func (d *driver) again(option, value string) ([]string, error) {
	words := append(slices.Clone(d.env.Self), option, value)
	if d.report.file != "" {
		report, err := filepath.Abs(d.report.file)
		if err != nil {
			return nil, err
		}
		words = append(words, "--report", report)
	}
	return append(append(words, d.flags.Given...), "--"), nil
}

// writeScript writes a program that runs the command followed by the program's own arguments.
func writeScript(file string, command []string) (string, error) {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nexec")
	for _, w := range command {
		b.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	b.WriteString(" \"$@\"\n")
	return file, os.WriteFile(file, []byte(b.String()), 0o777)
}

// rustAssembler is a program beside the assembly of a crate that assembles.
const rustAssembler = "as"

// assemblerScript writes a program that compiles sources of rustAssemble with the crate's compiler.
func (d *driver) assemblerScript(rustc string, machine []string) error {
	command := append([]string{rustc}, machine...)
	_, err := writeScript(filepath.Join(d.temp, rustAssembler), append(command, "--edition=2021", "--crate-type=lib", "--crate-name=profuse_assembly",
		"-Ccodegen-units=1", "-Cdebuginfo=0", "-Cembed-bitcode=no", "--cap-lints=allow"))
	return err
}

// rustAssemble assembles with the assembler inside rustc, by the script in the
// folder. Other assemblers may be too old for the syntax.
func (d *driver) rustAssemble(ctx context.Context, target asm.Target, folder, assembly, object string) error {
	// raw: braces in the text are no placeholders. rustc expects Intel's syntax on x86 otherwise.
	options := "raw"
	if target.Arch == asm.X86_64 {
		options += ", att_syntax"
	}
	source := replaceExtension(assembly, ".rs")
	text := fmt.Sprintf("#![no_std]\ncore::arch::global_asm!(include_str!(%q), options(%s));\n", assembly, options)
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		return err
	}
	return d.run(ctx, []string{filepath.Join(folder, rustAssembler), source, "--emit=obj=" + object})
}

// rustPart returns the path of the assembly of an object by rustc, in the driver's folder; "" if the
// object has none, like the allocator shim. Without ThinLTO it is the assembly of the crate; with
// ThinLTO it has the name of the object and is in the folder parts.
func (d *driver) rustPart(object, parts, crate string) (string, error) {
	own, made := strings.CutSuffix(filepath.Base(object), ".o")
	printed := filepath.Join(parts, own+".s")
	text, err := os.ReadFile(printed)
	switch {
	case !made || err != nil && !strings.HasSuffix(own, "-cgu.0.rcgu"):
		return "", nil
	case err != nil:
		if _, err := os.Stat(crate); err != nil {
			return "", nil
		}
		return crate, nil
	}
	part, err := d.tempFile("part.s")
	if err == nil {
		err = os.WriteFile(part, text, 0o666)
	}
	if err != nil {
		return "", err
	}
	return part, os.Remove(printed)
}

// rustObject rewrites and assembles the assembly of an object that rustc has made, see
// rustPart; "" if it has none.
func (d *driver) rustObject(ctx context.Context, opt instrument.Options, object, parts, crate string) (string, error) {
	part, err := d.rustPart(object, parts, crate)
	if part == "" || err != nil {
		return "", err
	}
	made := replaceExtension(part, ".o")
	if _, err := os.Stat(made); err == nil {
		return made, nil // one crate can become a library of two kinds
	}
	if err := d.rewrite(object, part, opt); err != nil {
		return "", err
	}
	return made, d.rustAssemble(ctx, opt.Target, filepath.Dir(crate), part, made)
}

// replaceRustObjects replaces rustc's objects in a linker's command line.
func (j *gnuJob) replaceRustObjects(ctx context.Context, crate string) error {
	replaced := false
	for i := range j.args {
		a := &j.args[i]
		if a.kind != argInput {
			continue
		}
		object, err := j.rustObject(ctx, j.options, a.value, filepath.Dir(a.value), crate)
		if err != nil {
			return err
		}
		if object != "" {
			a.words, a.value, replaced = []string{object}, object, true
		}
	}
	if !replaced {
		j.warn("no object of the crate is among the linked files: %s", j.output)
	}
	return nil
}

// rustArchives asks rustc for the names of the libraries that it has made.
func (d *driver) rustArchives(ctx context.Context, argv []string, r *rustCommand) ([]string, error) {
	archive := func(t string) bool { return t == "lib" || t == "rlib" || t == "staticlib" }
	// Without --crate-type the source may say which.
	if len(r.crateTypes) > 0 && !slices.ContainsFunc(r.crateTypes, archive) {
		return nil, nil
	}
	if r.output != "" && len(r.crateTypes) == 1 && archive(r.crateTypes[0]) {
		return []string{r.output}, nil
	}
	command := append(slices.Clone(argv), r.words...)
	cmd := d.command(ctx, append(command, "--print=file-names"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, nil
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("rustc --print=file-names: %v", err)
	}
	var files []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if ext := filepath.Ext(name); ext == ".rlib" || ext == ".a" {
			files = append(files, filepath.Join(r.outDir, name))
		}
	}
	return files, nil
}

// replaceMembers replaces rustc's objects in a library, whose assembly is in the
// folder parts under ThinLTO.
func (d *driver) replaceMembers(ctx context.Context, archive, parts, crate string, opt instrument.Options) error {
	out, err := d.output(ctx, []string{"ar", "t", archive})
	if err != nil {
		return fmt.Errorf("ar t %s: %v\n%s", archive, err, out)
	}
	dir, err := d.tempDir()
	if err != nil {
		return err
	}
	// The archive is replaced as a whole, since other builds may be reading it.
	copied := filepath.Join(dir, "lib.a")
	replace := []string{"ar", "rs", copied}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		object, err := d.rustObject(ctx, opt, name, parts, crate)
		if err != nil {
			return err
		}
		if object == "" {
			continue
		}
		// The member gets the name of its file.
		member := filepath.Join(dir, name)
		if err := os.Link(object, member); err != nil {
			return err
		}
		replace = append(replace, member)
	}
	if len(replace) == 3 {
		return d.report.passed(archive, "has no code of its own")
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	if err := os.WriteFile(copied, data, 0o666); err != nil {
		return err
	}
	if out, err := d.output(ctx, replace); err != nil {
		return fmt.Errorf("ar rs %s: %v\n%s", archive, err, out)
	}
	f, err := os.Open(copied)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.WriteFile(archive, f)
}
