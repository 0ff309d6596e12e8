package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/profile/report"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// sourceView is the source that is seen.
const sourceView = shownPage + `.querySelector('.cov-detail .source')`

// cells returns the titles of the meters in the row of a file, by the titles of the columns: "9 of 10, 90.0 %".
func (b *tab) cells(label string) map[string]string {
	b.t.Helper()
	return value[map[string]string](b, fmt.Sprintf(`(() => {
		const table = [...%s.querySelectorAll('table.virtual')].find((t) => t.checkVisibility());
		const titles = [...table.tHead.rows[0].cells].map((c) => c.textContent);
		const row = [...table.querySelectorAll('tr[data-row]')].find((r) => r.cells[0].textContent.endsWith(%q));
		return Object.fromEntries([...row.cells].map((c, i) => [titles[i], c.querySelector('.meter')?.title ?? c.textContent]));
	})()`, shownPage, label))
}

// openSource opens the file whose row ends with a label.
func (b *tab) openSource(label string) {
	b.t.Helper()
	value[bool](b, fmt.Sprintf(`(() => {
		const table = [...%s.querySelectorAll('table.virtual')].find((t) => t.checkVisibility());
		[...table.querySelectorAll('tr[data-row]')].find((r) => r.cells[0].textContent.endsWith(%q)).cells[0].click();
		return true;
	})()`, shownPage, label))
	b.wait(sourceView + `?.querySelector('.line')`)
	b.frames()
}

// branchy is a program without macros and templates, of which llvm-cov counts nothing twice.
const branchy = `int pick(int a, int b) {
  if (a > 1 && (b > 2 || a == 9))
    return a;
  for (int i = 0; i < b; i++)
    a += i % 3 ? 1 : 2;
  switch (a) {
  case 1: return 2;
  default: break;
  }
  return a;
}
int never(int a) {
  return a ? 1 : 2;
}
int main(void) {
  return pick(1, 4) + pick(2, 1) + pick(3, 3) > 100;
}
`

// TestCoverageNumbers: the numbers of the tree and the counts of lines are those of llvm-cov.
func TestCoverageNumbers(t *testing.T) {
	t.Parallel()
	clang := oracle.Tool(t, "/usr/lib/llvm-22/bin/clang", "clang-22")
	profdata, cov := oracle.Tool(t, "/usr/lib/llvm-22/bin/llvm-profdata", "llvm-profdata-22"), oracle.Tool(t, "/usr/lib/llvm-22/bin/llvm-cov", "llvm-cov-22")
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	oracle.WriteFile(t, path("branchy.c"), []byte(branchy))
	run := func(exe string, args ...string) string {
		t.Helper()
		stdout, stderr, code := oracle.RunIn(t, dir, exe, args...)
		if code != 0 {
			t.Fatalf("%s %q: exit code %d\n%s", exe, args, code, stderr)
		}
		return stdout
	}
	run(clang, "-fprofile-instr-generate="+path("raw"), "-fcoverage-mapping", "-fcoverage-mcdc", "branchy.c", "-o", "branchy")
	run(path("branchy"))
	run(profdata, "merge", "raw", "-o", "profdata")
	type number struct{ Count, Covered int }
	var want struct {
		Data []struct{ Totals map[string]number }
	}
	oracle.NoError(t, json.Unmarshal([]byte(run(cov, "export", "-summary-only", "-instr-profile=profdata", "branchy")), &want))
	var counts []string
	for line := range strings.Lines(run(cov, "export", "-format=lcov", "-instr-profile=profdata", "branchy")) {
		if da, ok := strings.CutPrefix(strings.TrimSpace(line), "DA:"); ok {
			counts = append(counts, da)
		}
	}
	data := oracle.ReadFile(t, path("profdata"))
	sources := []report.Source{view(t, "profdata", data, formats.ViewOptions{Programs: []string{path("branchy")}, Coverage: true, CoverageDetails: true})}
	b := newTab(t)
	b.open(writeReport(t, "branchy", sources, report.Options{SourceDirs: []string{dir}}) + "#page=coverage")
	cells := b.cells("branchy.c")
	for title, key := range map[string]string{"Lines": "lines", "Functions": "functions", "Regions": "regions", "Branches": "branches", "MC/DC": "mcdc"} {
		n := want.Data[0].Totals[key]
		if text := fmt.Sprintf("%d of %d, ", n.Covered, n.Count); !strings.HasPrefix(cells[title], text) || n.Count == 0 {
			t.Errorf("%s: %s, llvm-cov has %s", title, cells[title], text)
		}
	}
	b.openSource("branchy.c")
	got := value[[]string](b, `[...`+sourceView+`.querySelectorAll('.part > .line.run, .part > .line.not')].map((r) => r.querySelector('.at').textContent + ',' + r.querySelector('.times').textContent)`)
	if !slices.Equal(got, counts) {
		t.Errorf("lines %q, llvm-cov has %q", got, counts)
	}
	b.quiet("branchy")
}

// TestCoverageSource: what did not run is marked, macros and instances open, keys go from
// gap to gap and file to file, and the address says where.
func TestCoverageSource(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "covmap-shapes")
	for way, address := range map[string]string{"file": f.file(t), "server": f.served(t)} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.open(address + "#page=coverage")
			b.openSource("shapes.cpp")
			if file := b.hash().Get("file"); file != "shapes.cpp" {
				t.Errorf("the address has the file %q", file)
			}
			texts := func(selector string) []string {
				return value[[]string](b, fmt.Sprintf(`[...%s.querySelectorAll(%q)].map((e) => e.textContent.trim())`, sourceView, selector))
			}
			if got := texts(".part > .line.not .text"); len(got) == 0 || !slices.Contains(got, "goto out;") {
				t.Errorf("lines that did not run: %q", got)
			}
			if got := texts(".part > .line.some .miss"); !slices.Contains(got, "argv[1][0] == 'x'") {
				t.Errorf("parts of lines that did not run: %q", got)
			}
			if got := texts(".branch"); !slices.Contains(got, "Branch 66:7: True: 0, False: 1") {
				t.Errorf("branches: %q", got)
			}
			b.readable(place{0, "coverage"})
			for _, width := range []int64{380, 1280} {
				b.size(width, 900)
				b.frames()
				b.fits(fmt.Sprintf("source, %d pixels wide", width))
			}
			b.sound("source")

			// A macro, and one in it.
			b.click(".source .macro")
			b.wait(sourceView + `.querySelector('.expansion .excerpt .line')`)
			if got := texts(".expansion .muted"); len(got) != 1 || !strings.HasSuffix(got[0], "of shapes.h") {
				t.Errorf("expansions: %q", got)
			}
			b.click(".source .expansion .macro")
			b.wait(sourceView + `.querySelectorAll('.expansion').length === 2`)
			b.click(".source .macro")
			b.wait(sourceView + `.querySelectorAll('.expansion').length === 0`)

			// Instances, each with its counts.
			b.click(".source .instances > summary")
			b.wait(sourceView + `.querySelectorAll('.instance').length === 2`)
			b.click(".source .instance > summary")
			b.wait(sourceView + `.querySelector('.instance .excerpt .line')`)
			if got := texts(".instances > summary"); !strings.HasPrefix(got[0], "2 instances, of which all ran") {
				t.Errorf("instances: %q", got)
			}

			// From gap to gap, and on to the next file.
			b.press("n")
			first := b.hash().Get("line")
			b.press("n")
			second := b.hash().Get("line")
			b.press("p")
			if one, _ := strconv.Atoi(first); first == second || b.hash().Get("line") != first || one == 0 {
				t.Errorf("gaps at %q and %q, and back %q", first, second, b.hash().Get("line"))
			}
			b.press("]")
			b.wait(shownPage + `.querySelector('.path').textContent === 'shapes.h'`)
			b.press("[")
			b.wait(shownPage + `.querySelector('.path').textContent === 'shapes.cpp'`)
			b.press(kb.Escape)
			b.wait(shownPage + `.querySelector('.cov-detail').hidden`)
			if b.hash().Has("file") {
				t.Error("the address still has a file")
			}

			// The same place again.
			b.open(address + "#page=coverage&file=shapes.cpp&show=all&line=" + second)
			b.wait(sourceView + `?.querySelector('.here')`)
			if at := value[string](b, sourceView+`.querySelector('.here .at').textContent`); at != second {
				t.Errorf("line %s is shown, want %s", at, second)
			}
			b.wait(sourceView + `.querySelectorAll('.expansion .excerpt').length > 3`)
			b.quiet("source")
		})
	}
}

// TestCoverageChange: what a baseline had and what a patch adds is on the page.
func TestCoverageChange(t *testing.T) {
	t.Parallel()
	file := func(path string, counts ...uint64) *coverage.File {
		f := &coverage.File{Path: path, Functions: []coverage.Function{{Symbol: profile.Symbol{Name: "f_" + path, File: path, StartLine: 1}, Calls: counts[0]}}}
		for i, n := range counts {
			f.Lines = append(f.Lines, coverage.Line{Number: uint32(i + 1), Count: n})
		}
		return f
	}
	c := &coverage.Coverage{HasLines: true, Files: []*coverage.File{file("lib/a.c", 0, 0, 0, 3), file("lib/b.c", 1, 1, 0, 0), file("c.c", 5, 5, 5, 5)}}
	c.Finish()
	change := &report.CoverageChange{
		Before: map[string]coverage.Summary{"lib/a.c": {Lines: coverage.Ratio{Total: 4, Covered: 3}}, "lib/b.c": {Lines: coverage.Ratio{Total: 4, Covered: 2}}},
		Total:  coverage.Summary{Lines: coverage.Ratio{Total: 8, Covered: 5}}, Stopped: map[string][]string{"lib/a.c": {"f_lib/a.c"}},
		Lines: map[string][]uint32{"lib/b.c": {2, 3, 9}},
	}
	text := func(string) ([]byte, error) { return []byte("one\ntwo\nthree\nfour\n"), nil }
	b := newTab(t)
	b.open(writeReport(t, "change", []report.Source{{Coverage: c, Label: "tests", Change: change}}, report.Options{ReadSource: text}))
	if tabs := b.tabs(); !slices.Equal(tabs, []string{"coverage"}) {
		t.Fatalf("pages %q", tabs)
	}
	for label, want := range map[string]string{"a.c": "−50.0", "b.c": "0", "c.c": "new", "lib/": "−25.0"} {
		if got := b.cells(label)["Change"]; got != want {
			t.Errorf("%s: changed by %q, want %q", label, got, want)
		}
	}
	if got := b.cells("b.c")["Changed lines"]; !strings.HasPrefix(got, "1 of 2, ") {
		t.Errorf("changed lines of b.c: %s", got)
	}
	press := func(text string) {
		value[bool](b, fmt.Sprintf(`(() => { [...%s.querySelectorAll('.bar button')].find((e) => e.textContent === %q).click(); return true; })()`, shownPage, text))
		b.frames()
	}
	for button, want := range map[string][]string{"Worse": {"▾lib/", "a.c"}, "Changed": {"▾lib/", "b.c"}} {
		press(button)
		if got := b.rows(0)[:2]; !slices.Equal(got, want) || value[string](b, shownPage+`.querySelector('.search-note').textContent`) != "1 of 3 files" {
			t.Errorf("%s: %q, want %q", button, got, want)
		}
		press(button)
	}
	b.openSource("a.c")
	if got := value[string](b, shownPage+`.querySelector('.cov-functions').textContent`); !strings.Contains(got, "no longer runs") {
		value[bool](b, shownPage+`.querySelector('.cov-functions').open = true`)
		b.frames()
		if got := value[string](b, shownPage+`.querySelector('.cov-functions').textContent`); !strings.Contains(got, "no longer runs") {
			t.Errorf("functions: %s", got)
		}
	}
	b.press("]")
	b.wait(shownPage + `.querySelector('.path').textContent === 'lib/b.c'`)
	b.wait(sourceView + `?.querySelector('.line')`)
	if got := value[[]string](b, `[...`+sourceView+`.querySelectorAll('.changed')].map((e) => e.textContent)`); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("changed lines %q", got)
	}
	b.quiet("change")
}

// TestCoverageTree: columns sort the entries of each folder, and the list all files.
func TestCoverageTree(t *testing.T) {
	t.Parallel()
	c := &coverage.Coverage{HasLines: true}
	for i, path := range []string{"a/x.c", "a/y.c", "b/x.c", "b/y.c"} {
		f := &coverage.File{Path: path}
		for n := range 10 {
			count := uint64(0)
			if n < []int{2, 9, 5, 1}[i] {
				count = 1
			}
			f.Lines = append(f.Lines, coverage.Line{Number: uint32(n + 1), Count: count})
		}
		c.Files = append(c.Files, f)
	}
	c.Finish()
	b := newTab(t)
	b.open(writeReport(t, "tree", []report.Source{{Coverage: c}}, report.Options{}))
	names := func() string {
		return strings.Join(value[[]string](b, `[...`+shownPage+`.querySelectorAll('table.virtual')].filter((t) => t.checkVisibility()).flatMap((t) => [...t.querySelectorAll('tr[data-row]')].map((r) => r.cells[0].textContent))`), " ")
	}
	sort := func(title string) {
		value[bool](b, fmt.Sprintf(`(() => { [...%s.querySelectorAll('th button')].find((e) => e.checkVisibility() && e.textContent === %q).click(); return true; })()`, shownPage, title))
		b.frames()
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "▾a/ x.c y.c ▾b/ x.c y.c"},
		{func() { sort("Lines") }, "▾b/ y.c x.c ▾a/ x.c y.c"},
		{func() { sort("Lines") }, "▾a/ y.c x.c ▾b/ x.c y.c"},
		{func() { sort("File") }, "▾a/ x.c y.c ▾b/ x.c y.c"},
		{func() { b.click(".cov-folder") }, "▸a/ ▾b/ x.c y.c"},
		{func() { b.click(".bar button") }, "a/x.c a/y.c b/x.c b/y.c"},
		{func() { sort("Lines") }, "b/y.c a/x.c b/x.c a/y.c"},
	} {
		step.do()
		if got := names(); got != step.want {
			t.Errorf("rows %q, want %q", got, step.want)
		}
	}
	if view := b.hash().Get("view"); view != "list" {
		t.Errorf("the address has the view %q", view)
	}
	b.quiet("tree")
}

// TestLLVMCovPages: the pages of "profuse llvm-cov show -format=html" can be read in light
// and dark and on narrow screens, lead to each other, and have keys.
func TestLLVMCovPages(t *testing.T) {
	t.Parallel()
	dir, covmap := t.TempDir(), filepath.Join(oracle.Root(t), "testdata", "covmap")
	program := filepath.Join(dir, "profuse")
	for _, args := range [][]string{
		{"go", "build", "-o", program, "./cmd/profuse"},
		{program, "llvm-profdata", "merge", "-o", filepath.Join(dir, "p.profdata"), filepath.Join(covmap, "shapes-22.proftext")},
		{
			program, "llvm-cov", "show", "-format=html", "-show-branches=count", "-show-mcdc", "-show-expansions", "-compilation-dir=/x",
			"-path-equivalence=/x," + filepath.Join(covmap, "src"), "-output-dir=" + dir, "-instr-profile=" + filepath.Join(dir, "p.profdata"), filepath.Join(covmap, "shapes-22.o"),
		},
	} {
		if _, stderr, code := oracle.RunIn(t, oracle.Root(t), oracle.Tool(t, args[0]), args[1:]...); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
	b := newTab(t)
	b.do(chromedp.Navigate("file://" + dir + "/index.html"))
	names := func() string {
		return strings.Join(value[[]string](b, `[...document.querySelectorAll('tbody tr')].map((r) => r.cells[0].textContent)`), " ")
	}
	look := func(where string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			for _, low := range value[[]string](b, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, %s)`, theme, lowContrast)) {
				t.Errorf("%s, %s: %s", where, theme, low)
			}
		}
		b.quiet(where)
	}
	if names() != "shapes.cpp shapes.h" {
		t.Errorf("index: %s", names())
	}
	b.do(clickOn("th button"), clickOn("th button"))
	if names() != "shapes.h shapes.cpp" {
		t.Errorf("index, sorted downward: %s", names())
	}
	look("index")
	b.size(380, 900)
	b.fits("index")
	b.do(clickOn(`a[href$="shapes.cpp.html"]`))
	b.wait(`document.querySelector('.source .line')`)
	b.size(1280, 900)
	look("source")
	for _, key := range []struct{ key, at string }{{"l", ".line.not.here"}, {"r", ".line.here .miss"}, {"b", ".branch.lacks.here .lost"}} {
		b.press(key.key)
		b.wait(fmt.Sprintf(`document.querySelector(%q)`, key.at))
	}
	b.do(clickOn(".bar a"))
	b.wait(`document.querySelector('table.index')`)
	b.quiet("pages")
}

// TestLargeCoverage opens pages of 5,000 files. It says how long that takes; only the size of the file is limited.
func TestLargeCoverage(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	const files, lines = 5000, 300
	c := &coverage.Coverage{HasLines: true}
	for i := range files {
		f := &coverage.File{Path: fmt.Sprintf("/src/module%d/part%d/file%d.cpp", i/100, i/10%10, i)}
		for n := range uint32(lines) {
			count := uint64(i) * uint64(n) % 7 * 1000
			if n%20 == 0 {
				name := fmt.Sprintf("_ZN6module4part%dfunction%dEi", len("function")+len(fmt.Sprint(i)), i)
				f.Functions = append(f.Functions, coverage.Function{Symbol: profile.Symbol{Name: name + fmt.Sprint(n), File: f.Path, StartLine: int32(n + 1)}, Column: 1, Calls: count})
			}
			f.Lines = append(f.Lines, coverage.Line{Number: n + 1, Count: count})
			f.Regions = append(f.Regions, coverage.Region{Line: n + 1, Column: 3, EndLine: n + 1, EndColumn: 30, Count: count})
			f.Branches = append(f.Branches, coverage.Branch{Line: n + 1, Column: 7, Ways: []uint64{count, uint64(n) % 2}, Names: []string{"True", "False"}})
		}
		c.Files = append(c.Files, f)
	}
	c.Finish()
	var text strings.Builder
	for n := range lines {
		fmt.Fprintf(&text, "  if (condition%d(value)) result += %d;\n", n, n*n)
	}
	start := time.Now()
	address := writeReport(t, "large-coverage", []report.Source{{Coverage: c, Label: "large"}}, report.Options{ReadSource: func(string) ([]byte, error) { return []byte(text.String()), nil }})
	t.Logf("written in %v", time.Since(start).Round(time.Millisecond))
	info, err := os.Stat(strings.TrimPrefix(address, "file://"))
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("the file has %.1f MB", float64(info.Size())/1e6); info.Size() > 40<<20 {
		t.Error("the file is too large")
	}
	b := newTab(t)
	start = time.Now()
	b.open(address)
	t.Logf("there after %v", time.Since(start).Round(time.Millisecond))
	if rows := value[int](b, shownPage+`.querySelectorAll('tr[data-row]').length`); rows == 0 || rows > 200 {
		t.Errorf("%d rows are elements", rows)
	}
	start = time.Now()
	b.open(address + "#file=" + c.Files[3210].Path)
	b.wait(sourceView + `?.querySelector('.line')`)
	t.Logf("a file is there after %v", time.Since(start).Round(time.Millisecond))
	b.quiet("large")
}
