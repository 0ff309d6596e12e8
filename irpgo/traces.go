package irpgo

import (
	"cmp"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/internal/mt19937"
)

// timestamp is the moment of a function's first call, a count that starts at
// 1 in each process.
type timestamp struct{ when, nameRef uint64 }

// traceOf orders the functions of a run by first call.
func traceOf(stamps []timestamp) []Trace {
	if len(stamps) == 0 {
		return nil
	}
	slices.SortFunc(stamps, func(a, b timestamp) int {
		if c := cmp.Compare(a.when, b.when); c != 0 {
			return c
		}
		return cmp.Compare(a.nameRef, b.nameRef)
	})
	t := Trace{Weight: 1, NameRefs: make([]uint64, len(stamps))}
	for i, s := range stamps {
		t.NameRefs[i] = s.nameRef
	}
	return []Trace{t}
}

// traceSampler keeps a sample of the temporal traces of all inputs, as
// InstrProfWriter::addTemporalProfileTraces of LLVM 22 does. The sample
// depends by definition on the order of the inputs, so inputs are admitted in
// that order, whichever worker read them.
type traceSampler struct {
	mu      sync.Mutex
	next    int // index of the next input to admit
	waiting map[int]tracesOf

	size      int // traces kept
	maxLength int // functions kept of a trace
	traces    []Trace
	stream    uint64 // traces seen
	rng       *mt19937.Generator
}

type tracesOf struct {
	traces []Trace
	stream uint64
}

func newTraceSampler(size, maxLength int) *traceSampler {
	return &traceSampler{size: size, maxLength: maxLength, waiting: make(map[int]tracesOf), rng: mt19937.New(mt19937.DefaultSeed)}
}

// admit hands in the traces of the input with this index; they are taken once
// all inputs before it were.
func (s *traceSampler) admit(index int, traces []Trace, stream uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[index] = tracesOf{traces, stream}
	for {
		t, ok := s.waiting[s.next]
		if !ok {
			return
		}
		delete(s.waiting, s.next)
		s.next++
		if len(t.traces) > 0 {
			s.add(t.traces, t.stream)
		}
	}
}

// add samples src, itself a sample of a stream of the given size.
func (s *traceSampler) add(src []Trace, stream uint64) {
	if len(s.traces) > s.size {
		s.traces = s.traces[:s.size]
	}
	kept := make([]Trace, 0, len(src))
	for _, t := range src {
		if len(t.NameRefs) > s.maxLength {
			t.NameRefs = t.NameRefs[:s.maxLength]
		}
		if len(t.NameRefs) > 0 {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return
	}
	for len(s.traces) < s.size && len(kept) > 0 {
		s.traces = append(s.traces, kept[0])
		kept = kept[1:]
	}
	for k, rest := len(kept), kept; k > 1; k-- {
		j := int(s.rng.Uint32() % uint32(k))
		rest[0], rest[j] = rest[j], rest[0]
		rest = rest[1:]
	}
	for i := uint64(len(s.traces)); i < stream && len(kept) > 0; i++ {
		if j := s.rng.Uniform(i); j < uint64(len(s.traces)) {
			s.traces[j] = kept[0]
			kept = kept[1:]
		}
	}
	s.stream += stream
}
