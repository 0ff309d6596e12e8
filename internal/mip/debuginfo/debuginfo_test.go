package debuginfo_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// shapes is a program with debug information, calc one without.
func shapes(t *testing.T) string {
	return filepath.Join(oracle.Root(t), "internal", "command", "testdata", "mip", "shapes.elf")
}

func calc(t *testing.T) string { return filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf") }

func openProgram(path string) (*debuginfo.Program, error) {
	f, err := symbolize.Open(path, symbolize.Options{})
	if err != nil {
		return nil, err
	}
	p, err := debuginfo.New(f)
	if err != nil {
		f.Close()
	}
	return p, err
}

func open(t *testing.T, path string) *debuginfo.Program {
	t.Helper()
	p, err := openProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.File().Close() })
	return p
}

// emptyProfile is the profile of a program before it ran, runs added.
func emptyProfile(t *testing.T, program string, runs ...string) *mip.Profile {
	t.Helper()
	table, _, err := mip.FindMap(program, oracle.ReadFile(t, program), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := mip.Read(program, table, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mip.NewMerger(p, mip.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if err := m.AddRaw(run, oracle.ReadFile(t, filepath.Join(filepath.Dir(program), run)), 1); err != nil {
			t.Fatal(err)
		}
	}
	return m.Profile()
}

// Functions are where their source says, and blocks on lines of their function.
func TestSources(t *testing.T) {
	program := open(t, shapes(t))
	p := emptyProfile(t, shapes(t), "shapes-1.mipraw", "shapes-2.mipraw")
	full, err := program.Expand(p)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := program.Sources(full, func(w profile.Warning) { t.Error(w) })
	if err != nil || len(sources) != len(full.Functions) {
		t.Fatalf("%d functions, error %v", len(sources), err)
	}
	var declared []string
	for i := range sources {
		s, f := &sources[i], &full.Functions[i]
		declared = append(declared, fmt.Sprintf("%s %s:%d", f.Name, path.Base(s.Declared.File), s.Declared.Line))
		if s.Entry != s.Declared {
			t.Errorf("%s begins at %v and is declared at %v", f.Name, s.Entry, s.Declared)
		}
		for b, at := range s.Blocks {
			if f.Blocks[b].Offset == 0 {
				if at != (mip.Source{}) {
					t.Errorf("%s, block %d, which has no place: %+v", f.Name, b, at)
				}
				continue
			}
			if at.LineInFunction < s.Declared.Line || at.LineInFunction > s.Declared.Line+10 || at.File != s.Declared.File || at.Line != at.LineInFunction {
				t.Errorf("%s, block %d: %+v", f.Name, b, at)
			}
		}
	}
	if diff := cmp.Diff([]string{
		"_ZN6shapes4areaEi shapes.cpp:10", "_ZN6shapes6volumeEi shapes.cpp:16", "_ZN6shapes6unusedEi shapes.cpp:23",
		"main shapes.cpp:29", "_ZN6shapes8negativeEi shapes.h:8",
	}, declared); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

// What ran of the blocks without probes follows from the others; a profile
// without blocks stays what it is.
func TestExpand(t *testing.T) {
	program := open(t, shapes(t))
	p := emptyProfile(t, shapes(t), "shapes-1.mipraw", "shapes-2.mipraw")
	probes := emptyProfile(t, shapes(t), "shapes-1.mipraw", "shapes-2.mipraw")
	full, err := program.Expand(p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(probes, p); diff != "" {
		t.Errorf("the profile changed:\n%s", diff)
	}
	var got []string
	for i := range full.Functions {
		all, covered := full.Functions[i].Blocks, 0
		for _, b := range all {
			if b.Covered {
				covered++
			}
		}
		if len(all) < len(p.Functions[i].Blocks) {
			t.Errorf("%s has lost blocks", p.Functions[i].Name)
		}
		for _, b := range p.Functions[i].Blocks {
			if !slices.Contains(all, b) {
				t.Errorf("%s: block %+v is not in %+v", p.Functions[i].Name, b, all)
			}
		}
		got = append(got, fmt.Sprintf("%d of %d", covered, len(all)))
	}
	// All but unused, and the "return -1" of negative.
	if diff := cmp.Diff([]string{"3 of 3", "3 of 3", "0 of 0", "6 of 6", "2 of 3"}, got); diff != "" {
		t.Errorf("blocks but the entry (-want +got):\n%s", diff)
	}
	p.Type &^= mip.BlockCoverage
	if same, err := program.Expand(p); same != p || err != nil {
		t.Errorf("without block coverage: %p of %p, %v", same, p, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	oracle.WriteFile(t, text, []byte("int main(void) {}\n"))
	plain := filepath.Join(oracle.Root(t), "testdata", "correlate", "debug-info.elf")
	if _, err := openProgram(plain); !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), "not the program that was profiled") {
		t.Errorf("a program that is not instrumented: %v", err)
	}
	for _, path := range []string{text, filepath.Join(dir, "missing")} {
		if _, err := openProgram(path); err == nil || errors.Is(err, profile.ErrMismatch) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The program of a profile is that with its build id, by name or in a folder.
func TestFind(t *testing.T) {
	own := open(t, shapes(t)).File().BuildID
	folder := t.TempDir()
	oracle.WriteFile(t, filepath.Join(folder, "app"), oracle.ReadFile(t, shapes(t)))
	plain := filepath.Join(oracle.Root(t), "testdata", "correlate", "debug-info.elf")
	for _, c := range []struct {
		paths []string
		id    []byte
		want  string // of the error; "" for none
	}{
		{[]string{shapes(t)}, own, ""},
		{[]string{shapes(t)}, nil, ""},
		{[]string{plain, calc(t), shapes(t)}, own, ""},
		{[]string{folder}, own, ""},
		{[]string{calc(t), folder}, own, ""},
		{[]string{shapes(t), folder}, own[:4], fmt.Sprintf("not among those given, which are of other builds, want build id %x", own[:4])},
		{[]string{folder}, nil, "beside a profile (.id), is not known"},
		{[]string{plain}, own, "none of which is instrumented"},
		{nil, own, "none of which is instrumented"},
	} {
		programs, err := symbolize.OpenPrograms(c.paths, symbolize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := debuginfo.Find(programs, "app.mip", c.id)
		switch {
		case c.want == "":
			if err != nil || !bytes.Equal(found.File().BuildID, own) {
				t.Errorf("%q: %v", c.paths, err)
			}
		case found != nil || !errors.Is(err, profile.ErrMismatch) || !strings.HasPrefix(err.Error(), "app.mip: ") || !strings.Contains(err.Error(), c.want):
			t.Errorf("%q: %v, want %q", c.paths, err, c.want)
		}
		programs.Close()
	}
}

// Where its functions are tells a program of another build.
func TestCheck(t *testing.T) {
	program := open(t, shapes(t))
	p := emptyProfile(t, shapes(t))
	if err := program.Check(p); err != nil {
		t.Error(err)
	}
	p.Functions[1].Address++
	p.Functions[3].Address += 2
	err := program.Check(p)
	if want := ": functions that do not begin where its symbols do is 2, " + p.Functions[1].Name + " the first"; !errors.Is(err, profile.ErrMismatch) ||
		!strings.HasPrefix(err.Error(), shapes(t)+want) {
		t.Errorf("%v, want %q", err, want)
	}
	stripped := open(t, calc(t)) // which has no symbols
	if err := stripped.Check(p); err != nil {
		t.Error(err)
	}
}

// That no source is known at all is an error, and nothing to look up is none.
func TestWithoutDebugInformation(t *testing.T) {
	program := open(t, calc(t))
	p := emptyProfile(t, calc(t))
	if _, err := program.Sources(p, nil); err == nil || !strings.Contains(err.Error(), "has no source line of any function: was it built with -g?") {
		t.Errorf("error %v", err)
	}
	if s, err := program.Sources(&mip.Profile{Type: p.Type}, func(w profile.Warning) { t.Error(w) }); err != nil || len(s) != 0 {
		t.Errorf("no functions: %v, %v", s, err)
	}
}
