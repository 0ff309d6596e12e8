package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// shapesMIP merges the runs of a program with debug information.
func shapesMIP(t *testing.T) (program string, data []byte) {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "cmd", "profuse", "testdata", "mip")
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "shapes.elf")
	table, _, err := mip.FindMap(program, read("shapes.elf"), mip.BinaryOptions{})
	check(err)
	r, err := mip.NewReader(program, table, mip.ReaderOptions{})
	check(err)
	empty, err := r.Profile()
	check(err)
	m, err := mip.NewMerger(empty, mip.MergeOptions{})
	check(err)
	check(m.AddRaw("1", read("shapes-1.mipraw")))
	check(m.AddRaw("2", read("shapes-2.mipraw")))
	data, err = mip.AppendMIP(nil, m.Profile(), mip.MIPOptions{})
	check(err)
	return program, data
}

// The program adds files and lines, and the blocks that have no probe. Symbols
// are the same throughout the view.
func TestViewMIPWithProgram(t *testing.T) {
	program, data := shapesMIP(t)
	view := func(binaries ...string) (v profile.View, warnings []string) {
		v, err := formats.View("shapes.mip", data, formats.ViewOptions{ProfiledBinaries: binaries, Warn: func(err error) {
			warnings = append(warnings, err.Error())
		}})
		if err != nil {
			t.Fatal(err)
		}
		return v, warnings
	}
	plain, _ := view()
	// Programs of other profiles and folders do not matter.
	other := filepath.Join(oracle.Root(t), "testdata", "correlate", "debug-info.elf")
	v, warnings := view(filepath.Dir(program), other, program)
	if len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	if _, ok := plain.(profile.LineView); ok || plain.Features().Has(profile.HasBlockLines) {
		t.Error("there are lines without the program")
	}
	lines, ok := v.(profile.LineView)
	if !ok || !v.Features().Has(profile.HasBlockLines) {
		t.Fatal("there are no lines")
	}
	before, after := profile.Summarize(plain, nil), profile.Summarize(v, nil)
	if before.Functions != after.Functions || before.Covered != after.Covered || before.Blocks >= after.Blocks {
		t.Errorf("without program %+v, with it %+v", before, after)
	}
	known := make(map[profile.Symbol]bool)
	for f := range v.Functions() {
		known[f.Symbol] = true
		for _, b := range f.Blocks {
			if filepath.Base(f.File) != "shapes.cpp" && f.Name == "main" || int(b.Line) < int(f.StartLine) {
				t.Errorf("%s begins at %s:%d and has a block at line %d", f.Name, f.File, f.StartLine, b.Line)
			}
		}
	}
	for tr := range v.Traces() {
		for _, s := range tr.Functions {
			if !known[s] {
				t.Errorf("%+v of the trace is no function", s)
			}
		}
	}
	last, files := profile.Line{}, make(map[string]bool)
	for l := range lines.Lines() {
		if l.Number == 0 || l.File < last.File || l.File == last.File && l.Number <= last.Number {
			t.Errorf("%+v follows %+v", *l, last)
		}
		last = *l
		files[filepath.Base(l.File)] = true
	}
	// What is inlined is in its own file.
	if !files["shapes.h"] || !files["shapes.cpp"] {
		t.Errorf("files: %v", files)
	}
}

// A program without debug information is worth a warning, one with other
// functions an error.
func TestViewMIPWithOtherProgram(t *testing.T) {
	_, data := shapesMIP(t)
	stripped := filepath.Join(t.TempDir(), "app")
	elf, err := os.ReadFile(filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stripped, elf, 0o666); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	v, err := formats.View("shapes.mip", data, formats.ViewOptions{ProfiledBinaries: []string{stripped}, Warn: func(err error) {
		warnings = append(warnings, err.Error())
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := v.(profile.LineView); ok || len(warnings) != 1 || !strings.Contains(warnings[0], "knows no source of any function") {
		t.Errorf("lines: %v, warnings: %q", ok, warnings)
	}
}
