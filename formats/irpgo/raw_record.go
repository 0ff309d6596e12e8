package irpgo

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// u64 and u32 read a number that the caller knows to be inside b.
func u64(b []byte, bigEndian bool) uint64 {
	if bigEndian {
		return binary.BigEndian.Uint64(b)
	}
	return le.Uint64(b)
}

func u32(b []byte, bigEndian bool) uint32 {
	if bigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return le.Uint32(b)
}

func (p *rawProfile) u64(b []byte, off int) uint64 { return u64(b[off:], p.bigEndian) }
func (p *rawProfile) u32(b []byte, off int) uint32 { return u32(b[off:], p.bigEndian) }

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

func (p *rawProfile) recordOffset(i int) int64 { return p.records.off + int64(i*p.layout.size) }

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

// plainName returns the name that a v1 or v2 record points to. Some producers of
// v1 count the NUL at the end of the C string, which is not part of the name.
func (p *rawProfile) plainName(b []byte) (string, bool) {
	off := (p.addr(b, p.layout.namePtr) - p.fields[fNamesDelta]) & p.addrMask()
	n := uint64(p.u32(b, p.layout.nameSize))
	if size := uint64(len(p.names.data)); off > size || n > size-off {
		return "", false
	}
	return strings.TrimSuffix(string(p.names.data[off:off+n]), "\x00"), true
}

// sites returns how many value sites of a kind a record has.
func (p *rawProfile) sites(b []byte, kind int) int {
	if b = b[p.layout.valueSites+2*kind:]; p.bigEndian {
		return int(binary.BigEndian.Uint16(b))
	}
	return int(le.Uint16(b))
}

// hasValueSites reports whether a blob of value data belongs to the record.
func (p *rawProfile) hasValueSites(b []byte) bool {
	for k := range p.layout.kinds {
		if p.sites(b, k) != 0 {
			return true
		}
	}
	return false
}

// maxShared is how often the functions of a profile may have each byte of their counters
// and bitmaps, on average. Linkers that keep two records of one function make 2 of it.
const maxShared = 16

// refuseSharing returns an error if the records share so many counters that a small file
// stands for a giant profile.
func (p *rawProfile) refuseSharing() error {
	var counters, bitmap uint64
	size := p.counterSize()
	for i := range p.numRecords() {
		b := p.record(i)
		// More than the section has is an error of the record.
		counters += min(size*uint64(p.u32(b, p.layout.numCounters)), uint64(len(p.counters.data)))
		if p.layout.bitmapBytes >= 0 {
			bitmap += min(uint64(p.u32(b, p.layout.bitmapBytes)), uint64(len(p.bitmap.data)))
		}
	}
	if err := refuseShared("counters", p.counters, counters); err != nil {
		return err
	}
	return refuseShared("bitmap", p.bitmap, bitmap)
}

// refuseShared returns an error if functions have too many bytes, used, of a section.
func refuseShared(section string, s rawSection, used uint64) error {
	if used/maxShared <= uint64(len(s.data)) {
		return nil
	}
	return flaw.At(section, s.off).Field("size for all functions together").Gotf("%d bytes", used).
		Wantf("at most %d times the %d that are there", maxShared, len(s.data)).Corrupt()
}

func (p *rawProfile) addrMask() uint64 {
	if p.ptr == 4 {
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// looksRelative recognises the v7 profiles that compilers between the bumps to 7 and 8 made: relative pointers
// under the older number. Record 0 has the same offset under both rules, record 1 decides.
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

// sectionOffset turns record i's pointer into an offset in its section. Versions before 8 store addresses; since 8
// both pointer and delta are distances, the pointer's from its own record. All arithmetic is modulo the pointer
// width: 32-bit files hold negative distances zero-extended.
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

// counterStart returns where in their section the counters of record i begin, as it says.
func (r *rawReader) counterStart(i int, b []byte) uint64 {
	p := r.cur
	return r.sectionOffset(i, p.addr(b, p.layout.counterPtr), p.fields[fCountersDelta], uint64(len(p.counters.data)))
}

// bitmapStart is counterStart for the bitmap.
func (r *rawReader) bitmapStart(i int, b []byte) uint64 {
	p := r.cur
	return r.sectionOffset(i, p.addr(b, p.layout.bitmapPtr), p.fields[fBitmapDelta], uint64(len(p.bitmap.data)))
}

// largeCounter is where LLVM begins to doubt a counter: no run counts to 2^56.
const largeCounter = 1 << 56

// decodeRecord fills r.rec from data record i, without value data. known is
// false for a record that has no name and is left out.
func (r *rawReader) decodeRecord(i int) (known bool, err error) {
	p, l := r.cur, &r.cur.layout
	b := p.record(i)
	r.rec = Record{Hash: p.u64(b, l.hash)}
	ref := uint64(0)
	if l.nameRef >= 0 {
		ref = p.u64(b, l.nameRef)
		r.rec.Name = r.nameOf(ref)
		known = r.rec.Name != ""
	} else if r.rec.Name, known = p.plainName(b); known {
		ref = r.syms.learn(r.rec.Name)
	}
	r.nameless = nil
	if !known {
		r.nameless = flaw.At("data", p.recordOffset(i)).InRecord(i).Field("name reference").
			Gotf("%#x, which no name of the file has", ref).Want("the reference of a listed name").
			Because(&llvmerr.Error{Code: llvmerr.Malformed})
		if !r.opt.Rescue {
			r.warn("", r.nameless)
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
	if l.uniformPtr >= 0 {
		if err := r.readUniform(i, b); err != nil {
			return false, err
		}
	}
	if r.opt.Rescue {
		return known, r.nameless
	}
	return known, nil
}

// A rawSpan is the part of a section that a record claims: n items of the given size from an offset, negative if the
// record says so.
type rawSpan struct {
	kind, items        string // "counter", "counters"
	start              int64
	n, size            uint64
	section            []byte
	startField, nField int // offsets in the record
}

// spanError returns the error about a span that is not in its section.
func (p *rawProfile) spanError(i int, s rawSpan) error {
	at := func(field int) flaw.Position { return flaw.At("data", p.recordOffset(i)+int64(field)).InRecord(i) }
	limit := int64(len(s.section))
	fail := func(words string) error {
		return at(s.startField).Field(s.kind + " offset").Got(s.start).Want(offsetsOf(s.kind+"s", uint64(limit))).Because(malformed(words))
	}
	switch {
	case s.start < 0:
		return fail(fmt.Sprintf("%s offset %d is negative", s.kind, s.start))
	case s.start >= limit:
		return fail(fmt.Sprintf("%s offset %d is greater than the maximum %s offset %d", s.kind, s.start, s.kind, limit-1))
	}
	most := uint64(limit-s.start) / s.size
	return at(s.nField).Field("number of "+s.items).Got(s.n).Wantf("at most %d up to the end of the section", most).
		Because(malformed(fmt.Sprintf("number of %s %d is greater than the maximum number of %s %d", s.items, s.n, s.items, most)))
}

func (r *rawReader) readCounts(i int, b []byte, nameRef uint64) error {
	p, l := r.cur, &r.cur.layout
	n, size := uint64(p.u32(b, l.numCounters)), p.counterSize()
	tooFew := func(got uint64, want string) error {
		return flaw.At("data", p.recordOffset(i)+int64(l.numCounters)).InRecord(i).Field("number of counters").Got(got).
			Want(want).Because(malformed("number of counters is zero"))
	}
	if n == 0 {
		return tooFew(0, "at least 1")
	}
	start := r.counterStart(i, b)
	signed := int64(start)
	if p.ptr == 4 {
		signed = int64(int32(start))
	}
	if limit := uint64(len(p.counters.data)); signed < 0 || start >= limit || n > (limit-start)/size {
		return p.spanError(i, rawSpan{
			kind: "counter", items: "counters", start: signed, n: n, size: size, section: p.counters.data,
			startField: l.counterPtr, nField: l.numCounters,
		})
	}
	raw := p.counters.data[start : start+n*size]
	r.counts = r.counts[:0]
	if p.variant.Has(HasTemporal) {
		// The first eight bytes are the moment of the first call.
		if len(raw) < 8 {
			return tooFew(n, "at least 8, the first 8 bytes being a timestamp")
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
	if seen < largeCounter || r.warned.large || r.opt.Rescue {
		return // with Rescue, soundCounts tells of each function
	}
	for j, c := range r.counts {
		if c > largeCounter {
			r.warned.large = true
			r.warn("", flaw.At("counters", off+int64(8*j)).InRecord(i).Field("counter of "+r.rec.Name).Got(c).
				Want("at most 2^56").
				Because(&llvmerr.Error{Code: llvmerr.CounterValueTooLarge, Detail: fmt.Sprint(c)}))
			return
		}
	}
}

// offsetsOf says which offsets lie in a section of that many bytes.
func offsetsOf(section string, size uint64) string {
	if size == 0 {
		return "none: the file has no " + section
	}
	return fmt.Sprintf("0 to %d", size-1)
}

// readUniform reads the uniform counters of record i, as many as it has counters. A pointer of 0 means none.
func (r *rawReader) readUniform(i int, b []byte) error {
	p, l := r.cur, &r.cur.layout
	r.device = nil
	ptr := p.addr(b, l.uniformPtr)
	if ptr == 0 {
		return nil
	}
	n, limit := uint64(p.u32(b, l.numCounters)), uint64(len(p.uniform.data))
	start := r.sectionOffset(i, ptr, p.fields[fUniformDelta], limit)
	signed := int64(start)
	if p.ptr == 4 {
		signed = int64(int32(start))
	}
	if signed < 0 || start >= limit || n > (limit-start)/8 {
		return p.spanError(i, rawSpan{
			kind: "uniform counter", items: "uniform counters", start: signed, n: n, size: 8, section: p.uniform.data,
			startField: l.uniformPtr, nField: l.numCounters,
		})
	}
	if n != uint64(len(r.rec.Counts)) { // one counter is a timestamp: LLVM makes no bits
		return nil
	}
	d := &deviceSum{total: r.rec.Counts}
	for raw := p.uniform.data[start : start+8*n]; len(raw) > 0; raw = raw[8:] {
		d.uniform = append(d.uniform, p.u64(raw, 0))
	}
	r.device, r.rec.Uniformity = d, d.uniformity()
	return nil
}

func (r *rawReader) readBitmap(i int, b []byte) error {
	p, l := r.cur, &r.cur.layout
	n := uint64(p.u32(b, l.bitmapBytes))
	if n == 0 {
		return nil
	}
	start := r.bitmapStart(i, b)
	if limit := uint64(len(p.bitmap.data)); start >= limit || n > limit-start {
		return p.spanError(i, rawSpan{
			kind: "bitmap", items: "bitmap bytes", start: int64(start), n: n, size: 1, section: p.bitmap.data,
			startField: l.bitmapPtr, nField: l.bitmapBytes,
		})
	}
	r.rec.Bitmap = p.bitmap.data[start : start+n : start+n]
	return nil
}
