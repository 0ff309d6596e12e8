package irpgo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

var errFull = errors.New("disk full")

// full takes so many bytes and then fails.
type full struct {
	written bytes.Buffer
	room    int
	failed  bool
}

func (w *full) Len() int { return w.written.Len() }

func (w *full) Bytes() []byte { return w.written.Bytes() }

func (w *full) Write(b []byte) (int, error) {
	if w.failed {
		return 0, errors.New("written to after a failure")
	}
	n, _ := w.written.Write(b[:min(len(b), w.room-w.Len())])
	if w.failed = n < len(b); w.failed {
		return n, errFull
	}
	return n, nil
}

// TestFullDisk: whenever a disk is full, the writers say so, and what is on it
// is the beginning of the file.
func TestFullDisk(t *testing.T) {
	for _, name := range []string{"llvm22-temporal", "values", "bitmaps"} {
		data, err := os.ReadFile("../testdata/irpgo/text/" + name + ".proftext")
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(name, data, ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		writers := map[string]func(io.Writer) error{
			"text": func(w io.Writer) error { return WriteText(w, p, TextOptions{}) },
		}
		for _, version := range []uint32{4, 9, IndexedVersionMax} {
			writers[fmt.Sprint("indexed ", version)] = func(w io.Writer) error {
				return WriteIndexed(w, p, IndexedOptions{Version: version})
			}
		}
		for kind, write := range writers {
			var whole bytes.Buffer
			if err := write(&whole); err != nil || whole.Len() == 0 {
				t.Fatalf("%s as %s: %d bytes, %v", name, kind, whole.Len(), err)
			}
			for n := range whole.Len() {
				w := &full{room: n}
				if err := write(w); !errors.Is(err, errFull) || !bytes.HasPrefix(whole.Bytes(), w.Bytes()) {
					t.Fatalf("%s as %s: %v after %d of %d bytes", name, kind, err, n, whole.Len())
				}
			}
			if err := write(&full{room: whole.Len()}); err != nil {
				t.Errorf("%s as %s: %v, though all had room", name, kind, err)
			}
		}
	}
}
