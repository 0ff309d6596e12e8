//go:build linux

package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// makeChanged returns the very large profile and the profile of a later run of a newer build.
func makeChanged(dir string) ([]string, error) {
	inputs, err := makeHuge(dir)
	changed := filepath.Join(dir, "huge-changed.profdata")
	inputs = append(inputs, changed)
	if err != nil || measure.Exists(changed) {
		return inputs, err
	}
	return inputs, prepareApart("changed", inputs[0], changed)
}

// writeChanged writes a copy of a profile with other counts, in which some functions never ran, some have another control
// flow and some are missing.
func writeChanged(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	p, err := irpgo.Read(from, data, irpgo.ReaderOptions{})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			// Counts become up to twice as large; one function in twenty stops running.
			factor := 2 * rng.Float64()
			if rng.IntN(20) == 0 {
				factor = 0
			}
			// Another CFG hash: for compare, these are changed functions.
			if rng.IntN(50) == 0 {
				r.Hash ^= 0x1234567
			}
			for j := range r.Counts {
				r.Counts[j] = uint64(float64(r.Counts[j]) * factor)
			}
		}
	}
	// One in a hundred functions is gone.
	n := len(p.Functions)
	p.Functions = append(p.Functions[:n/100], p.Functions[n/50:]...)
	return measure.WriteFile(to, func(w *bufio.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
}

// alone returns the only command of a case that has no peer.
func alone(argv ...string) []*command { return []*command{{name: "profuse", kind: ours, argv: argv}} }

// Commands without a counterpart in LLVM: their goals are seconds.
func (b *bench) checking(inputs []string) []*command { return alone(b.profuse, "check", inputs[0]) }
func (b *bench) topping(inputs []string) []*command  { return alone(b.profuse, "top", inputs[0]) }

func (b *bench) comparing(inputs []string) []*command {
	return alone(b.profuse, "compare", inputs[0], inputs[1])
}

func (b *bench) pprof(inputs []string) []*command {
	return alone(b.profuse, "export", "-q", "-o", filepath.Join(b.dir, "huge.pb.gz"), inputs[0])
}

func (b *bench) reporting(inputs []string) []*command {
	return alone(b.profuse, "report", "-o", filepath.Join(b.dir, "huge.html"), inputs[0])
}

// makeMIP returns 1,000 raw profiles of a program that profuse cc has instrumented, and the program.
func makeMIP(dir string) ([]string, error) {
	dir, err := makeFolder(dir, "mip")
	if err != nil {
		return nil, err
	}
	program, cc := filepath.Join(dir, "program"), filepath.Join(filepath.Dir(dir), "profuse")
	// 20 units of 500 functions are 10,000 functions.
	if err := build(program, unitSources("main.c", span(0, 20)), cc, "cc", "--", "clang-22", "-O1", "-w", "-fmachine-profile-generate"); err != nil {
		return nil, err
	}
	profile := func(i int) string { return filepath.Join(dir, fmt.Sprintf("run%d.mipraw", i)) }
	out, err := recordRuns(program, "LLVM_MIP_PROFILE_FILENAME", 1000, profile)
	return append(out, program), err
}

// mergingMIP merges raw MIP profiles. There is no other tool to compare with.
func (b *bench) mergingMIP(inputs []string) []*command {
	raw := inputs[:len(inputs)-1]
	return b.mergingOwn(".mip", append([]string{"--program", inputs[len(raw)]}, raw...))
}

// mergingOwn merges with profuse alone, with as many threads as there are CPUs and with one.
func (b *bench) mergingOwn(suffix string, inputs []string) []*command {
	cmd := func(kind commandKind, name string, options ...string) *command {
		out := filepath.Join(b.dir, "out-"+name+suffix)
		argv := append([]string{b.profuse, "merge", "-q", "-o", out}, options...)
		return &command{name: name, kind: kind, argv: append(argv, inputs...), out: out}
	}
	return []*command{cmd(ours, "profuse"), cmd(other, "profuse -j 1", "-j", "1")}
}

// makeIprof returns ten iprof files of about 10 MB, and makeIprofLarge one of 100 MB.
func makeIprof(dir string) ([]string, error) {
	dir, err := makeFolder(dir, "iprof")
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range 10 {
		out = append(out, filepath.Join(dir, fmt.Sprintf("run-%d.iprof", i+1)))
	}
	// The test writes the large file last.
	if measure.Exists(filepath.Join(dir, "large.iprof")) {
		return out, nil
	}
	return out, prepare("go", "test", "./formats/iprof", "-run", "^TestWriteFiles$", "-files", dir)
}

// makeIprofLarge returns a file of an image of 500,000 methods with 750,000 entries.
func makeIprofLarge(dir string) ([]string, error) {
	runs, err := makeIprof(dir)
	if err != nil {
		return nil, err
	}
	return []string{filepath.Join(filepath.Dir(runs[0]), "large.iprof")}, nil
}

// readingIprof reads a file: it drops all counts, so that next to nothing is written.
func (b *bench) readingIprof(inputs []string) []*command {
	return []*command{
		{name: "profuse", kind: ours, argv: []string{b.profuse, "iprof", "prune", "-q", "--min-count", strconv.FormatInt(math.MaxInt64, 10), "-o", filepath.Join(b.dir, "empty.iprof"), inputs[0]}},
		{name: "python", kind: peer, argv: []string{"python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", inputs[0]}},
		{name: "jq", kind: peer, argv: []string{"jq", "empty", inputs[0]}},
		{name: "profuse show", kind: other, argv: []string{b.profuse, "show", inputs[0]}},
	}
}

// mergingIprof compares with a script in Python: only GraalVM's compiler merges such files. The script writes entries in
// the order of their first appearance.
func (b *bench) mergingIprof(inputs []string) []*command {
	python := filepath.Join(b.dir, "python.iprof")
	return append(b.mergingOwn(".iprof", inputs), &command{
		name: "python", kind: peer, argv: append([]string{"python3", "bench/iprof-merge.py", python}, inputs...), out: python, canonical: true,
	})
}

// pruningIprof drops the entries with small counts. jq keeps the types and methods to which they refer.
func (b *bench) pruningIprof(inputs []string) []*command {
	const filter = `with_entries(if .key | endswith("Profiles") then .value |= map(select(.records | add >= 1000)) else . end)`
	return []*command{
		{name: "profuse", kind: ours, argv: []string{b.profuse, "iprof", "prune", "-q", "--min-count", "1000", "-o", filepath.Join(b.dir, "pruned.iprof"), inputs[0]}},
		{name: "jq", kind: peer, argv: []string{"jq", "-c", filter, inputs[0]}},
	}
}
