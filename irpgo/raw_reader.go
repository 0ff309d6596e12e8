package irpgo

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// largeCounter is where LLVM begins to doubt a counter: no run counts to 2^56.
const largeCounter = 1 << 56

// rawReader reads a file of one or more raw profiles, one after the other.
type rawReader struct {
	file   string
	data   []byte
	opt    ReaderOptions
	about  Info
	cur    *rawProfile
	syms   Symtab
	cache  *nameCache
	lists  []*nameList // names of the first profile, see nameOf
	at     struct{ list, name int }
	stamps []timestamp
	vnames []string
	walked bool // records were walked once, warnings given
	warned struct{ large, correlate bool }

	// Of the current profile.
	prepared bool // names and addresses are there
	addrs    addressMap
	relative bool // counter pointers are relative to their record

	rec      Record
	ref      uint64 // of rec.Name, 0 if it has none
	counts   []uint64
	countsAt int64 // file offset of counts
	values   valueBuffer
	rescuer  rescuer
	// direct, unless nil, is asked about every record first, by number, and
	// reports whether that is done with. It must leave those with value sites.
	direct func(i int) bool
	// ended, unless nil, is called after the records of a profile with the
	// offset behind its value data.
	ended func(next int64)
}

// timestamp is the moment of a function's first call, a count that starts at
// 1 in each process.
type timestamp struct{ when, nameRef uint64 }

func newRawReader(file string, data []byte, opt ReaderOptions) (decoder, error) {
	r := &rawReader{file: file, data: data, opt: opt}
	r.rescuer = rescuer{opt: &r.opt, file: file}
	if err := r.open(0); err != nil {
		return nil, err
	}
	p := r.cur
	r.about.Format = FormatRaw
	r.about.Version = p.version
	r.about.VersionWord = p.word
	r.about.Variant = p.variant
	r.about.PointerSize = p.ptr
	r.about.BigEndian = p.order == binary.ByteOrder(binary.BigEndian)
	return r, nil
}

func (r *rawReader) info() *Info                { return &r.about }
func (r *rawReader) nameRef() uint64            { return r.ref }
func (r *rawReader) intern(func([]byte) string) {}

// symbols and vtableNames know the names of the profiles walked so far, and
// of the first. Damage there is reported by records.
func (r *rawReader) symbols() *Symtab {
	_ = r.prepare()
	return &r.syms
}

func (r *rawReader) vtableNames() []string {
	_ = r.prepare()
	return r.vnames
}

// traces returns the one trace of the file: all functions that ran, over all
// profiles in it, by first call.
func (r *rawReader) traces() ([]Trace, uint64) {
	if len(r.stamps) == 0 {
		return nil, 0
	}
	return traceOf(r.stamps), 1
}

// traceOf orders the functions of a run by first call.
func traceOf(stamps []timestamp) []Trace {
	if len(stamps) == 0 {
		return nil
	}
	slices.SortFunc(stamps, func(a, b timestamp) int {
		if a.when != b.when {
			return compareU64(a.when, b.when)
		}
		return compareU64(a.nameRef, b.nameRef)
	})
	t := Trace{Weight: 1, NameRefs: make([]uint64, len(stamps))}
	for i, s := range stamps {
		t.NameRefs[i] = s.nameRef
	}
	return []Trace{t}
}

func compareU64(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// open makes the profile at offset start the current one.
func (r *rawReader) open(start int64) error {
	p, err := parseRawProfile(r.data, start, r.opt.Lenient)
	if err != nil {
		return err
	}
	r.cur = p
	r.about.Profiles++
	r.about.LastWord = p.word
	r.about.BinaryIDs = append(r.about.BinaryIDs, p.binaryIDs...)
	if err := r.correlate(); err != nil {
		return err
	}
	if p.needsCorrelation() {
		if !r.opt.Lenient {
			return fail("header", start, -1, CodeMalformed, "", "function data",
				"left to the debug info or the binary", "data that is in the file, or the program to correlate with")
		}
		if !r.warned.correlate {
			r.warned.correlate = true
			r.warn("", fail("header", start, -1, CodeMalformed, "", "function data",
				"left to the debug info or the binary, nothing is read", "data in the file"))
		}
		p.records = rawSection{}
		return nil
	}
	r.prepared = false
	r.relative = p.correlation == nil && (p.version >= 8 || p.version == 7 && r.looksRelative())
	return nil
}

// correlate completes a profile without data records, if it can be.
func (r *rawReader) correlate() error {
	p := r.cur
	if r.opt.Correlate == nil || !p.isLightweight() && !r.opt.Lenient {
		return nil
	}
	c, err := r.opt.Correlate(p.binaryIDs)
	if c == nil || err != nil {
		return err
	}
	for _, f := range []rawField{fNumData, fNamesSize, fCountersDelta, fNamesDelta} {
		if p.fields[f] != 0 {
			return fail("header", p.start, -1, CodeUnexpectedCorrelation, "", rawFieldNames[f],
				fmt.Sprint(p.fields[f]), "0, in a profile that has to be correlated")
		}
	}
	p.correlation = c
	// Errors about these records give places in what the program would have
	// written.
	p.records.data = c.appendRecords(nil, p)
	return nil
}

// prepare reads the names of the current profile and maps its addresses:
// the larger part of the work, which profiles of a known shape do without.
func (r *rawReader) prepare() error {
	if r.prepared || r.cur.needsCorrelation() {
		return nil
	}
	if err := r.readNames(); err != nil {
		return err
	}
	r.mapAddresses()
	r.prepared = true
	return nil
}

func (r *rawReader) warn(function string, err error) {
	if r.opt.Warn != nil && !r.walked {
		r.opt.Warn(Warning{File: r.file, Function: function, Err: profile.InFile(err, r.file)})
	}
}

// readNames fills the symbol table. Before version 3 the names are plain
// bytes that the records point into.
func (r *rawReader) readNames() error {
	p := r.cur
	if p.version < 3 {
		return nil
	}
	if p.correlation != nil {
		for _, name := range p.correlation.names {
			r.syms.Add(name)
		}
		return nil
	}
	err := r.cache.decode("names", p.names.off, p.names.data, func(l *nameList) {
		l.hash()
		r.syms.addList(l)
		if p.start == 0 && !r.walked {
			r.lists = append(r.lists, l)
		}
	})
	if err != nil {
		return err
	}
	return decodeNames("vtable names", p.vnames.off, p.vnames.data, func(name string) {
		r.syms.Add(name)
		if !r.walked {
			r.vnames = append(r.vnames, name)
		}
	})
}

// nameOf returns the name with the given reference, "" if it is unknown. A
// compiler lists names in the order of the records, of which a linker may drop
// some: most names are found where the last one was.
func (r *rawReader) nameOf(ref uint64) string {
	const ahead, lists = 16, 4
	for i := range lists {
		if r.at.list+i >= len(r.lists) {
			break
		}
		l, from := r.lists[r.at.list+i], 0
		if i == 0 {
			from = r.at.name
		}
		for j, other := range l.refs[from:min(from+ahead, len(l.refs))] {
			if other == ref {
				r.at.list, r.at.name = r.at.list+i, from+j+1
				return l.names[from+j]
			}
		}
	}
	return r.syms.Name(ref)
}

// u64 and u32 read at an offset that the caller knows to be inside b.
func (p *rawProfile) u64(b []byte, off int) uint64 { return p.order.Uint64(b[off:]) }
func (p *rawProfile) u32(b []byte, off int) uint32 { return p.order.Uint32(b[off:]) }

func (p *rawProfile) addr(b []byte, off int) uint64 {
	if p.ptr == 4 {
		return uint64(p.u32(b, off))
	}
	return p.u64(b, off)
}

// record returns the bytes of data record i.
func (p *rawProfile) record(i int) []byte {
	return p.records.data[i*p.layout.size : (i+1)*p.layout.size]
}

func (p *rawProfile) numRecords() int { return len(p.records.data) / p.layout.size }

// nameRef returns the name reference of a record; before version 3 it is
// computed from the name, "" if that is out of range.
func (p *rawProfile) nameRef(b []byte) uint64 {
	if p.layout.nameRef >= 0 {
		return p.u64(b, p.layout.nameRef)
	}
	name, _ := p.plainName(b)
	return NameRef(name)
}

// plainName returns the name that a v1 or v2 record points to.
func (p *rawProfile) plainName(b []byte) (string, bool) {
	off := (p.addr(b, p.layout.namePtr) - p.fields[fNamesDelta]) & p.addrMask()
	n := uint64(p.u32(b, p.layout.nameSize))
	if size := uint64(len(p.names.data)); off > size || n > size-off {
		return "", false
	}
	return string(p.names.data[off : off+n]), true
}

func (p *rawProfile) addrMask() uint64 {
	if p.ptr == 4 {
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// looksRelative recognises the v7 profiles that compilers between the bumps
// to 7 and 8 made: relative pointers under the older number. Record 0 has the
// same offset under both rules, record 1 decides.
func (r *rawReader) looksRelative() bool {
	p := r.cur
	if p.numRecords() < 2 {
		return false
	}
	size := uint64(len(p.counters.data))
	ptr := p.addr(p.record(1), p.layout.counterPtr)
	absolute := (ptr - p.fields[fCountersDelta]) & p.addrMask()
	relative := (absolute + uint64(p.layout.size)) & p.addrMask()
	return absolute >= size && relative < size
}

// sectionOffset turns record i's pointer into an offset in its section.
// Versions before 8 store addresses; since 8 both pointer and delta are
// distances, the pointer's from its own record. All arithmetic is modulo the
// pointer width: 32-bit files hold negative distances zero-extended.
func (r *rawReader) sectionOffset(i int, ptr, delta, limit uint64) uint64 {
	p := r.cur
	off := ptr - delta
	if r.relative {
		off += uint64(i * p.layout.size)
	}
	off &= p.addrMask()
	if off >= limit && ptr>>32 == 0 && delta>>32 == 0 {
		// COFF has only 32-bit label differences, in 64-bit files too.
		if narrow := off & (1<<32 - 1); narrow < limit {
			return narrow
		}
	}
	return off
}

// records walks all profiles of the file.
func (r *rawReader) records(yield func(*Record, error) bool) {
	r.stamps = r.stamps[:0]
	if r.about.Profiles > 1 {
		r.about.Profiles, r.about.BinaryIDs = 0, nil
		if err := r.open(0); err != nil {
			yield(nil, err)
			return
		}
	}
	defer func() { r.walked = true }()
	for {
		next, ok := r.profileRecords(yield)
		if !ok {
			return
		}
		for next < int64(len(r.data)) && r.data[next] == 0 {
			next++
		}
		if next >= int64(len(r.data)) {
			return
		}
		if err := r.openNext(next); err != nil {
			yield(nil, err)
			return
		}
	}
}

// openNext checks what LLVM checks of a further profile in the same file.
func (r *rawReader) openNext(next int64) error {
	left := int64(len(r.data)) - next
	need := int64(16 + 8*len(rawHeaderFields(r.cur.version)))
	if left < need {
		return &profile.FormatError{
			Section: "header", Offset: next, Record: -1, Field: "data after the profile",
			Found: fmt.Sprintf("%d bytes", left), Want: fmt.Sprintf("another header of %d bytes", need),
			Err: malformed("not enough space for another header"),
		}
	}
	if next%8 != 0 {
		return fail("header", next, -1, CodeMalformed, "insufficient padding",
			"offset of the next header", fmt.Sprint(next), "a multiple of 8")
	}
	ptr, order, ok := rawMagic(r.data[next:])
	if !ok || ptr != r.cur.ptr || order != r.cur.order {
		return fail("header", next, -1, CodeBadMagic, "", "magic of the next profile",
			fmt.Sprintf("% x", r.data[next:next+8]), "the same as that of the first")
	}
	return r.open(next)
}

// profileRecords yields the records of the current profile and returns the
// offset after its value data.
func (r *rawReader) profileRecords(yield func(*Record, error) bool) (next int64, ok bool) {
	p := r.cur
	next = p.valueData
	r.at.list, r.at.name = 0, 0
	if err := r.prepare(); err != nil {
		yield(nil, err)
		return 0, false
	}
	r.rescuer.allow(p.numRecords())
	r.rescuer.silent = r.walked
	for i := range p.numRecords() {
		if r.direct != nil && r.direct(i) {
			continue
		}
		stamps := len(r.stamps)
		known, end, err := r.readRecord(i, next)
		if err != nil {
			known = false
			r.stamps = r.stamps[:stamps]
			end, err = r.rescue(i, next, err)
		}
		if err != nil {
			yield(nil, err)
			return 0, false
		}
		next = end
		if known && !yield(&r.rec, nil) {
			return 0, false
		}
	}
	if r.ended != nil {
		r.ended(next)
	}
	return next, true
}

// readRecord fills r.rec from data record i, whose value data, if it has any,
// begins at file offset off, and returns the offset after that. known is false
// for a record that has no name and is left out.
func (r *rawReader) readRecord(i int, off int64) (known bool, end int64, err error) {
	known, err = r.decodeRecord(i)
	if err == nil && r.cur.hasValueSites(r.cur.record(i)) {
		off, err = r.readValues(i, off)
	}
	if err == nil && r.opt.Rescue != RescueOff && r.cur.counterSize() == 8 {
		err = r.soundCounts(i)
	}
	return known, off, err
}

// decodeRecord fills r.rec from data record i, without value data. known is
// false for a record that has no name and is left out.
func (r *rawReader) decodeRecord(i int) (known bool, err error) {
	p, l := r.cur, &r.cur.layout
	b := p.record(i)
	off := p.records.off + int64(i*l.size)
	r.rec = Record{Hash: p.u64(b, l.hash)}
	ref := uint64(0)
	if l.nameRef >= 0 {
		ref = p.u64(b, l.nameRef)
		r.rec.Name = r.nameOf(ref)
		known = r.rec.Name != ""
	} else if r.rec.Name, known = p.plainName(b); known {
		ref = r.syms.Add(r.rec.Name)
	}
	var nameless error
	if !known {
		nameless = fail("data", off, i, CodeMalformed, "", "name reference",
			fmt.Sprintf("%#x, which no name of the file has", ref), "the reference of a listed name")
		if r.opt.Rescue == RescueOff {
			r.warn("", nameless)
			nameless = nil
		}
		known = r.opt.Lenient
	}
	r.ref = ref
	if r.rec.Name == "" {
		r.ref = 0
	}
	if err := r.readCounts(i, b, ref); err != nil {
		return false, err
	}
	if l.bitmapBytes >= 0 {
		if err := r.readBitmap(i, b); err != nil {
			return false, err
		}
	}
	return known, nameless
}

func (r *rawReader) readCounts(i int, b []byte, nameRef uint64) error {
	p, l := r.cur, &r.cur.layout
	const section = "data"
	at := p.records.off + int64(i*l.size)
	n := uint64(p.u32(b, l.numCounters))
	size := p.counterSize()
	limit := uint64(len(p.counters.data))
	if n == 0 {
		return fail(section, at+int64(l.numCounters), i, CodeMalformed, "number of counters is zero",
			"number of counters", "0", "at least 1")
	}
	start := r.sectionOffset(i, p.addr(b, l.counterPtr), p.fields[fCountersDelta], limit)
	switch {
	case int64(start) < 0 || p.ptr == 4 && start >= 1<<31:
		signed := int64(start)
		if p.ptr == 4 {
			signed = int64(int32(start))
		}
		return fail(section, at+int64(l.counterPtr), i, CodeMalformed, fmt.Sprintf("counter offset %d is negative", signed),
			"counter offset", fmt.Sprint(signed), fmt.Sprintf("0 to %d", int64(limit)-1))
	case start >= limit:
		return fail(section, at+int64(l.counterPtr), i, CodeMalformed,
			fmt.Sprintf("counter offset %d is greater than the maximum counter offset %d", start, int64(limit)-1),
			"counter offset", fmt.Sprint(start), fmt.Sprintf("at most %d", int64(limit)-1))
	case n > (limit-start)/size:
		return fail(section, at+int64(l.numCounters), i, CodeMalformed,
			fmt.Sprintf("number of counters %d is greater than the maximum number of counters %d", n, (limit-start)/size),
			"number of counters", fmt.Sprint(n), fmt.Sprintf("at most %d up to the end of the section", (limit-start)/size))
	}
	raw := p.counters.data[start : start+n*size]
	r.counts = r.counts[:0]
	if p.variant.Has(HasTemporal) {
		// The first eight bytes are the moment of the first call.
		if len(raw) < 8 {
			return fail(section, at+int64(l.numCounters), i, CodeMalformed, "number of counters is zero",
				"number of counters", fmt.Sprint(n), "at least 8, the first 8 bytes being a timestamp")
		}
		if when := p.u64(raw, 0); when != 0 && when != 1<<64-1 {
			r.stamps = append(r.stamps, timestamp{when, nameRef})
		}
		raw = raw[8:]
	}
	if size == 1 {
		for _, c := range raw {
			// 0 means executed, the initial 0xff not.
			covered := uint64(0)
			if c == 0 {
				covered = 1
			}
			r.counts = append(r.counts, covered)
		}
	} else {
		r.appendCounts(raw, i, p.counters.off+int64(start+n*size)-int64(len(raw)))
	}
	r.rec.Counts = r.counts
	return nil
}

// appendCounts decodes 8-byte counters found at file offset off.
func (r *rawReader) appendCounts(raw []byte, i int, off int64) {
	p := r.cur
	r.countsAt = off
	seen := uint64(0)
	if p.order == binary.ByteOrder(binary.LittleEndian) {
		for ; len(raw) >= 8; raw = raw[8:] {
			c := binary.LittleEndian.Uint64(raw)
			seen |= c
			r.counts = append(r.counts, c)
		}
	} else {
		for ; len(raw) >= 8; raw = raw[8:] {
			c := binary.BigEndian.Uint64(raw)
			seen |= c
			r.counts = append(r.counts, c)
		}
	}
	if seen < largeCounter || r.warned.large || r.opt.Rescue != RescueOff {
		return // with Rescue, soundCounts tells of each function
	}
	for j, c := range r.counts {
		if c > largeCounter {
			r.warned.large = true
			r.warn("", fail("counters", off+int64(8*j), i, CodeCounterValueTooLarge, fmt.Sprint(c),
				"counter of "+r.rec.Name, fmt.Sprint(c), "at most 2^56"))
			return
		}
	}
}

func (r *rawReader) readBitmap(i int, b []byte) error {
	p, l := r.cur, &r.cur.layout
	const section = "data"
	n := uint64(p.u32(b, l.bitmapBytes))
	if n == 0 {
		return nil
	}
	at := p.records.off + int64(i*l.size)
	limit := uint64(len(p.bitmap.data))
	start := r.sectionOffset(i, p.addr(b, l.bitmapPtr), p.fields[fBitmapDelta], limit)
	switch {
	case int64(start) < 0:
		return fail(section, at+int64(l.bitmapPtr), i, CodeMalformed, fmt.Sprintf("bitmap offset %d is negative", int64(start)),
			"bitmap offset", fmt.Sprint(int64(start)), fmt.Sprintf("0 to %d", int64(limit)-1))
	case start >= limit:
		return fail(section, at+int64(l.bitmapPtr), i, CodeMalformed,
			fmt.Sprintf("bitmap offset %d is greater than the maximum bitmap offset %d", start, int64(limit)-1),
			"bitmap offset", fmt.Sprint(start), fmt.Sprintf("at most %d", int64(limit)-1))
	case n > limit-start:
		return fail(section, at+int64(l.bitmapBytes), i, CodeMalformed,
			fmt.Sprintf("number of bitmap bytes %d is greater than the maximum number of bitmap bytes %d", n, limit-start),
			"number of bitmap bytes", fmt.Sprint(n), fmt.Sprintf("at most %d up to the end of the section", limit-start))
	}
	r.rec.Bitmap = p.bitmap.data[start : start+n : start+n]
	return nil
}
