package irpgo

import "sync"

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
	rng       mt19937
}

type tracesOf struct {
	traces []Trace
	stream uint64
}

func newTraceSampler(size, maxLength int) *traceSampler {
	return &traceSampler{size: size, maxLength: maxLength, waiting: make(map[int]tracesOf), rng: newMT19937(mt19937Seed)}
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
		j := int(s.rng.next() % uint32(k))
		rest[0], rest[j] = rest[j], rest[0]
		rest = rest[1:]
	}
	for i := uint64(len(s.traces)); i < stream && len(kept) > 0; i++ {
		if j := s.rng.uniform(i); j < uint64(len(s.traces)) {
			s.traces[j] = kept[0]
			kept = kept[1:]
		}
	}
	s.stream += stream
}

const mt19937Seed = 5489

// mt19937 is the 32-bit Mersenne Twister with C++'s parameters.
type mt19937 struct {
	state [624]uint32
	pos   int
}

func newMT19937(seed uint32) mt19937 {
	var g mt19937
	g.state[0] = seed
	for i := 1; i < len(g.state); i++ {
		prev := g.state[i-1]
		g.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
	g.pos = len(g.state)
	return g
}

func (g *mt19937) next() uint32 {
	const n, m = 624, 397
	if g.pos == n {
		for i := range n {
			y := g.state[i]&0x80000000 | g.state[(i+1)%n]&0x7fffffff
			v := g.state[(i+m)%n] ^ y>>1
			if y&1 != 0 {
				v ^= 0x9908b0df
			}
			g.state[i] = v
		}
		g.pos = 0
	}
	y := g.state[g.pos]
	g.pos++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// uniform draws from 0 to limit as libstdc++'s uniform_int_distribution does
// over 32 random bits; builds of LLVM with another C++ library sample
// differently.
func (g *mt19937) uniform(limit uint64) uint64 {
	if limit >= 1<<32-1 {
		return g.uniformWide(limit)
	}
	n := uint64(uint32(limit) + 1)
	p := uint64(g.next()) * n
	if low := uint32(p); uint64(low) < n {
		for t := (1<<32 - n) % n; uint64(uint32(p)) < t; {
			p = uint64(g.next()) * n
		}
	}
	return p >> 32
}

// uniformWide covers ranges of 32 bits and more: upscaling by drawing the
// high part first.
func (g *mt19937) uniformWide(limit uint64) uint64 {
	if limit == 1<<32-1 {
		return uint64(g.next())
	}
	for {
		high := g.uniform(limit>>32) << 32
		v := high + uint64(g.next())
		if v <= limit && v >= high {
			return v
		}
	}
}
