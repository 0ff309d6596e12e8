// Package fulldisk tests writers against a disk that gets full.
package fulldisk

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"testing"
)

// ErrFull is what a [Writer] without room returns.
var ErrFull = errors.New("disk full")

// A Writer takes Room bytes and then fails with Err. A write after that is
// an error of the writer under test, and fails with another error.
type Writer struct {
	Room    int
	Err     error // nil for [ErrFull]
	Writes  []int // how many bytes there were after each write
	written bytes.Buffer
	failed  bool
}

// Len returns how many bytes were taken.
func (w *Writer) Len() int { return w.written.Len() }

// Bytes returns the bytes that were taken.
func (w *Writer) Bytes() []byte { return w.written.Bytes() }

func (w *Writer) Write(b []byte) (int, error) {
	if w.failed {
		return 0, errors.New("written to after a failure")
	}
	n, _ := w.written.Write(b[:min(len(b), w.Room-w.Len())])
	w.Writes = append(w.Writes, w.Len())
	if w.failed = n < len(b); w.failed {
		return n, cmp.Or(w.Err, ErrFull)
	}
	return n, nil
}

// Check runs write, which writes a file of at least one byte, with room for every number of bytes. It fails the
// test unless write returns [ErrFull] when the disk is full and what it wrote is a prefix of the file.
func Check(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var whole bytes.Buffer
	if err := write(&whole); err != nil || whole.Len() == 0 {
		t.Fatalf("%s: %d bytes, %v", name, whole.Len(), err)
	}
	for n := range whole.Len() {
		w := &Writer{Room: n}
		if err := write(w); !errors.Is(err, ErrFull) || !bytes.HasPrefix(whole.Bytes(), w.Bytes()) {
			t.Fatalf("%s: %v after %d of %d bytes: % x", name, err, n, whole.Len(), w.Bytes())
		}
	}
	if err := write(&Writer{Room: whole.Len()}); err != nil {
		t.Errorf("%s: %v, though all had room", name, err)
	}
}
