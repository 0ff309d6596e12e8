package report

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// linedView is a view that knows lines.
type linedView struct {
	*madeView
	lines []profile.Line
}

func (v *linedView) Lines() iter.Seq[profile.Line] { return slices.Values(v.lines) }

// shapesSource is a MIP profile of a program with debug information.
func shapesSource(t *testing.T, opt Options) *source {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "internal", "command", "testdata", "mip")
	program := filepath.Join(dir, "shapes.elf")
	read := func(name string) []byte { return oracle.ReadFile(t, filepath.Join(dir, name)) }
	table, _, err := mip.FindMap(program, read("shapes.elf"), "")
	oracle.NoError(t, err)
	empty := oracle.Must(oracle.Must(mip.NewReader(program, table, nil))(t).Profile())(t)
	m := oracle.Must(mip.NewMerger(empty, mip.MergeOptions{}))(t)
	oracle.NoError(t, m.AddRaw("1", read("shapes-1.mipraw"), 1), m.AddRaw("2", read("shapes-2.mipraw"), 1))
	write := func(w io.Writer) error { return mip.WriteMIP(w, m.Profile(), mip.WriteOptions{}) }
	data := oracle.Must(oracle.Written(write))(t)
	v := oracle.Must(formats.View("shapes.mip", data, formats.ViewOptions{Programs: []string{program}}))(t)
	return newSource(0, Source{View: v}, opt)
}

// filesOf returns the files in the parts of a page.
func filesOf(p *page) (files []*fileData) {
	for _, part := range p.parts {
		files = append(files, part().([]*fileData)...)
	}
	return files
}

// sourcesOf returns the texts of the files that have one, by their numbers.
func sourcesOf(p *page) map[int]string {
	texts := make(map[int]string)
	for i, f := range filesOf(p) {
		if f.Source != nil {
			texts[i] = f.Source.Text
		}
	}
	return texts
}

// numbers returns the kinds of a row of the tree as text.
func (d *coverageData) numbers(row int) string {
	var list []string
	for _, k := range d.Kinds {
		list = append(list, fmt.Sprintf("%s %d/%d", k.ID, k.Ran[row], k.All[row]))
	}
	return strings.Join(list, " ")
}

// coverageOf makes the page, and decodes the lines of its data.
func coverageOf(t *testing.T, src *source) (p *page, d *coverageData, lines map[string]uint64) {
	t.Helper()
	p, err := coveragePage(src)
	if err != nil || p == nil {
		t.Fatalf("page %v, error %v", p, err)
	}
	d = p.data.(*coverageData)
	lines = make(map[string]uint64)
	for n, f := range filesOf(p) {
		number := uint32(0)
		for i := range f.Line {
			number += f.Line[i]
			lines[fmt.Sprintf("%s:%d", src.names.Keys[d.Path[n]], number)] = f.Count[i]
		}
	}
	return p, d, lines
}

// The lines of the page are those of the view, which a test of the command
// holds against its tracefiles; of both formats that have any.
func TestCoverageLinesAreThoseOfTheView(t *testing.T) {
	index := classfile.NewIndex(classfile.Options{})
	app := filepath.Join(oracle.Root(t), "testdata", "iprof", "app")
	oracle.NoError(t, index.Add(filepath.Join(app, "classes")))
	data := oracle.ReadFile(t, app+".iprof")
	v := oracle.Must(formats.View("app.iprof", data, formats.ViewOptions{Classes: index}))(t)
	for name, src := range map[string]*source{"MIP": shapesSource(t, Options{}), "iprof": newSource(0, Source{View: v}, Options{})} {
		_, d, lines := coverageOf(t, src)
		want := make(map[string]uint64)
		ran := 0
		for l := range src.view.(profile.LineView).Lines() {
			at := fmt.Sprintf("%s:%d", l.File, l.Number)
			want[at] = max(want[at], l.Count)
		}
		for _, n := range want {
			if n > 0 {
				ran++
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" || len(lines) < 15 {
			t.Errorf("%s, %d lines (-view +page):\n%s", name, len(lines), diff)
		}
		// Both programs have all their files below one folder, the first row.
		if text := fmt.Sprintf("lines %d/%d ", ran, len(want)); !d.Lines || !strings.HasPrefix(d.numbers(0), text) || ran == len(want) {
			t.Errorf("%s: %s, want %s", name, d.numbers(0), text)
		}
	}
}

// The numbers of a known program: 5 functions, one of which never runs, and 20
// blocks with the entries, as "profuse show --program" has them.
func TestCoverageOfMIP(t *testing.T) {
	dir := filepath.Join(oracle.Root(t), "internal", "command", "testdata", "mip")
	src := shapesSource(t, Options{SourceDirs: []string{t.TempDir(), dir}})
	p, d, _ := coverageOf(t, src)
	var rows []string
	for r := range d.Label {
		_, numbers, _ := strings.Cut(d.numbers(r), " functions ") // after lines
		rows = append(rows, fmt.Sprintf("%d %s %s", d.Depth[r], src.names.Keys[d.Label[r]], numbers))
	}
	if diff := cmp.Diff([]string{"0 /src/ 4/5 blocks 18/20", "1 shapes.cpp 3/4 blocks 15/16", "1 shapes.h 1/1 blocks 3/4"}, rows); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if s := src.summary; s.Blocks != 20 || s.CoveredBlocks != 18 {
		t.Errorf("%d of %d blocks ran by the overview", s.CoveredBlocks, s.Blocks)
	}
	var functions []string
	for i := d.Functions.Start[0]; i < d.Functions.Start[1]; i++ {
		functions = append(functions, fmt.Sprintf("%d %s %d", d.Functions.Line[i], src.names.Keys[d.Functions.Name[i]], d.Functions.Calls[i]))
	}
	if diff := cmp.Diff([]string{"10 shapes::area(int) 4", "16 shapes::volume(int) 1", "23 shapes::unused(int) 0", "29 main 2"}, functions); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	files := filesOf(p)
	if len(files) != 2 || files[0].Source == nil || files[0].Source.From != "shapes.cpp" {
		t.Fatalf("sources: %+v", files)
	}
	text, err := os.ReadFile(filepath.Join(dir, "shapes.cpp"))
	if err != nil || files[0].Source.Text != string(text) {
		t.Errorf("source (%v):\n%s", err, files[0].Source.Text)
	}
	for _, want := range []string{
		"18 of 20", "2 source files are shown.", `<tr class="run"><td class="at">10</td><td class="times">4</td>`,
		`<tr class="not"><td class="at">23</td><td class="times">0</td>`, `<tr><td class="at">8</td><td class="times"></td>`,
	} {
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("static page lacks %s", want)
		}
	}
}

// Without a folder nothing is read, and of what is in folders only what lies there, is regular and fits.
func TestCoverageEmbedsNothingElse(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		oracle.WriteFile(t, path, []byte(text))
	}
	const text = "one\n\ttwo\u202e\nthree\n"
	secret := filepath.Join(outside, "secret.c")
	write(secret, text)
	write(filepath.Join(dir, "src", "right.c"), text)
	write(filepath.Join(dir, "right.c"), "not this one\n\n\n\n")
	write(filepath.Join(dir, "short.c"), "one\n")
	write(filepath.Join(dir, "binary.c"), "one\n\x00\n\n")
	write(filepath.Join(dir, "latin1.c"), "one\n\xff\n\n")
	write(filepath.Join(dir, "large.c"), strings.Repeat("\n", maxSourceFile+1))
	write(filepath.Join(dir, "folder.c", "x"), text)
	for link, to := range map[string]string{"link.c": secret, "up": outside, "inside.c": filepath.Join("src", "right.c")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	v := &madeView{features: profile.Features{Calls: true}}
	for _, file := range []string{
		secret, "../" + filepath.Base(outside) + "/secret.c", "/up/secret.c", "link.c", "/build/src/right.c", "C:\\x\\inside.c",
		"short.c", "binary.c", "latin1.c", "large.c", "folder.c", "/", "..", "a\x00b.c", strings.Repeat("x/", 10_000) + "y.c",
	} {
		v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: "f", File: file, StartLine: 3}, Calls: 1, Covered: true})
	}
	p, _, lines := coverageOf(t, newSource(0, Source{View: v}, Options{}))
	if len(sourcesOf(p)) != 0 || len(lines) != len(v.functions) {
		t.Errorf("without folders: %d sources, %d lines", len(sourcesOf(p)), len(lines))
	}
	src := newSource(0, Source{View: v}, Options{SourceDirs: []string{dir}})
	p, d, _ := coverageOf(t, src)
	got := make(map[string]string)
	for f, text := range sourcesOf(p) {
		got[src.names.Keys[d.Path[f]]] = text
	}
	const shown = "one\n\ttwo\\u202e\nthree\n"
	// Names of the table are cleaned: backslashes stay.
	alike.Values(t, "sources (-want +got)", map[string]string{"/build/src/right.c": shown, `C:\x\inside.c`: shown}, got)
	if !strings.Contains(string(p.Body), "2 source files are shown; 9 are not in the folders; 4 are not text, too large, or not the files that were compiled.") {
		t.Error("the static page does not say what became of the sources")
	}
	src.opt.SourceDirs = []string{filepath.Join(dir, "nonesuch")}
	if _, err := coveragePage(src); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// All sources together have a limit; files in which more ran come first.
func TestCoverageSourcesLimit(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", maxSourceFile/100)
	v := &madeView{features: profile.Features{Calls: true}}
	for i := range 6 {
		name := fmt.Sprintf("%d.c", i)
		oracle.WriteFile(t, filepath.Join(dir, name), []byte(text))
		for k := range i + 1 {
			v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: fmt.Sprint("f", k), File: name, StartLine: 1}, Calls: 1, Covered: true})
		}
	}
	src := newSource(0, Source{View: v}, Options{SourceDirs: []string{dir}})
	c := collectCoverage(src, maxCoverage)
	c.textLimit = 4 << 20
	oracle.NoError(t, c.embed(&src.opt))
	var files []int
	for i, f := range c.files {
		if f.source != nil {
			files = append(files, i)
		}
	}
	if !slices.Equal(files, []int{2, 3, 4, 5}) {
		t.Errorf("files %v are shown", files)
	}
}

// A profile without source lines has no such page.
func TestNoCoverage(t *testing.T) {
	v := &madeView{features: profile.Features{Calls: true}, functions: []profile.Function{{Symbol: profile.Symbol{Name: "f", File: "a.c"}, Covered: true}}}
	if p, err := coveragePage(newSource(0, Source{View: v}, Options{})); p != nil || err != nil {
		t.Errorf("page %v, error %v", p, err)
	}
	v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: "g", File: "a.c", StartLine: 1}})
	v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: "nowhere", StartLine: 1}})
	if p, _, _ := coverageOf(t, made(v)); !strings.Contains(string(p.Body), "Where 2 functions are is not known") {
		t.Error("functions without a line are not mentioned")
	}
	v.functions = v.functions[:1]
	// Lines without functions are enough.
	lined := &linedView{v, []profile.Line{{File: "b.c", Number: 7, Count: 1}, {File: "b.c", Number: 9}}}
	_, d, lines := coverageOf(t, newSource(0, Source{View: lined}, Options{}))
	if diff := cmp.Diff(map[string]uint64{"b.c:7": 1, "b.c:9": 0}, lines); diff != "" || d.numbers(0) != "lines 1/2 functions 0/0" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
