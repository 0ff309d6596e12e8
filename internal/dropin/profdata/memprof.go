package profdata

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// rawHeapMagic is the beginning of the files that merge reads as raw memory profiles.
const rawHeapMagic = "\x81rforpm\xff"

// A heapKind is the format of a file that holds only a memory profile, 0 for
// other files. The reader of indexed profiles reads their memprof sections.
type heapKind int

const (
	rawHeap heapKind = iota + 1
	yamlHeap
)

// heapKindOf returns the kind of an input that holds only a memory profile, by its first bytes.
func heapKindOf(data []byte) heapKind {
	switch {
	case bytes.HasPrefix(data, []byte(rawHeapMagic)):
		return rawHeap
	case bytes.HasPrefix(data, []byte("---")): // as in LLVM, where other YAML is a damaged profile
		return yamlHeap
	}
	return 0
}

// clash reports whether profiles of two kinds must not be merged because one of
// them has a memory profile and the other says that it is from the front end.
// The Merger checks all other combinations, but does not see memory profiles.
func clash(a, b irpgo.Variant) bool {
	return a != 0 && b != 0 && (a | b).Has(irpgo.HasMemProf) && (a ^ b).Has(irpgo.FrontEnd)
}

// errClash is worded like the Merger's error.
var errClash = &llvmerr.Error{Code: llvmerr.MixedKinds}

// A heapPrograms opens the program of --profiled-binary when it is first needed.
type heapPrograms struct {
	once     sync.Once
	programs *symbolize.Programs
	binaries *memprof.Binaries
	err      error
}

// open opens the program; path may be empty. Further calls return the result of the first.
func (h *heapPrograms) open(path string, in inputs.Options) (*memprof.Binaries, error) {
	h.once.Do(func() {
		var paths []string
		if path != "" {
			// The library would search a folder for programs.
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				h.err = &failure{message: path + "\n" + words(syscall.EISDIR)}
				return
			}
			paths = []string{path}
		}
		var err error
		if h.programs, err = symbolize.OpenPrograms(paths, symbolize.Options{Inputs: in}); err != nil {
			h.err = &failure{message: path + "\n" + programWords(err)}
			return
		}
		h.binaries = memprof.NewBinaries(h.programs)
	})
	return h.binaries, h.err
}

func (h *heapPrograms) close() {
	if h.programs != nil {
		h.programs.Close()
	}
}

// programWords words an error about a program as LLVM does, or as nearly as LLVM's messages allow.
func programWords(err error) string {
	if errors.Is(err, profile.ErrUnrecognized) {
		return notObject
	}
	return readingWords(err)
}

func heapWords(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.Error()
	}
	if s, ok := withcolor.Strerror(err); ok {
		return s
	}
	return llvmerr.HeapMessage(err)
}

// readRawHeap reads a raw profile and opens its program. Without --profiled-binary, no program is known.
func (t *tool) readRawHeap(name string, data []byte) (*memprof.RawProfile, *memprof.Binaries, error) {
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{LLVMCompat: true})
	if err != nil {
		return nil, nil, err
	}
	programs := memprof.NewBinaries(nil)
	if t.opt.profiledBin != "" {
		programs, err = t.heap.open(t.opt.profiledBin, t.Inputs())
	}
	return raw, programs, err
}
