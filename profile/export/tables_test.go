package export

import (
	"reflect"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

func TestFunctionStacks(t *testing.T) {
	functions := []profile.Function{
		{Symbol: profile.Symbol{Name: "a", StartLine: 4}, Calls: 7, Covered: true, Blocks: []profile.Block{{Count: 5}, {Count: 0}, {Count: 1<<64 - 2}}, Labels: []profile.Label{{Key: "k", Value: "v"}}},
		{Symbol: profile.Symbol{Name: "never"}},
		{Symbol: profile.Symbol{Name: "unknown counts"}, Covered: true},
	}
	for _, tc := range []struct {
		features profile.Features
		names    []string
		values   [2][]uint64 // of a, and of unknown counts
	}{
		{profile.Features{}, []string{"covered"}, [2][]uint64{{1}, {1}}},
		{profile.Features{Calls: true}, []string{"calls"}, [2][]uint64{{7}, {0}}},
		{profile.Features{Calls: true, CallsAreCoverage: true}, []string{"covered"}, [2][]uint64{{1}, {1}}},
		{profile.Features{Blocks: true}, []string{"block_counts", "max_block"}, [2][]uint64{{1<<64 - 1, 1<<64 - 2}, {0, 0}}},
		{profile.Features{Calls: true, Blocks: true}, []string{"calls", "block_counts", "max_block"}, [2][]uint64{{7, 1<<64 - 1, 1<<64 - 2}, {0, 0, 0}}},
		{profile.Features{Calls: true, Blocks: true, BlocksAreCoverage: true}, []string{"calls", "covered_blocks"}, [2][]uint64{{7, 2}, {0, 0}}},
	} {
		tc.features.Lines = true
		set := functionStacks(&fakeView{features: tc.features, functions: functions})
		var names []string
		for _, v := range set.Values {
			names = append(names, v.Name)
		}
		if !slices.Equal(names, tc.names) {
			t.Errorf("%v: values %v, want %v", tc.features.Names(), names, tc.names)
		}
		n := 0
		for s := range set.ReusedStacks {
			if n >= 2 || !slices.Equal(s.Values, tc.values[n]) {
				t.Errorf("%v: %v has values %v", tc.features.Names(), s.Frames, s.Values)
			}
			if n == 0 && (s.Frames[0].Name != "a" || s.Frames[0].Line != 4 || len(s.Labels) != 1) {
				t.Errorf("stack %+v", s)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%v: %d functions", tc.features.Names(), n)
		}
	}
}

func TestEdgeStacks(t *testing.T) {
	v := &fakeView{features: profile.Features{Bytecodes: true}, edges: []profile.Edge{
		{Kind: profile.IndirectCall, Caller: profile.Symbol{Name: "a"}, Site: 3, Target: profile.Symbol{Name: "b"}, Count: 5},
		{Kind: profile.IndirectCall, Caller: profile.Symbol{Name: "a"}, Site: 3, Count: 9},
		{Kind: profile.MemOpSize, Caller: profile.Symbol{Name: "a"}, Size: 8, Count: 1},
		{Kind: profile.Receiver, Caller: profile.Symbol{Name: "a"}, Target: profile.Symbol{Name: "T"}, Count: 1},
		{Kind: profile.Call, Caller: profile.Symbol{Name: "c"}, Target: profile.Symbol{ID: 7}, Count: 2},
	}}
	got := collect(edgeStacks(v))
	want := []profile.Stack{
		{Frames: []profile.Frame{{Symbol: profile.Symbol{Name: "b"}}, {Symbol: profile.Symbol{Name: "a"}, BCI: 3}}, Values: []uint64{5}},
		{Frames: []profile.Frame{{Symbol: profile.Symbol{ID: 7}}, {Symbol: profile.Symbol{Name: "c"}}}, Values: []uint64{2}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
