package dwarf

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
)

// Abbreviation codes of probeAbbrevs.
const (
	prUnit     = 1  // children; stmt_list sec_offset, addr_base sec_offset
	prFunc     = 2  // children; low_pc addr, linkage_name string, decl_file data1, decl_line data1
	prBare     = 3  // children; subprogram; low_pc addrx
	prText     = 4  // annotation; name string, const_value string
	prNumber   = 5  // annotation; name string, const_value udata
	prVariable = 16 // children; variable; name string, location of the form that is added
)

func probeAbbrevs() []byte {
	var a asm
	a.uleb(prUnit, 0x11).u8(1).uleb(attrStmtList, formSecOffset, attrAddrBase, formSecOffset, 0, 0)
	a.uleb(prFunc, tagSubprogram).u8(1)
	a.uleb(attrLowPC, formAddr, attrLinkageName, formString, attrDeclFile, formData1, attrDeclLine, formData1, 0, 0)
	a.uleb(prBare, tagSubprogram).u8(1).uleb(attrLowPC, formAddrx, 0, 0)
	a.uleb(prText, tagLLVMAnnotation).u8(0).uleb(attrName, formString, attrConstValue, formString, 0, 0)
	a.uleb(prNumber, tagLLVMAnnotation).u8(0).uleb(attrName, formString, attrConstValue, formUdata, 0, 0)
	for _, form := range []uint64{formBlock2, formBlock4, formData8, formBlock, formBlock1, formExprloc} {
		a.uleb(prVariable+form, tagVariable).u8(1).uleb(attrName, formString, attrLocation, form, 0, 0)
	}
	return a.u8(0).b
}

// counters begins a variable whose location is the address 0x4000.
func (a *asm) counters(name string) *asm {
	return a.uleb(prVariable+formExprloc).str(name).u8(9, opAddr).u64(0x4000)
}

func probesOf(s Sections) (got []Probe, err error) {
	if s.Abbrev == nil {
		s.Abbrev = probeAbbrevs()
	}
	err = New(s, Config{Name: "x"}).Probes(func(p *Probe) { got = append(got, *p) })
	return got, err
}

func TestProbes(t *testing.T) {
	var info asm
	for _, part := range [][]byte{
		testInfo(5, func(a *asm) {
			a.uleb(prUnit).u32(0).u32(8)
			a.uleb(prFunc).u64(0x1000).str("_Z1fv").u8(1, 30)
			a.counters("__profc__Z1fv")
			a.uleb(prText).str("Function Name", "f.c;_Z1fv")
			a.uleb(prNumber).str("CFG Hash").uleb(math.MaxUint64)
			a.uleb(prNumber).str("Num Counters").uleb(3)
			a.uleb(prNumber).str("Something else").uleb(4)
			a.u8(0)
			a.counters("elsewhere").u8(0) // a variable, but of no profile
			a.u8(0)
			a.uleb(prBare).uleb(1).counters("__profc_g")
			a.uleb(prText).str("CFG Hash", "a text").uleb(prText).str("Num Counters", "a text")
			a.uleb(prNumber).str("Function Name").uleb(7)
			a.u8(0, 0)
			a.counters("__profc_outside").u8(0) // in no function
			a.u8(0, 0, 0)
		}),
		testInfo(4, func(a *asm) { // no unit of DWARF 5 has these names of files
			a.uleb(prUnit).u32(1 << 20).u32(99)
			a.uleb(prFunc).u64(0x2000).str("h").u8(2, 40).counters("__profc_h").u8(0, 0)
			a.uleb(prBare).uleb(0).counters("__profc_i").u8(0, 0, 0)
		}),
	} {
		info.b = append(info.b, part...)
	}
	var addr asm
	addr.u64(0).u64(0x1000).u64(0x1100) // a header, addresses 0 and 1
	got, err := probesOf(Sections{Info: info.b, Addr: addr.b, Line: lineProgram(5, 1, nil)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Probe{
		{
			Function: "f.c;_Z1fv", Hash: math.MaxUint64, Counters: 3, Counter: 0x4000, Entry: 0x1000,
			Has:         HasFunction | HasHash | HasCounters | HasCounter | HasEntry,
			LinkageName: "_Z1fv", File: "sub/one.c", Line: 30,
		},
		{Counter: 0x4000, Entry: 0x1100, Has: HasCounter | HasEntry}, // declared nowhere
		{Counter: 0x4000, Entry: 0x2000, Has: HasCounter | HasEntry, LinkageName: "h", Line: 40},
		{Counter: 0x4000, Has: HasCounter},
	}
	for i := range got {
		if at := got[i].Offset; at >= uint64(len(info.b)) || info.b[at] != prVariable+formExprloc {
			t.Errorf("probe %d: at %#x is no variable", i, at)
		}
		got[i].Offset = 0
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// TestProbeLocations: only an expression that is an address is one.
func TestProbeLocations(t *testing.T) {
	var addr asm
	addr.u64(0).u64(0x5000).u64(0x5100)
	fixed := append([]byte{opAddr}, new(asm).u64(0x4000).b...)
	for _, c := range []struct {
		name  string
		form  uint64
		size  func(a *asm, n int)
		bytes []byte
		want  uint64
		none  bool
	}{
		{"expression", formExprloc, func(a *asm, n int) { a.uleb(uint64(n)) }, fixed, 0x4000, false},
		{"block", formBlock, func(a *asm, n int) { a.uleb(uint64(n)) }, fixed, 0x4000, false},
		{"block1", formBlock1, func(a *asm, n int) { a.u8(n) }, fixed, 0x4000, false},
		{"block2", formBlock2, func(a *asm, n int) { a.u16(n) }, fixed, 0x4000, false},
		{"block4", formBlock4, func(a *asm, n int) { a.u32(n) }, fixed, 0x4000, false},
		{"index", formBlock1, func(a *asm, n int) { a.u8(n) }, []byte{opAddrx, 1}, 0x5100, false},
		{"index past the end", formBlock1, func(a *asm, n int) { a.u8(n) }, []byte{opAddrx, 2}, 0, true},
		{"another operation", formBlock1, func(a *asm, n int) { a.u8(n) }, []byte{0x50, 0}, 0, true},
		{"a list", formData8, func(a *asm, _ int) {}, make([]byte, 8), 0, true},
	} {
		info := testInfo(5, func(a *asm) {
			a.uleb(prUnit).u32(1 << 20).u32(8)
			a.uleb(prBare).uleb(0).uleb(prVariable + c.form).str("__profc_f")
			c.size(a, len(c.bytes))
			a.b = append(a.b, c.bytes...)
			a.u8(0, 0, 0)
		})
		got, err := probesOf(Sections{Info: info, Addr: addr.b})
		if err != nil || len(got) != 1 || got[0].Counter != c.want || got[0].Has&HasCounter == 0 != c.none {
			t.Errorf("%s: %+v, %v; want counters at %#x", c.name, got, err, c.want)
		}
	}
}

// TestProbesOfDamagedUnits: a unit that cannot be read costs its own probes, and
// the error tells of the first such.
func TestProbesOfDamagedUnits(t *testing.T) {
	unit := func(dies func(a *asm)) []byte {
		return testInfo(5, func(a *asm) {
			a.uleb(prUnit).u32(1 << 20).u32(0)
			dies(a)
		})
	}
	good := unit(func(a *asm) { a.uleb(prFunc).u64(0x1000).str("g").u8(1, 1).counters("__profc_g").u8(0, 0, 0) })
	const first = 12 + 9 // header and root entry
	for _, c := range []struct {
		name string
		dies func(a *asm)
		want string
	}{
		{
			"no such code", func(a *asm) { a.u8(0x7e) },
			`x: .debug_info at 0x15: abbreviation code is 126, want one of the unit's abbreviations: corrupt program`,
		},
		{
			"cut in a variable", func(a *asm) {
				a.uleb(prFunc).u64(1).str("f").u8(1, 1).uleb(prVariable+formExprloc).str("__profc_f").u8(9, opAddr)
			},
			`x: .debug_info at 0x22: entry is cut off by the end of the section: truncated program`,
		},
		{
			"cut in an annotation", func(a *asm) {
				a.uleb(prFunc).u64(1).str("f").u8(1, 1).counters("__profc_f").uleb(prNumber).str("CFG Hash").u8(0x80)
			},
			`x: .debug_info at 0x37: entry is cut off by the end of the section: truncated program`,
		},
		{
			"cut in a function", func(a *asm) { a.uleb(prFunc).u32(1) },
			`x: .debug_info at 0x15: entry is cut off by the end of the section: truncated program`,
		},
	} {
		bad := unit(c.dies)
		got, err := probesOf(Sections{Info: append(bad, good...)})
		if fe := (*profile.FormatError)(nil); !errors.As(err, &fe) || fe.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if len(got) != 1 || got[0].LinkageName != "g" || got[0].Offset <= uint64(len(bad)+first) {
			t.Errorf("%s: probes %+v, want that of the good unit", c.name, got)
		}
	}
	if _, err := probesOf(Sections{Info: good, Abbrev: []byte{1, 2}}); !errors.Is(err, profile.ErrTruncated) {
		t.Errorf("abbreviations cut off: %v", err)
	}
}

// TestProbesEveryByte: no cut and no flipped bit makes the reader panic, or return an error that has no place.
func TestProbesEveryByte(t *testing.T) {
	whole := testInfo(5, func(a *asm) {
		a.uleb(prUnit).u32(0).u32(0)
		a.uleb(prFunc).u64(0x1000).str("f").u8(1, 30).counters("__profc_f")
		a.uleb(prText).str("Function Name", "f").uleb(prNumber).str("CFG Hash").uleb(300).u8(0, 0, 0)
	})
	line := lineProgram(5, 1, nil)
	check := func(info, line []byte) {
		t.Helper()
		_, err := probesOf(Sections{Info: info, Line: line})
		if fe := hostile.CheckType(t, "x", err); fe != nil && fe.Offset < 0 {
			t.Errorf("no offset: %#v", err)
		}
	}
	for _, cut := range hostile.Cuts(whole, 1) {
		check(cut, line)
	}
	for _, flipped := range hostile.Flips(whole, 1) {
		check(flipped, line)
	}
	for _, cut := range hostile.Cuts(line, 1) {
		check(whole, cut)
	}
	for _, flipped := range hostile.Flips(line, 1) {
		check(whole, flipped)
	}
}
