package dwarf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// Abbreviation codes of testAbbrevs.
const (
	abUnit   = 1 // children; low_pc addr, high_pc data4, name string
	abFunc   = 2 // children; low_pc addr, high_pc data4, name string
	abInline = 3 // children; low_pc addr, high_pc data4, origin ref4, call_line data1
	abOrigin = 4 // no children; subprogram; origin ref4, specification ref4
	abNamed  = 5 // no children; subprogram; name string, linkage_name string, decl_line udata
	abRanges = 6 // no children; subprogram; ranges sec_offset, name string
	abOdd    = 7 // no children; every form
)

func testAbbrevs() []byte {
	var a asm
	code := []uint64{attrLowPC, formAddr, attrHighPC, formData4}
	a.uleb(abUnit, 0x11).u8(1).uleb(code...).uleb(attrName, formString, 0, 0)
	a.uleb(abFunc, tagSubprogram).u8(1).uleb(code...).uleb(attrName, formString, 0, 0)
	a.uleb(abInline, tagInlinedSubroutine).u8(1).uleb(code...).uleb(attrAbstractOrigin, formRef4, attrCallLine, formData1, 0, 0)
	a.uleb(abOrigin, tagSubprogram).u8(0).uleb(attrAbstractOrigin, formRef4, attrSpecification, formRef4, 0, 0)
	a.uleb(abNamed, tagSubprogram).u8(0).uleb(attrName, formString, attrLinkageName, formString, attrDeclLine, formUdata, 0, 0)
	a.uleb(abRanges, tagSubprogram).u8(0).uleb(attrRanges, formSecOffset, attrName, formString, 0, 0)
	a.uleb(abOdd, 0x34).u8(0)
	for form := uint64(1); form <= 0x2c; form++ {
		switch form {
		case 2, formIndirect, formImplicitConst:
		default:
			a.uleb(0x4000+form, form)
		}
	}
	a.uleb(1, formGNUAddrIndex, 1, formGNUStrIndex, 1, formGNURefAlt, 1, formGNUStrpAlt, 1, formIndirect)
	a.uleb(0x88, formImplicitConst).u8(0x7f).uleb(0, 0)
	a.u8(0)
	return a.b
}

// testInfo builds a unit of DWARF 5 or 4.
func testInfo(version int, dies func(a *asm)) []byte {
	var a asm
	a.sized(func() {
		a.u16(version)
		if version >= 5 {
			a.u8(unitCompile, 8).u32(0)
		} else {
			a.u32(0).u8(8)
		}
		dies(&a)
	})
	return a.b
}

func names(frames []Frame) string {
	var s []string
	for _, f := range frames {
		s = append(s, fmt.Sprintf("%s:%d", f.Function, f.Line))
	}
	return strings.Join(s, " ")
}

// TestEveryForm: an entry with every form is passed over to the next byte.
func TestEveryForm(t *testing.T) {
	for _, version := range []int{4, 5} {
		info := testInfo(version, func(a *asm) {
			a.uleb(abUnit).u64(0x1000).u32(0x100).str("unit")
			a.uleb(abOdd)
			a.u64(1)                        // addr
			a.u16(1).u8(9).u32(1).u8(9)     // block2, block4
			a.u16(1).u32(1).u64(1).str("s") // data2, data4, data8, string
			a.uleb(2).u8(9, 9).u8(1, 9)     // block, block1
			a.u8(1, 1).u8(0x80, 1)          // data1, flag, sdata
			a.u32(1).uleb(300).u32(1)       // strp, udata, ref_addr
			a.u8(1).u16(1).u32(1).u64(1)    // ref1, 2, 4, 8
			a.uleb(300).u32(1)              // ref_udata, sec_offset
			a.uleb(1).u8(9)                 // exprloc
			a.uleb(300, 300).u32(1).u32(1)  // strx, addrx, ref_sup4, strp_sup
			a.u64(1).u64(1).u32(1)          // data16, line_strp
			a.u64(1).uleb(300, 300).u64(1)  // ref_sig8, loclistx, rnglistx, ref_sup8
			a.u8(1).u16(1).u8(1, 1, 1)      // strx1, 2, 3
			a.u32(1)                        // strx4
			a.u8(1).u16(1).u8(1, 1, 1)      // addrx1, 2, 3
			a.u32(1)                        // addrx4
			a.uleb(300, 300).u32(1).u32(1)  // the GNU forms
			a.uleb(formBlock1).u8(2, 9, 9)  // indirect
			a.uleb(abFunc).u64(0x1010).u32(0x10).str("after").u8(0)
			a.u8(0)
		})
		d := New(Sections{Info: info, Abbrev: testAbbrevs()}, Config{})
		u, err := d.Load(d.Unit(0x1010))
		if err != nil {
			t.Fatalf("version %d: %v, %v", version, err, d.Problems())
		}
		if got := names(u.Frames(nil, 0x1010)); got != "after:0" {
			t.Errorf("version %d: %q", version, got)
		}
	}
}

// TestOrigins: names are found through references, which may also go round in circles or nowhere.
func TestOrigins(t *testing.T) {
	var offsets []int
	info := testInfo(4, func(a *asm) {
		mark := func() { offsets = append(offsets, len(a.b)) }
		refs := func(i, j int) {
			for _, k := range []int{i, j} {
				if k < len(offsets) && k >= 0 {
					a.u32(offsets[k])
				} else {
					a.u32(0xffffff)
				}
			}
		}
		a.uleb(abUnit).u64(0x1000).u32(0x1000).str("unit")
		mark() // 0
		a.uleb(abNamed).str("plain", "linkage").uleb(77)
		mark() // 1: to the named one
		a.uleb(abOrigin)
		refs(0, -1)
		mark() // 2: to itself
		a.uleb(abOrigin)
		refs(2, 2)
		mark() // 3: to nowhere, and to 1
		a.uleb(abOrigin)
		refs(-1, 1)
		mark() // 4: a chain that is too long begins here
		for i := range 200 {
			if i > 0 {
				mark()
			}
			a.uleb(abOrigin)
			refs(len(offsets)-2, -1)
		}
		for i, origin := range []int{0, 1, 2, 3, 203, 10} {
			a.uleb(abInline).u64(uint64(0x1000 + 16*i)).u32(16).u32(offsets[origin]).u8(i).u8(0)
		}
		// Inlined into nothing so far; the same again within a function.
		a.uleb(abFunc).u64(0x1800).u32(0x100).str("outer")
		for i, origin := range []int{0, 1, 2, 3, 203, 10} {
			a.uleb(abInline).u64(uint64(0x1800 + 16*i)).u32(16).u32(offsets[origin]).u8(i).u8(0)
		}
		a.u8(0, 0)
	})
	d := New(Sections{Info: info, Abbrev: testAbbrevs()}, Config{})
	u, err := d.Load(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"linkage:0 outer:0", "linkage:0 outer:1", ":0 outer:2", "linkage:0 outer:3", ":0 outer:4", "linkage:0 outer:5",
	} {
		if got := u.Frames(nil, uint64(0x1000+16*i)); len(got) > 0 {
			t.Errorf("%d, inlined into nothing: %+v", i, got)
		}
		frames := u.Frames(nil, uint64(0x1800+16*i))
		if got := names(frames); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
		if line := frames[0].StartLine; (line == 77) != strings.HasPrefix(want, "linkage") {
			t.Errorf("%d: start line %d", i, line)
		}
	}
}

// TestRangeLists reads every kind of entry.
func TestRangeLists(t *testing.T) {
	var addr asm
	addr.u64(0xdead) // before the base
	addr.u64(0x100).u64(0x200).u64(math.MaxUint64)
	var lists asm
	lists.u8(rleOffsetPair).uleb(1, 2) // to the unit's low_pc, 0x1000
	lists.u8(rleBaseAddress).u64(0x5000).u8(rleOffsetPair).uleb(0x10, 0x20)
	lists.u8(rleBaseAddressx).uleb(1).u8(rleOffsetPair).uleb(3, 4)
	lists.u8(rleStartxEndx).uleb(0, 1)
	lists.u8(rleStartxLength).uleb(1, 8)
	lists.u8(rleStartEnd).u64(0x7000).u64(0x7001)
	lists.u8(rleStartLength).u64(0x8000).uleb(0x300)
	lists.u8(rleBaseAddress).u64(math.MaxUint64).u8(rleOffsetPair).uleb(1, 2)           // dropped code
	lists.u8(rleStartLength).u64(math.MaxUint64).uleb(3).u8(rleStartxLength).uleb(2, 8) // dropped
	lists.u8(rleStartxLength).uleb(99, 8).u8(rleEndOfList)                              // no such address: 0
	want := "[1001 1002) [5010 5020) [203 204) [100 200) [200 208) [7000 7001) [8000 8300) [0 8)"
	u := unit{format: format{5, 8, 4}}
	c := &cu{
		unit: &u, d: &Data{s: Sections{Rnglists: lists.b}, spent: newSpent(), read: make([]atomic.Uint32, 1)},
		addr: addr.b, addrBase: 8, low: 0x1000, hasPC: true,
	}
	got, err := c.dieRanges(nil, value{}, value{}, value{form: formSecOffset})
	if s := rangeString(got); s != want || err != nil {
		t.Errorf("\n got %s, %v\nwant %s", s, err, want)
	}
	for n := range lists.b {
		c.d.s.Rnglists = lists.b[:n]
		if got, err := c.dieRanges(nil, value{}, value{}, value{form: formSecOffset}); len(got) != 0 || err != nil {
			t.Errorf("a list cut at %d: %v, %v", n, got, err)
		}
	}

	u.version = 4
	var old asm
	old.u64(1).u64(2).u64(math.MaxUint64).u64(0x100).u64(3).u64(4)
	old.u64(math.MaxUint64).u64(math.MaxUint64).u64(5).u64(6) // dropped
	old.u64(math.MaxUint64).u64(0).u64(7).u64(8).u64(0).u64(0)
	c.rangeSec = old.b
	got, err = c.dieRanges(nil, value{}, value{}, value{form: formSecOffset})
	if s := rangeString(got); s != "[1001 1002) [103 104) [7 8)" || err != nil {
		t.Errorf("DWARF 4: %s, %v", s, err)
	}
	for n := range old.b {
		c.rangeSec = old.b[:n]
		if got, _ := c.dieRanges(nil, value{}, value{}, value{form: formSecOffset}); len(got) != 0 {
			t.Errorf("a list cut at %d: %v", n, got)
		}
	}
}

func rangeString(ranges []addrRange) string {
	var s []string
	for _, r := range ranges {
		s = append(s, fmt.Sprintf("[%x %x)", r.low, r.high))
	}
	return strings.Join(s, " ")
}

// TestLowHigh: low_pc and high_pc come before ranges, unless the linker has dropped the code.
func TestLowHigh(t *testing.T) {
	c := &cu{unit: &unit{format: format{4, 4, 4}}, d: &Data{}}
	low := value{formAddr, 0x10}
	for _, v := range []struct {
		low, high value
		want      string
	}{
		{low, value{formAddr, 0x18}, "[10 18)"},
		{low, value{formData1, 8}, "[10 18)"},
		{low, value{formUdata, 8}, "[10 18)"},
		{low, value{formSdata, 8}, ""},
		{low, value{}, ""},
		{value{}, value{formData1, 8}, ""},
		{value{formAddrx, 3}, value{formData1, 8}, ""},
		{value{formAddr, math.MaxUint32}, value{formData1, 8}, ""},
	} {
		got, err := c.dieRanges(nil, v.low, v.high, value{})
		if s := rangeString(got); s != v.want || err != nil {
			t.Errorf("%v, %v: %s, %v; want %s", v.low, v.high, s, err, v.want)
		}
	}
}

// TestUnitHeaders: units that are not understood are left out and noted, the others are found.
func TestUnitHeaders(t *testing.T) {
	good := testInfo(5, func(a *asm) {
		a.uleb(abUnit).u64(0x1000).u32(0x100).str("unit")
		a.uleb(abFunc).u64(0x1000).u32(0x10).str("f").u8(0, 0)
	})
	bad := func(edit func(b []byte)) []byte {
		b := slices.Clone(good)
		edit(b)
		return b
	}
	for _, c := range []struct {
		name  string
		info  []byte
		units int
		class error
	}{
		{"version 6", bad(func(b []byte) { b[4] = 6 }), 1, profile.ErrUnsupported},
		{"version 1", bad(func(b []byte) { b[4] = 1 }), 1, profile.ErrUnsupported},
		{"address size 3", bad(func(b []byte) { b[7] = 3 }), 1, profile.ErrUnsupported},
		{"no abbreviations there", bad(func(b []byte) { b[9] = 0x77 }), 2, profile.ErrTruncated},
		{"no such abbreviation", bad(func(b []byte) { b[12] = 0x55 }), 2, profile.ErrCorrupt},
		{"header cut off", []byte{3, 0, 0, 0, 5, 0, 1}, 1, profile.ErrTruncated},
		{"unit cut off", append(slices.Clone(good), good[:20]...), 1, profile.ErrTruncated},
		{"reserved length", append(slices.Clone(good), 0xf3, 0xff, 0xff, 0xff), 1, profile.ErrTruncated},
	} {
		info := append(slices.Clone(c.info), good...)
		if len(c.info) > len(good) {
			info = c.info
		}
		d := New(Sections{Info: info, Abbrev: testAbbrevs()}, Config{Name: "x"})
		problem := errors.Join(d.Problems()...)
		fe := (*profile.FormatError)(nil)
		if len(d.units) != c.units || !errors.Is(problem, c.class) || !errors.As(problem, &fe) || fe.File != "x" {
			t.Errorf("%s: %d units, want %d; problems %v, want %v", c.name, len(d.units), c.units, problem, c.class)
		}
		i := d.Unit(0x1000)
		if i < 0 {
			t.Errorf("%s: the good unit is not found", c.name)
			continue
		}
		u, err := d.Load(i)
		if err != nil || names(u.Frames(nil, 0x1000)) != "f:0" {
			t.Errorf("%s: the good unit gives %v", c.name, err)
		}
	}
}

// TestAranges: units listed in .debug_aranges are where that says, others where they themselves say.
func TestAranges(t *testing.T) {
	unit := func(low uint64) []byte {
		return testInfo(5, func(a *asm) { a.uleb(abUnit).u64(low).u32(0x10).str("unit").u8(0) })
	}
	first := unit(0x1000)
	var a asm
	a.sized(func() {
		a.u16(2).u32(0).u8(8, 0).u32(0) // padding to 16
		a.u64(0x5000).u64(0x20).u64(0x6000).u64(0).u64(0).u64(0)
	})
	a.sized(func() { a.u16(2).u32(3).u8(8, 0).u32(0).u64(0x7000).u64(0x20) }) // no unit begins at 3
	s := Sections{Info: append(slices.Clone(first), unit(0x2000)...), Abbrev: testAbbrevs(), Aranges: a.b}
	d := New(s, Config{})
	for addr, want := range map[uint64]int{0x1000: -1, 0x5000: 0, 0x501f: 0, 0x5020: -1, 0x6000: -1, 0x7000: -1, 0x2000: 1, 0x200f: 1} {
		if got := d.Unit(addr); got != want {
			t.Errorf("%#x is of unit %d, want %d", addr, got, want)
		}
	}
	for n := range a.b {
		s.Aranges = a.b[:n]
		if d := New(s, Config{}); d.Unit(0x2000) != 1 {
			t.Errorf("cut at %d: the unit that is not listed is lost", n)
		}
	}
}

// TestOverlaps: files made to be slow are refused, in time that their size justifies.
func TestOverlaps(t *testing.T) {
	const many = 200_000
	t.Run("range lists", func(t *testing.T) {
		var ranges asm
		for i := range uint64(many) {
			ranges.u64(2 * i).u64(2*i + 1)
		}
		info := testInfo(4, func(a *asm) {
			a.uleb(abUnit).u64(0x1000).u32(0x100).str("unit")
			for range many {
				a.uleb(abRanges).u32(0).str("f")
			}
		})
		d := New(Sections{Info: info, Abbrev: testAbbrevs(), Ranges: ranges.u64(0).u64(0).b}, Config{})
		if _, err := d.Load(0); !errors.Is(err, profile.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		if _, err := d.Load(0); err == nil {
			t.Error("was accepted the second time")
		}
	})
	t.Run("line tables", func(t *testing.T) {
		var abbrev, info asm
		abbrev.uleb(1, 0x11).u8(0).uleb(attrStmtList, formSecOffset, 0, 0, 0)
		program := slices.Repeat([]byte{lnsCopy, lnsAdvancePC, 1}, many)
		for range 1000 {
			info.b = append(info.b, testInfo(4, func(a *asm) { a.uleb(1).u32(0) })...)
		}
		d := New(Sections{Info: info.b, Abbrev: abbrev.b, Line: lineProgram(4, 1, program)}, Config{})
		refused := 0
		for i := range d.units {
			if _, err := d.Load(i); err != nil {
				refused++
			}
		}
		if refused < 990 {
			t.Errorf("%d of 1000 units were refused the same line table", refused)
		}
	})
	t.Run("abbreviations", func(t *testing.T) {
		var abbrev, info asm
		for i := range uint64(many) {
			abbrev.uleb(i+1, 0x11).u8(0).uleb(0, 0)
		}
		for i := range 2000 {
			var a asm
			a.sized(func() { a.u16(4).u32(5 * i).u8(8).uleb(many) })
			info.b = append(info.b, a.b...)
		}
		d := New(Sections{Info: info.b, Abbrev: abbrev.u8(0).b}, Config{})
		if err := errors.Join(d.Problems()...); !errors.Is(err, profile.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("attributes", func(t *testing.T) {
		var a asm
		a.uleb(1, tagSubprogram).u8(0)
		for range many {
			a.uleb(attrName, formFlagPresent)
		}
		info := testInfo(4, func(a *asm) { a.b = append(a.b, slices.Repeat([]byte{1}, many)...) })
		d := New(Sections{Info: info, Abbrev: a.uleb(0, 0, 0).b}, Config{})
		if _, err := d.Load(0); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("depth", func(t *testing.T) {
		info := testInfo(4, func(a *asm) {
			a.uleb(abUnit).u64(0x1000).u32(0x100).str("unit")
			a.uleb(abFunc).u64(0x1000).u32(0x10).str("f")
			for i := range many {
				a.uleb(abInline).u64(0x1000).u32(0x10).u32(0).u8(i)
			}
		})
		d := New(Sections{Info: info, Abbrev: testAbbrevs()}, Config{})
		u, err := d.Load(0)
		if err != nil {
			t.Fatal(err)
		}
		if frames := u.Frames(nil, 0x1000); len(frames) != 0 {
			t.Errorf("%d frames", len(frames))
		}
	})
	t.Run("names", func(t *testing.T) {
		var abbrev asm
		abbrev.uleb(1, 0x11).u8(1).uleb(0, 0)
		abbrev.uleb(2, tagSubprogram).u8(0).uleb(attrLowPC, formAddr, attrHighPC, formData1, attrName, formStrp, 0, 0, 0)
		const length = 2 << 20
		info := testInfo(4, func(a *asm) {
			a.uleb(1)
			for i := range 100 {
				a.uleb(2).u64(uint64(i)).u8(1).u32(i)
			}
		})
		d := New(Sections{Info: info, Abbrev: abbrev.b, Str: append(slices.Repeat([]byte{'x'}, length), 0)}, Config{})
		u, err := d.Load(0)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for i := range uint64(100) {
			for _, f := range u.Frames(nil, i) {
				total += len(f.Function)
			}
		}
		if total < length || total > 6*length {
			t.Errorf("the names have %d bytes", total)
		}
	})
}
