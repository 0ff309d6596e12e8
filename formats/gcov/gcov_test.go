package gcov

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

const testdata = "../../testdata/gcov"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, filepath.Join(testdata, name))
}

// unit reads the notes and counts of NAME.gcno and NAME.gcda in a folder.
func unit(t testing.TB, stem string) *Unit {
	t.Helper()
	n := oracle.Must(ReadNotes(stem+".gcno", oracle.ReadFile(t, stem+".gcno")))(t)
	c := oracle.Must(ReadCounts(stem+".gcda", oracle.ReadFile(t, stem+".gcda")))(t)
	return oracle.Must(NewUnit(n, c))(t)
}

// differAt returns where two texts differ, with what is around.
func differAt(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-200)
	return "got  …" + got[from:min(len(got), i+60)] + "\nwant …" + want[from:min(len(want), i+60)]
}

// TestLinesAsGCov: counts of lines, functions and branches are those of gcov, byte for byte in its own document.
func TestLinesAsGCov(t *testing.T) {
	files := oracle.Must(filepath.Glob(filepath.Join(testdata, "*.json")))(t)
	if len(files) < 6 {
		t.Fatal(files)
	}
	for _, file := range files {
		stem := strings.TrimSuffix(file, ".json")
		u := unit(t, stem)
		if got, want := asJSON(u.Notes, u, filepath.Base(stem)), withoutDemangled(string(oracle.ReadFile(t, file))); got != want {
			t.Errorf("%s: %s", file, differAt(got, want))
		}
	}
}

// TestLinesAsGCovLive compiles programs, runs them, and compares with the gcov of the compiler.
func TestLinesAsGCovLive(t *testing.T) {
	oracle.Slow(t)
	src := oracle.Must(filepath.Abs(filepath.Join(testdata, "src")))(t)
	for _, c := range []struct{ compiler, gcov, source string }{
		{"gcc-11", "gcov-11", "flow.c"},
		{"gcc-12", "gcov-12", "flow.c"},
		{"g++-12", "gcov-12", "shapes.cpp"},
		{"gfortran-12", "gcov-12", "sums.f90"},
	} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(c.compiler+level+c.source, func(t *testing.T) {
				compiler, gcov := oracle.Tool(t, c.compiler), oracle.Tool(t, c.gcov)
				dir := t.TempDir()
				if _, stderr, code := oracle.RunIn(t, dir, compiler, level, "--coverage", filepath.Join(src, c.source), "-o", "a.out"); code != 0 {
					t.Fatal(stderr)
				}
				oracle.RunIn(t, dir, filepath.Join(dir, "a.out"))
				files := oracle.Must(filepath.Glob(filepath.Join(dir, "*.gcda")))(t)
				if len(files) != 1 {
					t.Fatal(files)
				}
				want, stderr, _ := oracle.RunIn(t, dir, gcov, "-t", "--json-format", "-a", "-b", filepath.Base(files[0]))
				if stderr != "" {
					t.Fatal(stderr)
				}
				stem := strings.TrimSuffix(files[0], ".gcda")
				u := unit(t, stem)
				if got := asJSON(u.Notes, u, filepath.Base(files[0])); got != withoutDemangled(want) {
					t.Error(differAt(got, withoutDemangled(want)))
				}
			})
		}
	}
}
