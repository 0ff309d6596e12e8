package irpgo

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
)

func TestArrange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 50 {
		entries, order := make([]entry, n), make([]nameKey, n)
		for i, from := range random.Perm(n) {
			entries[from].hash, order[i].index = uint64(i), int32(from)
		}
		arrange(entries, order)
		for i := range entries {
			if entries[i].hash != uint64(i) {
				t.Fatalf("%d entries: number %d is at %d", n, entries[i].hash, i)
			}
		}
	}
}

// A view may take over the entries of a catalog only if no fork can add profiles by it.
func TestViewOfAFork(t *testing.T) {
	const name = "../testdata/irpgo/llvm22/many-functions.profdata"
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
	functions := func(r *Merged) (n int) {
		for range r.View(name, ViewOptions{}).Functions() {
			n++
		}
		return n
	}
	n := functions(add(m))
	if text(add(fork)) != want {
		t.Error("the fork merges something else once there is a view")
	}
	if alone := functions(add(NewMerger(MergeOptions{}))); alone != n || n == 0 {
		t.Errorf("views have %d and %d functions", n, alone)
	}
}
