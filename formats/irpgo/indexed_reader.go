package irpgo

import (
	"cmp"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// indexedReader reads an indexed profile of any version up to [IndexedVersionMax].
type indexedReader struct {
	decoded
	file    string
	data    []byte
	opt     ReaderOptions
	table   *hashtable.Table
	header  indexedHeader
	memprof *memprof.IndexedReader // nil without a memprof section
	syms    *Symtab

	rec     Record
	counts  []uint64
	bitmap  []byte
	values  valueBuffer
	walked  bool // damaged functions were told of
	rescued int  // damaged functions left out
}

// indexedHeader holds the offsets of the header; 0 where the version has none.
type indexedHeader struct {
	hashType, hashOffset, memProf, binaryIDs, traces, vtableNames uint64
}

func newIndexedReader(file string, data []byte, opt ReaderOptions) (decoder, error) {
	r := &indexedReader{file: file, data: data, opt: opt}
	payload, err := r.readHeader()
	if err != nil {
		return nil, r.asLLVM(err)
	}
	if r.table, err = hashtable.Open("hash table", data, payload, r.header.hashOffset); err != nil {
		return nil, r.asLLVM(err)
	}
	if s := r.about.Summary; !opt.Lenient && s != nil && r.table.Len() == 0 && s.NumFunctions > 0 {
		return nil, flaw.At("hash table", int64(r.header.hashOffset)).Field("number of entries").Got(0).
			Wantf("the %d functions of the summary", s.NumFunctions).Because(&llvmerr.Error{Code: llvmerr.Malformed})
	}
	for _, read := range []func() error{r.readBinaryIDs, r.openMemProf, r.readVTableNames, r.readTraces} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	r.findDevice()
	return r, nil
}

// findDevice marks the profile of a GPU. The header has no mark for it; all functions of such a profile have uniformity
// bits, so the first record tells.
func (r *indexedReader) findDevice() {
	if r.about.Version < packedBitmaps {
		return
	}
	// Damage in the table is reported by records.
	_ = r.table.Items(false, func(it hashtable.Item) bool {
		if r.readRecord(cursor.New("function records", it.DataOff, it.Data, le), "", true) == nil && len(r.rec.Uniformity) > 0 {
			r.about.Variant |= device
		}
		return false
	})
}

// symbols collects the names of the table on the first call.
func (r *indexedReader) symbols() *Symtab {
	if r.syms != nil {
		return r.syms
	}
	r.syms = &Symtab{}
	// Damage in the table is reported by records.
	_ = r.table.Items(false, func(it hashtable.Item) bool {
		r.syms.learn(string(it.Key))
		return true
	})
	for _, n := range r.about.VTableNames {
		r.syms.learn(n)
	}
	return r.syms
}

// readHeader decodes header and summaries and returns where the payload of the hash table begins.
func (r *indexedReader) readHeader() (int64, error) {
	c := cursor.New("header", 0, r.data, le)
	c.U64("magic")
	word := c.U64("version")
	if c.Err() != nil {
		return 0, c.Err()
	}
	version := uint32(word)
	r.about = Info{
		Format: FormatIndexed, Version: version, VersionWord: word,
		Variant: Variant(word) & indexedBits, Profiles: 1,
	}
	if version < indexedVersionMin || version > IndexedVersionMax {
		return 0, flaw.At("header", 8).Field("indexed profile version").Got(version).
			WantVersions(fmt.Sprintf("%d to %d", indexedVersionMin, IndexedVersionMax), uint64(version), IndexedVersionMax).
			Because(&llvmerr.Error{Code: llvmerr.UnsupportedVersion})
	}
	if odd := word &^ (versionMask | uint64(indexedBits)); odd != 0 && !r.opt.Lenient {
		return 0, flaw.At("header", 8).Field("variant bits").Gotf("%#x", odd).Want("only known ones").
			Because(&llvmerr.Error{Code: llvmerr.UnsupportedVersion})
	}
	c.U64("unused") // MaxFunctionCount before version 4
	h := &r.header
	h.hashType = c.U64("hash type")
	h.hashOffset = c.U64("hash table offset")
	if version >= 8 {
		h.memProf = c.U64("memprof offset")
	}
	if version >= 9 {
		h.binaryIDs = c.U64("binary id offset")
	}
	if version >= 10 {
		h.traces = c.U64("temporal traces offset")
	}
	if version >= 12 {
		h.vtableNames = c.U64("vtable names offset")
	}
	if c.Err() == nil && h.hashType != hashTypeMD5 {
		return 0, flaw.At("header", 24).Field("hash type").Got(h.hashType).Want("0, MD5").
			Because(&llvmerr.Error{Code: llvmerr.UnsupportedHashType})
	}
	if c.Err() == nil && version >= 4 {
		var err error
		c.Section = "summary"
		if r.about.Summary, err = readSummary(c); err != nil {
			return 0, err
		}
		if r.about.Variant.Has(ContextSens) {
			c.Section = "context-sensitive summary"
			if r.about.CSSummary, err = readSummary(c); err != nil {
				return 0, err
			}
		}
	}
	return c.Offset(), c.Err()
}

// asLLVM gives a table that the file is too short for the words LLVM has: it
// reads the table only later and first misses what stands behind it.
func (r *indexedReader) asLLVM(err error) error {
	fe, ok := err.(*profile.FormatError)
	if !ok || profile.ClassOf(fe) != profile.ErrTruncated || r.about.Version < 9 {
		return err
	}
	c := *fe
	c.Err = r.missing()
	return &c
}

// missing is what LLVM says when the sections after the table are cut off.
func (r *indexedReader) missing() error {
	if r.about.Variant.Has(HasTemporal) {
		return &llvmerr.Error{Code: llvmerr.BadHeader, Class: profile.ErrTruncated}
	}
	return &llvmerr.Error{Code: llvmerr.Malformed, Detail: "corrupted binary ids", Class: profile.ErrTruncated}
}

// section returns a cursor at a header offset; the sections after the table may not begin before its end.
func (r *indexedReader) section(name string, off uint64) (*cursor.Cursor, error) {
	if off < uint64(r.table.End()) || off > uint64(len(r.data)) {
		cause := r.missing()
		if off < uint64(r.table.End()) {
			cause = &llvmerr.Error{Code: llvmerr.BadHeader}
		}
		return nil, flaw.In("header").Field("offset of the "+name).Gotf("%#x", off).
			Wantf("%#x to %#x, the end of the file", r.table.End(), len(r.data)).Because(cause)
	}
	return cursor.New(name, int64(off), r.data[off:], le), nil
}

func (r *indexedReader) readBinaryIDs() error {
	if r.about.Version < 9 {
		return nil
	}
	c, err := r.section("binary ids", r.header.binaryIDs)
	if err != nil {
		return err
	}
	at := c.Offset()
	size := c.U64("size")
	if c.Err() == nil && size%8 != 0 {
		return flaw.At("binary ids", at).Field("size").Got(size).Want("a multiple of 8").
			Because(&llvmerr.Error{Code: llvmerr.BadHeader})
	}
	if c.Err() == nil && size > uint64(c.Len()) {
		return flaw.At("binary ids", at).Field("size").Got(size).
			Wantf("at most the %d bytes left in the file", c.Len()).
			Because(&llvmerr.Error{Code: llvmerr.Malformed, Detail: "corrupted binary ids", Class: profile.ErrTruncated})
	}
	off := c.Offset()
	data := c.Bytes(size, "binary ids")
	if c.Err() != nil {
		return c.Err()
	}
	r.about.BinaryIDs, err = readBinaryIDs(off, data, le, 8)
	return err
}

func (r *indexedReader) readVTableNames() error {
	if r.about.Version < 12 {
		return nil
	}
	c, err := r.section("vtable names", r.header.vtableNames)
	if err != nil {
		return err
	}
	size := c.U64("size")
	off := c.Offset()
	blob := c.Bytes(size, "vtable names")
	if c.Err() != nil {
		return c.Err()
	}
	return decodeNames("vtable names", off, blob, func(name string) { r.about.VTableNames = append(r.about.VTableNames, name) })
}

func (r *indexedReader) readTraces() error {
	if r.about.Version < 10 || !r.about.Variant.Has(HasTemporal) {
		return nil
	}
	c, err := r.section("temporal traces", r.header.traces)
	if err != nil {
		return err
	}
	n := c.Count(c.U64("number of traces"), 16, "number of traces")
	r.stream = c.U64("trace stream size")
	n = c.Count(uint64(n), 16, "number of traces")
	for i := range n {
		c.Record = i
		t := Trace{Weight: c.U64("weight")}
		t.NameRefs = make([]uint64, c.Count(c.U64("number of functions"), 8, "number of functions"))
		for j := range t.NameRefs {
			t.NameRefs[j] = c.U64("name reference")
		}
		if c.Err() != nil {
			break
		}
		r.traceList = append(r.traceList, t)
	}
	return c.Err()
}

// records walks the payload. One key may have several records.
func (r *indexedReader) records(yield func(*Record, error) bool) {
	stopped := false
	var bad error
	n := 0
	rescuer := rescuer{opt: &r.opt, file: r.file, silent: r.walked}
	rescuer.allow(r.table.Len())
	defer func() { r.walked = true }()
	err := r.table.Items(!r.opt.Lenient, func(it hashtable.Item) bool {
		name := string(it.Key)
		c := cursor.New("function records", it.DataOff, it.Data, le)
		c.Record = n
		n++
		// rescue leaves a damaged function out, unless there are too many.
		rescue := func(err error) bool {
			if !rescuer.take(profile.Rescued{Function: name, NameRef: it.Hash, Err: err}) {
				bad = err
				return false
			}
			r.rescued++
			rescuer.lose(err)
			return true
		}
		if r.ref = it.Hash; r.opt.Lenient {
			r.ref = 0
		} else if NameRef(name) != it.Hash {
			return rescue(flaw.At("hash table", it.DataOff-int64(len(it.Key))-24).InRecord(c.Record).Field("hash").
				Gotf("%#x", it.Hash).Wantf("%#x, the hash of the key", NameRef(name)).
				Because(&llvmerr.Error{Code: llvmerr.Malformed}))
		}
		for first := true; c.Len() > 0; first = false {
			if err := r.readRecord(c, name, first); err != nil {
				return rescue(err)
			}
			rescuer.kept = true
			if !yield(&r.rec, nil) {
				stopped = true
				return false
			}
		}
		return true
	})
	if bad = cmp.Or(bad, rescuer.nothingLeft(), err); bad != nil && !stopped {
		yield(nil, bad)
	}
}

// readRecord decodes one record of a key's data:
//
//	u64 FuncHash | u64 NumCounts (v2+) | u64 counts[] |
//	u64 NumBitmapBytes | u64 per bitmap byte (v11 to v13) or bytes, padded (v14) |
//	u64 NumUniformityBytes | bytes, padded (v14) | value data (v3+)
//
// A version 1 key has one record, which takes all its data.
func (r *indexedReader) readRecord(c *cursor.Cursor, name string, first bool) error {
	version := r.about.Version
	at := c.Offset()
	if first && c.Len()%8 != 0 {
		return c.At(at).Field("data length").Got(c.Len()).Want("a multiple of 8").
			Because(malformed("profile data is empty"))
	}
	r.rec = Record{Name: name, Hash: c.U64("function hash")}
	n := uint64(c.Len() / 8)
	if version >= 2 {
		n = c.U64("number of counters")
	}
	raw := c.Bytes(8*uint64(c.Count(n, 8, "number of counters")), "counters")
	r.counts = r.counts[:0]
	for ; len(raw) >= 8; raw = raw[8:] {
		r.counts = append(r.counts, le.Uint64(raw))
	}
	r.rec.Counts = r.counts
	switch {
	case version >= packedBitmaps:
		r.readPacked(c)
	case version >= 11:
		r.readBitmap(c)
	}
	if version >= 3 && c.Err() == nil {
		r.values.readValueData(c, &r.rec.Values)
	}
	if c.Err() == nil && len(r.rec.Counts) == 0 && !r.opt.Lenient {
		c.Fail(c.At(at + 8).Field("number of counters").Got(0).Want("at least 1").Corrupt())
	}
	return inData(c.Err())
}

func (r *indexedReader) readBitmap(c *cursor.Cursor) {
	n := c.U64("number of bitmap bytes")
	raw := c.Bytes(8*uint64(c.Count(n, 8, "number of bitmap bytes")), "bitmap")
	r.bitmap = r.bitmap[:0]
	for ; len(raw) >= 8; raw = raw[8:] {
		b := le.Uint64(raw)
		if b > 0xff && !r.opt.Lenient {
			c.Fail(c.At(c.Offset() - int64(len(raw))).Field("bitmap byte").Got(b).Want("at most 255").Corrupt())
			return
		}
		r.bitmap = append(r.bitmap, byte(b))
	}
	if len(r.bitmap) > 0 {
		r.rec.Bitmap = r.bitmap
	}
}

// readPacked reads the bitmap and the uniformity bits of version 14.
func (r *indexedReader) readPacked(c *cursor.Cursor) {
	packed := func(what string) []byte {
		n := uint64(c.Count(c.U64("number of "+what), 1, "number of "+what))
		b := c.Bytes(n, what)
		c.Skip(cursor.PadTo(n, 8), "padding of the "+what)
		return b
	}
	if b := packed("bitmap bytes"); len(b) > 0 {
		r.rec.Bitmap = b
	}
	at := c.Offset()
	b := packed("uniformity bytes")
	if want := uniformitySize(len(r.rec.Counts)); len(b) > 0 && len(b) != want && c.Err() == nil && !r.opt.Lenient {
		c.Fail(c.At(at).Field("number of uniformity bytes").Got(len(b)).Wantf("0 or %d, a bit for each counter", want).Corrupt())
	}
	if r.device = nil; c.Err() == nil && len(b) > 0 {
		r.rec.Uniformity, r.device = b, &deviceSum{bits: b}
	}
}

// inData gives LLVM's one message for all damage inside a key's data, keeping
// the place. The file holds all of the data, so nothing there is truncated.
func inData(err error) error {
	fe, ok := err.(*profile.FormatError)
	if !ok {
		return err
	}
	c := *fe
	c.Err = malformed("profile data is empty")
	return &c
}
