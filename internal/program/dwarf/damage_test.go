package dwarf

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

// TestDamagedUnits: what is wrong with a unit's entries or lines is told with
// its place, and what is left of the unit still counts.
func TestDamagedUnits(t *testing.T) {
	const (
		abLines    = 1 // children; low_pc addr, high_pc data4, stmt_list sec_offset, comp_dir string, entry_pc addr
		abIndirect = 2 // no children; const_value indirect
		abUnknown  = 3 // no children; const_value, a form that there is not
		abSubtype  = 4 // no children; subprogram; const_value indirect
	)
	var abbrev asm
	abbrev.uleb(abLines, 0x11).u8(1).uleb(attrLowPC, formAddr, attrHighPC, formData4, attrStmtList, formSecOffset,
		attrCompDir, formString, attrEntryPC, formAddr, 0, 0)
	abbrev.uleb(abIndirect, tagVariable).u8(0).uleb(attrConstValue, formIndirect, 0, 0)
	abbrev.uleb(abUnknown, tagVariable).u8(0).uleb(attrConstValue, 1<<20, 0, 0)
	abbrev.uleb(abSubtype, tagSubprogram).u8(0).uleb(attrConstValue, formIndirect, 0, 0).u8(0)
	program := new(asm).u8(0, 9, lneSetAddress).u64(0x1000).u8(lnsCopy, lnsAdvancePC, 4, 0, 1, lneEndSequence).b
	lines := lineProgram(5, 1, program)
	editLines := func(edit func(b []byte)) []byte {
		b := slices.Clone(lines)
		edit(b)
		return b
	}
	const (
		root   = 12             // offset of the root entry
		second = root + 31      // of the entry after it
		atLine = "sub/one.c:1 " // what the lines say of 0x1000

		entryCut = "x: .debug_info at 0x2b: entry is cut off by the end of the section: truncated program"
	)
	for _, c := range []struct {
		name string
		line []byte
		die  func(a *asm) // at 0x2b, the second
		want string       // the error
		at   string       // what is found at 0x1000
	}{
		{"nothing", lines, func(a *asm) {}, "", atLine},
		{
			"unknown code", lines, func(a *asm) { a.uleb(9) },
			"x: .debug_info at 0x2b: abbreviation code is 9, want one of the unit's abbreviations: corrupt program", atLine,
		},
		{"cut entry", lines, func(a *asm) { a.uleb(abIndirect, formData8).u8(1) }, entryCut, atLine},
		{"indirect form, indirectly", lines, func(a *asm) { a.uleb(abIndirect, formIndirect, formData1).u8(1, 0) }, entryCut, atLine},
		{"constant of the abbreviation, indirectly", lines, func(a *asm) { a.uleb(abSubtype, formImplicitConst).u8(1, 0) }, entryCut, atLine},
		{"unknown form", lines, func(a *asm) { a.uleb(abUnknown, 1, 0) }, entryCut, atLine},
		{
			"no lines there", nil, func(a *asm) {},
			"x: .debug_line at 0x0: line table is cut off by the end of the section: truncated program", "",
		},
		{
			"lines of version 6", editLines(func(b []byte) { b[4] = 6 }), func(a *asm) {},
			"x: .debug_line at 0x0: version of the line table is 6, want 2 to 5: unsupported program", "",
		},
		{
			"header longer than its table", editLines(func(b []byte) { b[10] = 1 }), func(a *asm) {},
			"x: .debug_line at 0x0: header of the line table is cut off by the end of the section: truncated program", "",
		},
		{
			"header shorter than its tables", editLines(func(b []byte) { b[8] -= 8 }), func(a *asm) {},
			"x: .debug_line at 0x0: header of the line table is cut off or damaged: corrupt program", "",
		},
		{
			"operand cut off", lineProgram(5, 1, slices.Concat(program, []byte{lnsAdvancePC, 0x80})), func(a *asm) {},
			"x: .debug_line at 0x0: opcode 2 of the line table is cut off by the end of the section: truncated program", atLine,
		},
		{
			"extended opcode cut off", lineProgram(5, 1, slices.Concat(program, []byte{lnsExtended, 9, lneSetAddress})), func(a *asm) {},
			"x: .debug_line at 0x0: opcode 0 of the line table is cut off by the end of the section: truncated program", atLine,
		},
		{"line range of 0", lineRange0(program), func(a *asm) {}, "", atLine}, // like LLVM, which divides by it nowhere
	} {
		info := testInfo(5, func(a *asm) {
			a.uleb(abLines).u64(0x1000).u32(0x100).u32(0).str("").u64(0x1000)
			for len(a.b) < second {
				a.u8(0) // padding, which ends no level but the first
			}
			c.die(a)
		})
		d := New(Sections{Info: info, Abbrev: abbrev.b, Line: c.line}, Config{Name: "x"})
		u, err := d.Load(0)
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		at := ""
		for _, f := range u.Frames(nil, 0x1000) {
			at += fmt.Sprintf("%s%s:%d ", f.Function, f.File, f.Line)
		}
		if at != c.at {
			t.Errorf("%s: at 0x1000 %q, want %q", c.name, at, c.at)
		}
	}
}

// lineRange0 is a table whose special opcodes advance by nothing; one follows the program.
func lineRange0(program []byte) []byte {
	b := lineProgram(5, 1, slices.Concat(program, []byte{200, lnsConstAddPC}))
	i := slices.Index(b, 12) // line_range
	b[i] = 0
	return b
}

// TestArangesHeaders: a set that is not understood ends the table, and the units
// listed behind it are found by their entries.
func TestArangesHeaders(t *testing.T) {
	unit := testInfo(5, func(a *asm) { a.uleb(abUnit).u64(0x1000).u32(0x10).str("unit").u8(0) })
	set := func(version, addrSize, segment int) []byte {
		var a asm
		a.sized(func() { a.u16(version).u32(0).u8(addrSize, segment).u32(0).u64(0x5000).u64(0x20).u64(0).u64(0) })
		return a.b
	}
	short := set(2, 8, 0)
	short = short[:len(short)-4] // the end of the list is cut
	binary.LittleEndian.PutUint32(short, uint32(len(short)-4))
	for _, c := range []struct {
		name    string
		aranges []byte
		want    uint64
	}{
		{"sound", set(2, 8, 0), 0x5000},
		{"without end", short, 0x5000},
		{"version 1", set(1, 8, 0), 0x1000},
		{"version 6", set(6, 8, 0), 0x1000},
		{"address size 2", set(2, 2, 0), 0x1000},
		{"segments", set(2, 8, 4), 0x1000},
		{"header cut off", []byte{4, 0, 0, 0, 2, 0, 0, 0}, 0x1000},
	} {
		d := New(Sections{Info: unit, Abbrev: testAbbrevs(), Aranges: c.aranges}, Config{})
		for _, addr := range []uint64{0x1000, 0x5000} {
			if found := d.Unit(addr) == 0; found != (addr == c.want) {
				t.Errorf("%s: unit found at %#x: %t", c.name, addr, found)
			}
		}
	}
}
