package command

import (
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/merging"
)

// TestFamilies: every format belongs to one family, and every family can write sums that
// lose nothing, which fleets need.
func TestFamilies(t *testing.T) {
	for _, f := range formats.All() {
		n := 0
		for _, known := range families {
			if slices.Contains(known.Kinds, f.Family()) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: its family %s is one of %d families of commands, want 1", f, f.Family(), n)
		}
	}
	for _, known := range families {
		exact := func(r merging.Result) bool { return r.Exact != "" }
		if !slices.ContainsFunc(known.Adder().Results(), exact) {
			t.Errorf("family %v: no result is exact", known.Kinds)
		}
	}
}
