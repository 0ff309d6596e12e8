package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// sameFiles compares two files.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	x, errA := os.ReadFile(a)
	y, errB := os.ReadFile(b)
	if errA != nil || errB != nil || !bytes.Equal(x, y) {
		t.Errorf("%s and %s differ (%v, %v)", a, b, errA, errB)
	}
}

// TestIprofSamples takes recordings of real programs through the commands.
func TestIprofSamples(t *testing.T) {
	samples := filepath.Join(oracle.Samples(t), "iprof")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"tiny", "streamtdi-0.4.0", "binary-tree-0.2.0"} {
		if name != "tiny" && !oracle.Everything() { // megabytes
			break
		}
		sample := filepath.Join(samples, name+".iprof")
		if out := profuseOutput(t, "check", sample); !strings.Contains(out, ": ok: iprof profile version ") || strings.Contains(out, "warning") {
			t.Errorf("check: %s", out)
		}
		profuseOutput(t, "iprof", "prune", "-q", "--keep-unused", "-o", file("same.iprof"), sample)
		if name != "binary-tree-0.2.0" { // cannot be written in its version
			sameFiles(t, file("same.iprof"), sample)
		} else if out := profuseOutput(t, "check", file("same.iprof")); !strings.Contains(out, "version 1.0.0, records: 21941") {
			t.Errorf("%s rewritten: %s", name, out)
		}
		profuseOutput(t, "merge", "-q", "-o", file("twice.iprof"), sample, sample)
		profuseOutput(t, "merge", "-q", "-o", file("double.iprof"), "--weighted-input", "2,"+sample)
		sameFiles(t, file("twice.iprof"), file("double.iprof"))
		if out := profuseOutput(t, "show", sample); !strings.Contains(out, "Hottest methods") {
			t.Errorf("show: %s", out)
		}
		if out := profuseOutput(t, "compare", "--table", "calls", sample, file("twice.iprof")); !strings.Contains(out, "100.00 % of the weight") ||
			!strings.Contains(out, "2.00 times") {
			t.Errorf("compare: %s", out)
		}
		if out := profuseOutput(t, "export", "--to", "folded", "--table", "calls", sample); strings.Count(out, "\n") < 40 {
			t.Errorf("export: %s", out)
		}
	}

	var out, diag bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diag, Getenv: os.Getenv}
	code := run(context.Background(), env, []string{"profuse", "check", filepath.Join(samples, "elidemin-jspy-1.0.0-unresolved.iprof")})
	const sentence = "the recording was not resolved: instead of names there is a placeholder, so nothing says which methods its 12285 entries " +
		"are about; it cannot be used, and has to be recorded again\n"
	if code != 1 || !strings.Contains(out.String(), sentence) {
		t.Errorf("exit code %d: %s%s", code, out.String(), diag.String())
	}

	// The generator makes pairs of which one has other ids, another order and its counts times three.
	generate := filepath.Join(samples, "generate.py")
	python := oracle.Tool(t, "python3")
	for _, more := range [][]string{nil, {"--version", "1.1.0"}} {
		a := append([]string{generate, "--preset", "tiny", "-o", file("a.iprof")}, more...)
		b := append([]string{generate, "--preset", "tiny", "--shuffle", "7", "--weight", "3", "-o", file("b.iprof")}, more...)
		for _, args := range [][]string{a, b} {
			if _, stderr, code := oracle.Run(t, python, args...); code != 0 {
				t.Fatalf("%q: %s", args, stderr)
			}
		}
		profuseOutput(t, "merge", "-q", "-o", file("sum.iprof"), file("a.iprof"), file("b.iprof"))
		profuseOutput(t, "merge", "-q", "-o", file("four.iprof"), "--weighted-input", "4,"+file("a.iprof"))
		sameFiles(t, file("sum.iprof"), file("four.iprof"))
	}
}
