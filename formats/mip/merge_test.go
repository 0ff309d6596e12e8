package mip

import (
	"bytes"
	cmpstd "cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var profileTypes = []ProfileType{
	FunctionCoverage,
	FunctionCoverage | BlockCoverage,
	callGraph,
	callGraph | BlockCoverage,
	callGraph | ReturnAddress,
	callGraph | ReturnAddress | BlockCoverage,
}

// randomMap makes an empty profile of n functions as a linker might lay them
// out: names distinct but for a few, records in order with some gaps.
func randomMap(rng *rand.Rand, t ProfileType, n int) *Profile {
	p := &Profile{Type: t, ModuleHash: guid.LinkUnit("test")}
	off := uint64(headerSizeB)
	for i := range n {
		f := Function{
			Name: fmt.Sprintf("_Z%dfn%d", rng.IntN(9), i), Address: -1<<20 + int64(i)*64,
			Size: uint32(1 + rng.IntN(500)), CFG: rng.Uint32(),
		}
		if rng.IntN(8) == 0 {
			f.Name = "local" // a static function of several files
		}
		if t.Has(BlockCoverage) {
			for range rng.IntN(6) {
				f.Blocks = append(f.Blocks, Block{Offset: uint32(rng.IntN(500))})
			}
		}
		if !t.Has(FunctionCoverage) {
			off = (off + 3) &^ 3
		}
		if rng.IntN(10) == 0 {
			off += 4 // the record of a function that has no map entry
		}
		f.RawOffset = off
		off = f.rawEnd(t)
		p.Functions = append(p.Functions, f)
	}
	return p
}

// randomRun fills in what one run of the program of map p leaves.
func randomRun(rng *rand.Rand, p *Profile) *Profile {
	p = p.clone()
	for i := range p.Functions {
		f := &p.Functions[i]
		if rng.IntN(3) > 0 {
			continue
		}
		f.MergeCount, f.CallCount = 1, 1
		if !p.Type.Has(FunctionCoverage) {
			f.CallCount = uint64(1 + rng.IntN(1000))
			if rng.IntN(20) == 0 {
				f.CallCount = rawNotCalled - 1
			}
			f.TimestampSum = uint64(1 + rng.IntN(len(p.Functions)))
		}
		for b := range f.Blocks {
			f.Blocks[b].Covered = p.Type.Has(BlockCoverage) && rng.IntN(2) == 0
		}
		if p.Type.Has(ReturnAddress) {
			source := int32(-1<<20 + rng.IntN(100))
			for range rng.IntN(4) {
				f.CallEdges = append(f.CallEdges, CallEdge{source, uint64(1 + rng.IntN(500))})
				source += int32(1 + rng.IntN(100))
			}
			if rng.IntN(3) == 0 {
				f.CallEdges = append(f.CallEdges, CallEdge{0, math.MaxUint32})
			}
		}
	}
	return p
}

// mergePlain merges runs by the rules of the format, record by record.
func mergePlain(base *Profile, runs ...*Profile) *Profile {
	p := base.clone()
	for _, run := range runs {
		for i := range p.Functions {
			f, g := &p.Functions[i], &run.Functions[i]
			f.MergeCount = uint32(min(uint64(f.MergeCount)+uint64(g.MergeCount), math.MaxUint32))
			if p.Type.Has(FunctionCoverage) {
				f.CallCount = max(f.CallCount, g.CallCount)
			} else {
				f.CallCount = saturate.Add(f.CallCount, g.CallCount)
			}
			f.TimestampSum = saturate.Add(f.TimestampSum, g.TimestampSum)
			for b := range f.Blocks {
				f.Blocks[b].Covered = f.Blocks[b].Covered || g.Blocks[b].Covered
			}
			for _, e := range g.CallEdges {
				k, ok := slices.BinarySearchFunc(f.CallEdges, e, func(a, b CallEdge) int { return cmpstd.Compare(a.Source, b.Source) })
				if !ok {
					f.CallEdges = slices.Insert(f.CallEdges, k, CallEdge{Source: e.Source})
				}
				f.CallEdges[k].Weight += e.Weight
			}
		}
	}
	return p
}

// TestMergeRaw: merging raw files gives what the rules say, for every type, in every order and grouping,
// raw or as profiles, and past the capacity of the sums.
func TestMergeRaw(t *testing.T) {
	for _, typ := range profileTypes {
		t.Run(typ.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(typ)))
			base := randomMap(rng, typ, 60)
			var runs []*Profile
			var raws [][]byte
			for range 2*maxRawFiles + 90 {
				run := randomRun(rng, base)
				runs = append(runs, run)
				raws = append(raws, rawOf(run, 8))
			}
			want := mergePlain(base, runs...)
			if diff := cmp.Diff(want, merged(t, base, raws...)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			for range 10 / oracle.Step(5) {
				if diff := cmp.Diff(want, mergeRandomly(t, rng, base, runs, raws)); diff != "" {
					t.Fatalf("in a random order and grouping (-want +got)\n%s", diff)
				}
			}
		})
	}
}

// mergeRandomly merges the runs in a random order: each raw or as a profile, by one of three forks, which
// are then merged in a random order, or by a Merger of its own.
func mergeRandomly(t *testing.T, rng *rand.Rand, base *Profile, runs []*Profile, raws [][]byte) *Profile {
	t.Helper()
	first, foreign := mergerOf(t, base, nil), mergerOf(t, base.clone(), nil)
	mergers := []*Merger{first, first.Fork(), first.Fork(), foreign}
	for _, i := range rng.Perm(len(runs)) {
		m := mergers[rng.IntN(len(mergers))]
		data := raws[i]
		if rng.IntN(3) == 0 {
			data = mipOf(t, runs[i], WriteOptions{DocumentLayout: rng.IntN(2) == 0})
		}
		r := oracle.Must(NewReader("input", data, nil))(t)
		oracle.NoError(t, m.Add(r, 1))
	}
	for _, i := range rng.Perm(3) {
		oracle.NoError(t, first.Merge(mergers[1+i]))
	}
	return first.Profile()
}

// TestMergeSaturates: sums stop at the largest value, wherever it is reached.
func TestMergeSaturates(t *testing.T) {
	base := &Profile{Type: callGraph, Functions: []Function{{Name: "f", RawOffset: headerSizeB}}}
	full := base.clone()
	f := &full.Functions[0]
	f.MergeCount, f.CallCount, f.TimestampSum = math.MaxUint32-1, math.MaxUint64-3, math.MaxUint64-1
	run := base.clone()
	run.Functions[0].MergeCount, run.Functions[0].CallCount, run.Functions[0].TimestampSum = 1, 2, 1
	want := base.clone()
	want.Functions[0].MergeCount, want.Functions[0].CallCount, want.Functions[0].TimestampSum = math.MaxUint32, math.MaxUint64, math.MaxUint64
	raw := rawOf(run, 8)
	if diff := cmp.Diff(want, merged(t, full, raw, raw)); diff != "" {
		t.Error(diff)
	}
	m := mergerOf(t, base, nil)
	for _, p := range []*Profile{run, full, full, run} {
		oracle.NoError(t, m.addProfile("p", p, 1))
	}
	if diff := cmp.Diff(want, m.Profile()); diff != "" {
		t.Error(diff)
	}
}

// TestMergeOtherBuild merges the profile of a build in which functions came, went, moved and changed.
func TestMergeOtherBuild(t *testing.T) {
	fn := func(name string, cfg uint32, at uint64, calls uint64) Function {
		return Function{Name: name, CFG: cfg, RawOffset: at, MergeCount: 1, CallCount: calls, TimestampSum: calls}
	}
	base := &Profile{Type: callGraph, Functions: []Function{
		fn("same", 1, 32, 1), fn("changed", 2, 40, 1), fn("moved", 3, 48, 1),
		fn("local", 4, 56, 1), fn("local", 4, 64, 2), fn("twice", 5, 72, 1), fn("gone", 6, 80, 1),
	}}
	other := &Profile{Type: callGraph, Functions: []Function{
		fn("moved", 3, 32, 10), fn("new", 9, 40, 10), fn("same", 1, 48, 10),
		fn("changed", 7, 56, 10), fn("local", 4, 64, 10), fn("local", 4, 72, 20),
		fn("twice", 5, 80, 10), fn("twice", 5, 88, 10),
	}}
	var warned []string
	m, err := NewMerger(base, MergeOptions{Warn: func(w profile.Warning) { warned = append(warned, w.File+" "+w.Function) }})
	oracle.NoError(t, err)
	oracle.NoError(t, m.addProfile("other", other, 1))
	if want := []string{"other new", "other changed", "other twice", "other twice"}; !slices.Equal(warned, want) {
		t.Errorf("warned of %q, want %q", warned, want)
	}
	var calls []uint64
	for _, f := range m.Profile().Functions {
		calls = append(calls, f.CallCount)
	}
	if want := []uint64{11, 1, 11, 11, 22, 1, 1}; !slices.Equal(calls, want) {
		t.Errorf("calls %d, want %d", calls, want)
	}
	// A profile without any function of the base adds nothing, so it is refused and not warned of.
	warned = nil
	err = m.addProfile("strange", &Profile{Type: callGraph, Functions: []Function{fn("new", 9, 32, 1), fn("changed", 7, 40, 1)}}, 1)
	if !errors.Is(err, profile.ErrMismatch) || len(warned) > 0 {
		t.Errorf("%v, warned of %q", err, warned)
	}
	oracle.NoError(t, m.addProfile("empty", &Profile{Type: callGraph}, 1))
}

// TestMergeLeavesNoTrace: a raw file that turns out to be damaged in its last record counts for nothing.
func TestMergeLeavesNoTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, typ := range profileTypes[2:] {
		base := randomMap(rng, typ, 20)
		good, bad := rawOf(randomRun(rng, base), 8), rawOf(randomRun(rng, base), 8)
		last := base.Functions[len(base.Functions)-1].RawOffset
		copy(bad[last:], []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
		m := mergerOf(t, base, nil)
		if err := m.AddRaw("bad", bad, 1); err == nil {
			t.Fatal("no error")
		}
		oracle.NoError(t, m.AddRaw("good", good, 1))
		if err := m.AddRaw("bad", bad, 1); err == nil {
			t.Fatal("no error")
		}
		if diff := cmp.Diff(merged(t, base, good), m.Profile()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOverlaps: functions that share a raw record are reported and counted alike, as the reference counts them.
func TestOverlaps(t *testing.T) {
	base := &Profile{Type: FunctionCoverage | BlockCoverage, Functions: []Function{
		{Name: "a", RawOffset: 32, Blocks: make([]Block, 3)}, // 32 to 36
		{Name: "b", RawOffset: 34},
		{Name: "c", RawOffset: 32},
		{Name: "d", RawOffset: 36},
	}}
	var warned []string
	m, err := NewMerger(base, MergeOptions{Warn: func(w profile.Warning) { warned = append(warned, w.Function) }})
	oracle.NoError(t, err)
	if want := []string{"c", "b"}; !slices.Equal(warned, want) {
		t.Errorf("warned of %q, want %q", warned, want)
	}
	raw := append(unhex(t, "fb4d4950 0800 1100 03000000 00000000 00000000 00000000 00000000 20000000"), 0, 0xff, 0, 0xff, 0xff)
	oracle.NoError(t, m.AddRaw("raw", raw, 1))
	p := m.Profile()
	var covered []bool
	for i := range p.Functions {
		covered = append(covered, p.Functions[i].Covered())
	}
	if want := []bool{true, true, true, false}; !slices.Equal(covered, want) {
		t.Errorf("covered %v, want %v", covered, want)
	}
	if got, want := p.Functions[0].Blocks, []Block{{}, {Covered: true}, {}}; !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
}

// TestAddZeros compares the word-wise sum with the plain one.
func TestAddZeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	values := []byte{0, 1, 0x7f, 0x80, 0x81, 0xfe, 0xff}
	for n := range 70 {
		fast, plain, raw := make([]byte, n), make([]byte, n), make([]byte, n)
		for range maxRawFiles {
			for i := range raw {
				raw[i] = values[rng.IntN(len(values))]
				if rng.IntN(2) == 0 {
					raw[i] = 0
				}
			}
			addZeros(fast, raw)
			addZerosPlain(plain, raw)
		}
		if !bytes.Equal(fast, plain) {
			t.Fatalf("%d bytes: %d, plain %d", n, fast, plain)
		}
	}
}

// TestAddRawAllocates: nothing is allocated for a raw file, nor for a record.
func TestAddRawAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, typ := range profileTypes {
		base := randomMap(rng, typ, 1000)
		raw := rawOf(randomRun(rng, base), 8)
		m := mergerOf(t, base, nil)
		if n := testing.AllocsPerRun(300, func() {
			oracle.NoError(t, m.AddRaw("raw", raw, 1))
		}); n != 0 {
			t.Errorf("%v: %v allocations for each file", typ, n)
		}
	}
}

func TestOrder(t *testing.T) {
	fn := func(name string, sum uint64, merges uint32) Function {
		return Function{Name: name, RawOffset: 32, TimestampSum: sum, MergeCount: merges}
	}
	p := &Profile{Type: callGraph, Functions: []Function{
		fn("third", 10, 3), fn("never", 0, 0), fn("first", 3, 1), fn("second", 6, 2),
		// Products beyond 64 bits: 2^63 × 5 against 2^63 × 4.
		fn("last", 1<<63, 4), fn("later", 1<<63, 5),
	}}
	var got []string
	for _, f := range p.Order() {
		got = append(got, f.Name)
	}
	if want := []string{"first", "second", "third", "later", "last"}; !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}
