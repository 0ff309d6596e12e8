package profdata

import (
	"math"

	"github.com/profuse-pgo/profuse/formats/memprof"
)

// Bits of the fields that decide about the hotness of a context, by LLVM's numbers of the fields.
const hotnessFields memprof.Schema = 1<<10 | 1<<23 // TotalLifetime, TotalLifetimeAccessDensity

// randomizeHotness makes the context of every site cold or warm at random
// (--memprof-random-hotness), for experiments with the hints of compilers. The sites of one
// context, in the functions that it is inlined into, are independent.
//
// For a single input it equals llvm-profdata 22 with the generator of the GNU C library: the
// same seed gives the same bytes.
func randomizeHotness(p *memprof.Profile, seed uint32) {
	rng := newLibcRand(seed)
	var mibs []memprof.MIB
	for i := range p.Records {
		sites := p.Records[i].AllocSites
		for k := range sites {
			m := p.MIBs[sites[k].MIB]
			m.TotalLifetime, m.TotalLifetimeAccessDensity = 0, math.MaxUint64
			if rng.next()%2 == 1 {
				m.TotalLifetime, m.TotalLifetimeAccessDensity = math.MaxUint64, 0
			}
			m.Fields |= hotnessFields
			sites[k].MIB = uint32(len(mibs))
			mibs = append(mibs, m)
		}
	}
	p.MIBs = mibs
}

// libcRand is rand(3) of the GNU C library: an additive feedback generator over 31 words.
type libcRand struct {
	words [31]uint32
	at    int // of the word to be replaced
}

// randLag is the distance of the second word that a new word is computed from.
const randLag = 3

func newLibcRand(seed uint32) *libcRand {
	const discard = 310
	r := &libcRand{at: randLag}
	word := int32(max(seed, 1))
	r.words[0] = uint32(word)
	for i := 1; i < len(r.words); i++ {
		// 16807 × word modulo 2^31-1, without overflow, as C rounds.
		if word = 16807*(word%127773) - 2836*(word/127773); word < 0 {
			word += math.MaxInt32
		}
		r.words[i] = uint32(word)
	}
	for range discard {
		r.next()
	}
	return r
}

// next returns the next number, of 31 bits.
func (r *libcRand) next() uint32 {
	r.words[r.at] += r.words[(r.at+len(r.words)-randLag)%len(r.words)]
	v := r.words[r.at]
	r.at = (r.at + 1) % len(r.words)
	return v >> 1
}
