package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// TestTrees: merges of merges, in random trees, have the bytes of one merge in every
// family. Trees of LLVM profiles are made of partial sums; see irpgo TestPartials for
// harder ones.
func TestTrees(t *testing.T) {
	root := filepath.Join(oracle.Root(t), "testdata")
	var programs []string
	for _, name := range []string{"clang22-pie", "clang22-split", "clang22-dumps"} {
		programs = append(programs, "--program", filepath.Join(root, "memprof/raw", name+".debug"))
	}
	for name, c := range map[string]struct {
		files        []string
		suffix       string
		part, result []string // options
	}{
		"IRPGO": {
			[]string{"irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw", "irpgo/clang22/ir-run3.profraw", "irpgo/clang22/dispatch.profraw"},
			".profdata",
			[]string{"--format", "partial"},
			nil,
		},
		"MemProf": {
			[]string{
				"memprof/raw/clang22-pie.memprofraw", "memprof/raw/clang22-split.memprofraw", "memprof/raw/clang22-dumps.memprofraw",
				"memprof/raw/clang22-pie.memprofraw", "memprof/temperatures.memprof.yaml",
			},
			".profdata", append([]string{"--format", "partial"}, programs...), append([]string{"--memprof-full-schema"}, programs...),
		},
		"MIP": {
			[]string{"mip/all-1.mipraw", "mip/all-2.mipraw", "mip/all-1.mipraw", "mip/all-1.mipraw"},
			".mip",
			[]string{"--program", filepath.Join(root, "mip/all.mipmap")},
			[]string{"--program", filepath.Join(root, "mip/all.mipmap")},
		},
		"iprof": {
			[]string{"iprof/small.iprof", "iprof/fib.iprof", "iprof/even-odd.iprof", "iprof/app.iprof", "iprof/twin-x3.iprof", "iprof/small-0.4.iprof"},
			".iprof", nil, nil,
		},
		"samples": {
			[]string{"sampleprof/lines.afdo", "sampleprof/calls.afdo", "sampleprof/lines-md5.afdo", "sampleprof/lines-binary.prof", "sampleprof/calls.prof"},
			".afdo",
			[]string{"--format", "partial"},
			nil,
		},
		"samples of probes": {
			[]string{"sampleprof/probes.afdo", "sampleprof/calls-probes.afdo", "sampleprof/calls-probes.prof", otherBuild(t, root)},
			".afdo",
			[]string{"--format", "partial"},
			nil,
		},
		"samples with contexts": {
			[]string{"sampleprof/contexts.afdo", "sampleprof/contexts.prof", "sampleprof/contexts.afdo"},
			".afdo", nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := &mergeTree{t: t, dir: t.TempDir(), suffix: c.suffix, part: c.part, rng: rand.New(rand.NewPCG(1, 2))}
			var files []string
			for _, name := range c.files {
				if !filepath.IsAbs(name) {
					name = filepath.Join(root, filepath.FromSlash(name))
				}
				files = append(files, name)
			}
			flat := tree.merge(files, c.result)
			for range 4 {
				// The order of the inputs stays: of some families it decides.
				if got := tree.merge(tree.parts(files), c.result); !bytes.Equal(got, flat) {
					t.Fatalf("a tree has other bytes, %d in place of %d", len(got), len(flat))
				}
			}
		})
	}
}

// otherBuild returns a sample profile of another build, with other checksums and fewer samples.
func otherBuild(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "sampleprof", "probes.prof"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "other.prof")
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte("Checksum: "), []byte("Checksum: 9")), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
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
