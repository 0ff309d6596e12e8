package irpgo

import (
	"bytes"
	"math"
	"slices"
)

// A rawCatalog holds what all raw profiles of a binary have in common beside their records,
// and the sections that later profiles are compared with.
type rawCatalog struct {
	records, names, vnames, vtables []byte // sections of the profile that the catalog was made from

	layout  recordLayout
	addrs   addressMap
	stamps  []int32   // temporal: of each entry the offset in the counters section
	runs    []fileRun // of the counters of all entries, what is contiguous in one
	bitmaps []int32   // of each entry that has one, its offset in the section
}

func (r *rawReader) catalogKey() (key catalogKey, ok bool) {
	p := r.cur
	if p.start != 0 || p.version < 3 || p.variant.Has(device) || p.correlation != nil || p.isLightweight() ||
		len(p.counters.data) > math.MaxInt32 || len(p.bitmap.data) > math.MaxInt32 {
		return key, false
	}
	bitmapDelta := p.fields[fBitmapDelta]
	if len(p.bitmap.data) == 0 {
		bitmapDelta = 0 // without a bitmap section it varies with the load address
	}
	sample := uint64(0)
	for i, n := 0, p.numRecords(); i < n; i += 1 + n/32 {
		b := p.record(i)
		sample = mix(mix(sample, p.u64(b, p.layout.nameRef)), p.u64(b, p.layout.hash))
	}
	return catalogKey{
		format: FormatRaw, sample: sample, word: p.word, countersDelta: p.fields[fCountersDelta], bitmapDelta: bitmapDelta,
		ptr: p.ptr, bigEndian: p.bigEndian,
		records: len(p.records.data), counters: len(p.counters.data), bitmap: len(p.bitmap.data),
		names: len(p.names.data), vtables: len(p.vtables.data), vnum: len(p.vnames.data),
	}, true
}

// scan implements [catalogSource]. A profile has no catalog if it is
// damaged, if a record has no name, or if another profile follows in the file.
func (r *rawReader) scan(c *catalog, n *numbers) bool {
	p, l := r.cur, &r.cur.layout
	if r.prepare() != nil {
		return false
	}
	size, limit, bitmap := p.counterSize(), uint64(len(p.counters.data)), uint64(len(p.bitmap.data))
	stamp := uint64(0) // size of a record's timestamp, in counters
	if p.variant.Has(HasTemporal) {
		stamp = 8 / size
	}
	raw := &rawCatalog{layout: *l, addrs: r.addrs}
	r.at.list, r.at.name = 0, 0
	n.data, n.bigEndian, n.blobs = r.data, p.bigEndian, n.blobs[:0]
	c.entries = slices.Grow(c.entries, p.numRecords())
	pos := int(p.valueData)
	for i := range p.numRecords() {
		b := p.record(i)
		e := c.next()
		e.ref, e.hash = p.u64(b, l.nameRef), p.u64(b, l.hash)
		e.name = r.nameOf(e.ref)
		start, count := r.counterStart(i, b), uint64(p.u32(b, l.numCounters))
		if e.name == "" || start >= limit || count > (limit-start)/size || count < max(stamp, 1) {
			return false
		}
		e.counters = int32(count - stamp)
		if stamp > 0 {
			raw.stamps = append(raw.stamps, int32(start))
		}
		raw.addRun(fileRun{int32(start + stamp*size), e.counters}, size)
		if l.uniformPtr >= 0 && p.addr(b, l.uniformPtr) != 0 {
			return false
		}
		if l.bitmapBytes >= 0 {
			if e.bits = int32(p.u32(b, l.bitmapBytes)); e.bits != 0 {
				start := r.bitmapStart(i, b)
				if start >= bitmap || uint64(uint32(e.bits)) > bitmap-start {
					return false
				}
				raw.bitmaps = append(raw.bitmaps, int32(start))
			}
		}
		for k := range l.kinds {
			e.sites[k] = int32(p.sites(b, k))
		}
		if e.sites.any() {
			length := n.addBlob(pos, &e.sites)
			if length == 0 {
				return false
			}
			pos += length
		}
		c.count(e)
	}
	if !onlyZeros(r.data[pos:]) || uint64(c.counters) > limit/size { // the records of a hostile file share counters
		return false
	}
	if c.kept = c.kept && r.relative; c.kept {
		raw.keep(p)
		c.distinct = allDiffer(len(c.entries), func(i int) uint64 { return mix(c.entries[i].ref, c.entries[i].hash) })
	}
	c.raw = raw
	r.locate(n, raw, 0)
	return true
}

// addRun adds the counters of an entry, each of the given size in bytes.
func (c *rawCatalog) addRun(p fileRun, size uint64) {
	if k := len(c.runs) - 1; k >= 0 && int(c.runs[k].at)+int(c.runs[k].count)*int(size) == int(p.at) {
		c.runs[k].count += p.count
	} else {
		c.runs = append(c.runs, p)
	}
}

// locate sets everything in n except the offsets of the value data.
func (r *rawReader) locate(n *numbers, c *rawCatalog, slide uint64) {
	p := r.cur
	n.data, n.bigEndian, n.slide, n.mask = r.data, p.bigEndian, slide, p.addrMask()
	n.counters, n.width, n.runs = p.counters.data, int(p.counterSize()), append(n.runs[:0], c.runs...)
	n.bitmap, n.bitmaps = p.bitmap.data, append(n.bitmaps[:0], c.bitmaps...)
}

// keep copies what later profiles are compared with, because the file's bytes do not outlive its reader.
func (c *rawCatalog) keep(p *rawProfile) {
	c.records, c.names = bytes.Clone(p.records.data), bytes.Clone(p.names.data)
	c.vnames, c.vtables = bytes.Clone(p.vnames.data), bytes.Clone(p.vtables.data)
	c.addrs = addressMap{slices.Clone(c.addrs.callees), slices.Clone(c.addrs.vtables), c.addrs.ptr}
}

// matches compares a profile with the one that the catalog was made from.
func (r *rawReader) matches(c *catalog, n *numbers) bool {
	p, raw := r.cur, c.raw
	if !r.relative || p.layout != raw.layout ||
		!bytes.Equal(p.names.data, raw.names) || !bytes.Equal(p.vnames.data, raw.vnames) {
		return false
	}
	slide, ok := raw.matchRecords(p)
	if !ok || !raw.matchVTables(p, slide) {
		return false
	}
	r.locate(n, raw, slide)
	n.blobs = n.blobs[:0]
	pos := int(p.valueData)
	for i := range c.extras {
		if x := &c.extras[i]; x.sites.any() {
			size := n.addBlob(pos, &x.sites)
			if size == 0 {
				return false
			}
			pos += size
		}
	}
	return onlyZeros(r.data[pos:])
}

// matchRecords compares the data records and returns the distance between the two load addresses. Counter and
// bitmap pointers are relative, so they must be equal. Function pointers must all differ by slide, unless they are
// 0. The pointer to the values means something to the runtime only.
func (c *rawCatalog) matchRecords(p *rawProfile) (slide uint64, ok bool) {
	size, from, mask := c.layout.size, c.layout.funcPtr, p.addrMask()
	to := from + 2*p.ptr
	known := false
	if size == 64 && from == 32 && p.ptr == 8 && !p.bigEndian {
		return matchRecords64(p.records.data, c.records)
	}
	for is, was := p.records.data, c.records; len(is) >= size; is, was = is[size:], was[size:] {
		if string(is[:from]) != string(was[:from]) || string(is[to:size]) != string(was[to:size]) {
			return 0, false
		}
		switch x, y := p.addr(is, from), p.addr(was, from); {
		case x == 0 || y == 0:
			if x != y {
				return 0, false
			}
		case !known:
			slide, known = (x-y)&mask, true
		case (x-y)&mask != slide:
			return 0, false
		}
	}
	return slide, true
}

// matchRecords64 is matchRecords for the 64-byte records of 64-bit little-endian programs since LLVM 18, the most
// frequent layout. This comparison takes most of the time of adding another profile of a large program.
func matchRecords64(is, was []byte) (slide uint64, ok bool) {
	for i := 32; i < len(was); i += 64 {
		if address := le.Uint64(was[i:]); address != 0 {
			slide = le.Uint64(is[i:]) - address
			break
		}
	}
	diff := uint64(0)
	for ; len(is) >= 64 && len(was) >= 64; is, was = is[64:], was[64:] {
		a, b := (*[64]byte)(is), (*[64]byte)(was)
		diff |= (le.Uint64(a[0:]) ^ le.Uint64(b[0:])) | (le.Uint64(a[8:]) ^ le.Uint64(b[8:])) |
			(le.Uint64(a[16:]) ^ le.Uint64(b[16:])) | (le.Uint64(a[24:]) ^ le.Uint64(b[24:])) |
			(le.Uint64(a[48:]) ^ le.Uint64(b[48:])) | (le.Uint64(a[56:]) ^ le.Uint64(b[56:]))
		if x, y := le.Uint64(a[32:]), le.Uint64(b[32:]); x == 0 || y == 0 {
			diff |= x | y
		} else {
			diff |= x - y - slide
		}
	}
	return slide, diff == 0
}

// matchVTables compares the records of virtual tables: the name's hash and the
// size must be equal, the address must differ by slide.
func (c *rawCatalog) matchVTables(p *rawProfile, slide uint64) bool {
	size := vtableRecordSize(p.ptr)
	for off := 0; off < len(c.vtables); off += size {
		a, b := p.vtables.data[off:off+size], c.vtables[off:off+size]
		if !bytes.Equal(a[:8], b[:8]) || !bytes.Equal(a[8+p.ptr:12+p.ptr], b[8+p.ptr:12+p.ptr]) ||
			(p.addr(a, 8)-p.addr(b, 8))&p.addrMask() != slide {
			return false
		}
	}
	return true
}

// stampsOf returns the timestamps of a raw profile, as reading its records collects them. 0 and 2^64−1 mean that the function did not run.
func (n *numbers) stampsOf() (stamps []timestamp) {
	c := n.catalog
	if c.raw == nil {
		return nil
	}
	for i, at := range c.raw.stamps {
		if when := u64(n.counters[at:], n.bigEndian); when != 0 && when != 1<<64-1 {
			stamps = append(stamps, timestamp{when, c.entries[i].ref})
		}
	}
	return stamps
}

func onlyZeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
