package irpgocmd

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// edits make later versions of the store program (testdata/irpgo/src): each changes, renames or adds functions.
var edits = []struct{ file, old, new string }{
	{"store.c", "if (len > sizeof e->value)", "if (len > sizeof e->value && value)"},
	{"report.cpp", "if (Limit && v > Limit)", "if (Limit && v > Limit && v != 7)"}, // in a COMDAT group
	{"main.c", "if (n == 8) {", "if (n == 8 || i == 3) {"},
	{"store.c", "take(", "draw("},
	{"store.c", "return -1;", "return cap ? -1 : -2;"},
	{"store.c", "return (void)a, (void)b, 0;", "return a > 5 && b > 6 && a < b - 1;"},
	{"store.c", "// Never called", "int store_any(void) { return buckets[0] ? 1 : buckets[1] != 0; }\n// Never called"},
	{"report.cpp", "if (v > peak)", "if (v > peak && peak < 1u << 30)"},
	{"report.cpp", "Mixed", "Blend"},
	{"report.cpp", "return s.total();", "return n > 90 ? 0 : s.total();"},
	{"main.c", "  case 3:\n", ""},
	{"main.c", "state = state * 1664525u", "if (!state)\n    state = 1;\n  state = state * 1664525u"},
	{"main.c", "long check = 0;", "long check = 1;"}, // nothing that counters see
}

// A warning is what clang prints of a function, or what the facts say that it will print.
type warning struct {
	function string
	hash     uint64
	counts   uint64 // "up to … count discarded"
}

// TestFitAgainstCompilers: what the facts say of compilers is what compilers print, for the profiles in testdata and
// versions of their program.
func TestFitAgainstCompilers(t *testing.T) {
	for _, release := range []int{22, 14, 16, 19} {
		for i, e := range edits {
			for kind, profile := range map[string]string{"generate": "ir-run1", "instr-generate": "fe"} {
				if kind != "generate" && i > 5 {
					continue
				}
				t.Run(fmt.Sprintf("clang%d/%s/%d", release, profile, i), func(t *testing.T) {
					if release != 22 || i > 1 {
						oracle.Slow(t)
					}
					t.Parallel()
					b := newLaterBuild(t, release, profile, kind)
					b.edit(e.file, e.old, e.new)
					b.compare(e.file)
				})
			}
		}
	}
}

// A laterBuild compiles a later version of the store program.
type laterBuild struct {
	t       *testing.T
	release int
	clang   string
	dir     string // has src
	profile string // indexed
	front   bool   // instrumented by the front end
}

func newLaterBuild(t *testing.T, release int, profile, kind string) *laterBuild {
	b := &laterBuild{
		t: t, release: release, clang: oracle.Tool(t, fmt.Sprint("clang-", release)),
		dir: t.TempDir(), front: kind == "instr-generate",
	}
	b.profile = filepath.Join(b.dir, "earlier.profdata")
	raw := filepath.Join(oracle.Root(t), "testdata", "irpgo", fmt.Sprint("clang", release), profile+".profraw")
	if _, stderr, code := oracle.Run(t, oracle.LLVM(t, release), "merge", "-o", b.profile, raw); code != 0 {
		t.Fatal(stderr)
	}
	return b
}

// edit writes a source file with all occurrences of old replaced.
func (b *laterBuild) edit(file, old, replacement string) {
	src := filepath.Join(oracle.Root(b.t), "testdata", "irpgo", "src")
	text := string(oracle.ReadFile(b.t, filepath.Join(src, file)))
	if !strings.Contains(text, old) {
		b.t.Fatalf("%s has no %q", file, old)
	}
	oracle.WriteFile(b.t, filepath.Join(b.dir, "src", file), []byte(strings.ReplaceAll(text, old, replacement)))
	oracle.WriteFile(b.t, filepath.Join(b.dir, "src", "store.h"), oracle.ReadFile(b.t, filepath.Join(src, "store.h")))
}

// compile compiles a file and returns the warnings.
func (b *laterBuild) compile(file string, flags ...string) string {
	_, stderr, code := oracle.RunIn(b.t, b.dir, b.clang, append(flags, "-O2", "-c", "src/"+file)...)
	if code != 0 {
		b.t.Fatal(stderr)
	}
	return stderr
}

func (b *laterBuild) compare(file string) {
	flags := []string{"-fprofile-generate"}
	use := []string{
		"-fprofile-use=" + b.profile, "-Wprofile-instr-out-of-date", "-Wprofile-instr-unprofiled", "-Wprofile-instr-missing",
		"-emit-llvm", "-o", "/dev/null",
	}
	switch {
	case b.front:
		flags = []string{"-fprofile-instr-generate", "-fcoverage-mapping"}
	case b.release == 14:
		use = append(use, "-mllvm", "-pgo-warn-missing-function", "-mllvm", "-no-pgo-warn-mismatch-comdat=false")
	default:
		use = append(use, "-mllvm", "-pgo-warn-missing-function", "-mllvm", "-no-pgo-warn-mismatch-comdat-weak=false")
	}
	b.compile(file, append(flags, "-o", "later.o")...)
	printed := b.compile(file, use...)
	d := oracle.Must(readDemand(family.Program{Path: filepath.Join(b.dir, "later.o")}, nil))(b.t)
	p := oracle.Must(irpgo.Read(b.profile, oracle.ReadFile(b.t, b.profile), irpgo.ReaderOptions{}))(b.t)
	oracle.NoError(b.t, d.admit(p, "later.o", b.profile))
	fit := compareWithDemand(p, d, "later.o")
	fit.fit()
	facts := fit.facts
	if b.front {
		w := facts.Warnings
		if b.release == 14 {
			w.Mismatched, w.Missing = w.Mismatched+w.Unlike, w.Missing-w.Unlike
		}
		w.Unlike = 0
		b.compareFrontEnd(printed, w)
		return
	}
	var want, got []warning
	for _, m := range regexp.MustCompile(`\(hash mismatch\) (\S+) Hash = (\d+)(?: up to (\d+) count discarded)?`).FindAllStringSubmatch(printed, -1) {
		w := warning{function: m[1]}
		w.hash, _ = strconv.ParseUint(m[2], 10, 64)
		w.counts, _ = strconv.ParseUint(m[3], 10, 64) // clang 14 does not say
		want = append(want, w)
	}
	for _, fn := range facts.Stale {
		for _, hash := range fn.ProgramHashes {
			if fn.Condition != conditionTexts[changed].what {
				continue
			}
			w := warning{counts: fn.Warned}
			_, w.function = irpgo.SplitName(fn.Name)
			w.hash = oracle.Must(strconv.ParseUint(hash, 16, 64))(b.t)
			if b.release == 14 {
				w.counts = 0
			}
			got = append(got, w)
		}
	}
	byName := func(a, b warning) int { return strings.Compare(a.function, b.function) }
	slices.SortFunc(want, byName)
	slices.SortFunc(got, byName)
	missing := strings.Count(printed, "no profile data available for function")
	if !slices.Equal(got, want) || facts.Warnings.Mismatched != len(want) || facts.Warnings.Missing != missing || facts.Warnings.Inconsistent != 0 {
		b.t.Errorf("got %+v of %+v\nclang prints %s", got, facts.Warnings, printed)
	}
}

// compareFrontEnd compares with the numbers that the front end prints: of functions, and with mismatched or no data.
func (b *laterBuild) compareFrontEnd(printed string, got warningFacts) {
	var want warningFacts
	for pattern, n := range map[string]*int{"of date: of %s has mismatched": &want.Mismatched, "incomplete: of %s has no data": &want.Missing} {
		pattern = strings.Replace(strings.Replace(pattern, "has", "(?:has|have)", 1), "%s", `(\d+) functions?, (\d+)`, 1)
		if m := regexp.MustCompile(pattern).FindStringSubmatch(printed); m != nil {
			want.Functions, _ = strconv.Atoi(m[1])
			*n, _ = strconv.Atoi(m[2])
		}
	}
	if want.Functions == 0 {
		want.Functions = got.Functions // it prints nothing
	}
	if got != want {
		b.t.Errorf("got %+v, want %+v\nclang prints %s", got, want, printed)
	}
}
