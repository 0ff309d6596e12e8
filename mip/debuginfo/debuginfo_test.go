package debuginfo_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
)

// shapes is a program with debug information, calc one without.
func shapes(t *testing.T) string {
	return filepath.Join(oracle.Root(t), "cmd", "profuse", "testdata", "mip", "shapes.elf")
}

func calc(t *testing.T) string { return filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf") }

func open(t *testing.T, path string) *debuginfo.Program {
	t.Helper()
	p, err := debuginfo.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// emptyProfile is the profile of a program before it ran, runs added.
func emptyProfile(t *testing.T, program string, runs ...string) *mip.Profile {
	t.Helper()
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	table, _, err := mip.FindMap(program, read(program), mip.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := mip.Read(program, table, mip.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mip.NewMerger(p, mip.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if _, err := m.AddRaw(run, read(filepath.Join(filepath.Dir(program), run)), 1); err != nil {
			t.Fatal(err)
		}
	}
	return m.Profile()
}

func place(p mip.Place) string { return fmt.Sprintf("%s:%d", path.Base(p.File), p.Line) }

// Functions are where their source says, and blocks on lines of their function.
func TestSources(t *testing.T) {
	program := open(t, shapes(t))
	p := emptyProfile(t, shapes(t), "shapes-1.mipraw", "shapes-2.mipraw")
	full, err := program.Expand(p)
	if err != nil {
		t.Fatal(err)
	}
	sources, problems, err := program.Sources(full)
	if err != nil || len(problems) > 0 || len(sources.Functions) != len(full.Functions) {
		t.Fatalf("%d functions, problems %q, error %v", len(sources.Functions), problems, err)
	}
	var declared []string
	for i := range sources.Functions {
		s, f := &sources.Functions[i], &full.Functions[i]
		declared = append(declared, f.Name+" "+place(s.Declared))
		if s.Entry.Place != s.Declared || s.Entry.LineInFunction != s.Declared.Line {
			t.Errorf("%s begins at %v and is declared at %v", f.Name, s.Entry, s.Declared)
		}
		for b, at := range s.Blocks {
			if f.Blocks[b].Offset == 0 {
				if at != (mip.BlockSource{}) {
					t.Errorf("%s, block %d, which has no place: %+v", f.Name, b, at)
				}
				continue
			}
			if at.LineInFunction < s.Declared.Line || at.LineInFunction > s.Declared.Line+10 || at.Place != (mip.Place{File: s.Declared.File, Line: at.LineInFunction}) {
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
	probes := p.Clone()
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
	if err := os.WriteFile(text, []byte("int main(void) {}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(oracle.Root(t), "testdata", "correlate", "debug-info.elf")
	if _, err := debuginfo.Open(plain, ""); !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), "not the program that was profiled") {
		t.Errorf("a program that is not instrumented: %v", err)
	}
	for _, path := range []string{text, filepath.Join(dir, "missing")} {
		if _, err := debuginfo.Open(path, ""); err == nil || errors.Is(err, profile.ErrMismatch) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := (*debuginfo.Program)(nil).Close(); err != nil {
		t.Error(err)
	}
}

// A program of another build is told by its build id, or by where its functions
// are.
func TestOtherBuild(t *testing.T) {
	program := open(t, shapes(t))
	own := program.File().BuildID()
	for _, c := range []struct {
		want  []byte
		other bool
	}{{own, false}, {nil, false}, {bytes.Repeat([]byte{1}, len(own)), true}, {own[:4], true}} {
		if got, other := program.OtherBuild(c.want); other != c.other || !bytes.Equal(got, own) {
			t.Errorf("%x for %x: %v", got, c.want, other)
		}
	}
	p := emptyProfile(t, shapes(t))
	if n, first := program.Displaced(p); n != 0 {
		t.Errorf("%d functions are elsewhere, %s", n, first)
	}
	p.Functions[1].Address++
	p.Functions[3].Address += 2
	if n, first := program.Displaced(p); n != 2 || first != p.Functions[1].Name {
		t.Errorf("%d functions are elsewhere, %s", n, first)
	}
	stripped := open(t, calc(t)) // which has no symbols
	if n, _ := stripped.Displaced(p); n != 0 {
		t.Errorf("%d functions are not at symbols, of which there are none", n)
	}
}

// That no source is known at all is an error, and nothing to look up is none.
func TestWithoutDebugInformation(t *testing.T) {
	program := open(t, calc(t))
	p := emptyProfile(t, calc(t))
	if _, _, err := program.Sources(p); err == nil || !strings.Contains(err.Error(), "knows no source of any function: is it built with -g?") {
		t.Errorf("error %v", err)
	}
	if s, problems, err := program.Sources(&mip.Profile{Type: p.Type}); err != nil || len(problems) > 0 || len(s.Functions) != 0 {
		t.Errorf("no functions: %v, %q, %v", s, problems, err)
	}
}
