package order

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/symbols"
)

// A Trace is the functions of one run in the order of their first calls.
type Trace struct {
	Functions []string
	Weight    float64 // relative to other traces; 0 means 1
}

// EvalOptions adjust [Image.Evaluate].
type EvalOptions struct {
	PageSizes []uint64  // in bytes and powers of two; nil means 4 KiB
	Shares    []float64 // of the first calls, in percent, for [Score].Until
	// Profiled are the functions, called or not, that the profile of the traces records; nil if unknown.
	// The parts of these functions count as profiled.
	Profiled []string
}

// A Score rates a layout for traces and one page size; its values are weighted means over the traces. The model:
// the first call of a function touches all of its code, a page faults when it is first touched, and no page is
// present before or is loaded by the fault of another.
type Score struct {
	PageSize uint64  // bytes
	Pages    float64 // pages with code of called functions
	// Unknown is how many more pages are touched if all functions run that are not in
	// EvalOptions.Profiled. Unprofiled counts these functions, UnprofiledBytes their bytes of code.
	Unknown         float64
	Unprofiled      int
	UnprofiledBytes uint64
	Touched         float64   // bytes of the pages with code of called functions
	Executed        float64   // bytes of code of called functions
	Until           []float64 // has the page faults up to each of the shares of the first calls
	// Area is the area under the curve of page faults over first calls, divided by the number of first calls: the
	// mean number of page faults so far, over all points of a run.
	Area float64
	// Called counts the called functions that the image has, Missing the called names that the image lacks.
	Called, Missing float64
}

// errEval begins the errors of [Image.Evaluate]: a bad option or weight, or traces
// without a function of the image.
var errEval = errors.New("cannot evaluate the layout")

// Evaluate scores the image against traces, for each page size.
func (im *Image) Evaluate(traces []Trace, opt EvalOptions) ([]Score, error) {
	sizes := opt.PageSizes
	if len(sizes) == 0 {
		sizes = []uint64{4 << 10}
	}
	for _, size := range sizes {
		if size == 0 || size&(size-1) != 0 {
			return nil, fmt.Errorf("%w: page size %d is no power of two", errEval, size)
		}
	}
	for _, share := range opt.Shares {
		if !(share > 0 && share <= 100) {
			return nil, fmt.Errorf("%w: %v%% of first calls", errEval, share)
		}
	}
	scores := make([]Score, len(sizes))
	for i, size := range sizes {
		scores[i] = Score{PageSize: size, Until: make([]float64, len(opt.Shares))}
	}
	unknown := im.unprofiled(opt.Profiled)
	total := 0.0
	for _, t := range traces {
		weight := cmp.Or(t.Weight, 1)
		if !(weight > 0) || math.IsInf(weight, 0) {
			return nil, fmt.Errorf("%w: weight %v", errEval, t.Weight)
		}
		called, m := im.resolve(t.Functions)
		if len(called) == 0 {
			continue
		}
		total += weight
		for i := range scores {
			touched := scores[i].addTrace(im, called, len(m.Missing), opt.Shares, weight)
			before := len(touched)
			for _, f := range unknown {
				scores[i].touchPages(touched, f.Addr, f.Size)
			}
			scores[i].Unknown += weight * float64(len(touched)-before)
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("%w: no trace names a function of the program", errEval)
	}
	for i := range scores {
		scores[i].scale(1 / total)
		scores[i].Unprofiled = len(unknown)
		for _, f := range unknown {
			scores[i].UnprofiledBytes += f.Size
		}
	}
	return scores, nil
}

// unprofiled returns the functions of the image that are not among the profiled functions; nil if
// profiled is empty.
func (im *Image) unprofiled(profiled []string) (functions []Function) {
	if len(profiled) == 0 {
		return nil
	}
	known := make(map[string]bool, len(profiled))
	for _, name := range profiled {
		known[symbols.BaseName(name)] = true
	}
	for i := range im.code {
		p := &im.code[i]
		if !slices.ContainsFunc(p.names, func(name string) bool {
			base := symbols.BaseName(name)
			return known[base] || im.symbols.underscore && known[strings.TrimPrefix(base, "_")]
		}) {
			functions = append(functions, Function{Name: p.names[0], Addr: p.addr, Size: p.size})
		}
	}
	return functions
}

func (s *Score) touchPages(touched map[uint64]bool, addr, size uint64) {
	for page := addr / s.PageSize; page <= (addr+size-1)/s.PageSize; page++ {
		touched[page] = true
	}
}

func (s *Score) addTrace(im *Image, called []int32, missing int, shares []float64, weight float64) (touched map[uint64]bool) {
	touched = make(map[uint64]bool)
	for _, f := range im.always {
		s.touchPages(touched, f.Addr, max(f.Size, 1))
	}
	faults := make([]int, len(called)) // after each first call
	executed, area := uint64(0), 0
	for t, i := range called {
		p := &im.code[i]
		executed += p.size
		s.touchPages(touched, p.addr, p.size)
		faults[t] = len(touched)
		area += len(touched)
	}
	s.Pages += weight * float64(len(touched))
	s.Touched += weight * float64(uint64(len(touched))*s.PageSize)
	s.Executed += weight * float64(executed)
	s.Area += weight * float64(area) / float64(len(called))
	s.Called += weight * float64(len(called))
	s.Missing += weight * float64(missing)
	for k, share := range shares {
		n := int(math.Ceil(share / 100 * float64(len(called))))
		s.Until[k] += weight * float64(faults[max(min(n, len(called)), 1)-1])
	}
	return touched
}

func (s *Score) scale(f float64) {
	for _, v := range []*float64{&s.Pages, &s.Unknown, &s.Touched, &s.Executed, &s.Area, &s.Called, &s.Missing} {
		*v *= f
	}
	for k := range s.Until {
		s.Until[k] *= f
	}
}
