package irpgo

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// The view of a sum has the functions of the profile in the order of names. It may take the
// memory of a catalog only if no fork can add profiles by the catalog.
func TestViewOfAFork(t *testing.T) {
	const name = "../../testdata/irpgo/llvm22/many-functions.profdata"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	add := func(m *Merger) *Merged {
		r, err := NewReader(name, data, ReaderOptions{})
		if err == nil {
			_, err = m.Add(r, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m.Finish()
	}
	text := func(r *Merged) string {
		var b bytes.Buffer
		if err := r.WriteIndexed(&b, IndexedOptions{}); err != nil {
			t.Fatal(err)
		}
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
	p, err := Read(name, data, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
	r, err := NewReader(name, data, ReaderOptions{})
	if err == nil {
		_, err = m.Add(r, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []uint32{7, 12} {
		sum := m.Finish()
		r, err := NewReader("sum", writeMerged(t, sum, IndexedOptions{Version: version}), ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, want := sum.Head, r.Info
		if want.Format != FormatIndexed || want.Version != version || got.Variant != want.Variant {
			t.Errorf("version %d: %v, want %+v", version, got.Variant, want)
		}
		if version >= 9 && !slices.EqualFunc(got.BinaryIDs, want.BinaryIDs, bytes.Equal) {
			t.Errorf("version %d: binary ids %x, want %x", version, got.BinaryIDs, want.BinaryIDs)
		}
	}
}
