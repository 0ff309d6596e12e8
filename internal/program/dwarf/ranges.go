package dwarf

// An addrRange is the addresses from low up to but not including high.
type addrRange struct{ low, high uint64 }

// tombstone returns the address that linkers write for discarded code: the largest address.
func (c *cu) tombstone() uint64 {
	if c.addrSize == 4 {
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// dieRanges appends the addresses that a DIE describes, given its DW_AT_low_pc,
// DW_AT_high_pc and DW_AT_ranges. It ignores a damaged range list.
func (c *cu) dieRanges(dst []addrRange, low, high, ranges value) ([]addrRange, error) {
	if lo, ok := c.address(low); ok && lo != c.tombstone() {
		if hi, ok := c.address(high); ok {
			return append(dst, addrRange{lo, hi}), nil
		}
		// Since DWARF 4 DW_AT_high_pc may be a constant: the size.
		if n, ok := high.constant(); ok {
			return append(dst, addrRange{lo, lo + n}), nil
		}
	}
	switch {
	case ranges.form == 0:
		return dst, nil
	case c.version < 5:
		return c.rangeList(dst, ranges.u)
	// An index into the offsets at the beginning of the unit's part of .debug_rnglists.
	case ranges.form == formRnglistx:
		b, ok := element(c.d.s.Rnglists, c.rngBase, ranges.u, c.offSize)
		if !ok {
			return dst, nil
		}
		r := buf{b: b, big: c.d.BigEndian}
		return c.rnglist(dst, c.rngBase+r.uint(c.offSize))
	default:
		return c.rnglist(dst, c.base.rnglists+ranges.u)
	}
}

func (c *cu) rangeList(dst []addrRange, off uint64) ([]addrRange, error) {
	r := at(c.rangeSec, c.rangeBase+off, c.d.BigEndian)
	start, first := r.off, len(dst)
	dead := c.tombstone()
	base, hasBase := c.low, c.hasPC
	for {
		e := addrRange{r.uint(c.addrSize), r.uint(c.addrSize)}
		if r.bad {
			dst = dst[:first]
		}
		if r.bad || e == (addrRange{}) {
			return dst, c.spend(partTree, "ranges", len(r.b), r.off-start)
		}
		// A base address selection entry begins with the largest address (DWARF 4, 2.17.3).
		if e.low == dead {
			base, hasBase = e.high, true
			continue
		}
		if hasBase {
			// The linker has discarded what the list is about.
			if base == dead {
				continue
			}
			e.low, e.high = e.low+base, e.high+base
		}
		dst = append(dst, e)
	}
}

func (c *cu) rnglist(dst []addrRange, off uint64) ([]addrRange, error) {
	r := at(c.d.s.Rnglists, off, c.d.BigEndian)
	start, first := r.off, len(dst)
	dead := c.tombstone()
	base, hasBase := c.low, c.hasPC
	for {
		var e addrRange
		kind := r.u8()
		// DW_RLE_*, DWARF 5, 7.25.
		switch kind {
		case rleEndOfList:
		case rleBaseAddressx:
			index := r.uleb()
			base, hasBase = c.indexedAddress(index)
			if !hasBase {
				base, hasBase = index, true // as LLVM does
			}
			continue
		case rleBaseAddress:
			base, hasBase = r.uint(c.addrSize), true
			continue
		case rleStartxEndx:
			e.low, _ = c.indexedAddress(r.uleb())
			e.high, _ = c.indexedAddress(r.uleb())
		case rleStartxLength:
			e.low, _ = c.indexedAddress(r.uleb())
			e.high = e.low + r.uleb()
		case rleOffsetPair:
			e.low, e.high = r.uleb(), r.uleb()
			if e.low == dead || hasBase && base == dead {
				continue
			}
			if hasBase {
				e.low, e.high = e.low+base, e.high+base
			}
		case rleStartEnd:
			e.low, e.high = r.uint(c.addrSize), r.uint(c.addrSize)
		case rleStartLength:
			e.low = r.uint(c.addrSize)
			e.high = e.low + r.uleb()
		default:
			r.fail()
		}
		if r.bad {
			dst = dst[:first]
		}
		if r.bad || kind == rleEndOfList {
			return dst, c.spend(partTree, "rnglists", len(r.b), r.off-start)
		}
		if e.low != dead {
			dst = append(dst, e)
		}
	}
}
