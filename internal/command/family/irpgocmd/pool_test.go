package irpgocmd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestPool: while processes of two programs with equal functions and sizes write profiles, some of them
// forked, the pool adds the profiles up, and each program keeps all its counts.
func TestPool(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		source := "#include <unistd.h>\n#include <sys/wait.h>\nint core(int x) { return x > 2 ? 1 : 2; }\n" +
			"int main(void) { int child = fork(); core(child ? 1 : 5); if (child) wait(0); return \"one two\"[0] == '" + name[:1] + "' && 0; }\n"
		oracle.WriteFile(t, filepath.Join(dir, name+".c"), []byte(source))
		if _, stderr, code := oracle.Run(t, clang, "-fprofile-instr-generate", "-fcoverage-mapping", "-Wl,--build-id",
			filepath.Join(dir, name+".c"), "-o", filepath.Join(dir, name)); code != 0 {
			t.Fatal(stderr)
		}
	}
	folder := t.TempDir()
	p := NewPool(folder)
	p.maxFiles, p.every = 3, time.Millisecond
	const runs = 30
	err := p.Run(context.Background(), func() error {
		var all sync.WaitGroup
		for _, name := range []string{"one", "two"} {
			all.Go(func() {
				for range runs {
					cmd := exec.Command(filepath.Join(dir, name))
					cmd.Env = append(os.Environ(), p.Environment())
					if err := cmd.Run(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	counts, sums := make(map[string]uint64), 0 // of core, by build id
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), rawSuffix) {
			sums++
		}
		path := filepath.Join(folder, e.Name())
		p, err := irpgo.Read(path, oracle.ReadFile(t, path), irpgo.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.BinaryIDs) != 1 {
			t.Fatalf("%s has %d build ids", path, len(p.BinaryIDs))
		}
		for _, f := range p.Functions {
			if f.Name == "core" {
				counts[string(p.BinaryIDs[0])] += f.Records[0].Counts[0]
			}
		}
	}
	if sums == 0 || len(counts) != 2 {
		t.Errorf("%d sums of %d programs in %d files", sums, len(counts), len(entries))
	}
	for id, n := range counts {
		if n != 2*runs {
			t.Errorf("program %x: %d calls, want %d", id, n, 2*runs)
		}
	}
}

// TestPoolKeepsUnreadable: a profile that is cut stays as it is, and makes no sum of nothing.
func TestPoolKeepsUnreadable(t *testing.T) {
	data := oracle.ReadFile(t, "../../../../testdata/irpgo/clang22/ir-run1.profraw")
	p := NewPool(t.TempDir())
	name := "1-2_0" + rawSuffix
	path := filepath.Join(p.folder, name)
	for _, n := range []int{1, 100, len(data) / 2, len(data) - 8} {
		oracle.WriteFile(t, path, data[:n])
		p.reduce([]string{name})
		if got := oracle.ReadFile(t, path); len(got) != n {
			t.Errorf("%d bytes of %d are left", len(got), n)
		}
		entries, err := os.ReadDir(p.folder)
		if err != nil || len(entries) != 1 {
			t.Errorf("%d bytes: files %v, %v", n, entries, err)
		}
	}
}
