//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inputs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// rewrite writes new contents of the same size over a file, piece by piece.
func rewrite(t *testing.T, name string, contents []byte) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for len(contents) > 0 {
		n := min(len(contents), 8<<10)
		if _, err := f.Write(contents[:n]); err != nil {
			t.Error(err)
		}
		contents = contents[n:]
	}
}

// uniform returns n equal bytes.
func uniform(n int, b byte) []byte { return bytes.Repeat([]byte{b}, n) }

// TestRacingWriter reads files that another goroutine writes over, without a lock and
// with the same size: what is read are the contents of one moment, or an error.
func TestRacingWriter(t *testing.T) {
	stored := func(b []byte) []byte {
		var buf bytes.Buffer
		z, _ := gzip.NewWriterLevel(&buf, gzip.NoCompression)
		z.Write(b)
		z.Close()
		return buf.Bytes()
	}
	for _, c := range []struct {
		name string
		size int
		pack func([]byte) []byte
	}{
		{"small", 145 << 10, func(b []byte) []byte { return b }},
		{"large", 3 << 20, func(b []byte) []byte { return b }},
		{"gzip", 3 << 20, stored},
		{"tar", 3 << 20, func(b []byte) []byte { return tarOf("a", string(b)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "in")
			write(t, name, string(c.pack(uniform(c.size, 0))))
			done := make(chan struct{})
			var writer sync.WaitGroup
			defer writer.Wait()
			defer close(done)
			writer.Go(func() {
				for b := byte(1); ; b++ {
					select {
					case <-done:
						return
					case <-time.After(rand.N(15 * time.Millisecond)):
						rewrite(t, name, c.pack(uniform(c.size, b)))
					}
				}
			})
			var r Reader
			defer r.Close()
			read, refused := 0, 0
			for range 250 / oracle.Step(10) {
				var got []byte
				err := File(name, Options{}).Each(&r, func(d *Data) error { got = append(got[:0], d.Bytes()...); return nil })
				switch {
				case errors.Is(err, errChanged):
					refused++
				case err != nil:
					t.Fatal(err)
				default:
					read++
					if len(got) != c.size || len(bytes.Trim(got, string(got[:1]))) != 0 {
						t.Fatal("a mixture of two versions, without an error")
					}
				}
			}
			t.Logf("%d times read, %d times refused", read, refused)
			if read == 0 {
				t.Error("never read")
			}
		})
	}
}

// TestRestlessWriter: a file that is written all the time is waited for once.
func TestRestlessWriter(t *testing.T) {
	oracle.Slow(t)
	name := filepath.Join(t.TempDir(), "in")
	write(t, name, "1")
	done := make(chan struct{})
	var writer sync.WaitGroup
	defer writer.Wait()
	defer close(done)
	writer.Go(func() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for b := byte(1); ; b++ {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				if _, err := f.WriteAt([]byte{b}, 0); err != nil {
					t.Error(err)
				}
			}
		}
	})
	err := File(name, Options{}).Each(nil, func(*Data) error { return nil })
	if !errors.Is(err, errRestless) || profile.ClassOf(err) != profile.Unreadable {
		t.Error(err)
	}
}

// TestTick: a file that was just written is not read before its time tells of the next write.
func TestTick(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	write(t, name, "1")
	f, err := openFile(name)
	must(t, err)
	defer f.close()
	for _, age := range []time.Duration{-20 * time.Millisecond, 0, tick / 2, 2 * tick, young / 2, young, -2 * young} {
		start := time.Now()
		modified := start.Add(-age)
		must(t, os.Chtimes(name, modified, modified))
		if f.version, err = f.versionNow(); err != nil {
			t.Fatal(err)
		}
		if err := f.settle(new(time.Time)); err != nil {
			t.Errorf("modified %v ago: %v", age, err)
		}
		least := max(tick-age, 0)
		if age == -2*young { // more than clocks differ by
			least = 0
		}
		if took := time.Since(start); took < least || took > least+time.Second {
			t.Errorf("modified %v ago: waited %v, want %v", age, took, least)
		}
	}
}
