package mip

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Generation A is only read; here it is written.

func appendHeaderA(dst []byte, fileType uint16, p *Profile) []byte {
	dst = le.AppendUint32(dst, magic)
	dst = le.AppendUint16(dst, VersionMax)
	dst = le.AppendUint16(dst, fileType)
	dst = le.AppendUint32(dst, uint32(p.Type))
	dst = le.AppendUint32(dst, p.ModuleHash)
	dst = le.AppendUint32(dst, 0)
	return le.AppendUint32(dst, headerSizeA)
}

func mapA(p *Profile) []byte {
	b := appendHeaderA(nil, fileTypeAMap, p)
	for i := range p.Functions {
		f := &p.Functions[i]
		for len(b)%mapAlignA != 0 {
			b = append(b, 0)
		}
		section := uint32(0xfffff000) - uint32(len(b)) // any reference that all three share
		b = le.AppendUint32(b, section)
		b = le.AppendUint32(b, section+uint32(f.RawOffset))
		b = le.AppendUint32(b, section+uint32(f.Address))
		b = le.AppendUint32(b, f.Size)
		b = le.AppendUint32(b, f.CFG)
		b = le.AppendUint32(b, uint32(len(f.Blocks)))
		for _, block := range f.Blocks {
			b = le.AppendUint32(b, block.Offset)
		}
		b = le.AppendUint32(b, uint32(len(f.Name)))
		b = append(b, f.Name...)
	}
	return b
}

// rawA is a raw profile of generation A: the records begin 8 bytes lower, but are where the map says.
func rawA(t testing.TB, p *Profile) []byte {
	return append(appendHeaderA(nil, fileTypeARaw, p), rawOf(t, p)[headerSizeA:]...)
}

// mipIn writes a .mip with the given header and layout.
func mipIn(p *Profile, g generation, l mipLayout) []byte {
	b := appendHeader(nil, p)
	if g == generationA {
		b = appendHeaderA(nil, fileTypeAMIP, p)
	}
	b = le.AppendUint64(b, uint64(len(p.Functions)))
	for i := range p.Functions {
		b = appendMIPRecord(b, &p.Functions[i], l)
	}
	return append(b, appendNames(nil, p, l)...)
}

// variant is one way to keep a profile, or only its functions, in a file.
type variant struct {
	name string
	data []byte
	raw  bool // of a single run
	maps bool // only the functions
}

// variants writes p, a single run, in every way.
func variants(t testing.TB, p *Profile) []variant {
	t.Helper()
	out := []variant{
		{name: "map A", data: mapA(p), maps: true},
		{name: "raw A", data: rawA(t, p), raw: true},
		{name: "mip A", data: mipIn(p, generationA, layoutA)},
		{name: "mip A with length", data: mipIn(p, generationA, layoutDocument)},
		{name: "mip B", data: mipOf(t, p, WriteOptions{})},
		{name: "mip by the document", data: mipOf(t, p, WriteOptions{DocumentLayout: true})},
		{name: "mip B narrow", data: mipIn(p, generationB, layoutA)},
		{name: "mip B with length", data: mipIn(p, generationB, mipLayout{wide: true, namesByLength: true})},
		{name: "yaml", data: []byte(yamlOf(t, p))},
	}
	for ptr, name := range map[int]string{4: "32", 8: "64"} {
		for _, off := range []int64{0, -0x160, 0x7000} {
			m, err := appendMap(nil, p, mapOptions{PointerSize: ptr, RawSectionOffset: off})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, variant{name: "map " + name, data: m, maps: true})
		}
		raw, err := appendRaw(nil, p, rawOptions{PointerSize: ptr})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, variant{name: "raw " + name, data: raw, raw: true})
	}
	return out
}

// TestRoundTrips: whatever a profile is written as, it is read as the same.
func TestRoundTrips(t *testing.T) {
	for _, typ := range append(profileTypes, callGraph|ReturnAddress) {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, uint64(typ)))
			base := randomMap(rng, typ, int(seed))
			if seed == 7 {
				base.Functions[3].Name = "" // sorts first
			}
			if seed == 1 {
				base.Functions[0].Name = ""
			}
			run := base.Clone()
			if seed > 0 {
				run = randomRun(rng, base)
			}
			for _, v := range variants(t, run) {
				want := run
				var got *Profile
				switch {
				case v.raw:
					got = merged(t, base, v.data)
				case v.maps:
					want, got = base, read(t, v.data)
				default:
					got = read(t, v.data)
				}
				if len(got.Functions) == 0 && len(want.Functions) == 0 {
					got.Functions = want.Functions // nil or empty
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%v, seed %d, %s (-want +got)\n%s", typ, seed, v.name, diff)
				}
				wantDetected(t, v)
			}
		}
	}
}

func wantDetected(t *testing.T, v variant) {
	t.Helper()
	want := FormatProfile
	switch {
	case v.raw:
		want = FormatRaw
	case v.maps:
		want = FormatMap
	case v.name == "yaml":
		want = FormatYAML
	}
	if got, ok := Detect(v.data); !ok || got != want {
		t.Errorf("%s: detected %v, %v", v.name, got, ok)
	}
	r, err := NewReader("v", v.data, nil)
	if err != nil || r.Info.Format != want {
		t.Errorf("%s: %v", v.name, err)
	}
}

// TestWide: addresses beyond 32 bits need wide records.
func TestWide(t *testing.T) {
	p := &Profile{Type: FunctionCoverage, Functions: []Function{{Name: "f", RawOffset: 32, Address: -1 << 40}}}
	if diff := cmp.Diff(p, read(t, mipOf(t, p, WriteOptions{}))); diff != "" {
		t.Error(diff)
	}
	if _, err := appendMIP(nil, p, WriteOptions{DocumentLayout: true}); err == nil {
		t.Error("written with 32 bits")
	}
	m, err := appendMap(nil, p, mapOptions{RawSectionOffset: 1 << 50})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, read(t, m)); diff != "" {
		t.Error(diff)
	}
	for _, opt := range []mapOptions{{PointerSize: 4}, {PointerSize: 2}} {
		if _, err := appendMap(nil, p, opt); err == nil {
			t.Errorf("%+v: written", opt)
		}
	}
}
