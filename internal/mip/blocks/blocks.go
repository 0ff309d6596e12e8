// Package blocks reads the section that says how the coverage of blocks without
// probes follows from the coverage of other blocks, and applies it to profiles.
//
// The map records of a program list only the blocks with probes, so every reader
// of MIP profiles sees correct coverage, but only of the blocks with probes. To see all
// blocks, call [Read] on the section's contents, then [Table.Expand] on a profile.
//
// Package instrument emits the section, which is not loaded on ELF. Damaged or hostile input gives a
// *profile.FormatError, and the memory used stays in proportion to the size of the input.
package blocks

import (
	"encoding/binary"
	"slices"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Section is the name of the section, in segment __DATA on Mach-O.
const Section = "__profuse_blocks"

// Layout of the section, little-endian; W is the width of addresses, 4 or 8.
//
// Header, 24 bytes:
//
//	 0  u32 Magic "\xfbMIB"
//	 4  u16 Version
//	 6  u16 W
//	 8  u32 ModuleHash          as in the map
//	12  u32 reserved
//	16  i64 RawSectionOffset    address of the raw section − of this header;
//	                            W 4: i32 and 4 zero bytes
//
// Records up to the end, each aligned to W, the last not padded:
//
//	W    address of the raw record − of this field
//	u32  number of blocks N, the entry included
//	u32  number of words M that follow
//	M×u32, for each of the N blocks, in layout order:
//	     block − function, bytes
//	     number of sources k
//	     k × number of a source block
//
// A block with k = 0 has a probe: the entry has the function's own, the others have the bytes of the raw
// record in order. Any other block is covered if one of its sources is. Sources may have sources in turn,
// but no block depends on itself.
const (
	Magic   = 0x42494dfb
	Version = 1
)

// Table says where the coverage of inferred blocks comes from. Functions that
// are not in it have probes in all blocks.
type Table struct {
	ModuleHash uint32
	Functions  []Function
}

// Function lists the blocks of one function.
type Function struct {
	RawOffset uint64 // of its raw record, as in mip.Function
	Blocks    []Block
}

// Block is one basic block. The first of a function is its entry.
type Block struct {
	Offset  uint32   // bytes from the start of the function
	Sources []uint32 // the block is covered if and only if one of these is; none if it has a probe
}

var le = binary.LittleEndian

// Read decodes the section's contents, taken from a linked file. name is for
// errors only. The error is a *profile.FormatError.
func Read(name string, data []byte) (*Table, error) {
	t, err := read(data)
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return t, nil
}

func read(data []byte) (*Table, error) {
	c := cursor.New("blocks", 0, data, le)
	t := &Table{}
	magic := c.U32("magic")
	if c.Err() == nil && magic != Magic {
		return nil, flaw.At("header", 0).Field("magic").Gotf("%#x", magic).Wantf("%#x", Magic).Unrecognized()
	}
	version := c.U16("version")
	width := int(c.U16("address width"))
	t.ModuleHash = c.U32("ModuleHash")
	c.U32("reserved")
	start := c.U64("RawSectionOffset")
	if c.Err() != nil {
		return nil, c.Err()
	}
	if version != Version || width != 4 && width != 8 {
		return nil, flaw.At("header", 4).Field("version and address width").Gotf("%d and %d", version, width).
			Want("1 and 4 or 8").Unsupported()
	}
	for c.Record = 0; c.Len() > 0; c.Record++ {
		at := c.Offset()
		f := Function{RawOffset: c.Ptr(width, "raw record") - (start - uint64(at))}
		if width == 4 {
			f.RawOffset = uint64(uint32(f.RawOffset))
		}
		readBlocks(c, &f)
		if c.Err() == nil {
			if _, b := f.order(); b >= 0 {
				c.Fail(c.At(at).Field("sources").Gotf("block %d depends on itself", b).Want("no cycles").Corrupt())
			}
		}
		if c.Err() != nil {
			return nil, c.Err()
		}
		t.Functions = append(t.Functions, f)
		if c.Len() > 0 {
			c.Align(width, "padding")
		}
	}
	return t, nil
}

// readBlocks reads the blocks of one record. It leaves an error in the cursor.
func readBlocks(c *cursor.Cursor, f *Function) {
	at := c.Offset()
	n := uint64(c.U32("number of blocks"))
	words := c.Count(uint64(c.U32("number of words")), 4, "number of words")
	if n < 1 || n > uint64(words)/2 {
		c.Fail(c.At(at).Field("number of blocks").Got(n).Wantf("1 to %d, half of the words", words/2).Corrupt())
	}
	if c.Err() != nil {
		return
	}
	sources := make([]uint32, 0, uint64(words)-2*n)
	f.Blocks = make([]Block, n)
	left := uint64(words)
	for b := range f.Blocks {
		at = c.Offset()
		f.Blocks[b].Offset = c.U32("block offset")
		k := uint64(c.U32("number of sources"))
		left -= 2
		if rest := n - uint64(b) - 1; k+2*rest > left {
			c.Fail(c.At(at).Field("number of sources").Got(k).
				Wantf("at most %d words for this and %d blocks", left, rest).Corrupt())
			return
		}
		left -= k
		first := len(sources)
		for range k {
			at = c.Offset()
			s := c.U32("source")
			if uint64(s) >= n {
				c.Fail(c.At(at).Field("source").Got(s).Wantf("less than %d", n).Corrupt())
				return
			}
			sources = append(sources, s)
		}
		f.Blocks[b].Sources = sources[first:len(sources):len(sources)]
	}
	if left != 0 {
		c.Fail(c.At(at).Field("number of words").Gotf("%d more than the blocks have", left).Want("none left").Corrupt())
	}
}

// order returns the blocks with each one after its sources, or a block that depends on
// itself; cyclic is -1 if there is none. It does not recurse: the chain of sources may be
// as long as the function has blocks.
func (f *Function) order() (order []uint32, cyclic int) {
	const onPath, done = 1, 2
	state := make([]byte, len(f.Blocks))
	type frame struct{ block, next uint32 }
	var stack []frame
	for b := range f.Blocks {
		if state[b] != 0 {
			continue
		}
		state[b] = onPath
		stack = append(stack[:0], frame{block: uint32(b)})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			sources := f.Blocks[top.block].Sources
			if int(top.next) == len(sources) {
				state[top.block] = done
				order = append(order, top.block)
				stack = stack[:len(stack)-1]
				continue
			}
			s := sources[top.next]
			top.next++
			switch state[s] {
			case onPath:
				return nil, int(s)
			case 0:
				state[s] = onPath
				stack = append(stack, frame{block: s})
			}
		}
	}
	return order, -1
}

// Expand returns a copy of the profile with all blocks of each function, the
// inferred ones included. The copy can be shown and compared but no longer
// merged with raw profiles, which have bytes only for the blocks with probes.
func (t *Table) Expand(p *mip.Profile) (*mip.Profile, error) {
	if p.ModuleHash != t.ModuleHash {
		return nil, flaw.In("functions").Field("ModuleHash").Gotf("%#x", p.ModuleHash).Wantf("%#x", t.ModuleHash).Mismatch()
	}
	byOffset := make(map[uint64]*Function, len(t.Functions))
	for i := range t.Functions {
		byOffset[t.Functions[i].RawOffset] = &t.Functions[i]
	}
	out := *p
	out.Functions = slices.Clone(p.Functions) // the blocks are replaced, not changed
	for i := range out.Functions {
		f := &out.Functions[i]
		from := byOffset[f.RawOffset]
		if from == nil {
			continue
		}
		blocks, err := from.expand(i, f)
		if err != nil {
			return nil, err
		}
		f.Blocks = blocks
	}
	return &out, nil
}

// expand returns all blocks but the entry, with their coverage.
func (f *Function) expand(record int, p *mip.Function) ([]mip.Block, error) {
	covered := make([]bool, len(f.Blocks))
	covered[0] = p.EntryCovered()
	next := 0
	for b := 1; b < len(f.Blocks); b++ {
		if len(f.Blocks[b].Sources) > 0 {
			continue
		}
		if next == len(p.Blocks) || p.Blocks[next].Offset != f.Blocks[b].Offset {
			return nil, flaw.In("functions").InRecord(record).Field("blocks with probes").Got(len(p.Blocks)).
				Want("the blocks of the table").Mismatch()
		}
		covered[b] = p.Blocks[next].Covered
		next++
	}
	if next != len(p.Blocks) {
		return nil, flaw.In("functions").InRecord(record).Field("blocks with probes").Got(len(p.Blocks)).Want(next).Mismatch()
	}
	order, _ := f.order()
	for _, b := range order {
		if b == 0 {
			continue // has a probe
		}
		for _, s := range f.Blocks[b].Sources {
			covered[b] = covered[b] || covered[s]
		}
	}
	out := make([]mip.Block, 0, len(f.Blocks)-1)
	for b := 1; b < len(f.Blocks); b++ {
		out = append(out, mip.Block{Offset: f.Blocks[b].Offset, Covered: covered[b]})
	}
	return out, nil
}
