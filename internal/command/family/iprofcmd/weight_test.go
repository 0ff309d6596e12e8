package iprofcmd

import (
	"fmt"
	"math"
	"testing"

	"github.com/profuse-pgo/profuse/formats/iprof"
)

func weight(num, den uint64) iprof.Weight { return iprof.Weight{Num: num, Den: den} }

func TestParseWeight(t *testing.T) {
	for text, want := range map[string]iprof.Weight{
		"1": weight(1, 1), "3": weight(3, 1), "0.5": weight(5, 10), "0": weight(0, 1), "0.25": weight(25, 100),
		"1.000000000000001": weight(1e15+1, 1e15), "0.99999999999999999": weight(1e17-1, 1e17), "999999999999999999": weight(1e18-1, 1),
	} {
		if w := parseWeight(text); w != want {
			t.Errorf("weight %q is %v, want %v", text, w, want)
		}
	}
}

// TestWeightProducts: products are exact as long as 64 bits hold them.
func TestWeightProducts(t *testing.T) {
	for _, tc := range []struct {
		a, b iprof.Weight
		want string
	}{
		{iprof.Weight{}, weight(3, 4), "3/4"},
		{weight(3, 4), iprof.Weight{}, "3/4"},
		{weight(3, 4), weight(5, 5), "3/4"},
		{weight(3, 4), weight(2, 3), "1/2"},
		{weight(3, 4), weight(2, 9), "1/6"},
		{weight(1<<40, 1), weight(1<<20, 0), fmt.Sprint(int64(1) << 60)},
		{weight(1<<40, 1), weight(1<<40, 1), fmt.Sprint(uint64(math.MaxUint64))}, // what is more counts as this
		{weight(1<<63, 3), weight(1<<63, 1<<62), rational(times(weight(1<<63, 3), weight(2, 1))).RatString()},
	} {
		if got := rational(times(tc.a, tc.b)).RatString(); got != tc.want {
			t.Errorf("%v × %v is %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
	p := readText(t, []byte(`{"version":"1.0.0","types":[{"id":0,"name":"int"},{"id":1,"name":"A"}],"methods":[{"id":1,"name":"m","signature":[1,0]}],`+
		`"callCountProfiles":[{"ctx":"1:0","records":[3000000]}]}`))
	m := iprof.NewMerger(iprof.MergeOptions{})
	if _, err := m.AddProfile("", p, iprof.Weights{Counters: times(weight(math.MaxUint64, 3), weight(7, math.MaxUint64-1))}); err != nil {
		t.Fatal(err)
	}
	if got := m.Profile().Sections[iprof.CallCounts].Total(); got != 7_000_000 {
		t.Errorf("3000000 × 7/3 = %d", got)
	}
}

func TestNormalize(t *testing.T) {
	weights := normalize([]totals{{100, 4}, {400, 1}, {}})
	if got := fmt.Sprint(weights); got != "[{{400 100} {4 4}} {{400 400} {4 1}} {{0 0} {0 0}}]" {
		t.Errorf("weights %s", got)
	}
	p := readFixture(t, "small.iprof")
	if got, want := totalsOf(p), (totals{p.Sections[iprof.CallCounts].Total(), p.Sections[iprof.Samples].Total()}); got != want {
		t.Errorf("totals %v, want %v", got, want)
	}
}
