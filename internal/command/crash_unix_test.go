//go:build unix

package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// asProfuse returns a path under which the test binary is profuse.
func asProfuse(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "profuse")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestKilled ends commands that write at random moments: their output is then
// the old one or the new one, and a report or quarantine does no harm.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a hundred processes")
	}
	t.Parallel()
	profuse := asProfuse(t)
	dir := t.TempDir()
	root := oracle.Root(t)
	copies := func(from string, n int, ext string) (names []string) {
		for i := range n {
			names = append(names, filepath.Join(dir, fmt.Sprintf("%s-%d%s", filepath.Base(filepath.Dir(from)), i, ext)))
			copyTo(t, names[i], filepath.Join(root, "testdata", from))
		}
		return names
	}
	raw := copies("irpgo/rustc195/generate-run1.profraw", 60, ".profraw")
	mips := append([]string{filepath.Join(root, "testdata", "mip", "all.mip")}, copies("mip/all-1.mipraw", 60, ".mipraw")...)
	report, quarantine := filepath.Join(dir, "report.json"), filepath.Join(dir, "quarantine")
	tests := []struct {
		name string
		out  string
		args []string
	}{
		{"merge", "out.profdata", append([]string{"merge", "-q", "--report", report, "--quarantine", quarantine}, raw...)},
		{"text", "out.proftext", append([]string{"merge", "-q", "--format", "text"}, raw...)},
		{"salvage", "salvaged.profdata", append([]string{"salvage", "-q"}, raw...)},
		{"mip", "out.mip", append([]string{"merge", "-q"}, mips...)},
		{"export", "out.json", []string{"export", "--to", "json", raw[0]}},
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(dir, test.out)
			args := append(append([]string{}, test.args...), "-o", out)
			start := time.Now()
			if text, err := exec.Command(profuse, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			takes := time.Since(start)
			fresh := oracle.ReadFile(t, out)
			if len(fresh) == 0 {
				t.Fatal("no output")
			}
			old := []byte("what was there before")
			for range 20 / oracle.Step(4) {
				oracle.WriteFile(t, out, old)
				cmd := exec.Command(profuse, args...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(takes) + 1)))
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				got, err := os.ReadFile(out)
				if err != nil || !bytes.Equal(got, old) && !bytes.Equal(got, fresh) {
					t.Fatalf("killed: %d bytes, %v; before %d, finished %d", len(got), err, len(old), len(fresh))
				}
			}
			// A run that is not killed removes what the others left.
			if text, err := exec.Command(profuse, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if atomicfile.IsTemp(e.Name()) {
					t.Errorf("%s is left", e.Name())
				}
			}
		})
	}
}

// TestConcurrent lets many merges write one output: it is that of one of them.
func TestConcurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	profuse := asProfuse(t)
	dir := t.TempDir()
	fixtures := filepath.Join(oracle.Root(t), "testdata", "irpgo", "clang22")
	out := filepath.Join(dir, "out.profdata")
	var want [][]byte
	var inputs [][]string
	for _, runs := range [][]string{{"ir-run1"}, {"ir-run1", "ir-run2"}, {"ir-run1", "ir-run2", "ir-run3"}, {"host"}} {
		args := []string{"merge", "-q", "-o", out}
		for _, r := range runs {
			args = append(args, filepath.Join(fixtures, r+".profraw"))
		}
		if text, err := exec.Command(profuse, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		want, inputs = append(want, oracle.ReadFile(t, out)), append(inputs, args)
	}
	for range 5 {
		var running []*exec.Cmd
		for _, args := range append(inputs, inputs...) {
			cmd := exec.Command(profuse, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
		}
		for _, cmd := range running {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		if got := oracle.ReadFile(t, out); !slices.ContainsFunc(want, func(w []byte) bool { return bytes.Equal(got, w) }) {
			t.Errorf("%d bytes, which none of the merges wrote", len(got))
		}
	}
}
