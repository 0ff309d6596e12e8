package irpgo

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// An outcome is what becomes of a damaged profile.
type outcome int

const (
	rejected outcome = iota // not read
	warned                  // read, with a warning or without some functions
	checked                 // read in silence; Check finds something
	harmless                // read as if nothing were wrong, and nothing is
	silent                  // read in silence as something else
	numOutcomes
)

// mutationSeed is a profile to damage, and where in it is what.
type mutationSeed struct {
	name    string
	data    []byte
	want    map[string][]Record
	variant Variant
	where   func(off int) string
}

func newMutationSeed(t *testing.T, name string, data []byte) *mutationSeed {
	p := readProfile(t, name, data, ReaderOptions{})
	return &mutationSeed{name, data, contents(p), p.Variant, regions(t, data)}
}

// regions says of each byte of a profile whether it is part of a number that nothing else in the file speaks of.
func regions(t *testing.T, data []byte) func(off int) string {
	const counts, hashes, values = "counter", "hash", "value"
	marks := make([]string, len(data))
	mark := func(from, to int64, what string) {
		for i := from; i < to; i++ {
			marks[i] = what
		}
	}
	r := openReader(t, "seed", data, ReaderOptions{})
	switch d := r.dec.(type) {
	case *rawReader:
		p := d.cur
		mark(p.counters.off, p.counters.off+int64(len(p.counters.data)), counts)
		mark(p.bitmap.off, p.bitmap.off+int64(len(p.bitmap.data)), counts)
		mark(p.valueData, int64(len(data)), values)
		if p.version < 3 { // names are plain text, and records have no hash of them
			mark(p.names.off, p.names.off+int64(len(p.names.data)), "name")
		}
		for i := range p.numRecords() {
			at := p.records.off + int64(i*p.layout.size)
			mark(at+int64(p.layout.hash), at+int64(p.layout.hash)+8, hashes)
			if p.layout.funcPtr >= 0 {
				mark(at+int64(p.layout.funcPtr), at+int64(p.layout.funcPtr+p.ptr), values) // what targets are found by
			}
		}
	case *textReader:
		mark(0, int64(len(data)), "text")
	default:
		mark(0, int64(len(data)), "indexed")
	}
	return func(off int) string { return marks[off] }
}

// try reads a damaged profile as "profuse merge" does.
func (s *mutationSeed) try(data []byte) outcome {
	said := false
	p, err := Read(s.name, data, ReaderOptions{
		Rescue: true, Rescued: func(profile.Rescued) { said = true }, Warn: func(profile.Warning) { said = true },
	})
	switch {
	case err != nil:
		return rejected
	case said:
		return warned
	case p.Variant == s.variant && sameContents(contents(p), s.want):
		return harmless
	}
	if rep := Check(s.name, data); len(rep.Findings)+len(rep.Remarks) > 0 {
		return checked
	}
	return silent
}

func sameContents(a, b map[string][]Record) bool {
	if len(a) != len(b) {
		return false
	}
	for name, as := range a {
		if !slices.EqualFunc(as, b[name], sameRecord) {
			return false
		}
	}
	return true
}

func sameRecord(a, b Record) bool {
	return a.Hash == b.Hash && slices.Equal(a.Counts, b.Counts) && bytes.Equal(a.Bitmap, b.Bitmap) && fmt.Sprint(a.Values) == fmt.Sprint(b.Values)
}

// mutationTally counts outcomes, of silent ones also where the damage is.
type mutationTally struct {
	n     [numOutcomes]int
	all   int
	where map[string]int
}

func (m *mutationTally) add(o outcome, where string) {
	m.n[o]++
	m.all++
	if o == silent {
		if m.where == nil {
			m.where = make(map[string]int)
		}
		m.where[where]++
	}
}

// mutationSeeds are small profiles of every version that a real tool wrote,
// and built ones of those that none of today's writes.
func mutationSeeds(t *testing.T) []*mutationSeed {
	var seeds []*mutationSeed
	small := func(base string) bool {
		return base == "tool-a.profraw" || base == "tool-merged.profdata"
	}
	for _, f := range oracle.Fixtures(t) {
		if small(filepath.Base(f.Path)) {
			seeds = append(seeds, newMutationSeed(t, f.Path, f.Bytes(t)))
		}
	}
	for _, version := range []uint32{1, 2, 3, 4, 5, 7, 11} {
		b := newRawBuild(version, 8, le, IRLevel)
		b.funcs = rescueBuild(3).funcs
		b.ids = [][]byte{make([]byte, 20)}
		if version < 7 {
			b.ids = nil
		}
		if version == 1 {
			for i := range b.funcs {
				b.funcs[i].values = valueSites{}
			}
		}
		seeds = append(seeds, newMutationSeed(t, fmt.Sprintf("built, raw version %d", version), b.build()))
	}
	return seeds
}

// TestMutations damages profiles in every way there is of each kind; bench/damage measures the same through the
// commands, beside LLVM. What is read in silence as something else differs in numbers only that nothing in the file
// could contradict: counters, hashes and profiled values. In an indexed profile the summary contradicts most.
func TestMutations(t *testing.T) {
	for _, s := range mutationSeeds(t) {
		var flips, cuts, splices mutationTally
		for bit, data := range hostile.Flips(s.data, 11) {
			flips.add(s.try(data), s.where(bit/8))
		}
		for _, data := range hostile.Cuts(s.data, 1) {
			cuts.add(s.try(data), "cut")
		}
		for _, data := range hostile.Splices(2000/oracle.Step(5), s.data) {
			splices.add(s.try(data), "splice")
		}
		format, _ := Detect(s.data)
		switch format {
		case FormatRaw:
			// The pointers of versions before 8 are addresses: of what is
			// left in them a part is not contradicted by anything.
			if n := flips.where[""]; n > flips.all/50 {
				t.Errorf("%s: %d of %d flips have a silent effect although something speaks against them", s.name, n, flips.all)
			}
		case FormatIndexed:
			if n := flips.n[silent]; n > flips.all/5 {
				t.Errorf("%s: %d of %d flips have a silent effect", s.name, n, flips.all)
			}
		}
		if format != FormatText {
			if n := cuts.n[silent] + cuts.n[checked]; n > 0 {
				t.Errorf("%s: cut short, it is read as something else in silence at %d places", s.name, n)
			}
			if n := splices.n[silent]; n > splices.all/50 {
				t.Errorf("%s: %d of %d splices have a silent effect", s.name, n, splices.all)
			}
		}
	}
}
