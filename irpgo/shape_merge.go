package irpgo

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
)

// shapeSum adds up the profiles of one shape.
type shapeSum struct {
	shape  *shape
	first  int // index of the first input
	files  int
	counts []uint64
	bitmap []byte
	sites  []ValueSite // by function, kind and site
}

// shapeScratch is memory that merging one profile of a shape needs.
type shapeScratch struct {
	lengths []uint8 // values per site, by function, kind and site
	data    []ValueData
}

// addShaped merges r the fast way and reports whether it did; if not, nothing
// has happened. All of the profile is checked before any of it is added.
func (m *Merger) addShaped(index int, r *Reader, weight uint64) (added Added, traces []Trace, ok bool) {
	raw, isRaw := r.dec.(*rawReader)
	if !isRaw || m.opt.Rename != nil || m.plain || raw.cur.start != 0 || raw.cur.version < 8 || raw.cur.isLightweight() {
		return added, nil, false
	}
	p := raw.cur
	s, slide := m.findShape(raw)
	if s == nil || m.opt.LLVMCompat && !s.unique {
		return added, nil, false
	}
	end, ok := s.readValues(raw, slide, &m.scratch)
	if !ok || !onlyZeros(raw.data[end:]) || !s.plausible(p) {
		return added, nil, false
	}
	sum := m.sums[s]
	if sum == nil {
		sum = &shapeSum{
			shape: s, first: index, counts: make([]uint64, s.counters()),
			bitmap: make([]byte, len(p.bitmap.data)), sites: make([]ValueSite, s.sites),
		}
		m.sums[s] = sum
		if m.opt.KeepVTableNames {
			for _, n := range s.known {
				m.vtables[n] = struct{}{}
			}
		}
		if m.opt.KeepSymbols {
			for ref, n := range s.symbols.names {
				m.symbols.add(ref, n)
			}
		}
	}
	added.Records = len(s.functions)
	var overflow bool
	if s.temporal() {
		added.Count, traces, overflow = sum.addTemporal(p, weight)
	} else {
		added.Count, overflow = addSection(sum.counts, p, p.counters.data, weight)
	}
	if overflow {
		sum.warnOverflow(m, r.Name())
	}
	for i, b := range p.bitmap.data {
		sum.bitmap[i] |= b
	}
	sum.addValues(m, &m.scratch, weight)
	sum.files++
	return added, traces, true
}

// findShape returns the shape of the reader's profile and its slide, nil if it
// has to go the general way.
func (m *Merger) findShape(raw *rawReader) (*shape, uint64) {
	key := keyOf(raw.cur)
	shapes, create := m.shapes.candidates(key, m.opt.LLVMCompat)
	for _, s := range shapes {
		if m.opt.LLVMCompat && len(m.sums) > 0 && m.sums[s] == nil {
			continue // another shape: see compatible
		}
		if slide, ok := s.match(raw.cur, raw.relative); ok {
			return s, slide
		}
	}
	if !create || m.opt.LLVMCompat && len(m.sums) > 0 {
		return nil, 0
	}
	s := newShape(raw)
	if s == nil {
		return nil, 0
	}
	s = m.shapes.add(s)
	slide, ok := s.match(raw.cur, raw.relative)
	if !ok {
		return nil, 0
	}
	return s, slide
}

func onlyZeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (s *shape) temporal() bool   { return Variant(s.key.word).Has(HasTemporal) }
func (s *shape) singleByte() bool { return Variant(s.key.word).Has(SingleByte) }

// stampEntries is the number of counter entries that a function's timestamp
// takes, 0 without one.
func (s *shape) stampEntries() int {
	switch {
	case !s.temporal():
		return 0
	case s.singleByte():
		return 8
	}
	return 1
}

// counters is the number of entries of the counter section.
func (s *shape) counters() int {
	if s.singleByte() {
		return s.key.counters
	}
	return s.key.counters / 8
}

// plausible reports whether no counter is so large that the general way has
// something to say of it.
func (s *shape) plausible(p *rawProfile) bool {
	if s.singleByte() {
		return true
	}
	if !s.temporal() {
		return orWords(p.order, p.counters.data) < largeCounter
	}
	for i := range s.functions {
		f := &s.functions[i]
		if orWords(p.order, p.counters.data[8*(f.counters+1):8*(f.counters+f.count)]) >= largeCounter {
			return false
		}
	}
	return true
}

func orWords(order binary.ByteOrder, b []byte) (or uint64) {
	if order == binary.ByteOrder(binary.LittleEndian) {
		for ; len(b) >= 32; b = b[32:] {
			or |= le.Uint64(b) | le.Uint64(b[8:]) | le.Uint64(b[16:]) | le.Uint64(b[24:])
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		or |= order.Uint64(b)
	}
	return or
}

// addSection adds the counters in raw, weighted, to dst, saturating at 2^64−3;
// total is their unweighted sum.
func addSection(dst []uint64, p *rawProfile, raw []byte, weight uint64) (total uint64, overflow bool) {
	if p.variant.Has(SingleByte) {
		for i, c := range raw {
			if c == 0 {
				total++
				overflow = addCount(&dst[i], 1, weight) || overflow
			}
		}
		return total, overflow
	}
	dst = dst[:len(raw)/8]
	if weight == 1 && p.order == binary.ByteOrder(binary.LittleEndian) {
		high := uint64(0)
		for i := range dst {
			c := le.Uint64(raw[8*i : 8*i+8])
			sum, carry := bits.Add64(dst[i], c, 0)
			if carry != 0 || sum > maxCount {
				sum, overflow = maxCount, true
			}
			dst[i] = sum
			total, carry = bits.Add64(total, c, 0)
			high += carry
		}
		if high != 0 {
			total = 1<<64 - 1
		}
		return total, overflow
	}
	for i := range dst {
		c := p.order.Uint64(raw[8*i:])
		overflow = addCount(&dst[i], c, weight) || overflow
		total = addSaturating(total, c)
	}
	return total, overflow
}

// addCount adds weight·c to a counter and reports whether it saturated.
func addCount(dst *uint64, c, weight uint64) bool {
	hi, lo := bits.Mul64(c, weight)
	sum, carry := bits.Add64(*dst, lo, 0)
	if hi != 0 || carry != 0 || sum > maxCount {
		*dst = maxCount
		return true
	}
	*dst = sum
	return false
}

// addTemporal is addSection for counters that follow a timestamp in each
// function.
func (sum *shapeSum) addTemporal(p *rawProfile, weight uint64) (total uint64, traces []Trace, overflow bool) {
	s := sum.shape
	size := int(p.counterSize())
	var stamps []timestamp
	for i := range s.functions {
		f := &s.functions[i]
		raw := p.counters.data[size*f.counters : size*(f.counters+f.count)]
		if when := p.u64(raw, 0); when != 0 && when != 1<<64-1 {
			stamps = append(stamps, timestamp{when, f.nameRef})
		}
		t, o := addSection(sum.counts[f.counters+s.stampEntries():f.counters+f.count], p, raw[8:], weight)
		total, overflow = addSaturating(total, t), overflow || o
	}
	return total, traceOf(stamps), overflow
}

// warnOverflow names the functions whose counters are at their limit.
func (sum *shapeSum) warnOverflow(m *Merger, file string) {
	if m.opt.Warn == nil {
		return
	}
	for i := range sum.shape.functions {
		f := &sum.shape.functions[i]
		for _, c := range sum.counts[f.counters : f.counters+f.count] {
			if c == maxCount {
				m.opt.Warn(Warning{File: file, Function: f.name, Err: &InstrError{Code: CodeCounterOverflow}})
				break
			}
		}
	}
}

// readValues decodes all value data of a profile into the scratch memory,
// values translated to name references, and returns where it ends. Whatever
// is not exactly as announced is left to the general way.
func (s *shape) readValues(r *rawReader, slide uint64, scratch *shapeScratch) (end int64, ok bool) {
	p := r.cur
	scratch.lengths, scratch.data = scratch.lengths[:0], scratch.data[:0]
	pos := p.valueData
	for i := range s.functions {
		f := &s.functions[i]
		kinds := uint32(0)
		for _, n := range f.sites {
			if n > 0 {
				kinds++
			}
		}
		if kinds == 0 {
			continue
		}
		b := r.data[pos:]
		if len(b) < valueDataHeader {
			return 0, false
		}
		total := p.u32(b, 0)
		if total%8 != 0 || uint64(total) > uint64(len(b)) || total < valueDataHeader || p.u32(b, 4) != kinds {
			return 0, false
		}
		if !s.readBlob(p, f, b[valueDataHeader:total], slide, scratch) {
			return 0, false
		}
		pos += int64(total)
	}
	return pos, true
}

func (s *shape) readBlob(p *rawProfile, f *shapeFunction, b []byte, slide uint64, scratch *shapeScratch) bool {
	for k, n := range f.sites {
		if n == 0 {
			continue
		}
		head := valueKindHeader + (n+7)&^7
		if len(b) < head || p.u32(b, 0) != uint32(k) || p.u32(b, 4) != uint32(n) {
			return false
		}
		lengths := b[valueKindHeader : valueKindHeader+n]
		b = b[head:]
		values := 0
		for _, l := range lengths {
			values += int(l)
		}
		if len(b) < values*valueDataPair {
			return false
		}
		scratch.lengths = append(scratch.lengths, lengths...)
		for j := range values {
			v := ValueData{p.u64(b, j*valueDataPair), p.u64(b, j*valueDataPair+8)}
			switch ValueKind(k) {
			case IndirectCallTarget:
				v.Value = s.addrs.callee(s.home(p, v.Value, slide))
			case VTableTarget:
				v.Value = s.addrs.vtable(s.home(p, v.Value, slide))
			}
			scratch.data = append(scratch.data, v)
		}
		b = b[values*valueDataPair:]
	}
	return len(b) == 0
}

// home is where an address would be in the profile that the shape was made
// from; an address wider than the target's stays what it is, unknown.
func (s *shape) home(p *rawProfile, addr, slide uint64) uint64 {
	if addr > p.addrMask() {
		return addr
	}
	return (addr - slide) & p.addrMask()
}

// addValues merges the scratch memory's values site by site, in the way of
// the general merge.
func (sum *shapeSum) addValues(m *Merger, scratch *shapeScratch, weight uint64) {
	data := scratch.data
	for i, n := range scratch.lengths {
		src := ValueSite(data[:n:n])
		data = data[n:]
		if sum.files == 0 {
			sum.sites[i] = scaled(src, weight)
		} else if len(src) > 0 || len(sum.sites[i]) > 0 {
			sum.sites[i], _ = mergeSite(sum.sites[i], src, weight, m.opt.LLVMCompat)
		}
		if m.opt.LLVMCompat {
			sum.sites[i] = byCount(sum.sites[i])
		}
	}
}

// scaled copies a site, its counts multiplied.
func scaled(src ValueSite, weight uint64) ValueSite {
	if len(src) == 0 {
		return nil
	}
	out := make(ValueSite, len(src))
	for i, v := range src {
		hi, lo := bits.Mul64(v.Count, weight)
		if hi != 0 {
			lo = 1<<64 - 1
		}
		out[i] = ValueData{v.Value, lo}
	}
	return out
}

// join adds up two sums of one shape.
func (sum *shapeSum) join(o *shapeSum, m *Merger) {
	overflow := addCounts(sum.counts, o.counts, 1)
	if overflow {
		sum.warnOverflow(m, "")
	}
	for i, b := range o.bitmap {
		sum.bitmap[i] |= b
	}
	for i, src := range o.sites {
		sum.sites[i], _ = mergeSite(sum.sites[i], src, 1, false)
	}
	sum.files += o.files
	sum.first = min(sum.first, o.first)
}

// flush turns the sums into records of the accumulator.
func (m *Merger) flush() {
	sums := slices.SortedFunc(maps.Values(m.sums), func(a, b *shapeSum) int { return cmp.Compare(a.first, b.first) })
	for _, sum := range sums {
		skip := sum.shape.stampEntries()
		sites := sum.sites
		for i := range sum.shape.functions {
			f := &sum.shape.functions[i]
			rec := Record{Name: f.name, Hash: f.hash, Counts: sum.counts[f.counters+skip : f.counters+f.count]}
			if f.bits > 0 {
				rec.Bitmap = sum.bitmap[f.bitmap : f.bitmap+f.bits]
			}
			for k, n := range f.sites {
				if n > 0 {
					rec.Values[k], sites = sites[:n:n], sites[n:]
				}
			}
			m.addRecord(&rec, 1, uint64(sum.first)<<32|uint64(i), "")
		}
	}
	clear(m.sums)
}
