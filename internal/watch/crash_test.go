package watch

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// crashes are the ways in which files are disposed of.
var crashes = []string{"keep", "delete", "archive"}

// disposeOf sets what is done with merged files, one of crashes.
func (b *bench) disposeOf(done string) {
	switch done {
	case "delete":
		b.opt.Delete = true
	case "archive":
		b.opt.Archive = filepath.Join(b.dir, "archive")
	}
}

// crashBench has four files; two of them are equal.
func crashBench(t *testing.T, done string) *bench {
	b := newBench(t)
	b.disposeOf(done)
	b.opt.Batch = 2
	b.put("1", "a 1")
	b.put("2", "b 10")
	b.put("sub/3", "a 100")
	b.put("sub/4", "a 100")
	return b
}

func checkCrashed(t *testing.T, b *bench, want, files string) {
	t.Helper()
	for range 2 {
		b.mustRun()
		b.wantOut(want)
		switch {
		case b.opt.Delete:
			b.wantFiles(b.opt.Dir, "")
		case b.opt.Archive == "":
			b.wantFiles(b.opt.Dir, files)
		default:
			b.wantFiles(b.opt.Dir, "")
			b.wantFiles(b.opt.Archive, files)
			if got := sumOf(t, b.opt.Archive); got != want {
				t.Errorf("the archive sums up to %q, want %q", got, want)
			}
		}
	}
	if j := b.journal(); !j.ended || len(j.adds) > 0 || (b.opt.Delete || b.opt.Archive != "") && len(j.has) > 0 {
		t.Errorf("journal %+v after the end", j)
	}
}

// TestDieAnywhere ends a run at every one of its steps, and the next one ends as it should.
func TestDieAnywhere(t *testing.T) {
	for _, done := range crashes {
		t.Run(done, func(t *testing.T) {
			points := make(map[string]bool)
			for step := 0; ; step++ {
				b := crashBench(t, done)
				point, reached := b.runUntil(step)
				if !reached {
					break
				}
				points[point] = true
				checkCrashed(t, b, "a 201, b 10", "1 2 sub/3 sub/4")
				if t.Failed() {
					t.Fatalf("died at step %d, %q", step, point)
				}
			}
			want := 5 // merged, written, announced, committed, disposed
			if done == "archive" {
				want++ // moved
			}
			if len(points) != want {
				t.Errorf("died at %v, want %d points", points, want)
			}
		})
	}
}

// TestDieAgain ends several runs in a row, while files land, some with the contents of one before, at its path.
func TestDieAgain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, done := range crashes {
		t.Run(done, func(t *testing.T) {
			for round := range 12 / oracle.Step(4) {
				b := crashBench(t, done)
				files := "1 2 sub/3 sub/4"
				a := 201
				for n := range 4 {
					step := rnd.IntN(12)
					b.runUntil(step)
					if n%2 == 0 {
						name := fmt.Sprint("sub/5", n)
						b.put(name, "a 100")
						files += " " + name
						a += 100
					}
				}
				checkCrashed(t, b, fmt.Sprintf("a %d, b 10", a), files)
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
		})
	}
}

// A program that is run again and again writes one file, often the same bytes: every time counts, also if a run before died.
func TestSamePathAndContents(t *testing.T) {
	for _, done := range crashes {
		t.Run(done, func(t *testing.T) {
			b := newBench(t)
			b.disposeOf(done)
			const runs = 5
			for i := range runs {
				b.put("default.profraw", "a 1")
				b.runUntil(3 + i%3) // after the output was written
				b.mustRun()
			}
			b.wantOut(fmt.Sprintf("a %d", runs))
			if done == "archive" {
				if got, want := sumOf(t, b.opt.Archive), fmt.Sprintf("a %d", runs); got != want {
					t.Errorf("the archive sums up to %q, want %q", got, want)
				}
			}
		})
	}
}

// A power failure may bring the old output back as long as its folder has not been synced; the journal knows both.
func TestOutputFallsBack(t *testing.T) {
	b := newBench(t)
	b.put("1", "a 1")
	b.mustRun()
	old := oracle.ReadFile(t, b.opt.Output)
	b.put("2", "a 10")
	if point, ok := b.runUntil(3); !ok || point != "committed" {
		t.Fatalf("died at %q", point)
	}
	b.wantOut("a 11")
	oracle.WriteFile(t, b.opt.Output, old)
	b.mustRun()
	b.wantOut("a 11")
	if s := eventsOf[Started](b); !s[0].Interrupted || s[0].Rolled != 1 || s[0].Known != 1 {
		t.Errorf("told %+v", s)
	}
}

// A run that died before there was an output is told from an output that somebody removed.
func TestDiedBeforeTheFirstOutput(t *testing.T) {
	b := newBench(t)
	b.put("1", "a 1")
	if point, ok := b.runUntil(2); !ok || point != "announced" {
		t.Fatalf("died at %q", point)
	}
	b.mustRun()
	b.wantOut("a 1")
	if s := eventsOf[Started](b)[0]; !s.Interrupted || s.Rolled != 1 || s.Restarted {
		t.Errorf("told %+v", s)
	}
}
