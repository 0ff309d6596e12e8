package irpgo

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// The view of a sum has the functions of the profile in the order of names. It may take the
// memory of a catalog only if no fork can add profiles by the catalog.
func TestViewOfAFork(t *testing.T) {
	const name = "../../testdata/irpgo/llvm22/many-functions.profdata"
	data := oracle.ReadFile(t, name)
	add := func(m *Merger) *Merged {
		addTo(t, m, openReader(t, name, data, ReaderOptions{}), 1)
		return m.Finish()
	}
	text := func(r *Merged) string {
		var b bytes.Buffer
		must(t, r.WriteIndexed(&b, IndexedOptions{}))
		return b.String()
	}
	want := text(add(NewMerger(MergeOptions{})))
	m := NewMerger(MergeOptions{})
	fork := NewMerger(MergeOptions{Like: m})
	functions := func(v profile.View) (list []string) {
		for f := range v.Functions() {
			list = append(list, fmt.Sprintf("%v %x %v", f.Symbol, f.Hash, f.Blocks))
		}
		return list
	}
	p := readProfile(t, name, data, ReaderOptions{})
	all := functions(p.View(name, nil))
	if got := functions(add(m).View(name, nil)); !slices.Equal(got, all) || len(all) == 0 {
		t.Errorf("the view has %d functions, want %d, or their order is not that of names", len(got), len(all))
	}
	if text(add(fork)) != want {
		t.Error("the fork merges something else once there is a view")
	}
	if alone := functions(add(NewMerger(MergeOptions{})).View(name, nil)); !slices.Equal(alone, all) {
		t.Errorf("the view of a Merger without forks has %d functions, want %d, or another order", len(alone), len(all))
	}
}

// Info says of a sum what the reader of the file says in which the sum is written.
func TestMergedInfo(t *testing.T) {
	const name = "../../testdata/irpgo/clang22/ir-run1.profraw"
	data := oracle.ReadFile(t, name)
	m := NewMerger(MergeOptions{})
	addTo(t, m, openReader(t, name, data, ReaderOptions{}), 1)
	for _, version := range []uint32{7, 12} {
		sum := m.Finish()
		r := openReader(t, "sum", writeMerged(t, sum, IndexedOptions{Version: version}), ReaderOptions{})
		got, want := sum.Head, r.Info
		if want.Format != FormatIndexed || want.Version != version || got.Variant != want.Variant {
			t.Errorf("version %d: %v, want %+v", version, got.Variant, want)
		}
		if version >= 9 && !slices.EqualFunc(got.BinaryIDs, want.BinaryIDs, bytes.Equal) {
			t.Errorf("version %d: binary ids %x, want %x", version, got.BinaryIDs, want.BinaryIDs)
		}
	}
}
