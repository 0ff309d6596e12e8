package dwarf

import (
	"math"
	"sort"
)

// A unit is the header of a unit of .debug_info.
//
//	unit_length    4, or 4 + 8 in 64-bit DWARF
//	version        2
//	unit_type      1   DWARF 5 only
//	address_size   1   after debug_abbrev_offset before DWARF 5
//	debug_abbrev_offset 4 or 8
//	dwo_id         8   DWARF 5: skeleton and split units
//	type_signature, type_offset: 8, 4 or 8   DWARF 5: type units
type unit struct {
	off, end uint64 // of the unit in .debug_info; end is after it
	first    uint64 // offset of its first DIE
	abbrev   uint64 // offset of its abbreviations
	dwoID    uint64 // DWARF 5: of skeleton and split units
	format
	kind uint8 // DW_UT_*; unitCompile before DWARF 5
	base sectionBases
}

// sectionBases are the offsets of a unit's contributions to the sections of a package file.
type sectionBases struct{ strOffsets, rnglists uint64 }

// readUnits reads the headers of all units. It notes and skips units that it cannot read.
func (d *Data) readUnits() {
	r := at(d.s.Info, 0, d.BigEndian)
	for r.more() && len(d.units) < math.MaxInt32 {
		off := uint64(r.off)
		body, offSize := r.unit()
		if r.bad {
			d.note(d.cut("info", off, "unit"))
			return
		}
		if u, err := d.readUnit(&body, off, offSize); err != nil {
			d.note(err)
		} else {
			d.units = append(d.units, u)
		}
	}
}

// readUnit reads the header of a unit after its length. r ends at the end of the unit.
func (d *Data) readUnit(r *buf, off uint64, offSize uint8) (unit, error) {
	u := unit{off: off, end: uint64(len(r.b)), kind: unitCompile}
	u.offSize = offSize
	u.version = r.u16()
	if !r.bad && (u.version < 2 || u.version > 5) {
		return u, d.at("info", off).Field("version of the unit").Got(u.version).Want("2 to 5").Unsupported()
	}
	if u.version == 5 {
		u.kind = r.u8()
		u.addrSize = r.u8()
	}
	u.abbrev = r.uint(u.offSize)
	if u.version < 5 {
		u.addrSize = r.u8()
	}
	switch u.kind {
	case unitSkeleton, unitSplitCompile:
		u.dwoID = r.u64()
	case unitType, unitSplitType:
		r.skip(8 + uint64(u.offSize))
	}
	u.first = uint64(r.off)
	switch {
	case r.bad:
		return u, d.cut("info", off, "header of the unit")
	case u.addrSize != 4 && u.addrSize != 8:
		return u, d.at("info", off).Field("address size of the unit").Got(u.addrSize).Want("4 or 8").Unsupported()
	case u.end-u.off > math.MaxUint32:
		return u, d.at("info", off).Field("size of the unit").Got(u.end - u.off).Want("less than 4 GiB").Unsupported()
	}
	return u, nil
}

// isCompile reports whether the unit may describe code.
func (u *unit) isCompile() bool { return u.kind != unitType && u.kind != unitSplitType }

func (d *Data) unitAt(off uint64) int {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].end > off })
	if i == len(d.units) || off < d.units[i].first {
		return -1
	}
	return i
}

// A cu is a unit with its decoded root DIE. For a split unit, the addresses and the
// ranges of the skeleton are taken from the skeleton.
type cu struct {
	*unit
	d       *Data
	abbrevs *abbrevTable

	hasPC bool // whether low is known
	low   uint64

	lowValue, high, ranges value
	entry                  value // DW_AT_entry_pc
	line                   value // DW_AT_stmt_list

	compDir, dwoName value
	gnuDWOID         uint64

	addr      []byte // .debug_addr
	addrBase  uint64
	strBase   uint64 // in .debug_str_offsets
	rngBase   uint64 // in .debug_rnglists
	rangeSec  []byte // .debug_ranges
	rangeBase uint64 // in .debug_ranges
	// splitRangeBase, DW_AT_GNU_ranges_base, is the rangeBase of the split unit that belongs to this skeleton.
	splitRangeBase uint64

	index int // of the unit
}

func (d *Data) compileUnit(index int) (*cu, error) { return d.splitOrCompileUnit(index, nil) }

// splitOrCompileUnit reads the root DIE of a unit. skeleton is not nil for a split unit.
func (d *Data) splitOrCompileUnit(index int, skeleton *cu) (*cu, error) {
	u := &d.units[index]
	abbrevs, n, err := d.abbrevsOf(u)
	if err != nil {
		return nil, err
	}
	c, err := d.rootDIE(u, abbrevs, skeleton)
	if err != nil {
		return nil, err
	}
	c.index = index
	if err := c.spend(partRoot, "abbrev", len(d.s.Abbrev), n); err != nil {
		return nil, err
	}
	c.done(partRoot)
	return c, nil
}

// rootDIE reads a unit's first DIE. abbrevs must contain the DIE's abbreviation and need not contain others.
func (d *Data) rootDIE(u *unit, abbrevs *abbrevTable, skeleton *cu) (*cu, error) {
	c := &cu{
		unit: u, d: d, abbrevs: abbrevs,
		addr: d.s.Addr, rangeSec: d.s.Ranges,
		strBase: u.base.strOffsets, rngBase: u.base.rnglists,
	}
	if d.Split && u.version >= 5 {
		// Split units have no base attributes: their tables begin after the header of their share of the section.
		c.strBase += uint64(u.offSize) + 4
		c.rngBase += uint64(u.offSize) + 8
		if u.offSize == 8 {
			c.strBase += 4
			c.rngBase += 4
		}
	}
	r := at(d.s.Info[:u.end], u.first, d.BigEndian)
	if code := r.uleb(); code != 0 {
		a := abbrevs.get(code)
		if a == nil {
			return nil, d.badCode(u.first, code)
		}
		for _, s := range a.specs {
			c.setAttr(s.attr, readValue(&r, s, u.format))
		}
		if r.bad {
			return nil, d.cut("info", u.first, "first entry of the unit")
		}
	}
	if skeleton != nil {
		c.addr, c.addrBase = skeleton.addr, skeleton.addrBase
		c.rangeSec, c.rangeBase = skeleton.rangeSec, skeleton.splitRangeBase
		c.low, c.hasPC = skeleton.low, skeleton.hasPC
		return c, nil
	}
	// Indexed addresses need DW_AT_addr_base, which may follow them.
	c.low, c.hasPC = c.address(c.lowValue)
	if !c.hasPC {
		c.low, c.hasPC = c.address(c.entry)
	}
	return c, nil
}

// setAttr takes an attribute of the root DIE.
func (c *cu) setAttr(attr uint16, v value) {
	switch attr {
	case attrLowPC:
		c.lowValue = v
	case attrEntryPC:
		c.entry = v
	case attrHighPC:
		c.high = v
	case attrRanges:
		c.ranges = v
	case attrStmtList:
		c.line = v
	case attrCompDir:
		c.compDir = v
	case attrDWOName, attrGNUDWOName:
		c.dwoName = v
	case attrGNUDWOID:
		c.gnuDWOID = v.u
	case attrStrOffsetsBase:
		c.strBase = v.u
	case attrAddrBase, attrGNUAddrBase:
		c.addrBase = v.u
	case attrRnglistsBase:
		c.rngBase = v.u
	case attrGNURangesBase:
		c.splitRangeBase = v.u
	}
}

func (d *Data) badCode(off, code uint64) error {
	return d.at("info", off).Field("abbreviation code").Got(code).Want("one of the unit's abbreviations").Corrupt()
}

func (c *cu) address(v value) (uint64, bool) {
	switch v.form {
	case formAddr:
		return v.u, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return c.indexedAddress(v.u)
	}
	return 0, false
}

func (c *cu) indexedAddress(index uint64) (uint64, bool) {
	b, ok := element(c.addr, c.addrBase, index, c.addrSize)
	if !ok {
		return 0, false
	}
	r := buf{b: b, big: c.d.BigEndian}
	return r.uint(c.addrSize), true
}

func element(section []byte, base, index uint64, size uint8) ([]byte, bool) {
	n := uint64(len(section))
	if base > n || index >= (n-base)/uint64(size) {
		return nil, false
	}
	off := base + index*uint64(size)
	return section[off : off+uint64(size)], true
}

// string interprets a value of class string; nil if it is of another class.
func (c *cu) string(v value) []byte {
	var section []byte
	switch v.form {
	case formString:
		section = c.d.s.Info
	case formStrp:
		section = c.d.s.Str
	case formLineStrp:
		section = c.d.s.LineStr
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		b, ok := element(c.d.s.StrOffsets, c.strBase, v.u, c.offSize)
		if !ok {
			return nil
		}
		r := buf{b: b, big: c.d.BigEndian}
		section, v.u = c.d.s.Str, r.uint(c.offSize)
	default:
		// A string of a supplementary file (dwz -m), which LLVM does not read either.
		return nil
	}
	r := at(section, v.u, c.d.BigEndian)
	if s := r.cstring(); !r.bad {
		return s
	}
	return nil
}

// reference interprets a value of class reference: an offset in .debug_info.
func (c *cu) reference(v value) (uint64, bool) {
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return c.off + v.u, v.u < c.end-c.off
	case formRefAddr:
		return v.u, true
	}
	return 0, false
}
