package irpgo

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCheckFixtures: what the real tools wrote has no findings, but for known ones; what they refuse has.
func TestCheckFixtures(t *testing.T) {
	for _, f := range oracle.Fixtures(t) {
		rep := Check(f.Path, f.Bytes(t))
		for _, err := range rep.Findings {
			var fe *profile.FormatError
			if !errors.As(err, &fe) || fe.File != f.Path {
				t.Errorf("%s: finding without a place: %v", f.Path, err)
			}
		}
		if f.Format == "indexed" && len(f.ReadableBy) > 0 && len(rep.Findings) > 0 {
			t.Errorf("%s: %v", f.Path, rep.Findings)
		}
		byHand := f.Format == "text" && !strings.HasPrefix(f.Variant, "llvm22-") || f.Variant == "huge"
		if len(f.ReadableBy) > 0 && len(rep.Remarks) > 0 && f.Variant != "ir-and-fe" && !strings.HasPrefix(f.Variant, "concat") && !byHand {
			t.Errorf("%s: remarks: %v", f.Path, rep.Remarks)
		}
		if len(f.ReadableBy) == 0 && len(rep.Findings) == 0 && f.Variant != "huge" && f.Variant != "continuous-values" && !strings.HasPrefix(f.Path, "text/") {
			t.Errorf("%s, which no tool reads, has no findings", f.Path)
		}
	}
}

// TestCheckSummary: a summary that does not fit its records is found.
func TestCheckSummary(t *testing.T) {
	b := newRawBuild(10, 8, le, IRLevel)
	file := mergeBytes(t, 13, b.build())
	if rep := Check("f", file); len(rep.Findings) != 0 || rep.Records != 4 {
		t.Fatalf("%+v", rep)
	}
	const totalCount = 9*8 + 16 + 5*8 // header, counts of the summary, fields before
	file[totalCount]++
	rep := Check("f", file)
	if len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].Error(), "f: summary: total count is ") {
		t.Errorf("findings: %v", rep.Findings)
	}
}

// TestFrontEndHashWithContextBit: the hash of a front-end function may have the bit
// of context-sensitive records. LLVM up to 8 add its counters to the summary, later
// releases leave them out; both is healthy, for check and for merging.
func TestFrontEndHashWithContextBit(t *testing.T) {
	p := &Profile{Functions: []Function{
		{Name: "plain", Records: []*Record{{Name: "plain", Hash: 7, Counts: []uint64{5, 6}}}},
		{Name: "bit60", Records: []*Record{{Name: "bit60", Hash: csHashBit | 9, Counts: []uint64{100}}}},
	}}
	write := func(version uint32) []byte {
		return indexedBytes(t, p, IndexedOptions{Version: version})
	}
	as := func(version byte, data []byte) []byte { // versions 4 to 7 have one layout
		data = bytes.Clone(data)
		data[8] = version
		return data
	}
	for _, tc := range []struct {
		name    string
		data    []byte
		healthy bool
	}{
		{"version 4 of LLVM up to 5", write(4), true},
		{"version 4 without the record", as(4, write(5)), false},
		{"version 5 of LLVM up to 8", as(5, write(4)), true},
		{"version 5 of LLVM 9 and 10", write(5), true},
		{"version 6 of LLVM 11", write(6), true},
		{"version 6 with the record", as(6, write(4)), false},
		{"version 12", write(12), true},
	} {
		if got := findings(Check("in", tc.data)); (got == "") != tc.healthy {
			t.Errorf("%s: findings: %q", tc.name, got)
		}
		if !tc.healthy {
			continue
		}
		r := openReader(t, "in", tc.data, ReaderOptions{})
		m := NewMerger(MergeOptions{Warn: func(w profile.Warning) { t.Errorf("%s: merging warns: %s", tc.name, w) }})
		if _, err := m.Add(r, 1); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// findings lists what is said of a file, remarks in brackets, without places.
func findings(rep CheckReport) string {
	var out []string
	for _, err := range rep.Findings {
		var fe *profile.FormatError
		errors.As(err, &fe)
		out = append(out, fe.Section+": "+fe.What())
	}
	for _, err := range rep.Remarks {
		var fe *profile.FormatError
		errors.As(err, &fe)
		out = append(out, "["+fe.Section+": "+fe.What()+"]")
	}
	return strings.Join(out, "; ")
}

// TestCheckTrailingZeros: zeros after a raw profile are skipped up to a page, and told from there.
func TestCheckTrailingZeros(t *testing.T) {
	b := newRawBuild(10, 8, le, IRLevel)
	b.ids = nil
	data := b.build()
	for n, want := range map[int]string{
		0: "", maxTrailingZeros: "",
		maxTrailingZeros + 1: "[: data after the profile is 65537 bytes of zeros, want none, or up to a page of 65536 bytes]",
	} {
		if got := findings(Check("in", append(bytes.Clone(data), make([]byte, n)...))); got != want {
			t.Errorf("%d zeros: %q, want %q", n, got, want)
		}
	}
}

// TestCheckRaw: what contradicts itself in a raw profile, beyond what a reader has to notice, is found.
func TestCheckRaw(t *testing.T) {
	layout := newRecordLayout(10, 8, 3)
	const records = 128 + 32 // after the header and one binary id
	field := func(record, offset int) int { return records + record*layout.size + offset }
	tests := []struct {
		name   string
		damage func(d []byte, p *rawProfile)
		want   string
	}{
		{"sound", func([]byte, *rawProfile) {}, ""},
		{
			"a counter less", func(d []byte, p *rawProfile) { d[field(0, layout.numCounters)]-- },
			"counters: counters of no function is 8 bytes, want none",
		},
		{
			"another function's counters", func(d []byte, p *rawProfile) { d[field(1, layout.counterPtr)] -= 8 },
			"counters: counters shared with another function is 8 bytes, want none; counters: counters of no function is 8 bytes, want none",
		},
		{
			"hash", func(d []byte, p *rawProfile) { d[field(1, layout.hash)+7] |= 0x80 },
			"data: function hash is 0x8000000000000016, want at most 60 bits and the mark of context-sensitive records",
		},
		{
			"address", func(d []byte, p *rawProfile) { d[field(1, layout.funcPtr)+5] = 1 },
			"[data: address of the function is 0x10000401010, want near 0x401030, where the others are]",
		},
		{
			"absurd counters", func(d []byte, p *rawProfile) { d[p.counters.off+7], d[p.counters.off+15] = 0xff, 0xff },
			"counters: counter of ",
		},
		{"names", func(d []byte, p *rawProfile) { d[p.names.off+3] ^= 1 }, "data: name reference is "},
		{
			"padding", func(d []byte, p *rawProfile) { d[p.names.off+int64(len(p.names.data))] = 1 },
			"[names padding: padding is not zero, want ",
		},
		{"variant", func(d []byte, p *rawProfile) { d[15] |= byte(EntryFirst >> 56) }, ""},
		{
			"variant without ir", func(d []byte, p *rawProfile) { d[15] = byte(EntryFirst >> 56) },
			"header: profile variant is entry-first, want what front-end instrumentation has, or ir as well",
		},
	}
	for _, test := range tests {
		b := newRawBuild(10, 8, le, IRLevel)
		b.ids, b.compress = [][]byte{make([]byte, 20)}, false
		for i := range b.funcs {
			b.funcs[i].hash = uint64(0x15 + i)
			b.funcs[i].addr = 0x401000 + uint64(16*i)
		}
		d := b.build()
		p := oracle.Must(parseRawProfile(d, 0, false))(t)
		test.damage(d, p)
		got := findings(Check("f", d))
		if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCheckIndexed does the same for indexed profiles.
func TestCheckIndexed(t *testing.T) {
	build := newRawBuild(10, 8, le, IRLevel)
	build.ids = [][]byte{make([]byte, 20)}
	sound := mergeBytes(t, 13, build.build())
	word := func(d []byte, i int) uint64 { return le.Uint64(d[8*i:]) }
	empty := func(d []byte) int { // place of an empty bucket in the index
		at := int(word(d, 4)) + 16
		for le.Uint64(d[at:]) != 0 {
			at += 8
		}
		return at
	}
	tests := []struct {
		name   string
		damage func(d []byte) []byte
		want   string
	}{
		{"sound", func(d []byte) []byte { return d }, ""},
		{"unused word", func(d []byte) []byte { d[16] = 1; return d }, "[header: unused word is 0x1, want 0]"},
		{"bucket", func(d []byte) []byte { d[empty(d)] = 1; return d }, "hash table: offset of bucket "},
		{"behind the end", func(d []byte) []byte { return append(d, 1, 2, 3) }, ": data after the last section is 3 bytes, want none"},
		{"sections", func(d []byte) []byte {
			ids := int(word(d, 6))
			d = slices.Insert(d, ids, make([]byte, 8)...)
			d[8*6] += 8
			d[8*8] += 8
			return d
		}, "binary ids: data before the section is 8 bytes, want none"},
	}
	for _, test := range tests {
		got := findings(Check("f", test.damage(bytes.Clone(sound))))
		if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCheckMany: of endless findings the first thousand are kept.
func TestCheckMany(t *testing.T) {
	b := newRawBuild(10, 8, le, IRLevel)
	f := b.funcs[0]
	f.hash |= 1 << 63
	b.funcs = nil
	for range 1200 {
		b.funcs = append(b.funcs, f)
	}
	if rep := Check("f", b.build()); len(rep.Findings)+len(rep.Remarks) != 1000 || rep.Omitted != 1400 {
		t.Errorf("%d findings, %d remarks, %d omitted", len(rep.Findings), len(rep.Remarks), rep.Omitted)
	}
}
