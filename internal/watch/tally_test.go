package watch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A tally is the format of these tests: lines "NAME COUNT". A line "bad" is one that cannot be merged, "mixed" one
// that never will; a file of these alone is refused, one with others partly. "poison" breaks the whole merge.
type tally map[string]int

func (t tally) add(text string) (lines int, err error) {
	if strings.Contains(text, "poison") {
		return 0, errors.New("poisoned")
	}
	for line := range strings.Lines(text) {
		var name string
		var n int
		switch line = strings.TrimSpace(line); {
		case line == "bad":
			err = fmt.Errorf("a bad line: %w", profile.ErrTruncated)
		case line == "mixed":
			err = fmt.Errorf("a mixed line: %w", profile.ErrMismatch)
		default:
			if _, e := fmt.Sscanf(line, "%s %d", &name, &n); e != nil {
				return lines, fmt.Errorf("%q: %w", line, profile.ErrCorrupt)
			}
			t[name] += n
			lines++
		}
	}
	return lines, err
}

func (t tally) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%s %d\n", name, t[name])
	}
	return b.String()
}

// mergeTallies is a Merge.
func mergeTallies(_ context.Context, base string, files []string) (*Sum, error) {
	t := tally{}
	if base != "" {
		data, err := os.ReadFile(base)
		if err == nil {
			_, err = t.add(string(data))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrOutput, err)
		}
	}
	sum := &Sum{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines, err := t.add(string(data))
		if lines == 0 && err != nil && strings.Contains(string(data), "poison") {
			return nil, err
		}
		sum.Files = append(sum.Files, Outcome{Profiles: lines, Err: err})
	}
	sum.Contents = fmt.Sprintf("%d names", len(t))
	if t["hidden"] > 0 { // the output has only the last digit of it
		whole := t.String()
		sum.State = func(w io.Writer) error {
			_, err := io.WriteString(w, whole)
			return err
		}
	}
	sum.Write = func(w io.Writer) error {
		seen := maps.Clone(t)
		if seen["hidden"] > 0 {
			seen["hidden"] %= 10
		}
		_, err := io.WriteString(w, seen.String())
		return err
	}
	return sum, nil
}

// A bench is a folder with profiles and what watches it.
type bench struct {
	t   *testing.T
	dir string
	opt Options

	mu     sync.Mutex
	events []Event
}

// newBench returns one whose runs end by themselves.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.opt = Options{
		Dir: filepath.Join(b.dir, "in"), Output: filepath.Join(b.dir, "out"),
		Merge: mergeTallies, Once: true, Report: b.report,
	}
	oracle.NoError(t, os.Mkdir(b.opt.Dir, 0o777))
	return b
}

func (b *bench) report(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := e.(Status); !ok {
		b.events = append(b.events, e)
	}
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.opt.Dir, name)
	oracle.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o777))
	oracle.WriteFile(b.t, path, []byte(text))
}

// run watches until it ends by itself.
func (b *bench) run() error {
	b.t.Helper()
	b.events = nil
	return Run(b.t.Context(), b.opt)
}

func (b *bench) mustRun() {
	b.t.Helper()
	oracle.NoError(b.t, b.run())
}

// start watches until stop is called.
func (b *bench) start() (stop func() error) {
	b.t.Helper()
	b.opt.Once, b.events = false, nil
	ctx, cancel := context.WithCancel(b.t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, b.opt) }()
	return func() error {
		cancel()
		return <-done
	}
}

// wantOut compares the output, "a 1, b 2".
func (b *bench) wantOut(want string) {
	b.t.Helper()
	if got := b.out(); got != want {
		b.t.Errorf("output is %q, want %q", got, want)
	}
}

func (b *bench) out() string {
	data, err := os.ReadFile(b.opt.Output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Error(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", ", ")
}

func (b *bench) wantFiles(dir, want string) {
	b.t.Helper()
	var names []string
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	if got := strings.Join(names, " "); got != want {
		b.t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func (b *bench) await(what string, ok func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("waited in vain for %s; output %q, events %+v", what, b.out(), b.told())
		}
	}
}

func (b *bench) awaitOut(want string) {
	b.t.Helper()
	b.await("output "+want, func() bool { return b.out() == want })
}

func (b *bench) told() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

func eventsOf[E Event](b *bench) (list []E) {
	for _, e := range b.told() {
		if e, ok := e.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

// journal reads the journal and checks that it is of this output.
func (b *bench) journal() *journal {
	b.t.Helper()
	j := oracle.Must(readJournal(journalOf(b.opt.Output)))(b.t)
	return j
}

// died is what a run that is to end at some point panics with.
type died struct{}

// runUntil runs until the step with this number, counted from 0, and reports whether it came to that.
func (b *bench) runUntil(step int) (point string, reached bool) {
	b.t.Helper()
	n := 0
	b.opt.step = func(p string) {
		if n++; n > step {
			point, reached = p, true
			panic(died{})
		}
	}
	defer func() {
		b.opt.step = nil
		if p := recover(); p != nil && p != (died{}) {
			panic(p)
		}
	}()
	b.mustRun()
	return "", false
}

func sumOf(t *testing.T, dir string) string {
	t.Helper()
	sum := tally{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			_, err = sum.add(string(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s := bufio.NewScanner(strings.NewReader(sum.String()))
	for s.Scan() {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.Text())
	}
	return b.String()
}
