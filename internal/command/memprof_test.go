package command

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// heapDir is the folder of the raw heap profiles and their programs.
func heapDir(t testing.TB) string { return filepath.Join(oracle.Root(t), "testdata", "memprof", "raw") }

// heapSums are the contents of heap profiles, as sums by function and stack.
type heapSums struct {
	fields map[string]uint64 // "FUNCTION | FRAMES | FIELD"
	calls  map[string]bool   // "FUNCTION | FRAMES"
}

func newHeapSums() *heapSums {
	return &heapSums{fields: make(map[string]uint64), calls: make(map[string]bool)}
}

var yamlFrame = regexp.MustCompile(`\{ Function: (0x[0-9a-f]+), LineOffset: (\d+), Column: (\d+), IsInlineFrame: (true|false) \}`)

// add adds an indexed profile, as llvm-profdata shows it, weight times.
func (h *heapSums) add(t testing.TB, file string, weight uint64) {
	t.Helper()
	stdout, stderr, code := oracle.Run(t, oracle.LLVM(t, 22), "show", "--memory", file)
	if code != 0 {
		t.Fatal(stderr)
	}
	var function string
	var frames []string
	inCall := false
	end := func() {
		if inCall {
			h.calls[function+"|"+strings.Join(frames, " ")] = true
		}
		inCall = false
	}
	in := bufio.NewScanner(strings.NewReader(stdout))
	for in.Scan() {
		line := in.Text()
		key, value, _ := strings.Cut(strings.TrimLeft(line, " -"), ":")
		switch {
		case strings.HasPrefix(line, "#"), key == "AllocSites", key == "CallSites", key == "MemInfoBlock":
		case key == "GUID":
			end()
			function = strings.TrimSpace(value)
		case key == "Callstack", key == "Frames":
			end()
			frames, inCall = nil, key == "Frames"
		case yamlFrame.MatchString(line):
			frames = append(frames, strings.Join(yamlFrame.FindStringSubmatch(line)[1:], ","))
		case value != "":
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			h.fields[function+"|"+strings.Join(frames, " ")+"|"+key] += n * weight
		}
	}
	end()
}

// equal compares two.
func (h *heapSums) equal(t *testing.T, want *heapSums) {
	t.Helper()
	if len(want.fields) < 40 || len(want.calls) < 8 {
		t.Errorf("only %d fields and %d calls to compare", len(want.fields), len(want.calls))
	}
	for _, key := range slices.Sorted(maps.Keys(want.fields)) {
		if got, ok := h.fields[key]; !ok || got != want.fields[key] {
			t.Errorf("%s: %d, want %d", key, got, want.fields[key])
		}
	}
	if len(h.fields) != len(want.fields) || !maps.Equal(h.calls, want.calls) {
		t.Errorf("%d fields and %d calls, want %d and %d", len(h.fields), len(h.calls), len(want.fields), len(want.calls))
	}
}

// TestMergeHeapProfiles merges raw, indexed and YAML profiles and compares with sums over what llvm-profdata shows of
// each: of raw ones after it has merged them alone.
func TestMergeHeapProfiles(t *testing.T) {
	t.Parallel()
	llvm := oracle.LLVM(t, 22)
	dir, work := heapDir(t), t.TempDir()
	alone := make(map[string]string) // what stands for an input
	made := make(map[string]string)  // inputs by name
	input := func(name string) string {
		if made[name] != "" {
			return made[name]
		}
		base, kind, _ := strings.Cut(name, ".")
		program := filepath.Join(dir, base+".debug")
		raw, indexed := filepath.Join(dir, base+".memprofraw"), filepath.Join(work, base+".profdata")
		if _, stderr, code := oracle.Run(t, llvm, "merge", "--profiled-binary="+program, raw, "-o", indexed); code != 0 {
			t.Fatal(stderr)
		}
		path := map[string]string{"raw": raw, "profdata": indexed, "yaml": filepath.Join(work, base+".yaml")}[kind]
		if kind == "yaml" {
			stdout, _, _ := oracle.Run(t, llvm, "show", "--memory", indexed)
			oracle.WriteFile(t, path, []byte(stdout))
		}
		alone[path], made[name] = indexed, path
		return path
	}
	for _, c := range []struct {
		name   string
		inputs string
		weight uint64 // of the first
	}{
		{"two of one program", "clang22-pie.raw clang22-dumps.raw", 1},
		{"one twice", "clang22-pie.raw clang22-pie.raw", 1},
		{"two programs", "clang19-pie.raw clang22-pie-lld.raw", 1},
		{"indexed and raw", "clang22-dumps.profdata clang22-pie.raw", 1},
		{"YAML and raw, weighted", "clang22-dumps.yaml clang19-fixed-dwarf4.raw", 7},
		{"raw, weighted", "clang22-pie.raw", 3},
		{"ten", "clang22-pie.raw clang22-dumps.raw clang22-pie-lld.raw clang22-fixed-gz.profdata clang22-lines-only.raw " +
			"clang22-split.raw clang19-pie.yaml clang19-fixed-dwarf4.raw clang22-library.profdata clang22-dumps.profdata", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := newHeapSums()
			var args []string
			for i, name := range strings.Fields(c.inputs) {
				path, weight := input(name), uint64(1)
				if i == 0 && c.weight > 1 {
					weight = c.weight
					path = fmt.Sprintf("--weighted-input=%d,%s", weight, path)
				}
				args = append(args, path)
				_, file, _ := strings.Cut(path, ",")
				if weight == 1 {
					file = path
				}
				want.add(t, alone[file], weight)
			}
			var first []byte
			for _, j := range []string{"1", "2", "7"} {
				out := filepath.Join(t.TempDir(), "out.profdata")
				profuse(t, append([]string{"merge", "-q", "-j", j, "--profiled-binary", dir, "-o", out}, args...)...)
				b := oracle.ReadFile(t, out)
				if first == nil {
					first = b
					got := newHeapSums()
					got.add(t, out, 1)
					got.equal(t, want)
				} else if !bytes.Equal(b, first) {
					t.Errorf("-j %s changes the result", j)
				}
				slices.Reverse(args)
			}
			// In llvm-profdata's place, which has one program for all.
			program := filepath.Join(dir, strings.Split(c.inputs, ".")[0]+".debug")
			if c.name != "two of one program" && c.name != "one twice" && c.name != "indexed and raw" {
				return
			}
			out := filepath.Join(t.TempDir(), "out.profdata")
			profuse(t, append([]string{"llvm-profdata", "merge", "--profiled-binary=" + program, "-o", out}, args...)...)
			got := newHeapSums()
			got.add(t, out, 1)
			got.equal(t, want)
		})
	}
}

var profiledSize = regexp.MustCompile(`total profiled size (\d+)`)

// TestClangUsesMergedHeaps: compilers match the contexts of what the commands merge, counters among it, as those of
// llvm-profdata's merge of the raw profile. The exact merge sums up where an unrolled loop has one call at several
// addresses; the drop-in command leaves them apart, as llvm-profdata does.
func TestClangUsesMergedHeaps(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	dir := heapDir(t)
	counters := filepath.Join(oracle.Root(t), "testdata", "irpgo")
	for _, c := range []struct {
		name string
		llvm int
	}{{"clang19-pie", 19}, {"clang22-pie", 22}, {"clang22-dumps", 22}} {
		t.Run(c.name, func(t *testing.T) {
			clang := oracle.Tool(t, fmt.Sprintf("clang++-%d", c.llvm))
			work := t.TempDir()
			raw, program := filepath.Join(dir, c.name+".memprofraw"), filepath.Join(dir, c.name+".debug")
			file := func(name string) string { return filepath.Join(work, name) }
			_, stderr, code := oracle.Run(t, oracle.LLVM(t, c.llvm), "merge", "--profiled-binary="+program, "--memprof-version=3", raw, "-o", file("theirs"))
			if code != 0 {
				t.Fatal(stderr)
			}
			profuse(t, "merge", "-q", "--profiled-binary", program, "-o", file("ours"), raw)
			profuse(t, "merge", "-q", "--profiled-binary", program, "-o", file("both"), raw,
				filepath.Join(counters, fmt.Sprintf("clang%d", c.llvm), "ir-run1.profraw"))
			args := []string{"llvm-profdata", "merge", "--profiled-binary=" + program, "-o", file("drop-in"), raw}
			if c.llvm < 22 { // which reads no newer file
				args = slices.Insert(args, 2, "--write-prev-version")
			}
			profuse(t, args...)
			contexts := func(profile string) map[string]int {
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
					if strings.HasPrefix(line, "MemProf") {
						size := 0
						if m := profiledSize.FindStringSubmatch(line); m != nil {
							size, _ = strconv.Atoi(m[1])
						}
						sizes[profiledSize.ReplaceAllString(line, "")] = size
					}
				}
				return sizes
			}
			want := contexts(file("theirs"))
			if len(want) < 8 {
				t.Errorf("clang matches only %v", want)
			}
			if got := contexts(file("drop-in")); !maps.Equal(got, want) {
				t.Errorf("drop-in: %v, want %v", got, want)
			}
			for _, name := range []string{"ours", "both"} {
				got, larger := contexts(file(name)), 0
				for line, size := range want {
					if got[line] < size {
						t.Errorf("%s: %sis missing or too small: %d, want at least %d", name, line, got[line], size)
					} else if got[line] > size {
						larger++
					}
				}
				if len(got) != len(want) || larger != 1 {
					t.Errorf("%s: %d matches, want %d; %d sizes are larger, want that of the unrolled loop", name, len(got), len(want), larger)
				}
			}
		})
	}
}
