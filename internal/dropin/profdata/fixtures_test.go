package profdata

import (
	"path"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A knownDifference is a fixture that does not come out as from llvm-profdata
// 22, on purpose. docs/differences.md has the reasons at length.
type knownDifference struct {
	fixture string // pattern of its path
	option  string // only with this option, if set
	where   string // as outcome.differ says; "…" if LLVM's result varies
	why     string
}

var knownDifferences = []knownDifference{
	{"*/correlate-*.profraw", "", "stderr", "LLVM does not say that there is nothing in the file"},
	{"*/temporal-function-entry.profraw", "", "…", "LLVM reads memory beyond the counters"},
	{"clang*/concat*.profraw", "-topn", "…", "LLVM prints names that it has freed"},
	{"*/memprof.profdata", "merge -o", "file", "LLVM writes an empty memprof section"},
	{"*/memprof-[iv]*.profdata", "merge -o", "file", "LLVM writes an empty memprof section"},
	{"text/hash-all-ones.proftext", "merge", "…", "LLVM loses the hash that its map reserves"},
	{"text/bitmaps.proftext", "show -text", "stdout", "LLVM gives a record without bitmap the bitmap of the record before it"},
	{"text/mismatch*.proftext", "show -text", "stdout", "LLVM gives a record without bitmap the bitmap of the record before it"},
	{"text/llvm22-mcdc.proftext", "show -text", "stdout", "LLVM gives a record without bitmap the bitmap of the record before it"},
	{"text/temporal.proftext", "order", "…", "LLVM forgets the names of functions that are in traces alone"},
	{"text/temporal.proftext", "-temporal-profile-traces", "stdout", "LLVM forgets the names of functions that are in traces alone"},
}

func lookup(fixture, args string) (knownDifference, bool) {
	for _, d := range knownDifferences {
		if ok, _ := path.Match(d.fixture, fixture); ok && strings.Contains(args, d.option) {
			return d, true
		}
	}
	return knownDifference{}, false
}

// fixtureRun is one command line on one fixture.
type fixtureRun struct {
	fixture oracle.Fixture
	line    string
	llvm    <-chan outcome
}

func (r fixtureRun) args() []string { return append(strings.Fields(r.line), r.fixture.File()) }

// compareFixtures runs the command lines on every fixture that LLVM 22 reads. LLVM 22 refuses raw profiles of other
// versions, which another release of LLVM must read, and profiles beyond its limits. The first few lines always run
// on LLVM 22's own versions and on text, the rest with the slow tests.
func compareFixtures(t *testing.T, few int, lines ...string) {
	exe := oracle.LLVM(t, 22)
	fixtures := oracle.Fixtures(t)
	t.Chdir(t.TempDir())
	var always, rest []fixtureRun
	more := 0
	for _, f := range fixtures {
		version := strings.Contains(f.Error, "version mismatch")
		if !f.Readable(22) {
			reads := runMain(t, "", fixtureRun{fixture: f, line: lines[0]}.args()).code == 0
			if version && len(f.ReadableBy) > 0 && !reads && !strings.HasSuffix(f.Path, "/huge.profraw") {
				t.Errorf("%s, which LLVM %v reads, is refused", f.Path, f.ReadableBy)
			}
			if reads {
				more++
			}
			if reads || version {
				continue
			}
		}
		newest := strings.HasSuffix(f.Producer, "22") || f.Producer == "text"
		for i, line := range lines {
			if r := (fixtureRun{fixture: f, line: line}); newest && i < few {
				always = append(always, r)
			} else {
				rest = append(rest, r)
			}
		}
	}
	t.Logf("%d profiles are read that LLVM 22 does not read", more)
	t.Run("newest", func(t *testing.T) { compareRuns(t, exe, always) })
	t.Run("rest", func(t *testing.T) {
		oracle.Slow(t)
		compareRuns(t, exe, rest)
	})
}

func compareRuns(t *testing.T, exe string, runs []fixtureRun) {
	llvm := startLLVM(t, exe, nil)
	for i := range runs {
		runs[i].llvm = llvm.run("", runs[i].args())
	}
	llvm.start()
	different := 0
	for _, r := range runs {
		t.Run(r.fixture.Path+" "+r.line, func(t *testing.T) {
			ours, llvm := compared(runMain(t, "", r.args())), <-r.llvm
			d, known := lookup(r.fixture.Path, r.line)
			if !known {
				report(t, ours, llvm)
				return
			}
			different++
			if got := strings.Join(ours.differ(llvm), ", "); d.where != "…" && got != d.where {
				t.Errorf("they differ in %q, but should in %q: %s", got, d.where, d.why)
			}
		})
	}
	t.Logf("%d runs compared, %d of them known to differ", len(runs), different)
}

func TestShowFixtures(t *testing.T) {
	compareFixtures(t, 2,
		"show -all-functions -counts -ic-targets -memop-sizes -show-vtables",
		"show -function=a -counts -detailed-summary -topn=7 -hot-func-list -binary-ids -profile-version -temporal-profile-traces",
		"show",
		"show -text -all-functions",
		"show -covered",
		"show -showcs -all-functions -counts -ic-targets -memop-sizes",
		"show -value-cutoff=10 -list-below-cutoff -detailed-summary -detailed-summary-cutoffs=1,5000,123456,800000,999999",
		"show -value-cutoff=3 -function=store -show-vtables -memop-sizes",
	)
}

func TestMergeFixtures(t *testing.T) {
	compareFixtures(t, 1, "merge -o out -j 1", "merge -text -sparse", "merge -o out -sparse -failure-mode=warn")
}

func TestOrderFixtures(t *testing.T) {
	compareFixtures(t, 1, "order", "order -num-test-traces=1")
}

// Each fixture is compared with one that shares functions with it and with one that does not.
func TestOverlapFixtures(t *testing.T) {
	base := func(fixture string) string {
		for _, f := range oracle.Fixtures(t) {
			if f.Path == fixture {
				return f.File()
			}
		}
		t.Fatalf("%s is gone", fixture)
		return ""
	}
	compareFixtures(t, 1,
		"overlap -value-cutoff=5 "+base("llvm22/merged.profdata"),
		"overlap -cs -function=a "+base("text/llvm22-fe.proftext"),
	)
}
