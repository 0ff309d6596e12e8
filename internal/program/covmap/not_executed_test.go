package covmap

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestNotExecuted: executed and other vectors together are all ways through the conditions, each once, the others in
// the order of the executed ones.
func TestNotExecuted(t *testing.T) {
	decisions, others := 0, 0
	for _, name := range []string{"conditions-19", "conditions-22"} {
		maps := readMappings(t, filepath.Join(testdata, name+".o"))
		profile := readProfile(t, filepath.Join(testdata, name+".proftext"))
		c := oracle.Must(Evaluate(maps, profile, EvaluateOptions{NotExecuted: true}))(t)
		for _, f := range c.Functions {
			for i := range f.MCDC {
				m := &f.MCDC[i]
				decisions++
				// Every assignment of values to all conditions takes one way.
				ways := make(map[string]bool)
				for bits := range 1 << len(m.Conditions) {
					v := TestVector{Conditions: make([]Truth, len(m.Conditions))}
					for at := 0; at >= 0; {
						value := bits >> at & 1
						v.Conditions[at], v.Result = False+Truth(value), value == 1
						at = m.Conditions[at].next[value]
					}
					ways[v.text()] = true
				}
				all := slices.Collect(m.NotExecuted())
				others += len(all)
				for k := 1; k < len(all); k++ {
					if all[k-1].Result && !all[k].Result {
						t.Errorf("%s: vector %d has the result false after true", f.Name, k)
					}
				}
				all = append(all, m.Vectors...)
				for _, v := range all {
					if !ways[v.text()] {
						t.Errorf("%s: no way, or twice: %s", f.Name, v.text())
					}
					delete(ways, v.text())
				}
				if len(ways) > 0 {
					t.Errorf("%s: %v are not there", f.Name, ways)
				}
			}
		}
		without := oracle.Must(Evaluate(maps, profile, EvaluateOptions{}))(t)
		for _, f := range without.Functions {
			for i := range f.MCDC {
				if n := len(slices.Collect(f.MCDC[i].NotExecuted())); n > 0 {
					t.Errorf("%s: %d without the option", f.Name, n)
				}
			}
		}
	}
	if decisions < 6 || others < 10 {
		t.Errorf("%d decisions, %d vectors", decisions, others)
	}
	t.Logf("%d decisions, %d vectors that were not executed", decisions, others)
}
