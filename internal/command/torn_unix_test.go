//go:build linux || darwin

package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestRacingProgram merges the files of a pool ("%m") while programs end and add to
// them: the counts are those of some number of runs, in all functions alike.
func TestRacingProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	clang := oracle.Tool(t, "clang-22", "/usr/lib/llvm-22/bin/clang", "clang")
	profuse := asProfuse(t)
	dir := t.TempDir()
	pool := filepath.Join(dir, "pool")
	var source strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&source, "void f%d(void) {}\n", i)
	}
	source.WriteString("int main(void) {\n")
	for i := range 4000 {
		fmt.Fprintf(&source, "f%d();\n", i)
	}
	source.WriteString("}\n")
	program := filepath.Join(dir, "program")
	oracle.WriteFile(t, program+".c", []byte(source.String()))
	if _, stderr, code := oracle.Run(t, clang, "-fprofile-instr-generate", "-o", program, program+".c"); code != 0 {
		t.Skip(oracle.Missing + "the profile runtime of clang: " + stderr)
	}
	once := func() error {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+filepath.Join(pool, "%2m.profraw"))
		text, err := cmd.CombinedOutput()
		if err == nil && len(text) > 0 {
			err = fmt.Errorf("%s", text)
		}
		return err
	}
	oracle.NoError(t, once())
	done := make(chan struct{})
	var programs sync.WaitGroup
	defer programs.Wait()
	defer close(done)
	for range 3 {
		programs.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := once(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	merged, refused, last := 0, 0, uint64(0)
	for range 40 / oracle.Step(4) {
		out := filepath.Join(dir, "out.profdata")
		os.Remove(out)
		text, err := exec.Command(profuse, "merge", "-q", "-o", out, pool).CombinedOutput()
		if err != nil {
			if !bytes.Contains(text, []byte("changed while it was read")) {
				t.Fatalf("%v: %s", err, text)
			}
			refused++
			continue
		}
		merged++
		data := oracle.ReadFile(t, out)
		p := oracle.Must(irpgo.Read(out, data, irpgo.ReaderOptions{}))(t)
		runs := p.Functions[0].Records[0].Counts[0]
		for _, f := range p.Functions {
			if n := f.Records[0].Counts[0]; n != runs {
				t.Fatalf("after %d merges: %s ran %d times, %s %d times", merged, p.Functions[0].Name, runs, f.Name, n)
			}
		}
		if runs < last {
			t.Errorf("%d runs, before there were %d", runs, last)
		}
		last = runs
	}
	t.Logf("%d merges, %d refused, the last one of %d runs", merged, refused, last)
	if merged == 0 {
		t.Error("never merged")
	}
}
