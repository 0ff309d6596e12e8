package watch

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// hiddenBench has an output that holds only the last digit of the sum.
func hiddenBench(t *testing.T) *bench {
	b := newBench(t)
	b.opt.Batch = 1
	b.opt.Output = filepath.Join(b.opt.Dir, "out")
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		b.put(name, "hidden 7\n")
	}
	return b
}

func (b *bench) states() (names []string) {
	b.t.Helper()
	entries := oracle.Must(os.ReadDir(filepath.Dir(b.opt.Output)))(b.t)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "out.watch.") {
			names = append(names, e.Name())
		}
	}
	return names
}

// wantHidden compares the output and the state with a sum.
func (b *bench) wantHidden(out, whole string) {
	b.t.Helper()
	b.wantOut(out)
	states := b.states()
	if len(states) != 1 {
		b.t.Fatalf("states %q, want one", states)
	}
	state := oracle.ReadFile(b.t, filepath.Join(filepath.Dir(b.opt.Output), states[0]))
	if string(state) != whole {
		b.t.Errorf("state %q, want %q", state, whole)
	}
}

// TestState: sums go on from the state, not from the output, even if two outputs have the same bytes, and other state files go.
func TestState(t *testing.T) {
	b := hiddenBench(t)
	b.mustRun()
	b.wantHidden("hidden 5", "hidden 35\n")
	for i := range 10 { // 35, 42, …: the last digit comes again after ten files
		b.put("more"+string(rune('0'+i)), "hidden 7\n")
	}
	b.opt.Batch = 10
	b.mustRun()
	b.wantHidden("hidden 5", "hidden 105\n")
	// Without its state the output is all there is.
	oracle.NoError(t, os.Remove(filepath.Join(filepath.Dir(b.opt.Output), b.states()[0])))
	b.put("last", "hidden 6\n")
	b.mustRun()
	b.wantHidden("hidden 1", "hidden 11\n")
}

// TestStateDieAnywhere ends runs at their steps: every file counts once.
func TestStateDieAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for step := 0; ; step++ {
		b := hiddenBench(t)
		_, reached := b.runUntil(step)
		if reached {
			b.runUntil(rng.IntN(8))
		}
		b.mustRun()
		b.wantHidden("hidden 5", "hidden 35\n")
		if t.Failed() {
			t.Fatalf("died at step %d", step)
		}
		if !reached {
			break
		}
	}
}
