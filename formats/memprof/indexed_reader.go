package memprof

import (
	"bytes"
	"cmp"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
)

// IndexedReader reads the memprof section of an indexed profile, of any version. It keeps slices of the file.
type IndexedReader struct {
	Version int
	Schema  Schema // the fields that contexts have
	Offset  int64  // of the section in the file, in bytes

	file    []byte // up to the end of the section
	lenient bool
	fields  []field // the schema, in the order of the file
	summary *Summary
	offsets []uint64 // of the header, as layout.go lists them
	parts   int64    // offset just after the schema
}

// NewIndexedReader reads the header of the section at the given offset of an indexed
// profile. end is the offset of the next section, or the size of the file. lenient
// accepts hash tables in which lookups would fail. Errors are *[profile.FormatError].
func NewIndexedReader(file []byte, offset, end int64, lenient bool) (*IndexedReader, error) {
	if offset < 0 || end > int64(len(file)) || offset > end {
		return nil, flaw.At("memprof", offset).Field("extent of the section").Gotf("%#x to %#x", offset, end).
			Wantf("within the file's %#x bytes", len(file)).Corrupt()
	}
	r := &IndexedReader{Offset: offset, file: file[:end], lenient: lenient}
	c := r.cursor("memprof header", offset)
	first := c.U64("version")
	switch {
	case first >= minHeaderSize0: // version 0 begins with an offset
		c = r.cursor("memprof header", offset)
	case first == 0 || first > SectionVersionMax:
		if c.Err() == nil {
			return nil, flaw.At("memprof header", offset).Field("version").Got(first).
				Wantf("0 to %d", SectionVersionMax).Unsupported()
		}
	default:
		r.Version = int(first)
	}
	for range headerOffsets[r.Version] {
		r.offsets = append(r.offsets, c.U64("offset of a part"))
	}
	if r.Version >= 4 {
		r.readSummary(c)
	}
	r.readSchema(c)
	r.parts = c.Offset()
	return r, c.Err()
}

func (r *IndexedReader) cursor(part string, off int64) *cursor.Cursor {
	return cursor.New(part, off, r.file[off:], le)
}

// readSummary reads the summary; a newer release may have added fields.
func (r *IndexedReader) readSummary(c *cursor.Cursor) {
	at := c.Offset()
	n := c.Count(uint64(c.U32("number of summary fields")), 8, "number of summary fields")
	if c.Err() == nil && n < numSummaryFields {
		c.Fail(c.At(at).Field("number of summary fields").Got(n).Wantf("at least %d", numSummaryFields).Corrupt())
	}
	r.summary = &Summary{}
	for _, to := range r.summary.fields() {
		*to = c.U64("summary field")
	}
	if n > numSummaryFields {
		c.Skip(8*uint64(n-numSummaryFields), "summary fields")
	}
}

// readSchema reads the schema: the number of fields, at most one of each, and their numbers.
func (r *IndexedReader) readSchema(c *cursor.Cursor) {
	at := c.Offset()
	n := c.U64("number of schema fields")
	if c.Err() == nil && n >= uint64(numFields) {
		c.Fail(c.At(at).Field("number of schema fields").Got(n).Wantf("at most %d", numFields-1).Corrupt())
	}
	for range c.Count(n, 8, "number of schema fields") {
		at := c.Offset()
		f := c.U64("schema field")
		switch {
		case c.Err() != nil:
			return
		case f == 0 || f >= uint64(numFields):
			c.Fail(c.At(at).Field("schema field").Got(f).Wantf("1 to %d", numFields-1).Corrupt())
		case r.Schema.has(field(f)):
			c.Fail(c.At(at).Field("schema field").Got(field(f)).Want("each field once").Corrupt())
		}
		if c.Err() != nil {
			return
		}
		r.Schema |= 1 << f
		r.fields = append(r.fields, field(f))
	}
}

// Profile reads the whole section. The profile does not alias the file.
func (r *IndexedReader) Profile() (*Profile, error) {
	b := sectionDecoder{r: r, p: &Profile{summary: r.summary, bucketOrder: true}, mibSize: mibSize(r.fields)}
	read := b.readArrays
	if r.Version <= 2 {
		read = b.readTables
	}
	if err := read(); err != nil {
		return nil, err
	}
	return b.p, nil
}

type sectionDecoder struct {
	r       *IndexedReader
	p       *Profile
	mibSize int

	frameOf map[uint64]frameIndex // by frame id, v0–v2
	stackOf map[uint64]StackIndex // by stack id, v2
	array   stackArray            // v3, v4
	frames  []frameIndex          // scratch: a stack

	seen []seenMIB // by StackIndex: the last site with that stack
}

// A seenMIB is the file offset of a MIB and its index. The functions of a context repeat its MIB.
type seenMIB struct {
	off int64 // 0: none yet
	mib uint32
}

// readTables reads versions 0 to 2.
func (b *sectionDecoder) readTables() error {
	off := b.r.offsets
	b.frameOf = make(map[uint64]frameIndex)
	if err := b.readTable("frame", off[1], off[2], b.readFrameItem); err != nil {
		return err
	}
	if b.r.Version == 2 {
		b.stackOf = make(map[uint64]StackIndex)
		if err := b.readTable("stack", off[3], off[4], b.readStackItem); err != nil {
			return err
		}
	}
	return b.readTable("record", uint64(b.r.parts), off[0], b.readRecord)
}

// readTable calls decode with each item of the table of elements at the given offsets, which it checks.
// Keys are u64 numbers that equal their hashes; a key that occurs twice is an error.
func (b *sectionDecoder) readTable(element string, payload, index uint64, decode func(c *cursor.Cursor, key uint64)) error {
	if payload < uint64(b.r.parts) || payload > uint64(len(b.r.file)) {
		return flaw.In("memprof").Field("offset of the "+element+" table").Gotf("%#x", payload).
			Wantf("%#x to %#x, within the section", b.r.parts, len(b.r.file)).Corrupt()
	}
	t, err := hashtable.Open("memprof "+element+" table", b.r.file, int64(payload), index)
	if err != nil {
		return err
	}
	if element == "stack" {
		t.ImplyKeyLength(8)
	}
	var bad error
	n := 0
	seen := make(map[uint64]struct{})
	err = t.Items(!b.r.lenient, func(it hashtable.Item) bool {
		c := cursor.New("memprof "+element+"s", it.DataOff, it.Data, le)
		c.Record = n
		n++
		if len(it.Key) != 8 || le.Uint64(it.Key) != it.Hash {
			c.Fail(c.At(it.DataOff-int64(len(it.Key))).Field("key").Gotf("% x", it.Key[:min(8, len(it.Key))]).
				Wantf("%#x, the hash, in 8 bytes", it.Hash).Corrupt())
		} else if _, twice := seen[it.Hash]; twice {
			c.Fail(c.At(it.DataOff-8).Field("key").Gotf("%#x again", it.Hash).Want("each key once").Corrupt())
		} else {
			seen[it.Hash] = struct{}{}
			decode(c, it.Hash)
			if c.Err() == nil && c.Len() > 0 {
				c.Fail(c.At(c.Offset()).Field("data after the last part").Gotf("%d bytes", c.Len()).Want("none").Corrupt())
			}
		}
		bad = c.Err()
		return bad == nil
	})
	return cmp.Or(bad, err)
}

func readFrame(c *cursor.Cursor) Frame {
	f := Frame{GUID: c.U64("GUID"), LineOffset: c.U32("line offset"), Column: c.U32("column")}
	at := c.Offset()
	inline := c.U8("IsInlineFrame")
	if c.Err() == nil && inline > 1 {
		c.Fail(c.At(at).Field("IsInlineFrame").Got(inline).Want("0 or 1").Corrupt())
	}
	f.Inline = inline == 1
	return f
}

func (b *sectionDecoder) readFrameItem(c *cursor.Cursor, key uint64) {
	if f := readFrame(c); c.Err() == nil {
		b.frameOf[key] = b.p.Stacks.addFrame(f)
	}
}

func (b *sectionDecoder) readStackItem(c *cursor.Cursor, key uint64) {
	if n := c.Len(); n%8 != 0 {
		c.Fail(c.At(c.Offset()).Field("size of a stack").Got(n).Want("a multiple of 8").Corrupt())
		return
	}
	b.stackOf[key] = b.stackOfIDs(c, c.Len()/8)
}

// stackOfIDs reads a stack of n frame ids, leaf first.
func (b *sectionDecoder) stackOfIDs(c *cursor.Cursor, n int) StackIndex {
	b.frames = b.frames[:0]
	for range n {
		at := c.Offset()
		id := c.U64("frame id")
		f, ok := b.frameOf[id]
		if !ok && c.Err() == nil {
			c.Fail(c.At(at).Field("frame id").Gotf("%#x", id).Want("one of the frame table").Corrupt())
		}
		if c.Err() != nil {
			return 0
		}
		b.frames = append(b.frames, f)
	}
	return b.p.Stacks.addStack(b.frames)
}

// readRecord reads the record of a function: its allocation sites, then its call sites.
func (b *sectionDecoder) readRecord(c *cursor.Cursor, guid uint64) {
	rec := Record{GUID: guid}
	stackSize := 4
	if b.r.Version <= 2 {
		stackSize = 8
	}
	n := c.Count(c.U64("number of alloc sites"), stackSize+b.mibSize, "number of alloc sites")
	if n > 0 {
		rec.AllocSites = make([]AllocSite, 0, n)
	}
	for range n {
		stack := b.readStack(c)
		off := c.Offset()
		data := c.Bytes(uint64(b.mibSize), "MIB")
		if c.Err() != nil {
			return
		}
		rec.AllocSites = append(rec.AllocSites, AllocSite{stack, b.mib(stack, off, data)})
	}
	callSize := stackSize
	if b.r.Version >= 4 {
		callSize += 8
	}
	n = c.Count(c.U64("number of call sites"), callSize, "number of call sites")
	if n > 0 {
		rec.CallSites = make([]CallSite, 0, n)
	}
	for range n {
		site := CallSite{Stack: b.readStack(c)}
		if b.r.Version >= 4 {
			if k := c.Count(c.U64("number of callees"), 8, "number of callees"); k > 0 {
				site.Callees = make([]uint64, k)
				for i := range site.Callees {
					site.Callees[i] = c.U64("callee GUID")
				}
			}
		}
		if c.Err() != nil {
			return
		}
		rec.CallSites = append(rec.CallSites, site)
	}
	b.p.Records = append(b.p.Records, rec)
}

// readStack reads a stack of a record (STACK in layout.go).
func (b *sectionDecoder) readStack(c *cursor.Cursor) StackIndex {
	at := c.Offset()
	switch b.r.Version {
	case 0, 1:
		return b.stackOfIDs(c, c.Count(c.U64("number of frames"), 8, "number of frames"))
	case 2:
		id := c.U64("stack id")
		stack, ok := b.stackOf[id]
		if !ok && c.Err() == nil {
			c.Fail(c.At(at).Field("stack id").Gotf("%#x", id).Want("one of the stack table").Corrupt())
		}
		return stack
	}
	id := c.U32("index of the stack")
	if c.Err() != nil {
		return 0
	}
	return b.array.stack(c, at, id, &b.p.Stacks)
}

// mib returns the index of the decoded MIB, which is the last MIB with the same stack if their bytes are equal.
func (b *sectionDecoder) mib(stack StackIndex, off int64, data []byte) uint32 {
	if need := b.p.Stacks.numNodes() + 1; need > len(b.seen) {
		b.seen = append(b.seen, make([]seenMIB, max(need-len(b.seen), len(b.seen)))...)
	}
	s := &b.seen[stack]
	if s.off != 0 && bytes.Equal(b.r.file[s.off:s.off+int64(len(data))], data) {
		return s.mib
	}
	m := MIB{Fields: b.r.Schema}
	for _, f := range b.r.fields {
		m.put(f, f.read(data))
		data = data[f.size():]
	}
	b.p.MIBs = append(b.p.MIBs, m)
	*s = seenMIB{off, uint32(len(b.p.MIBs) - 1)}
	return s.mib
}
