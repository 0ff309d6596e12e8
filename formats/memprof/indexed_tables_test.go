package memprof

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// TestHostileTables: damage in tables and in the data-access block is an error with its place in the file.
func TestHostileTables(t *testing.T) {
	p := &Profile{MIBs: []MIB{{Fields: hotColdSchema, AllocCount: 1}}}
	stack := p.Stacks.addStack([]frameIndex{p.Stacks.addFrame(Frame{GUID: 7})})
	p.Records = []Record{{GUID: 7, AllocSites: []AllocSite{{stack, 0}}}}
	p.DataAccess = &DataAccess{
		Records: []DataAccessRecord{
			{Symbol: "s", AccessCount: 3, Locations: []SourceLocation{{"f", 2}}},
			{Hash: 5, AccessCount: 4},
		},
		ColdSymbols: []string{"c"}, ColdHashes: []uint64{6, 8},
	}
	v0 := writeSection(t, p, WriteOptions{Version: -1}, 0)
	v2 := writeSection(t, p, WriteOptions{Version: 2}, 0)
	v4 := writeSection(t, p, WriteOptions{Version: 4}, 0)
	word := func(file []byte, at int) int { return int(le.Uint64(file[at:])) }
	// A table of one entry: number of entries, hash, lengths of key (not of stacks) and data, key.
	const entry, stackEntry = 2 + 8 + 8 + 8 + 8, 2 + 8 + 8 + 8
	record0 := headerSize(0, len(hotColdSchema.Fields())) + entry
	record2 := headerSize(2, len(hotColdSchema.Fields())) + entry
	frame := word(v2, 16) + entry
	stackIDs := word(v2, 32) + stackEntry
	access := word(v4, 32)
	hashes := access + 24 + word(v4, access+16) + int(cursor.PadTo(uint64(word(v4, access+16)), 8))
	records := hashes + 8 + 8*len(p.DataAccess.ColdHashes)
	second := records + 8 + 25 + 12
	span := func(from int, file []byte) string {
		return fmt.Sprintf("%#x to %#x, within the section", from, len(file))
	}
	for _, c := range []struct {
		name    string
		file    []byte
		section string
		offset  int
		record  int
		field   string
		found   string
		want    string
		class   error
	}{
		{"frame table in the header", edit(v2, 16, 8, 8), "memprof", -1, -1, "offset of the frame table", "0x8", span(record2-entry, v2), profile.ErrCorrupt},
		{"stack table outside", edit(v2, 32, 1<<40, 8), "memprof", -1, -1, "offset of the stack table", "0x10000000000", span(record2-entry, v2), profile.ErrCorrupt},
		{"key of a frame", edit(v2, frame-8, 1, 8), "memprof frames", frame - 8, 0, "key", "01 00 00 00 00 00 00 00", fmt.Sprintf("%#x, the hash, in 8 bytes", word(v2, frame-32)), profile.ErrCorrupt},
		{"frame of a stack", edit(v2, stackIDs, 123, 8), "memprof stacks", stackIDs, 0, "frame id", "0x7b", "one of the frame table", profile.ErrCorrupt},
		{"stack of a site", edit(v2, record2+8, 123, 8), "memprof records", record2 + 8, 0, "stack id", "0x7b", "one of the stack table", profile.ErrCorrupt},
		{"frame of a site", edit(v0, record0+16, 123, 8), "memprof records", record0 + 16, 0, "frame id", "0x7b", "one of the frame table", profile.ErrCorrupt},
		{"frames of a site", edit(v0, record0+8, 1<<40, 8), "memprof records", record0 + 16, 0, "number of frames", "1099511627776", "", profile.ErrTruncated},
		{"access block in the header", edit(v4, 32, 8, 8), "memprof", -1, -1, "offset of the data-access block", "0x8", fmt.Sprintf("more than %#x, within the section", word(v4, 24)), profile.ErrCorrupt},
		{"strings", edit(v4, access, 9, 8), "memprof data access", access, -1, "number of strings", "9 and 1 cold symbols", "4 together, as in the blob", profile.ErrCorrupt},
		{"fewer strings", edit(v4, access, 2, 8), "memprof data access", access, -1, "number of strings", "2 and 1 cold symbols", "4 together, as in the blob", profile.ErrCorrupt},
		{"cold hash twice", edit(v4, hashes+8, 8, 8), "memprof data access", hashes, -1, "cold hash", "8", "each once", profile.ErrCorrupt},
		{"cold hashes", edit(v4, hashes, 1<<40, 8), "memprof data access", hashes + 8, -1, "number of cold hashes", "1099511627776", "", profile.ErrTruncated},
		{"symbol", edit(v4, records+8, 99, 8), "memprof data access", records + 8, 0, "index of the symbol", "99", "less than 3, the number of strings", profile.ErrCorrupt},
		{"file", edit(v4, records+8+25, 99, 8), "memprof data access", records + 8 + 25, 0, "index of the file name", "99", "less than 3, the number of strings", profile.ErrCorrupt},
		{"kind of a record", edit(v4, second+8, 2, 4), "memprof data access", second + 8, 1, "IsStringLiteral", "2", "0 or 1", profile.ErrCorrupt},
		{"symbol twice", edit(edit(v4, second, 0, 8), second+8, 4<<8, 4), "memprof data access", second, 1, "symbol or hash", "s", "each once", profile.ErrCorrupt},
	} {
		_, err := readWhole(c.file)
		got := formatError(t, err, c.class)
		want := profile.FormatError{
			Position: flaw.At(c.section, int64(c.offset)).InRecord(c.record).Position, Field: c.field, Got: c.found, Want: c.want,
		}
		if c.want == "" { // how much is left
			want.Want = got.Want
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, want)
		}
	}
}
