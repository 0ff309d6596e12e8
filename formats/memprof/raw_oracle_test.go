package memprof

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// tools are the releases of llvm-profdata that symbolize a raw profile.
func (f rawFixture) tools() []int {
	switch {
	case f.is("histogram-dumps"):
		return nil // they crash when they add up histograms
	case f.version == 2 && !f.is("pie"):
		return []int{16}
	case f.version == 4:
		return []int{19, 22}
	case f.version == 5:
		return []int{22}
	}
	return nil
}

// llvmShow returns the profile that llvm-profdata shows.
func llvmShow(t testing.TB, llvm int, program, file string) string {
	t.Helper()
	stdout, stderr, code := oracle.Run(t, oracle.LLVM(t, llvm), "show", "--memory", "--profiled-binary="+program, file)
	if code != 0 {
		t.Fatalf("llvm-profdata-%d: %s", llvm, stderr)
	}
	return stdout
}

// TestShowsWhatLLVMShows compares records, frames, names and all fields of
// every context with what llvm-profdata makes of the same file and program.
func TestShowsWhatLLVMShows(t *testing.T) {
	compared := 0
	for _, f := range rawFixtures(t) {
		for _, llvm := range f.tools() {
			compared++
			t.Run(fmt.Sprintf("%s/llvm%d", f.name, llvm), func(t *testing.T) {
				t.Parallel()
				want := llvmShow(t, llvm, f.program, f.file)
				raw := f.read(t, RawOptions{LLVMCompat: true})
				p, about := symbolizeRaw(t, raw, openBinaries(t, f.program), SymbolizeOptions{LLVMCompat: true, KeepNames: true})
				var b strings.Builder
				if err := WriteRawShow(&b, raw, p, about); err != nil {
					t.Fatal(err)
				}
				got := b.String()
				got, want = comparableShow(got, llvm), comparableShow(want, llvm)
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

// comparableShow leaves out what LLVM has no business printing, the address of a
// histogram in its own memory, and what version 16 does not print.
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
