package layout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/profuse-pgo/profuse/layout"
)

// four functions over three pages of 4096 bytes: b spans the first two.
var fourFunctions = []layout.Function{
	{Name: "a", Addr: 0x1000, Size: 0x800},
	{Name: "b", Addr: 0x1800, Size: 0x1000},
	{Name: "c", Addr: 0x2800, Size: 0x700},
	{Name: "d", Addr: 0x3000, Size: 0x10},
	{Name: "alias", Addr: 0x3000, Size: 0x8},
	{Name: "empty", Addr: 0x3800},
}

func TestEvaluate(t *testing.T) {
	im := layout.NewImage(fourFunctions, layout.SymbolOptions{})
	if im.Functions() != 4 || im.Size() != 0x800+0x1000+0x700+0x10 {
		t.Errorf("%d functions of %#x bytes", im.Functions(), im.Size())
	}
	for _, c := range []struct {
		name   string
		traces []layout.Trace
		opt    layout.EvalOptions
		want   []layout.Score
	}{
		{
			name: "one", traces: []layout.Trace{{Functions: []string{"a", "d", "b", "gone"}}},
			opt: layout.EvalOptions{PageSizes: []uint64{0x1000, 0x4000}, Shares: []float64{33, 34, 100}},
			want: []layout.Score{
				{PageSize: 0x1000, Pages: 3, Touched: 0x3000, Executed: 0x1810, Until: []float64{1, 2, 3}, Area: (1 + 2 + 3) / 3.0, Called: 3, Missing: 1},
				{PageSize: 0x4000, Pages: 1, Touched: 0x4000, Executed: 0x1810, Until: []float64{1, 1, 1}, Area: 1, Called: 3, Missing: 1},
			},
		},
		{
			name:   "names of one function, and of another build",
			traces: []layout.Trace{{Functions: []string{"d", "alias", "c.llvm.123"}}},
			want:   []layout.Score{{PageSize: 4096, Pages: 2, Touched: 0x2000, Executed: 0x710, Until: []float64{}, Area: 1.5, Called: 2}},
		},
		{
			name:   "mean by weight, without the trace of another program",
			traces: []layout.Trace{{Functions: []string{"a"}, Weight: 3}, {Functions: []string{"b"}}, {Functions: []string{"x"}}},
			opt:    layout.EvalOptions{Shares: []float64{50}},
			want: []layout.Score{{
				PageSize: 4096, Pages: 1.25, Touched: 1.25 * 4096, Executed: (3*0x800 + 0x1000) / 4, Until: []float64{1.25}, Area: 1.25, Called: 1,
			}},
		},
	} {
		got, err := im.Evaluate(c.traces, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestEvaluateAlways: code that every run executes is touched before the first call, in
// arranged images, too, and is no function that orders name.
func TestEvaluateAlways(t *testing.T) {
	im := layout.NewImage(append(slices.Clone(fourFunctions),
		layout.Function{Name: ".plt", Addr: 0xff0, Size: 0x20, Always: true}), layout.SymbolOptions{})
	arranged, m := im.Arrange([]string{"d", ".plt"})
	if im.Functions() != 4 || !slices.Equal(m.Missing, []string{".plt"}) {
		t.Errorf("%d functions, %v missing", im.Functions(), m.Missing)
	}
	for _, c := range []struct {
		im    *layout.Image
		pages float64
	}{{im, 3}, {arranged, 2}} { // d is in the page of .plt when it comes first
		got, err := c.im.Evaluate([]layout.Trace{{Functions: []string{"d"}}}, layout.EvalOptions{})
		if err != nil || got[0].Pages != c.pages || got[0].Called != 1 {
			t.Errorf("%+v, %v; want %v pages", got, err, c.pages)
		}
	}
}

func TestEvaluateFails(t *testing.T) {
	im := layout.NewImage(fourFunctions, layout.SymbolOptions{})
	good := []layout.Trace{{Functions: []string{"a"}}}
	for name, err := range map[string]error{
		"no trace":   evalError(im, nil, layout.EvalOptions{}),
		"strangers":  evalError(im, []layout.Trace{{Functions: []string{"x"}}}, layout.EvalOptions{}),
		"page":       evalError(im, good, layout.EvalOptions{PageSizes: []uint64{4095}}),
		"no page":    evalError(im, good, layout.EvalOptions{PageSizes: []uint64{0}}),
		"share":      evalError(im, good, layout.EvalOptions{Shares: []float64{101}}),
		"no share":   evalError(im, good, layout.EvalOptions{Shares: []float64{math.NaN()}}),
		"weight":     evalError(im, []layout.Trace{{Functions: []string{"a"}, Weight: -1}}, layout.EvalOptions{}),
		"no program": evalError(layout.NewImage(nil, layout.SymbolOptions{}), good, layout.EvalOptions{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "cannot evaluate the layout: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestEvaluateUnprofiled: functions that the profile does not have may run, too.
func TestEvaluateUnprofiled(t *testing.T) {
	im := layout.NewImage([]layout.Function{
		{Name: "a", Addr: 0x1000, Size: 0x100},
		{Name: "std", Addr: 0x1100, Size: 0x100},
		{Name: "b", Addr: 0x3000, Size: 0x100},
		{Name: "b.cold", Addr: 0x9000, Size: 0x100},
		{Name: "std2", Addr: 0x4f00, Size: 0x200},
	}, layout.SymbolOptions{})
	for _, c := range []struct {
		profiled []string
		want     layout.Score
	}{
		{nil, layout.Score{}},
		{[]string{"a", "b"}, layout.Score{Unknown: 2, Unprofiled: 2, UnprofiledBytes: 0x300}},
		{[]string{"a", "b", "std", "std2"}, layout.Score{}},
	} {
		got, err := im.Evaluate([]layout.Trace{{Functions: []string{"a"}}}, layout.EvalOptions{Profiled: c.profiled})
		if err != nil || got[0].Pages != 1 || got[0].Unknown != c.want.Unknown || got[0].Unprofiled != c.want.Unprofiled ||
			got[0].UnprofiledBytes != c.want.UnprofiledBytes {
			t.Errorf("%v: %+v, %v, want %+v", c.profiled, got, err, c.want)
		}
	}
}

func evalError(im *layout.Image, traces []layout.Trace, opt layout.EvalOptions) error {
	_, err := im.Evaluate(traces, opt)
	return err
}

// TestArrange: what is named comes first, the rest as it was; nothing overlaps,
// and what is together needs the fewest pages.
func TestArrange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var functions []layout.Function
	var all []string
	addr := uint64(0x401000)
	for i := range 500 {
		f := layout.Function{Name: "f" + strconv.Itoa(i), Addr: addr, Size: 1 + r.Uint64N(700)}
		functions = append(functions, f)
		all = append(all, f.Name)
		addr = (addr + f.Size + 15) &^ 15
	}
	im := layout.NewImage(functions, layout.SymbolOptions{})
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	run := all[:60]
	arranged, m := im.Arrange(append(slices.Clone(run), "unknown", run[0]))
	if len(m.Symbols) != 60 || len(m.Missing) != 1 || len(m.Duplicates) != 1 {
		t.Errorf("match %+v", m)
	}
	if arranged.Functions() != 500 || arranged.Size() != im.Size() {
		t.Errorf("%d functions of %d bytes, want 500 of %d", arranged.Functions(), arranged.Size(), im.Size())
	}
	score := func(im *layout.Image) layout.Score {
		s, err := im.Evaluate([]layout.Trace{{Functions: run}}, layout.EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s[0]
	}
	before, after := score(im), score(arranged)
	// Sixty functions of 350 bytes on average, aligned to 16, from the start of
	// a page on.
	if least := math.Ceil(after.Executed / 4096); after.Pages < least || after.Pages > least+1 || before.Pages < 2*after.Pages {
		t.Errorf("%v pages, before %v, at least %v", after.Pages, before.Pages, least)
	}
	if after.Executed != before.Executed || after.Area >= before.Area {
		t.Errorf("after %+v, before %+v", after, before)
	}
	// In the order that it has, nothing changes.
	same, _ := im.Arrange(nil)
	if diff := cmp.Diff(before, score(same)); diff != "" {
		t.Error(diff)
	}
}

// TestImageOfHostileSymbols: sizes that cannot be are not believed.
func TestImageOfHostileSymbols(t *testing.T) {
	im := layout.NewImage([]layout.Function{
		{Name: "huge", Addr: 1, Size: math.MaxUint64},
		{Name: "wraps", Addr: math.MaxUint64 - 1, Size: 16},
		{Name: "large", Size: 1 << 28},
		{Name: "zero", Addr: 0, Size: 4},
	}, layout.SymbolOptions{})
	arranged, _ := im.Arrange([]string{"zero"})
	if im.Functions() != 1 || arranged.Functions() != 1 {
		t.Errorf("%d functions, arranged %d, want 1", im.Functions(), arranged.Functions())
	}
}
