package cov

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
)

// prepare (commandLineParser in CodeCoverageTool::run) checks the options of all commands, in
// llvm-cov's order, which decides what a wrong command line prints first. It returns errSilent
// if it has printed the message, and errDone after --dump-collected-….
func (t *tool) prepare() error {
	o := &t.opt
	if (o.instrProfile != "") == o.emptyProfile {
		return errors.New("exactly one of -instr-profile and -empty-profile must be specified")
	}
	if o.program != "" {
		t.objects = append(t.objects, o.program)
	}
	t.objects = append(t.objects, o.object...)
	if len(t.objects) == 0 && !o.debuginfod && len(o.debugFileDirs) == 0 {
		fmt.Fprintln(t.Stderr, "No filenames specified!")
		return errSilent
	}
	if o.dumpObjects {
		for _, name := range t.objects {
			fmt.Fprintln(t.Stdout, name)
		}
		return errDone
	}
	t.chooseColors()
	if err := t.prepareNames(); err != nil {
		return err
	}
	if err := t.makeFilters(); err != nil {
		return err
	}
	for _, name := range o.arch {
		if !knownArch(name) {
			return errors.New("unknown architecture: " + name)
		}
	}
	// One architecture is for all programs, several are for one program each.
	if n := len(o.arch); n > 1 && n != len(t.objects) {
		return errors.New("number of architectures doesn't match the number of objects")
	}
	for _, path := range o.sources {
		t.addSources(path)
	}
	if o.dumpPaths {
		for _, path := range t.sources {
			fmt.Fprintln(t.Stdout, path)
		}
		return errDone
	}
	return nil
}

// chooseColors: pages are always coloured and tracefiles never. The messages do not end the run.
func (t *tool) chooseColors() {
	o := &t.opt
	switch o.format {
	case textFormat:
		t.colors = o.color.Enabled(t.Stdout)
	case htmlFormat:
		if o.color == withcolor.Off {
			fmt.Fprintln(t.Stderr, "Color output cannot be disabled when generating html.")
		}
		t.colors = true
	case lcovFormat:
		if o.color == withcolor.On {
			fmt.Fprintln(t.Stderr, "Color output cannot be enabled when generating lcov.")
		}
	}
}

// prepareNames reads --path-equivalence and finds the demangler.
func (t *tool) prepareNames() error {
	for _, s := range t.opt.pathRemaps {
		from, to, _ := strings.Cut(s, ",")
		if from == "" || to == "" {
			t.fail("-path-equivalence", "invalid argument '"+s+"', must be in format 'from,to'")
			return errSilent
		}
		t.remap = append(t.remap, [2]string{from, to})
	}
	if demangler := t.opt.demangler; len(demangler) > 0 {
		path, err := exec.LookPath(demangler[0])
		if err != nil {
			t.fail("No such file or directory", "could not find the demangler!")
			return errSilent
		}
		t.demangler = append([]string{path}, demangler[1:]...)
	}
	return nil
}

// addSources (CodeCoverageTool::collectPaths) adds a source file, or all files below a folder, to
// the sources. With --path-equivalence a source need not exist under its name.
func (t *tool) addSources(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil && len(t.remap) > 0:
		t.addSource(path)
	case err != nil:
		t.warn(path, "Source file doesn't exist, proceeded by ignoring it.")
	case info.Mode().IsRegular():
		t.addSource(path)
	case info.IsDir():
		_ = clopt.Walk(path, func(path string, info fs.FileInfo, err error) {
			switch {
			case err != nil:
				t.warn(path, withcolor.Words(err))
			case info.Mode().IsRegular():
				t.addSource(path)
			}
		})
	}
}

// addSource adds a source under its absolute name unless --ignore-filename-regex or --include-filename-regex leaves it out.
func (t *tool) addSource(path string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		t.fail(path, withcolor.Words(err))
		return
	}
	if !t.ignored(abs) {
		t.sources = append(t.sources, abs)
	}
	t.hadSource = len(t.sources) > 0
}

func (t *tool) ignored(file string) bool {
	matches := func(matches func(string) bool) bool { return matches(file) }
	return slices.ContainsFunc(t.ignore, matches) || len(t.include) > 0 && !slices.ContainsFunc(t.include, matches)
}

// load (CodeCoverageTool::load) reads the profile and the programs. It then drops the sources of the
// command line that no program contains (removeUnmappedInputs): if none is left, show shows no
// files, and the other commands all files.
func (t *tool) load() error {
	o := &t.opt
	if !o.emptyProfile {
		profile, err := os.Stat(o.instrProfile)
		if err != nil {
			t.fail(o.instrProfile, "could not read profile data!"+withcolor.Words(err))
			return errSilent
		}
		for _, name := range t.objects {
			if info, err := os.Stat(name); err == nil && info.ModTime().After(profile.ModTime()) {
				t.warn(name, "profile data may be out of date - object is newer")
			}
		}
	}
	if err := t.evaluate(); err != nil {
		return fmt.Errorf("failed to load coverage: %w", err)
	}
	if n := len(t.cov.Mismatched); n > 0 {
		t.warn("", strconv.Itoa(n)+" functions have mismatched data")
		if o.dump {
			for _, m := range t.cov.Mismatched {
				fmt.Fprintf(t.Stderr, "hash-mismatch: No profile record found for '%s' with hash = 0x%x\n", m.Name, m.Hash)
			}
		}
	}
	t.files = t.cov.Files()
	t.remapFiles()
	// The files of the mapping are sorted.
	t.sources = slices.DeleteFunc(t.sources, func(name string) bool {
		_, found := slices.BinarySearch(t.files, name)
		return !found
	})
	t.demangle()
	return nil
}

// evaluate sets t.cov. An error of the profile comes before errors of programs, because llvm-cov opens the profile first.
func (t *tool) evaluate() error {
	memlimit.CollectLate(96 << 20)
	o := &t.opt
	var opt covmap.EvaluateOptions
	// Of several mappings of a function llvm-cov takes the first.
	opt.FirstWins, opt.NotExecuted = true, o.notExecuted
	counts := new(irpgo.Profile)
	// The profile is read while the programs are.
	read := make(chan error, 1)
	go func() {
		var err error
		if !o.emptyProfile {
			if counts, opt.Info, err = readProfile(o.instrProfile); err != nil {
				err = named(o.instrProfile, err)
			}
		}
		read <- err
	}()
	var maps []*covmap.Mapping
	// add reads the mappings of one program and closes it.
	add := func(name, arch string) error {
		data, err := t.openProgram(name)
		if err != nil {
			return err
		}
		defer data.Close()
		return object.Guard(func() error {
			found, err := readMappings(name, data.Bytes(), covmap.Options{Arch: arch, CompilationDir: o.compilation, LLVM: true, UnixPaths: filepath.Separator == '/'})
			maps = append(maps, found...)
			return err
		}, data)
	}
	arch := func(i int) string {
		if len(o.arch) == 0 {
			return ""
		}
		return o.arch[min(i, len(o.arch)-1)] // one is for all programs
	}
	var wrong error // with the programs
	for i, name := range t.objects {
		if err := add(name, arch(i)); err != nil {
			wrong = named(name, err)
			break
		}
	}
	if err := cmp.Or(<-read, wrong); err != nil {
		return err
	}
	var ids [][]byte // of the mappings of the command line
	for _, m := range maps {
		ids = append(ids, m.BuildID)
	}
	// Find the programs that the profile names and the command line does not, by build id.
	for _, id := range counts.BinaryIDs {
		if slices.ContainsFunc(ids, func(have []byte) bool { return bytes.Equal(have, id) }) {
			continue
		}
		switch path := t.findProgram(id); {
		case path != "":
			if err := add(path, arch(0)); err != nil {
				return named(path, err)
			}
		case o.checkBinary:
			return named(o.instrProfile, message("Missing binary ID: "+hex.EncodeToString(id)))
		}
	}
	if len(maps) == 0 {
		return named(strings.Join(t.objects, ", "), errors.New(noData))
	}
	var err error
	t.cov, err = covmap.Evaluate(maps, counts, opt)
	if e := (*profile.FormatError)(nil); errors.As(err, &e) {
		return named(e.File, errors.New(mapWords(err)))
	}
	return err
}

// openProgram opens a program; "-" is standard input.
func (t *tool) openProgram(name string) (*object.File, error) {
	opt := t.Inputs()
	opt.Recognize = nil // a program
	if name != inputs.Stdin {
		return object.Open(inputs.File(name, opt))
	}
	ins, err := inputs.Expand([]string{name}, opt)
	if err != nil {
		return nil, err
	}
	return object.Open(ins[0])
}

// findProgram returns the program with a build id below the folders of --debug-file-directory, "" if there is none.
// As for debuggers, its path is DIR/.build-id/XX/REST.debug, in lower-case hexadecimal.
func (t *tool) findProgram(id []byte) string {
	dirs := t.opt.debugFileDirs
	if len(dirs) == 0 {
		dirs = []string{"/usr/lib/debug"}
	}
	digits := hex.EncodeToString(id)
	for _, dir := range dirs {
		path := filepath.Join(dir, ".build-id", digits[:min(2, len(digits))], digits[min(2, len(digits)):]+".debug")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// readProfile reads an indexed profile or, unlike llvm-cov, a raw one. It refuses text profiles
// with the words for files of other formats.
func readProfile(name string) (*irpgo.Profile, *irpgo.Info, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	if f, ok := irpgo.Detect(data); !ok || f == irpgo.FormatText {
		return nil, nil, errors.New(llvmerr.Message(&llvmerr.Error{Code: llvmerr.BadMagic}))
	}
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Lenient: true})
	if err != nil {
		return nil, nil, errors.New(llvmerr.Message(err))
	}
	m := irpgo.NewMerger(irpgo.MergeOptions{})
	if _, err := m.Add(r, 1); err != nil {
		return nil, nil, errors.New(llvmerr.Message(err))
	}
	return m.Finish().Profile(), r.Info, nil
}

// readMappings reads the mappings of a program; there may be none. An error about a member of
// an archive names the member. A file of another architecture than opt.Arch is an error.
func readMappings(name string, data []byte, opt covmap.Options) ([]*covmap.Mapping, error) {
	if !object.IsImage(data) && !object.IsArchive(data) && !covmap.IsTesting(data) {
		return nil, message(notObject)
	}
	if v, ok := object.WasmVersion(data); ok && v != 1 {
		return nil, message(fmt.Sprintf("invalid version number: %d", v))
	}
	if opt.Arch != "" && object.IsImage(data) {
		if im, err := object.Parse(name, data, opt.Arch); err == nil && canonicalArch(im.Arch) != canonicalArch(opt.Arch) {
			return nil, message(noArch)
		}
	}
	maps, err := covmap.Read(name, data, opt)
	if errors.Is(err, profile.ErrEmpty) {
		return nil, nil
	}
	if m := (*object.MemberError)(nil); errors.As(err, &m) {
		return nil, named(m.Member, m.Err)
	}
	if err != nil {
		return nil, errors.New(mapWords(err))
	}
	return maps, nil
}

// named puts the name of a file before an error as LLVM does.
func named(name string, err error) error { return fmt.Errorf("'%s': %s", name, withcolor.Words(err)) }

const (
	// noData and noArch are llvm-cov's messages about programs without coverage, or without the part that --arch chooses.
	noData = "no coverage data found"
	noArch = "No object file for requested architecture"
	// notObject is for files of other formats.
	notObject = "The file was not recognized as a valid object file"
)

// mapWords words an error about a program as LLVM does, and adds the detail that LLVM lacks.
func mapWords(err error) string {
	var e *profile.FormatError
	if !errors.As(err, &e) {
		return withcolor.Words(err)
	}
	if llvm := (*llvmerr.Error)(nil); errors.As(err, &llvm) {
		return llvm.Error()
	}
	switch class := profile.ClassOf(err); class {
	case profile.ErrUnrecognized:
		return notObject
	case profile.ErrUnsupported:
		if e.Field == "version" {
			return "unsupported coverage format version: " + e.What()
		}
		return e.What()
	case profile.ErrTruncated:
		return "truncated coverage data: " + e.What()
	case profile.ErrMismatch:
		return "`-arch` specifier is invalid or missing for universal binary"
	case profile.ErrEmpty:
		return noData
	}
	return "malformed coverage data: " + e.What()
}

// remapFiles (CodeCoverageTool::remapPathNames) applies --path-equivalence. It decides where
// sources are read from, and translates the sources on the command line, which have names of
// this machine, to names of the mapping. The first pair that fits a file counts.
func (t *tool) remapFiles() {
	t.local = make(map[string]string)
	folder := func(path string) string {
		path = filepath.Clean(path)
		if !strings.HasSuffix(path, string(filepath.Separator)) {
			path += string(filepath.Separator)
		}
		return path
	}
	for _, r := range t.remap {
		from, to := folder(r[0]), folder(r[1])
		for _, name := range t.files {
			if _, done := t.local[name]; done {
				continue
			}
			if rest, ok := strings.CutPrefix(filepath.Clean(name), from); ok {
				t.local[name] = to + rest
			}
		}
	}
	if len(t.remap) == 0 {
		return
	}
	inverse := make(map[string]string, len(t.local))
	for _, name := range t.files {
		if path, ok := t.local[name]; ok {
			inverse[path] = name
		}
	}
	for i, path := range t.sources {
		if name, ok := inverse[path]; ok {
			t.sources[i] = name
		}
	}
}

// demangle (CodeCoverageTool::demangleSymbols) runs the demangler over the names of all
// functions: it writes one name per line and expects as many non-empty lines back. If the
// demangler fails, the names stay as they are and the run goes on.
func (t *tool) demangle() {
	if len(t.demangler) == 0 {
		return
	}
	var in, out bytes.Buffer
	for _, f := range t.cov.Functions {
		in.WriteString(f.Name + "\n")
	}
	cmd := exec.Command(t.demangler[0], t.demangler[1:]...)
	cmd.Stdin, cmd.Stdout = &in, &out
	if err := cmd.Run(); err != nil {
		message := ""
		if !errors.As(err, new(*exec.ExitError)) {
			message = withcolor.Words(err)
		}
		t.fail(t.demangler[0], message)
		return
	}
	n := len(t.cov.Functions)
	lines := slices.DeleteFunc(strings.SplitN(out.String(), "\n", n+1), func(s string) bool { return s == "" })
	if len(lines) != n {
		t.fail("", "demangler did not provide expected number of symbols")
		return
	}
	t.pretty = make(map[string]string, n)
	for i, f := range t.cov.Functions {
		t.pretty[f.Name] = strings.TrimRight(lines[i], " \t\n\v\f\r")
	}
}

func (t *tool) display(name string) string {
	if s, ok := t.pretty[name]; ok {
		return s
	}
	return name
}

// selected returns the files that a command shows: the sources of the command line or, without
// any, all files that are not ignored.
func (t *tool) selected() []string {
	if len(t.sources) > 0 {
		return t.sources
	}
	return t.notIgnored()
}

// functionsOf returns the functions that llvm-cov lists for a file: the functions whose first virtual file it is.
func (t *tool) functionsOf(file string) []*covmap.Function {
	return slices.DeleteFunc(slices.Clone(t.cov.File(file).Functions), func(f *covmap.Function) bool { return f.Files[0] != file })
}

func (t *tool) notIgnored() []string {
	return slices.DeleteFunc(slices.Clone(t.files), t.ignored)
}
