package memprof

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/fulldisk"
)

// TestFullDisk: whenever a disk is full, the writers say so, and what is on it is the beginning of the file.
func TestFullDisk(t *testing.T) {
	p := randomProfile(rand.New(rand.NewPCG(3, 3)), shapeOf{
		functions: 3, sites: 3, depth: 4, frames: 5, schema: hotColdSchema, callees: true, dataAccess: true,
	})
	writers := map[string]func(io.Writer) error{
		"yaml": func(w io.Writer) error { return WriteYAML(w, p) },
	}
	for _, version := range []int{-1, 1, 2, 3, 4} {
		s, err := NewSection(p, WriteOptions{Version: version})
		must(t, err)
		writers["section "+string(rune('0'+max(version, 0)))] = func(w io.Writer) error { return s.Write(w, 0) }
	}
	for name, write := range writers {
		fulldisk.Check(t, name, write)
	}
}

// TestUnwritable: options that no section can be made by are refused.
func TestUnwritable(t *testing.T) {
	p := oneContext(func(*Profile, *MIB) {})
	for _, c := range []struct {
		opt  WriteOptions
		want string
	}{
		{WriteOptions{Version: SectionVersionMax + 1}, "version to write is 5, want 0 to 4"},
		{WriteOptions{Version: -2}, "version to write is -2, want 0 to 4"},
		{WriteOptions{Schema: 1}, "schema to write is 0x1, want bits of"},
		{WriteOptions{Schema: 1 << 31}, "schema to write is 0x80000000, want bits of"},
	} {
		_, err := NewSection(p, c.opt)
		if !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.opt, err, c.want)
		}
	}
	p.Records[0].AllocSites[0].MIB = 1
	if _, err := NewSection(p, WriteOptions{}); !errors.As(err, new(*profile.FormatError)) {
		t.Errorf("a site without measurements: %v", err)
	}
}

// TestExtent: a section is only looked for where the file is.
func TestExtent(t *testing.T) {
	file := smallSections(t)["v3"]
	size := int64(len(file))
	for _, e := range [][2]int64{{-1, size}, {0, size + 1}, {size, size - 1}, {-1 << 63, 1<<63 - 1}, {0, -1}} {
		_, err := NewIndexedReader(file, e[0], e[1], false)
		if !errors.Is(err, profile.ErrCorrupt) || !strings.Contains(err.Error(), "extent of the section is") {
			t.Errorf("%d to %d: %v", e[0], e[1], err)
		}
	}
	if _, err := NewIndexedReader(file, size, size, false); !errors.Is(err, profile.ErrTruncated) {
		t.Errorf("nothing: %v", err)
	}
}

// TestWhatSectionsSay: a section says its version and fields, and what it has no place for.
func TestWhatSectionsSay(t *testing.T) {
	p := randomProfile(rand.New(rand.NewPCG(3, 3)), shapeOf{
		functions: 9, sites: 5, depth: 4, frames: 5, schema: hotColdSchema, callees: true, dataAccess: true,
	})
	for version := 1; version <= SectionVersionMax; version++ {
		file := writeSection(t, p, WriteOptions{Version: version, Schema: hotColdSchema}, 0)
		r, err := NewIndexedReader(file, 0, int64(len(file)), false)
		must(t, err)
		if r.Version != version || r.Schema != hotColdSchema || r.Offset != 0 {
			t.Errorf("version %d: %d, schema %#x at %d", version, r.Version, r.Schema, r.Offset)
		}
		if (r.summary != nil) != (version == 4) {
			t.Errorf("version %d: summary %+v", version, r.summary)
		}
		q, err := r.Profile()
		must(t, err)
		s, err := NewSection(p, WriteOptions{Version: version})
		must(t, err)
		want := []string{"data-access profile", "callees of call sites"}
		if version == 4 {
			want = nil
		}
		if !slices.Equal(s.Lost, want) {
			t.Errorf("version %d loses %q, want %q", version, s.Lost, want)
		}
		if s, err = NewSection(q, WriteOptions{IndexedVersion: 13}); err != nil {
			t.Fatal(err)
		}
		if needs4 := s.version == 4; needs4 != (want == nil) {
			t.Errorf("version %d: what was read needs version 4: %t", version, needs4)
		}
	}
	section := edit(smallSections(t)["v3"], 0, 9, 8)
	_, err := readWhole(section)
	if !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), "version is 9, want 0 to 4") {
		t.Errorf("%v", err)
	}
}

// TestKeyTwice: a function has one record, also in tables that are read leniently.
func TestKeyTwice(t *testing.T) {
	p := oneContext(func(*Profile, *MIB) {})
	p.Records[0].GUID, p.Records[1].GUID = 0x1122334455667788, 0x1020304050607080
	file := writeSection(t, p, WriteOptions{Version: 3}, 0)
	if _, err := readWhole(file); err != nil {
		t.Fatal(err)
	}
	file = bytes.ReplaceAll(file, le.AppendUint64(nil, p.Records[1].GUID), le.AppendUint64(nil, p.Records[0].GUID))
	r, err := NewIndexedReader(file, 0, int64(len(file)), true)
	must(t, err)
	if _, err := r.Profile(); !errors.Is(err, profile.ErrCorrupt) || !strings.Contains(err.Error(), "key is 0x1122334455667788 again, want each key once") {
		t.Errorf("%v", err)
	}
}
