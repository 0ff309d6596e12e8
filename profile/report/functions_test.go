package report

import (
	"math"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// The page's data is the profile's: nothing is lost or counted twice.
func TestFunctionsOfFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, src *source) {
		type key struct {
			name  string
			hash  uint64
			calls uint64
		}
		want := make(map[key][][]profile.Block)
		n, total := 0, 0.0
		for f := range src.view.Functions() {
			k := key{src.symbolName(&f.Symbol), f.Hash, f.Calls}
			want[k] = append(want[k], slices.Clone(f.Blocks))
			total += float64(src.functionCount(f))
			n++
		}
		c := collectFunctions(src)
		d := c.data(src)
		if len(d.Names) != n+len(c.extra) || d.Total != total || d.Omitted != 0 {
			t.Fatalf("%d functions with a total of %g, %d left out; want %d with %g", len(d.Names), d.Total, d.Omitted, n, total)
		}
		block := 0
		for i := range d.Names {
			if d.Count != nil && i > 0 && d.Count[i] > d.Count[i-1] {
				t.Fatalf("function %d has a count of %d, the one before of %d", i, d.Count[i], d.Count[i-1])
			}
			if int(c.rows[i].index) >= c.all {
				continue
			}
			k := key{name: src.names.Keys[d.Names[i]], hash: c.rows[i].hash, calls: at(d.Calls, i)}
			if d.Calls != nil && d.Calls[i] != k.calls {
				t.Fatalf("%s: %d calls, want %d", k.name, d.Calls[i], k.calls)
			}
			if !src.features.Blocks {
				if len(want[k]) == 0 {
					t.Fatalf("there is no function %q", k.name)
				}
				continue
			}
			counts := d.BlockCounts[block : block+int(d.Blocks[i])]
			block += int(d.Blocks[i])
			found := slices.IndexFunc(want[k], func(blocks []profile.Block) bool {
				return slices.EqualFunc(blocks, counts, func(b profile.Block, count uint64) bool { return b.Count == count })
			})
			if found < 0 {
				t.Fatalf("no function %q has blocks %v", k.name, counts)
			}
			want[k] = slices.Delete(want[k], found, found+1)
		}
		checkEdges(t, src, d)
		checkStackColumns(t, src, d)
	})
}

func checkEdges(t *testing.T, src *source, d *functionsData) {
	t.Helper()
	type edge struct {
		caller, target string
		kind           profile.EdgeKind
		site           int32
		size, count    uint64
	}
	sums := make(map[edge]int)
	for e := range src.view.Edges() {
		target := ""
		if e.Target.Name != "" || e.Target.ID != 0 {
			target = src.symbolName(&e.Target)
		}
		sums[edge{src.symbolName(&e.Caller), target, e.Kind, e.Site, e.Size, e.Count}]++
	}
	for i, row := range d.Edges.Function {
		e := edge{src.names.Keys[d.Names[row]], "", d.Edges.Kind[i], d.Edges.Site[i], d.Edges.Size[i], d.Edges.Count[i]}
		if target := d.Edges.Target[i]; target >= 0 {
			e.target = src.names.Keys[target]
		}
		sums[e]--
	}
	for e, n := range sums {
		if n != 0 {
			t.Errorf("edge %+v: %d more in the profile", e, n)
		}
	}
}

// Each stack has one innermost function, and counts at most once in all.
func checkStackColumns(t *testing.T, src *source, d *functionsData) {
	t.Helper()
	for _, col := range d.Stacks {
		set := src.view.Stacks()[0]
		at := slices.IndexFunc(set.Values, func(v profile.ValueType) bool { return v.Name == col.Title })
		total, self := 0.0, 0.0
		for s := range set.ReusedStacks {
			if len(s.Frames) > 0 {
				total += float64(s.Values[at])
			}
		}
		for i := range col.Self {
			self += float64(col.Self[i])
			if col.All != nil && (col.All[i] < col.Self[i] || float64(col.All[i]) > total*(1+1e-12)) {
				t.Errorf("%s of function %d: %d of %d, of %g", col.Title, i, col.Self[i], col.All[i], total)
			}
		}
		if math.Abs(self-total) > total*1e-9 {
			t.Errorf("%s: functions have %g, the stacks %g", col.Title, self, total)
		}
	}
}

func TestHeat(t *testing.T) {
	counts := func(c uint64) profile.Function {
		return profile.Function{Symbol: profile.Symbol{ID: c + 1}, Blocks: []profile.Block{{Count: c}}, Covered: c > 0}
	}
	v := &madeView{features: profile.Features{Blocks: true}, functions: []profile.Function{counts(10_000_000), counts(9_000), counts(100), counts(1), counts(0)}}
	src := newSource(0, Source{View: v}, Options{})
	var got []heat
	for f := range v.Functions() {
		got = append(got, src.heat.of(f))
	}
	// 99 % is the first; 99.9999 % are the first three.
	if want := []heat{hot, warm, cold, cold, never}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	v.features.BlocksAreCoverage = true
	if h := newSource(0, Source{View: v}, Options{}).heat.of(&v.functions[0]); h != ran {
		t.Errorf("where only coverage is known, %v", h)
	}
}
