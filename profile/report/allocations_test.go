package report

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var heapValues = []profile.ValueType{
	{Name: "alloc_space", Unit: profile.Bytes},
	{Name: "alloc_objects", Unit: profile.Count},
	{Name: "lifetime", Unit: profile.Milliseconds},
	{Name: "lifetime_access_density", Unit: profile.Count},
}

// randomHeap has n contexts over a few functions, some of them cold as the compiler's thresholds have it.
func randomHeap(rnd *rand.Rand, n, depth int) *madeView {
	limits := memprof.DefaultThresholds
	set := madeSet{StackSet: profile.StackSet{
		Name: "allocations", Values: heapValues,
		Temperatures: &profile.TemperatureLimits{Default: true, ColdLifetime: limits.ColdLifetime, ColdAccessDensity: limits.ColdAccessDensity, HotAccessDensity: limits.HotAccessDensity},
	}}
	for range n {
		m := memprof.MIB{AllocCount: uint32(1 + rnd.IntN(50)), TotalSize: uint64(rnd.IntN(1 << 20))}
		m.TotalLifetime = uint64(m.AllocCount) * uint64(rnd.IntN(400_000))
		m.TotalLifetimeAccessDensity = uint64(m.AllocCount) * uint64(rnd.IntN(12))
		s := profile.Stack{
			Values: []uint64{m.TotalSize, uint64(m.AllocCount), m.TotalLifetime, m.TotalLifetimeAccessDensity},
			Labels: []profile.Label{{Key: profile.LabelTemperature, Value: limits.Classify(&m)}},
		}
		for k := range 1 + rnd.IntN(depth) {
			s.Frames = append(s.Frames, profile.Frame{
				Symbol: profile.Symbol{Name: fmt.Sprint("f", rnd.IntN(20)), File: "a.cc"}, Line: int32(rnd.IntN(9)), Inlined: k%2 == 1,
			})
		}
		set.stacks = append(set.stacks, s)
	}
	return &madeView{features: profile.Features{Lines: true}, sets: []madeSet{set}}
}

// Contexts keep their values and their stacks; the shared tree loses nothing.
func TestHeapContexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for range 20 {
		v := randomHeap(rnd, 1+rnd.IntN(300), 6)
		h := newHeap(v)
		if len(h.contexts) != len(v.sets[0].stacks) || h.Left.Contexts != 0 {
			t.Fatalf("%d contexts of %d", len(h.contexts), len(v.sets[0].stacks))
		}
		for i := range h.contexts {
			c := &h.contexts[i]
			s := v.sets[0].stacks[c.order]
			var frames []profile.Frame
			for _, f := range h.stack(c) {
				frames = append(frames, *f)
			}
			if diff := cmp.Diff(s.Frames, frames); diff != "" {
				t.Fatal(diff)
			}
			if c.bytes != s.Values[0] || c.count != s.Values[1] || c.temperature != s.Labels[0].Value || i > 0 && c.bytes > h.contexts[i-1].bytes {
				t.Fatalf("context %d is %+v, want %v", i, c, s.Values)
			}
			// Averages are those that the thresholds are about.
			limits := memprof.DefaultThresholds
			if cold := c.lifetime >= float64(limits.ColdLifetime) && float32(c.density) < limits.ColdAccessDensity; cold != (c.temperature == "cold") {
				t.Fatalf("%v s and %v accesses are %s", c.lifetime, c.density, c.temperature)
			}
		}
		for i, n := range h.nodes {
			if int(n.caller) >= i {
				t.Fatalf("node %d has caller %d: the script goes through them once", i, n.caller)
			}
		}
		sum := heatTotal{}
		for _, total := range h.Totals {
			sum.Contexts, sum.Bytes, sum.Count = sum.Contexts+total.Contexts, sum.Bytes+total.Bytes, sum.Count+total.Count
		}
		if sum != h.All {
			t.Fatalf("temperatures sum up to %+v of %+v", sum, h.All)
		}
	}
}

// Cold contexts are drawn in the quarter that the lines cut off, and nothing else is.
func TestHeapScatter(t *testing.T) {
	h := newHeap(randomHeap(rand.New(rand.NewPCG(13, 14)), 500, 3))
	p, points, thinned := h.scatter()
	if thinned || len(points.X) != len(h.contexts) || len(p.Lines) != 2 || !p.Lines[0].Upright {
		t.Fatalf("%d points, lines %+v", len(points.X), p.Lines)
	}
	right, below := p.Lines[0].At*plotSize/100, plotSize-p.Lines[1].At*plotSize/100
	cold := 0
	for i, n := range points.Thing {
		c := &h.contexts[n]
		// Lines are placed to a tenth of a percent.
		if math.Abs(points.X[i]-right) < 2 || math.Abs(points.Y[i]-below) < 2 {
			continue
		}
		if inside := points.X[i] > right && points.Y[i] > below; inside != (c.temperature == "cold") {
			t.Errorf("%v s and %v accesses, %s, are at %v, %v; the lines at %v, %v", c.lifetime, c.density, c.temperature, points.X[i], points.Y[i], right, below)
		} else if inside {
			cold++
		}
	}
	if cold == 0 {
		t.Error("nothing is cold")
	}
}

// What is left out is counted, and the most bytes stay.
func TestHeapLimits(t *testing.T) {
	for _, c := range []struct{ contexts, depth int }{{maxContexts + 777, 2}, {9000, 40}} {
		v := randomHeap(rand.New(rand.NewPCG(15, 16)), c.contexts, c.depth)
		h := newHeap(v)
		if h.Left.Contexts == 0 || len(h.contexts)+h.Left.Contexts != c.contexts || len(h.nodes) > maxStackNodes || len(h.contexts) > maxContexts {
			t.Fatalf("%d contexts, %d left out, %d nodes", len(h.contexts), h.Left.Contexts, len(h.nodes))
		}
		var bytes uint64
		for i := range h.contexts {
			bytes += h.contexts[i].bytes
		}
		if bytes+h.Left.Bytes != h.All.Bytes {
			t.Errorf("%d bytes and %d left out are not %d", bytes, h.Left.Bytes, h.All.Bytes)
		}
		if _, points, thinned := h.scatter(); thinned != (len(points.X) < len(h.contexts)) || len(points.X) > maxHeapDots {
			t.Errorf("%d points, thinned: %v", len(points.X), thinned)
		} else if !slices.IsSorted(points.Thing) {
			t.Error("small contexts are below large ones")
		}
		p, err := allocationsPage(made(v))
		if err != nil {
			t.Fatal(err)
		}
		if want := countText(uint64(h.Left.Contexts)) + " with "; !strings.Contains(string(p.Body), want) {
			t.Errorf("the page does not say that %s are left out", want)
		}
	}
}

// Profiles may know only the bytes, or have no allocations at all.
func TestHeapWithLess(t *testing.T) {
	v := randomHeap(rand.New(rand.NewPCG(17, 18)), 5, 3)
	v.sets[0].Values, v.sets[0].Temperatures = heapValues[:1], nil
	for i := range v.sets[0].stacks {
		s := &v.sets[0].stacks[i]
		s.Values, s.Labels = s.Values[:1], nil
		s.Frames = s.Frames[:i%2]
	}
	p, err := allocationsPage(made(v))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not known", "does not say how long", "unknown"} {
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Contains(string(p.Body), "cold are contexts") {
		t.Error("the page says what is cold, which it does not know")
	}
	if d := p.data.(*allocationsData); d.Count != nil || d.Lifetime != nil || d.Plot != nil {
		t.Errorf("there is more than the profile knows: %+v", d)
	}
	for _, v := range []*madeView{{}, {sets: []madeSet{{StackSet: profile.StackSet{Values: heapValues[1:]}}}}, {sets: []madeSet{{StackSet: profile.StackSet{Values: heapValues}}}}} {
		if p, err := allocationsPage(made(v)); p != nil || err != nil {
			t.Errorf("page %v, %v", p, err)
		}
	}
}

func TestAllocationsFixtures(t *testing.T) {
	checkPages(t, allocationsPage, map[string][]string{
		"memprof/raw/clang22-pie.memprofraw memprof/raw/clang22-pie.debug":   {"10 contexts allocated 2.8 KiB in 65 blocks", "push(Node*)", "main.cpp:", "inlined", "not cold", "cold from 200 s", "cold below 0.05"},
		"memprof/raw/clang22-dumps.profdata memprof/raw/clang22-dumps.debug": {"push(Node*)"},
		"memprof/raw/clang19-pie.profdata":                                   {"contexts allocated", "0x", "&#43;"},
		"irpgo/llvm22/memprof-ir.profdata":                                   {"contexts allocated"},
		"memprof/temperatures.memprof.yaml":                                  {"5 contexts allocated 751.8 KiB in 5,942 blocks", "cache::fill()", "300 µs", "600 s", "700 s"},
		"irpgo/llvm22/merged.profdata":                                       nil,
	})
}

// Bytes by temperature, of a profile that has all of them; hot ones are hot if asked for.
func TestAllocationsByTemperature(t *testing.T) {
	name := filepath.Join("..", "..", "testdata", "memprof", "temperatures.memprof.yaml")
	data := oracle.ReadFile(t, name)
	heap, err := memprof.ReadYAML(name, data)
	if err != nil {
		t.Fatal(err)
	}
	hints := memprof.DefaultThresholds
	hints.UseHot = true
	for _, c := range []struct {
		limits memprof.Thresholds
		want   map[string]float64
		said   []string
	}{
		{
			memprof.DefaultThresholds,
			map[string]float64{"cold": 65536 + 2560, "not cold": 640000 + 57600 + 4096},
			[]string{"by their defaults: cold are", "more than 1000 times, but only with <code>-memprof-use-hot-hints</code>.", "hot above 1000, with -memprof-use-hot-hints<"},
		},
		{
			hints,
			map[string]float64{"cold": 65536 + 2560, "not cold": 57600 + 4096, "hot": 640000},
			[]string{"By the limits that were asked for: cold are", "more than 1000 times.", "hot above 1000<"},
		},
	} {
		p, err := allocationsPage(newSource(0, Source{View: heap.View("", memprof.ViewOptions{Thresholds: c.limits})}, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		d, got := p.data.(*allocationsData), make(map[string]float64)
		for i, bytes := range d.Bytes {
			got[d.Words[d.Temperature[i]]] += bytes
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("hot ones asked for: %v; bytes %v, want %v", c.limits.UseHot, got, c.want)
		}
		wantOnPage(t, name, p, c.said...)
		for word := range c.want {
			if !strings.Contains(string(p.Body), "<title>"+word+": ") {
				t.Errorf("the bar has no part that is %s", word)
			}
		}
	}
}
