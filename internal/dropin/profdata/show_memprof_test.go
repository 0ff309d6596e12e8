package profdata

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// readHeap reads and symbolizes a raw profile like the tool.
func readHeap(t *testing.T, file, program string) (*memprof.RawProfile, *memprof.Profile, *memprof.Coverage) {
	t.Helper()
	data := oracle.ReadFile(t, file)
	raw := oracle.Must(memprof.ReadRaw(file, data, memprof.RawOptions{LLVMCompat: true}))(t)
	programs := oracle.Must(symbolize.OpenPrograms([]string{program}, symbolize.Options{}))(t)
	t.Cleanup(func() { programs.Close() })
	p, about, err := raw.Symbolize(memprof.NewBinaries(programs), memprof.SymbolizeOptions{LLVMCompat: true, KeepNames: true})
	if err != nil {
		t.Fatal(err)
	}
	return raw, p, about
}

// heapTools returns the releases of llvm-profdata that symbolize a raw profile.
func heapTools(name string) []int {
	switch producer, _, _ := strings.Cut(name, "-"); {
	case strings.Contains(name, "histogram-dumps"):
		return nil // they crash when they add up histograms
	case producer == "clang16" && !strings.Contains(name, "pie"):
		return []int{16}
	case producer == "clang19":
		return []int{19, 22}
	case producer == "clang22":
		return []int{22}
	}
	return nil
}

// TestShowRawHeap compares records, frames, names and all fields of every context with the
// output of llvm-profdata for the same file and program.
func TestShowRawHeap(t *testing.T) {
	files := oracle.Must(filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "memprof", "raw", "*.memprofraw")))(t)
	compared := 0
	for _, file := range files {
		base := strings.TrimSuffix(file, ".memprofraw")
		for _, llvm := range heapTools(filepath.Base(base)) {
			compared++
			t.Run(fmt.Sprintf("%s/llvm%d", filepath.Base(base), llvm), func(t *testing.T) {
				t.Parallel()
				want, stderr, code := oracle.Run(t, oracle.LLVM(t, llvm), "show", "--memory", "--profiled-binary="+base+".debug", file)
				if code != 0 {
					t.Fatalf("llvm-profdata-%d: %s", llvm, stderr)
				}
				raw, p, about := readHeap(t, file, base+".debug")
				var b strings.Builder
				oracle.NoError(t, showRawHeap(&b, raw, p, about))
				got, want := comparableShow(b.String(), llvm), comparableShow(want, llvm)
				if got != want {
					t.Errorf("differs from line %s", firstLineThatDiffers(got, want))
				}
			})
		}
	}
	if compared < 10 {
		t.Errorf("compared only %d profiles", compared)
	}
}

var (
	oldFields    = regexp.MustCompile(`(?m)^ *(AccessHistogram.*|AccessHistogramSize.*)\n`)
	histogramAt  = regexp.MustCompile(`(?m)^( *AccessHistogram): .*$`)
	segmentLines = regexp.MustCompile(`(?s)  Segments:\n.*?  Records:\n`)
)

// comparableShow leaves out the address of a histogram in LLVM's own memory, which LLVM
// prints by mistake, and what version 16 does not print.
func comparableShow(show string, llvm int) string {
	if llvm < 22 { // it prints no summary
		_, body, _ := strings.Cut(show, "MemprofProfile:\n")
		show = "MemprofProfile:\n" + body
	}
	if llvm == 16 {
		show = segmentLines.ReplaceAllString(show, "")
		return oldFields.ReplaceAllString(show, "")
	}
	return histogramAt.ReplaceAllString(show, "$1")
}

func firstLineThatDiffers(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("%d:\n%s\nwant\n%s", i+1, strings.Join(g[max(0, i-3):i+1], "\n"), strings.Join(w[max(0, i-3):i+1], "\n"))
		}
	}
	return fmt.Sprintf("%d: %d lines, want %d", min(len(g), len(w)), len(g), len(w))
}

// TestRandomizeHotness checks the first numbers of the C library's generator, and that both temperatures occur.
func TestRandomizeHotness(t *testing.T) {
	for seed, want := range map[uint32][]uint32{
		1: {1804289383, 846930886, 1681692777}, 0: {1804289383}, 42: {71876166, 708592740, 1483128881},
	} {
		r := newLibcRand(seed)
		for i, w := range want {
			if got := r.next(); got != w {
				t.Errorf("seed %d, number %d: %d, want %d", seed, i, got, w)
			}
		}
	}
	base := filepath.Join(oracle.Root(t), "testdata", "memprof", "raw", "clang22-pie")
	_, p, _ := readHeap(t, base+".memprofraw", base+".debug")
	randomizeHotness(p, 7)
	seen := make(map[string]int)
	for _, r := range p.Records {
		for _, a := range r.AllocSites {
			seen[memprof.DefaultThresholds.Classify(&p.MIBs[a.MIB])]++
		}
	}
	if seen["cold"] < 3 || seen["notcold"] < 3 || len(seen) != 2 {
		t.Errorf("temperatures %v", seen)
	}
	if err := memprof.NewMerger(memprof.MergeOptions{}).AddProfile("", p, 1); err != nil {
		t.Error(err)
	}
}

// TestShowRawHeapFullDisk: a write that fails is an error.
func TestShowRawHeapFullDisk(t *testing.T) {
	base := filepath.Join(oracle.Root(t), "testdata", "memprof", "raw", "clang22-pie")
	raw, p, about := readHeap(t, base+".memprofraw", base+".debug")
	fulldisk.Check(t, "show", func(w io.Writer) error { return showRawHeap(w, raw, p, about) })
}
