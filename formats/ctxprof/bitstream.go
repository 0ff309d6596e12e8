package ctxprof

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A bitReader reads an LLVM bitstream. It keeps the first failure, after which every read returns 0.
type bitReader struct {
	data   []byte
	pos    uint64 // in bits
	blocks []openBlock
	shared map[uint64][]abbreviation // by block, from BLOCKINFO
	ops    []uint64                  // operands of the last record; reused
	err    error
}

// An openBlock is a block that has begun and not ended. The first one is the whole file.
type openBlock struct {
	id            uint64
	width         uint   // of abbreviation ids
	end           uint64 // in bits
	abbreviations []abbreviation
}

type abbreviation []operand

type operand struct {
	literal  bool
	encoding uint64
	value    uint64 // of a literal, or the width of a fixed or VBR number
}

// The kinds of entries that a block has.
type entryKind int

const (
	entryEnd entryKind = iota // of the block, or a failure
	entryBlock
	entryRecord
)

// An entry is a block that begins, or a record, whose operands are in bitReader.ops.
type entry struct {
	kind entryKind
	id   uint64
	at   uint64 // where it begins, in bits
}

func newBitReader(data []byte, offset int) *bitReader {
	whole := openBlock{width: topWidth, end: uint64(len(data)) * 8}
	return &bitReader{data: data, pos: uint64(offset) * 8, blocks: []openBlock{whole}, shared: make(map[uint64][]abbreviation)}
}

func (r *bitReader) block() *openBlock { return &r.blocks[len(r.blocks)-1] }

// at returns the place of a bit, in the block that is read.
func (r *bitReader) at(bit uint64) flaw.Position {
	return flaw.At(sectionName(r.block().id), int64(bit/8))
}

func sectionName(id uint64) string {
	for _, b := range blockNames {
		if b.id == id {
			return b.name
		}
	}
	return "bitstream"
}

func (r *bitReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// need reports whether the block has n more bits for a field.
func (r *bitReader) need(n uint64, field string) bool {
	left := r.block().end - r.pos
	if r.err == nil && n > left {
		r.fail(r.at(r.pos).Field(field).Gotf("cut off after %d bits", left).Wantf("%d bits", n).Truncated())
	}
	return r.err == nil
}

// fixed reads a number of n bits, at most 32.
func (r *bitReader) fixed(n uint, field string) uint64 {
	if !r.need(uint64(n), field) {
		return 0
	}
	at, shift := r.pos/8, r.pos%8
	r.pos += uint64(n)
	var word uint64
	if rest := r.data[at:]; len(rest) >= 8 {
		word = binary.LittleEndian.Uint64(rest)
	} else {
		for i, b := range rest {
			word |= uint64(b) << (8 * i)
		}
	}
	return word >> shift & (1<<n - 1)
}

// vbr reads a number in pieces of n bits. The highest bit of a piece says that another piece follows.
func (r *bitReader) vbr(n uint, field string) uint64 {
	start := r.pos
	var v uint64
	for shift := uint(0); ; shift += n - 1 {
		piece := r.fixed(n, field)
		bits := piece & (1<<(n-1) - 1)
		if r.err != nil {
			return 0
		}
		if shift >= 64 && bits != 0 || shift < 64 && bits<<shift>>shift != bits {
			r.fail(r.at(start).Field(field).Got("a number of more than 64 bits").Want("at most 64 bits").Corrupt())
			return 0
		}
		v |= bits << min(shift, 63) // bits are 0 beyond
		if piece>>(n-1) == 0 {
			return v
		}
	}
}

// align passes over the bits up to the next word, which must be 0.
func (r *bitReader) align() {
	if n := uint(-r.pos % wordBits); n > 0 {
		at := r.pos
		if bits := r.fixed(n, "padding"); bits != 0 {
			r.fail(r.at(at).Field("padding").Gotf("%#x", bits).Want("0").Corrupt())
		}
	}
}

// next returns the next entry of the block. At the end of the block it leaves the block.
func (r *bitReader) next() entry {
	for r.err == nil {
		b := r.block()
		if len(r.blocks) == 1 && r.pos >= b.end {
			return entry{at: r.pos}
		}
		at := r.pos
		switch id := r.fixed(b.width, "abbreviation"); {
		case r.err != nil:
		case id == endBlock:
			r.leave(at)
			return entry{at: at}
		case id == enterBlock:
			if id, ok := r.enter(at); ok {
				return entry{entryBlock, id, at}
			}
		case id == defineAbbreviation:
			b.abbreviations = append(b.abbreviations, r.abbreviation())
		case id == unabbreviated:
			return r.record(at)
		case id-unabbreviated > uint64(len(b.abbreviations)):
			r.fail(r.at(at).Field("abbreviation").Got(id).Wantf("at most %d", unabbreviated+len(b.abbreviations)).Corrupt())
		default:
			return r.abbreviated(at, b.abbreviations[id-unabbreviated-1])
		}
	}
	return entry{at: r.pos}
}

// enter enters a block. It reads BLOCKINFO to its end, which is no block for the caller.
func (r *bitReader) enter(at uint64) (id uint64, ok bool) {
	id = r.vbr(blockVBR, "id of a block")
	if r.err == nil && id == blockInfoBlock && len(r.blocks) > 1 {
		r.fail(r.at(at).Field("block").Got("BLOCKINFO").Want("none in another block").Unsupported())
	}
	width := r.vbr(widthVBR, "width of a block's abbreviations")
	r.align()
	words := r.fixed(wordBits, "length of a block")
	left := r.block().end - r.pos
	switch {
	case r.err != nil:
		return 0, false
	case width < topWidth || width > wordBits:
		r.fail(r.at(at).Field("width of a block's abbreviations").Got(width).Wantf("%d to %d", topWidth, wordBits).Corrupt())
		return 0, false
	case words*wordBits > left:
		r.fail(r.at(r.pos).Field("length of a block").Gotf("%d bytes", words*wordBits/8).Wantf("at most the %d left", left/8).Truncated())
		return 0, false
	}
	shared := slices.Clip(r.shared[id])
	r.blocks = append(r.blocks, openBlock{id, uint(width), r.pos + words*wordBits, shared})
	if id == blockInfoBlock {
		r.blockInfo()
		return 0, false
	}
	return id, r.err == nil
}

// leave leaves a block, whose length must be the stated one.
func (r *bitReader) leave(at uint64) {
	if len(r.blocks) == 1 {
		r.fail(r.at(at).Field("entry").Got("the end of a block").Want("a block").Corrupt())
		return
	}
	r.align()
	if end := r.block().end; r.err == nil && r.pos != end {
		r.fail(r.at(r.pos).Field("end of the block").Gotf("%d bytes before its length", (end-r.pos)/8).Want("none").Corrupt())
		return
	}
	r.blocks = r.blocks[:len(r.blocks)-1]
}

// blockInfo reads BLOCKINFO up to its end: the abbreviations of other blocks. It passes over names.
func (r *bitReader) blockInfo() {
	depth := len(r.blocks)
	var of uint64
	known := false
	for r.err == nil {
		// Abbreviations that are defined here are of the block that was named last.
		b := r.block()
		before := len(b.abbreviations)
		e := r.next()
		for _, a := range b.abbreviations[before:] {
			if !known {
				r.fail(r.at(e.at).Field("abbreviation").Got("of no block").Want("the block before it").Corrupt())
			}
			r.shared[of] = append(r.shared[of], a)
		}
		b.abbreviations = b.abbreviations[:before]
		switch {
		case r.err != nil:
		case len(r.blocks) < depth:
			return
		case e.kind == entryBlock:
			r.fail(r.at(e.at).Field("entry").Gotf("block %d", e.id).Want("a record").Unsupported())
		case e.kind == entryRecord && e.id == setBlock && len(r.ops) > 0:
			of, known = r.ops[0], true
		}
	}
}

// abbreviation reads the definition of an abbreviation.
func (r *bitReader) abbreviation() abbreviation {
	at := r.pos
	n := r.vbr(abbrevVBR, "number of operands")
	// An operand takes at least 4 bits.
	if !r.need(4*min(n, 1<<60), "operands of an abbreviation") {
		return nil
	}
	var a abbreviation
	for range n {
		o := operand{literal: r.fixed(1, "operand of an abbreviation") == 1}
		if o.literal {
			o.value = r.vbr(literalVBR, "literal")
		} else {
			o.encoding = r.fixed(3, "encoding")
			if o.encoding == fixedEncoding || o.encoding == vbrEncoding {
				o.value = r.vbr(abbrevVBR, "width of an operand")
			}
		}
		if want := o.allowed(); r.err == nil && want != "" {
			r.fail(r.at(at).Field("operand of an abbreviation").Gotf("encoding %d of %d bits", o.encoding, o.value).Want(want).Corrupt())
		}
		if r.err != nil {
			return nil
		}
		a = append(a, o)
	}
	// An array comes before the operand that describes its elements, which is the last; a blob is the last operand.
	for i, o := range a {
		left := len(a) - 1 - i
		last := o.encoding == arrayEncoding && (left != 1 || a[i+1].literal || a[i+1].encoding == arrayEncoding || a[i+1].encoding == blobEncoding) ||
			o.encoding == blobEncoding && left != 0
		if !o.literal && last {
			r.fail(r.at(at).Field("operands of an abbreviation").Gotf("%d after an array or blob", left).Want("the element of the array alone").Corrupt())
			return nil
		}
	}
	if len(a) == 0 {
		r.fail(r.at(at).Field("operands of an abbreviation").Got("none").Want("at least one").Corrupt())
	}
	return a
}

// allowed returns what an operand should be; "" if it is that.
func (o operand) allowed() string {
	switch {
	case o.literal, o.encoding >= arrayEncoding && o.encoding <= blobEncoding:
	case o.encoding == fixedEncoding && o.value >= 1 && o.value <= wordBits:
	case o.encoding == vbrEncoding && o.value >= 2 && o.value <= wordBits:
	default:
		return fmt.Sprintf("a known encoding, fixed of 1 to %d bits, or VBR of 2 to %d", wordBits, wordBits)
	}
	return ""
}

// record reads an unabbreviated record.
func (r *bitReader) record(at uint64) entry {
	code := r.vbr(recordVBR, "code of a record")
	n := r.vbr(recordVBR, "number of operands")
	if !r.sized(n, recordVBR) {
		return entry{at: at}
	}
	for range n {
		r.ops = append(r.ops, r.vbr(recordVBR, "operand"))
	}
	return entry{entryRecord, code, at}
}

// sized makes room for n operands of at least the given bits each, if the block has as many.
func (r *bitReader) sized(n uint64, bits uint) bool {
	if left := (r.block().end - r.pos) / uint64(bits); r.err == nil && n > left {
		r.fail(r.at(r.pos).Field("number of operands").Got(n).Wantf("at most %d in the bytes left", left).Truncated())
	}
	r.ops = r.ops[:0]
	return r.err == nil
}

// abbreviated reads a record with an abbreviation. Its first operand is the code.
func (r *bitReader) abbreviated(at uint64, a abbreviation) entry {
	r.ops = r.ops[:0]
	for i := 0; i < len(a) && r.err == nil; i++ {
		switch o := a[i]; {
		case o.literal || o.encoding < arrayEncoding || o.encoding == char6Encoding:
			r.ops = append(r.ops, r.operand(o))
		case o.encoding == arrayEncoding:
			before := r.ops
			n := r.vbr(recordVBR, "length of an array")
			if i++; !r.sized(n, a[i].bits()) {
				break
			}
			r.ops = before
			for range n {
				r.ops = append(r.ops, r.operand(a[i]))
			}
		default: // a blob, which no record of a profile is
			n := r.vbr(recordVBR, "length of a blob")
			r.align()
			if r.need(8*min(n, 1<<60), "blob") {
				r.pos += 8 * n
				r.align()
			}
		}
	}
	if len(r.ops) == 0 {
		r.fail(r.at(at).Field("code of a record").Got("missing").Want("a number").Corrupt())
	}
	if r.err != nil {
		return entry{at: at}
	}
	code := r.ops[0]
	r.ops = r.ops[1:]
	return entry{entryRecord, code, at}
}

// bits returns the least number of bits of an operand.
func (o operand) bits() uint {
	if o.encoding == char6Encoding {
		return 6
	}
	return uint(o.value)
}

// operand reads a single operand.
func (r *bitReader) operand(o operand) uint64 {
	switch {
	case o.literal:
		return o.value
	case o.encoding == fixedEncoding:
		return r.fixed(uint(o.value), "operand")
	case o.encoding == vbrEncoding:
		return r.vbr(uint(o.value), "operand")
	}
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
	return uint64(chars[r.fixed(6, "operand")])
}
