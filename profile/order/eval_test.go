package order_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/profuse-pgo/profuse/profile/order"
)

// four functions over three pages of 4096 bytes: b spans the first two.
var fourFunctions = []order.Function{
	{Name: "a", Addr: 0x1000, Size: 0x800},
	{Name: "b", Addr: 0x1800, Size: 0x1000},
	{Name: "c", Addr: 0x2800, Size: 0x700},
	{Name: "d", Addr: 0x3000, Size: 0x10},
	{Name: "alias", Addr: 0x3000, Size: 0x8},
	{Name: "empty", Addr: 0x3800},
}

func TestEvaluate(t *testing.T) {
	im := order.NewImage(fourFunctions, order.SymbolOptions{})
	if im.Functions != 4 || im.Size != 0x800+0x1000+0x700+0x10 {
		t.Errorf("%d functions of %#x bytes", im.Functions, im.Size)
	}
	for _, c := range []struct {
		name   string
		traces []order.Trace
		opt    order.EvalOptions
		want   []order.Score
	}{
		{
			name: "one", traces: []order.Trace{{Functions: []string{"a", "d", "b", "gone"}}},
			opt: order.EvalOptions{PageSizes: []uint64{0x1000, 0x4000}, Shares: []float64{33, 34, 100}},
			want: []order.Score{
				{PageSize: 0x1000, Pages: 3, Touched: 0x3000, Executed: 0x1810, Until: []float64{1, 2, 3}, Area: (1 + 2 + 3) / 3.0, Called: 3, Missing: 1},
				{PageSize: 0x4000, Pages: 1, Touched: 0x4000, Executed: 0x1810, Until: []float64{1, 1, 1}, Area: 1, Called: 3, Missing: 1},
			},
		},
		{
			name:   "names of one function, and of another build",
			traces: []order.Trace{{Functions: []string{"d", "alias", "c.llvm.123"}}},
			want:   []order.Score{{PageSize: 4096, Pages: 2, Touched: 0x2000, Executed: 0x710, Until: []float64{}, Area: 1.5, Called: 2}},
		},
		{
			name:   "mean by weight, without the trace of another program",
			traces: []order.Trace{{Functions: []string{"a"}, Weight: 3}, {Functions: []string{"b"}}, {Functions: []string{"x"}}},
			opt:    order.EvalOptions{Shares: []float64{50}},
			want: []order.Score{{
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
	im := order.NewImage(append(slices.Clone(fourFunctions),
		order.Function{Name: ".plt", Addr: 0xff0, Size: 0x20, Always: true}), order.SymbolOptions{})
	arranged, m := im.Arrange([]string{"d", ".plt"})
	if im.Functions != 4 || !slices.Equal(m.Missing, []string{".plt"}) {
		t.Errorf("%d functions, %v missing", im.Functions, m.Missing)
	}
	for _, c := range []struct {
		im    *order.Image
		pages float64
	}{{im, 3}, {arranged, 2}} { // d is in the page of .plt when it comes first
		got, err := c.im.Evaluate([]order.Trace{{Functions: []string{"d"}}}, order.EvalOptions{})
		if err != nil || got[0].Pages != c.pages || got[0].Called != 1 {
			t.Errorf("%+v, %v; want %v pages", got, err, c.pages)
		}
	}
}

func TestEvaluateFails(t *testing.T) {
	im := order.NewImage(fourFunctions, order.SymbolOptions{})
	good := []order.Trace{{Functions: []string{"a"}}}
	for name, c := range map[string]struct {
		im     *order.Image
		traces []order.Trace
		opt    order.EvalOptions
	}{
		"no trace":   {im, nil, order.EvalOptions{}},
		"strangers":  {im, []order.Trace{{Functions: []string{"x"}}}, order.EvalOptions{}},
		"page":       {im, good, order.EvalOptions{PageSizes: []uint64{4095}}},
		"no page":    {im, good, order.EvalOptions{PageSizes: []uint64{0}}},
		"share":      {im, good, order.EvalOptions{Shares: []float64{101}}},
		"no share":   {im, good, order.EvalOptions{Shares: []float64{math.NaN()}}},
		"weight":     {im, []order.Trace{{Functions: []string{"a"}, Weight: -1}}, order.EvalOptions{}},
		"no program": {order.NewImage(nil, order.SymbolOptions{}), good, order.EvalOptions{}},
	} {
		_, err := c.im.Evaluate(c.traces, c.opt)
		if err == nil || !strings.HasPrefix(err.Error(), "cannot evaluate the layout: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestEvaluateUnprofiled: functions that the profile does not have may run, too.
func TestEvaluateUnprofiled(t *testing.T) {
	im := order.NewImage([]order.Function{
		{Name: "a", Addr: 0x1000, Size: 0x100},
		{Name: "std", Addr: 0x1100, Size: 0x100},
		{Name: "b", Addr: 0x3000, Size: 0x100},
		{Name: "b.cold", Addr: 0x9000, Size: 0x100},
		{Name: "std2", Addr: 0x4f00, Size: 0x200},
	}, order.SymbolOptions{})
	for _, c := range []struct {
		profiled []string
		want     order.Score
	}{
		{nil, order.Score{}},
		{[]string{"a", "b"}, order.Score{Unknown: 2, Unprofiled: 2, UnprofiledBytes: 0x300}},
		{[]string{"a", "b", "std", "std2"}, order.Score{}},
	} {
		got, err := im.Evaluate([]order.Trace{{Functions: []string{"a"}}}, order.EvalOptions{Profiled: c.profiled})
		if err != nil || got[0].Pages != 1 || got[0].Unknown != c.want.Unknown || got[0].Unprofiled != c.want.Unprofiled ||
			got[0].UnprofiledBytes != c.want.UnprofiledBytes {
			t.Errorf("%v: %+v, %v, want %+v", c.profiled, got, err, c.want)
		}
	}
}

// TestArrange: what is named comes first, the rest as it was; nothing overlaps,
// and what is together needs the fewest pages.
func TestArrange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var functions []order.Function
	var all []string
	addr := uint64(0x401000)
	for i := range 500 {
		f := order.Function{Name: "f" + strconv.Itoa(i), Addr: addr, Size: 1 + r.Uint64N(700)}
		functions = append(functions, f)
		all = append(all, f.Name)
		addr = (addr + f.Size + 15) &^ 15
	}
	im := order.NewImage(functions, order.SymbolOptions{})
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	run := all[:60]
	arranged, m := im.Arrange(append(slices.Clone(run), "unknown", run[0]))
	if len(m.Symbols) != 60 || len(m.Missing) != 1 || len(m.Duplicates) != 1 {
		t.Errorf("match %+v", m)
	}
	if arranged.Functions != 500 || arranged.Size != im.Size {
		t.Errorf("%d functions of %d bytes, want 500 of %d", arranged.Functions, arranged.Size, im.Size)
	}
	score := func(im *order.Image) order.Score {
		s, err := im.Evaluate([]order.Trace{{Functions: run}}, order.EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s[0]
	}
	before, after := score(im), score(arranged)
	// Sixty functions of 350 bytes on average, aligned to 16, from the start of a page on.
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
	im := order.NewImage([]order.Function{
		{Name: "huge", Addr: 1, Size: math.MaxUint64},
		{Name: "wraps", Addr: math.MaxUint64 - 1, Size: 16},
		{Name: "large", Size: 1 << 28},
		{Name: "zero", Addr: 0, Size: 4},
	}, order.SymbolOptions{})
	arranged, _ := im.Arrange([]string{"zero"})
	if im.Functions != 1 || arranged.Functions != 1 {
		t.Errorf("%d functions, arranged %d, want 1", im.Functions, arranged.Functions)
	}
}
