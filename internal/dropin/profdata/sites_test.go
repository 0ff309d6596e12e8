package profdata

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// randomSites is a text profile with value sites of many values, among which are
// few targets, so that most occur several times in a site.
func randomSites(rng *rand.Rand, sizes []int) string {
	var b strings.Builder
	b.WriteString(":ir\nf\n1\n1\n10\n1\n1\n")
	fmt.Fprintln(&b, len(sizes))
	for _, n := range sizes {
		fmt.Fprintln(&b, n)
		targets := 1 + rng.IntN(n)
		for range n {
			fmt.Fprintf(&b, "%d:%d\n", rng.IntN(targets), 1+rng.IntN(1000))
		}
	}
	return b.String()
}

// TestMergeEqualTargets: targets that occur several times in a site are paired with the targets of
// the next input in the order of the release's sort.
func TestMergeEqualTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 19))
	files := make(map[string]string)
	var rows []row
	for round := range 120 / oracle.Step(4) {
		sizes := make([]int, 1+rng.IntN(6))
		for i := range sizes {
			sizes[i] = 17 + rng.IntN(239)
		}
		var names []string
		for i := range 2 + rng.IntN(3) {
			name := fmt.Sprintf("in%d-%d.proftext", round, i)
			files[name] = randomSites(rng, sizes)
			names = append(names, name)
		}
		rows = append(rows, row{args: "merge -text -num-threads=1 -o - " + strings.Join(names, " ")})
	}
	compareRows(t, files, rows)
}
