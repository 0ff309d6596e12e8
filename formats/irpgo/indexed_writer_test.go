package irpgo

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// llvmIndexed is the indexed version that each installed LLVM writes.
var llvmIndexed = []struct {
	release int
	version uint32
	values  int // value kinds known
}{{14, 7, 2}, {16, 9, 2}, {19, 12, 3}, {22, 13, 3}}

// TestIndexedBytesRandom has every llvm-profdata turn random text profiles into indexed ones and compares the
// bytes: table sizes around each growth step, many hashes under one name, context-sensitive records, sparse files.
func TestIndexedBytesRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, llvm := range llvmIndexed {
		tool := oracle.LLVM(t, llvm.release)
		for _, functions := range []int{1, 2, 3, 4, 12, 13, 14, 47, 48, 49, 97, 1000, 5000} {
			opt := randomOptions{functions: functions, maxHashes: 1, values: llvm.values, variant: IRLevel}
			if functions < 1000 {
				opt.maxHashes = 20
				opt.variant |= ContextSens
				opt.bitmaps = llvm.version >= 11
			}
			if llvm.version >= 10 && functions%2 == 0 {
				opt.variant |= HasTemporal
				opt.traces = 5
			}
			for _, sparse := range []bool{false, true} {
				t.Run(fmt.Sprintf("llvm%d/%d/sparse=%v", llvm.release, functions, sparse), func(t *testing.T) {
					if llvm.release != 22 || functions > 1000 || sparse {
						oracle.Slow(t)
					}
					text := textOf(t, randomProfile(rng, opt))
					dir := t.TempDir()
					in, out := filepath.Join(dir, "in.proftext"), filepath.Join(dir, "out.profdata")
					oracle.WriteFile(t, in, text)
					_, stderr, code := oracle.Run(t, tool, "merge", fmt.Sprintf("-sparse=%v", sparse), "-o", out, in)
					if code != 0 || stderr != "" {
						t.Fatalf("llvm-profdata exits %d: %s", code, stderr)
					}
					want := oracle.ReadFile(t, out)
					p := readProfile(t, in, text, ReaderOptions{})
					got := indexedBytes(t, p, IndexedOptions{Version: llvm.version, Sparse: sparse})
					if !bytes.Equal(got, want) {
						t.Errorf("indexed files differ at byte %d of %d", firstDifference(got, want), len(want))
					}
				})
			}
		}
	}
}

// TestWritePrevVersion: version 11 in the order of LLVM 22 is what --write-prev-version gives.
func TestWritePrevVersion(t *testing.T) {
	tool := oracle.LLVM(t, 22)
	rng := rand.New(rand.NewPCG(3, 4))
	text := textOf(t, randomProfile(rng, randomOptions{functions: 60, maxHashes: 9, values: 3, bitmaps: true, variant: IRLevel}))
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.proftext"), filepath.Join(dir, "out.profdata")
	oracle.WriteFile(t, in, text)
	if _, stderr, code := oracle.Run(t, tool, "merge", "--write-prev-version", "-o", out, in); code != 0 {
		t.Fatal(stderr)
	}
	want := oracle.ReadFile(t, out)
	p := readProfile(t, in, text, ReaderOptions{})
	got := indexedBytes(t, p, IndexedOptions{Version: 11, LLVMRelease: 22})
	if !bytes.Equal(got, want) {
		t.Errorf("indexed files differ at byte %d of %d", firstDifference(got, want), len(want))
	}
}

// TestIndexedRoundTrip writes every version and reads it back, in LLVM 22 too.
func TestIndexedRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for version := uint32(IndexedVersionMinWritten); version <= IndexedVersionMax; version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			opt := randomOptions{functions: 80, maxHashes: 3, values: 2, variant: IRLevel}
			if version >= 5 {
				opt.variant |= ContextSens
			}
			if version >= 10 {
				opt.variant |= HasTemporal
				opt.traces = 4
			}
			opt.bitmaps = version >= 11
			if version >= 12 {
				opt.values = 3
			}
			p := randomProfile(rng, opt)
			if version >= 9 {
				p.BinaryIDs = [][]byte{{1, 2, 3}, {4}}
			}
			if version >= 12 {
				p.VTableNames = []string{"_ZTV1A", "_ZTV1B"}
			}
			text := textOf(t, p)
			file := indexedBytes(t, p, IndexedOptions{Version: version, Warn: func(w profile.Warning) { t.Error(w) }})
			r := openReader(t, "file", file, ReaderOptions{})
			if in := r.Info; in.Version != version || in.Variant != p.Variant || len(in.BinaryIDs) != len(p.BinaryIDs) {
				t.Errorf("info = %+v", in)
			}
			alike.Values(t, "(-want +got)", p.VTableNames, r.Info.VTableNames)
			m := NewMerger(MergeOptions{KeepVTableNames: true})
			addTo(t, m, r, 1)
			back := m.Finish().Profile()
			alike.Values(t, "text after the round trip (-want +got)", string(text), string(textOf(t, back)))
			if sum := r.Info.Summary; sum == nil || len(sum.Cutoffs) != len(profile.DefaultCutoffs()) {
				t.Errorf("summary %+v", sum)
			}
			if version > indexedVersionLLVM22 {
				return
			}
			tool := oracle.LLVM(t, 22)
			in := filepath.Join(t.TempDir(), "in.profdata")
			oracle.WriteFile(t, in, file)
			out, stderr, code := oracle.Run(t, tool, "merge", "--text", "-o", "-", in)
			if code != 0 || out != string(text) {
				t.Errorf("llvm-profdata exits %d, %s: text (-profuse +llvm):\n%s", code, stderr, cmp.Diff(string(text), out))
			}
		})
	}
}

// TestIndexedLosses: what a version cannot hold is refused when it would
// change the meaning, and left out with a warning otherwise.
func TestIndexedLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := randomProfile(rng, randomOptions{functions: 30, maxHashes: 1, values: 3, bitmaps: true, variant: IRLevel | HasTemporal, traces: 2})
	p.BinaryIDs = [][]byte{{1}}
	var lost []string
	file := oracle.Must(encodeIndexed(p, IndexedOptions{Version: 6, Warn: func(w profile.Warning) {
		var fe *profile.FormatError
		if !errors.As(w.Err, &fe) || profile.ClassOf(fe) != profile.ErrUnsupported {
			t.Errorf("warning %v", w)
			return
		}
		lost = append(lost, fe.Field)
	}}))(t)
	if got, want := strings.Join(lost, ", "), "temporal mark, binary ids, bitmaps, vtable values"; got != want {
		t.Errorf("lost %q, want %q", got, want)
	}
	if _, err := Read("file", file, ReaderOptions{}); err != nil {
		t.Error(err)
	}
	for _, v := range []Variant{SingleByte, ContextSens, EntryOnly, EntryFirst, LoopEntries} {
		p.Variant = IRLevel | v
		if _, err := encodeIndexed(p, IndexedOptions{Version: 4}); !errors.Is(err, profile.ErrUnsupported) {
			t.Errorf("%v as version 4: %v", v, err)
		}
	}
	for _, v := range []uint32{1, 3, 15} {
		if _, err := encodeIndexed(p, IndexedOptions{Version: v}); !errors.Is(err, profile.ErrUnsupported) {
			t.Errorf("writing version %d: %v", v, err)
		}
	}
}
