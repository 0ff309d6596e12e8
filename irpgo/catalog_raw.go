package irpgo

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// rawCatalog is what later raw profiles of a binary are compared with. The
// entries' counts index the counters section, in counters; their bitmap is a
// byte offset in the bitmap section.
type rawCatalog struct {
	records []byte // the sections of the profile that the catalog was made from
	names   []byte
	vnames  []byte
	vtables []byte
	layout  recordLayout
	addrs   addressMap

	temporal, singleByte bool
	lists                []*nameList // names of functions
	vtableNames          []string
}

func (r *rawReader) catalogKey() (key catalogKey, ok bool) {
	p := r.cur
	if p.start != 0 || p.version < 3 || p.correlation != nil || p.isLightweight() ||
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
		ptr: p.ptr, bigEndian: p.order == binary.ByteOrder(binary.BigEndian),
		records: len(p.records.data), counters: len(p.counters.data), bitmap: len(p.bitmap.data),
		names: len(p.names.data), vtables: len(p.vtables.data), vnum: len(p.vnames.data),
	}, true
}

// catalogue implements [catalogSource]. A profile has no catalog if it is
// damaged, if a record has no name, or if another profile follows in the file.
func (r *rawReader) catalogue(c *catalog, n *numbers) bool {
	p, l := r.cur, &r.cur.layout
	if r.prepare() != nil {
		return false
	}
	r.locate(n, 0)
	r.at.list, r.at.name = 0, 0
	size, limit, bitmap := p.counterSize(), uint64(len(p.counters.data)), uint64(len(p.bitmap.data))
	stamp := uint64(0) // size of a record's timestamp, in counters
	if p.variant.Has(HasTemporal) {
		stamp = 8 / size
	}
	c.entries = slices.Grow(c.entries, p.numRecords())
	pos := int(p.valueData)
	for i := range p.numRecords() {
		b := p.record(i)
		e := c.next()
		e.ref, e.hash = p.u64(b, l.nameRef), p.u64(b, l.hash)
		e.name = r.nameOf(e.ref)
		start, count := r.counterStart(i, b), uint64(p.u32(b, l.numCounters))
		if e.name == "" || start%size != 0 || start >= limit || count > (limit-start)/size || count < max(stamp, 1) {
			return false
		}
		e.counts, e.counters = int(start/size+stamp), int32(count-stamp)
		if l.bitmapBytes >= 0 {
			if bits := uint64(p.u32(b, l.bitmapBytes)); bits > 0 {
				start := r.bitmapStart(i, b)
				if start >= bitmap || bits > bitmap-start {
					return false
				}
				e.bitmap, e.bits = int(start), int32(bits)
			}
		}
		for k := range l.kinds {
			e.sites[k] = int32(p.sites(b, k))
		}
		if e.sites.any() {
			length, ok := e.sites.match(p.order, r.data[pos:])
			if !ok {
				return false
			}
			n.blobs = append(n.blobs, pos)
			pos += length
		}
		c.count(e)
	}
	if !onlyZeros(r.data[pos:]) {
		return false
	}
	c.raw = &rawCatalog{
		layout: *l, addrs: r.addrs, temporal: stamp > 0, singleByte: size == 1, lists: r.lists, vtableNames: r.vnames,
	}
	if c.kept = c.kept && r.relative; c.kept {
		c.raw.keep(p)
	}
	return true
}

// locate sets the sections of n; the caller adds the offsets of the value data.
func (r *rawReader) locate(n *numbers, slide uint64) {
	p := r.cur
	n.data, n.order, n.slide, n.mask = r.data, p.order, slide, p.addrMask()
	n.counters, n.bitmap = p.counters.data, p.bitmap.data
	n.places, n.blobs = n.places[:0], n.blobs[:0]
}

// keep copies what later profiles are compared with, because the file's bytes
// do not outlive its reader.
func (c *rawCatalog) keep(p *rawProfile) {
	c.records, c.names = bytes.Clone(p.records.data), bytes.Clone(p.names.data)
	c.vnames, c.vtables = bytes.Clone(p.vnames.data), bytes.Clone(p.vtables.data)
	c.addrs = addressMap{slices.Clone(c.addrs.callees), slices.Clone(c.addrs.vtables), true}
	c.lists, c.vtableNames = slices.Clone(c.lists), slices.Clone(c.vtableNames)
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
	r.locate(n, slide)
	pos := int(p.valueData)
	for i := range c.valued {
		size, ok := c.valued[i].sites.match(n.order, r.data[pos:])
		if !ok {
			return false
		}
		n.blobs = append(n.blobs, pos)
		pos += size
	}
	return onlyZeros(r.data[pos:])
}

// matchRecords compares the data records and returns the distance between the
// two load addresses. Counter and bitmap pointers are relative, so they must be
// equal. Function pointers must all differ by slide, unless they are 0. The
// pointer to the values means something to the runtime only.
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

// matchRecords64 is matchRecords for the 64-byte records of 64-bit little-endian
// programs since LLVM 18, the most frequent layout. This comparison takes most
// of the time of adding another profile of a large program.
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

// stampsOf returns the timestamps of a raw profile, the same that reading its
// records collects. A timestamp precedes the counters of its record; 0 and
// 2^64−1 mean that the function did not run.
func (n *numbers) stampsOf() (stamps []timestamp) {
	c := n.catalog
	if c.raw == nil || !c.raw.temporal {
		return nil
	}
	for i := range c.entries {
		e := &c.entries[i]
		at := 8*e.counts - 8
		if c.raw.singleByte {
			at = e.counts - 8
		}
		if when := n.order.Uint64(n.counters[at:]); when != 0 && when != 1<<64-1 {
			stamps = append(stamps, timestamp{when, e.ref})
		}
	}
	return stamps
}

// eachSymbol calls yield for every function name in the profiles of the
// catalog, including names without a record.
func (c *catalog) eachSymbol(yield func(ref uint64, name string)) {
	if c.raw == nil {
		for i := range c.entries {
			yield(c.entries[i].ref, c.entries[i].name)
		}
		return
	}
	for _, l := range c.raw.lists {
		for i, ref := range l.refs {
			yield(ref, l.names[i])
		}
	}
}

// match reports whether b begins with value data for exactly these numbers of
// sites, and its size in bytes.
func (s *siteCounts) match(order binary.ByteOrder, b []byte) (size int, ok bool) {
	if len(b) < valueDataHeader {
		return 0, false
	}
	kinds := uint32(0)
	for _, sites := range s {
		if sites > 0 {
			kinds++
		}
	}
	total := order.Uint32(b)
	if total%8 != 0 || uint64(total) > uint64(len(b)) || total < valueDataHeader || order.Uint32(b[4:]) != kinds {
		return 0, false
	}
	b = b[valueDataHeader:total]
	for k, n := range s {
		if n == 0 {
			continue
		}
		head := valueKindHeader + (int(n)+7)&^7
		if len(b) < head || order.Uint32(b) != uint32(k) || order.Uint32(b[4:]) != uint32(n) {
			return 0, false
		}
		for _, values := range b[valueKindHeader : valueKindHeader+n] {
			head += int(values) * valueDataPair
		}
		if len(b) < head {
			return 0, false
		}
		b = b[head:]
	}
	return int(total), len(b) == 0
}

func onlyZeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
