package irpgo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// heapProgram allocates in contexts that differ by caller, depth and lifetime.
const heapProgram = `#include <cstring>
#include <new>
struct Node { Node *next; char data[24]; };
static Node *kept;
__attribute__((noinline)) char *leaf(unsigned n) { return new char[n]; }
static inline char *mid(unsigned n) { char *p = leaf(n + 1); memset(p, 1, n); return p; }
__attribute__((noinline)) void push() { Node *n = new Node; n->next = kept; kept = n; }
__attribute__((noinline)) long busy(int k) {
  char *p = mid(k);
  long s = 0;
  for (int j = 0; j < 50; j++) for (int i = 0; i < k; i++) s += p[i];
  delete[] p;
  return s;
}
__attribute__((noinline)) long idle(int k) { char *p = mid(k); return p[0]; }
__attribute__((noinline)) long deep(int k) { return k ? deep(k - 1) + 1 : busy(3); }
int main(int argc, char **) {
  long s = 0;
  for (int i = 0; i < 100; i++) { s += busy(i + 1); if (i % 9 == 0) push(); }
  for (int i = 0; i < 3; i++) s += idle(500) + deep(i + argc);
  return s == 42;
}
`

// heapRun is what one release makes of heapProgram.
type heapRun struct {
	dir     string // has t.cpp and program
	release int
	raw     []byte // its heap profile
	counts  []byte // its counters
}

func runHeapProgram(t *testing.T, release int) heapRun {
	t.Helper()
	clang := oracle.Tool(t, fmt.Sprint("clang++-", release))
	h := heapRun{dir: t.TempDir(), release: release}
	oracle.WriteFile(t, filepath.Join(h.dir, "t.cpp"), []byte(heapProgram))
	compile := func(args ...string) {
		t.Helper()
		if _, stderr, code := oracle.RunIn(t, h.dir, clang, append([]string{"t.cpp", "-O2", "-fno-exceptions"}, args...)...); code != 0 {
			t.Fatalf("clang++ %v: %s", args, stderr)
		}
	}
	compile("-o", "program", "-fmemory-profile", "-gmlt", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
		"-fno-optimize-sibling-calls", "-fdebug-info-for-profiling", "-Wl,--build-id")
	compile("-o", "counting", "-fprofile-generate")
	env := oracle.Tool(t, "env")
	for _, args := range [][]string{{"MEMPROF_OPTIONS=log_path=heap", "./program"}, {"LLVM_PROFILE_FILE=counts", "./counting"}} {
		if _, stderr, code := oracle.RunIn(t, h.dir, env, args...); code != 0 {
			t.Fatalf("%v: %s", args, stderr)
		}
	}
	found, err := filepath.Glob(filepath.Join(h.dir, "heap.*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("heap profiles: %v %v", found, err)
	}
	must(t, os.Rename(found[0], filepath.Join(h.dir, "heap")))
	h.raw, h.counts = h.file(t, "heap"), h.file(t, "counts")
	return h
}

func (h heapRun) file(t *testing.T, name string) []byte {
	t.Helper()
	b := oracle.ReadFile(t, filepath.Join(h.dir, name))
	return b
}

func (h heapRun) symbolize(t *testing.T, compat bool) *memprof.Profile {
	t.Helper()
	raw, err := memprof.ReadRaw("heap", h.raw, memprof.RawOptions{LLVMCompat: compat})
	must(t, err)
	programs, err := symbolize.OpenPrograms([]string{filepath.Join(h.dir, "program")}, symbolize.Options{})
	must(t, err)
	defer programs.Close()
	p, _, err := raw.Symbolize(memprof.NewBinaries(programs), memprof.SymbolizeOptions{LLVMCompat: compat})
	must(t, err)
	return p
}

// merged is the counters and heap profiles in one profile.
func (h heapRun) merged(t *testing.T, heaps ...*memprof.Profile) *Profile {
	t.Helper()
	m := NewMerger(MergeOptions{})
	addTo(t, m, openReader(t, "counts", h.counts, ReaderOptions{}), 1)
	for _, p := range heaps {
		must(t, m.AddMemProf("heap", p, 1))
	}
	return m.Finish().Profile()
}

func indexedFile(t *testing.T, p *Profile, opt IndexedOptions) []byte {
	t.Helper()
	b := indexedBytes(t, p, opt)
	return b
}

// use compiles with a profile, for both of its parts, and returns what the
// compiler says about matches, in order, and the code.
func (h heapRun) use(t *testing.T, file []byte) (said []string, code string) {
	t.Helper()
	oracle.WriteFile(t, filepath.Join(h.dir, "use.profdata"), file)
	args := []string{
		"t.cpp", "-O2", "-gmlt", "-fdebug-info-for-profiling", "-fno-exceptions", "-S", "-emit-llvm", "-o", "-", "-Wall",
		"-fprofile-use=use.profdata", "-fmemory-profile-use=use.profdata", "-mllvm", "-memprof-print-match-info",
		"-mllvm", "-memprof-ave-lifetime-cold-threshold=0", "-mllvm", "-memprof-lifetime-access-density-cold-threshold=20000",
	}
	if h.release >= 22 {
		args = append(args, "-Rpass=memprof", "-mllvm", "-memprof-print-matched-alloc-stack")
	}
	stdout, stderr, exit := oracle.RunIn(t, h.dir, oracle.Tool(t, fmt.Sprint("clang++-", h.release)), args...)
	if exit != 0 || strings.Contains(stderr, "warning:") {
		t.Fatalf("clang++ exits %d: %s", exit, stderr)
	}
	said = strings.Split(strings.TrimSpace(stderr), "\n")
	slices.Sort(said)
	return said, stdout
}

var contextID = regexp.MustCompile(`MemProf (\S+) context with id (\d+) has`)

// contextsIn returns the ids of the contexts that were matched.
func contextsIn(t *testing.T, said []string) (ids []uint64, kinds map[string]bool) {
	t.Helper()
	kinds = make(map[string]bool)
	for _, m := range contextID.FindAllStringSubmatch(strings.Join(said, "\n"), -1) {
		id, err := strconv.ParseUint(m[2], 10, 64)
		must(t, err)
		ids = append(ids, id)
		kinds[m[1]] = true
	}
	slices.Sort(ids)
	return slices.Compact(ids), kinds
}

// TestCombinedProfile: counters and heap profile in one file, which compilers use for both, as they use LLVM's.
func TestCombinedProfile(t *testing.T) {
	for _, release := range []int{19, 22} {
		t.Run(fmt.Sprint("clang", release), func(t *testing.T) {
			if release != 22 {
				oracle.Slow(t)
			}
			h := runHeapProgram(t, release)
			tool := oracle.LLVM(t, release)
			version := map[int]uint32{19: 12, 22: 13}[release]
			sections := map[int][]int{19: {-1, 1, 2, 3}, 22: {2, 3, 4}}[release]
			like := h.merged(t, h.symbolize(t, true))
			own := h.merged(t, h.symbolize(t, false))
			twice := h.merged(t, h.symbolize(t, false), h.symbolize(t, true))
			for _, section := range sections {
				t.Run(fmt.Sprint("section", max(section, 0)), func(t *testing.T) {
					if section != 4 {
						oracle.Slow(t)
					}
					_, stderr, exit := oracle.RunIn(t, h.dir, tool, "merge", fmt.Sprint("--memprof-version=", max(section, 0)),
						"--profiled-binary=program", "heap", "counts", "-o", "llvm.profdata")
					if exit != 0 {
						t.Fatalf("llvm-profdata: %s", stderr)
					}
					want := h.file(t, "llvm.profdata")
					got := indexedFile(t, like, IndexedOptions{
						Version: version, LLVMRelease: release, MemProf: memprof.WriteOptions{Version: section},
					})
					if (section >= 3 || release > 19) && !bytes.Equal(got, want) { // LLVM 19 has the frames of tables in no order
						t.Errorf("files of %d and %d bytes differ at byte %d", len(got), len(want), firstDifference(got, want))
					}
					wantSaid, wantCode := h.use(t, want)
					wantIDs, kinds := contextsIn(t, wantSaid)
					if len(wantIDs) < 5 || !kinds["cold"] || !kinds["notcold"] && !kinds["hot"] || !strings.Contains(wantCode, "function_entry_count") {
						t.Fatalf("the compiler hardly uses LLVM's profile: %s", wantSaid)
					}
					said, code := h.use(t, got)
					if !slices.Equal(said, wantSaid) {
						t.Errorf("the compiler says\n%s\nof LLVM's profile\n%s", strings.Join(said, "\n"), strings.Join(wantSaid, "\n"))
					}
					if code != wantCode {
						t.Error("the compiler makes other code of it")
					}
					predicted := make(map[uint64]bool)
					for _, r := range own.MemProf.Records {
						for _, a := range r.AllocSites {
							predicted[fullStackID(&own.MemProf.Stacks, a.Stack)] = true
						}
					}
					for _, p := range []*Profile{own, twice} {
						said, code := h.use(t, indexedFile(t, p, IndexedOptions{Version: version, MemProf: memprof.WriteOptions{Version: section}}))
						ids, _ := contextsIn(t, said)
						if !slices.Equal(ids, wantIDs) {
							t.Errorf("contexts %d are matched, of LLVM's profile %d", ids, wantIDs)
						}
						if code != wantCode {
							t.Error("the compiler makes other code of what profuse merges")
						}
					}
					for _, id := range wantIDs {
						if !predicted[id] {
							t.Errorf("context %d is matched but not predicted", id)
						}
					}
				})
			}
		})
	}
}

// fullStackID returns the id by which clang's diagnostics name a context (memprof::computeFullStackId).
func fullStackID(s *memprof.Stacks, i memprof.StackIndex) uint64 {
	var b []byte
	for f := range s.Walk(i) {
		b = le.AppendUint64(b, f.GUID)
		b = le.AppendUint32(b, f.LineOffset)
		b = le.AppendUint32(b, f.Column)
	}
	sum := blake3.Sum256(b)
	return le.Uint64(sum[:8])
}
