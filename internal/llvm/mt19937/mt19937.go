// Package mt19937 implements C++'s std::mt19937 and libstdc++'s distributions, so that random choices equal LLVM's.
package mt19937

// DefaultSeed is the seed of a default-constructed std::mt19937.
const DefaultSeed = 5489

// A Generator is the 32-bit Mersenne Twister with the parameters of std::mt19937.
type Generator struct {
	state [624]uint32
	pos   int
}

// New returns the generator std::mt19937(seed).
func New(seed uint32) *Generator {
	var g Generator
	g.state[0] = seed
	for i := 1; i < len(g.state); i++ {
		prev := g.state[i-1]
		g.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
	g.pos = len(g.state)
	return &g
}

// Uint32 draws 32 bits.
func (g *Generator) Uint32() uint32 {
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

// Uniform draws from 0 to limit as libstdc++'s uniform_int_distribution does. Builds of LLVM with
// another C++ library sample differently.
func (g *Generator) Uniform(limit uint64) uint64 {
	if limit >= 1<<32-1 {
		return g.uniformWide(limit)
	}
	n := uint64(uint32(limit) + 1)
	p := uint64(g.Uint32()) * n
	if low := uint32(p); uint64(low) < n {
		for t := (1<<32 - n) % n; uint64(uint32(p)) < t; {
			p = uint64(g.Uint32()) * n
		}
	}
	return p >> 32
}

// uniformWide draws from ranges of 32 bits and more, the high part first.
func (g *Generator) uniformWide(limit uint64) uint64 {
	if limit == 1<<32-1 {
		return uint64(g.Uint32())
	}
	for {
		high := g.Uniform(limit>>32) << 32
		v := high + uint64(g.Uint32())
		if v <= limit && v >= high {
			return v
		}
	}
}

// Float32 draws from [0, 1) as libstdc++'s generate_canonical<float> does.
func (g *Generator) Float32() float32 {
	if f := float32(g.Uint32()) / (1 << 32); f < 1 {
		return f
	}
	return 1 - 1.0/(1<<24)
}
