package covmap

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

// detailed evaluates a fixture, with details.
func detailed(t *testing.T, name string) *coverage.Coverage {
	t.Helper()
	c, err := Evaluate(readMappings(t, filepath.Join(testdata, name+".o")), readProfile(t, filepath.Join(testdata, name+".proftext")), EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plain, all := c.Collect(false), c.Collect(true)
	if plain.Total != all.Total || len(plain.Files) != len(all.Files) {
		t.Errorf("%s: with details %+v, without %+v", name, all.Total, plain.Total)
	}
	return all
}

// TestInstances: the counts of the instances of a function add up to those of its lines.
func TestInstances(t *testing.T) {
	instances := 0
	for _, f := range detailed(t, "shapes-22").Files {
		sums, whole := make(map[uint32]uint64), make(map[uint32]uint64)
		for i := range f.Functions {
			fn := &f.Functions[i]
			if fn.Part == nil {
				continue
			}
			instances++
			if first := fn.Part.Lines[0]; fn.Part.Path != f.Path || first.Number != uint32(fn.StartLine) || first.Count != fn.Calls {
				t.Errorf("%s: %d calls, first line %+v", fn.Name, fn.Calls, first)
			}
			for _, l := range fn.Part.Lines {
				sums[l.Number] += l.Count
			}
		}
		for _, l := range f.Lines {
			whole[l.Number] = l.Count
		}
		for number, n := range sums {
			if whole[number] != n {
				t.Errorf("%s:%d: the instances have %d, the file has %d", f.Path, number, n, whole[number])
			}
		}
	}
	if instances < 2 {
		t.Errorf("%d instances", instances)
	}
}

// TestExpansions: each use of a macro has what ran of the macro there.
func TestExpansions(t *testing.T) {
	var got []string
	for _, f := range detailed(t, "shapes-22").Files {
		for _, x := range f.Expansions {
			got = append(got, fmt.Sprintf("%s:%d:%d-%d:%d is %s:%d, %d times", f.Path, x.Line, x.Column, x.EndLine, x.EndColumn, x.Of.Path, x.Of.Lines[0].Number, x.Of.Lines[0].Count))
		}
	}
	want := []string{
		"shapes.cpp:62:3-62:9 is shapes.h:8, 1 times", "shapes.cpp:63:3-63:9 is shapes.h:8, 1 times",
		"shapes.cpp:64:3-64:8 is shapes.h:3, 1 times", "shapes.cpp:71:10-71:17 is shapes.h:1, 1 times",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("expansions\n%s", strings.Join(got, "\n"))
	}
}

// TestWanted: a vector that is said to be missing was not executed, and forms a pair with one that was.
func TestWanted(t *testing.T) {
	missing := 0
	for _, f := range detailed(t, "conditions-22").Files {
		for _, d := range f.Decisions {
			executed := strings.Join(d.Vectors, " ")
			for i, c := range d.Operands {
				if c.Covered && c.Wanted != "" {
					t.Errorf("%d:%d: %+v", d.Line, d.Column, c)
				}
				if c.Wanted == "" {
					continue
				}
				missing++
				if strings.Contains(executed, c.Wanted) || !strings.Contains(executed, c.Have) {
					t.Errorf("%d:%d: %s and %s, executed were %s", d.Line, d.Column, c.Have, c.Wanted, executed)
				}
				for k := range len(c.Have) {
					a, b := c.Have[k], c.Wanted[k]
					differ := k == i || k == len(c.Have)-1
					if a != '-' && b != '-' && (a != b) != differ {
						t.Errorf("%d:%d: %s and %s are no pair for C%d", d.Line, d.Column, c.Have, c.Wanted, i+1)
					}
				}
			}
		}
	}
	if missing == 0 {
		t.Error("nothing is missing")
	}
}
