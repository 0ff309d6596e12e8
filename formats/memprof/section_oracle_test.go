package memprof

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// llvmMerged returns what the llvm-profdata of opt's release makes of a raw profile and its program.
func llvmMerged(t *testing.T, program, file string, opt WriteOptions) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"merge", "--profiled-binary=" + program, file, "-o", out}
	if opt.LLVMRelease > 16 { // which has one version only
		args = append(args, fmt.Sprintf("--memprof-version=%d", max(opt.Version, 0)))
	}
	if opt.Schema == FullSchema {
		args = append(args, "--memprof-full-schema")
	}
	if _, stderr, code := oracle.Run(t, oracle.LLVM(t, opt.LLVMRelease), args...); code != 0 {
		t.Fatal(stderr)
	}
	return oracle.ReadFile(t, out)
}

// compareSection compares what the raw profile becomes with a section that LLVM made of it. Of the
// tables of versions 0 to 2, LLVM 19 and older fill the one of frames in no order that can be told:
// there sizes must agree, and what is read back.
func compareSection(t *testing.T, raw *RawProfile, program string, file []byte, opt WriteOptions) {
	t.Helper()
	start, end := sectionOf(t, file)
	want := file[start:end]
	p, _ := symbolizeRaw(t, raw, openBinaries(t, program), SymbolizeOptions{LLVMCompat: true})
	got := writeSection(t, p, opt, start)
	if bytes.Equal(got, want) {
		return
	}
	if opt.LLVMRelease <= 19 && (opt.Version == -1 || opt.Version == 1 || opt.Version == 2) {
		// Items of a bucket stand in another order: the same bytes otherwise.
		if len(got) == len(want) && byteSums(got) == byteSums(want) && sameUntilFrames(got, want) {
			return
		}
	}
	t.Errorf("%d bytes, want %d; the first difference is at %d", len(got), len(want), firstDifferentByte(got, want))
}

func byteSums(b []byte) (sums [256]int) {
	for _, c := range b {
		sums[c]++
	}
	return sums
}

// sameUntilFrames reports whether sections agree up to the table of frames, their third word after the version.
func sameUntilFrames(a, b []byte) bool {
	at := 8
	if le.Uint64(a) <= 4 {
		at += 8
	}
	return le.Uint64(a[at:]) == le.Uint64(b[at:]) && firstDifferentByte(a, b) > 40
}

func firstDifferentByte(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestSectionsAreLLVMs: the section of one raw profile and its program is that of llvm-profdata, byte for byte.
func TestSectionsAreLLVMs(t *testing.T) {
	versions := map[int][]int{16: {0}, 19: {0, 1, 2, 3}, 22: {2, 3, 4}}
	for _, f := range rawFixtures(t) {
		for _, llvm := range f.tools() {
			for _, version := range versions[llvm] {
				for _, full := range []bool{false, true} {
					// The full schema, the only one of versions 0 and 1, holds an address of LLVM's for histograms.
					if f.is("histogram") && (full || version < 2) || full && version < 3 {
						continue
					}
					t.Run(fmt.Sprintf("%s/llvm%d/v%d/full=%t", f.name, llvm, version, full), func(t *testing.T) {
						if llvm != 22 || version != 4 {
							oracle.Slow(t)
						}
						t.Parallel()
						opt := WriteOptions{Version: version, LLVMRelease: llvm}
						if version == 0 {
							opt.Version = -1
						}
						if full {
							opt.Schema = FullSchema
						}
						file := llvmMerged(t, f.program, f.file, opt)
						compareSection(t, f.read(t, RawOptions{LLVMCompat: true}), f.program, file, opt)
					})
				}
			}
		}
	}
}

// TestSectionsOfFixtures compares with what llvm-profdata made when the profiles were, for where there is none.
func TestSectionsOfFixtures(t *testing.T) {
	for _, f := range rawFixtures(t) {
		tools := f.tools()
		if len(tools) == 0 {
			continue
		}
		opt := WriteOptions{LLVMRelease: tools[0]}
		if f.version == 2 {
			opt.Version = -1
		}
		t.Run(f.name, func(t *testing.T) {
			file := oracle.ReadFile(t, strings.TrimSuffix(f.file, ".memprofraw")+".profdata")
			compareSection(t, f.read(t, RawOptions{LLVMCompat: true}), f.program, file, opt)
		})
	}
}

// randomDumps makes dumps of random contexts and measurements, of addresses that a program has.
func randomDumps(rng *rand.Rand, raw *RawProfile, version uint64, dumps, contexts int) rawBuild {
	var pcs []uint64
	for _, c := range contextsOf(raw) {
		pcs = append(pcs, c.PCs...)
	}
	main := raw.Segments[0]
	for range 100 {
		pcs = append(pcs, main.Start+rng.Uint64N(main.End-main.Start))
	}
	stacks := make(map[uint64][]uint64)
	var ids []uint64
	var b rawBuild
	for range dumps {
		d := dumpBuild{version: version, segments: raw.Segments}
		seen := make(map[uint64]bool)
		for range contexts {
			id := rng.Uint64()
			if len(ids) > 0 && rng.IntN(4) == 0 {
				id = ids[rng.IntN(len(ids))]
			}
			if seen[id] {
				continue
			}
			seen[id] = true
			if stacks[id] == nil {
				for range 1 + rng.IntN(12) {
					stacks[id] = append(stacks[id], pcs[rng.IntN(len(pcs))])
				}
				ids = append(ids, id)
			}
			m := mibBuild{id: id}
			for i := range m.fields {
				m.fields[i] = rng.Uint64N(1 << 20)
			}
			m.fields[26] = 0
			d.mibs = append(d.mibs, m)
			d.stacks = append(d.stacks, stackBuild{id, stacks[id]})
		}
		b.dumps = append(b.dumps, d)
	}
	return b
}

// TestRandomSectionsAreLLVMs: the same for random contexts, raw version 3 of clang 17 and 18 among them.
func TestRandomSectionsAreLLVMs(t *testing.T) {
	for i, c := range []struct {
		fixture         string
		raw             uint64
		llvm, version   int
		dumps, contexts int
	}{
		{"clang19-pie", 3, 19, 3, 1, 300},
		{"clang19-pie", 3, 22, 2, 3, 50},
		{"clang19-fixed-dwarf4", 4, 19, 3, 3, 500},
		{"clang22-pie", 4, 22, 4, 2, 100},
		{"clang22-pie", 5, 22, 2, 1, 3000},
		{"clang22-pie-lld", 5, 22, 2, 4, 700},
		{"clang22-pie", 5, 22, 3, 4, 400},
		{"clang22-split", 5, 22, 4, 1, 1000},
	} {
		t.Run(fmt.Sprintf("raw%d/llvm%d/v%d/%d×%d", c.raw, c.llvm, c.version, c.dumps, c.contexts), func(t *testing.T) {
			if c.version != 4 {
				oracle.Slow(t)
			}
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			f := rawFixtureNamed(t, c.fixture)
			data := randomDumps(rng, f.read(t, RawOptions{}), c.raw, c.dumps, c.contexts).bytes()
			file := filepath.Join(t.TempDir(), "raw")
			oracle.WriteFile(t, file, data)
			raw, err := ReadRaw(file, data, RawOptions{LLVMCompat: true})
			must(t, err)
			opt := WriteOptions{Version: c.version, LLVMRelease: c.llvm, Schema: FullSchema}
			compareSection(t, raw, f.program, llvmMerged(t, f.program, file, opt), opt)
		})
	}
}
