package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAxis(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		lo := math.Pow(10, rnd.Float64()*12-6)
		hi := lo * math.Pow(10, rnd.Float64()*rnd.Float64()*9)
		for _, a := range []axis{linearAxis(lo, hi), logAxis(lo, hi, false), logAxis(lo, hi, true), linearAxis(hi, lo)} {
			if a.at(lo) > a.at(hi) && a.lo == lo {
				t.Fatalf("%+v: %v is at %v, %v at %v", a, lo, a.at(lo), hi, a.at(hi))
			}
			for _, v := range []float64{lo, hi, 0, -1, math.Inf(1), math.NaN(), math.MaxFloat64} {
				if at := a.at(v); !(at >= 0 && at <= plotSize) {
					t.Fatalf("%+v: %v is at %v", a, v, at)
				}
			}
			if a.log && a.zero > 0 && a.at(0) >= a.at(a.lo) {
				t.Fatalf("%+v: 0 is at %v and %v at %v", a, a.at(0), a.lo, a.at(a.lo))
			}
			ticks := a.ticks(6, func(v float64) string { return "x" })
			if len(ticks) == 0 && a.hi-a.lo > 1 || len(ticks) > 16 {
				t.Fatalf("%+v: %d ticks", a, len(ticks))
			}
			for i, tick := range ticks {
				if tick.At < 0 || tick.At > 100 || i > 0 && tick.At <= ticks[i-1].At {
					t.Fatalf("%+v: ticks at %+v", a, ticks)
				}
			}
		}
	}
}

func TestAxisOfNothing(t *testing.T) {
	for _, a := range []axis{linearAxis(0, 0), logAxis(math.Inf(1), 0, true), logAxis(0, math.Inf(1), false), linearAxis(0, math.NaN())} {
		if at := a.at(0); !(at >= 0 && at <= plotSize) || len(a.ticks(5, wholeText)) == 0 {
			t.Errorf("%+v: 0 is at %v, ticks %v", a, at, a.ticks(5, wholeText))
		}
	}
}

// What stands out is kept, in any stretch, however many there are.
func TestThin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		heights := make([]float64, rnd.IntN(5000))
		for i := range heights {
			heights[i] = rnd.NormFloat64()
		}
		limit := 16 + rnd.IntN(1000)
		kept := thin(len(heights), limit, func(i int) float64 { return heights[i] })
		if len(kept) > max(limit, 32) || !slices.IsSorted(kept) || len(slices.Compact(slices.Clone(kept))) != len(kept) {
			t.Fatalf("%d of %d kept, limit %d", len(kept), len(heights), limit)
		}
		if len(heights) <= limit {
			if len(kept) != len(heights) {
				t.Fatalf("%d of %d kept, limit %d", len(kept), len(heights), limit)
			}
			continue
		}
		least, most := slices.Index(heights, slices.Min(heights)), slices.Index(heights, slices.Max(heights))
		if !slices.Contains(kept, least) || !slices.Contains(kept, most) {
			t.Fatalf("extremes %d and %d are not among %v", least, most, kept)
		}
	}
}

func TestPaths(t *testing.T) {
	points := []point{{0, 1000}, {10.04, 990}, {1000, 0}}
	for got, want := range map[string]string{
		dotPath(points):                  "M0 1000h0M10 990h0M1000 0h0",
		stepPath(points):                 "M0 1000H10V990H1000V0",
		bandPath(points[:2], points[1:]): "M0 1000L10 990L1000 0L10 990Z",
		dotPath(nil):                     "",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPlotLegend(t *testing.T) {
	p := plot{Key: "k", Title: "a < b", Series: []series{{Name: "one", Shape: "dots", Color: "c0"}, {Name: "two", Shape: "line", Color: "c1"}, {Name: "three", Shape: "area", Color: "c2", Unnamed: true}}}
	h, err := p.html()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`aria-label="a &lt; b"`, `</span>one`, `</span>two`, `class="area fill-c2"`, `class="line stroke-c1"`} {
		if !strings.Contains(string(h), want) {
			t.Errorf("%s is not in %s", want, h)
		}
	}
	if strings.Contains(string(h), "three") {
		t.Error("a series without a name is in the legend")
	}
}

// What a style or a drawing takes as a number has no zeros at its end, and no exponent.
func TestNumbersOfDrawings(t *testing.T) {
	for _, n := range []struct {
		v                  float64
		tenths, hundredths string
	}{
		{0, "0", "0"},
		{12, "12", "12"},
		{0.125, "0.1", "0.13"},
		{0.995, "1", "1"},
		{99.996, "100", "100"},
		{1.1, "1.1", "1.1"},
		{1e-9, "0", "0"},
		{1_280_000.25, "1280000.3", "1280000.25"},
	} {
		if got := tenthsText(n.v); got != n.tenths {
			t.Errorf("tenths of %v: %s, want %s", n.v, got, n.tenths)
		}
		if got := hundredthsText(n.v); got != n.hundredths {
			t.Errorf("hundredths of %v: %s, want %s", n.v, got, n.hundredths)
		}
	}
}
