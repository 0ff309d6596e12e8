package inputs

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// extracted returns the members that Extract gets, by name.
func extracted(t *testing.T, contents []byte, opts Options) (map[string]string, Input, error) {
	got := make(map[string]string)
	name := filepath.Join(t.TempDir(), "in")
	opts.Extract = func(member string, src io.Reader) error {
		data, err := io.ReadAll(src)
		got[strings.TrimPrefix(member, name)] = string(data)
		return err
	}
	in := File(name, opts)
	write(t, name, string(contents))
	return got, in, in.Each(nil, func(d *Data) error { return errors.New("yielded " + d.Name()) })
}

// TestExtract: archives are told from other files, and the members that are wanted pass as streams.
func TestExtract(t *testing.T) {
	program := "program" + string(random(200_000))
	files := tarOf("deps/a", program, "deps/a.d", "text", "deps/b.gz", string(gzipOf([]byte("program b"))), "deps/c", "program, again")
	want := map[string]string{"!deps/a": program, "!deps/b.gz": "program b", "!deps/c": "program, again"}
	opts := Options{Recognize: func(name string, head []byte) (int64, error) {
		if bytes.HasPrefix(head, []byte("program")) {
			return 1 << 20, nil
		}
		return 0, errors.New("not wanted")
	}}
	for name, in := range map[string][]byte{
		"tar": files, "tar.gz": gzipOf(files), "tar.zst": zstdOf(files),
		"zip": zipOf("deps/a", program, "x", "y", "deps/b.gz", string(gzipOf([]byte("program b"))), "deps/c", "program, again"),
	} {
		got, file, err := extracted(t, in, opts)
		oracle.NoError(t, err)
		if !maps.Equal(got, want) {
			t.Errorf("%s: %.100q", name, got)
		}
		if !file.Heads(true, func([]byte) bool { return false }) {
			t.Errorf("%s is no archive", name)
		}
	}
	for name, in := range map[string][]byte{"tar of nothing": tarOf(), "program": []byte(program), "gz": gzipOf([]byte(program)), "nothing": nil} {
		file := File(filepath.Join(t.TempDir(), "in"), Options{})
		write(t, file.Name, string(in))
		if file.Heads(true, func([]byte) bool { return true }) {
			t.Errorf("%s is an archive", name)
		}
	}
}

// TestExtractLimits: bombs are refused before they fill a disk, and so is damage.
func TestExtractLimits(t *testing.T) {
	opts := Options{MaxSize: 1 << 20, Recognize: func(string, []byte) (int64, error) { return 1 << 40, nil }}
	for name, c := range map[string]struct {
		in    []byte
		class error
	}{
		"tar.gz": {gzipOf(tarOf("a", "1", "b", string(make([]byte, 1<<20+1)))), profile.ErrUnsupported},
		"zip":    {zipOf("a", "1", "b", string(make([]byte, 1<<20+1))), profile.ErrUnsupported},
		"cut":    {gzipOf(tarOf("a", string(random(10_000))))[:9000], profile.ErrTruncated},
	} {
		if _, _, err := extracted(t, c.in, opts); !errors.Is(err, c.class) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
