package llvmprofdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/profile"
)

// rawHeapMagic is how raw profiles begin that merge takes for such.
const rawHeapMagic = "\x81rforpm\xff"

// heapKind is a kind of memory profile by itself; 0 for another file. The
// sections of memory profiles in indexed files are read with these.
type heapKind int

const (
	rawHeap heapKind = iota + 1
	yamlHeap
)

func heapKindOf(data []byte) heapKind {
	switch {
	case bytes.HasPrefix(data, []byte(rawHeapMagic)):
		return rawHeap
	case memprof.IsYAML(data):
		return yamlHeap
	}
	return 0
}

// clash reports whether profiles of two kinds must not meet as one of them
// has a memory profile and the other is of the front end and says so. What
// else must not meet the Merger knows, which leaves memory profiles out of it.
func clash(a, b irpgo.Variant) bool {
	return a != 0 && b != 0 && (a | b).Has(irpgo.HasMemProf) && (a ^ b).Has(irpgo.FrontEnd)
}

// errClash is the Merger's words for it.
var errClash = &irpgo.InstrError{Code: irpgo.CodeMixedKinds}

// heapPrograms is the program of --profiled-binary, opened when it is needed.
func (t *tool) heapPrograms() (*memprof.Binaries, error) {
	t.programsOnce.Do(func() {
		var paths []string
		if path := t.opt.profiledBin; path != "" {
			// The library takes a folder for one to search in.
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				t.programsErr = &failure{message: path + "\n" + words(syscall.EISDIR)}
				return
			}
			paths = []string{path}
		}
		var err error
		if t.programs, err = memprof.OpenBinaries(paths, memprof.BinaryOptions{}); err != nil {
			t.programsErr = &failure{message: t.opt.profiledBin + "\n" + programWords(err)}
		}
	})
	return t.programs, t.programsErr
}

// closePrograms closes what heapPrograms opened.
func (t *tool) closePrograms() {
	if t.programs != nil {
		t.programs.Close()
	}
}

// programWords puts an error about a program into LLVM's words, or the nearest
// it has.
func programWords(err error) string {
	if errors.Is(err, profile.ErrUnrecognized) {
		return "The file was not recognized as a valid object file"
	}
	return readingWords(err)
}

// heapWords puts an error about a memory profile or its program into LLVM's
// words.
func heapWords(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.Error()
	}
	if s, ok := withcolor.Strerror(err); ok {
		return s
	}
	return memprof.LLVMWords(err)
}

// readRawHeap reads a raw profile and finds functions and lines in the
// program. warn is told of what LLVM passes over.
func (t *tool) readRawHeap(name string, data []byte, names bool, warn func(error)) (*memprof.RawProfile, *memprof.Profile, *memprof.Coverage, error) {
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{LLVMCompat: true})
	if err != nil {
		return nil, nil, nil, err
	}
	if t.opt.profiledBin == "" {
		_, _, err := raw.Symbolize(new(memprof.Binaries), memprof.SymbolizeOptions{LLVMCompat: true})
		return nil, nil, nil, err
	}
	programs, err := t.heapPrograms()
	if err != nil {
		return nil, nil, nil, err
	}
	p, about, err := raw.Symbolize(programs, memprof.SymbolizeOptions{LLVMCompat: true, KeepNames: names, Warn: warn})
	return raw, p, about, err
}

// addHeap merges a memory profile.
func (c *mergeContext) addHeap(t *tool, in weightedFile, data []byte, kind heapKind) {
	var p *memprof.Profile
	var err error
	warn := once(c.warn)
	switch kind {
	case rawHeap:
		_, p, _, err = t.readRawHeap(in.name, data, false, func(err error) { warn(irpgo.Warning{File: in.name, Err: err}) })
		if err != nil {
			// It ends the run whatever --failure-mode says.
			c.fatal = &failure{whence: in.name, message: heapWords(err)}
			return
		}
	default:
		p, err = memprof.ReadYAML(in.name, data)
	}
	switch {
	case clash(c.kind, irpgo.HasMemProf) && kind == rawHeap:
		c.complain(in.name, "Cannot merge MemProf profile with Clang generated profile.")
		return
	case clash(c.kind, irpgo.HasMemProf):
		c.complain(in.name, "Cannot merge MemProf profile with incompatible profile.")
		return
	case err != nil:
		if !errors.Is(err, profile.ErrEmpty) {
			c.warn(irpgo.Warning{File: in.name, Err: err})
		}
		c.kind |= irpgo.HasMemProf
		c.complain(in.name, "The profile is empty.")
		return
	}
	c.kind |= irpgo.HasMemProf
	if err := c.merger.AddMemProf(in.name, p, in.weight); err != nil {
		c.complain(in.name, heapWords(err))
	}
}

// randomHotness makes contexts hot and cold at random, as LLVM does with a
// single input, and says with which seed, once for every thread.
func (t *tool) randomHotness(p *memprof.Profile) {
	if p != nil && t.opt.randomHotness {
		p.RandomizeHotness(t.opt.randomHotnessSeed)
	}
}

// tellSeed settles the seed and prints it as each of n threads does.
func (t *tool) tellSeed(n int) {
	if !t.opt.randomHotness {
		return
	}
	if t.opt.randomHotnessSeed == 0 {
		t.opt.randomHotnessSeed = uint32(time.Now().Unix())
	}
	for range n {
		t.msg.plain("random hotness seed = %d", t.opt.randomHotnessSeed)
	}
}

// heapOptions say how the memprof section is written.
func (o *options) heapOptions() memprof.WriteOptions {
	w := memprof.WriteOptions{Version: o.memprofVersion, LLVMRelease: llvmRelease}
	if o.memprofFullSchema {
		w.Schema = memprof.FullSchema
	}
	return w
}

// showHeap shows a raw profile or the memprof section of an indexed one.
func (t *tool) showHeap(out io.Writer) error {
	name := t.opt.profileFile
	if t.opt.showFormat == showJSON {
		return &failure{message: "JSON output is not supported for MemProf"}
	}
	in, err := t.input(name)
	if err != nil {
		return &failure{whence: name, message: readingWords(err)}
	}
	data, err := in.Open(nil)
	if err != nil {
		return &failure{whence: name, message: readingWords(err)}
	}
	defer data.Close()
	return inputs.Guard(func() error {
		if heapKindOf(data.Bytes()) == rawHeap {
			warn := func(err error) { t.msg.warn(name, details(err)) }
			raw, p, about, err := t.readRawHeap(name, data.Bytes(), true, warn)
			if err != nil {
				return &failure{message: heapWords(err)}
			}
			return memprof.WriteRawShow(out, raw, p, about)
		}
		if f, ok := irpgo.Detect(data.Bytes()); !ok || f != irpgo.FormatIndexed {
			return &failure{whence: name, message: words(&irpgo.InstrError{Code: irpgo.CodeBadMagic})}
		}
		r, err := irpgo.NewReader(name, data.Bytes(), irpgo.ReaderOptions{Lenient: true})
		if err != nil {
			return &failure{whence: name, message: words(err)}
		}
		section := r.MemProf()
		if section == nil {
			return &failure{whence: name, message: "the profile has no memprof section"} // LLVM crashes
		}
		p, err := section.Profile()
		if err != nil {
			return &failure{whence: name, message: words(err)}
		}
		return memprof.WriteShow(out, p)
	}, data)
}

// textLosesHeap warns that a text profile is without the memory profile that
// was merged.
func (t *tool) textLosesHeap(p *irpgo.Profile) {
	if p.MemProf != nil && !p.MemProf.Empty() {
		t.msg.warn("", "text has no place for memory profiles: it is left out")
	}
}

// sectionLoses warns of what the version of the memprof section cannot hold.
// That none holds histograms is not worth saying each time.
func (t *tool) sectionLoses(w irpgo.Warning) {
	var e *profile.FormatError
	if errors.As(w.Err, &e) && e.Section == "memprof" && e.Field != "access histograms" {
		t.msg.warn("", fmt.Sprintf("version %d of the memprof section cannot hold %s: left out", t.opt.memprofVersion, e.Field))
	}
}

// programCache is the program of a run.
type programCache struct {
	programsOnce sync.Once
	programs     *memprof.Binaries
	programsErr  error
}
