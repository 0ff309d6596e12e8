package irpgo

import (
	"bytes"
	compare "cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// hostileSeeds are small files of every kind: built ones of every version and the smallest fixtures.
func hostileSeeds(t testing.TB) map[string][]byte {
	seeds := make(map[string][]byte)
	for _, b := range rawVersions() {
		little := b.order == binary.AppendByteOrder(binary.LittleEndian)
		if little && (b.variant == IRLevel || b.version <= 2 || b.version == 10) || b.variant == IRLevel|HasTemporal && b.version == 9 {
			seeds[b.String()] = b.build()
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for version := uint32(IndexedVersionMinWritten); version <= IndexedVersionMax; version++ {
		opt := randomOptions{functions: 5, maxHashes: 2, values: 2, variant: IRLevel}
		if version >= 11 {
			opt.bitmaps, opt.traces = true, 2
			opt.variant |= HasTemporal | ContextSens
		}
		p := randomProfile(rng, opt)
		if version >= 9 {
			p.BinaryIDs = [][]byte{{1, 2, 3, 4, 5, 6, 7, 8, 9}}
		}
		if version >= 12 {
			p.VTableNames = []string{"_ZTV1A"}
		}
		file := indexedBytes(t, p, IndexedOptions{Version: version})
		seeds["indexed version "+string(rune('0'+version/10))+string(rune('0'+version%10))] = file
	}
	for _, f := range oracle.Fixtures(t) {
		if data := f.Bytes(t); len(data) > 0 && len(data) <= 700 {
			seeds[f.Path] = data
		}
	}
	return seeds
}

// readHostile reads data and demands a typed error or a profile. It reports whether reading succeeded.
func readHostile(t *testing.T, meter *hostile.Meter, data []byte) bool {
	t.Helper()
	meter.Read(t, len(data))
	err := readErr(data)
	hostile.Check(t, "test.profraw", data, err)
	if err != nil && llvmerr.Message(err) == "" {
		t.Errorf("no words for %v", err)
	}
	return err == nil
}

// newMeter returns a meter that allows what inflating needs at least.
func newMeter() *hostile.Meter { return &hostile.Meter{PerRead: 128 << 10} }

// TestTruncation cuts every seed at every byte. Text ends anywhere between records; binary files nowhere, but for
// padding at the end and a file of several profiles cut between them.
func TestTruncation(t *testing.T) {
	meter := newMeter() // of all seeds: many have fewer reads than a batch
	for name, data := range hostileSeeds(t) {
		t.Run(name, func(t *testing.T) {
			for _, cut := range hostile.Cuts(data, 1) {
				readHostile(t, meter, cut)
			}
		})
	}
}

// TestBitFlips flips every bit of every seed.
func TestBitFlips(t *testing.T) {
	meter := newMeter() // of all seeds: many have fewer reads than a batch
	for name, data := range hostileSeeds(t) {
		t.Run(name, func(t *testing.T) {
			for _, flipped := range hostile.Flips(data, 7) {
				readHostile(t, meter, flipped)
			}
		})
	}
}

// TestSplices joins random pieces of seeds.
func TestSplices(t *testing.T) {
	meter := newMeter()
	for _, data := range hostile.Splices(20000/oracle.Step(5), slices.Collect(maps.Values(hostileSeeds(t)))...) {
		readHostile(t, meter, data)
	}
}

// checkRoundTrip: what can be read can be written and read again, in the
// indexed and the text format, with the same content.
func checkRoundTrip(t *testing.T, data []byte) {
	t.Helper()
	p, err := Read("fuzz", data, ReaderOptions{})
	if hostile.Check(t, "fuzz", data, err) != nil {
		return
	}
	file, err := encodeIndexed(p, IndexedOptions{})
	if err != nil {
		t.Fatalf("writing: %v", err)
	}
	q, err := Read("again", file, ReaderOptions{})
	if err != nil {
		t.Fatalf("reading what was written: %v", err)
	}
	if diff := cmp.Diff(contents(p), contents(q)); diff != "" {
		t.Fatalf("content changed (-read +reread):\n%s", diff)
	}
	again := indexedBytes(t, q, IndexedOptions{})
	if len(again) != len(file) {
		t.Fatalf("written again: %d bytes, before %d", len(again), len(file))
	}
	var text bytes.Buffer
	if err := WriteText(&text, p, TextOptions{}); errors.Is(err, profile.ErrUnsupported) {
		return // a name that the text format cannot hold
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := Read("text", text.Bytes(), ReaderOptions{}); err != nil && text.Len() > 0 {
		t.Fatalf("reading the text that was written: %v", err)
	}
}

// contents is p in a form that compares by value.
func contents(p *Profile) map[string][]Record {
	out := make(map[string][]Record)
	for _, f := range p.Functions {
		for _, r := range f.Records {
			c := *r.clone()
			if len(c.Bitmap) == 0 {
				c.Bitmap = nil
			}
			for k := range c.Values {
				if len(c.Values[k]) == 0 {
					c.Values[k] = nil
				}
				for i := range c.Values[k] {
					if len(c.Values[k][i]) == 0 {
						c.Values[k][i] = nil
					}
				}
			}
			out[f.Name] = append(out[f.Name], c)
		}
	}
	for _, rs := range out {
		slices.SortStableFunc(rs, func(a, b Record) int { return compare.Compare(a.Hash, b.Hash) })
	}
	return out
}

func fuzzFormat(f *testing.F, format Format) {
	for _, data := range hostileSeeds(f) {
		if got, _ := Detect(data); got == format {
			f.Add(data)
		}
	}
	f.Fuzz(checkRoundTrip)
}

func FuzzRaw(f *testing.F) { fuzzFormat(f, FormatRaw) }

func FuzzIndexed(f *testing.F) { fuzzFormat(f, FormatIndexed) }
