package memprof

import (
	"errors"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// formatError returns err as a FormatError, without its cause if that is the class.
func formatError(t testing.TB, err error, class error) profile.FormatError {
	t.Helper()
	var fe *profile.FormatError
	if !errors.As(err, &fe) || !errors.Is(err, class) {
		t.Fatalf("%v is no FormatError of the class %v", err, class)
	}
	c := *fe
	c.Err = nil
	return c
}

// TestValidate: what cannot be written is refused, wherever a profile enters, with the place in the model.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(p *Profile)
		record int
		field  string
		found  string
		want   string
	}{
		{"function twice", func(p *Profile) { p.Records = append(p.Records, Record{GUID: 7}) }, 1, "GUID", "0x7 again", "one record per function"},
		{"stack of an alloc site", func(p *Profile) { p.Records[0].AllocSites[0].Stack = 9 }, 0, "stack of an alloc site", "9", "one that AddStack returned"},
		{"callers of a stack", func(p *Profile) { p.Records[0].AllocSites[0].Stack = 1 }, 0, "stack of an alloc site", "1", "one that AddStack returned"},
		{"stack of a call site", func(p *Profile) { p.Records[0].CallSites[0].Stack = 9 }, 0, "stack of a call site", "9", "one that AddStack returned"},
		{"MIB", func(p *Profile) { p.Records[0].AllocSites[0].MIB = 1 }, 0, "index of a MIB", "1", "less than 1"},
		{"symbol twice", func(p *Profile) { p.DataAccess.Records[1] = DataAccessRecord{Symbol: "s"} }, 1, "data-access record of", "s again", "one record each"},
		{"hash twice", func(p *Profile) { p.DataAccess.Records[0] = DataAccessRecord{Hash: 5} }, 1, "data-access record of", "hash 0x5 again", "one record each"},
		{"separator in a symbol", func(p *Profile) { p.DataAccess.Records[0].Symbol = "a\x01b" }, 0, "symbol", `"a\x01b"`, "no byte 0x01"},
		{"separator in a file", func(p *Profile) { p.DataAccess.Records[1].Locations = []SourceLocation{{"\x01", 1}} }, 1, "file name", `"\x01"`, "no byte 0x01"},
		{"cold symbol without name", func(p *Profile) { p.DataAccess.ColdSymbols[0] = "" }, -1, "cold symbol", "empty", "at least one byte"},
		{"separator in a cold symbol", func(p *Profile) { p.DataAccess.ColdSymbols[0] = "\x01" }, -1, "cold symbol", `"\x01"`, "no byte 0x01"},
		{"cold symbol twice", func(p *Profile) { p.DataAccess.ColdSymbols = []string{"c", "c"} }, -1, "cold symbol", "c again", "each once"},
		{"cold hash twice", func(p *Profile) { p.DataAccess.ColdHashes = []uint64{6, 6} }, -1, "cold hash", "0x6 again", "each once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Profile{MIBs: []MIB{{Fields: hotColdSchema, AllocCount: 1}}, DataAccess: &DataAccess{
				Records:     []DataAccessRecord{{Symbol: "s"}, {Hash: 5}},
				ColdSymbols: []string{"c"}, ColdHashes: []uint64{6},
			}}
			stack := p.Stacks.addStack([]frameIndex{p.Stacks.addFrame(Frame{GUID: 7}), p.Stacks.addFrame(Frame{GUID: 8})})
			p.Records = []Record{{GUID: 7, AllocSites: []AllocSite{{stack, 0}}, CallSites: []CallSite{{Stack: stack}}}}
			if err := p.validate(); err != nil {
				t.Fatalf("before: %v", err)
			}
			c.damage(p)
			want := profile.FormatError{Position: flaw.In("memprof").InRecord(c.record).Position, Field: c.field, Got: c.found, Want: c.want}
			if got := formatError(t, p.validate(), profile.ErrCorrupt); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if _, err := NewSection(p, WriteOptions{}); err == nil {
				t.Error("a section is made of it")
			}
			want.File = "in"
			err := NewMerger(MergeOptions{}).AddProfile("in", p, 1)
			if got := formatError(t, err, profile.ErrCorrupt); !reflect.DeepEqual(got, want) {
				t.Errorf("merged: got  %+v\nwant %+v", got, want)
			}
		})
	}
}
