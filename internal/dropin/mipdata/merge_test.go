package mipdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixture returns the path of a file of testdata/mip.
func fixture(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(oracle.Root(t), "testdata", "mip", name)
}

// run runs Main and fails the test unless it ends well. It returns what it printed.
func run(t testing.TB, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := Main(args, Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Prog: "llvm-mipdata"})
	if code != 0 {
		t.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, &errs)
	}
	return out.String(), errs.String()
}

func readMIP(t testing.TB, path string) *mip.Profile {
	t.Helper()
	p, err := mip.Read(path, oracle.ReadFile(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func writeMIP(t testing.TB, path string, p *mip.Profile) {
	t.Helper()
	data, err := oracle.Written(func(w io.Writer) error { return mip.WriteMIP(w, p, mip.WriteOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	oracle.WriteFile(t, path, data)
}

// TestMergeConcurrently merges into one profile from several sides at once: no merge may be lost.
func TestMergeConcurrently(t *testing.T) {
	dir := t.TempDir()
	profile := filepath.Join(dir, "all.mip")
	run(t, "create", "-p", profile, fixture(t, "all.mipmap"))
	const sides, rounds = 4, 10
	var wg sync.WaitGroup
	for range sides {
		wg.Go(func() {
			for range rounds {
				run(t, "merge", "-p", profile, fixture(t, "all-1.mipraw"))
			}
		})
	}
	wg.Wait()
	for _, f := range readMIP(t, profile).Functions {
		if f.Name == "main" && (f.MergeCount != sides*rounds || f.CallCount != sides*rounds) {
			t.Errorf("%d merges, %d calls of main, want %d", f.MergeCount, f.CallCount, sides*rounds)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestMergeMany: the result and the messages do not depend on how inputs are shared out among workers.
func TestMergeMany(t *testing.T) {
	dir := t.TempDir()
	var raw []string
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("%03d.mipraw", i))
		data := oracle.ReadFile(t, fixture(t, []string{"all-1.mipraw", "all-2.mipraw", "counts-1.mipraw"}[i%3]))
		if i%10 == 0 {
			data = append(data, make([]byte, 100)...) // looks like another build's
		}
		oracle.WriteFile(t, name, data)
		raw = append(raw, name)
	}
	profile := filepath.Join(dir, "p")
	run(t, "create", "-p", profile, fixture(t, "all.mipmap"))
	_, stderr := run(t, append([]string{"merge", "-p", profile}, raw...)...)

	var files []string // of the warnings, in order
	for line := range strings.Lines(stderr) {
		if rest, ok := strings.CutPrefix(line, "warning: "); ok {
			file, _, _ := strings.Cut(rest, ": ")
			files = append(files, file)
		}
	}
	if !slices.IsSorted(files) || len(files) != 100+20 {
		t.Errorf("%d warnings, sorted %v", len(files), slices.IsSorted(files))
	}
	if !strings.HasSuffix(stderr, "remark: Merged 200 raw profiles into "+profile+"\n") {
		t.Errorf("at the end: %s", stderr[max(0, len(stderr)-200):])
	}
	single := filepath.Join(dir, "single")
	run(t, "create", "-p", single, fixture(t, "all.mipmap"))
	for chunk := range slices.Chunk(raw, minPerWorker-1) { // too few for a second worker
		run(t, append([]string{"merge", "-p", single}, chunk...)...)
	}
	if x, y := oracle.ReadFile(t, profile), oracle.ReadFile(t, single); !bytes.Equal(x, y) {
		t.Error("the result depends on the number of workers")
	}
}

// TestStrictStopsAtFirst: of several bad inputs the first is the one reported.
func TestStrictStopsAtFirst(t *testing.T) {
	args := make([]string, 64)
	for i := range args {
		name := "all-1.mipraw"
		if i >= 20 {
			name = "counts-1.mipraw"
		}
		args[i] = fixture(t, name)
	}
	for range 20 {
		m, err := mip.NewMerger(readMIP(t, fixture(t, "all.mip")), mip.MergeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		results, err := mergeAll(m, args, Env{}.Inputs())
		if err != nil {
			t.Fatal(err)
		}
		first := slices.IndexFunc(results, func(r rawResult) bool { return r.err != nil })
		if first != 20 {
			t.Fatalf("the first failure is number %d, want 20", first)
		}
	}
}

// TestMergeCutShort cuts a raw profile short while it is being merged: all of it has been
// read by then, and all of it is in the sum.
func TestMergeCutShort(t *testing.T) {
	const functions = 1 << 20
	base := &mip.Profile{Type: mip.FunctionTimestamp | mip.FunctionCallCount, ModuleHash: 1}
	for i := range functions {
		base.Functions = append(base.Functions, mip.Function{Name: "f", RawOffset: uint64(32 + 8*i)})
	}
	raw := []byte("\xfbMIP\x08\x00\x11\x00") // a raw profile of version 8 for 64 bits
	raw = binary.LittleEndian.AppendUint32(raw, uint32(base.Type))
	raw = binary.LittleEndian.AppendUint32(raw, base.ModuleHash)
	raw = append(raw, make([]byte, 12)...)
	raw = binary.LittleEndian.AppendUint32(raw, 32)                   // the records begin here
	raw = append(raw, bytes.Repeat([]byte{0xff}, 8*(functions-1))...) // none was called
	raw = append(raw, 7, 0, 0, 0, 2, 0, 0, 0)                         // but the last
	name := filepath.Join(t.TempDir(), "raw")
	oracle.WriteFile(t, name, append(raw, make([]byte, 64)...))
	// The surplus bytes cause a warning before the records are read.
	cut := errors.New("no warning")
	m, err := mip.NewMerger(base, mip.MergeOptions{Warn: func(w profile.Warning) {
		if w.File == name {
			cut = os.Truncate(name, 4096)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() < 8<<20 {
		t.Fatal(info, err)
	}
	results, err := mergeAll(m, []string{name}, Env{}.Inputs())
	if err != nil || len(results) != 1 || results[0].err != nil || cut != nil {
		t.Errorf("%+v, %v, %v", results, err, cut)
	}
	if last := m.Profile().Functions[functions-1]; last.MergeCount != 1 {
		t.Errorf("the last function is %+v, as if it had not run", last)
	}
}
