package inputs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// random returns n bytes that no container begins with and that do not compress.
func random(n int) []byte {
	b := make([]byte, n)
	chacha := rand.NewChaCha8([32]byte{1})
	chacha.Read(b)
	return b
}

// sizes are around every size at which something changes.
var sizes = []int{
	0, 1, sniffLen - 1, sniffLen, sniffLen + 1,
	firstBuffer - 1, firstBuffer, firstBuffer + 1,
	streamFrom - 1, streamFrom, streamFrom + 1, 3*streamFrom + 7,
	16<<20 + 1,
}

// one returns a copy of what One yields.
func one(in Input) (*Data, error) {
	var got *Data
	err := in.One(func(d *Data) error {
		got = &Data{name: d.Name(), bytes: bytes.Clone(d.Bytes())}
		return nil
	})
	return got, err
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var r Reader
	defer r.Close()
	for _, size := range sizes {
		want := random(size)
		name := filepath.Join(dir, "in")
		oracle.WriteFile(t, name, want)
		old := time.Now().Add(-2 * young)
		must(t, os.Chtimes(name, old, old))
		d, err := one(File(name, Options{}))
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if d.Name() != name || !bytes.Equal(d.Bytes(), want) {
			t.Errorf("%d bytes: got %d of %s", size, len(d.Bytes()), d.Name())
		}
		for _, reader := range []*Reader{nil, &r} {
			calls := 0
			err = File(name, Options{}).Each(reader, func(d *Data) error {
				calls++
				if d.Name() != name || !bytes.Equal(d.Bytes(), want) {
					t.Errorf("%d bytes: Each gave %d of %s", size, len(d.Bytes()), d.Name())
				}
				return nil
			})
			if err != nil || calls != 1 {
				t.Errorf("%d bytes: Each: %v, %d calls", size, err, calls)
			}
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	for _, c := range []struct {
		name string
		want error
	}{
		{missing, fs.ErrNotExist},
		{"", fs.ErrNotExist},
		{dir, nil},
	} {
		_, openErr := one(File(c.name, Options{}))
		eachErr := File(c.name, Options{}).Each(nil, func(*Data) error { t.Error("called"); return nil })
		for _, err := range []error{openErr, eachErr} {
			var pe *fs.PathError
			if !errors.As(err, &pe) || pe.Path != c.name || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%q: %v", c.name, err)
			}
		}
	}
}

func TestEachReturnsTheCallersError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	stop := errors.New("stop")
	for _, contents := range [][]byte{random(10), gzipOf(random(10)), tarOf("a", "1", "b", "2")} {
		write(t, name, string(contents))
		calls := 0
		if err := File(name, Options{}).Each(nil, func(*Data) error { calls++; return stop }); err != stop || calls != 1 {
			t.Errorf("got %v after %d calls", err, calls)
		}
	}
}

// TestReaderIsReused checks that a second pass over files needs no new memory,
// and that a Reader gives no memory out twice.
func TestReaderIsReused(t *testing.T) {
	dir := t.TempDir()
	var ins []Input
	for _, size := range []int{100, 5000, 300_000} {
		name := filepath.Join(dir, string(rune('a'+len(ins))))
		oracle.WriteFile(t, name, random(size))
		ins = append(ins, File(name, Options{}))
	}
	var r Reader
	defer r.Close()
	pass := func() {
		for _, in := range ins {
			must(t, in.Each(&r, func(*Data) error { return nil }))
		}
	}
	pass()
	pass()
	if len(r.buffers) > 3 {
		t.Errorf("%d buffers", len(r.buffers))
	}
	const passes = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range passes {
		pass()
	}
	runtime.ReadMemStats(&after)
	if per := (after.TotalAlloc - before.TotalAlloc) / passes; per > 4096 {
		t.Errorf("a pass over 305,100 bytes allocates %d", per)
	}

	// Inputs are read with the same Reader within fn.
	left := 3 * len(ins)
	var again func(*Data) error
	again = func(d *Data) error {
		if left--; left > 0 {
			if err := ins[left%len(ins)].Each(&r, again); err != nil {
				return err
			}
		}
		want, err := os.ReadFile(d.Name())
		if err == nil && !bytes.Equal(d.Bytes(), want) {
			t.Errorf("%s was overwritten", d.Name())
		}
		return err
	}
	must(t, ins[0].Each(&r, again))
	if len(r.buffers) > keepSpares {
		t.Errorf("%d buffers kept", len(r.buffers))
	}
}

func TestStdin(t *testing.T) {
	for _, size := range sizes {
		want := random(size)
		for what, stream := range map[string][]byte{"plain": want, "gzip": gzipOf(want), "zstd": zstdOf(want)} {
			ins, err := Expand([]string{"-", "-"}, Options{Stdin: iotest{bytes.NewReader(stream)}})
			must(t, err)
			d, err := one(ins[0])
			must(t, err)
			if d.Name() != "-" || !bytes.Equal(d.Bytes(), want) {
				t.Errorf("%s, %d bytes: got %d of %s", what, size, len(d.Bytes()), d.Name())
			}
			// There is nothing left for the second.
			if d, err := one(ins[1]); err != nil || len(d.Bytes()) != 0 {
				t.Errorf("second: %v, %v", d, err)
			}
		}
	}
	broken := errors.New("broken pipe")
	for _, good := range []string{"", "some bytes", strings.Repeat("x", 100_000)} {
		in := Input{Name: "-", opts: &Options{Stdin: io.MultiReader(strings.NewReader(good), failing{broken})}}
		if _, err := one(in); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", len(good), err)
		}
	}
}

// iotest reads in small, odd pieces.
type iotest struct{ r io.Reader }

func (r iotest) Read(p []byte) (int, error) { return r.r.Read(p[:min(len(p), 4093)]) }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestWorkers reads the same inputs from several goroutines.
func TestWorkers(t *testing.T) {
	dir := t.TempDir()
	want := map[string][]byte{}
	for i, size := range sizes {
		b := random(size)
		name := filepath.Join(dir, string(rune('a'+i)))
		contents := [][]byte{b, gzipOf(b), zstdOf(b), tarOf("m", string(b))}[i%4]
		write(t, name, string(contents))
		want[name], want[name+"!m"] = b, b
	}
	ins, err := Expand([]string{dir}, Options{})
	must(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var r Reader
			defer r.Close()
			for range 5 {
				for _, in := range ins {
					err := in.Each(&r, func(d *Data) error {
						if !bytes.Equal(d.Bytes(), want[d.Name()]) {
							t.Errorf("%s: %d bytes", d.Name(), len(d.Bytes()))
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestRecognize: what begins like no known format is not read further, and does not end an archive.
func TestRecognize(t *testing.T) {
	known := append([]byte("known"), make([]byte, 2*headLen)...)
	unknown := make([]byte, 2*headLen)
	recognize := func(_ string, head []byte) (int64, error) {
		if len(head) != headLen {
			t.Errorf("%d first bytes, want %d", len(head), headLen)
		}
		if bytes.HasPrefix(head, []byte("known")) {
			return int64(len(known)), nil
		}
		return 0, profile.ErrUnrecognized
	}
	for name, c := range map[string]struct {
		in    []byte
		sizes []int
		err   error
	}{
		"known":        {in: known, sizes: []int{len(known)}},
		"too large":    {in: append(bytes.Clone(known), 0), err: profile.ErrUnsupported},
		"unknown":      {in: unknown, err: profile.ErrUnrecognized},
		"compressed":   {in: gzipOf(unknown), err: profile.ErrUnrecognized},
		"short":        {in: unknown[:headLen-1], sizes: []int{headLen - 1}},
		"in a tar":     {in: tarOf("a", string(unknown), "b", string(known)), sizes: []int{headLen, len(known)}},
		"endless":      {err: profile.ErrUnrecognized},
		"empty stream": {in: []byte{}, sizes: []int{0}},
	} {
		var src io.Reader = bytes.NewReader(c.in)
		if c.in == nil {
			src = endless{}
		}
		var sizes []int
		in := Input{Name: "-", opts: &Options{Stdin: src, Recognize: recognize}}
		err := in.Each(nil, func(d *Data) error {
			sizes = append(sizes, len(d.Bytes()))
			return nil
		})
		if !errors.Is(err, c.err) || !slices.Equal(sizes, c.sizes) {
			t.Errorf("%s: %v, %v, want %v, %v", name, sizes, err, c.sizes, c.err)
		}
	}
}

// endless is a stream of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
