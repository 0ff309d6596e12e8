//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inputs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// TestReadTruncatedFile has a file shrink between being opened and being read.
func TestReadTruncatedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	write(t, name, strings.Repeat("x", 1000))
	f, err := openFile(name)
	must(t, err)
	defer f.close()
	must(t, os.Truncate(name, 400))
	s := &source{name: name, r: new(Reader), opts: &Options{}}
	_, err = s.readFile(f)
	if fe := (*profile.FormatError)(nil); !errors.As(err, &fe) || !errors.Is(err, profile.ErrTruncated) || fe.Offset != 400 {
		t.Errorf("got %v", err)
	}
}

func TestFIFOAndDevices(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	// Named it is an input; found in a folder it is not.
	if ins, err := Expand([]string{dir}, Options{}); err != nil || len(ins) != 0 {
		t.Errorf("in a folder: %v, %v", ins, err)
	}
	ins, err := Expand([]string{fifo, os.DevNull}, Options{})
	if err != nil || len(ins) != 2 {
		t.Fatalf("%v, %v", ins, err)
	}
	for _, c := range []struct{ stream, want []byte }{
		{nil, nil},
		{random(200_000), random(200_000)},
		{gzipOf(random(200_000)), random(200_000)},
	} {
		go os.WriteFile(fifo, c.stream, 0)
		d, err := one(ins[0])
		if err != nil || !bytes.Equal(d.Bytes(), c.want) {
			t.Errorf("got %d bytes, %v; want %d", len(d.Bytes()), err, len(c.want))
		}
	}
	if d, err := one(ins[1]); err != nil || len(d.Bytes()) != 0 {
		t.Errorf("%s: %v, %v", os.DevNull, d, err)
	}
}

// TestDescriptorsAreClosed opens everything that can be opened, in every way that can fail, and counts.
func TestDescriptorsAreClosed(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(entries)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty"), "")
	big := random(2 << 20)
	for name, b := range map[string][]byte{
		"small": random(10), "big": big, "small.gz": gzipOf(big[:9]), "big.gz": gzipOf(big), "big.tar": tarOf("a", string(big)),
		"cut.gz": gzipOf(big)[:1<<20], "cut.tar": tarOf("a", string(big))[:1<<20], "bad.zst": {0x28, 0xb5, 0x2f, 0xfd},
	} {
		write(t, filepath.Join(dir, name), string(b))
	}
	ins, err := Expand([]string{dir}, Options{})
	must(t, err)
	ins = append(ins, File(dir, Options{}), File(filepath.Join(dir, "missing"), Options{}))
	before := count()
	var r Reader
	for _, in := range ins {
		for _, reader := range []*Reader{nil, &r} {
			in.Each(reader, func(*Data) error { return errors.New("stop") })
			in.Each(reader, func(*Data) error { return nil })
			in.One(func(*Data) error { return nil })
		}
	}
	r.Close()
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
