package irpgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// The tests of this file hold lines of docs/differences.md that other tests do not come by.

// TestFoldedFunctions: of several functions at one address that with the
// smallest name reference is the target of calls, wherever it stands.
func TestFoldedFunctions(t *testing.T) {
	b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	const called = 0x2000 // the first target of main's first site
	b.funcs[1].addr, b.funcs[2].addr = called, called
	want := min(NameRef(b.funcs[1].name), NameRef(b.funcs[2].name))
	for range 2 {
		got, _ := readAll(t, b.build(), ReaderOptions{})
		if site := got[0].Values[IndirectCallTarget][0]; site[0].Value != want {
			t.Errorf("target is %#x, want %#x", site[0].Value, want)
		}
		b.funcs[1], b.funcs[2] = b.funcs[2], b.funcs[1]
	}
}

// TestManyValues: of more values at a site than fit, exact merging keeps the
// most frequent ones of all inputs, LLVM of what it has after each.
func TestManyValues(t *testing.T) {
	site := func(first, count int) mergeInput {
		lines := []string{"1", "1", "1", "1", "1", fmt.Sprint(maxValuesPerSite)}
		for v := range maxValuesPerSite {
			lines = append(lines, fmt.Sprintf("%d:%d", first+v, count))
		}
		return mergeInput{rec("f", 1, lines...), 1}
	}
	inputs := []mergeInput{site(1, 10), site(1001, 9), site(1001, 9)}
	want, _ := mergeTexts(t, MergeOptions{}, []mergeInput{site(1001, 18)})
	got, _ := mergeTexts(t, MergeOptions{}, inputs)
	want = strings.Replace(want, "# Counter Values:\n1\n", "# Counter Values:\n3\n", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exact merge (-want +got):\n%s", diff)
	}
	got, _ = mergeTexts(t, MergeOptions{LLVMCompat: true}, inputs)
	if !strings.Contains(got, "\n1:10\n") || strings.Contains(got, "1001:") {
		t.Errorf("compatible merge:\n%s", got)
	}
	want, _ = llvmMerge(t, oracle.LLVM(t, 22), inputs)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("compatible merge (-llvm +profuse):\n%s", diff)
	}
}

// TestKeyHash: a key with the hash of another one is where no lookup finds it.
func TestKeyHash(t *testing.T) {
	file := mergeBytes(t, 13, newRawBuild(10, 8, binary.LittleEndian, IRLevel).build())
	key := bytes.Index(file, []byte("_ZN3foo3barEv"))
	file[key-24+7] ^= 0x80 // the upper bits do not choose the bucket
	if err := readErr(file); !errors.Is(err, profile.ErrCorrupt) || !strings.Contains(err.Error(), "hash table") {
		t.Errorf("%v, want a corrupt hash table", err)
	}
	if _, err := Read("lenient", file, ReaderOptions{Lenient: true}); err != nil {
		t.Error(err)
	}
}

// TestTotalOfSummary: counters that do not add up to what the summary says are told of when they are merged.
func TestTotalOfSummary(t *testing.T) {
	file := mergeBytes(t, 13, newRawBuild(10, 8, binary.LittleEndian, IRLevel).build())
	const totalCount = 9*8 + 16 + 5*8 // header, counts of the summary, fields before
	file[totalCount]++
	for _, compat := range []bool{false, true} {
		var warnings []string
		m := NewMerger(MergeOptions{LLVMCompat: compat, Warn: func(w profile.Warning) { warnings = append(warnings, w.String()) }})
		addTo(t, m, openReader(t, "f", file, ReaderOptions{Lenient: compat}), 1)
		if said := len(warnings) == 1 && strings.Contains(warnings[0], "f: summary: total count is "); said == compat || compat && len(warnings) > 0 {
			t.Errorf("compat %t: warnings %q", compat, warnings)
		}
	}
}

// TestIndexedVersion3 takes the summary, which came with version 4, out of a
// profile: no file of version 3 is to be had.
func TestIndexedVersion3(t *testing.T) {
	p := randomProfile(rand.New(rand.NewPCG(3, 3)), randomOptions{functions: 40, maxHashes: 3, values: 1})
	file := indexedBytes(t, p, IndexedOptions{Version: 4})
	const header = 40
	removed := uint64(summarySize(len(profile.DefaultCutoffs())))
	old := append(bytes.Clone(file[:header]), file[header+removed:]...)
	old[8] = 3
	index := le.Uint64(file[32:]) - removed
	le.PutUint64(old[32:], index)
	for at := index + 16; at < uint64(len(old)); at += 8 {
		if bucket := le.Uint64(old[at:]); bucket != 0 {
			le.PutUint64(old[at:], bucket-removed)
		}
	}
	got := readProfile(t, "old", old, ReaderOptions{})
	if diff := cmp.Diff(contents(p), contents(got)); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}
