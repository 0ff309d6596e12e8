//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/profile"
)

// mappedFile maps a new file of n bytes, all 1.
func mappedFile(t *testing.T, n int) (*Data, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, bytes.Repeat([]byte{1}, n), 0o666); err != nil {
		t.Fatal(err)
	}
	makeOld(t, name)
	d, err := File(name, Options{}).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.mapped == nil {
		t.Fatalf("%d bytes were not mapped", n)
	}
	t.Cleanup(func() { d.Close() })
	return d, name
}

// makeOld gives a file a time at which nobody takes it for unfinished.
func makeOld(t *testing.T, name string) {
	t.Helper()
	old := time.Now().Add(-2 * inUse)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
}

// sum touches every byte.
func sum(b []byte) uint64 {
	for _, c := range b {
		total += uint64(c)
	}
	return total
}

func TestGuardTruncatedFile(t *testing.T) {
	page := os.Getpagesize()
	n := 64*page + 100
	for _, left := range []int{0, 1, page, 3*page + 10, 63 * page, 64 * page, n - 1} {
		for name, fn := range map[string]func(b []byte) error{
			"reads all":      func(b []byte) error { sum(b); return nil },
			"reads last":     func(b []byte) error { sum(b[len(b)-1:]); return nil },
			"copies":         func(b []byte) error { _ = bytes.Clone(b); return nil },
			"reads nothing":  func([]byte) error { return nil },
			"finds a fault":  func(b []byte) error { return errors.New("counters are zero") },
			"writes to file": func(b []byte) error { return os.WriteFile(os.DevNull, b, 0) },
		} {
			d, path := mappedFile(t, n)
			err := Guard(func() error {
				if err := os.Truncate(path, int64(left)); err != nil {
					t.Fatal(err)
				}
				return fn(d.Bytes())
			}, d)
			var fe *profile.FormatError
			if !errors.Is(err, profile.ErrTruncated) || !errors.As(err, &fe) {
				t.Fatalf("%s of %d left: %v", name, left, err)
			}
			if fe.File != path || fe.Offset != int64(left) || !strings.Contains(err.Error(), "changed while it was read") {
				t.Errorf("%s of %d left: %v", name, left, err)
			}
		}
	}
}

func TestEachGuards(t *testing.T) {
	_, name := mappedFile(t, 2*mapWithReader)
	var r Reader
	defer r.Close()
	err := File(name, Options{}).Each(&r, func(d *Data) error {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
		return fmt.Errorf("sum %d", sum(d.Bytes()))
	})
	if !errors.Is(err, profile.ErrTruncated) {
		t.Errorf("got %v", err)
	}
}

func TestGuardPassesOn(t *testing.T) {
	d, name := mappedFile(t, 1<<20)
	other, otherName := mappedFile(t, 1<<20)
	small, err := File(os.DevNull, Options{}).Open(nil)
	if err != nil {
		t.Fatal(err)
	}

	stop := errors.New("stop")
	if err := Guard(func() error { return stop }, d, small); err != stop {
		t.Errorf("an error: %v", err)
	}
	if err := Guard(func() error { return nil }); err != nil {
		t.Errorf("without data: %v", err)
	}
	// The contents of a file do not depend on its names and permissions.
	if err := Guard(func() error {
		return errors.Join(os.Link(name, name+".link"), os.Rename(name, name+".moved"), os.Remove(name+".link"), os.Chmod(name+".moved", 0o600))
	}, d); err != nil {
		t.Errorf("a file that was moved: %v", err)
	}

	if err := os.Truncate(otherName, 0); err != nil {
		t.Fatal(err)
	}
	var nowhere *Data
	for what, fn := range map[string]func(){
		"panic":       func() { panic("own") },
		"nil pointer": func() { _ = nowhere.name },
		"index":       func() { _ = d.Bytes()[len(d.Bytes())] },
		"other fault": func() { sum(other.Bytes()) },
	} {
		func() {
			defer func() {
				p := recover()
				if err, ok := p.(runtime.Error); p != "own" && (!ok || errors.Is(err, profile.ErrTruncated)) {
					t.Errorf("%s: recovered %v", what, p)
				}
			}()
			t.Errorf("%s: Guard returned %v", what, Guard(func() error { fn(); return nil }, d))
		}()
		if debug.SetPanicOnFault(false) {
			t.Errorf("%s: faults still panic after Guard", what)
		}
	}
	// Of several, the one that is at fault is named.
	err = Guard(func() error { sum(d.Bytes()); sum(other.Bytes()); return nil }, d, small, other)
	if fe := (*profile.FormatError)(nil); !errors.As(err, &fe) || fe.File != otherName {
		t.Errorf("got %v, want %s", err, otherName)
	}

	done := make(chan bool)
	go func() {
		defer close(done)
		Guard(func() error { runtime.Goexit(); return nil }, d)
		t.Error("Goexit did not end the goroutine")
	}()
	<-done
}

// TestReadTruncatedFile has a file shrink between being opened and being read.
func TestReadTruncatedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	write(t, name, strings.Repeat("x", 1000))
	makeOld(t, name)
	f, err := openFile(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := os.Truncate(name, 400); err != nil {
		t.Fatal(err)
	}
	makeOld(t, name) // the length gives it away
	s := &source{name: name, r: new(Reader), opts: &Options{}}
	err = s.take(f, mapWithReader, new(time.Time))
	if fe := (*profile.FormatError)(nil); !errors.As(err, &fe) || !errors.Is(err, profile.ErrTruncated) || fe.Offset != 400 {
		t.Errorf("got %v", err)
	}
}

func TestFIFOAndDevices(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
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
		d, err := ins[0].Open(nil)
		if err != nil || !bytes.Equal(d.Bytes(), c.want) {
			t.Errorf("got %d bytes, %v; want %d", len(d.Bytes()), err, len(c.want))
		}
	}
	if d, err := ins[1].Open(nil); err != nil || len(d.Bytes()) != 0 {
		t.Errorf("%s: %v, %v", os.DevNull, d, err)
	}
}

// TestDescriptorsAreClosed opens everything that can be opened, in every way
// that can fail, and counts.
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
	if err != nil {
		t.Fatal(err)
	}
	ins = append(ins, File(dir, Options{}), File(filepath.Join(dir, "missing"), Options{}))
	before := count()
	var r Reader
	for _, in := range ins {
		for _, reader := range []*Reader{nil, &r} {
			in.Each(reader, func(*Data) error { return errors.New("stop") })
			in.Each(reader, func(*Data) error { return nil })
			if d, err := in.Open(reader); err == nil {
				d.Close()
			}
		}
	}
	r.Close()
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
