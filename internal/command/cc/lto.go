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

	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile/order"
)

// Under link-time optimization with LLVM the objects are bitcode, and the linker generates the code. The
// driver then links twice. The first link resolves symbols, optimizes, and prints the assembly of each
// partition instead of a program. The driver rewrites and assembles it. The second link takes these
// objects in place of the bitcode; all else stays as it is on the linker's command line.

type ltoLink struct {
	*gnuJob
	rustAssembly string
	linker       order.Linker
	program      string            // the linker
	words        []string          // its arguments
	inputs       []*ltoInput       // by word; nil if it names no file
	loads        []loading         // by word
	dir          string            // of the assembly
	thin         map[string]string // ARCHIVE(MEMBER) by the file of a member of a thin archive
	asGiven      *strings.Replacer // restores the names of inputs
	printed      map[string]bool   // lines that the first link has printed
}

// isBitcode reports whether an object is LLVM bitcode, possibly in a wrapper.
func isBitcode(head []byte) bool {
	return bytes.HasPrefix(head, []byte("BC\xc0\xde")) || bytes.HasPrefix(head, []byte("\xde\xc0\x17\x0b"))
}

// linksBitcode reports whether any object is bitcode, also in archives that the command
// line names: linkers optimize such objects, whatever the options are.
func (j *gnuJob) linksBitcode() bool {
	var words []string
	for _, a := range j.args {
		words = append(words, a.words...)
	}
	libraries := librarySearch(words)
	for i, w := range words {
		name, isLibrary := strings.CutPrefix(w, "-l")
		switch {
		case isLibrary && name == "" && i+1 < len(words):
			w = libraries.find(i, words[i+1])
		case isLibrary:
			w = libraries.find(i, name)
		}
		if !strings.HasPrefix(w, "-") && (isBitcode(headOf(w)) || holdsBitcode(w)) {
			return true
		}
	}
	return false
}

func holdsBitcode(file string) bool {
	if !object.IsArchive(headOf(file)) {
		return false
	}
	_, members, _ := readArchive(file) // the linker says what is wrong with it
	return slices.ContainsFunc(members, func(m member) bool { return isBitcode(m.data) })
}

// headOf returns the first bytes of a file, nothing if it cannot be read.
func headOf(file string) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := f.Read(head)
	return head[:n]
}

// linkBitcode links twice, given the compiler's command that links.
func (j *gnuJob) linkBitcode(ctx context.Context, argv []string, rustAssembly string) error {
	l := &ltoLink{gnuJob: j, rustAssembly: rustAssembly, thin: map[string]string{}, printed: map[string]bool{}}
	var err error
	if l.linker, err = j.linker(ctx); err != nil {
		return err
	}
	if l.linker == "" || l.linker == mold {
		return errors.New("-flto: the linker has to be lld, or GNU ld or gold with LLVMgold.so: only these print assembly and say what they load")
	}
	if err := l.recordLinker(ctx, argv); err != nil {
		return err
	}
	if err := l.readWords(); err != nil {
		return err
	}
	loaded, err := l.generateCode(ctx)
	if err != nil {
		return err
	}
	// The second link depends on what the first one has read.
	dependencies := bytes.Replace(l.readDependencies(), []byte(filepath.Join(l.dir, "image")), []byte(l.imageName()), 1)
	objects, err := l.assembleParts(ctx)
	if err != nil {
		return err
	}
	if err := l.linkAgain(ctx, objects, loaded); err != nil || len(dependencies) == 0 {
		return err
	}
	return l.writeDependencies([]byte(l.asGiven.Replace(string(dependencies))))
}

// recordLinker finds out which linker the command runs, and with which arguments.
func (l *ltoLink) recordLinker(ctx context.Context, argv []string) error {
	dir, err := l.tempDir()
	if err != nil {
		return err
	}
	n := len(l.compiler.argv)
	search := slices.Clone(argv[:n])
	record := slices.Concat(argv[:n], []string{"-B" + dir + "/"}, argv[n:])
	// A compiler looks in the folders of -B first, so it runs the script in place of the linker.
	names := []string{"ld", "ld.lld", "ld.bfd", "ld.gold", "ld.mold"}
	for _, a := range l.args {
		if a.kind == argMachine {
			search = append(search, a.words...)
		}
		for _, option := range []string{"--ld-path=", "-fuse-ld="} {
			if path, ok := strings.CutPrefix(a.words[0], option); ok && filepath.IsAbs(path) {
				l.program = path
				names = append(names, filepath.Base(path))
				record = append(record, "--ld-path="+filepath.Join(dir, filepath.Base(path)))
			}
		}
	}
	file := filepath.Join(dir, "arguments")
	// A response file is gone when the compiler ends.
	script := "#!/bin/sh\ncase \"$1\" in @*) cp \"${1#@}\" \"$0.rsp\"; set -- \"@$0.rsp\";; esac\nprintf '%s\\0' \"$0\" \"$@\" > '" + file + "'\n"
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o777); err != nil {
			return err
		}
	}
	if err := l.driver.run(ctx, record); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("-flto: %s does not run a linker that can be replaced: %w", argv[n-1], err)
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	for _, w := range responsefile.ExpandForCompiler(words[1:]) {
		if n := len(l.words); n > 0 && (l.words[n-1] == "-l" || l.words[n-1] == "--library") {
			l.words[n-1] = "-l" + w
			continue
		}
		l.words = append(l.words, w)
	}
	if l.program == "" {
		out, err := l.driver.output(ctx, append(search, "-print-prog-name="+filepath.Base(words[0])))
		if err != nil {
			return err
		}
		l.program = strings.TrimSpace(string(out))
	}
	return nil
}

// generateCode is the first link. It returns what the linker says that it has
// loaded: files, and members as ARCHIVE(MEMBER).
func (l *ltoLink) generateCode(ctx context.Context) (loaded []string, err error) {
	words := slices.Clone(l.words)
	var names []string
	for i, in := range l.inputs {
		if in != nil && in.redirected != "" {
			words[i] = in.redirected
			names = append(names, in.redirected, in.path)
		}
	}
	l.asGiven = strings.NewReplacer(names...)
	if l.dir, err = l.tempDir(); err != nil {
		return nil, err
	}
	// Given twice, --trace has GNU ld print the members of archives, too.
	words = append(words, "-o", filepath.Join(l.dir, "image"), "--trace", "--trace",
		"-plugin-opt=emit-asm", "-plugin-opt=obj-path="+filepath.Join(l.dir, "part"))
	flags := l.compilerFlags(instrument.Clang, l.target)
	for i, f := range flags {
		if f == "-mllvm" {
			words = append(words, "-plugin-opt="+flags[i+1])
		}
	}
	var out bytes.Buffer
	// The trace is on standard output, which is the user's otherwise.
	stdout := l.env.Stdout
	l.env.Stdout = &out
	err = l.runLTO(ctx, words)
	l.env.Stdout = stdout
	for line := range strings.Lines(l.asGiven.Replace(out.String())) {
		line = strings.TrimSpace(line)
		if m := bfdMember.FindStringSubmatch(line); m != nil {
			line = m[1] + "(" + m[2] + ")"
		}
		// GNU ld prints the files of thin archives.
		loaded = append(loaded, cmp.Or(l.thin[filepath.Clean(line)], line))
	}
	return loaded, err
}

// runLTO runs the linker. It prints what both links say only once.
func (l *ltoLink) runLTO(ctx context.Context, words []string) error {
	return l.runLinker(ctx, append([]string{l.program}, words...), func(line []byte) []byte {
		text := l.asGiven.Replace(string(line))
		if l.printed[text] {
			return nil
		}
		l.printed[text] = true
		return []byte(text)
	})
}

// bfdMember matches what GNU ld prints of a member of an archive. The others print ARCHIVE(MEMBER).
var bfdMember = regexp.MustCompile(`^\((.*)\)(.*)$`)

// assembleParts rewrites and assembles what the first link has printed, and returns
// the objects in the linker's order.
func (l *ltoLink) assembleParts(ctx context.Context) (objects []string, err error) {
	parts, err := filepath.Glob(filepath.Join(l.dir, "part*"))
	if err != nil {
		return nil, err
	}
	number := func(part string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(part), "part"))
		return n
	}
	slices.SortFunc(parts, func(a, b string) int { return number(a) - number(b) })
	for i, part := range parts {
		info, err := os.Stat(part)
		if err != nil {
			return nil, err
		}
		if info.Size() == 0 {
			continue
		}
		assembly := filepath.Join(l.dir, fmt.Sprintf("%d.s", i))
		if err := os.Rename(part, assembly); err != nil {
			return nil, err
		}
		if err := l.rewrite(l.imageName(), assembly, l.options); err != nil {
			return nil, err
		}
		object := replaceExtension(assembly, ".o")
		if err := l.assembleBitcode(ctx, assembly, object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func (l *ltoLink) assembleBitcode(ctx context.Context, assembly, object string) error {
	if l.rustAssembly != "" {
		return l.rustAssemble(ctx, l.target, filepath.Dir(l.rustAssembly), assembly, object)
	}
	return l.assemble(ctx, assembly, object)
}

// linkAgain is the second link. It loads the native members of archives that the
// first link has loaded, in the same order, even if optimization has removed the
// references to them: constructors run in that order.
func (l *ltoLink) linkAgain(ctx context.Context, objects, loaded []string) error {
	groups := l.pinGroups(loaded)
	rests := map[*ltoInput]string{}
	for _, in := range l.inputs {
		if _, done := rests[in]; done || in == nil || len(in.members) == 0 && !slices.ContainsFunc(groups, func(g *pinGroup) bool { return g.from == in }) {
			continue
		}
		var err error
		if rests[in], err = l.divide(in, groups); err != nil {
			return err
		}
	}
	after := map[int][]string{} // by word
	for _, g := range groups {
		after[g.after] = append(after[g.after], "--push-state", "--whole-archive", g.file, "--pop-state")
	}
	var line []string
	load := func(words []string, at loading) {
		if at == fromLib && len(words) > 0 {
			words = slices.Concat([]string{"--end-lib"}, words, []string{"--start-lib"})
		}
		line = append(line, words...)
	}
	// lld loads the code of bitcode last, the others where the first bitcode stood.
	last := l.linker == lld
	for i, w := range l.words {
		in := l.inputs[i]
		bitcode := in != nil && (in.bitcode || len(in.members) > 0)
		if bitcode && !last {
			load(objects, l.loads[i])
			objects = nil
		}
		switch {
		case !bitcode && (in == nil || len(in.pinned) == 0):
			line = append(line, w)
		case rests[in] != "":
			line = append(line, rests[in])
		}
		load(after[i], l.loads[i])
	}
	line = append(line, objects...)
	return l.runLTO(ctx, line)
}
