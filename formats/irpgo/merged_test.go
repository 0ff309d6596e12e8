package irpgo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// finished merges indexed profiles and reports whether they are one sum that has not been built.
func finished(t *testing.T, opt MergeOptions, inputs [][]byte) *Merged {
	t.Helper()
	m := NewMerger(opt)
	for i, data := range inputs {
		addTo(t, m, openReader(t, "in", data, ReaderOptions{Lenient: opt.LLVMCompat}), uint64(1+i%3))
	}
	return m.Finish()
}

func writeMerged(t *testing.T, m *Merged, opt IndexedOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, m.WriteIndexed(&b, opt))
	return b.Bytes()
}

// TestMergedEqualsProfile writes sums as they are and by way of a profile.
func TestMergedEqualsProfile(t *testing.T) {
	for _, tc := range []struct {
		name  string
		opt   randomOptions
		from  uint32 // version of the inputs
		to    IndexedOptions
		alone bool
	}{
		{"newest", randomOptions{functions: 700, maxHashes: 1, variant: IRLevel}, 13, IndexedOptions{}, true},
		{"everything", randomOptions{functions: 500, maxHashes: 8, values: 3, bitmaps: true, variant: IRLevel | ContextSens}, 13, IndexedOptions{}, true},
		{"many", randomOptions{functions: 5000, maxHashes: 2, values: 1, variant: IRLevel}, 12, IndexedOptions{}, true},
		{"pseudo counts", randomOptions{functions: 400, maxHashes: 2, variant: IRLevel, hugeCounts: true}, 13, IndexedOptions{}, false},
		{"order of old releases", randomOptions{functions: 900, maxHashes: 3, values: 1, variant: IRLevel}, 8, IndexedOptions{}, false},
		{"front end", randomOptions{functions: 300, maxHashes: 2, values: 2, bitmaps: true}, 13, IndexedOptions{Version: 12}, true},
		{"previous version", randomOptions{functions: 600, maxHashes: 6, values: 2, variant: IRLevel}, 13, IndexedOptions{Version: 11, LLVMRelease: 22}, true},
		{"traces", randomOptions{functions: 600, maxHashes: 1, variant: IRLevel | HasTemporal, traces: 3}, 13, IndexedOptions{}, true},
		{"to version 10", randomOptions{functions: 600, maxHashes: 2, variant: IRLevel}, 13, IndexedOptions{Version: 10}, true},
		{"bitmaps to version 10", randomOptions{functions: 600, maxHashes: 2, bitmaps: true, variant: IRLevel}, 13, IndexedOptions{Version: 10}, true},
		{"vtables to version 11", randomOptions{functions: 600, maxHashes: 2, values: 3, variant: IRLevel}, 13, IndexedOptions{Version: 11}, true},
		{"to an old order", randomOptions{functions: 600, maxHashes: 2, variant: IRLevel}, 13, IndexedOptions{Version: 8}, false},
		{"sparse", randomOptions{functions: 600, maxHashes: 2, variant: IRLevel}, 13, IndexedOptions{Sparse: true}, false},
		{"few", randomOptions{functions: 20, maxHashes: 2, variant: IRLevel}, 13, IndexedOptions{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(6 / oracle.Step(3)) {
				rng := rand.New(rand.NewPCG(seed, 55))
				base := randomProfile(rng, tc.opt)
				var inputs [][]byte
				for range 1 + seed%3 {
					run := base
					if !tc.opt.hugeCounts {
						run = otherRun(rng, base, 1<<(4+8*seed))
					}
					data := indexedBytes(t, run, IndexedOptions{Version: tc.from})
					inputs = append(inputs, data)
				}
				for _, opt := range []MergeOptions{{}, {LLVMCompat: true}} {
					want := indexedBytes(t, finished(t, opt, inputs).Profile(), tc.to)
					m := finished(t, opt, inputs)
					functions, counters, total := m.Contents()
					if got := writeMerged(t, m, tc.to); !bytes.Equal(got, want) {
						t.Fatalf("seed %d, %+v: files differ at byte %d", seed, opt, firstDifference(got, want))
					}
					if alone := m.keys == nil; alone != tc.alone {
						t.Errorf("seed %d, %+v: written in the order of the inputs: %t", seed, opt, alone)
					}
					if got := writeMerged(t, m, tc.to); !bytes.Equal(got, want) {
						t.Errorf("seed %d, %+v: writing again gives another file", seed, opt)
					}
					p := m.Profile()
					if got, err := encodeIndexed(p, tc.to); err != nil || !bytes.Equal(got, want) {
						t.Errorf("seed %d, %+v: the profile afterwards is another (%v)", seed, opt, err)
					}
					if f, c, n := m.Contents(); f != functions || c != counters || n != total {
						t.Errorf("seed %d, %+v: %d functions, %d counters, total %d; of the profile %d, %d, %d", seed, opt, functions, counters, total, f, c, n)
					}
					p.Functions = p.Functions[len(p.Functions)/2:]
					if !bytes.Equal(writeMerged(t, m, tc.to), indexedBytes(t, p, tc.to)) {
						t.Errorf("seed %d, %+v: what was changed in the profile is not written", seed, opt)
					}
				}
			}
		})
	}
}

// TestMergedDamagedTable: tables that a reader takes but no writer makes are merged and written as ever.
func TestMergedDamagedTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	base := randomProfile(rng, randomOptions{functions: 400, maxHashes: 2, values: 2, variant: IRLevel})
	data := indexedBytes(t, base, IndexedOptions{})
	alone := 0
	for range 800 / oracle.Step(5) {
		changed := bytes.Clone(data)
		for range 1 + rng.IntN(2) {
			changed[rng.IntN(len(changed))] ^= 1 << rng.IntN(8)
		}
		read := func(byRecord bool) (*Merged, error) {
			r, err := NewReader("in", changed, ReaderOptions{})
			if err != nil {
				return nil, err
			}
			m := NewMerger(MergeOptions{})
			if byRecord {
				m.catalogs = nil
			}
			if _, err := m.Add(r, 1); err != nil {
				return nil, err
			}
			return m.Finish(), nil
		}
		want, wantErr := read(true)
		got, err := read(false)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%v, record by record %v", err, wantErr)
		}
		if err != nil {
			continue
		}
		if got.keys == nil {
			alone++
		}
		if !bytes.Equal(writeMerged(t, got, IndexedOptions{}), writeMerged(t, want, IndexedOptions{})) {
			t.Fatal("files differ")
		}
	}
	if alone < 50 {
		t.Errorf("only %d were written in the order of the input", alone)
	}
}
