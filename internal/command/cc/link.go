package cc

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/screen"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
)

// link links the objects in place of the sources, and adds the runtime or the order of the functions.
func (j *gnuJob) link(ctx context.Context, objects map[*argument]string, rustAssembly string) error {
	// gcc's link-time optimization runs the assembler once for each partition: there the driver stands in
	// for it. With LLVM the linker makes the code, see linkBitcode.
	bitcode := j.lto && j.compiler.Clang || j.linksBitcode()
	probes := j.flags.Generate && j.linksImage() // into a program or library
	argv, err := j.linkCommand(ctx, objects, rustAssembly, bitcode, probes)
	if err != nil {
		return err
	}
	if bitcode {
		err = j.linkBitcode(ctx, argv, rustAssembly)
	} else if err = j.runLinker(ctx, argv, nil); err == nil {
		err = j.writeDependencies(j.readDependencies())
	}
	if err != nil || !probes {
		return err
	}
	if !j.flags.FunctionCoverage && j.recordsCoverage() {
		// The objects say what the flags of the link do not: it gets the runtime for them.
		j.flags.FunctionCoverage, j.flags.CallGraph = true, false
		if !bitcode { // rustc's objects have been replaced
			rustAssembly = ""
		}
		return j.link(ctx, objects, rustAssembly)
	}
	return j.finishImage()
}

// linkCommand returns the compiler's command that links, and makes the files that it needs.
func (j *gnuJob) linkCommand(ctx context.Context, objects map[*argument]string, rustAssembly string, bitcode, probes bool) (argv []string, err error) {
	runtimeFile := ""
	if probes && j.flags.Runtime {
		if runtimeFile, err = j.runtimeObject(ctx, j.compiler, &j.flags, j.imageName()); err != nil {
			return nil, err
		}
	}
	if rustAssembly != "" && !bitcode {
		if err := j.replaceRustObjects(ctx, rustAssembly); err != nil {
			return nil, err
		}
	}
	argv = slices.Clone(j.compiler.argv)
	if j.lto && !bitcode {
		words, err := j.interceptAssembler(ctx)
		if err != nil {
			return nil, err
		}
		argv = append(argv, words...)
		if probes {
			header, err := j.headerObject(ctx)
			if err != nil {
				return nil, err
			}
			argv = append(argv, header)
		}
	}
	argv = append(argv, j.linkWords(objects, runtimeFile)...)
	if j.sources && j.compiler.Clang {
		argv = append(argv, "-Wno-unused-command-line-argument")
	}
	order, err := j.orderArguments(ctx)
	if j.flags.Generate && j.collectsGarbage() {
		// Without start-stop-gc GNU ld keeps all records, because the runtime refers to their section, and
		// with the records all functions.
		order = append(order, "-Wl,-z,start-stop-gc")
	}
	return append(argv, order...), err
}

// linkWords returns the arguments of a link, with the objects in place of the sources and the
// runtime before the first input.
func (j *gnuJob) linkWords(objects map[*argument]string, runtimeFile string) (argv []string) {
	for i := range j.args {
		a := &j.args[i]
		switch a.kind {
		case argInput:
			// The runtime comes first, so that its destructor, which writes the
			// profile, runs last: destructors run in reverse order.
			if runtimeFile != "" {
				argv = append(argv, runtimeFile)
				runtimeFile = ""
			}
			if object, ok := objects[a]; ok {
				argv = append(argv, object)
				continue
			}
			if a.language != "" {
				argv = append(argv, "-x", a.language, a.value, "-x", "none")
				continue
			}
		case argLanguage, argDepend, argKeep, argIgnored:
			continue
		}
		argv = append(argv, a.words...)
	}
	return argv
}

// dependencyFile returns the makefile that the linker writes, "" for none.
func (j *gnuJob) dependencyFile() (file string) {
	before := ""
	for w := range j.linkerWords() {
		if name, ok := strings.CutPrefix(w, "--dependency-file="); ok {
			file = name
		} else if before == "--dependency-file" {
			file = w
		}
		before = w
	}
	return file
}

// readDependencies returns the makefile that the linker has written, nil for none.
func (j *gnuJob) readDependencies() []byte {
	text, _ := os.ReadFile(j.dependencyFile())
	return text
}

// writeDependencies replaces the linker's makefile by one without temporary files.
func (j *gnuJob) writeDependencies(text []byte) error {
	var kept []byte
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(j.temp)) {
			kept = append(kept, line...)
		}
	}
	if bytes.Equal(kept, j.readDependencies()) {
		return nil
	}
	return os.WriteFile(j.dependencyFile(), kept, 0o666)
}

// runLinker runs a command that links. edit, if not nil, changes its messages.
func (j *gnuJob) runLinker(ctx context.Context, argv []string, edit func(line []byte) []byte) error {
	argv, err := j.shorten(argv)
	if err != nil {
		return err
	}
	cmd := j.command(ctx, argv)
	hint := ""
	filter := &lineFilter{w: screen.Unwrap(j.env.Stderr), edit: func(line []byte) []byte {
		if hint == "" {
			hint = j.missingPart(line)
		}
		switch {
		case isHarmlessLinkerWarning(line):
			return nil
		case edit != nil:
			return edit(line)
		}
		return line
	}}
	cmd.Stderr = filter
	err = j.wait(ctx, cmd)
	if cerr := filter.Close(); err == nil {
		err = cerr
	}
	if err != nil && hint != "" {
		fmt.Fprintln(j.env.Stderr, "profuse cc: "+hint)
	}
	return err
}

// recordsCoverage reports whether objects in the linked ELF file record coverage, whose
// profiles begin with a header of their own.
func (j *gnuJob) recordsCoverage() bool {
	image, err := elf.Open(j.imageName())
	if err != nil {
		return false
	}
	defer image.Close()
	return image.Section(asm.HeaderSection) != nil
}

// linksImage reports whether the result is a program or library, not a relocatable object.
func (j *gnuJob) linksImage() bool {
	return j.target.Format == asm.MachO || !j.has("-r", "-Wl,-r", "-Wl,--relocatable")
}

// collectsGarbage reports whether the arguments ask for --gc-sections and the linker knows start-stop-gc.
func (j *gnuJob) collectsGarbage() bool {
	on := false
	for w := range j.linkerWords() {
		switch w {
		case "--gc-sections", "-gc-sections":
			on = true
		case "--no-gc-sections", "-no-gc-sections":
			on = false
		}
	}
	return on && j.target.Format == asm.ELF && !j.has("-fuse-ld=gold")
}

// linkerWords iterates over the words that may be passed to the linker, by -Wl, and
// -Xlinker; others among them do no harm.
func (j *gnuJob) linkerWords() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range j.args {
			for w := range strings.SplitSeq(a.words[len(a.words)-1], ",") {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// missingPart returns the cause of a linker's message about a part of the runtime
// that this link leaves out; "" for other messages.
func (j *gnuJob) missingPart(line []byte) string {
	switch {
	case !j.flags.Generate || !j.flags.Runtime:
		return ""
	case j.flags.FunctionCoverage && bytes.Contains(line, []byte("__profuse_mip_first")):
		return "an object counts calls, so it must not be linked with -fmachine-profile-function-coverage"
	case j.flags.RuntimeBuffer == 0 && bytes.Contains(line, []byte("__profuse_mip_sample")):
		return "an object records call edges, so it must be linked with -fmachine-profile-runtime-buffer"
	case j.last("", "-mcmodel") == "-mcmodel=large" && (bytes.Contains(line, []byte("relocation truncated to fit")) || bytes.Contains(line, []byte("out of range"))):
		return "-mcmodel=large: the data of probes has to be within 2 GiB of the code; -mcmodel=medium keeps large arrays out of the way"
	case bytes.Contains(line, []byte("failed to match split-stack sequence")), bytes.Contains(line, []byte("unable to adjust the enclosing function's stack frame")):
		return "-fsplit-stack: gold and lld do not recognize the start of instrumented functions: link with GNU ld, or leave the option out"
	case bytes.Contains(line, []byte(asm.MapSection+")")) && bytes.Contains(line, []byte("invalid relocation for non-allocated")):
		return "mold cannot link the map of instrumented programs; lld, GNU ld and gold can"
	case bytes.Contains(line, []byte(asm.MapSection+"+")) && bytes.Contains(line, []byte("defined in a discarded section")):
		return "gold cannot drop instrumented functions: link without --gc-sections, or with lld or GNU ld"
	}
	return ""
}

// isHarmlessLinkerWarning recognizes lld's warning, for each field of the map, about a relocation
// relative to a section that is not loaded. lld computes the value that the format requires.
func isHarmlessLinkerWarning(line []byte) bool {
	return bytes.Contains(line, []byte("has non-ABS relocation")) &&
		(bytes.Contains(line, []byte("("+asm.MapSection)) || bytes.Contains(line, []byte("("+blocks.Section)))
}

// finishImage checks the linked ELF file and writes the link unit's hash into its headers.
func (j *gnuJob) finishImage() error {
	name := j.imageName()
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || j.target.Format != asm.ELF {
		return nil // not a file to check
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	image, err := elf.NewFile(f)
	if err != nil {
		return nil
	}
	raw := image.Section(asm.RawSection)
	if raw == nil || raw.Type == elf.SHT_NOBITS && image.Section(asm.HeaderSection) == nil {
		return nil // nothing instrumented in the file
	}
	if image.Section(asm.MapSection) == nil {
		j.warn("%s has lost its section %s while linking: nothing can tell what its profiles mean", name, asm.MapSection)
	}
	isMap := func(s *elf.Section) bool { return s.Name == asm.MapSection }
	if first := slices.IndexFunc(image.Sections, isMap); first >= 0 && slices.ContainsFunc(image.Sections[first+1:], isMap) {
		return fmt.Errorf("%s has two sections %s, since gold keeps apart the headers in objects that it has made with -r: "+
			"link the objects, or the program, with another linker", name, asm.MapSection)
	}
	for _, section := range []string{asm.RawSection, asm.HeaderSection, asm.MapSection, blocks.Section} {
		s := image.Section(section)
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		if err := j.finishSection(f, image.ByteOrder, s, filepath.Base(name)); err != nil {
			return fmt.Errorf("%s: section %s: %w", name, s.Name, err)
		}
	}
	return nil
}

// Fields of the headers of the raw, map and block sections.
const (
	headerMagic      = 0
	headerModuleHash = 12
	headerModuleBlk  = 8 // in the header of the block section
	headerFields     = 16

	mipMagic = 0x50494dfb
)

// finishSection checks that the header comes first, and writes the link unit's hash.
// Linker scripts and options that sort sections can move the header.
func (j *gnuJob) finishSection(f interface {
	io.ReaderAt
	io.WriterAt
}, order binary.ByteOrder, s *elf.Section, base string,
) error {
	header := make([]byte, headerFields)
	if _, err := f.ReadAt(header, int64(s.Offset)); err != nil {
		return err
	}
	// Package mip defines the headers of .mipraw and .mipmap, package blocks the header of the block section.
	magic, at := uint32(mipMagic), int64(headerModuleHash)
	if s.Name == blocks.Section {
		magic, at = blocks.Magic, headerModuleBlk
	}
	if order.Uint32(header[headerMagic:]) != magic {
		j.warn("section %s does not begin with its header: the linker has sorted it", s.Name)
		return nil
	}
	// A unit with a name of its own has its hash already.
	if j.options.LinkUnit != "" || order.Uint32(header[at:]) != guid.LinkUnit(unnamedUnit) {
		return nil
	}
	hash := make([]byte, 4)
	order.PutUint32(hash, guid.LinkUnit(base))
	_, err := f.WriteAt(hash, int64(s.Offset)+at)
	return err
}

// unnamedUnit is the link unit of objects that were given no name.
const unnamedUnit = "a.out"
