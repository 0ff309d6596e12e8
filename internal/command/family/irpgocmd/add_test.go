package irpgocmd

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// mixedInputs lays out every fixture: as it is, compressed, and in archives between the files.
func mixedInputs(t *testing.T) []inputs.Input {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		oracle.WriteFile(t, filepath.Join(dir, name), data)
	}
	fixtures := oracle.Fixtures(t)
	for i, f := range fixtures {
		name := fmt.Sprintf("%03d-%s", i, strings.ReplaceAll(f.Path, "/", "-"))
		switch i % 3 {
		case 0:
			write(name, f.Bytes(t))
		case 1:
			write(name, gzipped(t, f.Bytes(t)))
		case 2:
			members := fixtures[max(0, i-5):i]
			write(name, tarred(t, members))
		}
	}
	write("999-empty.tar", tarred(t, nil))
	ins, err := inputs.Expand([]string{dir}, inputs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ins
}

func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, members []oracle.Fixture) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		data := m.Bytes(t)
		if err := w.WriteHeader(&tar.Header{Name: m.Path, Mode: 0o644, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		w.Write(data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func testJob(ins []inputs.Input, workers int) *job {
	return newJob(&merging.Job{Options: &merging.Options{Workers: workers}, Inputs: ins})
}

// addUp is adder.addUp without the programs that options name.
func addUp(ctx context.Context, c *adder, j *job) (*irpgo.Merged, error) {
	c.heapReader, c.correlations = memprofcmd.NewReader(&symbolize.Programs{}), &correlations{programs: &symbolize.Programs{}}
	merger, err := c.addUp(ctx, j)
	if err != nil {
		return nil, err
	}
	return merger.Finish(), nil
}

// The file and everything that is said about it are the same for any number of workers.
func TestMergeWorkers(t *testing.T) {
	ins := mixedInputs(t)
	for _, mixed := range []bool{false, true} {
		var want []byte
		var wantText string
		for _, workers := range []int{1, 2, 3, 8, 32} {
			for range 3 / oracle.Step(3) {
				j := testJob(ins, workers)
				m, err := addUp(t.Context(), &adder{mixed: mixed}, j)
				if err != nil {
					t.Fatal(err)
				}
				data, err := oracle.Written(func(w io.Writer) error { return m.WriteIndexed(w, irpgo.IndexedOptions{}) })
				if err != nil {
					t.Fatal(err)
				}
				text := messages(j, m)
				if want == nil {
					want, wantText = data, text
					t.Logf("mixed %v: %s", mixed, merging.InputsLine(j.Accounts.Loss()))
					continue
				}
				if !bytes.Equal(data, want) {
					t.Errorf("mixed %v, %d workers: another file", mixed, workers)
				}
				if text != wantText {
					t.Errorf("mixed %v, %d workers: other messages\n%s\nwant\n%s", mixed, workers, text, wantText)
				}
			}
		}
	}
}

func messages(j *job, m *irpgo.Merged) string {
	var b strings.Builder
	j.PrintLeftOut(&b, j.Accounts.Loss())
	j.PrintWarnings(&b)
	b.WriteString(merging.InputsLine(j.Accounts.Loss()) + "\n")
	version, reason := m.ChooseVersion(j.kinds())
	fmt.Fprintf(&b, "%d: %s\n", version, reason)
	return b.String()
}

// A file that is cut short while its records are being added has left a part of itself in the sum: then there must be
// no result, whatever the failure mode.
func TestMergeFileCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.profdata")
	large := &irpgo.Profile{Variant: irpgo.IRLevel}
	for i := range 64 {
		counts := make([]uint64, 8<<10)
		counts[i] = 1
		name := fmt.Sprintf("function%02d", i)
		large.Functions = append(large.Functions, irpgo.Function{
			Name: name, Records: []*irpgo.Record{{Name: name, Hash: 1, Counts: counts}},
		})
	}
	data, err := oracle.Written(func(w io.Writer) error { return irpgo.WriteIndexed(w, large, irpgo.IndexedOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	oracle.WriteFile(t, path, data)
	old := time.Now().Add(-time.Hour) // a new file is copied instead of mapped
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	cut := false
	c := &adder{rename: func(name string) string {
		if !cut {
			cut = true
			if err := os.Truncate(path, 100); err != nil {
				t.Error(err)
			}
		}
		return name
	}}
	_, err = addUp(t.Context(), c, testJob([]inputs.Input{inputs.File(path, inputs.Options{})}, 1))
	if err == nil {
		t.Skip("files are not mapped here")
	}
	if !errors.Is(err, profile.ErrTruncated) || !strings.Contains(err.Error(), "part of it is in the sum already") {
		t.Errorf("%v", err)
	}
}

// A cancelled merge ends although an input never comes.
func TestMergeCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ins, err := inputs.Expand([]string{"-"}, inputs.Options{Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		w.Write([]byte("half a profile")) // the worker is reading now
		cancel()
	}()
	_, err = addUp(ctx, new(adder), testJob(ins, 4))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
