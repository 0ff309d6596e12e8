package irpgo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
)

// TestCheckIndexedContents: what an indexed profile holds although its functions and its layout do not allow it.
func TestCheckIndexedContents(t *testing.T) {
	f := func(name string) Function {
		return Function{Name: name, Records: []*Record{{Name: name, Hash: 7, Counts: []uint64{1, 2}}}}
	}
	write := func(p *Profile, opt IndexedOptions) []byte {
		t.Helper()
		b := indexedBytes(t, p, opt)
		return b
	}
	sound := write(&Profile{Variant: IRLevel, Functions: []Function{f("f")}}, IndexedOptions{})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"sound", sound, ""},
		{
			"variants that are for IR only",
			edited(write(&Profile{Functions: []Function{f("f")}}, IndexedOptions{}), func(d []byte) { d[15] |= byte(EntryFirst >> 56) }),
			"header: profile variant is entry-first, want what front-end instrumentation has, or ir as well",
		},
		{
			"a name twice", twiceInBucket(t, write),
			"hash table: key is a again, want each name once",
		},
		{
			"a function without counters", edited(sound, func(d []byte) {
				// Its two counters become the bitmap, of no counters.
				at := bytes.Index(d, le.AppendUint64(le.AppendUint64(nil, 7), 2)) + 8
				copy(d[at:], le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, 0), 2), 2))
			}),
			"function records: number of counters is 0, want at least 1; summary: number of functions is 1, want 0, as the records have it; …",
		},
		{
			"traces of no function",
			write(&Profile{Variant: IRLevel | HasTemporal, Functions: []Function{f("f")}, Traces: []Trace{{Weight: 1, NameRefs: []uint64{NameRef("f"), 0x99}}}}, IndexedOptions{}),
			"temporal traces: trace stream size is 0, want at least the 1 traces; " +
				"temporal traces: name reference is 0x99, want the reference of a function of the profile",
		},
		{
			"a section within another", edited(sound, func(d []byte) { copy(d[8*8:8*9], d[8*6:8*7]) }),
			fmt.Sprintf("vtable names: start of the section is %#x, want %#x, after what is before it; : data after the last section is 8 bytes, want none",
				len(sound)-16, len(sound)-8),
		},
	} {
		got := findings(Check("f", c.data))
		if beginning, more := strings.CutSuffix(c.want, "…"); more && strings.HasPrefix(got, beginning) {
			continue
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func edited(b []byte, edit func(b []byte)) []byte {
	b = slices.Clone(b)
	edit(b)
	return b
}

// twiceInBucket returns a profile that has a function "a" twice, in the one bucket where it can be.
func twiceInBucket(t *testing.T, write func(*Profile, IndexedOptions) []byte) []byte {
	for other := byte('b'); other <= 'z'; other++ {
		p := &Profile{Variant: IRLevel}
		for i, name := range []string{"a", string(other)} {
			p.Functions = append(p.Functions, Function{Name: name, Records: []*Record{{Name: name, Hash: uint64(i + 1), Counts: []uint64{1}}}})
		}
		b := write(p, IndexedOptions{})
		at := bytes.Index(b, le.AppendUint64(nil, NameRef(string(other))))
		copy(b[at:], le.AppendUint64(nil, NameRef("a")))
		b[bytes.Index(b[at+24:], []byte{other})+at+24] = 'a'
		r, err := openIndexed(b)
		if err == nil && r.table.Items(true, func(hashtable.Item) bool { return true }) == nil {
			return b
		}
	}
	t.Fatal("no other name shares a bucket")
	return nil
}

func openIndexed(b []byte) (*indexedReader, error) {
	r, err := NewReader("f", b, ReaderOptions{})
	if err != nil {
		return nil, err
	}
	return r.dec.(*indexedReader), nil
}

// TestCheckRawContents does the same for raw profiles.
func TestCheckRawContents(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *rawBuild)
		want  string
	}{
		{"sound", func(b *rawBuild) { b.vtables = []rawVTable{{name: "v", addr: 0x500000, size: 16}} }, ""},
		{
			"a binary id twice",
			func(b *rawBuild) { b.ids = [][]byte{[]byte("12345678"), []byte("12345678")} },
			"[binary ids: binary id is 3132333435363738 again, want each once]",
		},
		{
			"binary ids of odd lengths",
			func(b *rawBuild) { b.ids = [][]byte{[]byte("1"), make([]byte, 65)} },
			"[binary ids: length of the binary id is 1, want 4 to 64 bytes, as linkers make them]; " +
				"[binary ids: length of the binary id is 65, want 4 to 64 bytes, as linkers make them]",
		},
		{
			"a moment after all first calls",
			func(b *rawBuild) {
				b.variant |= HasTemporal
				for i := range b.funcs {
					b.funcs[i].stamp = uint64(i + 1)
				}
				b.funcs[0].stamp = 99
			},
			"[counters: timestamp of main is 99, want 1 to 4, the number of functions]",
		},
	} {
		b := newRawBuild(10, 8, le, IRLevel)
		b.compress, b.ids = false, nil
		c.build(b)
		if got := findings(Check("f", b.build())); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	b := newRawBuild(10, 8, le, IRLevel)
	b.compress, b.ids, b.vtables = false, nil, []rawVTable{{name: "v", addr: 0x500000, size: 16}}
	data := b.build()
	data[bytes.Index(data, le.AppendUint64(nil, NameRef("v")))] ^= 1
	want := fmt.Sprintf("vtables: name reference is %#x, want the reference of a listed vtable", NameRef("v")^1)
	if got := findings(Check("f", data)); got != want {
		t.Errorf("a vtable without a name:\n got %s\nwant %s", got, want)
	}
}
