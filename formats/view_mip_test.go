package formats_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/mip/buildid"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// shapesMIP merges the runs of a program with debug information.
func shapesMIP(t *testing.T) (program string, data []byte) {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "internal", "command", "testdata", "mip")
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
	table, _, err := mip.FindMap(program, read("shapes.elf"), "")
	check(err)
	r, err := mip.NewReader(program, table, nil)
	check(err)
	empty, err := r.Profile()
	check(err)
	m, err := mip.NewMerger(empty, mip.MergeOptions{})
	check(err)
	err = m.AddRaw("1", read("shapes-1.mipraw"), 1)
	check(err)
	err = m.AddRaw("2", read("shapes-2.mipraw"), 1)
	check(err)
	data, err = oracle.Written(func(w io.Writer) error { return mip.WriteMIP(w, m.Profile(), mip.WriteOptions{}) })
	check(err)
	return program, data
}

// notInstrumented is a program that is not profiled with MIP.
func notInstrumented(t *testing.T) string {
	return filepath.Join(oracle.Root(t), "testdata", "correlate", "debug-info.elf")
}

// The program adds files and lines, and the blocks that have no probe. Symbols are the same throughout the view.
func TestViewMIPWithProgram(t *testing.T) {
	program, data := shapesMIP(t)
	view := func(binaries ...string) (v profile.View, warnings []string) {
		v, err := formats.View("shapes.mip", data, formats.ViewOptions{Programs: binaries, Warn: func(w profile.Warning) {
			warnings = append(warnings, w.String())
		}})
		if err != nil {
			t.Fatal(err)
		}
		return v, warnings
	}
	plain, _ := view()
	// Programs of other profiles do not matter.
	v, warnings := view(filepath.Dir(program), notInstrumented(t), program)
	if len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	if _, ok := plain.(profile.LineView); ok || plain.Features().BlockLines {
		t.Error("there are lines without the program")
	}
	lines, ok := v.(profile.LineView)
	if !ok || !v.Features().BlockLines {
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
	files := make(map[string]bool)
	for l := range lines.Lines() {
		if l.Number == 0 || !known[l.Function] {
			t.Errorf("%+v", l)
		}
		files[filepath.Base(l.File)] = true
	}
	// What is inlined is in its own file.
	if !files["shapes.h"] || !files["shapes.cpp"] {
		t.Errorf("files: %v", files)
	}
}

// A program without debug information is worth a warning, one with other functions an error.
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
	v, err := formats.View("shapes.mip", data, formats.ViewOptions{Programs: []string{stripped}, Warn: func(w profile.Warning) {
		warnings = append(warnings, w.String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := v.(profile.LineView); ok || len(warnings) != 1 || !strings.Contains(warnings[0], "has no source line of any function") {
		t.Errorf("lines: %v, warnings: %q", ok, warnings)
	}
}

// In a folder the program is found by the build id beside the profile, and not
// by anything else. Where it is not found a warning says why.
func TestViewMIPFindsProgram(t *testing.T) {
	program, data := shapesMIP(t)
	elf := oracle.ReadFile(t, program)
	_, info, err := mip.FindMap(program, elf, "")
	if err != nil || len(info.BuildID) == 0 {
		t.Fatalf("build id %x, %v", info.BuildID, err)
	}
	calc := filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf")
	other, err := os.ReadFile(calc)
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("%x", info.BuildID)
	write := func(path string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text := "build-id " + id + "\n"
	for _, c := range []struct {
		name  string // of the program in the folder
		id    string // beside the profile
		warns string // without it the program is found
	}{
		{"some/where/app", text, ""},
		{".build-id/" + id[:2] + "/" + id[2:] + ".debug", text, ""},
		{".build-id/" + id[:2] + "/" + id[2:], text, ""},
		{"app", "", "build id, which is in a file beside a profile (.id), is not known"},
		{"app", "build-id 0102\n", "none of which is instrumented"},
		{"app", "build-id x\n", `build-id is "x"`},
	} {
		dir := t.TempDir()
		folder, file := filepath.Join(dir, "programs"), filepath.Join(dir, "shapes.mip")
		write(filepath.Join(folder, filepath.FromSlash(c.name)), elf)
		write(filepath.Join(folder, "a", "other"), other)
		write(filepath.Join(folder, "a", "text"), []byte("no program"))
		write(filepath.Join(folder, "a", "cut"), elf[:len(elf)/2])
		if c.id != "" {
			write(file+buildid.Suffix, []byte(c.id))
		}
		var warnings []string
		v, err := formats.View(file, data, formats.ViewOptions{Programs: []string{folder}, Warn: func(w profile.Warning) {
			warnings = append(warnings, w.String())
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, found := v.(profile.LineView)
		if found != (c.warns == "") || !strings.Contains(strings.Join(warnings, "\n"), c.warns) || found && len(warnings) > 0 {
			t.Errorf("%s, %q: found %v, warnings %q", c.name, c.id, found, warnings)
		}
		if ids := v.Identity().BuildIDs; c.id == text && (len(ids) != 1 || fmt.Sprintf("%x", ids[0]) != id) {
			t.Errorf("build ids %x", ids)
		}
	}

	file := filepath.Join(t.TempDir(), "shapes.mip")
	write(file+buildid.Suffix, []byte(text))
	for _, c := range []struct{ program, warns string }{
		{notInstrumented(t), "none of which is instrumented for MIP profiles"},
		{calc, "which are of other builds, want build id " + id},
		{t.TempDir(), "none of which is instrumented for MIP profiles"},
	} {
		var warnings []string
		v, err := formats.View(file, data, formats.ViewOptions{Programs: []string{c.program}, Warn: func(w profile.Warning) {
			warnings = append(warnings, w.String())
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := v.(profile.LineView); ok || len(warnings) != 1 || !strings.Contains(warnings[0], c.warns) {
			t.Errorf("%s: lines: %v, warnings: %q", c.program, ok, warnings)
		}
	}
	if _, err := formats.View(file, data, formats.ViewOptions{Programs: []string{filepath.Join(t.TempDir(), "missing")}}); err == nil {
		t.Error("a missing program is no error")
	}
}
