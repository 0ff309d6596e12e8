package command

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A farm is a folder in which profiles land all the time: raw ones of three runs again and again, and text profiles
// with a function each that is in no other.
type farm struct {
	t   *testing.T
	dir string // of everything
	in  string // where they land
	out string
	raw [][]byte
	ext string // of their names
	// only is the profile of one function that is in no other; may be nil.
	only func(n int) []byte
	n    int // landed
}

func newFarm(t *testing.T) *farm {
	t.Helper()
	f := newFarmOf(t, "out.profdata", oracle.Testdata(t, "irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw", "irpgo/clang22/ir-run3.profraw")...)
	f.only = func(n int) []byte { return fmt.Appendf(nil, ":ir\nonly%d\n1\n1\n1\n", n) }
	return f
}

func newFarmOf(t *testing.T, out string, files ...string) *farm {
	t.Helper()
	f := &farm{t: t, dir: t.TempDir(), ext: filepath.Ext(files[0])}
	f.in, f.out = filepath.Join(f.dir, "in"), filepath.Join(f.dir, out)
	for _, name := range files {
		f.raw = append(f.raw, oracle.ReadFile(t, name))
	}
	for _, name := range []string{f.in + "/sub", f.all()} {
		oracle.NoError(t, os.MkdirAll(name, 0o777))
	}
	return f
}

// all is where everything that landed can be found later.
func (f *farm) all() string { return filepath.Join(f.dir, "all") }

// land lets one more profile land, in one of several ways.
func (f *farm) land() {
	data := f.raw[f.n%len(f.raw)]
	if f.n%2 == 0 && f.only != nil {
		data = f.only(f.n)
	}
	name := fmt.Sprintf("%d%s", f.n, f.ext)
	path := filepath.Join(f.in, name)
	if f.n%3 == 0 {
		path = filepath.Join(f.in, "sub", name)
	}
	err := os.WriteFile(filepath.Join(f.all(), name), data, 0o666)
	switch {
	case err != nil:
	case f.n%4 == 0: // as by a collector that is done when it is there
		temp := filepath.Join(f.dir, name)
		if err = os.WriteFile(temp, data, 0o666); err == nil {
			err = os.Rename(temp, path)
		}
	default: // as by a program at its end
		var w *os.File
		if w, err = os.Create(path); err == nil {
			w.Write(data[:len(data)/2])
			time.Sleep(time.Millisecond)
			w.Write(data[len(data)/2:])
			err = w.Close()
		}
	}
	if err != nil {
		f.t.Error(err)
	}
	f.n++
}

func (f *farm) watch(options ...string) *exec.Cmd {
	return exec.Command("profuse", append([]string{"watch", f.in, "-o", f.out}, options...)...)
}

func (f *farm) drain(options ...string) (log string) {
	f.t.Helper()
	log, err := combined(f.watch(append(options, "--once")...))
	if err != nil {
		f.t.Fatalf("%v: %s", err, log)
	}
	return log
}

func combined(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func counts(t *testing.T, path string) map[string][]uint64 {
	t.Helper()
	data := oracle.ReadFile(t, path)
	p := oracle.Must(irpgo.Read(path, data, irpgo.ReaderOptions{}))(t)
	all := make(map[string][]uint64)
	for _, fn := range p.Functions {
		for _, r := range fn.Records {
			all[fmt.Sprintf("%s %d", fn.Name, r.Hash)] = r.Counts
		}
	}
	return all
}

// check compares the output with the sum of everything that landed.
func (f *farm) check() {
	f.t.Helper()
	want := filepath.Join(f.dir, "want.profdata")
	if log, err := combined(exec.Command("profuse", "merge", "-q", "-o", want, f.all())); err != nil {
		f.t.Fatalf("%v: %s", err, log)
	}
	if diff := cmp.Diff(counts(f.t, want), counts(f.t, f.out)); diff != "" {
		f.t.Errorf("what landed (-) and what was merged (+):\n%s", diff)
	}
}

func landed(t *testing.T, dir string) int {
	t.Helper()
	ins := oracle.Must(inputs.Expand([]string{dir}, inputs.Options{}))(t)
	return len(ins)
}

// measure returns how long a run takes that merges one batch.
func (f *farm) measure(options ...string) time.Duration {
	f.t.Helper()
	f.land()
	began := time.Now()
	f.drain(options...)
	return time.Since(began)
}

// killWatches starts "profuse watch" and kills it at a random moment, again and
// again, while profiles land. It calls said with what each run printed.
func (f *farm) killWatches(run time.Duration, kills int, options []string, said func(log string)) {
	f.t.Helper()
	rnd := rand.New(rand.NewPCG(uint64(run), uint64(time.Now().UnixNano())))
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for !stop.Load() {
			f.land()
			time.Sleep(run / 8)
		}
	})
	defer writer.Wait()
	defer stop.Store(true)
	for range kills {
		cmd := f.watch(options...)
		log := f.start(cmd)
		time.Sleep(run/4 + time.Duration(rnd.Int64N(int64(3*run))))
		oracle.NoError(f.t, cmd.Process.Kill())
		cmd.Wait()
		if strings.Contains(log(), "not merged") {
			f.t.Errorf("a run said: %s", log())
		}
		said(log())
	}
}

// TestWatchKilled kills "profuse watch" at random moments while profiles land, and nothing is lost or counted twice.
func TestWatchKilled(t *testing.T) {
	t.Parallel()
	kills := 25 // in each of the three ways
	modes := []string{"delete", "keep", "archive"}
	if !oracle.Everything() {
		kills, modes = 5, modes[:1]
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			archive := filepath.Join(f.dir, "archive")
			options := []string{"--settle", "10ms", "--every", "0s", "--batch", "3"}
			switch mode {
			case "delete":
				options = append(options, "--delete")
			case "archive":
				options = append(options, "--archive", archive)
			}
			run := f.measure(options...)
			wrote, announced, undone, last := 0, 0, 0, inode(f.out)
			f.killWatches(run, kills, options, func(log string) {
				if strings.Contains(log, "warning") {
					t.Errorf("a run said: %s", log)
				}
				if now := inode(f.out); now != last {
					wrote, last = wrote+1, now
				}
				if strings.Contains(log, "that it did not finish") {
					announced++
				}
				if strings.Contains(log, "merged before") {
					undone++
				}
			})
			left := landed(t, f.in)
			f.drain(options...)
			f.check()
			switch mode {
			case "keep":
				if got := landed(t, f.in); got != f.n {
					t.Errorf("%d of %d files are left", got, f.n)
				}
			case "delete":
				if got := landed(t, f.in); got != 0 {
					t.Errorf("%d files are left", got)
				}
			case "archive":
				if got := landed(t, archive); got != f.n {
					t.Errorf("%d of %d files are in the archive", got, f.n)
				}
				again := filepath.Join(f.dir, "again.profdata")
				if log, err := combined(exec.Command("profuse", "merge", "-q", "-o", again, archive)); err != nil {
					t.Fatalf("%v: %s", err, log)
				}
				if diff := cmp.Diff(counts(t, f.out), counts(t, again)); diff != "" {
					t.Errorf("what was merged (-) and what is in the archive (+):\n%s", diff)
				}
			}
			if wrote < kills/8 {
				t.Errorf("of %d runs only %d had written anything when they were killed; this test tests nothing", kills, wrote)
			}
			t.Logf("%d profiles; %d of %d runs had written something; the run before was killed between journal and output %d times, "+
				"with merged files left %d times; %d files were in the folder at the end", f.n, wrote, kills, announced, undone, left)
		})
	}
}

// inode tells one output from the next; 0 if there is none.
func inode(path string) uint64 {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return 0
	}
	return uint64(st.Ino) ^ uint64(st.Mtim.Nano())
}

func (f *farm) start(cmd *exec.Cmd) (log func() string) {
	f.t.Helper()
	file, err := os.CreateTemp(f.dir, "log")
	oracle.NoError(f.t, err)
	defer file.Close()
	cmd.Stderr = file
	oracle.NoError(f.t, cmd.Start())
	f.t.Cleanup(func() { cmd.Process.Kill() })
	return func() string {
		text, err := os.ReadFile(file.Name())
		if err != nil {
			f.t.Error(err)
		}
		return string(text)
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestWatchSignals ends runs as a service manager or a person does.
func TestWatchSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			f.land()
			cmd := f.watch("--settle", "10ms", "--every", "1h", "--delete")
			log := f.start(cmd)
			await(t, "the first profile", func() bool { return landed(t, f.in) == 0 })
			f.land()
			f.land()
			time.Sleep(time.Second) // to settle
			growing := oracle.Must(os.Create(filepath.Join(f.in, "growing")))(t)
			defer growing.Close()
			cmd.Process.Signal(sig)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, log())
			}
			f.check()
			if got := landed(t, f.in); got != 1 {
				t.Errorf("%d files are left, want the one that is being written", got)
			}
			want := "ended: 3 files merged; left for the next run: 1 file that may still change\n"
			if !strings.HasSuffix(log(), want) {
				t.Errorf("said %q, want %q at the end", log(), want)
			}
			if _, err := os.Lstat(f.out + ".watch.lock"); err == nil {
				t.Error("the lock is still there")
			}
		})
	}
}

// TestWatchFullDisk lets writing fail by a limit on the size of files, and then
// lifts the limit, as when somebody makes room.
func TestWatchFullDisk(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	for range 40 {
		f.land()
	}
	limited := exec.Command("sh", "-c", `ulimit -S -f 4; exec "$@"`, "sh",
		"profuse", "watch", f.in, "-o", f.out, "--settle", "10ms", "--delete")
	log := f.start(limited)
	await(t, "a warning", func() bool { return strings.Contains(log(), "warning: ") })
	limited.Process.Signal(syscall.SIGTERM)
	err := limited.Wait()
	if exit := limited.ProcessState.ExitCode(); exit != 1 {
		t.Errorf("%v, exit code %d, want 1", err, exit)
	}
	if got := landed(t, f.in); got != f.n {
		t.Errorf("%d of %d files are left although nothing was written", got, f.n)
	}
	if n := strings.Count(log(), "warning: "); n != 1 || !strings.Contains(log(), syscall.EFBIG.Error()) {
		t.Errorf("said %q, want one warning", log())
	}
	f.drain("--settle", "10ms", "--delete")
	f.check()
	if got := landed(t, f.in); got != 0 {
		t.Errorf("%d files are left", got)
	}
}

// A second run waits for the first, also if that is killed.
func TestWatchTwice(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	f.land()
	first := f.watch("--settle", "10ms", "--every", "0s")
	f.start(first)
	await(t, "the first profile", func() bool { _, err := os.Stat(f.out); return err == nil })
	second := f.watch("--settle", "10ms", "--once")
	log := f.start(second)
	await(t, "the second to wait", func() bool { return strings.HasPrefix(log(), `waiting for another "profuse watch" that adds to `) })
	f.land()
	await(t, "the second profile", func() bool { return len(counts(t, f.out)) > 20 })
	first.Process.Kill()
	first.Wait()
	if err := second.Wait(); err != nil {
		t.Fatalf("%v: %s", err, log())
	}
	f.check()
}

// TestWatchFamilies lets profiles of each family land while "profuse watch" runs and is killed at random moments.
// Whoever reads the output meanwhile finds a whole profile. In the end it has the bytes that "profuse merge" writes.
func TestWatchFamilies(t *testing.T) {
	t.Parallel()
	kills := 8
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
			wantSame(t, f.out, want)
			t.Logf("%d profiles", f.n)
		})
	}
}

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
