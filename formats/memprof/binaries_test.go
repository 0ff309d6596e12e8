package memprof

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFolders finds programs by build id.
func TestFolders(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-pie")
	raw := f.read(t, RawOptions{})
	want, _ := symbolizeRaw(t, raw, openBinaries(t, f.program), SymbolizeOptions{})
	id := hex.EncodeToString(openProgram(t, f.program).BuildID)
	data := oracle.ReadFile(t, f.program)
	for _, name := range []string{
		"some/where/program", ".build-id/" + id[:2] + "/" + id[2:] + ".debug", ".build-id/" + id[:2] + "/" + id[2:],
	} {
		dir := t.TempDir()
		place := filepath.Join(dir, filepath.FromSlash(name))
		for path, b := range map[string][]byte{
			place:                          data,
			filepath.Join(dir, "text"):     []byte("no program"),
			filepath.Join(dir, "broken"):   data[:100],
			filepath.Join(dir, "a", "cut"): data[:len(data)/2],
		} {
			must(t, os.MkdirAll(filepath.Dir(path), 0o777))
			oracle.WriteFile(t, path, b)
		}
		// Others given by name do not matter.
		other := rawFixtureNamed(t, "clang19-pie")
		p, about := symbolizeRaw(t, raw, openBinaries(t, other.program, dir), SymbolizeOptions{})
		if about.Programs[0].File != place || !maps.Equal(contextIDs(p), contextIDs(want)) {
			t.Errorf("%s: took %+v", name, about.Programs)
		}
	}
	v2 := rawFixtureNamed(t, "clang16-fixed").read(t, RawOptions{})
	_, _, err := v2.Symbolize(openBinaries(t, filepath.Dir(f.program)), SymbolizeOptions{})
	if !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), "version 2 has no build ids, want given by name") {
		t.Errorf("version 2 with a folder: %v", err)
	}
}

// TestWrongProgram: the error names what was found and what was wanted.
func TestWrongProgram(t *testing.T) {
	f, other := rawFixtureNamed(t, "clang22-pie"), rawFixtureNamed(t, "clang19-pie")
	raw := f.read(t, RawOptions{})
	want, found := openProgram(t, f.program).BuildID, openProgram(t, other.program).BuildID
	for _, c := range []struct {
		name     string
		raw      *RawProfile
		programs []string
		words    []string
		llvm     string
	}{
		{
			"other", raw,
			[]string{other.program},
			[]string{hex.EncodeToString(want), hex.EncodeToString(found), other.program},
			"No matching executable segments found in binary " + other.program,
		},
		{"folder", raw, []string{t.TempDir()}, []string{hex.EncodeToString(want), "those in "}, "No matching executable segments"},
		{
			"none", raw, nil,
			[]string{"not given", hex.EncodeToString(want)},
			"\nPath to profiled binary is empty, expected binary with one of the following build ids:\n\n BuildId: " + hex.EncodeToString(want),
		},
		{"version 1", rawFixtureNamed(t, "clang14-pie").read(t, RawOptions{}), []string{f.program}, []string{"not known in version 1", hex.EncodeToString(want)}, "No matching"},
	} {
		_, _, err := c.raw.Symbolize(openBinaries(t, c.programs...), SymbolizeOptions{})
		if !errors.Is(err, profile.ErrMismatch) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v does not name %s", c.name, err, w)
			}
		}
		if got := llvmerr.HeapMessage(err); !strings.HasPrefix(got, c.llvm) {
			t.Errorf("%s: LLVM's words are %q, want %q", c.name, got, c.llvm)
		}
	}
	for _, path := range []string{"missing", f.file} {
		if _, err := symbolize.OpenPrograms([]string{f.program, path}, symbolize.Options{}); err == nil {
			t.Errorf("%s is taken for a program", path)
		}
	}
}

// TestWrongProgramInLLVMsWords compares what is said of programs that llvm-profdata does not take.
func TestWrongProgramInLLVMsWords(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	oracle.Tool(t, "ld.lld-22")
	f := rawFixtureNamed(t, "clang22-pie")
	dir := t.TempDir()
	source := filepath.Join(dir, "x.c")
	oracle.WriteFile(t, source, []byte("int f(void) { return 1; }\n"))
	link := func(name string, args ...string) string {
		out := filepath.Join(dir, name)
		if _, stderr, code := oracle.Run(t, clang, append(args, "-fuse-ld=lld-22", "-nostdlib", "-shared", source, "-o", out)...); code != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	raw := f.read(t, RawOptions{LLVMCompat: true})
	for _, program := range []string{
		rawFixtureNamed(t, "clang19-pie").program,
		link("arm", "--target=aarch64-linux-gnu"),
		link("without-id", "-Wl,--build-id=none"),
		link("without-code", "-Wl,--build-id", "-Wl,--omagic"),
		"",
	} {
		args := []string{"show", "--memory", f.file}
		var programs []string
		if program != "" {
			args = append(args, "--profiled-binary="+program)
			programs = append(programs, program)
		}
		_, want, code := oracle.Run(t, oracle.LLVM(t, 22), args...)
		_, _, err := raw.Symbolize(openBinaries(t, programs...), SymbolizeOptions{LLVMCompat: true})
		if code == 0 || err == nil {
			t.Errorf("%s: taken", program)
			continue
		}
		if got := "error: " + llvmerr.HeapMessage(err); got != strings.TrimRight(want, "\n") {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}

// TestSplitMissing: a missing file with debug information is named.
func TestSplitMissing(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-split")
	program := filepath.Join(t.TempDir(), "program")
	oracle.WriteFile(t, program, oracle.ReadFile(t, f.program))
	raw := f.read(t, RawOptions{})
	b := openBinaries(t, program)
	for range 2 { // it is not forgotten
		if _, _, err := raw.Symbolize(b, SymbolizeOptions{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), ".dwo") {
			t.Errorf("error %v, want one that names a .dwo file", err)
		}
	}
	var warned error
	_, _, err := raw.Symbolize(b, SymbolizeOptions{LLVMCompat: true, Warn: func(w profile.Warning) { warned = w.Err }})
	if !errors.Is(warned, fs.ErrNotExist) || !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), "debug information") {
		t.Errorf("lenient: warned of %v, error %v", warned, err)
	}
	withDWP, err := symbolize.OpenPrograms([]string{program}, symbolize.Options{DWP: f.program + ".dwp"})
	must(t, err)
	defer withDWP.Close()
	symbolizeRaw(t, raw, NewBinaries(withDWP), SymbolizeOptions{})
}
