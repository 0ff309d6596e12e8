package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A mergeCase are profiles that merge with each other, and what merges of them need.
type mergeCase struct {
	files    []string
	suffix   string // of what is written
	programs []string
	part     []string // options for merges whose result is merged
	result   []string // and for other merges
}

// familyCases are profiles of each family, by its name.
func familyCases(t *testing.T) map[string]mergeCase {
	t.Helper()
	partial := []string{"--format", "partial"}
	cases := map[string]mergeCase{
		string(formats.IRPGO): {
			files:  fixtures(t, "irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw", "irpgo/clang22/ir-run3.profraw"),
			suffix: ".profdata", part: partial,
		},
		string(formats.MemProf): {
			files: fixtures(t, "memprof/raw/clang22-pie.memprofraw", "memprof/raw/clang22-pie.memprofraw"), suffix: ".profdata",
			programs: fixtures(t, "memprof/raw/clang22-pie.debug"), part: partial, result: []string{"--memprof-full-schema"},
		},
		string(formats.MIP): {
			files: fixtures(t, "mip/all-1.mipraw", "mip/all-2.mipraw", "mip/all-1.mipraw"), suffix: ".mip",
			programs: fixtures(t, "mip/all.mipmap"),
		},
		string(formats.Iprof): {
			files:  fixtures(t, "iprof/small.iprof", "iprof/fib.iprof", "iprof/even-odd.iprof", "iprof/app.iprof", "iprof/twin-x3.iprof", "iprof/small-0.4.iprof"),
			suffix: ".iprof",
		},
		string(formats.Sample): {
			files:  fixtures(t, "sampleprof/lines.afdo", "sampleprof/calls.afdo", "sampleprof/lines-md5.afdo", "sampleprof/lines-binary.prof", "sampleprof/calls.prof"),
			suffix: ".afdo", part: partial,
		},
	}
	for _, f := range formats.All() {
		if _, ok := cases[string(f.Family())]; !ok {
			t.Errorf("no profiles of family %s", f.Family())
		}
	}
	return cases
}

// samplesOfBuilds are sample profiles of two builds, whose checksums differ.
func samplesOfBuilds(t *testing.T) mergeCase {
	files := fixtures(t, "sampleprof/probes.afdo", "sampleprof/calls-probes.afdo", "sampleprof/calls-probes.prof")
	text, err := os.ReadFile(fixtures(t, "sampleprof/probes.prof")[0])
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.prof")
	if err := os.WriteFile(other, bytes.ReplaceAll(text, []byte("Checksum: "), []byte("Checksum: 9")), 0o666); err != nil {
		t.Fatal(err)
	}
	return mergeCase{files: append(files, other), suffix: ".afdo", part: []string{"--format", "partial"}}
}

// fixtures returns the paths of files of testdata.
func fixtures(t testing.TB, names ...string) (files []string) {
	t.Helper()
	for _, name := range names {
		files = append(files, filepath.Join(oracle.Root(t), "testdata", filepath.FromSlash(name)))
	}
	return files
}

// TestTrees: merges of merges, in random trees, have the bytes of one merge in every
// family. Trees of LLVM profiles are made of partial sums; see irpgo TestPartials for
// harder ones.
func TestTrees(t *testing.T) {
	cases := familyCases(t)
	heaps := cases["MemProf"]
	heaps.files = append(fixtures(t, "memprof/raw/clang22-split.memprofraw", "memprof/raw/clang22-dumps.memprofraw", "memprof/temperatures.memprof.yaml"), heaps.files...)
	heaps.programs = append(fixtures(t, "memprof/raw/clang22-split.debug", "memprof/raw/clang22-dumps.debug"), heaps.programs...)
	cases["heaps of programs"] = heaps
	cases["programs"] = mergeCase{
		files: append(fixtures(t, "irpgo/clang22/dispatch.profraw"), cases["IRPGO"].files...), suffix: ".profdata", part: cases["IRPGO"].part,
	}
	cases["samples of probes"] = samplesOfBuilds(t)
	cases["samples with contexts"] = mergeCase{files: fixtures(t, "sampleprof/contexts.afdo", "sampleprof/contexts.prof", "sampleprof/contexts.afdo"), suffix: ".afdo"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, p := range c.programs {
				c.part, c.result = append(c.part, "--program", p), append(c.result, "--program", p)
			}
			tree := &mergeTree{t: t, dir: t.TempDir(), suffix: c.suffix, part: c.part, rng: rand.New(rand.NewPCG(1, 2))}
			flat := tree.merge(c.files, c.result)
			for range 4 {
				// The order of the inputs stays: of some families it decides.
				if got := tree.merge(tree.parts(c.files), c.result); !bytes.Equal(got, flat) {
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
	data, err := os.ReadFile(name)
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}
