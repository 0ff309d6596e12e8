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
		{"read", 145 << 10, func(b []byte) []byte { return b }},
		{"mapped", 3 << 20, func(b []byte) []byte { return b }},
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

// TestUnsettled: how long to wait before a file's time tells of the next write.
func TestUnsettled(t *testing.T) {
	now := time.Now()
	hundredth := now.Truncate(10 * time.Millisecond)
	if hundredth.Equal(now.Truncate(time.Second)) {
		hundredth = hundredth.Add(-10 * time.Millisecond)
	}
	for _, c := range []struct {
		modified   time.Time
		unit       time.Duration
		least, max time.Duration
	}{
		{now.Add(time.Hour), 0, 0, 0},
		{now.Add(-3 * time.Second), 0, 0, 0},
		{now.Add(-time.Second).Round(time.Second).Add(1), 0, 0, 0},
		{now, 0, 0, maxTick},
		{now.Truncate(time.Second), time.Second, time.Second, 2*time.Second + maxTick},
		{hundredth, 10 * time.Millisecond, 0, 10*time.Millisecond + maxTick},
	} {
		v := version{modified: c.modified.UnixNano(), changed: c.modified.UnixNano()}
		if got := v.unsettled(); got < c.least || got > c.max {
			t.Errorf("modified %v before: waits %v, want %v to %v", now.Sub(c.modified), got, c.least, c.max)
		}
	}
}
