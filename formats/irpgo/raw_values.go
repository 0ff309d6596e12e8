package irpgo

import (
	"cmp"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// addressRef says which function begins at an address.
type addressRef struct{ addr, nameRef uint64 }

// vtableRange says which vtable covers the addresses from start to end-1.
type vtableRange struct{ start, end, nameRef uint64 }

// addressMap translates profiled addresses to name references.
type addressMap struct {
	callees []addressRef  // by address
	vtables []vtableRange // by start
	ptr     int           // bytes of an address
}

// mapAddresses prepares the translation for the current profile.
func (r *rawReader) mapAddresses() {
	p, m := r.cur, &r.addrs
	m.callees, m.vtables, m.ptr = m.callees[:0], m.vtables[:0], p.ptr
	if p.layout.funcPtr < 0 || p.layout.kinds == 0 {
		return
	}
	m.callees = slices.Grow(m.callees, p.numRecords())
	sites := false
	for i := range p.numRecords() {
		b := p.record(i)
		ref := p.nameRef(b)
		if fp := p.addr(b, p.layout.funcPtr); fp != 0 {
			m.callees = append(m.callees, addressRef{fp, ref})
		}
		sites = sites || p.sites(b, int(IndirectCallTarget)) != 0
	}
	if !sites {
		m.callees = m.callees[:0]
	}
	// Of several functions at one address (identical code folding) LLVM takes an unspecified one; the smallest
	// reference is as good and always the same.
	byAddress := func(a, b addressRef) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.nameRef, b.nameRef))
	}
	if !slices.IsSortedFunc(m.callees, byAddress) { // linkers keep the order
		slices.SortFunc(m.callees, byAddress)
	}
	size := vtableRecordSize(p.ptr)
	for b := p.vtables.data; len(b) > 0; b = b[size:] {
		start := p.addr(b, 8)
		end := start + uint64(p.u32(b, 8+p.ptr))
		if start != 0 && start < end {
			m.vtables = append(m.vtables, vtableRange{start, end, p.u64(b, 0)})
		}
	}
	slices.SortStableFunc(m.vtables, func(a, b vtableRange) int { return cmp.Compare(a.start, b.start) })
}

// absentValues counts the records and value sites of a profile that has no value data although its records announce
// some, because of continuous mode (%c): the program maps its counters into the file, which the runtime writes at the
// start of the program, without value data. No field tells the mode. A writer that was stopped leaves the same file
// only if it was stopped at exactly this byte, and the C library makes it write blocks of 4,096 bytes.
type absentValues struct{ records, sites int }

// lacksValues reports whether the profile has no value data, which would begin at file offset off.
func (r *rawReader) lacksValues(off int64) bool {
	return off == r.cur.valueData && !r.opt.Lenient && (off == int64(len(r.data)) || hasRawMagic(r.data[off:]))
}

// leaveValues sets the value sites of record i without values: their number is part of the function.
func (r *rawReader) leaveValues(i int) error {
	p, b := r.cur, r.cur.record(i)
	var sites siteCounts
	for k := range p.layout.kinds {
		sites[k] = int32(p.sites(b, k))
	}
	r.absent.records++
	r.absent.sites += sites.all()
	// Value data has at least a byte for each site, so that no other profile has more sites than bytes.
	if limit := len(r.data); r.absent.sites > limit {
		return flaw.At("data", p.recordOffset(i)+int64(p.layout.valueSites)).InRecord(i).Field("number of value sites so far").
			Got(r.absent.sites).Wantf("at most %d, as many as the file has bytes", limit).Corrupt()
	}
	r.values.sites = slices.Grow(r.values.sites[:0], sites.all())[:sites.all()]
	clear(r.values.sites)
	r.rec.Values = valueSites{}
	sites.split(&r.rec.Values, r.values.sites)
	return nil
}

// remarkOnAbsence warns if the profile, which ends at file offset end, has no value data.
func (r *rawReader) remarkOnAbsence(end int64) {
	if r.absent.records > 0 {
		r.remark(flaw.At("value data", end).Field("value data").Got("absent").
			Wantf("the values that %d of %d functions announce", r.absent.records, r.cur.numRecords()).
			Hint("continuous mode (%c) never writes them"))
	}
}

// readValues decodes the blob of record i, which begins at file offset off,
// into r.rec and returns the offset after it.
func (r *rawReader) readValues(i int, off int64) (int64, error) {
	if r.lacksValues(off) {
		return off, r.leaveValues(i)
	}
	p := r.cur
	c := cursor.New("value data", off, r.data[off:], p.order)
	c.Record = i
	r.values.readValueData(c, &r.rec.Values)
	if c.Err() != nil {
		return 0, c.Err()
	}
	b := p.record(i)
	for k := range p.layout.kinds {
		sites := p.sites(b, k)
		if got := len(r.rec.Values[k]); got != sites && !r.opt.Lenient {
			return 0, flaw.At("value data", off).InRecord(i).
				Field("number of value sites of "+valueKindNames[k]).Got(got).
				Wantf("%d, as the data record says", sites).Because(&llvmerr.Error{Code: llvmerr.Malformed})
		}
	}
	for _, kind := range []int{IndirectCallTarget, VTableTarget} {
		for _, site := range r.rec.Values[kind] {
			if !r.walked && r.opt.Warn != nil {
				if r.earlier == nil {
					r.earlier = new(earlierTargets)
				}
				r.earlier.count(&r.addrs, kind, site)
			}
			r.addrs.resolve(kind, site)
		}
	}
	return off + int64(c.Pos()), nil
}

// valueAt returns what a value that is an address stands for. A nil map leaves values as they are.
func (m *addressMap) valueAt(kind int, addr uint64) uint64 {
	switch {
	case m == nil:
		return addr
	case kind == VTableTarget:
		return m.vtable(addr)
	}
	return m.callee(addr)
}

// resolve replaces values that are addresses by what they stand for.
func (m *addressMap) resolve(kind int, values []ValueData) {
	if m == nil {
		return
	}
	for i := range values {
		values[i].Value = m.valueAt(kind, values[i].Value)
	}
}

// callee returns the name reference of the function at addr, 0 if none is known to begin there.
func (m *addressMap) callee(addr uint64) uint64 {
	i := sort.Search(len(m.callees), func(i int) bool { return m.callees[i].addr >= addr })
	if i < len(m.callees) && m.callees[i].addr == addr {
		return m.callees[i].nameRef
	}
	return 0
}

// vtable returns the name reference of the vtable that covers addr, 0 if none does.
func (m *addressMap) vtable(addr uint64) uint64 {
	i := sort.Search(len(m.vtables), func(i int) bool { return m.vtables[i].start > addr })
	if i > 0 && addr < m.vtables[i-1].end {
		return m.vtables[i-1].nameRef
	}
	return 0
}
