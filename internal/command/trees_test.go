package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// familyCases returns fixtures of each family, by its name, and fails if a family has none.
func familyCases(t *testing.T) map[string]oracle.Family {
	t.Helper()
	cases := oracle.Families(t)
	for _, f := range formats.All() {
		if _, ok := cases[string(f.Family())]; !ok {
			t.Errorf("no profiles of family %s", f.Family())
		}
	}
	return cases
}

// samplesOfBuilds are sample profiles of two builds, whose checksums differ.
func samplesOfBuilds(t *testing.T) oracle.Family {
	files := oracle.Testdata(t, "sampleprof/probes.afdo", "sampleprof/calls-probes.afdo", "sampleprof/calls-probes.prof")
	text := oracle.ReadFile(t, oracle.Testdata(t, "sampleprof/probes.prof")[0])
	other := filepath.Join(t.TempDir(), "other.prof")
	oracle.WriteFile(t, other, bytes.ReplaceAll(text, []byte("Checksum: "), []byte("Checksum: 9")))
	return oracle.Family{Merged: append(files, other), Suffix: ".afdo", Part: []string{"--format", "partial"}}
}

// TestTrees: merges of merges, in random trees, have the bytes of one merge in every family. Trees of LLVM profiles are
// made of partial sums; see irpgo TestPartials for harder ones.
func TestTrees(t *testing.T) {
	t.Parallel()
	cases := familyCases(t)
	heaps := cases["MemProf"]
	heaps.Merged = append(oracle.Testdata(t, "memprof/raw/clang22-split.memprofraw", "memprof/raw/clang22-dumps.memprofraw", "memprof/temperatures.memprof.yaml"), heaps.Merged...)
	heaps.Programs = append(oracle.Testdata(t, "memprof/raw/clang22-split.debug", "memprof/raw/clang22-dumps.debug"), heaps.Programs...)
	cases["heaps of programs"] = heaps
	cases["programs"] = oracle.Family{
		Merged: append(oracle.Testdata(t, "irpgo/clang22/dispatch.profraw"), cases["IRPGO"].Merged...), Suffix: ".profdata", Part: cases["IRPGO"].Part,
	}
	cases["samples of probes"] = samplesOfBuilds(t)
	cases["samples with contexts"] = oracle.Family{Merged: oracle.Testdata(t, "sampleprof/contexts.afdo", "sampleprof/contexts.prof", "sampleprof/contexts.afdo"), Suffix: ".afdo"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, p := range c.Programs {
				c.Part, c.Result = append(c.Part, "--program", p), append(c.Result, "--program", p)
			}
			tree := &mergeTree{t: t, dir: t.TempDir(), suffix: c.Suffix, part: c.Part, rng: rand.New(rand.NewPCG(1, 2))}
			flat := tree.merge(c.Merged, c.Result)
			for range 4 {
				// The order of the inputs stays: of some families it decides.
				if got := tree.merge(tree.parts(c.Merged), c.Result); !bytes.Equal(got, flat) {
					t.Fatalf("a tree has other bytes, %d in place of %d", len(got), len(flat))
				}
			}
		})
	}
}

// A mergeTree merges files in random trees.
type mergeTree struct {
	t           *testing.T
	dir, suffix string
	part        []string // options for merges whose result is merged
	rng         *rand.Rand
	n           int
}

// parts returns the results of merges of files, in trees of their own.
func (m *mergeTree) parts(files []string) (parts []string) {
	for len(files) > 0 {
		group := files[:1+m.rng.IntN(len(files))]
		files = files[len(group):]
		switch {
		case len(group) > 1 && m.rng.IntN(3) > 0:
			group = m.parts(group)
		case m.rng.IntN(3) == 0:
			parts = append(parts, group...)
			continue
		}
		m.n++
		name := filepath.Join(m.dir, fmt.Sprintf("part%d%s", m.n, m.suffix))
		m.write(name, group, m.part)
		parts = append(parts, name)
	}
	return parts
}

func (m *mergeTree) write(name string, files, options []string) {
	m.t.Helper()
	profuse(m.t, slices.Concat([]string{"merge", "-q", "-o", name}, options, files)...)
}

// merge returns the bytes of the merge of files.
func (m *mergeTree) merge(files, options []string) []byte {
	m.t.Helper()
	name := filepath.Join(m.dir, "result"+m.suffix)
	m.write(name, files, options)
	return oracle.ReadFile(m.t, name)
}
