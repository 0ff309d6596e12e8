package irpgo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/test/hostile"
)

// otherRun returns another run of the program that p is a profile of: the same
// records with other counts, bitmaps and values.
func otherRun(rng *rand.Rand, p *Profile, most uint64) *Profile {
	names := make([]string, len(p.Functions))
	for i := range names {
		names[i] = p.Functions[i].Name
	}
	out := &Profile{Variant: p.Variant, TraceStreamSize: p.TraceStreamSize, Traces: p.Traces}
	for _, f := range p.Functions {
		g := Function{Name: f.Name, seq: f.seq}
		for _, r := range f.Records {
			c := *r.clone()
			for i := range c.Counts {
				if most > 0 {
					c.Counts[i] = rng.Uint64N(most)
				}
			}
			for i := range c.Bitmap {
				c.Bitmap[i] = byte(rng.IntN(256))
			}
			for k := range c.Values {
				for i := range c.Values[k] {
					c.Values[k][i] = randomSite(rng, k, names)
				}
			}
			g.Records = append(g.Records, &c)
		}
		out.Functions = append(out.Functions, g)
	}
	return out
}

// TestIndexedCatalogsEqualRecords merges random indexed profiles of one program,
// of every version, by catalogs and record by record.
func TestIndexedCatalogsEqualRecords(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  randomOptions
		most uint64 // greatest count; 0 keeps those of the first run
		fast bool
	}{
		{"counts", randomOptions{functions: 80, maxHashes: 1, variant: IRLevel}, 1000, true},
		{"everything", randomOptions{functions: 60, maxHashes: 3, values: 3, bitmaps: true, variant: IRLevel | ContextSens}, 1 << 50, true},
		{"front end", randomOptions{functions: 30, maxHashes: 2, values: 2, bitmaps: true}, 1 << 55, true},
		{"coverage", randomOptions{functions: 30, maxHashes: 1, variant: IRLevel | SingleByte}, 2, true},
		{"traces", randomOptions{functions: 20, maxHashes: 1, variant: IRLevel | HasTemporal, traces: 3}, 9, true},
		{"huge and pseudo counts", randomOptions{functions: 40, maxHashes: 2, values: 2, variant: IRLevel, hugeCounts: true}, 0, false},
		{"one function", randomOptions{functions: 1, maxHashes: 1, variant: IRLevel}, 9, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(12) {
				rng := rand.New(rand.NewPCG(seed, 33))
				base := randomProfile(rng, tc.opt)
				version := []uint32{13, 12, 11, 10, 9, 8, 7, 4}[seed%8]
				var inputs []weightedInput
				for range 5 {
					data, err := encodeIndexed(otherRun(rng, base, tc.most), IndexedOptions{Version: version})
					if err != nil && version < 8 {
						t.Skip("not for old versions:", err) // of those that follow
					}
					must(t, err)
					inputs = append(inputs, weightedInput{data, uint64(1 + rng.IntN(3))})
				}
				saturates := seed == 3 && tc.most > 1000
				if saturates {
					inputs[2].weight = 1 << 61
				}
				for _, opt := range []MergeOptions{{KeepSymbols: true}, {LLVMCompat: true}} {
					want, wantAdded, wantWarn, _ := mergeWeighted(t, opt, true, inputs)
					got, gotAdded, gotWarn, fast := mergeWeighted(t, opt, false, inputs)
					if !bytes.Equal(got, want) {
						t.Fatalf("seed %d, %+v: files differ at byte %d", seed, opt, firstDifference(got, want))
					}
					if diff := cmp.Diff(wantAdded, gotAdded); diff != "" {
						t.Errorf("seed %d, %+v: added (-records +catalogs):\n%s", seed, opt, diff)
					}
					if diff := cmp.Diff(wantWarn, gotWarn); diff != "" && seed != 3 {
						t.Errorf("seed %d, %+v: warnings (-records +catalogs):\n%s", seed, opt, diff)
					}
					byCatalog := len(inputs)
					if saturates {
						byCatalog--
					}
					if tc.fast && fast != byCatalog {
						t.Errorf("seed %d, %+v: %d inputs were added by a catalog, want %d", seed, opt, fast, byCatalog)
					}
				}
				rawAndForked(t, rng, inputs)
			}
		})
	}
}

// rawAndForked adds raw and text profiles that share functions, and deals all to workers.
func rawAndForked(t *testing.T, rng *rand.Rand, inputs []weightedInput) {
	t.Helper()
	p := readProfile(t, "in", inputs[0].data, ReaderOptions{})
	inputs = append(inputs, weightedInput{textOf(t, p), 2})
	for i := range inputs {
		r := openReader(t, "in", inputs[i].data, ReaderOptions{})
		if r.Info.Variant.Has(HasTemporal) {
			return // their sample depends on the order
		}
	}
	rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
	want, _, _, _ := mergeWeighted(t, MergeOptions{}, true, inputs)
	if got := mergeForked(t, rng, inputs); !bytes.Equal(got, want) {
		t.Fatalf("forked: files differ at byte %d", firstDifference(got, want))
	}
}

// TestIndexedCatalogNotTrusted flips every bit of a third run: what its catalog
// makes of it is what adding it record by record makes of it.
func TestIndexedCatalogNotTrusted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	base := randomProfile(rng, randomOptions{functions: 4, maxHashes: 2, values: 3, bitmaps: true, variant: IRLevel})
	var runs [3][]byte
	for i := range runs {
		var err error
		if runs[i], err = encodeIndexed(otherRun(rng, base, 1000), IndexedOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	checkDamagedCatalogs(t, runs[:])
}

// catalogAndRecords asks whether a profile has a catalog and reads its records.
func catalogAndRecords(data []byte, opt ReaderOptions) (found bool, walk error) {
	r, err := NewReader("in", data, opt)
	if err != nil {
		return false, err
	}
	from, ok := r.dec.(catalogSource)
	found = ok && newCatalogCache().find(from, &numbers{}, &catalog{})
	r, err = NewReader("in", data, opt) // knows nothing of what was checked
	if err != nil {
		return found, err
	}
	for _, err := range r.Records() {
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// TestCatalogIsSound: of the fixtures, whole and with every bit flipped, those
// that have a catalog can be read; and whole ones have one.
func TestCatalogIsSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	b := newRawBuild(10, 8, le, IRLevel)
	p := randomProfile(rng, randomOptions{functions: 5, maxHashes: 2, values: 3, bitmaps: true, variant: IRLevel})
	indexed := indexedBytes(t, p, IndexedOptions{})
	files := [][]byte{b.build(), indexed}
	for _, v := range rawVersions() {
		if v.version >= 3 {
			files = append(files, v.build())
		}
	}
	for n, data := range files {
		if found, err := catalogAndRecords(data, ReaderOptions{}); !found || err != nil {
			t.Errorf("file %d: catalog %v, but %v", n, found, err)
		}
		for bit, flipped := range hostile.Flips(data, 37) {
			if found, err := catalogAndRecords(flipped, ReaderOptions{}); found && err != nil {
				t.Errorf("file %d, bit %d: a catalog, but %v", n, bit, err)
			}
		}
	}
}

func TestNameCache(t *testing.T) {
	k := newNameCache()
	blob := appendNames(nil, []string{"a", "b"}, true)
	blob = appendNames(blob, []string{"a", "c"}, false)
	blob = appendNames(blob, []string{"a", "b"}, true)
	var first []*nameList
	for range 2 {
		var lists []*nameList
		must(t, k.decode("names", 0, blob, func(l *nameList) { lists = append(lists, l) }))
		if len(lists) != 3 || lists[0] != lists[2] || lists[0] == lists[1] ||
			fmt.Sprint(lists[0].names, lists[1].names) != "[a b] [a c]" || lists[1].refs[1] != NameRef("c") {
			t.Errorf("lists %v", lists)
		}
		if first == nil {
			first = lists
		}
		if !slices.Equal(lists, first) {
			t.Error("not those of the first time")
		}
	}
	k.size = maxKeptNames
	if err := k.decode("names", 0, appendNames(nil, []string{"d"}, false), func(*nameList) {}); err != nil || k.size != maxKeptNames || len(k.lists) != 2 {
		t.Errorf("grows beyond its limit: %d bytes, %d lists, %v", k.size, len(k.lists), err)
	}
}
