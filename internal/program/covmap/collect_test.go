package covmap

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// collect evaluates a profile on the mappings of objects.
func collect(t testing.TB, p *irpgo.Profile, objects ...string) *coverage.Coverage {
	t.Helper()
	var maps []*Mapping
	for _, o := range objects {
		maps = append(maps, readMappings(t, o)...)
	}
	c, err := Evaluate(maps, p, EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Collect(false)
}

func readMappings(t testing.TB, object string) []*Mapping {
	t.Helper()
	m, err := Read(object, oracle.ReadFile(t, object), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// counted returns the records of one kind of a tracefile, by source file.
func counted(text, key string) map[string][]string {
	all := make(map[string][]string)
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "SF:"); ok {
			file = name
		}
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			all[file] = append(all[file], value)
		}
	}
	return all
}

// mended are the lines of macros that llvm-cov counts twice, with the counts that their branches have.
var mended = map[string]string{"conditions.c:2,12": "2,6", "conditions.c:3,12": "3,6", "shapes.h:4,6": "4,3"}

// TestCollectAgreesWithLLVM: lines and calls are the lines and calls of llvm-cov, for all fixtures, but for
// mended. So are functions and regions, but for templates and macros, of which llvm-cov counts the instance
// with the most.
func TestCollectAgreesWithLLVM(t *testing.T) {
	names, err := filepath.Glob(testdata + "/*.proftext")
	if err != nil || len(names) < 6 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(name, ".proftext")
		t.Run(filepath.Base(base), func(t *testing.T) {
			c := collect(t, readProfile(t, name), base+".o")
			var b bytes.Buffer
			if err := coverage.Write(&b, c, "lcov", coverage.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			want := string(oracle.ReadFile(t, base+".lcov"))
			for _, key := range []string{"DA", "FNDA", "FNF"} {
				got, want := counted(b.String(), key), counted(want, key)
				for file := range want {
					for i, line := range want[file] {
						if own, ok := mended[file+":"+line]; ok && key == "DA" {
							want[file][i] = own
						}
					}
					slices.Sort(got[file])
					slices.Sort(want[file])
					if key == "FNF" && strings.HasPrefix(filepath.Base(base), "shapes") {
						continue
					}
					if !slices.Equal(got[file], want[file]) {
						t.Errorf("%s of %s: %v, llvm-cov has %v", key, file, got[file], want[file])
					}
				}
			}
		})
	}
}

// TestCollectMacros: each condition of a macro is a branch at its place, with the counts
// of all uses; nothing is added up that differs.
func TestCollectMacros(t *testing.T) {
	c := collect(t, readProfile(t, testdata+"/conditions-22.proftext"), testdata+"/conditions-22.o")
	var got []string
	for _, b := range c.Files[0].Branches {
		if b.Line < 4 { // the macros
			got = append(got, fmt.Sprint(b.Line, b.Column, b.Ways))
		}
	}
	if want := []string{"2 21 [4 2]", "2 28 [4 0]", "3 37 [0 2]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Programs that a test compiles and runs are compiled in a folder.
type compiled struct {
	t   *testing.T
	dir string
}

// make compiles the source with the flags, runs the program and returns its path and that of its raw profile.
func (b compiled) make(name, source string, flags ...string) (program, profile string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name+".cpp")
	if err := os.WriteFile(path, []byte(source), 0o666); err != nil {
		b.t.Fatal(err)
	}
	program, profile = filepath.Join(b.dir, name), filepath.Join(b.dir, name+".profraw")
	args := append([]string{"-Wl,--build-id", "-fprofile-instr-generate=" + profile, "-fcoverage-mapping", "-o", program, path}, flags...)
	if _, stderr, code := oracle.Run(b.t, oracle.Tool(b.t, "clang++-22"), args...); code != 0 {
		b.t.Fatal(stderr)
	}
	oracle.Run(b.t, program)
	return program, profile
}

// sum merges raw profiles.
func sum(t *testing.T, names ...string) *irpgo.Profile {
	t.Helper()
	m := irpgo.NewMerger(irpgo.MergeOptions{})
	for _, name := range names {
		r, err := irpgo.NewReader(name, oracle.ReadFile(t, name), irpgo.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Add(r, 1); err != nil {
			t.Fatal(err)
		}
	}
	return m.Finish().Profile()
}

const sharedHeader = `inline int pick(int a) {
#ifdef EXTRA
  if (a > 100) {
    a = 7;
  }
#endif
  auto f = [](int b) {
    return b + 1;
  };
  if (a > 3)
    return f(a);
  return 2;
}
template <class T> T twice(T a) {
  if (a > 10)
    return a;
  return 2 * a;
}
inline int same(int a) {
  return a + 1;
}
`

// TestTwoPrograms: of a header that two programs compile differently nothing is lost, nor
// counted twice: a version in which lines are left out hides none of the other, a lambda
// hides the functions around it, functions compiled alike count once.
func TestTwoPrograms(t *testing.T) {
	b := compiled{t, t.TempDir()}
	oracle.WriteFile(t, filepath.Join(b.dir, "shared.h"), []byte(sharedHeader))
	first, firstRaw := b.make("first", "#include \"shared.h\"\nint first() { return pick(1) + twice(1) + same(1); }\nint main() { return first() * 0; }\n")
	second, secondRaw := b.make("second", "#define EXTRA\n#include \"shared.h\"\nint second() { return pick(201) + pick(2) + twice(51) + twice(1.5) + same(2); }\nint main() { return second() * 0; }\n")
	var want []string
	for _, order := range [][]string{{first, second}, {second, first}} {
		c := collect(t, sum(t, firstRaw, secondRaw), order...)
		if len(c.Misfits) > 0 || c.Unplaced.Functions.Total > 0 {
			t.Errorf("%+v", c.Misfits)
		}
		i := slices.IndexFunc(c.Files, func(f *coverage.File) bool { return filepath.Base(f.Path) == "shared.h" })
		var got []string
		for _, l := range c.Files[i].Lines {
			got = append(got, fmt.Sprintf("%d:%d", l.Number, l.Count))
		}
		want = strings.Fields("1:3 2:2 3:2 4:1 5:1 6:2 7:3 8:1 9:1 10:3 11:1 12:2 13:3 14:3 15:3 16:1 17:2 18:3 19:2 20:2 21:2")
		if !slices.Equal(got, want) {
			t.Errorf("%v: lines\n%v, want\n%v", order, got, want)
		}
		total := c.Files[i].Total
		if total.Functions != (coverage.Ratio{Total: 4, Covered: 4}) || total.Instantiations != (coverage.Ratio{Total: 6, Covered: 6}) {
			t.Errorf("%+v", total)
		}
		for _, f := range c.Files[i].Functions {
			if want := map[string]uint64{"_Z4samei": 2, "_Z5twiceIiET_S0_": 2, "_Z5twiceIdET_S0_": 1}[f.Name]; want > 0 && f.Calls != want {
				t.Errorf("%s: %d calls, want %d", f.Name, f.Calls, want)
			}
		}
	}
}

// TestMismatchCauses: each function that does not fit has its probable cause.
func TestMismatchCauses(t *testing.T) {
	b := compiled{t, t.TempDir()}
	oracle.WriteFile(t, filepath.Join(b.dir, "shared.h"), []byte(sharedHeader))
	const source = "#include \"shared.h\"\nint main() { return pick(1) * 0; }\n"
	first, firstRaw := b.make("first", source)
	second, secondRaw := b.make("second", source, "-DEXTRA")
	without, _ := b.make("without", source, "-DEXTRA", "-Wl,--build-id=none")
	only := func(what string, c *coverage.Coverage, cause string) {
		t.Helper()
		if len(c.Misfits) != 1 || c.Misfits[0].Function != "_Z4picki" || !strings.Contains(c.Misfits[0].Cause, cause) ||
			len(c.Misfits[0].Have) != 1 || c.Misfits[0].Hash == c.Misfits[0].Have[0] {
			t.Errorf("%s: %+v, want %q", what, c.Misfits, cause)
		}
	}
	only("stale", collect(t, sum(t, firstRaw), second), "stale object: no profile is of a program with its build id")
	only("stale, without id", collect(t, sum(t, firstRaw), without), "stale object: the source or the flags")
	only("beside", collect(t, sum(t, firstRaw), without, first), "than in "+first)
	// Some linkers keep both mappings of a function of which they keep one copy.
	maps := append(readMappings(t, first), readMappings(t, second)...)
	maps[0].Records = append(maps[0].Records, maps[1].Records...)
	both, err := Evaluate(maps[:1], sum(t, firstRaw), EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	short := sum(t, firstRaw)
	for i := range short.Functions {
		if f := &short.Functions[i]; f.Name == "_Z4picki" {
			f.Records[0].Counts = f.Records[0].Counts[:1]
		}
	}
	if c := collect(t, short, first); len(c.Misfits) != 1 || !strings.Contains(c.Misfits[0].Cause, "fewer counters") {
		t.Errorf("short: %+v", c.Misfits)
	}
	only("twice", both.Collect(false), "an inline function compiled twice")
	if c := collect(t, sum(t, firstRaw, secondRaw), first, second); len(c.Misfits) > 0 {
		t.Errorf("both: %+v", c.Misfits)
	}
}

// TestRanOnly: for any subset of the functions of a profile, the files in which something
// ran are those of the whole coverage, and in the others nothing ran.
func TestRanOnly(t *testing.T) {
	p := readProfile(t, testdata+"/shapes-22.proftext")
	maps := append(readMappings(t, testdata+"/shapes-22.o"), readMappings(t, testdata+"/conditions-22.o")...)
	left := 0
	for i := range len(p.Functions) + 1 {
		some := *p
		some.Functions = p.Functions[min(i, len(p.Functions)):min(i+1, len(p.Functions))] // each by itself, and none
		var results [2]*coverage.Coverage
		for k := range results {
			c, err := Evaluate(maps, &some, EvaluateOptions{RanOnly: k == 1})
			if err != nil {
				t.Fatal(err)
			}
			results[k] = c.Collect(false)
		}
		ran := make(map[string]*coverage.File)
		for _, f := range results[1].Files {
			ran[f.Path] = f
		}
		for _, f := range results[0].Files {
			switch {
			case ran[f.Path] != nil:
				if !reflect.DeepEqual(ran[f.Path], f) {
					t.Errorf("function %d: %s differs", i, f.Path)
				}
				delete(ran, f.Path)
			case f.Total.Lines.Covered+f.Total.Functions.Covered > 0:
				t.Errorf("function %d: %s is left out", i, f.Path)
			default:
				left++
			}
		}
		if len(ran) > 0 {
			t.Errorf("function %d: further files %v", i, ran)
		}
	}
	if left == 0 {
		t.Error("no file is left out")
	}
}
