//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// program returns n bytes that begin as ELF does.
func program(n int) []byte {
	return append([]byte(elf.ELFMAG), bytes.Repeat([]byte{1}, n-len(elf.ELFMAG))...)
}

// mappedFile maps a new file of n bytes.
func mappedFile(t *testing.T, n int) (*File, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	oracle.WriteFile(t, name, program(n))
	f, err := Open(inputs.File(name, inputs.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if f.mapped == nil {
		t.Fatalf("%d bytes were not mapped", n)
	}
	t.Cleanup(func() { f.Close() })
	return f, name
}

// TestOpenFile: large programs are mapped, other files and small ones are read.
func TestOpenFile(t *testing.T) {
	for _, c := range []struct {
		contents []byte
		mapped   bool
	}{
		{program(mapFrom), true},
		{program(mapFrom - 1), false},
		{append([]byte(archiveMagic), make([]byte, mapFrom)...), true},
		{bytes.Repeat([]byte{1}, 2*mapFrom), false},
		{nil, false},
	} {
		name := filepath.Join(t.TempDir(), "in")
		oracle.WriteFile(t, name, c.contents)
		in := inputs.File(name, inputs.Options{})
		f, err := Open(in)
		if err != nil || !bytes.Equal(f.Bytes(), c.contents) || (f.mapped != nil) != c.mapped {
			t.Errorf("%d bytes: %v", len(c.contents), err)
			continue
		}
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
		err = ReadFile(in, func(data []byte) error {
			if !bytes.Equal(data, c.contents) {
				t.Errorf("ReadFile: %d bytes, want %d", len(data), len(c.contents))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

var total uint64 // keeps the sums from being optimised away

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

// TestGuardWrittenFile: a mapped file that is written over, or grows, is an error that
// the file itself is not at fault for.
func TestGuardWrittenFile(t *testing.T) {
	for what, change := range map[string]func(name string) error{
		"written over": func(name string) error {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteAt([]byte{2}, 1000)
				err = errors.Join(err, f.Close())
			}
			return err
		},
		"longer": func(name string) error { return os.Truncate(name, 2<<20) },
	} {
		for _, result := range []error{nil, errors.New("counters contradict each other")} {
			d, name := mappedFile(t, 1<<20)
			err := Guard(func() error {
				if err := change(name); err != nil {
					t.Fatal(err)
				}
				return result
			}, d)
			if !errors.Is(err, errChanged) || profile.ClassOf(err) != profile.Unreadable {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestGuardPassesOn(t *testing.T) {
	d, name := mappedFile(t, 1<<20)
	other, otherName := mappedFile(t, 1<<20)
	small, err := Open(inputs.File(os.DevNull, inputs.Options{}))
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
	var nowhere *File
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
