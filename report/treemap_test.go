package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/profile"
)

// TestSquarify: areas are in proportion, inside, and do not overlap.
func TestSquarify(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 37))
	for range 300 {
		weights := make([]float64, 1+random.IntN(60))
		sum := 0.0
		for i := range weights {
			weights[i] = math.Floor(math.Exp(random.Float64() * 20))
			if random.IntN(10) == 0 {
				weights[i] = 0
			}
			sum += weights[i]
		}
		slices.SortFunc(weights, func(a, b float64) int { return int(max(-1, min(1, b-a))) })
		r := rect{random.Float64() * 100, random.Float64() * 100, 1 + random.Float64()*1000, 1 + random.Float64()*1000}
		got := squarify(weights, r)
		if len(got) != len(weights) {
			t.Fatalf("%d rectangles for %d weights", len(got), len(weights))
		}
		const e = 1e-6
		for i, a := range got {
			if want := weights[i] / max(sum, 1) * r.w * r.h; math.Abs(a.w*a.h-want) > 1e-6*r.w*r.h {
				t.Fatalf("weights %v in %v: rectangle %d has area %v, want %v", weights, r, i, a.w*a.h, want)
			}
			if a.w < 0 || a.h < 0 || a.x < r.x-e || a.y < r.y-e || a.x+a.w > r.x+r.w+e || a.y+a.h > r.y+r.h+e {
				t.Fatalf("weights %v: rectangle %d, %v, is not inside %v", weights, i, a, r)
			}
			for j, b := range got[:i] {
				if min(a.x+a.w, b.x+b.w)-max(a.x, b.x) > e && min(a.y+a.h, b.y+b.h)-max(a.y, b.y) > e {
					t.Fatalf("weights %v: rectangles %d and %d, %v and %v, overlap", weights, j, i, b, a)
				}
			}
		}
	}
}

// TestSquarifyIsSquare: equal weights in a square make squares.
func TestSquarifyIsSquare(t *testing.T) {
	for _, r := range squarify([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, rect{0, 0, 300, 300}) {
		if math.Abs(r.w-100) > 1e-9 || math.Abs(r.h-100) > 1e-9 {
			t.Errorf("%v is no square of 100", r)
		}
	}
	for _, r := range [][]rect{squarify(nil, rect{0, 0, 1, 1}), squarify([]float64{0, 0}, rect{0, 0, 1, 1}), squarify([]float64{1}, rect{})} {
		for _, r := range r {
			if r.w*r.h != 0 {
				t.Errorf("%v for nothing", r)
			}
		}
	}
}

// TestTreemapOfFixtures: every function of real profiles is somewhere in the
// map, with all of its counts and its heat.
func TestTreemapOfFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, src *source) {
		p, err := treemapPage(src)
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for range src.view.Functions() {
			functions++
		}
		if p == nil {
			if functions > 0 {
				t.Errorf("%d functions and no page", functions)
			}
			return
		}
		d := p.data.(*treemapData)
		want := make(map[string][]float64) // by value, by class
		for f := range src.view.Functions() {
			for _, m := range measures(src.features) {
				if want[m.Name] == nil {
					want[m.Name] = make([]float64, len(d.Classes))
				}
				want[m.Name][src.heat.of(f)] += float64(m.of(f))
			}
		}
		for v, value := range d.Values {
			total, _, _ := d.Tree.weights(v, len(d.Classes))
			if !near(min(total[0], math.MaxUint64), float64(d.All[v])) {
				t.Errorf("%s: all is %v, the map has %v", value.Name, d.All[v], total[0])
			}
			for c, want := range want[value.Name] {
				if got, _, _ := d.Tree.weights(v*len(d.Classes)+c, 1); !near(got[0], want) {
					t.Errorf("%s, %s: the map has %v, functions %v", value.Name, d.Classes[c], got[0], want)
				}
			}
		}
		checkLeaves(t, src, d)
		if strings.Count(string(p.Body), "<rect") < 1 || strings.Count(string(p.Body), "<rect") > treemapBoxes {
			t.Errorf("%d boxes are drawn", strings.Count(string(p.Body), "<rect"))
		}
	})
}

// checkLeaves holds single functions against the profile.
func checkLeaves(t *testing.T, src *source, d *treemapData) {
	t.Helper()
	want := make(map[string]float64)
	for f := range src.view.Functions() {
		want[src.symbolName(&f.Symbol)]++
	}
	value := len(d.Values) - 1 // "functions"
	total, self, _ := d.Tree.weights(value, len(d.Classes))
	got := make(map[string]float64)
	for i, label := range d.Tree.Label {
		if label >= 0 && d.Labels.Full[label] >= 0 {
			got[src.names.list[d.Labels.Full[label]]] += total[i]
			continue
		}
		if self[i] != 0 {
			t.Errorf("node %d is no function and has something itself", i)
		}
	}
	for name, n := range want {
		if len(want) < 5000 && got[name] != n {
			t.Errorf("%s: %v functions, want %v", name, got[name], n)
		}
	}
}

// manyFunctions is a view of a large program.
func manyFunctions(n int) *madeView {
	v := &madeView{features: profile.HasCalls | profile.HasSizes}
	random := rand.New(rand.NewPCG(41, 43))
	for i := range n {
		calls := uint64(math.Exp(random.Float64() * 30))
		if i%3 == 0 {
			calls = 0
		}
		name := fmt.Sprintf("_ZN4ns%02d5in%03d8fn%06dEv", i%40, i%700, i)
		v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: name}, Calls: calls, Covered: calls > 0, Size: uint64(random.IntN(2000))})
	}
	return v
}

// TestTreemapOfManyFunctions: 100,000 functions are pruned, and nothing is
// lost.
func TestTreemapOfManyFunctions(t *testing.T) {
	n := 100_000 / oracle.Step(2)
	src := newSource(0, Source{View: manyFunctions(n)}, Options{})
	p, err := treemapPage(src)
	if err != nil {
		t.Fatal(err)
	}
	d := p.data.(*treemapData)
	boxes := len(d.Tree.Depth)
	for _, left := range d.Tree.Left {
		if left > 0 {
			boxes++
		}
	}
	if boxes > maxTreemapNodes || boxes < maxTreemapNodes/2 {
		t.Errorf("%d boxes", boxes)
	}
	total, _, _ := d.Tree.weights(len(d.Values)-1, len(d.Classes))
	if total[0] != float64(n) {
		t.Errorf("%v functions", total[0])
	}
	if drawn := strings.Count(string(p.Body), "<rect"); drawn < 40 || drawn > treemapBoxes {
		t.Errorf("%d boxes are drawn", drawn)
	}
}

// TestStaticTreemapShowsAllGroups: what is in one group does not take the room
// of the others, and boxes fill the drawing.
func TestStaticTreemapShowsAllGroups(t *testing.T) {
	v := &madeView{features: profile.HasCalls}
	for i := range 5000 {
		name := fmt.Sprintf("plain%d", i)
		if i%5 == 0 {
			name = fmt.Sprintf("_ZN4ns%02d7f%06dEv", i%30, i)
		}
		v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: name}, Calls: 10, Covered: true})
	}
	src := newSource(0, Source{View: v}, Options{})
	p := staticTreemap(src, newTreemap(src).finish())
	groups := make(map[string]bool)
	for _, b := range p.Boxes {
		groups[strings.SplitN(b.Title, "\n", 2)[0]] = true
	}
	for _, want := range []string{noFile, "ns00", "ns05", "ns25"} {
		if !groups[want] {
			t.Errorf("%s is not drawn", want)
		}
	}
	if len(p.Boxes) > treemapBoxes {
		t.Errorf("%d boxes", len(p.Boxes))
	}
}
