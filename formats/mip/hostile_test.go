package mip

import (
	"bytes"
	"debug/macho"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// seed is a small file and a profile that raw files can be merged into.
type seed struct {
	name string
	data []byte
	base *Profile
}

// hostileSeeds are small files of every kind.
func hostileSeeds(t testing.TB) []seed {
	var out []seed
	for _, typ := range profileTypes {
		rng := rand.New(rand.NewPCG(5, uint64(typ)))
		base := randomMap(rng, typ, 4)
		for _, v := range variants(t, randomRun(rng, base)) {
			out = append(out, seed{typ.String() + " " + v.name, v.data, base})
		}
	}
	golden := read(t, unhex(t, goldenMap))
	for name, digits := range map[string]string{"map": goldenMap, "raw": goldenRaw, "mip": goldenMIP, "document": goldenDocument} {
		out = append(out, seed{"golden " + name, unhex(t, digits), golden})
	}
	return out
}

// newMeter returns a meter that allows the first blocks of a profile, see blockArena.
func newMeter() *hostile.Meter { return &hostile.Meter{PerRead: 64 << 10} }

// readAny reads data as what it is: into a profile, or merged into base.
func readAny(base *Profile, data []byte) error {
	r, err := NewReader("hostile", data, nil)
	if err != nil {
		return err
	}
	m, err := NewMerger(base, MergeOptions{})
	if err != nil {
		return err
	}
	if err := m.Add(r, 1); err != nil {
		return err
	}
	m.Profile()
	return nil
}

// TestTruncation cuts every seed at every byte.
func TestTruncation(t *testing.T) {
	meter := newMeter()
	for _, s := range hostileSeeds(t) {
		kind, _ := Detect(s.data)
		for n, cut := range hostile.Cuts(s.data, 1) {
			meter.Read(t, n)
			err := readAny(s.base, cut)
			// A map may end after any record; YAML needs no end mark.
			if hostile.Check(t, "hostile", cut, err) == nil && kind != FormatMap && kind != FormatYAML {
				t.Errorf("%s: readable when cut at %d of %d", s.name, n, len(s.data))
			}
		}
	}
}

// TestBitFlips flips every bit of every seed.
func TestBitFlips(t *testing.T) {
	meter := newMeter()
	for _, s := range hostileSeeds(t) {
		for _, flipped := range hostile.Flips(s.data, 7) {
			meter.Read(t, len(flipped))
			hostile.Check(t, "hostile", flipped, readAny(s.base, flipped))
		}
	}
}

// TestSplices joins random pieces of seeds.
func TestSplices(t *testing.T) {
	meter := newMeter()
	all := hostileSeeds(t)
	var files [][]byte
	for _, s := range all {
		files = append(files, s.data)
	}
	for i, data := range hostile.Splices(20000, files...) {
		meter.Read(t, len(data))
		hostile.Check(t, "hostile", data, readAny(all[i].base, data))
	}
}

// TestHostileBinaries cuts and flips a binary.
func TestHostileBinaries(t *testing.T) {
	for _, seed := range [][]byte{fixture(t, "all.elf"), smallMachO(t), smallFat(t)} {
		if _, _, err := FindMap("binary", seed, ""); err != nil {
			t.Fatal(err)
		}
		meter := newMeter()
		find := func(data []byte) {
			meter.Read(t, len(data))
			_, _, err := FindMap("binary", data, "")
			hostile.Check(t, "binary", data, err)
		}
		for _, cut := range hostile.Cuts(seed, 1) {
			find(cut)
		}
		for bit, flipped := range hostile.Flips(seed, 1) {
			if bit/8 <= 512 || bit/8 >= len(seed)-4096 { // nothing else is read
				find(flipped)
			}
		}
	}
}

// smallMachO is a Mach-O library with nothing but the map.
func smallMachO(t testing.TB) []byte {
	m := unhex(t, goldenMap)
	const header, segment, uuid = 32, 72 + 80, 24
	name := func(s string) []byte { return append([]byte(s), make([]byte, 16-len(s))...) }
	b := le.AppendUint32(nil, macho.Magic64)
	for _, v := range []uint32{0x0100000c, 0, 6, 2, segment + uuid, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(le.AppendUint32(b, 0x19), segment)
	b = append(b, name("__DATA")...)
	for _, v := range []uint64{0x4000, 0x4000, header, 0x4000, 0, 1} { // the last two: protections, and one section
		b = le.AppendUint64(b, v)
	}
	b = append(append(b, name(mapSection)...), name("__DATA")...)
	b = le.AppendUint64(le.AppendUint64(b, 0x4000), uint64(len(m)))
	for _, v := range []uint32{header + segment + uuid, 0, 0, 0, 0, 0, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(le.AppendUint32(b, 0x1b), uuid)
	b = append(b, "0123456789abcdef"...)
	return append(b, m...)
}

func smallFat(t testing.TB) []byte {
	m := smallMachO(t)
	b := unhex(t, "cafebabe 00000001 0100000c 00000000 0000001c 00000000 00000000")
	b[len(b)-5] = byte(len(m))
	b[len(b)-6] = byte(len(m) >> 8)
	return append(b, m...)
}

// TestFindMapReal looks into the binary of this test, which has no map.
func TestFindMapReal(t *testing.T) {
	data, err := os.ReadFile(os.Args[0])
	if err != nil || !object.IsImage(data) {
		t.Skip("the test's own binary is not ELF or Mach-O")
	}
	if _, _, err := FindMap("self", data, ""); !errors.Is(err, profile.ErrMismatch) {
		t.Errorf("got %v", err)
	}
}

// checkRewritten: what can be read can be written as .mip in both layouts, as
// a map and as YAML, and read again as the same.
func checkRewritten(t *testing.T, data []byte) {
	p, err := Read("fuzz", data, nil)
	if hostile.Check(t, "fuzz", data, err) != nil {
		return
	}
	if err := p.validate(); err != nil {
		t.Fatalf("read as invalid: %v", err)
	}
	same := func(what string, want *Profile, file []byte) {
		t.Helper()
		q, err := Read(what, file, nil)
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if len(want.Functions)+len(q.Functions) > 0 && !cmp.Equal(want, q) {
			t.Fatalf("%s (-want +got)\n%s", what, cmp.Diff(want, q))
		}
	}
	file := mipOf(t, p, WriteOptions{})
	same("mip", p, file)
	if again := mipOf(t, p, WriteOptions{}); !bytes.Equal(file, again) {
		t.Fatal("written again with other bytes")
	}
	for what, write := range map[string]func(io.Writer) error{
		"document": func(w io.Writer) error { return WriteMIP(w, p, WriteOptions{DocumentLayout: true}) },
		"yaml":     func(w io.Writer) error { return WriteYAML(w, p, WriteOptions{}) },
	} {
		file, err := oracle.Written(write)
		if err == nil {
			same(what, p, file)
		} else if !errors.Is(err, profile.ErrUnsupported) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if slices.ContainsFunc(p.Functions, func(f Function) bool { return f.RawOffset < headerSizeB }) {
		return // only generation A has such maps
	}
	same("map", withoutCounts(p), mapOf(p, 8, 0x1234))
	if p.checkNarrow("", "") == nil {
		same("map", withoutCounts(p), mapOf(p, 4, 0x1234))
	}
}

func withoutCounts(p *Profile) *Profile {
	p = p.clone()
	for i := range p.Functions {
		f := &p.Functions[i]
		f.MergeCount, f.CallCount, f.TimestampSum, f.CallEdges = 0, 0, 0, nil
		for b := range f.Blocks {
			f.Blocks[b].Covered = false
		}
	}
	return p
}

func fuzzSeeds(f *testing.F, kinds ...Format) {
	for _, s := range hostileSeeds(f) {
		if kind, _ := Detect(s.data); slices.Contains(kinds, kind) {
			f.Add(s.data)
		}
	}
}

func FuzzMap(f *testing.F) {
	fuzzSeeds(f, FormatMap)
	f.Fuzz(checkRewritten)
}

func FuzzMip(f *testing.F) {
	fuzzSeeds(f, FormatProfile)
	f.Fuzz(checkRewritten)
}

func FuzzYAML(f *testing.F) {
	fuzzSeeds(f, FormatYAML)
	for _, tt := range yamlAccepted {
		f.Add([]byte(tt.in))
	}
	for _, tt := range yamlRejected {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(checkRewritten)
}

// FuzzRaw merges the same raw file, in two pieces of the input, into a map and demands that what was
// merged can be written as a raw file that merges to the same.
func FuzzRaw(f *testing.F) {
	for _, s := range hostileSeeds(f) {
		if kind, _ := Detect(s.data); kind == FormatRaw {
			f.Add(mapOf(s.base, 8, 0), s.data)
		}
	}
	f.Fuzz(func(t *testing.T, mapped, raw []byte) {
		base, err := Read("map", mapped, nil)
		if err != nil {
			return
		}
		once, err := mergeInto(base, raw)
		if hostile.Check(t, "raw", raw, err) != nil {
			return
		}
		twice, err := mergeInto(base, raw, raw)
		if err != nil || !cmp.Equal(twice, mergePlain(base, once, once)) {
			t.Fatalf("error %v, or merged twice (-want +got)\n%s", err, cmp.Diff(mergePlain(base, once, once), twice))
		}
		if !isRun(once) {
			return
		}
		again, err := mergeInto(base, rawOf(once, 8))
		if err != nil {
			t.Fatal(err)
		}
		if !overlapping(base) && !cmp.Equal(once, again) {
			t.Fatalf("(-want +got)\n%s", cmp.Diff(once, again))
		}
	})
}

func mergeInto(base *Profile, raws ...[]byte) (*Profile, error) {
	m, err := NewMerger(base, MergeOptions{})
	if err != nil {
		return nil, err
	}
	for _, raw := range raws {
		if err := m.AddRaw("raw", raw, 1); err != nil {
			return nil, err
		}
	}
	return m.Profile(), nil
}

func overlapping(p *Profile) bool {
	found := false
	NewMerger(p, MergeOptions{Warn: func(profile.Warning) { found = true }})
	return found
}
