package memprof

import (
	"io"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
)

// defaultVersion is the default of LLVM 20 to 22. clang 19 and later read it, if the file around it allows.
const defaultVersion = 3

// WriteOptions adjust [NewSection]. The zero value writes what llvm-profdata 22 does by default.
type WriteOptions struct {
	// Version is 1 to 4, or -1 for version 0. 0 means 3, which LLVM 20 to 22 write by default.
	Version int
	// IndexedVersion, if not 0, is the version of the indexed profile around the section.
	// A Version of 0 then means the newest section version that the compilers reading this
	// indexed version can read: 0 before indexed version 12, else 3, or 4 from indexed
	// version 13 on if the profile has data that version 3 cannot hold.
	IndexedVersion uint32
	// Schema has the fields to write. A field that a MIB lacks is written as zero. 0 means the fields that
	// compilers need, AllocCount, TotalSize, TotalLifetime and TotalLifetimeAccessDensity, or, in versions
	// 0 and 1, the fields that are known of all contexts.
	Schema Schema
	// LLVMRelease is the LLVM major release whose bytes to reproduce; 0 means 16 for version 0, 19 for
	// version 1, and 22 for the others. It selects the ids and the order of frames.
	LLVMRelease int
}

// complete checks the options and replaces zeros with defaults.
func (o *WriteOptions) complete(p *Profile) error {
	version := o.Version
	switch {
	case version == -1, version == 0 && o.IndexedVersion > 0 && o.IndexedVersion < 12: // LLVM 15 to 18
		version = 0
	case version == 0 && o.IndexedVersion >= 13 && (p.hasCallees() || !p.DataAccess.empty()):
		version = 4
	case version == 0:
		version = defaultVersion
	}
	if version < 0 || version > SectionVersionMax {
		return flaw.In("memprof").Field("version to write").Got(version).Wantf("0 to %d", SectionVersionMax).Unsupported()
	}
	o.Version = version
	if o.LLVMRelease == 0 {
		o.LLVMRelease = [...]int{16, 19, 22, 22, 22}[version]
	}
	if o.Schema == 0 {
		switch {
		case version >= 2:
			o.Schema = hotColdSchema
		case o.LLVMRelease <= 16:
			o.Schema = fullSchema16 & p.KnownFields()
		default:
			o.Schema = p.KnownFields()
		}
	}
	if o.Schema&^FullSchema != 0 {
		return flaw.In("memprof").Field("schema to write").Gotf("%#x", uint32(o.Schema)).
			Wantf("bits of %#x", uint32(FullSchema)).Unsupported()
	}
	return nil
}

// A Section is a memprof section to be written. Because all sizes are computed first, it is written
// front to back, and only the arrays of versions 3 and 4 are held in memory.
type Section struct {
	Size int64    // in bytes
	Lost []string // the data of the profile that the section cannot hold, in words

	p       *Profile
	version int
	llvm    int
	fields  []field
	mibSize int
	depth   []uint32 // by StackIndex: number of frames

	records table
	frames  table        // v0–v2
	stacks  table        // v2
	ids     []uint64     // by frameIndex: frame ids
	order   []frameIndex // v3, v4: frames in the order of the array
	array   []uint32     // v3, v4: the stack array
	stackAt []uint32     // v3, v4, by StackIndex: index in array
	data    []byte       // v4: data-access block
	mibs    []byte       // encoded; nil if they are large
	stackID []uint64     // v2, by StackIndex

	offsets []int64 // of the header, from the start of the section; 0 for a missing part
}

// table is the arrangement of a hash table.
type table struct {
	entries []int    // in order of insertion
	hashes  []uint64 // of entries
	chains  *hashtable.Chains
	// The offsets of the parts and of each bucket, from the start of the section; 0 for an empty bucket.
	payload, index int64
	buckets        []int64
}

// newTable arranges entries. With restore, their hashes are in the order of a table, which it reproduces.
func newTable(hashes []uint64, restore bool) table {
	t := table{hashes: hashes}
	if restore {
		t.entries = hashtable.InsertionOrder(hashes)
		t.hashes = make([]uint64, len(hashes))
		for i, k := range t.entries {
			t.hashes[i] = hashes[k]
		}
	} else {
		t.entries = upTo[int](len(hashes))
	}
	t.chains = hashtable.Arrange(t.hashes)
	return t
}

// NewSection arranges p in a section. It fails if the section cannot hold a hash table.
func NewSection(p *Profile, opt WriteOptions) (*Section, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if err := opt.complete(p); err != nil {
		return nil, err
	}
	s := &Section{p: p, version: opt.Version, llvm: opt.LLVMRelease, fields: slices.Collect(opt.Schema.all())}
	s.mibSize = mibSize(s.fields)
	s.depth = p.Stacks.depths()
	hashes := make([]uint64, len(p.Records))
	for i := range p.Records {
		hashes[i] = p.Records[i].GUID
	}
	s.records = newTable(hashes, p.bucketOrder)
	s.ids = p.Stacks.frameIDs(s.llvm)
	if s.version <= 2 {
		s.frames = newTable(s.ids, p.bucketOrder)
	} else {
		s.arrangeArrays()
	}
	if s.version == 2 {
		s.stackID = make([]uint64, p.Stacks.numNodes()+1)
		hashes := make([]uint64, len(p.Stacks.whole))
		var buf []byte
		for i, stack := range p.Stacks.whole {
			hashes[i], buf = p.Stacks.stackID(stack, s.ids, buf)
			s.stackID[stack] = hashes[i]
		}
		s.stacks = newTable(hashes, p.bucketOrder)
	}
	if s.version == 4 && !p.DataAccess.empty() {
		s.data = p.DataAccess.appendBlock(nil)
	}
	if s.version < 4 && !p.DataAccess.empty() {
		s.Lost = append(s.Lost, "data-access profile")
	}
	if s.version < 4 && p.hasCallees() {
		s.Lost = append(s.Lost, "callees of call sites")
	}
	if p.hasHistograms() {
		s.Lost = append(s.Lost, "access histograms")
	}
	return s, s.setOffsets()
}

func (p *Profile) hasCallees() bool {
	return slices.ContainsFunc(p.Records, func(r Record) bool {
		return slices.ContainsFunc(r.CallSites, func(c CallSite) bool { return len(c.Callees) > 0 })
	})
}

func (p *Profile) hasHistograms() bool {
	return slices.ContainsFunc(p.MIBs, func(m MIB) bool { return len(m.Histogram) > 0 })
}

// setOffsets computes the offsets of all parts and the size of the section.
func (s *Section) setOffsets() (err error) {
	at := int64(headerSize(s.version, len(s.fields)))
	defer func() { s.Size = at }()
	arrange := func(t *table, size func(entry int) int) {
		if err == nil {
			at, err = t.setOffsets(at, size)
		}
	}
	if s.version <= 2 {
		arrange(&s.records, s.recordItemSize)
		arrange(&s.frames, func(int) int { return hashtable.ItemSize(8, frameSize) })
		s.offsets = []int64{s.records.index, s.frames.payload, s.frames.index}
		if s.version == 2 {
			arrange(&s.stacks, func(i int) int {
				return hashtable.ImpliedItemSize(8, 8*int(s.depth[s.p.Stacks.whole[i]]))
			})
			s.offsets = append(s.offsets, s.stacks.payload, s.stacks.index)
		}
		return err
	}
	at += int64(frameSize * len(s.order))
	stacks := at
	at += 4 * int64(len(s.array))
	arrange(&s.records, s.recordItemSize)
	s.offsets = []int64{stacks, s.records.payload, s.records.index}
	if s.version == 4 {
		if s.data == nil {
			s.offsets = append(s.offsets, 0)
		} else {
			s.offsets = append(s.offsets, at)
			at += int64(len(s.data))
		}
	}
	return err
}

// setOffsets computes the offsets of the buckets of a table whose payload begins at an offset.
func (t *table) setOffsets(at int64, size func(entry int) int) (end int64, err error) {
	t.payload = at
	t.buckets = make([]int64, t.chains.NumBuckets())
	for b := range t.buckets {
		start, n := at, 0
		for i := range t.chains.Bucket(b) {
			at += int64(size(t.entries[i]))
			n++
		}
		if n == 0 {
			continue
		}
		if n > math.MaxUint16 {
			return 0, flaw.In("memprof").Field("entries in one bucket of a hash table").Got(n).
				Wantf("at most %d", math.MaxUint16).Unsupported()
		}
		t.buckets[b] = start
		at += hashtable.BucketHeaderSize
	}
	t.index = at + int64(cursor.PadTo(uint64(at), 8))
	return t.index + hashtable.IndexHeaderSize + 8*int64(len(t.buckets)), nil
}

func (s *Section) recordItemSize(i int) int {
	return hashtable.ItemSize(8, s.recordSize(&s.p.Records[i]))
}

func (s *Section) recordSize(r *Record) int {
	n := 16 + s.mibSize*len(r.AllocSites)
	stacks := len(r.AllocSites) + len(r.CallSites)
	if s.version >= 3 {
		n += 4 * stacks
	} else {
		n += 8 * stacks // ids, or numbers of frames
	}
	if s.version <= 1 {
		for _, a := range r.AllocSites {
			n += 8 * int(s.depth[a.Stack])
		}
		for _, c := range r.CallSites {
			n += 8 * int(s.depth[c.Stack])
		}
	}
	if s.version >= 4 {
		for _, c := range r.CallSites {
			n += 8 + 8*len(c.Callees)
		}
	}
	return n
}

// Write writes the section for an offset of the file, a multiple of eight.
func (s *Section) Write(w io.Writer, offset int64) error {
	o := output{w: w, offset: offset}
	s.encodeMIBs()
	s.header(&o)
	if s.version <= 2 {
		o.table(&s.records, s.recordItem)
		o.table(&s.frames, s.frameItem)
		if s.version == 2 {
			o.table(&s.stacks, s.stackItem)
		}
		return o.flush()
	}
	for _, f := range s.order {
		o.buf = appendFrame(o.buf, s.p.Stacks.Frames[f])
		o.flushIfLarge()
	}
	for _, e := range s.array {
		o.buf = le.AppendUint32(o.buf, e)
		o.flushIfLarge()
	}
	o.table(&s.records, s.recordItem)
	o.buf = append(o.buf, s.data...)
	return o.flush()
}

func (s *Section) header(o *output) {
	if s.version >= 1 {
		o.buf = le.AppendUint64(o.buf, uint64(s.version))
	}
	for _, v := range s.offsets {
		o.appendOffset(v)
	}
	if s.version >= 4 {
		o.buf = le.AppendUint32(o.buf, numSummaryFields)
		sum := s.p.writtenSummary()
		for _, v := range sum.fields() {
			o.buf = le.AppendUint64(o.buf, *v)
		}
	}
	o.buf = le.AppendUint64(o.buf, uint64(len(s.fields)))
	for _, f := range s.fields {
		o.buf = le.AppendUint64(o.buf, uint64(f))
	}
}

// recordItem appends the item of record i in the record table, without its hash.
func (s *Section) recordItem(dst []byte, i int) []byte {
	r := &s.p.Records[i]
	dst = le.AppendUint64(dst, 8)
	dst = le.AppendUint64(dst, uint64(s.recordSize(r)))
	dst = le.AppendUint64(dst, r.GUID)
	dst = le.AppendUint64(dst, uint64(len(r.AllocSites)))
	for _, a := range r.AllocSites {
		dst = s.appendStack(dst, a.Stack)
		if at := int(a.MIB) * s.mibSize; s.mibs != nil {
			dst = append(dst, s.mibs[at:at+s.mibSize]...)
		} else {
			dst = s.appendMIB(dst, &s.p.MIBs[a.MIB])
		}
	}
	dst = le.AppendUint64(dst, uint64(len(r.CallSites)))
	for i := range r.CallSites {
		c := &r.CallSites[i]
		dst = s.appendStack(dst, c.Stack)
		if s.version >= 4 {
			dst = le.AppendUint64(dst, uint64(len(c.Callees)))
			for _, g := range c.Callees {
				dst = le.AppendUint64(dst, g)
			}
		}
	}
	return dst
}

func (s *Section) appendMIB(dst []byte, m *MIB) []byte {
	for _, f := range s.fields {
		dst = f.append(dst, m.get(f))
	}
	return dst
}

// encodeMIBs encodes all MIBs once if the schema has few fields: most are written several times.
func (s *Section) encodeMIBs() {
	const small = 32
	if s.mibSize > small {
		return
	}
	s.mibs = make([]byte, 0, s.mibSize*len(s.p.MIBs))
	for i := range s.p.MIBs {
		s.mibs = s.appendMIB(s.mibs, &s.p.MIBs[i])
	}
}

// appendStack appends a stack of a record (STACK in layout.go).
func (s *Section) appendStack(dst []byte, i StackIndex) []byte {
	switch {
	case s.version <= 1:
		dst = le.AppendUint64(dst, uint64(s.depth[i]))
		return s.appendFrameIDs(dst, i)
	case s.version == 2:
		return le.AppendUint64(dst, s.stackID[i])
	}
	return le.AppendUint32(dst, s.stackAt[i])
}

func (s *Section) appendFrameIDs(dst []byte, i StackIndex) []byte {
	for f := range s.p.Stacks.walk(i) {
		dst = le.AppendUint64(dst, s.ids[f])
	}
	return dst
}

func (s *Section) frameItem(dst []byte, i int) []byte {
	dst = le.AppendUint64(dst, 8)
	dst = le.AppendUint64(dst, frameSize)
	dst = le.AppendUint64(dst, s.ids[i])
	return appendFrame(dst, s.p.Stacks.Frames[i])
}

func (s *Section) stackItem(dst []byte, i int) []byte {
	stack := s.p.Stacks.whole[i]
	dst = le.AppendUint64(dst, 8*uint64(s.depth[stack]))
	dst = le.AppendUint64(dst, s.stackID[stack])
	return s.appendFrameIDs(dst, stack)
}

// An output buffers bytes and writes them in large pieces.
type output struct {
	w       io.Writer
	offset  int64 // in the file, of the first byte written
	buf     []byte
	written int64
	err     error
}

const outputPiece = 1 << 16

func (o *output) flushIfLarge() {
	if len(o.buf) >= outputPiece {
		o.flush()
	}
}

func (o *output) flush() error {
	if o.err == nil {
		_, o.err = o.w.Write(o.buf)
	}
	o.written += int64(len(o.buf))
	o.buf = o.buf[:0]
	return o.err
}

// appendOffset appends the offset in the file of the byte at a position of the output, or 0.
func (o *output) appendOffset(position int64) {
	if position != 0 {
		position += o.offset
	}
	o.buf = le.AppendUint64(o.buf, uint64(position))
}

// table writes a hash table. item appends an entry without its hash.
func (o *output) table(t *table, item func(dst []byte, entry int) []byte) {
	for b, at := range t.buckets {
		if at == 0 {
			continue
		}
		o.buf = le.AppendUint16(o.buf, uint16(t.chains.BucketLen(b)))
		for i := range t.chains.Bucket(b) {
			o.buf = le.AppendUint64(o.buf, t.hashes[i])
			o.buf = item(o.buf, t.entries[i])
			o.flushIfLarge()
		}
	}
	pad := t.index - (o.written + int64(len(o.buf)))
	o.buf = append(o.buf, make([]byte, pad)...)
	o.buf = le.AppendUint64(o.buf, uint64(len(t.buckets)))
	o.buf = le.AppendUint64(o.buf, uint64(len(t.entries)))
	for _, at := range t.buckets {
		o.appendOffset(at)
		o.flushIfLarge()
	}
}
