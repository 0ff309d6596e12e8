package memprof_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var profiledSize = regexp.MustCompile(`total profiled size (\d+)`)

// TestClangMatchesTheSameContexts: compilers match the contexts of a raw profile that went through this package as
// they do with llvm-profdata's. Only the sizes differ where calls of a context are at several addresses, as in an
// unrolled loop: llvm-profdata leaves them apart, and of those compilers take the largest instead of their sum.
func TestClangMatchesTheSameContexts(t *testing.T) {
	dir := filepath.Join(oracle.Root(t), "testdata", "memprof", "raw")
	for _, c := range []struct {
		name    string
		llvm    int
		version int
	}{
		{"clang19-pie", 19, 3}, {"clang22-pie", 22, 3}, {"clang22-pie", 22, 4}, {"clang22-dumps", 22, 2},
	} {
		t.Run(fmt.Sprintf("%s/v%d", c.name, c.version), func(t *testing.T) {
			if c.version != 4 {
				oracle.Slow(t)
			}
			t.Parallel()
			clang := oracle.Tool(t, fmt.Sprintf("clang++-%d", c.llvm))
			raw, program := filepath.Join(dir, c.name+".memprofraw"), filepath.Join(dir, c.name+".debug")
			work := t.TempDir()
			ours, theirs := filepath.Join(work, "ours"), filepath.Join(work, "theirs")
			oracle.WriteFile(t, ours, indexedOf(t, raw, program, c.version))
			_, stderr, code := oracle.Run(t, oracle.LLVM(t, c.llvm), "merge", "--profiled-binary="+program,
				fmt.Sprintf("--memprof-version=%d", c.version), raw, "-o", theirs)
			if code != 0 {
				t.Fatal(stderr)
			}
			compile := func(profile string) map[string]int {
				stdout, stderr, code := oracle.RunIn(t, work, clang, "-c", "-g", "-O2", "-fdebug-info-for-profiling",
					"-fmemory-profile-use="+profile, "-mllvm", "-memprof-print-match-info",
					"-mllvm", "-memprof-ave-lifetime-cold-threshold=0",
					"-mllvm", "-memprof-lifetime-access-density-cold-threshold=1000000", "-fno-exceptions",
					filepath.Join(dir, "src", "main.cpp"), filepath.Join(dir, "src", "list.cpp"))
				if code != 0 {
					t.Fatal(stderr)
				}
				sizes := make(map[string]int)
				for line := range strings.Lines(stdout + stderr) {
					if !strings.HasPrefix(line, "MemProf") {
						continue
					}
					size := 0
					if m := profiledSize.FindStringSubmatch(line); m != nil {
						size, _ = strconv.Atoi(m[1])
					}
					sizes[profiledSize.ReplaceAllString(line, "")] = size
				}
				return sizes
			}
			got, want := compile(ours), compile(theirs)
			if len(want) < 8 {
				t.Errorf("clang matches only %v", want)
			}
			larger := 0
			for line, size := range want {
				if got[line] > size {
					larger++
				}
				if _, ok := got[line]; !ok || got[line] < size {
					t.Errorf("%sis missing or too small: %d, want at least %d", line, got[line], size)
				}
			}
			if len(got) != len(want) || larger != 1 {
				t.Errorf("%d matches, want %d; %d sizes are larger, want 1, of the unrolled loop", len(got), len(want), larger)
			}
		})
	}
}

// TestClangMatchesLineTables: compilers find the contexts of a program that had line tables only, but the calls in inlined
// functions. Of what llvm-profdata makes of the same files they find nothing.
func TestClangMatchesLineTables(t *testing.T) {
	dir := filepath.Join(oracle.Root(t), "testdata", "memprof", "lost")
	clang, work := oracle.Tool(t, "clang++-22"), t.TempDir()
	matches := func(profile string) (n int) {
		_, stderr, code := oracle.RunIn(t, work, clang, "-c", "-g", "-O1", "-fmemory-profile-use="+profile,
			"-mllvm", "-memprof-print-match-info", filepath.Join(dir, "src", "place.cpp"), filepath.Join(dir, "src", "step.cpp"))
		if code != 0 {
			t.Fatal(stderr)
		}
		return strings.Count(stderr, "MemProf callsite match")
	}
	for name, want := range map[string][2]int{"full": {5, 5}, "lines": {5, 0}, "lines-profiling": {5, 5}} {
		path := filepath.Join(dir, name)
		ours := filepath.Join(work, name)
		oracle.WriteFile(t, ours, indexedOf(t, path+".memprofraw", path+".debug", 3))
		if got := [2]int{matches(ours), matches(path + ".profdata")}; got != want {
			t.Errorf("%s: %d matches of profuse's, %d of llvm-profdata's; want %v", name, got[0], got[1], want)
		}
	}
}

// indexedOf makes an indexed profile of a raw one, by the exact rules.
func indexedOf(t *testing.T, file, program string, version int) []byte {
	t.Helper()
	data := oracle.ReadFile(t, file)
	raw, err := memprof.ReadRaw(file, data, memprof.RawOptions{})
	oracle.NoError(t, err)
	binaries, err := symbolize.OpenPrograms([]string{program}, symbolize.Options{})
	oracle.NoError(t, err)
	defer binaries.Close()
	p, _, err := raw.Symbolize(memprof.NewBinaries(binaries), memprof.SymbolizeOptions{})
	oracle.NoError(t, err)
	m := irpgo.NewMerger(irpgo.MergeOptions{})
	oracle.NoError(t, m.AddMemProf(file, p, 1))
	out, err := oracle.Written(func(w io.Writer) error {
		return irpgo.WriteIndexed(w, m.Finish().Profile(), irpgo.IndexedOptions{Version: 12, MemProf: memprof.WriteOptions{Version: version}})
	})
	oracle.NoError(t, err)
	return bytes.Clone(out)
}
