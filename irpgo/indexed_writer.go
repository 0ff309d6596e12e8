package irpgo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/ondisk"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/profile"
)

// IndexedOptions adjust [WriteIndexed]. The zero value writes the newest
// version.
type IndexedOptions struct {
	// Version to write, IndexedVersionMinWritten to IndexedVersionMax; 0 means
	// the newest.
	Version uint32
	// Sparse leaves out functions that never ran.
	Sparse bool
	// LLVMRelease is the LLVM major release whose order of records to
	// reproduce; 0 means the release that introduced Version. With 22 and
	// version 11 the file is what `llvm-profdata --write-prev-version` of
	// LLVM 22 writes.
	LLVMRelease int
	// MemProf adjusts the memprof section, if the profile has one. As long as
	// it asks for no version, that is chosen to be read wherever Version is.
	MemProf memprof.WriteOptions
	// Warn is told what the version cannot hold and was left out.
	Warn func(Warning)
}

// versionTraits says which release introduced an indexed version and what it
// can hold.
type versionTraits struct {
	llvm    int     // first LLVM release that writes it
	variant Variant // variant bits that its readers know
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
	4:  {4, variant4},
	5:  {9, variant5},
	6:  {11, variant5},
	7:  {14, variant7},
	8:  {15, variant8},
	9:  {16, variant8},
	10: {17, variant10},
	11: {18, variant10},
	12: {19, variant12},
	13: {22, variant12},
}

// indexedWriter holds one file's arrangement. Sizes are computed first, so the
// file is written front to back and never held in memory.
type indexedWriter struct {
	p       *Profile
	opt     IndexedOptions
	variant Variant
	rel     release

	functions []*Function // to be encoded, in order of insertion
	hashes    []uint64    // name references of functions
	chains    *ondisk.Chains
	kinds     int  // value kinds that the version can hold
	native    bool // as the release that introduced the version
	sum, cs   SummaryBuilder
	memprof   *memprof.Section // nil without a memprof section

	buf []byte
}

// WriteIndexed writes p as an indexed profile: to the byte what llvm-profdata
// of the version's release writes for the same content, except for the
// compressed bytes of vtable names.
func WriteIndexed(w io.Writer, p *Profile, opt IndexedOptions) error {
	if opt.Version == 0 {
		opt.Version = IndexedVersionMax
	}
	traits, ok := indexedVersions[opt.Version]
	if !ok {
		return &profile.FormatError{
			Offset: -1, Record: -1, Field: "indexed version to write", Found: fmt.Sprint(opt.Version),
			Want: fmt.Sprintf("%d to %d", IndexedVersionMinWritten, IndexedVersionMax),
			Err:  &InstrError{Code: CodeUnsupportedVersion},
		}
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
	if native {
		if err := x.fitVersion(traits); err != nil {
			return err
		}
	}
	x.arrange()
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
	if hard := lost & (ContextSens | SingleByte | EntryOnly); hard != 0 {
		return &profile.FormatError{
			Offset: -1, Record: -1, Field: "profile variant", Found: hard.String(),
			Want: fmt.Sprintf("what indexed version %d can express", x.opt.Version),
			Err:  &InstrError{Code: CodeUnsupportedVersion},
		}
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
	if x.kinds < NumValueKinds {
		x.warnFirst("vtable values", func(r *Record) bool { return len(r.Values[VTableTarget]) > 0 })
	}
	return nil
}

func (x *indexedWriter) warnFirst(what string, has func(*Record) bool) {
	for i := range x.p.Functions {
		if slices.ContainsFunc(x.p.Functions[i].Records, has) {
			x.warnLost(what)
			return
		}
	}
}

func (x *indexedWriter) warnLost(what string) {
	if x.opt.Warn != nil {
		x.opt.Warn(Warning{Err: &profile.FormatError{
			Offset: -1, Record: -1, Field: what, Found: "left out",
			Want: fmt.Sprintf("an indexed version above %d to hold it", x.opt.Version),
			Err:  profile.ErrUnsupported,
		}})
	}
}

// ran reports whether any counter or bitmap bit of f is set. All records of a
// name are kept or dropped together.
func (f *Function) ran() bool {
	for _, r := range f.Records {
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
	}
	return false
}

// arrange chooses the functions and their places in the hash table, and sums
// them up.
func (x *indexedWriter) arrange() {
	all := make([]*Function, len(x.p.Functions))
	for i := range x.p.Functions {
		all[i] = &x.p.Functions[i]
	}
	x.functions = keyOrder(all, x.rel)
	if x.opt.Sparse {
		x.functions = slices.DeleteFunc(slices.Clone(x.functions), func(f *Function) bool { return !f.ran() })
	}
	x.hashes = make([]uint64, len(x.functions))
	for i, f := range x.functions {
		x.hashes[i] = f.nameRef()
		for _, r := range f.Records {
			if r.IsCS() {
				x.cs.Add(r.Counts)
			} else {
				x.sum.Add(r.Counts)
			}
		}
	}
	x.chains = ondisk.Arrange(x.hashes)
}

// recordSize is the size of what appendRecord appends.
func (x *indexedWriter) recordSize(r *Record) int {
	n := 16 + 8*len(r.Counts)
	if x.opt.Version >= 11 {
		n += 8 + 8*len(r.Bitmap)
	}
	v := x.values(r)
	return n + valueDataSize(&v)
}

func (x *indexedWriter) values(r *Record) Values {
	v := r.Values
	for k := x.kinds; k < NumValueKinds; k++ {
		v[k] = nil
	}
	return v
}

func (x *indexedWriter) appendRecord(dst []byte, r *Record) []byte {
	dst = le.AppendUint64(dst, r.Hash)
	dst = le.AppendUint64(dst, uint64(len(r.Counts)))
	for _, c := range r.Counts {
		dst = le.AppendUint64(dst, c)
	}
	if x.opt.Version >= 11 {
		dst = le.AppendUint64(dst, uint64(len(r.Bitmap)))
		for _, b := range r.Bitmap {
			dst = le.AppendUint64(dst, uint64(b))
		}
	}
	v := x.values(r)
	return appendValueData(dst, &v)
}

func (x *indexedWriter) dataSize(f *Function) int {
	n := 0
	for _, r := range f.Records {
		n += x.recordSize(r)
	}
	return n
}

// placement is where the parts of the file come to stand.
type placement struct {
	buckets []uint64 // offset of each bucket, 0 if empty
	payload int      // size of the payload with its padding
	header  indexedHeader
	tail    []byte // sections after the hash table and the memprof section
}

func (x *indexedWriter) place(payloadStart int) (placement, error) {
	pl := placement{buckets: make([]uint64, x.chains.NumBuckets())}
	pos := payloadStart
	for b := range pl.buckets {
		at, size := pos, ondisk.BucketHeaderSize
		for i := range x.chains.Bucket(b) {
			f := x.functions[i]
			size += ondisk.ItemSize(len(f.Name), x.dataSize(f))
			pl.buckets[b] = uint64(at)
		}
		if pl.buckets[b] != 0 {
			pos += size
		}
	}
	pos += int(cursor.PadTo(uint64(pos), 8))
	pl.payload = pos - payloadStart
	h := &pl.header
	h.hashOffset = uint64(pos)
	pos += ondisk.IndexHeaderSize + 8*len(pl.buckets)
	if x.memprof != nil {
		h.memProf = uint64(pos)
		end, err := x.memprof.Place(int64(pos))
		if err != nil {
			return pl, err
		}
		pos = int(end)
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
	return pl, nil
}

func (x *indexedWriter) write(w *bufio.Writer) error {
	words := indexedHeaderWords(x.opt.Version)
	var summaries []byte
	sum := x.sum.Summary(DefaultCutoffs)
	summaries = appendSummary(summaries, &sum)
	if x.variant.Has(ContextSens) {
		cs := x.cs.Summary(DefaultCutoffs)
		summaries = appendSummary(summaries, &cs)
	}
	start := 8*words + len(summaries)
	pl, err := x.place(start)
	if err != nil {
		return err
	}

	h := &pl.header
	head := []uint64{
		indexedMagic, uint64(x.opt.Version) | uint64(x.variant), 0, hashTypeMD5, h.hashOffset,
		h.memProf, h.binaryIDs, h.traces, h.vtableNames,
	}
	x.buf = x.buf[:0]
	for _, v := range head[:words] {
		x.buf = le.AppendUint64(x.buf, v)
	}
	x.buf = append(x.buf, summaries...)
	if _, err := w.Write(x.buf); err != nil {
		return err
	}
	if err := x.writeTable(w, &pl); err != nil {
		return err
	}
	if x.memprof != nil {
		if err := x.memprof.Write(w); err != nil {
			return err
		}
	}
	_, err = w.Write(pl.tail)
	return err
}

func (x *indexedWriter) writeTable(w *bufio.Writer, pl *placement) error {
	written := 0
	flush := func() error {
		written += len(x.buf)
		_, err := w.Write(x.buf)
		x.buf = x.buf[:0]
		return err
	}
	x.buf = x.buf[:0]
	for b, at := range pl.buckets {
		if at == 0 {
			continue
		}
		x.buf = le.AppendUint16(x.buf, uint16(x.chains.BucketLen(b)))
		for i := range x.chains.Bucket(b) {
			f := x.functions[i]
			x.buf = le.AppendUint64(x.buf, x.hashes[i])
			x.buf = le.AppendUint64(x.buf, uint64(len(f.Name)))
			x.buf = le.AppendUint64(x.buf, uint64(x.dataSize(f)))
			x.buf = append(x.buf, f.Name...)
			for _, r := range recordOrder(f.Records, x.rel) {
				x.buf = x.appendRecord(x.buf, r)
			}
		}
		if len(x.buf) >= 1<<16 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	x.buf = append(x.buf, make([]byte, pl.payload-written-len(x.buf))...)
	x.buf = le.AppendUint64(x.buf, uint64(len(pl.buckets)))
	x.buf = le.AppendUint64(x.buf, uint64(len(x.functions)))
	for _, at := range pl.buckets {
		x.buf = le.AppendUint64(x.buf, at)
	}
	return flush()
}

// AppendIndexed returns the bytes that [WriteIndexed] writes.
func AppendIndexed(dst []byte, p *Profile, opt IndexedOptions) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	err := WriteIndexed(b, p, opt)
	return b.Bytes(), err
}
