package irpgo

import (
	"bufio"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/profile"
)

// IndexedOptions adjust [WriteIndexed]. The zero value writes the newest version that LLVM 22 reads.
type IndexedOptions struct {
	// Version to write, IndexedVersionMinWritten to IndexedVersionMax; 0 means 13, the newest that LLVM 22 reads.
	Version uint32
	// Sparse leaves out functions that never ran.
	Sparse bool
	// LLVMRelease is the LLVM major release whose order of records to reproduce; 0 means the release that
	// introduced Version. With 22 and version 11 the file is what `llvm-profdata --write-prev-version` of LLVM 22
	// writes.
	LLVMRelease int
	// MemProf adjusts the memprof section, if the profile has one. As long as
	// it asks for no version, that is chosen to be read wherever Version is.
	MemProf memprof.WriteOptions
	// Warn is told what the version cannot hold and was left out.
	Warn func(profile.Warning)
}

// versionTraits says which release introduced an indexed version and what it can hold.
type versionTraits struct {
	llvm        int // first LLVM release that writes it
	headerWords int
	variant     Variant // variant bits that its readers know
}

const (
	variant4  = IRLevel
	variant5  = variant4 | ContextSens
	variant7  = variant5 | EntryFirst | SingleByte | EntryOnly
	variant8  = variant7 | HasMemProf
	variant10 = variant8 | HasTemporal
	variant12 = variant10 | LoopEntries
)

var indexedVersions = map[uint32]versionTraits{
	4:  {4, 5, variant4},
	5:  {9, 5, variant5},
	6:  {11, 5, variant5},
	7:  {14, 5, variant7},
	8:  {15, 6, variant8},
	9:  {16, 7, variant8},
	10: {17, 8, variant10},
	11: {18, 8, variant10},
	12: {19, 9, variant12},
	13: {22, 9, variant12},
	14: {23, 9, variant12},
}

// indexedWriter holds one file's arrangement. Sizes are computed first, so the
// file is written front to back and never held in memory.
type indexedWriter struct {
	p       *Profile
	opt     IndexedOptions
	variant Variant
	rel     release

	keys    keySource // nil for those of p
	table   *indexedTable
	kinds   int  // value kinds that the version can hold
	native  bool // as the release that introduced the version
	sum, cs summary.Builder
	summed  sync.WaitGroup   // until they are complete
	memprof *memprof.Section // nil without a memprof section

	buf []byte
}

// WriteIndexed writes p as an indexed profile: to the byte what llvm-profdata of the version's release writes for
// the same content, except for the compressed bytes of vtable names.
func WriteIndexed(w io.Writer, p *Profile, opt IndexedOptions) error {
	x, err := newIndexedWriter(p, opt)
	if err != nil {
		return err
	}
	return x.writeTo(w)
}

func newIndexedWriter(p *Profile, opt IndexedOptions) (*indexedWriter, error) {
	if opt.Version == 0 {
		opt.Version = indexedVersionLLVM22
	}
	traits, ok := indexedVersions[opt.Version]
	if !ok {
		return nil, flaw.Field("indexed version to write").Got(opt.Version).
			Wantf("%d to %d", IndexedVersionMinWritten, IndexedVersionMax).
			Because(&llvmerr.Error{Code: llvmerr.UnsupportedVersion})
	}
	native := opt.LLVMRelease == 0
	if native {
		opt.LLVMRelease = traits.llvm
	}
	x := &indexedWriter{p: p, opt: opt, native: native, rel: releaseOf(opt.LLVMRelease), kinds: NumValueKinds}
	if native && opt.Version < 12 {
		x.kinds = int(VTableTarget) // older readers refuse a file with this kind
	}
	x.variant = p.Variant & indexedBits &^ HasMemProf
	if p.MemProf != nil && traits.variant.Has(HasMemProf) {
		x.variant |= HasMemProf
	}
	return x, nil
}

// writeTo writes the file.
func (x *indexedWriter) writeTo(w io.Writer) error {
	switch {
	case x.table != nil:
		x.keys = x.table.keys
	case x.keys == nil:
		x.keys = newProfileKeys(x.p)
	}
	if x.native {
		if err := x.fitVersion(indexedVersions[x.opt.Version]); err != nil {
			return err
		}
	}
	if x.table == nil {
		x.table = x.newTable(x.keys)
	}
	x.summed.Go(func() { x.table.summarize(&x.sum, &x.cs) })
	defer x.summed.Wait()
	if err := x.arrangeMemProf(); err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	if err := x.write(bw); err != nil {
		return err
	}
	return bw.Flush()
}

// fitVersion drops what the version has no place for, with a warning, and
// refuses what would be read as something else.
func (x *indexedWriter) fitVersion(traits versionTraits) error {
	lost := x.variant &^ traits.variant
	if hard := lost & (ContextSens | SingleByte | EntryOnly | EntryFirst | LoopEntries); hard != 0 {
		return flaw.Field("profile variant").Got(hard.String()).
			Wantf("what indexed version %d can express", x.opt.Version).
			Because(&llvmerr.Error{Code: llvmerr.UnsupportedVersion})
	}
	x.variant &= traits.variant
	if lost != 0 {
		x.warnLost(lost.String() + " mark")
	}
	if len(x.p.BinaryIDs) > 0 && x.opt.Version < 9 {
		x.warnLost("binary ids")
	}
	if x.opt.Version < 11 {
		x.warnFirst("bitmaps", func(r *Record) bool { return len(r.Bitmap) > 0 })
	}
	if x.opt.Version < packedBitmaps && x.p.Variant.Has(device) {
		x.warnFirst("uniformity bits", func(r *Record) bool { return len(r.Uniformity) > 0 })
	}
	if x.kinds < NumValueKinds {
		x.warnFirst("vtable values", func(r *Record) bool { return len(r.Values[VTableTarget]) > 0 })
	}
	return nil
}

func (x *indexedWriter) warnFirst(what string, has func(*Record) bool) {
	var memory keyRecords
	for i := range x.keys.len() {
		if slices.ContainsFunc(x.keys.records(i, &memory), has) {
			x.warnLost(what)
			return
		}
	}
}

func (x *indexedWriter) warnLost(what string) {
	if x.opt.Warn != nil {
		x.opt.Warn(profile.Warning{Err: flaw.Field(what).Got("left out").
			Wantf("an indexed version above %d to hold it", x.opt.Version).Unsupported()})
	}
}

// ran reports whether any counter or bitmap bit of f is set. All records of a name are kept or dropped together.
func (f *Function) ran() bool { return slices.ContainsFunc(f.Records, (*Record).ran) }

func (r *Record) ran() bool {
	for _, c := range r.Counts {
		if c != 0 {
			return true
		}
	}
	for _, b := range r.Bitmap {
		if b != 0 {
			return true
		}
	}
	return false
}

// recordSize is the size of what appendRecord appends.
func (x *indexedWriter) recordSize(r *Record) int {
	n := 16 + 8*len(r.Counts)
	switch {
	case x.opt.Version >= packedBitmaps:
		n += 16 + (len(r.Bitmap)+7)&^7 + (len(r.Uniformity)+7)&^7
	case x.opt.Version >= 11:
		n += 8 + 8*len(r.Bitmap)
	}
	v := x.values(r)
	return n + valueDataSize(&v)
}

func (x *indexedWriter) values(r *Record) valueSites {
	v := r.Values
	for k := x.kinds; k < NumValueKinds; k++ {
		v[k] = nil
	}
	return v
}

func (x *indexedWriter) appendRecord(dst []byte, r *Record) []byte {
	dst = le.AppendUint64(dst, r.Hash)
	dst = le.AppendUint64(dst, uint64(len(r.Counts)))
	at := len(dst)
	dst = slices.Grow(dst, 8*len(r.Counts))[:at+8*len(r.Counts)]
	for i, raw := 0, dst[at:]; i < len(r.Counts); i++ {
		le.PutUint64(raw[8*i:], r.Counts[i])
	}
	switch {
	case x.opt.Version >= packedBitmaps:
		for _, bytes := range [][]byte{r.Bitmap, r.Uniformity} {
			dst = append(le.AppendUint64(dst, uint64(len(bytes))), bytes...)
			dst = append(dst, make([]byte, cursor.PadTo(uint64(len(bytes)), 8))...)
		}
	case x.opt.Version >= 11:
		dst = le.AppendUint64(dst, uint64(len(r.Bitmap)))
		for _, b := range r.Bitmap {
			dst = le.AppendUint64(dst, uint64(b))
		}
	}
	v := x.values(r)
	return appendValueData(dst, &v)
}

// placement is where the parts of the file come to stand.
type placement struct {
	buckets    []uint64 // offset of each bucket, 0 if empty
	bucketsEnd uint64   // offset after the last one; padding follows
	header     indexedHeader
	tail       []byte // sections after the hash table and the memprof section
}

// arrange finds where the parts stand after the header and the summaries.
func (x *indexedWriter) arrange(payloadStart int) placement {
	pl := placement{buckets: make([]uint64, x.table.buckets)}
	clear(pl.buckets) // see table.expect
	x.table.bucketSizes(pl.buckets)
	pos := payloadStart
	for b, size := range pl.buckets {
		if size != 0 {
			pl.buckets[b] = uint64(pos)
			pos += hashtable.BucketHeaderSize + int(size)
		}
	}
	pl.bucketsEnd = uint64(pos)
	pos += int(cursor.PadTo(uint64(pos), 8))
	h := &pl.header
	h.hashOffset = uint64(pos)
	pos += hashtable.IndexHeaderSize + 8*len(pl.buckets)
	if x.memprof != nil {
		h.memProf = uint64(pos)
		pos += int(x.memprof.Size)
	}
	at := func() uint64 { return uint64(pos + len(pl.tail)) }
	if x.opt.Version >= 9 {
		h.binaryIDs = at()
		ids := appendBinaryIDs(nil, x.p.BinaryIDs)
		pl.tail = le.AppendUint64(pl.tail, uint64(len(ids)))
		pl.tail = append(pl.tail, ids...)
	}
	if x.opt.Version >= 12 {
		h.vtableNames = at()
		blob := appendNames(nil, x.p.VTableNames, true)
		pl.tail = le.AppendUint64(pl.tail, uint64(len(blob)))
		pl.tail = append(pl.tail, blob...)
		pl.tail = append(pl.tail, make([]byte, cursor.PadTo(uint64(len(blob)), 8))...)
	}
	if x.opt.Version >= 10 && x.variant.Has(HasTemporal) {
		h.traces = at()
		pl.tail = le.AppendUint64(pl.tail, uint64(len(x.p.Traces)))
		pl.tail = le.AppendUint64(pl.tail, x.p.TraceStreamSize)
		for _, t := range x.p.Traces {
			pl.tail = le.AppendUint64(pl.tail, t.Weight)
			pl.tail = le.AppendUint64(pl.tail, uint64(len(t.NameRefs)))
			for _, ref := range t.NameRefs {
				pl.tail = le.AppendUint64(pl.tail, ref)
			}
		}
	}
	return pl
}

func (x *indexedWriter) write(w *bufio.Writer) error {
	words := indexedVersions[x.opt.Version].headerWords
	start := 8*words + summarySize(len(profile.DefaultCutoffs()))
	if x.variant.Has(ContextSens) {
		start += summarySize(len(profile.DefaultCutoffs()))
	}
	pl := x.arrange(start)
	h := &pl.header
	head := []uint64{
		indexedMagic, uint64(x.opt.Version) | uint64(x.variant), 0, hashTypeMD5, h.hashOffset,
		h.memProf, h.binaryIDs, h.traces, h.vtableNames,
	}
	x.buf = x.buf[:0]
	for _, v := range head[:words] {
		x.buf = le.AppendUint64(x.buf, v)
	}
	x.summed.Wait()
	if x.opt.Version == 4 { // LLVM up to 5, which knows no context-sensitive records
		x.sum.Merge(&x.cs)
	}
	sum := Summary(x.sum.Summary(profile.DefaultCutoffs()))
	x.buf = appendSummary(x.buf, &sum)
	if x.variant.Has(ContextSens) {
		cs := Summary(x.cs.Summary(profile.DefaultCutoffs()))
		x.buf = appendSummary(x.buf, &cs)
	}
	if _, err := w.Write(x.buf); err != nil {
		return err
	}
	if err := x.writeTable(w, &pl); err != nil {
		return err
	}
	if x.memprof != nil {
		if err := x.memprof.Write(w, int64(pl.header.memProf)); err != nil {
			return err
		}
	}
	_, err := w.Write(pl.tail)
	return err
}

func (x *indexedWriter) writeTable(w *bufio.Writer, pl *placement) error {
	if err := x.writeBuckets(w, pl); err != nil {
		return err
	}
	x.buf = slices.Grow(x.buf[:0], hashtable.IndexHeaderSize+8*len(pl.buckets)+8)
	x.buf = append(x.buf, make([]byte, pl.header.hashOffset-pl.bucketsEnd)...)
	x.buf = le.AppendUint64(x.buf, uint64(len(pl.buckets)))
	x.buf = le.AppendUint64(x.buf, uint64(len(x.table.order)))
	for _, at := range pl.buckets {
		x.buf = le.AppendUint64(x.buf, at)
	}
	_, err := w.Write(x.buf)
	return err
}

// chunkSize is how many bytes of buckets are encoded at a time.
const chunkSize = 256 << 10

// A bucketChunk is a run of buckets to be encoded.
type bucketChunk struct {
	from, to int // buckets
	buf      []byte
	done     chan struct{}
}

// writeBuckets encodes the buckets with all CPUs and writes them in order.
func (x *indexedWriter) writeBuckets(w io.Writer, pl *placement) error {
	workers := min(runtime.GOMAXPROCS(0), 1+len(x.table.order)/1000)
	ahead := make([]*bucketChunk, 0, 2*workers) // being encoded, in order
	var spare [][]byte
	next := 0
	for {
		for next < len(pl.buckets) && len(ahead) < cap(ahead) {
			c := &bucketChunk{from: next, done: make(chan struct{})}
			var size int
			c.to, size = pl.cut(next)
			next = c.to
			if n := len(spare); n > 0 {
				c.buf, spare = spare[n-1], spare[:n-1]
			}
			c.buf = slices.Grow(c.buf, size)
			ahead = append(ahead, c)
			go func() {
				c.buf = x.table.appendBuckets(c.buf, c.from, c.to)
				close(c.done)
			}()
		}
		if len(ahead) == 0 {
			return nil
		}
		c := ahead[0]
		ahead = append(ahead[:0], ahead[1:]...)
		<-c.done
		if _, err := w.Write(c.buf); err != nil {
			for _, c := range ahead {
				<-c.done
			}
			return err
		}
		spare = append(spare, c.buf[:0])
	}
}

// cut returns after which bucket the chunk ends that begins with the given one, and the size of the chunk in bytes.
func (pl *placement) cut(from int) (to, size int) {
	start := uint64(0)
	for to = from; to < len(pl.buckets); to++ {
		switch at := pl.buckets[to]; {
		case at == 0:
		case start == 0:
			start = at
		case at-start >= chunkSize:
			return to, int(at - start)
		}
	}
	if start == 0 {
		return to, 0
	}
	return to, int(pl.bucketsEnd - start)
}
