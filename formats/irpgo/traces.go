package irpgo

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/mt19937"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// timestamp is the moment of a function's first call, a count that starts at 1 in each process.
type timestamp struct{ when, nameRef uint64 }

// traceOf orders the functions of a run by first call.
func traceOf(stamps []timestamp) []Trace {
	if len(stamps) == 0 {
		return nil
	}
	slices.SortFunc(stamps, func(a, b timestamp) int {
		return cmp.Or(cmp.Compare(a.when, b.when), cmp.Compare(a.nameRef, b.nameRef))
	})
	t := Trace{Weight: 1, NameRefs: make([]uint64, len(stamps))}
	for i, s := range stamps {
		t.NameRefs[i] = s.nameRef
	}
	return []Trace{t}
}

// A traceSampler keeps a sample of the temporal traces of all inputs.
type traceSampler interface {
	// add adds the traces of an input, themselves a sample of a stream of the given
	// size; raw says that the input is a raw profile.
	add(index int, id uint64, traces []Trace, stream uint64, raw bool)
	// merge adds the sample of another sampler of the same kind.
	merge(o traceSampler)
	// sample returns the traces kept, and the size of the stream of all.
	sample() ([]Trace, uint64)
}

// traceLimits are the sizes of a sample.
type traceLimits struct {
	size      int // traces kept
	maxLength int // functions kept of a trace
}

// cut returns the traces that are not empty, cut to their maximal length.
func (l traceLimits) cut(traces []Trace) []Trace {
	kept := make([]Trace, 0, len(traces))
	for _, t := range traces {
		if len(t.NameRefs) > l.maxLength {
			t.NameRefs = t.NameRefs[:l.maxLength]
		}
		if len(t.NameRefs) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// A ranking is a sample that does not depend on how inputs are grouped: a trace has a rank that follows from the id
// of its input, its number in the input and its functions. The traces with the lowest ranks are kept. The functions
// make ranks differ if inputs of several sums have the same ids.
type ranking struct {
	traceLimits
	traces []rankedTrace
	stream uint64 // traces seen
}

type rankedTrace struct {
	Trace
	rank            uint64
	index, position int  // of the input, of the trace in it
	raw             bool // of a raw profile: the trace has the weight of the input
}

// comparePosition compares traces by their positions in the stream.
func (t rankedTrace) comparePosition(o rankedTrace) int {
	return cmp.Or(cmp.Compare(t.index, o.index), cmp.Compare(t.position, o.position))
}

func (s *ranking) add(index int, id uint64, traces []Trace, stream uint64, raw bool) {
	traces = s.cut(traces)
	if len(traces) == 0 || s.size == 0 {
		return
	}
	for i, t := range traces {
		random := splitMix(splitMix(id) + uint64(i))
		for _, ref := range t.NameRefs {
			random = splitMix(random ^ ref)
		}
		s.traces = append(s.traces, rankedTrace{t, traceRank(random, max(stream/uint64(len(traces)), 1)), index, i, raw})
	}
	s.stream = saturate.Add(s.stream, stream)
	if len(s.traces) > 2*s.size {
		s.truncate()
	}
}

// truncate keeps the traces with the lowest ranks.
func (s *ranking) truncate() {
	slices.SortFunc(s.traces, func(a, b rankedTrace) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.comparePosition(b))
	})
	clear(s.traces[min(s.size, len(s.traces)):])
	s.traces = s.traces[:min(s.size, len(s.traces))]
}

func (s *ranking) merge(o traceSampler) {
	other := o.(*ranking)
	s.traces = append(s.traces, other.traces...)
	s.stream = saturate.Add(s.stream, other.stream)
	s.truncate()
}

// sample returns the traces in the order of the stream.
func (s *ranking) sample() ([]Trace, uint64) {
	s.truncate()
	slices.SortFunc(s.traces, rankedTrace.comparePosition)
	var traces []Trace
	for i := range s.traces {
		traces = append(traces, s.traces[i].Trace)
	}
	return traces, s.stream
}

// traceRank returns the rank of a trace that stands for n traces of its input: the first
// of n arrivals. Ranks are exponentially distributed, so that the traces with the lowest
// ranks are a fair sample. Whole numbers give the same ranks on all machines.
func traceRank(random, n uint64) uint64 {
	// -log2 of a random number between 0 and 1, in units of 2^-57.
	const one = 1 << 57
	u := random | 1
	zeros := bits.LeadingZeros64(u)
	x, log := u<<zeros, uint64(0) // x is from 1 up and below 2, in units of 2^-63
	for bit := uint64(one) / 2; bit > 0; bit /= 2 {
		if high, low := bits.Mul64(x, x); high>>63 != 0 {
			x = high
			log += bit
		} else {
			x = high<<1 | low>>63
		}
	}
	return (uint64(zeros+1)*one - log) / n
}

// splitMix is the output function of SplitMix64.
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A reservoir is the sample of InstrProfWriter::addTemporalProfileTraces of LLVM 22. It
// depends on the order and the grouping of the inputs.
type reservoir struct {
	traceLimits
	traces []Trace
	stream uint64 // traces seen
	rng    *mt19937.Generator
}

func (s *reservoir) add(_ int, _ uint64, src []Trace, stream uint64, _ bool) {
	if len(s.traces) > s.size {
		s.traces = s.traces[:s.size]
	}
	kept := s.cut(src)
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

func (s *reservoir) merge(o traceSampler) {
	traces, stream := o.sample()
	s.add(0, 0, traces, stream, false)
}

func (s *reservoir) sample() ([]Trace, uint64) { return s.traces, s.stream }
