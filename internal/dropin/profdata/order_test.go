package profdata

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// randomTraces is a text profile of functions and traces of some of them.
func randomTraces(rng *rand.Rand, functions, traces int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ":ir\n:temporal_prof_traces\n%d\n%d\n", traces, traces)
	for range traces {
		order := rng.Perm(functions)[:1+rng.IntN(functions)]
		b.WriteString("1\n")
		for i, f := range order {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "f%d", f)
		}
		b.WriteByte('\n')
	}
	for f := range functions {
		fmt.Fprintf(&b, "f%d\n1\n1\n1\n\n", f)
	}
	return b.String()
}

// Balanced partitioning is the same down to rounding and random numbers.
func TestOrderRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	files := make(map[string]string)
	var rows []row
	for i, size := range []struct{ functions, traces int }{{1, 1}, {2, 5}, {33, 3}, {100, 60}, {1000, 4}, {6000, 30}} {
		if size.functions > 1000 && !oracle.Everything() {
			continue
		}
		name := fmt.Sprint("traces", i)
		files[name] = randomTraces(rng, size.functions, size.traces)
		rows = append(rows, row{args: "order " + name})
		if size.traces > 1 {
			rows = append(rows, row{args: fmt.Sprintf("order --num-test-traces=%d %s", 1+size.traces/3, name)})
		}
	}
	compareRows(t, files, rows)
}

func BenchmarkOrder(b *testing.B) {
	b.Chdir(b.TempDir())
	writeFiles(b, ".", map[string]string{"traces": randomTraces(rand.New(rand.NewPCG(7, 7)), 20000, 30)})
	for b.Loop() {
		if got := runMain(b, "", []string{"order", "traces"}); got.code != 0 {
			b.Fatal(got.stderr)
		}
	}
}
