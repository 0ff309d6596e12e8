package mip

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A mapReader reads a .mipmap, the section __llvm_mipmap of a linked binary.
type mapReader struct {
	Info
	head header
	data []byte
	buf  Function
}

func newMapReader(h header, data []byte) (decoder, error) {
	if h.generation == generationB && h.ptr == 0 {
		return nil, flaw.At("header", fileTypeAt).Field("FileType").Gotf("%#x", h.typeWord).
			Want("the bit of 64-bit or of 32-bit targets").Corrupt()
	}
	return &mapReader{Info: h.info(), head: h, data: data}, nil
}

func (r *mapReader) records(yield func(*Function, error) bool) {
	c := cursor.New("map", 0, r.data, le)
	c.Skip(uint64(r.head.size()), "header")
	for c.Record = 0; c.Len() > 0; c.Record++ {
		r.record(c)
		if c.Err() != nil {
			yield(nil, c.Err())
			return
		}
		if !yield(&r.buf, nil) {
			return
		}
	}
}

func (r *mapReader) record(c *cursor.Cursor) {
	f, at, align := &r.buf, c.Offset(), mapAlignA
	if r.head.generation == generationA {
		section := c.U32("address of the raw section")
		f.RawOffset = uint64(c.U32("address of the raw record") - section)
		f.Address = int64(int32(c.U32("address of the function") - section))
	} else {
		align = r.head.ptr
		// Both fields are relative to this record and RawSectionOffset to the
		// header, so their difference is relative to the raw section. If a linker
		// resolved all three with a wrong address of the map, the error cancels.
		section := uint64(r.head.rawSection - at)
		f.RawOffset = r.offset(c.Ptr(align, "RawProfilePCOffset") - section)
		f.Address = int64(r.offset(c.Ptr(align, "FunctionPCOffset") - section))
		if align == 4 {
			f.Address = int64(int32(f.Address))
		}
	}
	if f.RawOffset < uint64(r.head.size()) || f.RawOffset >= rawOffsetLimit {
		c.Fail(c.At(at).Field("raw offset").Gotf("%#x", f.RawOffset).Want(rawOffsetWant(uint64(r.head.size()))).Corrupt())
	}
	f.Size = c.U32("FunctionSize")
	f.CFG = c.U32("ControlFlowGraphSignature")
	n := c.Count(uint64(c.U32("NonEntryBlockCount")), 4, "NonEntryBlockCount")
	f.Blocks = f.Blocks[:0]
	for range n {
		f.Blocks = append(f.Blocks, Block{Offset: c.U32("block offset")})
	}
	length := uint64(c.U32("FunctionNameLength"))
	nameAt := c.Offset()
	name := c.Bytes(length, "function name")
	if i := bytes.IndexByte(name, 0); i >= 0 {
		c.Fail(c.At(nameAt).Field("function name").Gotf("%q", name).Want("no zero byte").Corrupt())
	}
	f.Name = string(name)
	if c.Len() > 0 { // the last record is not padded
		c.Align(align, "padding")
	}
}

// offset truncates an address difference to the width of the target's addresses.
func (r *mapReader) offset(v uint64) uint64 {
	if r.head.ptr == 4 {
		return uint64(uint32(v))
	}
	return v
}
