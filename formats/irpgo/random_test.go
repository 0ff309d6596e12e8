package irpgo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomOptions say what a random profile may hold.
type randomOptions struct {
	functions  int
	maxHashes  int // records per name
	values     int // value kinds, 0 to 3
	bitmaps    bool
	variant    Variant
	traces     int
	hugeCounts bool // near saturation, pseudo counts
	prefix     string
}

// randomProfile makes a profile that could come from a merge: names distinct,
// values of a site distinct and by descending count.
func randomProfile(rng *rand.Rand, opt randomOptions) *Profile {
	p := &Profile{Variant: opt.variant}
	names := make([]string, opt.functions)
	for i := range names {
		names[i] = fmt.Sprintf("%s_Z%dfn%x", opt.prefix, rng.IntN(40), i*7+rng.IntN(7))
		if rng.IntN(8) == 0 {
			names[i] = "dir/file.c;" + names[i]
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for seq, name := range names {
		f := Function{Name: name, seq: uint64(seq)}
		for range 1 + rng.IntN(max(1, opt.maxHashes)) {
			f.Records = append(f.Records, randomRecord(rng, name, names, opt))
		}
		p.Functions = append(p.Functions, f)
	}
	for i := range opt.traces {
		t := Trace{Weight: uint64(1 + i%3)}
		for range 1 + rng.IntN(20) {
			t.NameRefs = append(t.NameRefs, NameRef(names[rng.IntN(len(names))]))
		}
		p.Traces = append(p.Traces, t)
	}
	p.TraceStreamSize = uint64(opt.traces)
	return p
}

func randomRecord(rng *rand.Rand, name string, names []string, opt randomOptions) *Record {
	r := &Record{Name: name, Hash: rng.Uint64() &^ (1 << 60)}
	if opt.variant.Has(ContextSens) && rng.IntN(2) == 0 {
		r.Hash |= 1 << 60
	}
	for range 1 + rng.IntN(6) {
		c := uint64(rng.IntN(1 << 20))
		switch {
		case opt.hugeCounts && rng.IntN(6) == 0:
			c = 1<<64 - 4 + uint64(rng.IntN(2))
		case opt.variant.Has(SingleByte):
			c &= 1
		case rng.IntN(4) == 0:
			c = 0
		}
		r.Counts = append(r.Counts, c)
	}
	if opt.hugeCounts && rng.IntN(10) == 0 {
		r.Counts[0] = PseudoHot - uint64(rng.IntN(2))
	}
	if opt.bitmaps && rng.IntN(3) == 0 {
		for range 1 + rng.IntN(5) {
			r.Bitmap = append(r.Bitmap, byte(rng.IntN(256)))
		}
	}
	for k := range opt.values {
		for range rng.IntN(3) {
			r.Values[k] = append(r.Values[k], randomSite(rng, k, names))
		}
	}
	return r
}

func randomSite(rng *rand.Rand, k int, names []string) []ValueData {
	var s []ValueData
	count, seen := uint64(1<<30), map[uint64]bool{}
	for range rng.IntN(6) {
		v := uint64(rng.IntN(600))
		if k != MemOPSize {
			v = NameRef(names[rng.IntN(len(names))])
		}
		if seen[v] {
			continue
		}
		seen[v] = true
		s = append(s, ValueData{v, count})
		if rng.IntN(3) > 0 {
			count -= uint64(1 + rng.IntN(1000))
		}
	}
	return s
}

// textOf returns p in the text format.
func textOf(t testing.TB, p *Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, WriteText(&b, p, TextOptions{}))
	return b.Bytes()
}
