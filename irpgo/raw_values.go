package irpgo

import (
	"fmt"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// addressRef says which function begins at an address.
type addressRef struct{ addr, nameRef uint64 }

// vtableRange says which vtable covers the addresses from start to end-1.
type vtableRange struct{ start, end, nameRef uint64 }

// mapAddresses prepares the translation of profiled addresses to names.
func (r *rawReader) mapAddresses() {
	p := r.cur
	r.callees, r.vtables = r.callees[:0], r.vtables[:0]
	if p.layout.funcPtr < 0 || p.layout.kinds == 0 {
		return
	}
	sites := false
	for i := range p.numRecords() {
		b := p.record(i)
		ref := p.nameRef(b)
		if fp := p.addr(b, p.layout.funcPtr); fp != 0 {
			r.callees = append(r.callees, addressRef{fp, ref})
		}
		sites = sites || p.order.Uint16(b[p.layout.valueSites:]) != 0
	}
	if !sites {
		r.callees = r.callees[:0]
	}
	// Of several functions at one address (identical code folding) LLVM takes
	// an unspecified one; the smallest reference is as good and always the
	// same.
	slices.SortFunc(r.callees, func(a, b addressRef) int {
		if a.addr != b.addr {
			return compareU64(a.addr, b.addr)
		}
		return compareU64(a.nameRef, b.nameRef)
	})
	size := vtableRecordSize(p.ptr)
	for b := p.vtables.data; len(b) > 0; b = b[size:] {
		start := p.addr(b, 8)
		end := start + uint64(p.u32(b, 8+p.ptr))
		if start != 0 && start < end {
			r.vtables = append(r.vtables, vtableRange{start, end, p.u64(b, 0)})
		}
	}
	slices.SortStableFunc(r.vtables, func(a, b vtableRange) int { return compareU64(a.start, b.start) })
}

// hasValueSites reports whether a blob of value data belongs to the record.
func (p *rawProfile) hasValueSites(b []byte) bool {
	for k := range p.layout.kinds {
		if p.order.Uint16(b[p.layout.valueSites+2*k:]) != 0 {
			return true
		}
	}
	return false
}

// readValues decodes the blob of record i, which begins at file offset off,
// into r.rec and returns the offset after it.
func (r *rawReader) readValues(i int, off int64) (int64, error) {
	p := r.cur
	c := cursor.New("value data", off, r.data[off:], p.order)
	c.Record = i
	r.values.readValueData(c, &r.rec.Values)
	if c.Err() != nil {
		return 0, c.Err()
	}
	b := p.record(i)
	for k := range p.layout.kinds {
		sites := int(p.order.Uint16(b[p.layout.valueSites+2*k:]))
		if got := len(r.rec.Values[k]); got != sites && !r.opt.Lenient {
			return 0, fail("value data", off, i, CodeMalformed, "", "number of value sites of "+ValueKind(k).String(),
				fmt.Sprint(got), fmt.Sprintf("%d, as the data record says", sites))
		}
	}
	for _, site := range r.rec.Values[IndirectCallTarget] {
		for j := range site {
			site[j].Value = r.callee(site[j].Value)
		}
	}
	for _, site := range r.rec.Values[VTableTarget] {
		for j := range site {
			site[j].Value = r.vtable(site[j].Value)
		}
	}
	return off + int64(c.Pos()), nil
}

// callee returns the name reference of the function at addr, 0 if none is
// known to begin there.
func (r *rawReader) callee(addr uint64) uint64 {
	i := sort.Search(len(r.callees), func(i int) bool { return r.callees[i].addr >= addr })
	if i < len(r.callees) && r.callees[i].addr == addr {
		return r.callees[i].nameRef
	}
	return 0
}

// vtable returns the name reference of the vtable that covers addr, 0 if none
// does.
func (r *rawReader) vtable(addr uint64) uint64 {
	i := sort.Search(len(r.vtables), func(i int) bool { return r.vtables[i].start > addr })
	if i > 0 && addr < r.vtables[i-1].end {
		return r.vtables[i-1].nameRef
	}
	return 0
}
