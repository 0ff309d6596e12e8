package mip

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/fulldisk"
)

// TestFullDisk: whenever a disk is full, the writers say so, and what is on it is the beginning of the file.
func TestFullDisk(t *testing.T) {
	p := edgesRun(t)
	for name, write := range map[string]func(io.Writer) error{
		"mip":      func(w io.Writer) error { return WriteMIP(w, p, WriteOptions{}) },
		"document": func(w io.Writer) error { return WriteMIP(w, p, WriteOptions{DocumentLayout: true}) },
		"yaml":     func(w io.Writer) error { return WriteYAML(w, p, WriteOptions{}) },
	} {
		fulldisk.Check(t, name, write)
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
		if fe := wantError(t, to, err, profile.ErrCorrupt, "want ascending addresses"); fe.Line == 0 {
			t.Errorf("%s: %v has no line", to, err)
		}
	}
}

// TestRetOfAnotherKind: behind raw records only samples of return addresses may stand.
func TestRetOfAnotherKind(t *testing.T) {
	base := edgesMap()
	data := rawOf(base, 8)
	ret := bytes.LastIndex(data, []byte{0xfb, 'M', 'I', 'P'})
	copy(data[ret+fileTypeAt:], data[fileTypeAt:fileTypeAt+2])
	m := mergerOf(t, base, nil)
	wantError(t, "ret", m.AddRaw("f", data, 1), profile.ErrTruncated, "return addresses is missing")
	if diff := cmp.Diff(base, m.Profile()); diff != "" {
		t.Errorf("left a trace: %s", diff)
	}
}
