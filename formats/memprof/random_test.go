package memprof

import (
	"fmt"
	"math/rand/v2"
)

// shapeOf says how large random profiles are.
type shapeOf struct {
	functions, sites, depth, frames int
	schema                          Schema // 0: another for each MIB
	dataAccess                      bool
	callees                         bool
	maxValue                        uint64 // of MIB fields
	small                           bool   // few different GUIDs and frames, so that profiles have much in common
	histograms                      bool
}

// randomProfile makes a profile whose stacks share their outer parts, as those of programs do.
func randomProfile(rng *rand.Rand, sh shapeOf) *Profile {
	p := &Profile{}
	frames := make([]frameIndex, max(sh.frames, 1))
	for i := range frames {
		frames[i] = p.Stacks.addFrame(Frame{
			GUID: guidOf(fmt.Sprint("function", rng.IntN(len(frames)))), LineOffset: rng.Uint32N(70000) >> rng.IntN(16),
			Column: rng.Uint32N(100), Inline: rng.IntN(3) == 0,
		})
		if sh.small {
			frames[i] = p.Stacks.addFrame(Frame{GUID: uint64(i), LineOffset: uint32(i * i), Inline: i%3 == 0})
		}
	}
	var stacks [][]frameIndex
	stack := func() StackIndex {
		var s []frameIndex
		for range rng.IntN(sh.depth + 1) {
			s = append(s, frames[rng.IntN(len(frames))])
		}
		if len(stacks) > 0 && rng.IntN(3) > 0 {
			old := stacks[rng.IntN(len(stacks))]
			s = append(s[:len(s)/2], old[rng.IntN(len(old)+1):]...)
		}
		if len(s) > 4*sh.depth {
			s = s[:4*sh.depth]
		}
		stacks = append(stacks, s)
		return p.Stacks.addStack(s)
	}
	seen := map[uint64]bool{}
	for range sh.functions {
		r := Record{GUID: rng.Uint64() >> (8 * rng.IntN(8))}
		if sh.small {
			r.GUID = rng.Uint64N(uint64(2 * sh.functions))
		}
		if seen[r.GUID] || r.GUID >= 1<<64-2 { // LLVM reserves the last two keys of its maps
			continue
		}
		seen[r.GUID] = true
		for range rng.IntN(sh.sites + 1) {
			r.AllocSites = append(r.AllocSites, AllocSite{stack(), uint32(len(p.MIBs))})
			p.MIBs = append(p.MIBs, randomMIB(rng, sh))
		}
		for range rng.IntN(sh.sites + 1) {
			c := CallSite{Stack: stack()}
			if sh.callees {
				for range rng.IntN(7) {
					c.Callees = append(c.Callees, rng.Uint64()>>(8*rng.IntN(8)))
				}
			}
			r.CallSites = append(r.CallSites, c)
		}
		p.Records = append(p.Records, r)
	}
	if sh.dataAccess {
		p.DataAccess = randomDataAccess(rng)
	}
	return p
}

func randomMIB(rng *rand.Rand, sh shapeOf) MIB {
	schema := sh.schema
	if schema == 0 {
		schema = Schema(rng.Uint32()) & FullSchema
	}
	var m MIB
	for f := range schema.all() {
		v := rng.Uint64() >> (8 * rng.IntN(8))
		if sh.maxValue > 0 {
			v %= sh.maxValue + 1
		}
		m.set(f, v)
	}
	if sh.histograms && rng.IntN(2) == 0 {
		m.Histogram = make([]uint64, rng.IntN(5))
		for i := range m.Histogram {
			m.Histogram[i] = rng.Uint64N(1000)
		}
		m.set(accessHistogramSize, uint64(len(m.Histogram)))
	}
	return m
}

func randomDataAccess(rng *rand.Rand) *DataAccess {
	d := &DataAccess{}
	names := []string{"abc", "_ZN3fooEv", "a b", "1.5", "x'y", "file.cpp", "dir/f.h", "true", "-", "tab\there", "ünï"}
	seen := make(dataKeys)
	for range rng.IntN(6) + 1 {
		r := DataAccessRecord{AccessCount: rng.Uint64N(1000)}
		if rng.IntN(2) == 0 {
			r.Symbol = names[rng.IntN(len(names))]
		} else {
			r.Hash = rng.Uint64() >> 1
		}
		for range rng.IntN(3) {
			r.Locations = append(r.Locations, SourceLocation{names[rng.IntN(len(names))], rng.Uint32()})
		}
		if seen.add(&r) {
			d.Records = append(d.Records, r)
		}
	}
	for _, i := range rng.Perm(len(names))[:rng.IntN(4)] {
		d.ColdSymbols = append(d.ColdSymbols, names[i])
	}
	for range rng.IntN(9) {
		d.ColdHashes = append(d.ColdHashes, rng.Uint64()>>1)
	}
	return d
}
