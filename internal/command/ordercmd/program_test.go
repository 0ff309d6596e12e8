package ordercmd

import (
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile/order"
)

// TestSetSizes: a function of a Mach-O file ends where the next symbol of its section, or the section, does.
func TestSetSizes(t *testing.T) {
	at := []uint64{0x100, 0x110, 0x110, 0x130, 0x200, 0x208}
	functions := make([]order.Function, len(at))
	for i := range at {
		functions[i].Addr = at[i]
	}
	setSizes(functions, []uint64{0x140, 0x140, 0x140, 0x140, 0x210, 0x210})
	var sizes []uint64
	for i := range functions {
		sizes = append(sizes, functions[i].Size)
	}
	if want := []uint64{0x10, 0x20, 0x20, 0x10, 8, 8}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %#x, want %#x", sizes, want)
	}
	setSizes(nil, nil)
}
