package memprof

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// sectionOf returns where the memprof section of an indexed file is.
func sectionOf(t testing.TB, file []byte) (start, end int64) {
	t.Helper()
	if len(file) < 72 {
		t.Fatalf("indexed profile of %d bytes", len(file))
	}
	start, end = int64(le.Uint64(file[40:])), int64(le.Uint64(file[48:]))
	if le.Uint32(file[8:]) < 9 { // no binary ids
		end = int64(len(file))
	}
	return start, end
}

func readSection(t testing.TB, file []byte) *Profile {
	t.Helper()
	start, end := sectionOf(t, file)
	p, err := readExtent(file, start, end)
	must(t, err)
	return p
}

func writeSection(t testing.TB, p *Profile, opt WriteOptions, start int64) []byte {
	t.Helper()
	s, err := NewSection(p, opt)
	must(t, err)
	var b bytes.Buffer
	must(t, s.Write(&b, start))
	if int64(b.Len()) != s.Size {
		t.Fatalf("section of %d bytes, announced %d", b.Len(), s.Size)
	}
	return b.Bytes()
}

func yamlOf(t testing.TB, p *Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, WriteYAML(&b, p))
	return b.Bytes()
}

func llvmMerge(t testing.TB, tool string, doc []byte, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.yaml"), filepath.Join(dir, "out.profdata")
	oracle.WriteFile(t, in, doc)
	_, stderr, code := oracle.Run(t, tool, append([]string{"merge", in, "-o", out}, args...)...)
	if code != 0 {
		t.Fatalf("llvm-profdata: %s", stderr)
	}
	return oracle.ReadFile(t, out)
}

// TestSectionsEqualLLVM: YAML documents become the same sections, and the same YAML again.
func TestSectionsEqualLLVM(t *testing.T) {
	tool := oracle.LLVM(t, 22)
	for i, sh := range []shapeOf{
		{functions: 1, sites: 2, depth: 3, frames: 4, schema: hotColdSchema},
		{functions: 4, sites: 3, depth: 5, frames: 6, callees: true},
		{functions: 30, sites: 6, depth: 8, frames: 20, schema: FullSchema},
		{functions: 200, sites: 4, depth: 20, frames: 300, dataAccess: true, callees: true},
		{functions: 3000, sites: 3, depth: 6, frames: 2000},
		{functions: 12, sites: 40, depth: 60, frames: 3},
		{dataAccess: true},
	} {
		for _, opt := range []WriteOptions{
			{Version: 2},
			{Version: 3},
			{Version: 4},
			{Version: 2, Schema: FullSchema},
			{Version: 3, Schema: FullSchema},
			{Version: 4, Schema: FullSchema},
		} {
			t.Run(fmt.Sprintf("shape%d/v%d/full=%t", i, opt.Version, opt.Schema != 0), func(t *testing.T) {
				if i > 3 || opt.Schema != 0 {
					oracle.Slow(t)
				}
				t.Parallel()
				p := randomProfile(rand.New(rand.NewPCG(uint64(i), 7)), sh)
				doc := yamlOf(t, p)
				args := []string{fmt.Sprintf("--memprof-version=%d", opt.Version)}
				if opt.Schema != 0 {
					args = append(args, "--memprof-full-schema")
				}
				file := llvmMerge(t, tool, doc, args...)
				compareSections(t, tool, file, doc, opt)
			})
		}
	}
}

func compareSections(t *testing.T, tool string, file, doc []byte, opt WriteOptions) {
	t.Helper()
	start, end := sectionOf(t, file)
	read := readYAML(t, doc)
	compare := func(what string, got []byte) {
		t.Helper()
		want := file[start:end]
		if opt.Version == 4 && !read.DataAccess.empty() { // compressed text differs
			want = want[:le.Uint64(want[32:])-uint64(start)]
			got = got[:min(len(want), len(got))]
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, LLVM has %d; they differ from %#x on", what, len(got), len(want), firstDifferentByte(got, want))
		}
	}
	compare("from YAML", writeSection(t, read, opt, start))
	indexed := readSection(t, file)
	again := writeSection(t, indexed, opt, start)
	if opt.Version == 4 {
		// Functions of a random profile contradict each other: the summary depends on whom LLVM met first.
		const summary, end = 44, 44 + 8*numSummaryFields
		copy(again[summary:end], file[start+summary:start+end])
	}
	compare("from the section", again)
	compareShow(t, tool, file)
}

// compareShow compares what "llvm-profdata show --memory" prints of a file.
func compareShow(t *testing.T, tool string, file []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.profdata")
	oracle.WriteFile(t, path, file)
	want, stderr, code := oracle.Run(t, tool, "show", "--memory", path)
	if code != 0 {
		t.Fatalf("llvm-profdata show: %s", stderr)
	}
	if got := showText(t, readSection(t, file)); got != want {
		t.Errorf("show --memory differs:\n%s", diffLine(got, want))
	}
}

// showText returns the profile as "llvm-profdata show --memory" prints it: numbers, then YAML.
func showText(t *testing.T, p *Profile) string {
	t.Helper()
	text := "---\n# MemProfSummary:\n"
	summary := p.Summary()
	for i, n := range summary.fields() {
		text += fmt.Sprintf("#   %s: %d\n", [...]string{
			"Total contexts", "Total cold contexts", "Total hot contexts", "Maximum cold context total size",
			"Maximum warm context total size", "Maximum hot context total size",
		}[i], *n)
	}
	if d := p.DataAccess; d != nil {
		text += fmt.Sprintf("#   Num hot symbols and string literals: %d\n#   Num known cold symbols: %d\n#   Num known cold string literals: %d\n",
			len(d.Records), len(d.ColdSymbols), len(d.ColdHashes))
	}
	return text + string(yamlOf(t, p))
}

func diffLine(got, want string) string {
	g, w := bytes.Split([]byte(got), []byte("\n")), bytes.Split([]byte(want), []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
