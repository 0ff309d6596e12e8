package cli

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// lockedBuffer is written by the drawing goroutine.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProgressLine(t *testing.T) {
	p := &Progress{what: "inputs read"}
	p.Done(12, 56_000_000)
	if got, want := p.String(), "inputs read: 12, 56.0 MB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Expect(1000)
	p.Expect(234)
	if got, want := p.String(), "inputs read: 12 of 1,234, 56.0 MB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressDraws(t *testing.T) {
	var w lockedBuffer
	p := &Progress{what: "inputs read"}
	p.start(&StatusLine{w: &w, width: 80}, time.Millisecond)
	p.Done(3, 10)
	const line = "\rinputs read: 3, 10 bytes\x1b[K"
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(w.String(), line); {
		if time.Now().After(deadline) {
			t.Fatalf("not drawn: %q", w.String())
		}
		time.Sleep(time.Millisecond)
	}
	p.Stop()
	if got := w.String(); !strings.HasSuffix(got, line+"\r\x1b[K") {
		t.Errorf("after Stop: %q, want the line drawn once and removed", got)
	}
	p.Stop()
	if n := strings.Count(w.String(), line); n != 1 {
		t.Errorf("an unchanged line was drawn %d times", n)
	}
}

// Standard error of a test is no terminal.
func TestProgressSilent(t *testing.T) {
	for _, w := range []any{&bytes.Buffer{}, pipe(t)} {
		env := &Env{Getenv: func(string) string { return "" }}
		switch w := w.(type) {
		case *bytes.Buffer:
			env.Stderr = w
		case *os.File:
			env.Stderr = w
		}
		p := env.StartProgress("inputs read", false)
		if p.stop != nil {
			t.Errorf("%T: draws", w)
		}
		p.Done(1, 1)
		p.Stop()
	}
}

func pipe(t *testing.T) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return w
}

func TestPaint(t *testing.T) {
	if got := (Terminal{}).Paint(Bold, "x"); got != "x" {
		t.Errorf("%q without colour", got)
	}
	if got, want := (Terminal{Color: true}).Paint(Bold, "x"), "\x1b[1mx\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
