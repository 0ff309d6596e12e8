package irpgo

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// rawShape is what the raw profiles of one shape have in common.
type rawShape struct {
	records []byte // of the profile that the shape was made from
	names   []byte
	vnames  []byte
	vtables []byte
	layout  recordLayout
	ptr     int
	order   binary.ByteOrder
	addrs   addressMap
}

func rawKey(p *rawProfile) shapeKey {
	bitmapDelta := p.fields[fBitmapDelta]
	if len(p.bitmap.data) == 0 {
		bitmapDelta = 0 // the distance from nowhere: it varies with the load address
	}
	sample := uint64(0)
	for i, n := 0, p.numRecords(); i < n; i += 1 + n/32 {
		b := p.record(i)
		sample = mix(mix(sample, p.u64(b, p.layout.nameRef)), p.u64(b, p.layout.hash))
	}
	return shapeKey{
		format: FormatRaw, sample: sample, word: p.word, countersDelta: p.fields[fCountersDelta], bitmapDelta: bitmapDelta,
		ptr: p.ptr, bigEndian: p.order == binary.ByteOrder(binary.BigEndian),
		records: len(p.records.data), counters: len(p.counters.data), bitmap: len(p.bitmap.data),
		names: len(p.names.data), vtables: len(p.vtables.data), vnum: len(p.vnames.data),
	}
}

// newRawShape works out the shape of the reader's current profile, nil if it
// is not one for the fast way: counters that functions share or that belong to
// none, damage, or records without a name.
func newRawShape(key shapeKey, r *rawReader) *shape {
	p := r.cur
	if r.prepare() != nil || len(p.counters.data) > math.MaxInt32 || len(p.bitmap.data) > math.MaxInt32 {
		return nil
	}
	// What there is to warn of, the walk after this one tells.
	walked, warned := r.walked, r.warned
	r.walked = true
	defer func() { r.walked, r.warned = walked, warned }()
	size := int(p.counterSize())
	s := &shape{
		key: key, counters: len(p.counters.data) / size, bitmap: len(p.bitmap.data),
		raw: &rawShape{
			records: bytes.Clone(p.records.data), names: bytes.Clone(p.names.data),
			vnames: bytes.Clone(p.vnames.data), vtables: bytes.Clone(p.vtables.data),
			layout: p.layout, ptr: p.ptr, order: p.order,
			addrs: addressMap{slices.Clone(r.addrs.callees), slices.Clone(r.addrs.vtables)},
		},
		functions: make([]shapeFunction, 0, p.numRecords()),
		names:     slices.Clone(r.lists), vtables: slices.Clone(r.vnames),
	}
	for i := range p.numRecords() {
		b := p.record(i)
		known, err := r.decodeRecord(i)
		if err != nil || !known || r.rec.Name == "" {
			return nil
		}
		start := r.counterStart(i, b)
		if start%uint64(size) != 0 {
			return nil
		}
		f := shapeFunction{
			name: r.rec.Name, nameRef: p.u64(b, p.layout.nameRef), hash: r.rec.Hash,
			counters: int32(start) / int32(size), count: int32(p.u32(b, p.layout.numCounters)),
		}
		if p.layout.bitmapBytes >= 0 {
			if f.bits = int32(p.u32(b, p.layout.bitmapBytes)); f.bits > 0 {
				f.bitmap = int32(r.bitmapStart(i, b))
			}
		}
		for k := range p.layout.kinds {
			f.sites[k] = int32(p.sites(b, k))
		}
		s.functions = append(s.functions, f)
	}
	type id struct{ nameRef, hash uint64 }
	ids := make(map[id]struct{}, len(s.functions))
	for i := range s.functions {
		ids[id{s.functions[i].nameRef, s.functions[i].hash}] = struct{}{}
	}
	s.unique = len(ids) == len(s.functions)
	return s.finish()
}

// matchRaw reports whether the reader's profile, whose key is that of the
// shape, has the shape and is all there is in the file.
func (s *shape) matchRaw(r *rawReader, to *shapedProfile) bool {
	p, raw := r.cur, s.raw
	if !r.relative || p.layout != raw.layout ||
		!bytes.Equal(p.names.data, raw.names) || !bytes.Equal(p.vnames.data, raw.vnames) {
		return false
	}
	slide, ok := raw.matchRecords(p)
	if !ok || !raw.matchVTables(p, slide) {
		return false
	}
	to.data, to.order, to.slide, to.mask = r.data, p.order, slide, p.addrMask()
	to.counters, to.bitmap, to.records = p.counters.data, p.bitmap.data, nil
	end, ok := s.matchBlobs(to, int(p.valueData))
	return ok && onlyZeros(r.data[end:])
}

// matchRecords compares the data records. Counter and bitmap pointers are
// distances, so they stay the same; only the function's address moves, and the
// runtime's pointer to its values means nothing.
func (s *rawShape) matchRecords(p *rawProfile) (slide uint64, ok bool) {
	l := &s.layout
	if l.size == modernRecord && l.funcPtr == modernFuncPtr && s.ptr == 8 && s.order == binary.ByteOrder(binary.LittleEndian) {
		return matchModern(p.records.data, s.records)
	}
	addrEnd := l.funcPtr + 2*s.ptr
	mask := p.addrMask()
	known := false
	for i := range p.numRecords() {
		a, b := p.record(i), s.records[i*l.size:(i+1)*l.size]
		if !bytes.Equal(a[:l.funcPtr], b[:l.funcPtr]) || !bytes.Equal(a[addrEnd:], b[addrEnd:]) {
			return 0, false
		}
		is, was := p.addr(a, l.funcPtr), p.addr(b, l.funcPtr)
		if (was == 0) != (is == 0) {
			return 0, false
		}
		if was == 0 {
			continue
		}
		if !known {
			slide, known = (is-was)&mask, true
		}
		if (is-was)&mask != slide {
			return 0, false
		}
	}
	return slide, true
}

func (s *rawShape) matchVTables(p *rawProfile, slide uint64) bool {
	size := vtableRecordSize(s.ptr)
	for off := 0; off < len(s.vtables); off += size {
		a, b := p.vtables.data[off:off+size], s.vtables[off:off+size]
		if !bytes.Equal(a[:8], b[:8]) || !bytes.Equal(a[8+s.ptr:12+s.ptr], b[8+s.ptr:12+s.ptr]) ||
			(p.addr(a, 8)-p.addr(b, 8))&p.addrMask() != slide {
			return false
		}
	}
	return true
}

func onlyZeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
