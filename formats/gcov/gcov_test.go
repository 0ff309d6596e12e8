package gcov

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
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

// TestLinesAsGCov: lines, functions and branches have the counts that gcov gives, byte for byte in its own document.
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

// TestRoundTrip: what is read of GCC 9 and later is written again byte for byte, without what stands behind the end.
func TestRoundTrip(t *testing.T) {
	for _, file := range oracle.Must(filepath.Glob(filepath.Join(testdata, "*.gcda")))(t) {
		data := oracle.ReadFile(t, file)
		c := oracle.Must(ReadCounts(file, data))(t)
		got, err := oracle.Written(c.Write)
		switch {
		case strings.Contains(file, "clang14"):
			if profile.ClassOf(err) != profile.ErrUnsupported {
				t.Errorf("%s: %v, want an error: counts of GCC 4.8 are only read", file, err)
			}
		case err != nil || !bytes.Equal(got, data):
			t.Errorf("%s: %v, other bytes:\n% x\n% x", file, err, got, data)
		}
		tailed := append(slices.Clone(data), "left by an older file"...)
		if again := oracle.Must(ReadCounts(file, tailed))(t); again.tail < 20 || err == nil && !bytes.Equal(oracle.Must(oracle.Written(again.Write))(t)[:len(data)-4], data[:len(data)-4]) {
			t.Errorf("%s: bytes behind the end: %d", file, again.tail)
		}
	}
}

// TestMergeAsGCovTool: a sum has the bytes of gcov-tool's. A list that is full keeps the most frequent values.
func TestMergeAsGCovTool(t *testing.T) {
	for _, release := range []string{"11", "12"} {
		read := func(n string) *Counts {
			name := "values" + n + "-gcc" + release + ".gcda"
			return oracle.Must(ReadCounts(name, fixture(t, name)))(t)
		}
		var m Merger
		oracle.NoError(t, m.Add(read("1"), 1), m.Add(read("2"), 1))
		if got := oracle.Must(oracle.Written(m.Counts(1).Write))(t); !bytes.Equal(got, fixture(t, "values12-gcc"+release+".gcda")) {
			t.Errorf("GCC %s: other bytes than gcov-tool", release)
		}
		// Weights that are not whole: 1.5 and 0.5 times.
		var half Merger
		oracle.NoError(t, half.Add(read("1"), 15), half.Add(read("1"), 5))
		got, want := half.Counts(10), read("1")
		want.Runs, want.Max = 2*want.Runs, 2*want.Max
		var twice Merger
		oracle.NoError(t, twice.Add(want, 2))
		want = twice.Counts(1)
		if want.Max = got.Max; !bytes.Equal(oracle.Must(oracle.Written(got.Write))(t), oracle.Must(oracle.Written(want.Write))(t)) {
			t.Errorf("GCC %s: 1.5 and 0.5 times are not 2 times", release)
		}
		var full Merger
		oracle.NoError(t, full.Add(read("3"), 1), full.Add(read("1"), 100))
		cut := 0
		for _, f := range full.Counts(1).Functions {
			for _, set := range f.Counters {
				for _, l := range set.Lists {
					if l.Total < 0 {
						cut++
					}
					if len(l.Values) > maxListed {
						t.Errorf("a list of %d values", len(l.Values))
					}
				}
			}
		}
		if cut == 0 || full.Cut == 0 {
			t.Errorf("GCC %s: %d lists with a negative total, %d cut", release, cut, full.Cut)
		}
		if err := m.Add(oracle.Must(ReadCounts("", fixture(t, "flow-gcc"+release+".gcda")))(t), 1); profile.ClassOf(err) != profile.ErrMismatch {
			t.Errorf("counts of another compilation: %v", err)
		}
	}
}
