package memprof

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// rawSeeds are small files of every version: built ones, and the fixtures.
func rawSeeds(t testing.TB) map[string][]byte {
	seeds := make(map[string][]byte)
	for version := uint64(1); version <= RawVersionMax; version++ {
		seeds[fmt.Sprintf("version %d", version)] = smallRaw(version).bytes()
	}
	b := smallRaw(5)
	b.dumps = append(b.dumps, b.dumps[0])
	seeds["two dumps"] = b.bytes()
	for _, f := range rawFixtures(t) {
		if f.is("dumps") || f.is("fixed") {
			seeds[f.name] = oracle.ReadFile(t, f.file)
		}
	}
	return seeds
}

// exerciseRaw reads a file that may be broken in any way, and symbolizes it. Errors must be typed.
func exerciseRaw(t testing.TB, data []byte, programs *Binaries) (ok bool) {
	t.Helper()
	for _, compat := range []bool{false, true} {
		p, err := ReadRaw("hostile", data, RawOptions{LLVMCompat: compat})
		if errors.Is(err, profile.ErrEmpty) && len(data) == 0 { // without an offset
			if hostile.CheckType(t, "hostile", err); llvmerr.HeapMessage(err) == "" {
				t.Errorf("error %#v", err)
			}
			continue
		}
		if fe := hostile.Check(t, "hostile", data, err); fe != nil {
			if llvmerr.HeapMessage(err) == "" || fe.Offset < 0 {
				t.Errorf("error %#v", err)
			}
			continue
		}
		ok = true
		checkRaw(t, p, data)
		out, about, err := p.Symbolize(programs, SymbolizeOptions{LLVMCompat: compat, KeepNames: true})
		if hostile.Check(t, "hostile", data, err) != nil {
			continue
		}
		if err := out.validate(); err != nil {
			t.Error(err)
		}
		if about.Contexts != p.NumContexts || len(out.MIBs) > about.Contexts-about.Dropped {
			t.Errorf("%d measurements of %+v", len(out.MIBs), about)
		}
	}
	return ok
}

// checkRaw: the numbers that a file is read as agree with each other.
func checkRaw(t testing.TB, p *RawProfile, data []byte) {
	t.Helper()
	mibs, at := 0, int64(0)
	for _, d := range p.dumps {
		if d.offset != at || d.version < rawVersionMin || d.version > RawVersionMax {
			t.Errorf("dump %+v, want it at %d", d, at)
		}
		at += int64(d.size)
		mibs += d.numMIBs
	}
	if at != int64(len(data)) {
		t.Errorf("dumps of %d bytes in a file of %d", at, len(data))
	}
	var blocks uint64
	seen := make(map[uint64]bool)
	for _, c := range contextsOf(p) {
		if seen[c.StackID] {
			t.Errorf("two contexts %#x", c.StackID)
		}
		seen[c.StackID] = true
		blocks += uint64(c.MIB.AllocCount)
		if len(c.MIB.Histogram) != int(c.MIB.AccessHistogramSize) {
			t.Errorf("histogram of %d buckets, want %d", len(c.MIB.Histogram), c.MIB.AccessHistogramSize)
		}
	}
	if len(seen) != p.NumContexts || len(seen) > mibs {
		t.Errorf("%d contexts, %d announced, of %d MIBs", len(seen), p.NumContexts, mibs)
	}
	sorted := slices.Clone(p.Segments)
	slices.SortFunc(sorted, func(a, b Segment) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Start < sorted[i-1].End {
			t.Errorf("segments %+v overlap", sorted[i-1:i+1])
		}
	}
}

// TestRawTruncation cuts every seed at every byte: only between two dumps does a shorter file make sense.
func TestRawTruncation(t *testing.T) {
	programs := openBinaries(t, rawFixtureNamed(t, "clang22-dumps").program, rawFixtureNamed(t, "clang16-dumps").program)
	for name, data := range rawSeeds(t) {
		whole := oracle.Must(ReadRaw(name, data, RawOptions{}))(t)
		for n, cut := range hostile.Cuts(data, 1) {
			between := slices.ContainsFunc(whole.dumps[1:], func(d rawDump) bool { return d.offset == int64(n) })
			if exerciseRaw(t, cut, programs) != between {
				t.Errorf("%s cut at %d: readable %t", name, n, !between)
			}
		}
	}
}

// TestRawBitFlips flips every bit of every seed.
func TestRawBitFlips(t *testing.T) {
	programs := openBinaries(t, rawFixtureNamed(t, "clang22-dumps").program, rawFixtureNamed(t, "clang16-dumps").program)
	for name, data := range rawSeeds(t) {
		for bit, flipped := range hostile.Flips(data, 11) {
			if len(data) <= 2000 || bit%7 == 0 {
				exerciseRaw(t, flipped, programs)
			}
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestRawScrambled overwrites words with others of the file, or with numbers at the edge.
func TestRawScrambled(t *testing.T) {
	programs := openBinaries(t, rawFixtureNamed(t, "clang22-dumps").program)
	rng := rand.New(rand.NewPCG(1, 2))
	edges := []uint64{0, 1, 7, 8, 1<<31 - 1, 1 << 32, 1 << 61, 1<<63 - 1, 1 << 63, 1<<64 - 8, 1<<64 - 1}
	for _, data := range rawSeeds(t) {
		for range 500 {
			b := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				at := 8 * rng.IntN(len(b)/8)
				v := edges[rng.IntN(len(edges))]
				if rng.IntN(2) == 0 {
					v = le.Uint64(b[8*rng.IntN(len(b)/8):])
				}
				le.PutUint64(b[at:], v)
			}
			exerciseRaw(t, b, programs)
		}
	}
}

// TestRawManyDumps: many small dumps after one with many segments take no more than their share.
func TestRawManyDumps(t *testing.T) {
	first := dumpBuild{version: 5}
	for i := range uint64(20_000) {
		first.segments = append(first.segments, Segment{Start: i << 16, End: i<<16 + 100, BuildID: []byte{byte(i)}})
	}
	b := first.bytes()
	small := dumpBuild{version: 5}.bytes()
	for range 100_000 {
		b = append(b, small...)
	}
	// And each with a segment of its own, in descending order.
	for i := range uint64(20_000) {
		one := dumpBuild{version: 5, segments: []Segment{{Start: 1<<40 - i<<16, End: 1<<40 - i<<16 + 1}}}
		b = append(b, one.bytes()...)
	}
	p := readRaw(t, b, RawOptions{})
	if len(p.dumps) != 120_001 || len(p.Segments) != 40_000 {
		t.Errorf("%d dumps, %d segments", len(p.dumps), len(p.Segments))
	}
	for len(first.segments) <= maxSegments {
		i := uint64(len(first.segments))
		first.segments = append(first.segments, Segment{Start: i << 16, End: i<<16 + 100})
	}
	if _, err := ReadRaw("many", first.bytes(), RawOptions{}); !errors.Is(err, profile.ErrCorrupt) {
		t.Errorf("%d segments: %v", len(first.segments), err)
	}
}

// TestRawMemory: reading takes memory in proportion to the file, whatever its counts say.
func TestRawMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, data := range rawSeeds(t) {
		before, size := hostile.Allocated(), 0
		for range 300 {
			b := bytes.Clone(data)
			le.PutUint64(b[8*rng.IntN(len(b)/8):], 1<<rng.IntN(64))
			before += uint64(len(b))
			if p, err := ReadRaw(name, b, RawOptions{}); err == nil {
				for range p.MIBs() {
				}
			}
			size += len(b)
		}
		if used, limit := hostile.Allocated()-before, uint64(300*(8<<10)+8*size); used > limit {
			t.Errorf("%s: allocated %d for %d bytes, limit %d", name, used, size, limit)
		}
	}
}

func FuzzRaw(f *testing.F) {
	for _, data := range rawSeeds(f) {
		f.Add(data)
	}
	f.Add(oracle.ReadFile(f, filepath.Join(lostFolder(f), "closed.memprofraw")))
	programs := openBinaries(f, rawFixtureNamed(f, "clang22-dumps").program, rawFixtureNamed(f, "clang16-dumps").program,
		filepath.Join(lostFolder(f), "closed.debug"), filepath.Join(lostFolder(f), "library.so"))
	f.Fuzz(func(t *testing.T, data []byte) { exerciseRaw(t, data, programs) })
}
