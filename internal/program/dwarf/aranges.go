package dwarf

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
)

type unitRange struct {
	addrRange
	unit int32
}

// mapAddresses computes which unit describes which addresses: from .debug_aranges
// for the units that it lists, from the root DIEs of the other units.
func (d *Data) mapAddresses() {
	all, listed := d.readAranges()
	roots := rootReader{d: d, left: maxRereads*len(d.s.Abbrev) + freeReads}
	var ranges []addrRange
	for i := range d.units {
		if listed[i] || !d.units[i].isCompile() {
			continue
		}
		c, err := roots.read(i)
		if err == nil && c != nil {
			ranges, err = c.dieRanges(ranges[:0], c.lowValue, c.high, c.ranges)
		}
		if err != nil {
			d.note(err)
			continue
		}
		for _, r := range ranges {
			all = append(all, unitRange{r, int32(i)})
		}
		ranges = ranges[:0]
	}
	d.ranges = flatten(all)
}

// readAranges reads .debug_aranges up to its end or first error. A set is
//
//	unit_length 4 or 12, version 2, debug_info_offset 4 or 8, address_size 1,
//	segment_selector_size 1, padding to twice the address size,
//	(address, length)…, (0, 0)
func (d *Data) readAranges() (all []unitRange, listed []bool) {
	listed = make([]bool, len(d.units))
	r := at(d.s.Aranges, 0, d.BigEndian)
	for r.more() {
		start := r.off
		set, offSize := r.unit()
		version := set.u16()
		info := set.uint(offSize)
		addrSize, segment := set.u8(), set.u8()
		// .debug_aranges has version 2 in all versions of DWARF so far.
		if set.bad || version < 2 || version > 5 || segment != 0 || addrSize != 4 && addrSize != 8 {
			break
		}
		unit := d.unitStarting(info)
		if unit >= 0 {
			listed[unit] = true
		}
		if pad := (set.off - start) % (2 * int(addrSize)); pad != 0 {
			set.skip(uint64(2*int(addrSize) - pad))
		}
		for set.more() {
			low, size := set.uint(addrSize), set.uint(addrSize)
			if set.bad {
				break
			}
			if unit >= 0 && size != 0 {
				all = append(all, unitRange{addrRange{low, low + size}, int32(unit)})
			}
		}
	}
	return all, listed
}

func (d *Data) unitStarting(off uint64) int {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].off >= off })
	if i < len(d.units) && d.units[i].off == off {
		return i
	}
	return -1
}

// A rootReader reads root DIEs. Most units have their own abbreviation table; a rootReader parses only
// the part of the table that the root DIE needs.
type rootReader struct {
	d    *Data
	left int // bytes of abbreviations that may still be read

	off   uint64 // of the table that was used last
	f     format
	table *abbrevTable
	next  buf // after what has been read of it
}

// read returns a unit with what its root DIE says; nil if the unit has no DIE.
func (rr *rootReader) read(index int) (*cu, error) {
	d := rr.d
	u := &d.units[index]
	r := at(d.s.Info[:u.end], u.first, d.BigEndian)
	code := r.uleb()
	if r.bad || code == 0 {
		return nil, nil
	}
	if rr.table == nil || rr.off != u.abbrev || rr.f != u.format {
		rr.off, rr.f, rr.table = u.abbrev, u.format, &abbrevTable{sparse: make(map[uint64]*abbrev)}
		rr.next = at(d.s.Abbrev, u.abbrev, d.BigEndian)
	}
	for rr.table.get(code) == nil {
		before := rr.next.off
		a := readAbbrev(&rr.next, u.format, nil, nil)
		if rr.next.bad {
			return nil, d.cut("abbrev", u.abbrev, "abbreviations")
		}
		if a.code == 0 {
			return nil, d.badCode(u.first, code)
		}
		if rr.table.get(a.code) == nil {
			rr.table.sparse[a.code] = &a
		}
		// In a hostile file, every unit could share one large table and need its last abbreviation.
		rr.left -= rr.next.off - before
		if rr.left < 0 {
			return nil, d.at("abbrev", u.abbrev).Field("abbreviations of the units").Got("overlap").Corrupt()
		}
	}
	c, err := d.rootDIE(u, rr.table, nil)
	if c != nil {
		c.index = index
	}
	return c, err
}

// flatten turns ranges that may overlap into disjoint ranges. Of several units that claim an address, the one that
// owns the preceding address wins; if it does not claim the address, the first in the file wins. llvm-symbolizer
// does the same (DWARFDebugAranges::construct).
func flatten(all []unitRange) []unitRange {
	type end struct {
		addr  uint64
		unit  int32
		start bool
	}
	ends := make([]end, 0, 2*len(all))
	for _, r := range all {
		if r.low < r.high {
			ends = append(ends, end{r.low, r.unit, true}, end{r.high, r.unit, false})
		}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.addr, b.addr) })

	var out []unitRange
	var claims claimSet
	var prev uint64
	for _, e := range ends {
		if prev < e.addr {
			if unit, ok := claims.first(); ok {
				if n := len(out); n > 0 && out[n-1].high == prev && claims.has(out[n-1].unit) {
					out[n-1].high = e.addr
				} else {
					out = append(out, unitRange{addrRange{prev, e.addr}, unit})
				}
			}
		}
		claims.add(e.unit, e.start)
		prev = e.addr
	}
	return out
}

// A claimSet counts, for the current address, how often each unit claims it.
type claimSet struct {
	count map[int32]int
	heap  unitHeap // may contain units whose count has dropped to 0
}

func (s *claimSet) has(unit int32) bool { return s.count[unit] > 0 }

func (s *claimSet) add(unit int32, start bool) {
	if s.count == nil {
		s.count = make(map[int32]int)
	}
	if !start {
		s.count[unit]--
		if s.count[unit] == 0 {
			delete(s.count, unit)
		}
		return
	}
	s.count[unit]++
	if s.count[unit] == 1 {
		heap.Push(&s.heap, unit)
	}
}

func (s *claimSet) first() (int32, bool) {
	for len(s.heap) > 0 {
		if s.has(s.heap[0]) {
			return s.heap[0], true
		}
		heap.Pop(&s.heap)
	}
	return 0, false
}

type unitHeap []int32

func (h unitHeap) Len() int           { return len(h) }
func (h unitHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h unitHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *unitHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *unitHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
