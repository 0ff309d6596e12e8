package mip

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		{name: "raw A", data: rawA(p), raw: true},
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
			out = append(out, variant{name: "map " + name, data: mapOf(p, ptr, off), maps: true})
		}
		out = append(out, variant{name: "raw " + name, data: rawOf(p, ptr), raw: true})
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
			run := base.clone()
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
	for _, data := range [][]byte{mipOf(t, p, WriteOptions{}), mapOf(p, 8, 1<<50)} {
		if diff := cmp.Diff(p, read(t, data)); diff != "" {
			t.Error(diff)
		}
	}
}
