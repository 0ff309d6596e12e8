package memprof

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// weighted is an input of a merge.
type weighted struct {
	p      *Profile
	weight uint64
}

// The independent computation: contexts as text, sums as big numbers.

type expected struct {
	fields  map[string]Schema
	values  map[string]map[field]*big.Int
	buckets map[string][]*big.Int // nil entry: lost
	calls   map[string]map[uint64]bool
	samples map[string]*big.Int
	places  map[string]map[string]bool
	cold    map[string]bool
}

func stackText(p *Profile, i StackIndex) string {
	var b strings.Builder
	for f := range p.Stacks.Walk(i) {
		fmt.Fprintf(&b, " %v", f)
	}
	return b.String()
}

func dataText(r *DataAccessRecord) string { return fmt.Sprintf("%q %d", r.Symbol, r.Hash) }

func expect(inputs []weighted) *expected {
	e := &expected{
		map[string]Schema{},
		map[string]map[field]*big.Int{},
		map[string][]*big.Int{},
		map[string]map[uint64]bool{},
		map[string]*big.Int{},
		map[string]map[string]bool{},
		map[string]bool{},
	}
	for _, in := range inputs {
		for range in.weight {
			for _, r := range in.p.Records {
				for _, a := range r.AllocSites {
					e.alloc(fmt.Sprint(r.GUID, stackText(in.p, a.Stack)), &in.p.MIBs[a.MIB])
				}
				for _, c := range r.CallSites {
					key := fmt.Sprint(r.GUID, stackText(in.p, c.Stack))
					if e.calls[key] == nil {
						e.calls[key] = map[uint64]bool{}
					}
					for _, g := range c.Callees {
						e.calls[key][g] = true
					}
				}
			}
			e.data(in.p.DataAccess)
		}
	}
	return e
}

func (e *expected) alloc(key string, m *MIB) {
	have, ok := e.values[key]
	if !ok {
		have = map[field]*big.Int{}
		e.values[key] = have
		e.fields[key] = m.Fields
	}
	e.fields[key] &= m.Fields
	for f := allocCount; f <= accessHistogram; f++ {
		v := new(big.Int).SetUint64(m.get(f))
		switch name := f.String(); {
		case !ok:
			have[f] = v
		case strings.HasPrefix(name, "Total"), name == "AllocCount", strings.HasPrefix(name, "Num"):
			have[f] = new(big.Int).Add(have[f], v)
		case strings.HasPrefix(name, "Min"):
			if v.Cmp(have[f]) < 0 {
				have[f] = v
			}
		case strings.HasPrefix(name, "Max"), strings.HasSuffix(name, "Timestamp"), f == accessHistogramSize:
			if v.Cmp(have[f]) > 0 {
				have[f] = v
			}
		case strings.HasSuffix(name, "CpuId"):
			if v.Cmp(have[f]) != 0 {
				have[f] = big.NewInt(math.MaxUint32)
			}
		case f == dataTypeID:
			if v.Cmp(have[f]) != 0 {
				have[f] = new(big.Int)
			}
		}
		if f == accessHistogram {
			have[f] = new(big.Int)
		}
	}
	lost := int(m.AccessHistogramSize) != len(m.Histogram) || slices.Contains(e.buckets[key], nil)
	if lost {
		e.buckets[key] = []*big.Int{nil}
		return
	}
	for i, v := range m.Histogram {
		if i == len(e.buckets[key]) {
			e.buckets[key] = append(e.buckets[key], new(big.Int))
		}
		e.buckets[key][i].Add(e.buckets[key][i], new(big.Int).SetUint64(v))
	}
}

func (e *expected) data(d *DataAccess) {
	if d == nil {
		return
	}
	for i := range d.Records {
		r := &d.Records[i]
		key := dataText(r)
		if e.samples[key] == nil {
			e.samples[key] = new(big.Int)
			e.places[key] = map[string]bool{}
		}
		e.samples[key].Add(e.samples[key], new(big.Int).SetUint64(r.AccessCount))
		for _, l := range r.Locations {
			e.places[key][fmt.Sprint(l)] = true
		}
	}
	maps.Copy(e.cold, coldTexts(d))
}

func coldTexts(d *DataAccess) map[string]bool {
	cold := map[string]bool{}
	for _, s := range d.ColdSymbols {
		cold[dataText(&DataAccessRecord{Symbol: s})] = true
	}
	for _, h := range d.ColdHashes {
		cold[dataText(&DataAccessRecord{Hash: h})] = true
	}
	return cold
}

// check compares a merged profile with what is expected, both ways.
func (e *expected) check(t *testing.T, p *Profile) {
	t.Helper()
	sites, calls := 0, 0
	for _, r := range p.Records {
		for _, a := range r.AllocSites {
			sites++
			key := fmt.Sprint(r.GUID, stackText(p, a.Stack))
			want, ok := e.values[key]
			if !ok {
				t.Fatalf("unexpected site %s", key)
			}
			m := &p.MIBs[a.MIB]
			if m.Fields != e.fields[key] {
				t.Fatalf("%s: fields %v, want %v", key, m.Fields.Fields(), e.fields[key].Fields())
			}
			for f := allocCount; f <= accessHistogram; f++ {
				w := new(big.Int)
				if m.Fields.has(f) {
					w = want[f]
				}
				limit := new(big.Int).SetUint64(math.MaxUint64 >> (64 - 8*f.size()))
				if w.Cmp(limit) > 0 {
					w = limit
				}
				if m.get(f) != w.Uint64() {
					t.Fatalf("%s: %v is %d, want %d", key, f, m.get(f), w)
				}
			}
			e.checkHistogram(t, key, m)
		}
		for _, c := range r.CallSites {
			calls++
			want, ok := e.calls[fmt.Sprint(r.GUID, stackText(p, c.Stack))]
			if !ok || !slices.Equal(c.Callees, slices.Sorted(maps.Keys(want))) {
				t.Fatalf("callees of %d%s are %v, want %v", r.GUID, stackText(p, c.Stack), c.Callees, want)
			}
		}
	}
	if sites != len(e.values) || calls != len(e.calls) {
		t.Errorf("%d alloc sites and %d call sites, want %d and %d", sites, calls, len(e.values), len(e.calls))
	}
	e.checkData(t, p.DataAccess)
}

func (e *expected) checkHistogram(t *testing.T, key string, m *MIB) {
	t.Helper()
	want := e.buckets[key]
	if !m.Fields.has(accessHistogramSize) || slices.Contains(want, nil) {
		want = nil
	}
	if len(m.Histogram) != len(want) {
		t.Fatalf("%s: %d buckets, want %d", key, len(m.Histogram), len(want))
	}
	for i, w := range want {
		if m.Histogram[i] != w.Uint64() {
			t.Fatalf("%s: bucket %d is %d, want %d", key, i, m.Histogram[i], w)
		}
	}
}

func (e *expected) checkData(t *testing.T, d *DataAccess) {
	t.Helper()
	if d == nil {
		d = &DataAccess{}
	}
	for i := range d.Records {
		r := &d.Records[i]
		var places []string
		for _, l := range r.Locations {
			places = append(places, fmt.Sprint(l))
		}
		slices.Sort(places)
		if w := e.samples[dataText(r)]; w == nil || w.Uint64() != r.AccessCount || !slices.Equal(places, slices.Sorted(maps.Keys(e.places[dataText(r)]))) {
			t.Errorf("data-access record %v, want %d at %v", *r, w, e.places[dataText(r)])
		}
	}
	cold := coldTexts(d)
	for k := range e.cold {
		if _, sampled := e.samples[k]; cold[k] == sampled {
			t.Errorf("%s is cold: %t, sampled: %t", k, cold[k], sampled)
		}
		delete(cold, k)
	}
	if len(d.Records) != len(e.samples) || len(cold) > 0 {
		t.Errorf("%d data-access records, want %d; unexpected cold ones: %v", len(d.Records), len(e.samples), cold)
	}
}

var mergeShapes = map[string]shapeOf{
	"hot and cold": {functions: 6, sites: 8, depth: 3, frames: 4, small: true, schema: hotColdSchema, maxValue: 1 << 20, callees: true},
	"full":         {functions: 6, sites: 8, depth: 3, frames: 4, small: true, schema: FullSchema, maxValue: 3, histograms: true, callees: true},
	"any schema":   {functions: 4, sites: 12, depth: 2, frames: 3, small: true, maxValue: 100, histograms: true, dataAccess: true},
	"overflow":     {functions: 3, sites: 9, depth: 2, frames: 3, small: true, schema: FullSchema, dataAccess: true},
}

func randomInputs(seed uint64, sh shapeOf, n int, maxWeight uint64) []weighted {
	rng := rand.New(rand.NewPCG(seed, 99))
	inputs := make([]weighted, n)
	for i := range inputs {
		inputs[i] = weighted{randomProfile(rng, sh), 1 + rng.Uint64N(maxWeight)}
	}
	return inputs
}

func mergeAll(t testing.TB, inputs []weighted) *Profile {
	t.Helper()
	m := NewMerger(MergeOptions{})
	for i, in := range inputs {
		must(t, m.AddProfile(fmt.Sprint(i), in.p, in.weight))
	}
	return m.Profile()
}

// content is all that a profile says, in its order.
func content(t testing.TB, p *Profile) string {
	t.Helper()
	var b bytes.Buffer
	b.Write(yamlOf(t, p))
	b.Write(writeSection(t, p, WriteOptions{Version: 4, Schema: FullSchema}, 0))
	b.Write(writeSection(t, p, WriteOptions{Version: 2, Schema: FullSchema}, 0))
	for _, r := range p.Records {
		for _, a := range r.AllocSites {
			fmt.Fprintln(&b, p.MIBs[a.MIB].Histogram)
		}
	}
	return b.String()
}

// TestMergeIsRight compares merges of two and ten inputs with sums computed from the inputs one by one.
func TestMergeIsRight(t *testing.T) {
	for name, sh := range mergeShapes {
		for _, n := range []int{2, 10} {
			for _, maxWeight := range []uint64{1, 5} {
				t.Run(fmt.Sprintf("%s/%d inputs/weights to %d", name, n, maxWeight), func(t *testing.T) {
					for seed := range uint64(8) {
						inputs := randomInputs(seed, sh, n, maxWeight)
						expect(inputs).check(t, mergeAll(t, inputs))
					}
				})
			}
		}
	}
}

// TestMergeInAnyOrder: any order, any workers and any partial results give the same bytes.
func TestMergeInAnyOrder(t *testing.T) {
	for name, sh := range mergeShapes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				rng := rand.New(rand.NewPCG(seed, 3))
				inputs := randomInputs(seed, sh, 2+int(seed%5), 3)
				want := content(t, mergeAll(t, inputs))
				rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
				if content(t, mergeAll(t, inputs)) != want {
					t.Fatalf("seed %d: depends on the order", seed)
				}
				if got := content(t, mergeTree(t, rng, inputs)); got != want {
					t.Fatalf("seed %d: depends on the grouping", seed)
				}
				root := NewMerger(MergeOptions{})
				forks := []*Merger{root, NewMerger(root.opt), NewMerger(root.opt)}
				for i, in := range inputs {
					must(t, forks[rng.IntN(len(forks))].AddProfile(fmt.Sprint(i), in.p, in.weight))
				}
				root.Merge(forks[1])
				root.Merge(forks[2])
				if content(t, root.Profile()) != want {
					t.Fatalf("seed %d: depends on workers", seed)
				}
			}
		})
	}
}

// mergeTree merges by groups, some of them written to a section and read.
func mergeTree(t *testing.T, rng *rand.Rand, inputs []weighted) *Profile {
	if len(inputs) == 1 {
		return mergeAll(t, inputs)
	}
	cut := 1 + rng.IntN(len(inputs)-1)
	return mergeAll(t, []weighted{{mergeTree(t, rng, inputs[:cut]), 1}, {mergeTree(t, rng, inputs[cut:]), 1}})
}

// TestMergeOfWeights: a weight is as many inputs.
func TestMergeOfWeights(t *testing.T) {
	for name, sh := range mergeShapes {
		inputs := randomInputs(5, sh, 2, 1)
		many := slices.Concat(inputs, inputs[:1], inputs[:1])
		inputs[0].weight = 3
		if content(t, mergeAll(t, inputs)) != content(t, mergeAll(t, many)) {
			t.Errorf("%s: weight 3 differs from three times", name)
		}
	}
}

// TestMergeOfSection: what passed through a file merges like what did not.
func TestMergeOfSection(t *testing.T) {
	sh := mergeShapes["full"]
	sh.histograms = false
	for _, version := range []int{-1, 1, 2, 3, 4} {
		sh.callees = version == 4
		inputs := randomInputs(8, sh, 3, 1)
		for i := range inputs {
			for j := range inputs[i].p.MIBs {
				inputs[i].p.MIBs[j].AccessHistogramSize = 0
			}
		}
		want := content(t, mergeAll(t, inputs))
		section := writeSection(t, inputs[1].p, WriteOptions{Version: version, Schema: FullSchema}, 0)
		var err error
		inputs[1].p, err = readWhole(section)
		must(t, err)
		if content(t, mergeAll(t, inputs)) != want {
			t.Errorf("version %d: merge differs", version)
		}
	}
}

// TestSingleInputStays: one input of weight 1 keeps its order and duplicates, also through forks.
func TestSingleInputStays(t *testing.T) {
	p := randomInputs(1, mergeShapes["hot and cold"], 1, 1)[0].p
	want := content(t, p)
	m := NewMerger(MergeOptions{})
	fork := NewMerger(m.opt)
	for _, in := range []*Profile{{}, p, {}} {
		must(t, fork.AddProfile("", in, 1))
	}
	m.Merge(fork)
	if m.inputs != 1 || content(t, m.Profile()) != want {
		t.Error("a single input changed")
	}
	if got := mergeAll(t, nil); !got.Empty() || got.validate() != nil {
		t.Errorf("nothing merged to %v", got)
	}
}

// TestMergeWarnsOfOverflow: sums that do not fit are cut and told of.
func TestMergeWarnsOfOverflow(t *testing.T) {
	profileOf := func(count uint64) *Profile {
		p := &Profile{}
		stack := p.Stacks.addStack([]frameIndex{p.Stacks.addFrame(Frame{GUID: 1})})
		var m MIB
		m.set(allocCount, count)
		m.set(totalSize, 8*count)
		p.MIBs = []MIB{m}
		p.Records = []Record{{GUID: 1, AllocSites: []AllocSite{{stack, 0}}}}
		return p
	}
	var warnings []string
	m := NewMerger(MergeOptions{Warn: func(w profile.Warning) { warnings = append(warnings, w.String()) }})
	for i, in := range []weighted{{profileOf(1 << 31), 1}, {profileOf(1<<31 - 1), 1}, {profileOf(1), 1}, {profileOf(1), math.MaxUint64}} {
		must(t, m.AddProfile(fmt.Sprintf("in%d", i), in.p, in.weight))
	}
	want := []string{
		"in2: memprof: number of contexts with a sum that outgrew its field and was cut is 1, want 0: mismatching profile",
		"in3: memprof: number of contexts with a sum that outgrew its field and was cut is 1, want 0: mismatching profile",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
	got := m.Profile().MIBs
	if n := len(got); n == 0 {
		t.Fatal("no MIB")
	}
	sum := got[m.Profile().Records[0].AllocSites[0].MIB]
	if sum.AllocCount != math.MaxUint32 || sum.TotalSize != math.MaxUint64 {
		t.Errorf("AllocCount %d, TotalSize %d; want the largest values", sum.AllocCount, sum.TotalSize)
	}
}

func TestMergeRefuses(t *testing.T) {
	m := NewMerger(MergeOptions{})
	broken := &Profile{Records: []Record{{GUID: 1, AllocSites: []AllocSite{{Stack: 3}}}}}
	for name, in := range map[string]weighted{
		"in: weight is 0, want at least 1: mismatching profile":                                                 {&Profile{}, 0},
		"in: memprof (record 0): stack of an alloc site is 3, want one that AddStack returned: corrupt profile": {broken, 1},
	} {
		if err := m.AddProfile("in", in.p, in.weight); err == nil || err.Error() != name {
			t.Errorf("error %v, want %s", err, name)
		}
	}
}
