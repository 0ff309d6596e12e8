package llvmprofdata

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
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
type heapPrograms struct {
	once     sync.Once
	programs *symbolize.Programs
	binaries *memprof.Binaries
	err      error
}

// open opens the program; path may be empty.
func (h *heapPrograms) open(path string) (*memprof.Binaries, error) {
	h.once.Do(func() {
		var paths []string
		if path != "" {
			// The library takes a folder for one to search in.
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				h.err = &failure{message: path + "\n" + words(syscall.EISDIR)}
				return
			}
			paths = []string{path}
		}
		var err error
		if h.programs, err = symbolize.OpenPrograms(paths, symbolize.Options{}); err != nil {
			h.err = &failure{message: path + "\n" + programWords(err)}
			return
		}
		h.binaries = memprof.NewBinaries(h.programs)
	})
	return h.binaries, h.err
}

// close closes what was opened, if anything.
func (h *heapPrograms) close() {
	if h.programs != nil {
		h.programs.Close()
	}
}

// programWords puts an error about a program into LLVM's words, or the nearest
// it has.
func programWords(err error) string {
	if errors.Is(err, profile.ErrUnrecognized) {
		return notObject
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
		_, _, err := raw.Symbolize(memprof.NewBinaries(nil), memprof.SymbolizeOptions{LLVMCompat: true})
		return nil, nil, nil, err
	}
	programs, err := t.heap.open(t.opt.profiledBin)
	if err != nil {
		return nil, nil, nil, err
	}
	p, about, err := raw.Symbolize(programs, memprof.SymbolizeOptions{LLVMCompat: true, KeepNames: names, Warn: warn})
	return raw, p, about, err
}
