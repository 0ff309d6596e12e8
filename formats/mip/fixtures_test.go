package mip

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixture returns a file of testdata/mip.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "mip", name))
}

// fixtureFunction is what a run of the program of testdata/mip does in one of
// its functions, read off its source.
type fixtureFunction struct {
	name             string
	calls, timestamp uint64
}

var (
	fixtureRun1 = []fixtureFunction{ // program 0 1 2
		{"add", 1, 3},
		{"pick", 3, 2},
		{"helper", 1, 4},
		{"never", 0, 0},
		{"main", 1, 1},
		{"table", 1, 5},
		{"helper", 2, 6},
		{"unused", 0, 0},
	}
	fixtureRun2 = []fixtureFunction{ // program 3
		{"add", 0, 0},
		{"pick", 1, 2},
		{"helper", 0, 0},
		{"never", 0, 0},
		{"main", 1, 1},
		{"table", 1, 3},
		{"helper", 1, 4},
		{"unused", 0, 0},
	}
)

// TestFixtures joins the maps and raw profiles of real programs.
func TestFixtures(t *testing.T) {
	for _, tt := range []struct {
		kind    string
		typ     ProfileType
		blocks  int
		covered [2]int // blocks but the entries, by run
	}{
		{"function", FunctionCoverage, 0, [2]int{}},
		{"blocks", FunctionCoverage | BlockCoverage, 19, [2]int{14, 12}},
		{"counts", callGraph, 0, [2]int{}},
		{"all", callGraph | BlockCoverage, 17, [2]int{12, 10}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			base := read(t, fixture(t, tt.kind+".mipmap"))
			if base.Type != tt.typ || base.ModuleHash != guid.LinkUnit(tt.kind+".elf") {
				t.Errorf("type %v, module hash %#x", base.Type, base.ModuleHash)
			}
			var runs []*Profile
			for i, want := range [][]fixtureFunction{fixtureRun1, fixtureRun2} {
				run := merged(t, base, fixture(t, tt.kind+"-"+string(rune('1'+i))+".mipraw"))
				checkRun(t, run, want)
				if blocks, covered := countBlocks(run); blocks != tt.blocks || covered != tt.covered[i] {
					t.Errorf("run %d: %d blocks, %d covered; want %d, %d", i+1, blocks, covered, tt.blocks, tt.covered[i])
				}
				runs = append(runs, run)
			}
			both := merged(t, base, fixture(t, tt.kind+"-1.mipraw"), fixture(t, tt.kind+"-2.mipraw"))
			if diff := cmp.Diff(mergePlain(base, runs...), both); diff != "" {
				t.Error(diff)
			}
			if got := mipOf(t, both, WriteOptions{}); !bytes.Equal(got, fixture(t, tt.kind+".mip")) {
				t.Errorf("%s.mip differs", tt.kind)
			}
			// A process writes its section as it is: so does the raw writer.
			if got := rawOf(runs[0], 8); !bytes.Equal(got, fixture(t, tt.kind+"-1.mipraw")) {
				t.Errorf("raw profile written:\n% x", got)
			}
		})
	}
}

func checkRun(t *testing.T, p *Profile, want []fixtureFunction) {
	t.Helper()
	if len(p.Functions) != len(want) {
		t.Fatalf("%d functions, want %d", len(p.Functions), len(want))
	}
	for i, w := range want {
		f := &p.Functions[i]
		calls, timestamp := w.calls, w.timestamp
		if p.Type.Has(FunctionCoverage) {
			calls, timestamp = min(calls, 1), 0
		}
		if f.Name != w.name || f.CallCount != calls || f.TimestampSum != timestamp || f.Covered() != (calls > 0) {
			t.Errorf("%s: %d calls, timestamp %d; want %s: %d, %d", f.Name, f.CallCount, f.TimestampSum, w.name, calls, timestamp)
		}
		for _, b := range f.Blocks {
			if b.Offset == 0 || b.Offset >= f.Size || b.Covered && !f.Covered() {
				t.Errorf("%s: block %+v in %d bytes", f.Name, b, f.Size)
			}
		}
	}
}

func countBlocks(p *Profile) (blocks, covered int) {
	for i := range p.Functions {
		for _, b := range p.Functions[i].Blocks {
			blocks++
			if b.Covered {
				covered++
			}
		}
	}
	return blocks, covered
}

// TestFixtureOrder: the functions by their first calls.
func TestFixtureOrder(t *testing.T) {
	var names []string
	for _, f := range read(t, fixture(t, "counts.mip")).Order() {
		names = append(names, f.Name)
	}
	// add and the helper of calc ran once only: their mean is over that run.
	if got, want := strings.Join(names, " "), "main pick add helper table helper"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}
