package dwarf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/profuse-pgo/profuse/test/hostile"
)

// An asm builds sections byte by byte, little-endian.
type asm struct{ b []byte }

func (a *asm) u8(v ...int) *asm {
	for _, x := range v {
		a.b = append(a.b, byte(x))
	}
	return a
}

func (a *asm) u16(v int) *asm { a.b = binary.LittleEndian.AppendUint16(a.b, uint16(v)); return a }

func (a *asm) u32(v int) *asm    { a.b = binary.LittleEndian.AppendUint32(a.b, uint32(v)); return a }
func (a *asm) u64(v uint64) *asm { a.b = binary.LittleEndian.AppendUint64(a.b, v); return a }
func (a *asm) uleb(v ...uint64) *asm {
	for _, x := range v {
		a.b = binary.AppendUvarint(a.b, x)
	}
	return a
}

func (a *asm) str(s ...string) *asm {
	for _, x := range s {
		a.b = append(append(a.b, x...), 0)
	}
	return a
}

// sized appends a 32-bit length and what fn appends after it.
func (a *asm) sized(fn func()) *asm {
	at := len(a.b)
	a.u32(0)
	fn()
	binary.LittleEndian.PutUint32(a.b[at:], uint32(len(a.b)-at-4))
	return a
}

// lineProgram builds a table of that version, whose program is given, with minimum_instruction_length 4, line_base
// -3, line_range 12, opcode_base 14: opcode 13 is not a standard one, and has two operands.
func lineProgram(version, maxOps int, program []byte) []byte {
	var a asm
	a.sized(func() {
		a.u16(version)
		if version >= 5 {
			a.u8(8, 0)
		}
		a.sized(func() {
			a.u8(4)
			if version >= 4 {
				a.u8(maxOps)
			}
			a.u8(1, -3, 12, 14)
			a.u8(0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2)
			if version >= 5 {
				// Directories and files: a path inline, and of files the directory and an MD5.
				a.u8(1).uleb(lnctPath, formString).uleb(2).str("/comp", "sub")
				a.u8(3).uleb(lnctPath, formString, lnctDirectoryIndex, formData1, 5, formData16)
				a.uleb(2).str("zero.c").u8(0).u64(0).u64(0).str("one.c").u8(1).u64(0).u64(0)
			} else {
				a.str("sub", "/abs", "")
				a.str("one.c").uleb(0, 7, 8).str("two.c").uleb(1, 0, 0).str("three.c").uleb(2, 0, 0)
				a.str("/four.c").uleb(1, 0, 0).str("five.c").uleb(99, 0, 0).str("")
			}
		})
		a.b = append(a.b, program...)
	})
	return a.b
}

func testUnit(s Sections) *cu {
	d := &Data{Config: Config{Name: "test"}, s: s, spent: newSpent(), read: make([]atomic.Uint32, 1)}
	return &cu{d: d, unit: &unit{format: format{4, 8, 4}}, line: value{form: formSecOffset}}
}

// rowsOf prints the rows of the sequences.
func rowsOf(t *lineTable) string {
	var b strings.Builder
	for _, s := range t.sequences {
		for _, r := range t.rows[s.first:s.last] {
			fmt.Fprintf(&b, "%#x:%d:%d:%d", r.addr, r.file, r.line, r.column)
			if r.discriminator > 0 {
				fmt.Fprintf(&b, ":%d", r.discriminator)
			}
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "[%#x %#x) ", s.low, s.high)
	}
	return strings.TrimSpace(b.String())
}

func TestLinePrograms(t *testing.T) {
	setAddress := func(v uint64) []byte {
		var a asm
		return a.u8(0, 9, lneSetAddress).u64(v).b
	}
	end := []byte{0, 1, lneEndSequence}
	for _, c := range []struct {
		name    string
		maxOps  int
		program [][]byte
		want    string
		cut     bool
	}{
		{
			name: "every opcode",
			program: [][]byte{
				setAddress(0x1000),
				{lnsCopy},
				{lnsAdvanceLine, 0x7d, lnsSetFile, 2, lnsSetColumn, 0x80, 1, lnsAdvancePC, 3, lnsCopy}, // line -3: 1-3 wraps
				{lnsAdvanceLine, 9, lnsNegateStmt, lnsSetBasicBlock, lnsPrologueEnd, lnsEpilogueBegin, lnsSetISA, 5},
				{lnsConstAddPC, lnsCopy}, // (255-14)/12 = 20 instructions
				{lnsFixedAdvancePC, 6, 0, lnsCopy},
				{14 + 12*2 + 5}, // 2 instructions, 2 lines
				{13, 1, 1},      // not standard: two operands
				{0, 2, lneSetDiscriminator, 7, lnsCopy, lnsCopy},
				{0, 3, 0x80, 1, 2}, // unknown extended opcode
				{0, 0},             // of length 0
				end,
			},
			want: "0x1000:1:1:0 0x100c:2:4294967294:128 0x105c:2:7:128 0x1062:2:7:128 0x106a:2:9:128 0x106a:2:9:128:7 0x106a:2:9:128 0x106a:2:9:128 [0x1000 0x106a)",
		},
		{
			name:    "registers are reset",
			program: [][]byte{setAddress(8), {lnsAdvanceLine, 4, lnsSetColumn, 3, lnsCopy, lnsAdvancePC, 1}, end, setAddress(4), {lnsCopy, lnsAdvancePC, 1}, end},
			want:    "0x4:1:1:0 0x8:1:1:0 [0x4 0x8) 0x8:1:5:3 0xc:1:5:3 [0x8 0xc)",
		},
		{
			name:    "more operations per instruction",
			maxOps:  3,
			program: [][]byte{{lnsAdvancePC, 2, lnsCopy, lnsAdvancePC, 2, lnsCopy, lnsAdvancePC, 6, lnsCopy}, end},
			want:    "0x0:1:1:0 0x4:1:1:0 0xc:1:1:0 0xc:1:1:0 [0x0 0xc)",
		},
		{
			name:    "empty sequences do not count",
			program: [][]byte{setAddress(4), {lnsCopy}, end, end, setAddress(1<<64 - 1), {lnsCopy, lnsAdvancePC, 1}, end},
			want:    "",
		},
		{
			name:    "without end",
			program: [][]byte{{lnsCopy, lnsAdvancePC, 1}, end, {lnsCopy, lnsAdvancePC, 1}},
			want:    "0x0:1:1:0 0x4:1:1:0 [0x0 0x4)",
		},
		{
			name:    "cut off",
			program: [][]byte{{lnsCopy, lnsAdvancePC, 1}, end, {lnsCopy, 0, 9, lneSetAddress, 1}},
			want:    "0x0:1:1:0 0x4:1:1:0 [0x0 0x4)",
			cut:     true,
		},
	} {
		maxOps := max(c.maxOps, 1)
		for version := 2; version <= 5; version++ {
			if maxOps > 1 && version < 4 {
				continue
			}
			var program []byte
			for _, p := range c.program {
				program = append(program, p...)
			}
			u := testUnit(Sections{Line: lineProgram(version, maxOps, program)})
			table, err := u.readLineTable()
			if (err != nil) != c.cut {
				t.Errorf("%s, version %d: error %v", c.name, version, err)
			}
			if table == nil {
				continue
			}
			if got := rowsOf(table); got != c.want {
				t.Errorf("%s, version %d:\n got %s\nwant %s", c.name, version, got, c.want)
			}
		}
	}
}

// TestLineHeaderEveryByte: no cut of a table is read as a whole one.
func TestLineHeaderEveryByte(t *testing.T) {
	for version := 2; version <= 5; version++ {
		whole := lineProgram(version, 1, []byte{lnsCopy, lnsAdvancePC, 1, 0, 1, lneEndSequence})
		for n, cut := range hostile.Cuts(whole, 1) {
			u := testUnit(Sections{Line: cut})
			if _, err := u.readLineTable(); err == nil {
				t.Errorf("version %d: %d of %d bytes were enough", version, n, len(whole))
			}
		}
	}
	// An announced number of files that cannot be there.
	var a asm
	a.sized(func() {
		a.u16(5).u8(8, 0)
		a.sized(func() { a.u8(4, 1, 1, -3, 12, 1).u8(0).uleb(1 << 40) })
	})
	if _, err := testUnit(Sections{Line: a.b}).readLineTable(); err == nil {
		t.Error("read 2^40 directories of nothing")
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		version int
		file    uint32
		compDir string
		want    string
	}{
		{4, 0, "/comp", ""},
		{4, 1, "/comp", "/comp/one.c"},
		{4, 1, "", "one.c"},
		{4, 1, "/comp/", "/comp/one.c"},
		{4, 1, "rel", "rel/one.c"},
		{4, 2, "/comp", "/comp/sub/two.c"},
		{4, 3, "/comp", "/abs/three.c"},
		{4, 4, "/comp", "/four.c"},
		{4, 5, "/comp", "/comp/five.c"}, // no such directory
		{4, 6, "/comp", ""},
		{5, 0, "/x", "/comp/zero.c"},
		{5, 1, "/x", "/x/sub/one.c"},
		{5, 2, "/x", ""},
	} {
		u := testUnit(Sections{Line: lineProgram(c.version, 1, nil)})
		table, err := u.readLineTable()
		if err != nil {
			t.Fatal(err)
		}
		if got := table.path(c.file, []byte(c.compDir)); got != c.want {
			t.Errorf("version %d, file %d in %q: %q, want %q", c.version, c.file, c.compDir, got, c.want)
		}
	}
	for path, want := range map[string]bool{
		"": false, "a": false, "/": true, "/a": true, `\a`: false, `\\host\a`: true,
		`C:\a`: true, "c:/a": true, "c:a": false, "1:/a": false, "a/b": false,
	} {
		if isAbs([]byte(path)) != want {
			t.Errorf("isAbs(%q) is not %t", path, want)
		}
	}
}
