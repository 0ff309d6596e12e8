package dwarf

// A format holds the properties of a unit that determine the sizes of its forms.
type format struct {
	version  uint16
	addrSize uint8 // 4 or 8
	offSize  uint8 // 4, or 8 in 64-bit DWARF
}

type attrSpec struct {
	attr, form uint16 // 0 for codes above 16 bits, which no producer uses
	implicit   int64  // value of DW_FORM_implicit_const
}

// An abbrev is the shape of the debugging information entries (DIEs) with one abbreviation code.
type abbrev struct {
	code     uint64
	tag      uint16
	children bool
	specs    []attrSpec
	steps    []int32 // for each attribute, as in skip; only of functions
	skip     []int32 // lists the steps that skip all attributes: a number of bytes, or a negative skip code
}

// Skip codes: forms whose size is in the data.
const (
	skipULEB = -1 - iota
	skipString
	skipBlock1
	skipBlock2
	skipBlock4
	skipBlock
	skipIndirect
	skipUnknown
)

type abbrevTable struct {
	dense  []abbrev // code i is at i-1: compilers number from 1
	sparse map[uint64]*abbrev
}

// get returns the abbreviation of a code, nil if there is none. Code 0 is beyond the dense ones, too.
func (t *abbrevTable) get(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.sparse[code]
}

// readAbbrev reads the next abbreviation of a table; a code of 0 ends it.
func readAbbrev(r *buf, f format, specs []attrSpec, skip []int32) abbrev {
	a := abbrev{code: r.uleb()}
	if a.code == 0 {
		return a
	}
	a.tag = narrow(r.uleb())
	a.children = r.u8() != 0
	a.specs, a.skip = specs[len(specs):], skip[len(skip):]
	for !r.bad {
		attr, form := r.uleb(), r.uleb()
		if attr == 0 && form == 0 {
			break
		}
		if len(a.specs) == maxAttrs {
			r.fail()
			break
		}
		s := attrSpec{attr: narrow(attr), form: narrow(form)}
		if s.form == formImplicitConst {
			s.implicit = r.sleb()
		}
		a.specs = append(a.specs, s)
		step := skipOf(s.form, f)
		if a.tag == tagSubprogram || a.tag == tagInlinedSubroutine {
			a.steps = append(a.steps, step)
		}
		if n := len(a.skip); n > 0 && step >= 0 && a.skip[n-1] >= 0 {
			a.skip[n-1] += step
		} else if step != 0 {
			a.skip = append(a.skip, step)
		}
	}
	return a
}

// narrow returns 0 for a code that does not fit 16 bits.
func narrow(v uint64) uint16 {
	if v > 0xffff {
		return 0
	}
	return uint16(v)
}

func parseAbbrevs(r *buf, f format) *abbrevTable {
	t := new(abbrevTable)
	// Attributes of many abbreviations share an array: fewer, larger allocations.
	var specs []attrSpec
	var skip []int32
	for {
		if cap(specs)-len(specs) < 64 {
			specs = make([]attrSpec, 0, 1024)
		}
		if cap(skip)-len(skip) < 64 {
			skip = make([]int32, 0, 1024)
		}
		a := readAbbrev(r, f, specs, skip)
		if a.code == 0 || r.bad {
			return t
		}
		// If append reallocated, a has arrays of its own.
		if n := len(specs) + len(a.specs); n <= cap(specs) {
			specs = specs[:n]
		}
		if n := len(skip) + len(a.skip); n <= cap(skip) {
			skip = skip[:n]
		}
		if a.code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
			continue
		}
		if t.sparse == nil {
			t.sparse = make(map[uint64]*abbrev)
		}
		if _, ok := t.sparse[a.code]; !ok {
			t.sparse[a.code] = &a
		}
	}
}

// skipOf returns the step that skips a value of a form: its size in bytes, or a skip code.
func skipOf(form uint16, f format) int32 {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return int32(f.addrSize)
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return int32(f.offSize)
	case formRefAddr:
		if f.version <= 2 {
			return int32(f.addrSize)
		}
		return int32(f.offSize)
	case formUdata, formSdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		return skipULEB
	case formString:
		return skipString
	case formBlock1:
		return skipBlock1
	case formBlock2:
		return skipBlock2
	case formBlock4:
		return skipBlock4
	case formBlock, formExprloc:
		return skipBlock
	case formIndirect:
		return skipIndirect
	}
	return skipUnknown
}

func skipAttrs(r *buf, a *abbrev, f format) {
	for _, step := range a.skip {
		// A step of fixed size: the most frequent case, which dominates the time.
		if uint64(step) <= uint64(len(r.b)-r.off) {
			r.off += int(step)
		} else {
			skipStep(r, step, f)
		}
	}
}

func skipStep(r *buf, step int32, f format) {
	switch step {
	case skipULEB:
		r.skipULEB()
	case skipString:
		r.cstring()
	case skipBlock1:
		r.skip(uint64(r.u8()))
	case skipBlock2:
		r.skip(uint64(r.u16()))
	case skipBlock4:
		r.skip(uint64(r.u32()))
	case skipBlock:
		r.skip(r.uleb())
	case skipIndirect:
		form := narrow(r.uleb())
		// An indirect form within an indirect form has no meaning, and could nest as deep as the section is long.
		if s := skipOf(form, f); s != skipIndirect && form != formImplicitConst {
			skipStep(r, s, f)
		} else {
			r.fail()
		}
	case skipUnknown:
		r.fail()
	default:
		r.skip(uint64(step))
	}
}

// A value is an uninterpreted attribute value: a number, an offset or an index, as
// the form says; for blocks and strings within the DIE, their offset.
type value struct {
	form uint16
	u    uint64
}

func readValue(r *buf, s attrSpec, f format) value {
	v := value{form: s.form}
	if v.form == formIndirect {
		v.form = narrow(r.uleb())
		if v.form == formIndirect || v.form == formImplicitConst {
			r.fail()
			return value{}
		}
	}
	switch v.form {
	case formFlagPresent:
		v.u = 1
	case formImplicitConst:
		v.u = uint64(s.implicit)
	case formSdata:
		v.u = uint64(r.sleb())
	case formStrx3, formAddrx3:
		v.u = uint64(r.u24())
	default:
		switch step := skipOf(v.form, f); step {
		case 1, 2, 4, 8:
			v.u = r.uint(uint8(step))
		case skipULEB:
			v.u = r.uleb()
		default:
			v.u = uint64(r.off)
			skipStep(r, step, f)
		}
	}
	return v
}

// constant returns the value of an unsigned form of class constant, as LLVM's
// DWARFFormValue::getAsUnsignedConstant.
func (v value) constant() (uint64, bool) {
	switch v.form {
	case formData1, formData2, formData4, formData8, formUdata, formImplicitConst, formFlag, formFlagPresent:
		return v.u, true
	}
	return 0, false
}
