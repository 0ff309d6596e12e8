package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWatchFamilies lets profiles of each family land while "profuse watch" runs and is killed at random moments.
// Whoever reads the output meanwhile finds a whole profile. In the end it has the bytes that "profuse merge" writes.
func TestWatchFamilies(t *testing.T) {
	t.Parallel()
	kills := 20
	if !oracle.Everything() {
		kills = 4
	}
	cases := familyCases(t)
	cases["gzipped"] = oracle.Family{Merged: cases[string(formats.Iprof)].Merged, Suffix: ".iprof.gz"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarmOf(t, "out"+c.Suffix, c.Merged...)
			var programs []string
			for _, p := range c.Programs {
				programs = append(programs, "--program", p)
			}
			options := append([]string{"--settle", "10ms", "--every", "0s", "--batch", "3", "--delete"}, programs...)
			run := f.measure(options...)
			var stop atomic.Bool
			var reader sync.WaitGroup
			reader.Go(func() {
				for !stop.Load() {
					f.readOutput()
					time.Sleep(time.Millisecond)
				}
			})
			f.killWatches(run, kills, options, func(string) {})
			stop.Store(true)
			reader.Wait()
			f.drain(options...)
			if got := landed(t, f.in); got != 0 {
				t.Errorf("%d files are left", got)
			}
			want := filepath.Join(f.dir, "want"+c.Suffix)
			args := append([]string{"merge", "-q", "-o", want, f.all()}, programs...)
			if log, err := combined(exec.Command("profuse", args...)); err != nil {
				t.Fatalf("%v: %s", err, log)
			}
			compareFiles(t, f.out, want)
			t.Logf("%d profiles", f.n)
		})
	}
}

// readOutput finds the output whole, if there is one.
func (f *farm) readOutput() {
	data, err := os.ReadFile(f.out)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.t.Error(err)
		}
		return
	}
	if filepath.Ext(f.out) == ".gz" {
		return
	}
	if _, err := formats.View(f.out, data, formats.ViewOptions{}); err != nil {
		f.t.Errorf("the output was seen when it was not whole: %v", err)
	}
}

func compareFiles(t *testing.T, got, want string) {
	t.Helper()
	a, errA := os.ReadFile(got)
	b, errB := os.ReadFile(want)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s has %d bytes, and %s has %d others", got, len(a), want, len(b))
	}
}
