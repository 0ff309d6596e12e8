package irpgo

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// TestIndexedErrors damages an indexed profile word by word: each error has the
// place, what was found there and what is allowed.
func TestIndexedErrors(t *testing.T) {
	p := &Profile{
		Variant:         IRLevel | HasTemporal,
		Functions:       []Function{{Name: "f", Records: []*Record{{Name: "f", Hash: 5, Counts: []uint64{1, 2}, Bitmap: []byte{3}}}}},
		BinaryIDs:       [][]byte{{1, 2, 3, 4, 5, 6, 7, 8}},
		Traces:          []Trace{{Weight: 1, NameRefs: []uint64{NameRef("f")}}},
		TraceStreamSize: 1,
	}
	file := indexedBytes(t, p, IndexedOptions{Version: 12})
	word := func(at int) uint64 { return le.Uint64(file[at:]) }
	const binaryIDsAt, tracesAt, vtablesAt = 48, 56, 64 // in the header
	item := 8*indexedVersions[12].headerWords + summarySize(len(profile.DefaultCutoffs())) + 2
	record := item + 24 + len("f")
	ids, traces, vtables := int(word(binaryIDsAt)), int(word(tracesAt)), int(word(vtablesAt))
	allowed := fmt.Sprintf("%#x to %#x, the end of the file", ids, len(file)) // the table ends where they begin
	left := func(n int) string { return fmt.Sprintf("at most the %d bytes left", n) }
	for _, c := range []struct {
		name    string
		at      int // of the word that is changed
		value   uint64
		section string
		offset  int
		record  int
		field   string
		found   string
		want    string
		class   error
	}{
		{"version", 8, uint64(IRLevel) | 15, "header", 8, -1, "indexed profile version", "15", "1 to 14: it is newer than this release of profuse knows", profile.ErrUnsupported},
		{"no version", 8, uint64(IRLevel), "header", 8, -1, "indexed profile version", "0", "1 to 14", profile.ErrUnsupported},
		{"variant", 8, word(8) | 1<<54, "header", 8, -1, "variant bits", "0x40000000000000", "only known ones", profile.ErrUnsupported},
		{"hash", 24, 1, "header", 24, -1, "hash type", "1", "0, MD5", profile.ErrUnsupported},
		{"table outside", 32, 1 << 40, "hash table", -1, -1, "offset of the hash table index", "0x10000000000", fmt.Sprintf("%#x to %#x, the end of the file", item-2, len(file)), profile.ErrTruncated},
		{"binary ids in the table", binaryIDsAt, 80, "header", -1, -1, "offset of the binary ids", "0x50", allowed, profile.ErrCorrupt},
		{"binary ids outside", binaryIDsAt, 1 << 40, "header", -1, -1, "offset of the binary ids", "0x10000000000", allowed, profile.ErrTruncated},
		{"vtable names in the table", vtablesAt, 80, "header", -1, -1, "offset of the vtable names", "0x50", allowed, profile.ErrCorrupt},
		{"traces in the table", tracesAt, 80, "header", -1, -1, "offset of the temporal traces", "0x50", allowed, profile.ErrCorrupt},
		{"part of binary ids", ids, 9, "binary ids", ids, -1, "size", "9", "a multiple of 8", profile.ErrCorrupt},
		{"binary ids cut off", ids, 1 << 40, "binary ids", ids, -1, "size", "1099511627776", left(len(file)-ids-8) + " in the file", profile.ErrTruncated},
		{"binary id of nothing", ids + 8, 0, "binary ids", ids + 8, 0, "binary id length", "0", "at least 1", profile.ErrCorrupt},
		{"binary id cut off", ids + 8, 9, "binary ids", ids + 8, 0, "binary id length", "9", left(8) + " in the section", profile.ErrCorrupt},
		{"vtable names cut off", vtables, 1 << 40, "vtable names", vtables + 8, -1, "length of the vtable names", "1099511627776 bytes", left(len(file) - vtables - 8), profile.ErrTruncated},
		{"traces cut off", traces, 1 << 40, "temporal traces", traces + 8, -1, "number of traces", "1099511627776", fmt.Sprintf("at most %d in the %d bytes left", (len(file)-traces-8)/16, len(file)-traces-8), profile.ErrTruncated},
		{"trace cut off", traces + 24, 2, "temporal traces", traces + 32, 0, "number of functions", "2", "at most 1 in the 8 bytes left", profile.ErrTruncated},
		{"hash of the name", item, NameRef("f") ^ 1<<63, "hash table", item, 0, "hash", fmt.Sprintf("%#x", NameRef("f")^1<<63), fmt.Sprintf("%#x, the hash of the key", NameRef("f")), profile.ErrCorrupt},
		{"more counters", record + 8, 9, "function records", record + 16, 0, "number of counters", "9", "at most 5 in the 40 bytes left", profile.ErrCorrupt},
		{"more of a bitmap", record + 32, 9, "function records", record + 40, 0, "number of bitmap bytes", "9", "at most 2 in the 16 bytes left", profile.ErrCorrupt},
		{"byte of a bitmap", record + 40, 256, "function records", record + 40, 0, "bitmap byte", "256", "at most 255", profile.ErrCorrupt},
		{"value data", record + 48, 16, "function records", record + 48, 0, "value data size", "16", "at most the 8 bytes left", profile.ErrCorrupt},
	} {
		damaged := slices.Clone(file)
		le.PutUint64(damaged[c.at:], c.value)
		_, err := Read("in", damaged, ReaderOptions{})
		var fe *profile.FormatError
		if !errors.As(err, &fe) || profile.ClassOf(fe) != c.class {
			t.Errorf("%s: %v, want one of the class %v", c.name, err, c.class)
			continue
		}
		got := *fe
		got.Err = nil
		want := profile.FormatError{
			Position: flaw.At(c.section, int64(c.offset)).InFile("in").InRecord(c.record).Position, Field: c.field, Got: c.found, Want: c.want,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, want)
		}
	}
}
