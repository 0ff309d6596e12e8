package blocks_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
)

var le = binary.LittleEndian

// rawStart is the address of the raw section; the blocks are at address 0, as
// linkers place sections that are not loaded.
const rawStart = 0x4000

// encode writes a section as an assembler and linker would.
func encode(t *blocks.Table, width int) []byte {
	address := func(b []byte, v uint64) []byte {
		if width == 4 {
			return le.AppendUint32(b, uint32(v))
		}
		return le.AppendUint64(b, v)
	}
	b := le.AppendUint32(nil, blocks.Magic)
	b = le.AppendUint16(b, blocks.Version)
	b = le.AppendUint16(b, uint16(width))
	b = le.AppendUint32(b, t.ModuleHash)
	b = le.AppendUint32(b, 0)
	b = address(b, rawStart)
	for len(b) < 24 {
		b = append(b, 0)
	}
	for _, f := range t.Functions {
		for len(b)%width != 0 {
			b = append(b, 0)
		}
		b = address(b, rawStart+f.RawOffset-uint64(len(b)))
		b = le.AppendUint32(b, uint32(len(f.Blocks)))
		words := 0
		for _, blk := range f.Blocks {
			words += 2 + len(blk.Sources)
		}
		b = le.AppendUint32(b, uint32(words))
		for _, blk := range f.Blocks {
			b = le.AppendUint32(b, blk.Offset)
			b = le.AppendUint32(b, uint32(len(blk.Sources)))
			for _, s := range blk.Sources {
				b = le.AppendUint32(b, s)
			}
		}
	}
	return b
}

// example has a function whose blocks 1 and 3 have probes, block 2 follows
// from both, block 4 from block 2, and one that is just like its entry.
func example() *blocks.Table {
	return &blocks.Table{ModuleHash: 0x1234, Functions: []blocks.Function{
		{RawOffset: 0x20, Blocks: []blocks.Block{
			{}, {Offset: 8}, {Offset: 12, Sources: []uint32{3, 1}}, {Offset: 20}, {Offset: 32, Sources: []uint32{2}},
		}},
		{RawOffset: 0x23, Blocks: []blocks.Block{{}, {Offset: 4, Sources: []uint32{0}}}},
	}}
}

func TestRead(t *testing.T) {
	for _, width := range []int{4, 8} {
		want := example()
		got, err := blocks.Read("x", encode(want, width))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b []uint32) bool {
			return len(a) == len(b) && cmp.Equal(append([]uint32{}, a...), append([]uint32{}, b...))
		})); diff != "" {
			t.Errorf("width %d: %s", width, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	table := example()
	for bits := range 16 {
		on := func(i int) bool { return bits>>i&1 != 0 }
		calls := func(is bool) uint64 { return map[bool]uint64{true: 1}[is] }
		profile := func() *mip.Profile {
			return &mip.Profile{Type: mip.FunctionCoverage | mip.BlockCoverage, ModuleHash: 0x1234, Functions: []mip.Function{
				{Name: "f", RawOffset: 0x20, CallCount: 1, Blocks: []mip.Block{{Offset: 8, Covered: on(0)}, {Offset: 20, Covered: on(1)}}},
				{Name: "g", RawOffset: 0x23, CallCount: calls(on(2))},
				{Name: "h", RawOffset: 0x24, CallCount: calls(on(3)), Blocks: []mip.Block{{Offset: 3, Covered: on(3)}}},
			}}
		}
		p := profile()
		got, err := table.Expand(p)
		if err != nil {
			t.Fatal(err)
		}
		either := on(0) || on(1)
		want := [][]mip.Block{
			{{Offset: 8, Covered: on(0)}, {Offset: 12, Covered: either}, {Offset: 20, Covered: on(1)}, {Offset: 32, Covered: either}},
			{{Offset: 4, Covered: on(2)}},
			{{Offset: 3, Covered: on(3)}},
		}
		for i, f := range got.Functions {
			if diff := cmp.Diff(want[i], f.Blocks); diff != "" {
				t.Errorf("%04b %s: %s", bits, f.Name, diff)
			}
		}
		if diff := cmp.Diff(profile(), p); diff != "" {
			t.Errorf("the profile was changed: %s", diff)
		}
	}
}

func TestExpandMismatch(t *testing.T) {
	profile0 := func() *mip.Profile {
		return &mip.Profile{Type: mip.FunctionCoverage | mip.BlockCoverage, ModuleHash: 0x1234, Functions: []mip.Function{
			{Name: "f", RawOffset: 0x20, Blocks: []mip.Block{{Offset: 8}, {Offset: 20}}},
		}}
	}
	tests := map[string]func(p *mip.Profile){
		"module":       func(p *mip.Profile) { p.ModuleHash++ },
		"offset":       func(p *mip.Profile) { p.Functions[0].Blocks[1].Offset++ },
		"too few":      func(p *mip.Profile) { p.Functions[0].Blocks = p.Functions[0].Blocks[:1] },
		"too many":     func(p *mip.Profile) { p.Functions[0].Blocks = append(p.Functions[0].Blocks, mip.Block{Offset: 40}) },
		"none at all":  func(p *mip.Profile) { p.Functions[0].Blocks = nil },
		"other record": func(p *mip.Profile) { p.Functions[0].RawOffset = 0x23 },
	}
	for name, change := range tests {
		p := profile0()
		change(p)
		if _, err := example().Expand(p); !errors.Is(err, profile.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadHostile(t *testing.T) {
	good := encode(example(), 8)
	for n, cut := range hostile.Cuts(good, 1) {
		table, err := blocks.Read("x", cut)
		if hostile.Check(t, "x", cut, err) == nil && (table == nil || len(table.Functions) >= 2) {
			t.Errorf("%d bytes are read as %v", n, table)
		}
	}
	change := func(f func(t *blocks.Table)) []byte {
		e := example()
		f(e)
		return encode(e, 8)
	}
	poke := func(at int, v uint32) []byte {
		b := append([]byte{}, good...)
		le.PutUint32(b[at:], v)
		return b
	}
	tests := map[string]struct {
		data []byte
		want error
	}{
		"magic":       {poke(0, 1), profile.ErrUnrecognized},
		"version":     {poke(4, 8<<16|2), profile.ErrUnsupported},
		"width":       {poke(4, 2<<16|1), profile.ErrUnsupported},
		"no blocks":   {poke(32, 0), profile.ErrCorrupt},
		"many blocks": {poke(32, 1<<31), profile.ErrCorrupt},
		"many words":  {poke(36, 1<<31), profile.ErrTruncated},
		"few words":   {poke(36, 12), profile.ErrCorrupt},
		"sources":     {poke(44, 1<<31), profile.ErrCorrupt},
		"itself":      {change(func(t *blocks.Table) { t.Functions[0].Blocks[4].Sources[0] = 4 }), profile.ErrCorrupt},
		"cycle":       {change(func(t *blocks.Table) { t.Functions[0].Blocks[2].Sources[0] = 4 }), profile.ErrCorrupt},
		"outside":     {change(func(t *blocks.Table) { t.Functions[0].Blocks[2].Sources[0] = 5 }), profile.ErrCorrupt},
	}
	for name, tt := range tests {
		if _, err := blocks.Read("x", tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(example(), 8))
	f.Add(encode(example(), 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := blocks.Read("x", data)
		if err != nil {
			if !errors.As(err, new(*profile.FormatError)) {
				t.Fatal(err)
			}
			return
		}
		p := &mip.Profile{ModuleHash: table.ModuleHash}
		for _, fn := range table.Functions {
			mf := mip.Function{RawOffset: fn.RawOffset}
			for i, b := range fn.Blocks {
				if i > 0 && len(b.Sources) == 0 {
					mf.Blocks = append(mf.Blocks, mip.Block{Offset: b.Offset, Covered: i%2 == 0})
				}
			}
			p.Functions = append(p.Functions, mf)
		}
		// Records for one place may contradict each other; that is an error, never a panic.
		if _, err := table.Expand(p); err != nil && !errors.Is(err, profile.ErrMismatch) {
			t.Fatal(err)
		}
	})
}
