package mip

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/fulldisk"
)

// TestFullDisk: whenever a disk is full, the writers say so, and what is on it
// is the beginning of the file.
func TestFullDisk(t *testing.T) {
	p := edgesRun(t)
	run := edgesMap()
	for name, write := range map[string]func(io.Writer) error{
		"mip":      func(w io.Writer) error { return WriteMIP(w, p, WriteOptions{}) },
		"document": func(w io.Writer) error { return WriteMIP(w, p, WriteOptions{DocumentLayout: true}) },
		"map":      func(w io.Writer) error { return writeMap(w, p, mapOptions{}) },
		"raw":      func(w io.Writer) error { return writeRaw(w, run, rawOptions{}) },
		"yaml":     func(w io.Writer) error { return WriteYAML(w, p, WriteOptions{}) },
	} {
		fulldisk.Check(t, name, write)
	}
}

// TestNothingWritten: what cannot be written leaves the stream as it was.
func TestNothingWritten(t *testing.T) {
	p := edgesMap()
	stray := edgesMap()
	stray.Type = callGraph
	stray.Functions[1].CallEdges = []CallEdge{{-0xf0, 6}}
	heavy := edgesMap()
	heavy.Functions[1].CallEdges = []CallEdge{{-0xf0, 1 << 32}}
	for _, tt := range []struct {
		name  string
		write func(io.Writer) error
		class error
		says  string
	}{
		{"map of a far section", func(w io.Writer) error {
			return writeMap(w, p, mapOptions{PointerSize: 4, RawSectionOffset: 1 << 31})
		}, profile.ErrUnsupported, "RawSectionOffset is 0x80000000, want 32 bits for 32-bit targets"},
		{"map of a section far below", func(w io.Writer) error {
			return writeMap(w, p, mapOptions{PointerSize: 4, RawSectionOffset: -1<<31 - 1})
		}, profile.ErrUnsupported, "RawSectionOffset is -0x80000001"},
		{"map for a machine of 24 bits", func(w io.Writer) error {
			return writeMap(w, p, mapOptions{PointerSize: 3})
		}, profile.ErrUnsupported, "pointer size is 3, want 4 or 8"},
		{"raw for a machine of 128 bits", func(w io.Writer) error {
			return writeRaw(w, p, rawOptions{PointerSize: 16})
		}, profile.ErrUnsupported, "pointer size is 16, want 4 or 8"},
		{
			"raw with calls nobody sampled", func(w io.Writer) error { return writeRaw(w, stray, rawOptions{}) },
			profile.ErrCorrupt, "CallEdges is 1, want none in a",
		},
		{
			"raw with a weight of 33 bits", func(w io.Writer) error { return writeRaw(w, heavy, rawOptions{}) },
			profile.ErrCorrupt, "Weight is 4294967296, want 32 bits in a single run",
		},
	} {
		var b bytes.Buffer
		err := tt.write(&b)
		var fe *profile.FormatError
		if !errors.As(err, &fe) || profile.ClassOf(fe) != tt.class || !strings.Contains(err.Error(), tt.says) || b.Len() > 0 {
			t.Errorf("%s: %v and %d bytes, want %q: %v", tt.name, err, b.Len(), tt.says, tt.class)
		}
	}
}

// TestStopReading: who has seen enough may stop, in every format, and sees what
// a whole reading begins with.
func TestStopReading(t *testing.T) {
	p := edgesRun(t)
	for _, v := range variants(t, p) {
		r, err := NewReader("f", v.data, nil)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		if fileType := r.Info.Format; fileType == FormatRaw || fileType == FormatRet {
			continue
		}
		whole := read(t, v.data)
		for stop := range whole.Functions {
			n := 0
			for f, err := range r.records() {
				if err != nil {
					t.Fatalf("%s: %v", v.name, err)
				}
				if diff := cmp.Diff(whole.Functions[n].Name, f.Name); diff != "" {
					t.Errorf("%s: %s", v.name, diff)
				}
				if n++; n > stop {
					break
				}
			}
			if n != stop+1 {
				t.Errorf("%s: %d records, then stopped at %d", v.name, n, stop)
			}
		}
	}
}

// TestYAMLEdges: edges of one function are in order, each address once.
func TestYAMLEdges(t *testing.T) {
	yaml := yamlOf(t, edgesRun(t))
	for _, to := range []string{"0xFFFFFF10", "0xFFFFFF00"} {
		bad := strings.Replace(yaml, "Address: 0xFFFFFF20", "Address: "+to, 1)
		_, err := Read("y", []byte(bad), nil)
		var fe *profile.FormatError
		if !errors.As(err, &fe) || profile.ClassOf(fe) != profile.ErrCorrupt || fe.Line == 0 || !strings.Contains(err.Error(), "want ascending addresses") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestRetOfAnotherKind: behind raw records only samples of return addresses may stand.
func TestRetOfAnotherKind(t *testing.T) {
	base := edgesMap()
	data := rawOf(t, base)
	ret := bytes.LastIndex(data, []byte{0xfb, 'M', 'I', 'P'})
	if ret <= 0 {
		t.Fatalf("no samples in % x", data)
	}
	copy(data[ret+fileTypeAt:], data[fileTypeAt:fileTypeAt+2])
	m, err := NewMerger(base, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = m.AddRaw("f", data, 1)
	var fe *profile.FormatError
	if !errors.As(err, &fe) || profile.ClassOf(fe) != profile.ErrTruncated || !strings.Contains(err.Error(), "return addresses is missing") {
		t.Errorf("%+v", err)
	}
	if diff := cmp.Diff(base, m.Profile()); diff != "" {
		t.Errorf("left a trace: %s", diff)
	}
}
