//go:build unix

package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// manyValues writes profiles that have more than 255 values of one site together, which indexed profiles do not hold.
func manyValues(t *testing.T) (files []string) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 6 {
		var b strings.Builder
		fmt.Fprintf(&b, ":ir\nmain\n5\n1\n%d\n1\n1\n1\n200\n", 1+rng.IntN(100))
		for v := range 200 {
			fmt.Fprintf(&b, "%d:%d\n", 1+(v*7+i*191)%1400, 1+rng.IntN(50))
		}
		name := filepath.Join(dir, fmt.Sprintf("many%d.proftext", i))
		oracle.WriteFile(t, name, []byte(b.String()))
		files = append(files, name)
	}
	return files
}

// manyTraces writes profiles, and archives of profiles, that have more temporal traces together than are kept.
func manyTraces(t *testing.T) (files []string) {
	dir := t.TempDir()
	for i := range 4 {
		var members []string
		for member := range 3 {
			name := filepath.Join(dir, fmt.Sprintf("traces%d-%d.proftext", i, member))
			text := fmt.Sprintf(":ir\n:temporal_prof_traces\n3\n7\n1\nmain,f%d\n2\nmain,g%d\n1\nmain\nmain\n5\n1\n1\n", i, member)
			oracle.WriteFile(t, name, []byte(text))
			members = append(members, name)
		}
		pack := filepath.Join(dir, fmt.Sprintf("traces%d.tar", i))
		profuse(t, append([]string{"pack", "-q", "-o", pack}, members...)...)
		files = append(files, members[0], pack)
	}
	return files
}

// TestFleet merges profiles of each family by plans, tasks in any order, and reduces: the
// bytes are those of one merge. Tasks are killed, repeated, and run at the same time.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes")
	}
	t.Parallel()
	program := asProfuse(t)
	cases := familyCases(t)
	cases["front end"] = oracle.Family{Merged: oracle.Testdata(t, "irpgo/clang14/fe.profraw", "irpgo/clang14/fe-values.profraw"), Suffix: ".profdata"}
	cases["many values"] = oracle.Family{Merged: manyValues(t), Suffix: ".profdata"}
	cases["many traces"] = oracle.Family{Merged: manyTraces(t), Suffix: ".profdata"}
	cases["samples of builds"] = samplesOfBuilds(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rng := rand.New(rand.NewPCG(1, 2))
			var files []string
			for i := range 24 {
				name := filepath.Join(dir, "raw", strconv.Itoa(i%3), fmt.Sprintf("%02d-%s", i, filepath.Base(c.Merged[i%len(c.Merged)])))
				copyTo(t, name, c.Merged[rng.IntN(len(c.Merged))])
				files = append(files, name)
			}
			slices.Sort(files)
			flat := filepath.Join(dir, "flat"+c.Suffix)
			options := slices.Clone(c.Result)
			for _, path := range c.Programs {
				options = append(options, "--program", path)
			}
			profuse(t, slices.Concat([]string{"merge", "-q", "-o", flat}, options, files)...)

			job, programs := filepath.Join(dir, "job"), filepath.Join(dir, "programs")
			profuse(t, "fleet", "plan", job, filepath.Join(dir, "raw"), "--shard-objects", "5", "--programs", programs)
			for _, path := range c.Programs {
				copyTo(t, filepath.Join(programs, neededProgram(t, program, job)), path)
			}
			runTasks(t, rng, program, job, 5)
			result := filepath.Join(dir, "result"+c.Suffix)
			profuse(t, slices.Concat([]string{"fleet", "reduce", "-q", job, "-o", result}, c.Result)...)
			wantSame(t, result, flat)

			// Rubbish of tasks that died does no harm, nor does its collection.
			profuse(t, "fleet", "gc", job, "--age", "0s")
			profuse(t, slices.Concat([]string{"fleet", "reduce", "-q", job, "-o", result}, c.Result)...)
			wantSame(t, result, flat)
		})
	}
}

// neededProgram returns the name under which a task looks for a program.
func neededProgram(t *testing.T, program, job string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "fleet", "task", job, "--index", "0")
	out, err := cmd.CombinedOutput()
	_, name, ok := strings.Cut(string(out), "nothing lies under ")
	if err == nil || !ok {
		t.Fatalf("a task without programs: %v\n%s", err, out)
	}
	name, _, _ = strings.Cut(name, ":")
	return filepath.Base(name)
}

// runTasks runs the tasks of a job until all are done: in any order, several at a time,
// some twice at once, and many killed.
func runTasks(t *testing.T, rng *rand.Rand, program, job string, shards int) {
	t.Helper()
	var mu sync.Mutex
	kills := 0
	for round := 0; ; round++ {
		var group sync.WaitGroup
		for _, index := range rng.Perm(shards) {
			for range 1 + rng.IntN(2) {
				// In the first rounds tasks live for less time than they need.
				life := time.Duration(rng.IntN(40)) * time.Millisecond
				if round > 3 {
					life = time.Minute
				}
				group.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), life)
					defer cancel()
					out, err := exec.CommandContext(ctx, program, "fleet", "task", job, "--index", strconv.Itoa(index)).CombinedOutput()
					mu.Lock()
					defer mu.Unlock()
					if ctx.Err() != nil {
						kills++
					} else if err != nil {
						t.Errorf("task %d: %v\n%s", index, err, out)
					}
				})
			}
		}
		group.Wait()
		if round > 3 {
			break
		}
	}
	if kills == 0 {
		t.Error("no task was killed")
	}
}

func copyTo(t *testing.T, to, from string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	oracle.WriteFile(t, to, oracle.ReadFile(t, from))
}

// copiesOfRuns writes n raw profiles, copies of three, into a folder.
func copiesOfRuns(t *testing.T, dir string, n int) (files []string) {
	t.Helper()
	for i := range n {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%02d.profraw", i)))
		copyTo(t, files[i], oracle.Testdata(t, fmt.Sprintf("irpgo/clang22/ir-run%d.profraw", 1+i%3))[0])
	}
	return files
}

// TestFleetWeights: labels, days and weights of a reduce are weighted inputs of a merge.
func TestFleetWeights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := filepath.Join(oracle.Root(t), "testdata", "irpgo", "clang22")
	file := func(region, day string, run int) string {
		name := filepath.Join(dir, "raw", region, day, fmt.Sprintf("%d.profraw", run))
		copyTo(t, name, filepath.Join(from, fmt.Sprintf("ir-run%d.profraw", run)))
		return name
	}
	a, b, c := file("eu", "2026-11-20", 1), file("eu", "2026-11-22", 2), file("us", "2026-11-23", 3)
	job := filepath.Join(dir, "job")
	profuse(t, "fleet", "plan", job, filepath.Join(dir, "raw"), "--labels", "{region}/{day}", "--shard-objects", "2")
	profuse(t, "fleet", "task", job, "--index", "0", "--of", "1")
	for name, test := range map[string]struct{ reduce, merge []string }{
		"all":      {nil, []string{a, b, c}},
		"days":     {[]string{"--days", "2"}, []string{b, c}},
		"ages":     {[]string{"--age-weights", "8,4,2,1"}, []string{"--weighted-input", "1," + a, "--weighted-input", "4," + b, "--weighted-input", "8," + c}},
		"old ones": {[]string{"--age-weights", "2,1"}, []string{"--weighted-input", "1," + b, "--weighted-input", "2," + c}},
		"region":   {[]string{"--weight", "region=us:3"}, []string{a, b, "--weighted-input", "3," + c}},
		"fraction": {[]string{"--weight", "region=us:0.5"}, []string{a, b, "--weighted-input", "0.5," + c}},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := filepath.Join(t.TempDir(), "got.profdata"), filepath.Join(t.TempDir(), "want.profdata")
			profuse(t, append([]string{"fleet", "reduce", "-q", job, "-o", got}, test.reduce...)...)
			profuse(t, append([]string{"merge", "-q", "-o", want}, test.merge...)...)
			wantSame(t, got, want)
		})
	}
	t.Run("per region", func(t *testing.T) {
		out := t.TempDir()
		profuse(t, "fleet", "reduce", "-q", job, "-o", out, "--per", "region")
		for region, files := range map[string][]string{"eu": {a, b}, "us": {c}} {
			want := filepath.Join(t.TempDir(), "want.profdata")
			profuse(t, append([]string{"merge", "-q", "-o", want}, files...)...)
			found, err := filepath.Glob(filepath.Join(out, "*."+region+".profdata"))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			wantSame(t, found[0], want)
		}
	})
}
