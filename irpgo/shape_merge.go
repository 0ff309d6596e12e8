package irpgo

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// shapeSum adds up the profiles of one shape.
type shapeSum struct {
	shape  *shape
	first  int // index of the first input
	files  int
	counts []uint64
	bound  uint64 // no counter is above it; maxCount if they may be at their limit
	bitmap []byte
	sites  []siteSum // by function, kind and site
	places []int32   // memory of addKnown
}

// addShaped merges r the fast way and reports whether it did; if not, nothing
// has happened. All of the profile is checked before any of it is added.
func (m *Merger) addShaped(index int, r *Reader, weight uint64) (added Added, ok bool) {
	if m.opt.Rename != nil || m.plain {
		return added, false
	}
	s, p := m.findShape(r)
	if s == nil || m.opt.LLVMCompat && !s.unique {
		return added, false
	}
	sum := m.sums[s]
	if sum == nil {
		sum = &shapeSum{shape: s, first: index, counts: make([]uint64, s.counters), bitmap: make([]byte, s.bitmap), sites: make([]siteSum, s.sites)}
	}
	added.Records = len(s.functions)
	var overflow bool
	switch {
	case !s.temporal() && !s.singleByte():
		added.Count, overflow, ok = sum.addCounters(p, weight)
	case s.plausible(p):
		var stamps []timestamp
		added.Count, stamps, overflow = sum.addOthers(p, weight)
		sum.bound, ok = maxCount, true
		r.dec.(*rawReader).stamps = stamps // as a walk leaves them
	}
	if !ok {
		return Added{}, false
	}
	m.sums[s] = sum
	if overflow {
		sum.warnOverflow(m, r.Name())
	}
	sum.addBitmap(p)
	sum.addValues(m, p, weight)
	sum.files++
	m.addShapeNames(s, r, sum.files == 1)
	return added, true
}

// addShapeNames keeps the names that the caller asked for: those of the shape
// once, those that an indexed profile has beside its functions each time.
func (m *Merger) addShapeNames(s *shape, r *Reader, first bool) {
	var vtables []string
	switch {
	case s.indexed != nil:
		vtables = r.dec.vtableNames()
	case first:
		vtables = s.vtables
	}
	if m.opt.KeepVTableNames {
		for _, n := range vtables {
			m.vtables[n] = struct{}{}
		}
	}
	if m.opt.KeepSymbols {
		if first {
			s.eachSymbol(m.symbols.add)
		}
		for _, n := range vtables {
			m.symbols.learn(n)
		}
	}
}

// eachSymbol calls yield for all names that profiles of the shape know.
func (s *shape) eachSymbol(yield func(ref uint64, name string)) {
	if s.raw != nil {
		for _, l := range s.names {
			for i, ref := range l.refs {
				yield(ref, l.names[i])
			}
		}
		return
	}
	for i := range s.functions {
		yield(s.functions[i].nameRef, s.functions[i].name)
	}
}

// plausible reports whether no counter is so large that the general way has
// something to say of it. It is for raw profiles.
func (s *shape) plausible(p *shapedProfile) bool {
	if s.singleByte() {
		return true
	}
	for i := range s.functions {
		f := &s.functions[i]
		if orWords(p.order, p.counters[8*(f.counters+1):8*(f.counters+f.count)]) >= largeCounter {
			return false
		}
	}
	return true
}

func orWords(order binary.ByteOrder, b []byte) (or uint64) {
	for ; len(b) >= 8; b = b[8:] {
		or |= order.Uint64(b)
	}
	return or
}

// addCounters adds 8-byte counters; total is their unweighted sum. If one of
// them is so large that the general way has something to say of it, or takes
// it for something else than a count, nothing is added.
//
// Sums are formed without looking: what counters can have reached at most is
// known beforehand, and an addition that turns out to be too much is taken
// back.
func (sum *shapeSum) addCounters(p *shapedProfile, weight uint64) (total uint64, overflow, ok bool) {
	each := func(add func(dst []uint64, raw []byte)) {
		if p.records == nil {
			add(sum.counts, p.counters)
			return
		}
		counts := sum.counts
		for _, r := range p.records {
			add(counts[:r.count], p.data[r.at:int(r.at)+8*int(r.count)])
			counts = counts[r.count:]
		}
	}
	var or uint64
	if p.records == nil {
		or, total = addWords(sum.counts, p.counters, p.order, weight)
	} else {
		or, total = sum.addRecords(p, weight)
	}
	high, most := bits.Mul64(or, weight)
	bound, carry := bits.Add64(sum.bound, most, 0)
	fits := high == 0 && carry == 0 && bound <= maxCount
	if or >= largeCounter || !fits {
		each(func(dst []uint64, raw []byte) { addWords(dst, raw, p.order, -weight) })
		if or >= largeCounter {
			return 0, false, false
		}
	}
	if fits {
		sum.bound = bound
	} else {
		sum.bound = maxCount
		each(func(dst []uint64, raw []byte) {
			for i := range dst {
				overflow = addCount(&dst[i], p.order.Uint64(raw[8*i:]), weight) || overflow
			}
		})
	}
	if high, _ := bits.Mul64(or, uint64(len(sum.counts))); high != 0 {
		total = 0
		each(func(_ []uint64, raw []byte) {
			for ; len(raw) >= 8; raw = raw[8:] {
				total = saturate.Add(total, p.order.Uint64(raw))
			}
		})
	}
	return total, overflow, true
}

// addWords adds the counters in raw, weighted, to dst, modulo 2^64, and
// returns their bits and their unweighted sum, modulo 2^64.
func addWords(dst []uint64, raw []byte, order binary.ByteOrder, weight uint64) (or, total uint64) {
	if order == binary.ByteOrder(binary.LittleEndian) {
		return addWords64(dst, raw, weight)
	}
	for i := range dst {
		c := order.Uint64(raw[8*i:])
		dst[i] += c * weight
		or |= c
		total += c
	}
	return or, total
}

// addWords64 is addWords for little-endian counters.
func addWords64(dst []uint64, raw []byte, weight uint64) (or, total uint64) {
	for len(dst) >= 4 && len(raw) >= 32 {
		d, r := (*[4]uint64)(dst), (*[32]byte)(raw)
		a, b, c, e := le.Uint64(r[0:]), le.Uint64(r[8:]), le.Uint64(r[16:]), le.Uint64(r[24:])
		d[0] += a * weight
		d[1] += b * weight
		d[2] += c * weight
		d[3] += e * weight
		or |= a | b | c | e
		total += a + b + c + e
		dst, raw = dst[4:], raw[32:]
	}
	for i := range dst {
		c := le.Uint64(raw[8*i:])
		dst[i] += c * weight
		or |= c
		total += c
	}
	return or, total
}

// addOthers adds the counters of temporal profiles, which follow a timestamp
// in each function, and those of single-byte coverage.
func (sum *shapeSum) addOthers(p *shapedProfile, weight uint64) (total uint64, stamps []timestamp, overflow bool) {
	s := sum.shape
	skip, size := int32(s.stampEntries()), int32(8)
	if s.singleByte() {
		size = 1
	}
	for i := range s.functions {
		f := &s.functions[i]
		raw := p.counters[size*f.counters : size*(f.counters+f.count)]
		if s.temporal() {
			if when := p.order.Uint64(raw); when != 0 && when != 1<<64-1 {
				stamps = append(stamps, timestamp{when, f.nameRef})
			}
		}
		raw = raw[skip*size:]
		for j := range sum.counts[f.counters+skip : f.counters+f.count] {
			c := uint64(0)
			switch {
			case size == 8:
				c = p.order.Uint64(raw[8*j:])
			case raw[j] == 0: // executed
				c = 1
			}
			total = saturate.Add(total, c)
			overflow = addCount(&sum.counts[int(f.counters+skip)+j], c, weight) || overflow
		}
	}
	return total, stamps, overflow
}

func (sum *shapeSum) addBitmap(p *shapedProfile) {
	if p.records == nil {
		orBytes(sum.bitmap, p.bitmap)
		return
	}
	if len(sum.bitmap) == 0 {
		return
	}
	for i, r := range p.records {
		f := &sum.shape.functions[i]
		raw := p.data[int(r.at)+8*int(f.count)+8:] // after the number of bytes
		for j := range sum.bitmap[f.bitmap : f.bitmap+f.bits] {
			sum.bitmap[int(f.bitmap)+j] |= raw[8*j]
		}
	}
}

func orBytes(dst, src []byte) {
	for len(dst) >= 8 && len(src) >= 8 {
		le.PutUint64(dst, le.Uint64(dst)|le.Uint64(src))
		dst, src = dst[8:], src[8:]
	}
	for i := range dst {
		dst[i] |= src[i]
	}
}

// warnOverflow names the functions whose counters are at their limit.
func (sum *shapeSum) warnOverflow(m *Merger, file string) {
	if m.opt.Warn == nil {
		return
	}
	for i := range sum.shape.functions {
		f := &sum.shape.functions[i]
		if slices.Contains(sum.counts[f.counters:f.counters+f.count], maxCount) {
			m.warn(file, f.name, CodeCounterOverflow)
		}
	}
}

// join adds up two sums of one shape.
func (sum *shapeSum) join(o *shapeSum, m *Merger) {
	if addCounts(sum.counts, o.counts, 1) {
		sum.warnOverflow(m, "")
	}
	sum.bound = min(saturate.Add(sum.bound, o.bound), maxCount)
	orBytes(sum.bitmap, o.bitmap)
	sum.joinSites(o)
	sum.files += o.files
	sum.first = min(sum.first, o.first)
}

// eachRecord calls yield with the record of each function. What it refers to
// is the sum's memory, which may be kept; the record is used again.
func (sum *shapeSum) eachRecord(compat bool, yield func(i int, r *Record)) {
	s := sum.shape
	sites := sum.finishedSites(compat)
	var rec Record
	for i := range s.functions {
		f := &s.functions[i]
		rec = sum.record(f, sites[f.site:])
		yield(i, &rec)
	}
}

// record returns the record of a function, whose sites are the first of those
// given.
func (sum *shapeSum) record(f *shapeFunction, sites []ValueSite) Record {
	skip, end := int32(sum.shape.stampEntries()), f.counters+f.count
	rec := Record{Name: f.name, Hash: f.hash, Counts: sum.counts[f.counters+skip : end : end], Values: f.values(sites)}
	if f.bits > 0 {
		rec.Bitmap = sum.bitmap[f.bitmap : f.bitmap+f.bits : f.bitmap+f.bits]
	}
	return rec
}

// values returns the sites of a function, the first of those given, by kind.
func (f *shapeFunction) values(sites []ValueSite) (v Values) {
	for k, n := range f.sites {
		if n > 0 {
			v[k], sites = sites[:n:n], sites[n:]
		}
	}
	return v
}

// soleSum returns the only sum there is, if nothing else was merged.
func (m *Merger) soleSum() *shapeSum {
	if len(m.functions.order) > 0 || len(m.sums) != 1 {
		return nil
	}
	for s, sum := range m.sums {
		if s.unique {
			return sum
		}
	}
	return nil
}

// asFunctions turns the sum into the functions of a profile, in the sum's
// memory.
func (sum *shapeSum) asFunctions(compat bool) []Function {
	fs := sum.shape.functions
	records := make([]Record, len(fs))
	var wg sync.WaitGroup
	wg.Go(func() {
		sum.eachRecord(compat, func(i int, r *Record) {
			records[i] = *r
			for _, sites := range r.Values {
				sortValues(sites)
			}
		})
	})
	order := nameOrder(len(fs), func(i int) string { return fs[i].name })
	wg.Wait()
	pointers := make([]*Record, len(fs))
	out := make([]Function, 0, len(fs))
	for i, at := range order {
		f := &fs[at]
		pointers[i] = &records[at]
		if i > 0 && f.name == out[len(out)-1].Name { // records in the order in which they came
			last := &out[len(out)-1]
			last.Records = last.Records[:len(last.Records)+1]
			continue
		}
		out = append(out, Function{
			Name: f.name, Records: pointers[i : i+1], seq: uint64(sum.first)<<32 | uint64(at),
			refOf: f.name, ref: f.nameRef,
		})
	}
	for i := range out {
		out[i].Records = slices.Clip(out[i].Records)
	}
	return out
}

// flush turns the sums into records of the accumulator.
func (m *Merger) flush() {
	sums := slices.SortedFunc(maps.Values(m.sums), func(a, b *shapeSum) int { return cmp.Compare(a.first, b.first) })
	for _, sum := range sums {
		sum.eachRecord(m.opt.LLVMCompat, func(i int, rec *Record) {
			m.addRecord(rec, sum.shape.functions[i].nameRef, 1, uint64(sum.first)<<32|uint64(i), "")
		})
	}
	clear(m.sums)
}
