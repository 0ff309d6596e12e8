package irpgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime/metrics"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// hostileSeeds are small files of every kind: built ones of every version and
// the smallest fixtures.
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
		file, err := appendIndexed(nil, p, IndexedOptions{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		seeds["indexed version "+string(rune('0'+version/10))+string(rune('0'+version%10))] = file
	}
	for _, f := range oracle.Fixtures(t) {
		if data := f.Bytes(t); len(data) > 0 && len(data) <= 700 {
			seeds[f.Path] = data
		}
	}
	return seeds
}

// allocMeter demands that memory stays in proportion to the input, over
// batches of reads: looking costs more than reading a small file.
type allocMeter struct {
	sample []metrics.Sample
	before uint64
	bytes  int
	reads  int
}

// allocBatch is large enough for the runtime's lazy accounting to even out.
const allocBatch = 1024

func newAllocMeter() *allocMeter {
	m := &allocMeter{sample: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	m.before = m.total()
	return m
}

func (m *allocMeter) total() uint64 {
	metrics.Read(m.sample)
	return m.sample[0].Value.Uint64()
}

func (m *allocMeter) read(t *testing.T, what string, size int) {
	m.bytes += size
	if m.reads++; m.reads%allocBatch != 0 {
		return
	}
	now := m.total()
	// The constant, for each read, covers what inflating needs at least.
	if used, limit := now-m.before, uint64(allocBatch*(128<<10)+100*m.bytes); used > limit {
		t.Errorf("%s: %d reads of %d bytes in all allocated %d, limit %d", what, allocBatch, m.bytes, used, limit)
	}
	m.before, m.bytes = now, 0
}

// readHostile reads data and demands a typed error or a profile. It reports
// whether reading succeeded.
func readHostile(t *testing.T, what string, data []byte) bool {
	t.Helper()
	err := readErr(data)
	if err == nil {
		return true
	}
	var fe *profile.FormatError
	switch {
	case !errors.As(err, &fe):
		t.Errorf("%s: error without a place: %v", what, err)
	case fe.File == "" || fe.Field == "" || profile.ClassOf(fe) == profile.Unreadable:
		t.Errorf("%s: error without file, class or field: %v", what, err)
	}
	if llvmerr.Message(err) == "" {
		t.Errorf("%s: no words for %v", what, err)
	}
	return false
}

// TestTruncation cuts every seed at every byte.
func TestTruncation(t *testing.T) {
	meter := newAllocMeter()
	for name, data := range hostileSeeds(t) {
		ok := 0
		for n := range data {
			meter.read(t, name, n)
			if readHostile(t, name, data[:n:n]) {
				ok++
			}
		}
		// Text ends anywhere between records; binary files nowhere, but for
		// padding at the end and a file of several profiles cut between them.
		if f, _ := Detect(data); f == FormatRaw && ok > 1 {
			t.Logf("%s: readable when cut at %d of %d places", name, ok, len(data))
		}
	}
}

// TestBitFlips flips every bit of every seed.
func TestBitFlips(t *testing.T) {
	meter := newAllocMeter()
	for name, data := range hostileSeeds(t) {
		data := bytes.Clone(data)
		for i := 0; i < 8*len(data); i += oracle.Step(7) {
			data[i/8] ^= 1 << (i % 8)
			meter.read(t, name, len(data))
			readHostile(t, name, data)
			data[i/8] ^= 1 << (i % 8)
		}
	}
}

// TestSplices joins random pieces of seeds.
func TestSplices(t *testing.T) {
	seeds := hostileSeeds(t)
	var all [][]byte
	for _, s := range seeds {
		all = append(all, s)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	meter := newAllocMeter()
	for range 20000 / oracle.Step(5) {
		a, b := all[rng.IntN(len(all))], all[rng.IntN(len(all))]
		i, j := rng.IntN(len(a)), rng.IntN(len(b))
		data := append(bytes.Clone(a[:i]), b[j:]...)
		meter.read(t, "splice", len(data))
		readHostile(t, "splice", data)
	}
}

// checkRoundTrip: what can be read can be written and read again, in the
// indexed and the text format, with the same content.
func checkRoundTrip(t *testing.T, data []byte) {
	t.Helper()
	p, err := Read("fuzz", data, ReaderOptions{})
	if err != nil {
		var fe *profile.FormatError
		if !errors.As(err, &fe) {
			t.Fatalf("error without a place: %v", err)
		}
		return
	}
	file, err := appendIndexed(nil, p, IndexedOptions{})
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
	again, err := appendIndexed(nil, q, IndexedOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
		sortByHash(rs)
	}
	return out
}

func sortByHash(rs []Record) {
	for i := range rs {
		for j := i; j > 0 && rs[j].Hash < rs[j-1].Hash; j-- {
			rs[j], rs[j-1] = rs[j-1], rs[j]
		}
	}
}

func FuzzRaw(f *testing.F) {
	for name, data := range hostileSeeds(f) {
		if format, _ := Detect(data); format == FormatRaw {
			_ = name
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkRoundTrip(t, data) })
}

func FuzzIndexed(f *testing.F) {
	for _, data := range hostileSeeds(f) {
		if format, _ := Detect(data); format == FormatIndexed {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkRoundTrip(t, data) })
}
