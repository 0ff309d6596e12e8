package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestTimeline(t *testing.T) {
	s := symbolsOf("a", "b", "c", "d", "e")
	v := &madeView{features: profile.Features{Traces: true}, traces: []profile.Trace{
		{Weight: 3, Functions: []profile.Symbol{s[0], s[1], s[0], s[2]}}, // a twice: the first counts
		{Weight: 1, Functions: []profile.Symbol{s[2], s[1], s[0], s[4]}},
		{Weight: 1},
	}}
	for _, k := range []int{1, 0, 3, 2} { // e has no record
		v.functions = append(v.functions, profile.Function{Symbol: s[k], Covered: k != 3})
	}
	line := newTimeline(v)
	var got []string
	for _, f := range line.functions {
		got = append(got, fmt.Sprintf("%s %v %d..%d in %d at %d", f.symbol.Name, f.mean, f.min, f.max, f.runs, f.index))
	}
	want := []string{"a 1.5 1..3 in 2 at 1", "b 2 2..2 in 2 at 0", "c 2.5 1..3 in 2 at 3", "e 4 4..4 in 1 at -1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(line.runs) != 2 || line.runs[0].agreement != 1 || math.Abs(line.runs[1].agreement-0.2) > 1e-12 {
		t.Errorf("runs %+v", line.runs)
	}
	if spread, ok := line.medianSpread(); spread != 2 || !ok {
		t.Errorf("half differ by %d, %v", spread, ok)
	}
	if line.listed != 4 || line.unlisted != 1 || line.inAll() != 3 || line.longest() != 4 {
		t.Errorf("%d listed, %d not, %d in all, longest %d", line.listed, line.unlisted, line.inAll(), line.longest())
	}
}

func TestNoTimeline(t *testing.T) {
	for _, v := range []*madeView{{}, {features: profile.Features{Traces: true}}, {features: profile.Features{Traces: true}, traces: []profile.Trace{{Weight: 1}}}} {
		if p, err := timelinePage(made(v)); p != nil || err != nil {
			t.Errorf("page %v, %v", p, err)
		}
	}
}

// startup makes a program of n functions at odd addresses, so that nothing is
// aligned, and runs that call some of them.
func startup(rnd *rand.Rand, n, runs int) *madeView {
	v := &madeView{features: profile.Features{Traces: true, Sizes: true, Calls: true, Edges: true}}
	at := int64(rnd.IntN(1<<20))*2 - 1<<20 + 1
	for i := range n {
		size := uint64(1 + rnd.IntN(3000))
		v.functions = append(v.functions, profile.Function{
			// Some have one name, being local to their files.
			Symbol: profile.Symbol{Name: fmt.Sprint("f", i/2*2), ID: uint64(i + 1)}, Calls: uint64(rnd.IntN(100)), Address: at, Size: size,
		})
		at += int64(size) + int64(rnd.IntN(5000))
		at |= 1
	}
	for range runs {
		trace := profile.Trace{Weight: uint64(1 + rnd.IntN(3))}
		for _, k := range rnd.Perm(n)[:1+rnd.IntN(n)] {
			trace.Functions = append(trace.Functions, v.functions[k].Symbol)
		}
		v.traces = append(v.traces, trace)
	}
	for range n {
		v.edges = append(v.edges, profile.Edge{Kind: profile.Call, Caller: v.functions[rnd.IntN(n)].Symbol, Target: v.functions[rnd.IntN(n)].Symbol, Count: uint64(rnd.IntN(50))})
	}
	return v
}

// plainCurve counts the pages after each first call of a run, one by one.
func plainCurve(calls []profile.Symbol, where map[profile.Symbol][2]uint64, page uint64) (curve []int) {
	touched := make(map[uint64]bool)
	for _, s := range calls {
		for b := where[s][0]; b < where[s][0]+where[s][1]; b++ {
			touched[b/page] = true
		}
		curve = append(curve, len(touched))
	}
	return curve
}

// The curves are what plain counting gives: of the program as it is, and of the
// functions packed in the order of one run.
func TestPageCurves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for round := range 60 / oracle.Step(5) {
		v := startup(rnd, 1+rnd.IntN(60), 1+round%3)
		least := int64(math.MaxInt64)
		for _, f := range v.functions {
			least = min(least, f.Address)
		}
		linked := make(map[profile.Symbol][2]uint64)
		for _, f := range v.functions {
			linked[f.Symbol] = [2]uint64{uint64(f.Address - least), f.Size}
		}
		line := newTimeline(v)
		orders := pageOrders(v, line)
		var names []string
		for _, o := range orders {
			names = append(names, o.name)
		}
		if len(names) < 3 || names[0] != "as linked" || names[1] != "first calls" || names[2] != "balanced partitioning" {
			t.Fatalf("orders %q", names)
		}
		compare := func(o pageOrder, where map[profile.Symbol][2]uint64) {
			for k, page := range pageSizes {
				var want [curveSteps]float64
				total := 0.0
				for _, trace := range v.traces {
					curve := plainCurve(trace.Functions, where, page)
					for i := range want {
						want[i] += float64(trace.Weight) * float64(curve[callsAt(i, len(curve))-1])
					}
					total += float64(trace.Weight)
				}
				for i := range want {
					if got := o.scores[k].Until[i]; math.Abs(got-want[i]/total) > 1e-9 {
						t.Fatalf("round %d, %s, pages of %d, point %d: %v pages, want %v", round, o.name, page, i, got, want[i]/total)
					}
				}
			}
		}
		compare(orders[0], linked)
		if len(v.traces) > 1 || oddShare(v) <= 0.5 {
			continue
		}
		packed, at := make(map[profile.Symbol][2]uint64), uint64(0)
		for _, s := range v.traces[0].Functions {
			packed[s] = [2]uint64{at, linked[s][1]}
			at += linked[s][1]
		}
		compare(orders[1], packed)
	}
}

// oddShare is which share of the functions is not at even addresses, counted from the first.
func oddShare(v *madeView) float64 {
	odd := 0
	for _, f := range v.functions {
		if (f.Address-v.functions[0].Address)%2 != 0 {
			odd++
		}
	}
	return float64(odd) / float64(len(v.functions))
}

// Everything that the plots show is a first call, where it belongs.
func TestTimelinePoints(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	v := startup(rnd, 6000, 2)
	src := made(v)
	p, err := timelinePage(src)
	if err != nil {
		t.Fatal(err)
	}
	data, line := p.data.(*timelineData), newTimeline(v)
	if len(data.Plots) != 2 || len(data.Curves) != 2 || len(data.Runs) != 2 || len(data.Name) != len(line.functions) {
		t.Fatalf("%d plots, %d curves, %d runs, %d functions", len(data.Plots), len(data.Curves), len(data.Runs), len(data.Name))
	}
	x := linearAxis(1, float64(line.longest()))
	for _, points := range data.Plots {
		if n := len(points.X); n > maxPlotPoints || n < maxPlotPoints/2 {
			t.Errorf("%s: %d points", points.Key, n)
		}
		for i := range points.X {
			rank := slices.Index(line.runs[points.Part[i]].calls, points.Thing[i]) + 1
			if want := tenths(x.at(float64(rank))); points.X[i] != want {
				t.Fatalf("%s: call %d is at %v, want %v", points.Key, rank, points.X[i], want)
			}
		}
	}
	for i, f := range line.functions {
		if src.names.Keys[data.Name[i]] != f.symbol.Name || data.Min[i] != f.min || data.Max[i] != f.max {
			t.Fatalf("row %d is %s", i, src.names.Keys[data.Name[i]])
		}
	}
	for _, curve := range data.Curves {
		if !slices.IsSorted(curve.Thing[:len(curve.Thing)/len(data.Orders)]) {
			t.Errorf("%s does not go from left to right: %v", curve.Key, curve.Thing)
		}
	}
}

func TestTimelineFixtures(t *testing.T) {
	checkPages(t, timelinePage, map[string][]string{
		"irpgo/llvm22/temporal-merged.profdata": {"15 functions of 17 were called in 3 runs, 11 of them in all", "How far the runs agree", "profuse order eval", ">load_config<"},
		"irpgo/clang22/temporal-run1.profraw":   {"functions of 17 were called.", "not their order in the program", "profuse order eval"},
		"irpgo/text/llvm22-temporal.proftext":   {"profuse order eval"},
		"mip/all.mip":                           {"5 functions of 8 were called.", "means over the runs", "4 KiB pages", "16 KiB pages", "as linked", "first calls", ">main<", "143 B"},
		"irpgo/llvm22/merged.profdata":          nil,
		"mip/function.mip":                      nil,
		"iprof/app.iprof":                       nil,
	})
}
