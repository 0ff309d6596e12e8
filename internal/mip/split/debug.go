package split

import (
	"bytes"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// Compilers list a compilation unit's code ranges in its debug information, and the lists cannot be
// extended in the assembly text. Cold parts therefore get a unit of their own with a subprogram for each
// part and the line table of the file. The unit is DWARF 4, which all consumers read. It describes no
// variables and no inlined functions.

// coldUnit is a cold part with line numbers; label+"s" marks its start and label+"z" its end.
type coldUnit struct{ name, label string }

// lineTables are the labels of the line table, of LLVM and gcc.
var lineTables = []string{".Lline_table_start0", ".Ldebug_line0"}

// DWARF constants.
const (
	dwTagCompileUnit = 0x11
	dwTagSubprogram  = 0x2e
	dwAtName         = 0x03
	dwAtStmtList     = 0x10
	dwAtLowPC        = 0x11
	dwAtHighPC       = 0x12
	dwAtCompDir      = 0x1b
	dwAtRanges       = 0x55
	dwAtLinkageName  = 0x6e
	dwFormAddr       = 0x01
	dwFormData4      = 0x06
	dwFormString     = 0x08
	dwFormSecOffset  = 0x17
)

// debugUnit prints the unit that describes all cold parts with lines.
func (s *Splitter) debugUnit(t *asm.Text) {
	table := ""
	for _, name := range lineTables {
		if s.Labels.Find([]byte(name)) >= 0 {
			table = name
		}
	}
	if table == "" {
		return
	}
	numbers := func(values ...int) {
		for _, v := range values {
			t.Line("\t.uleb128 ", strconv.Itoa(v))
		}
	}
	const abbreviations, unit, ranges = UseStem + "a", UseStem + "u", UseStem + "r"
	t.Line("\t.section\t.debug_abbrev,\"\",@progbits")
	t.Line(abbreviations, ":")
	numbers(1, dwTagCompileUnit, 1, dwAtStmtList, dwFormSecOffset, dwAtName, dwFormString, dwAtCompDir, dwFormString,
		dwAtLowPC, dwFormAddr, dwAtRanges, dwFormSecOffset, 0, 0)
	numbers(2, dwTagSubprogram, 0, dwAtLowPC, dwFormAddr, dwAtHighPC, dwFormData4, dwAtLinkageName, dwFormString, 0, 0, 0)
	t.Line("\t.section\t.debug_info,\"\",@progbits")
	t.Line("\t.long\t", unit, "e-", unit)
	t.Line(unit, ":")
	t.Line("\t.short\t4")
	t.Line("\t.long\t", abbreviations)
	t.Line("\t.byte\t8")
	name, dir := s.sourceFile()
	numbers(1)
	t.Line("\t.long\t", table)
	t.Line("\t.asciz\t\"", name, `"`)
	t.Line("\t.asciz\t\"", dir, `"`)
	t.Line("\t.quad\t0")
	t.Line("\t.long\t", ranges)
	for _, u := range s.coldUnits {
		numbers(2)
		t.Line("\t.quad\t", u.label, "s")
		t.Line("\t.long\t", u.label, "z-", u.label, "s")
		t.Line("\t.asciz\t\"", u.name, `"`)
	}
	numbers(0)
	t.Line(unit, "e:")
	t.Line("\t.section\t.debug_ranges,\"\",@progbits")
	t.Line(ranges, ":")
	for _, u := range s.coldUnits {
		t.Line("\t.quad\t", u.label, "s, ", u.label, "z")
	}
	t.Line("\t.quad\t0, 0")
}

// sourceFile returns the name and folder of the source, escaped as in the text,
// or "" if no .file directive gives them.
func (s *Splitter) sourceFile() (name, dir string) {
	for i := range s.Stmts {
		st := &s.Stmts[i]
		word, rest := asm.SplitWord(s.Text(st))
		if st.Kind != asm.StmtDirective || string(word) != ".file" {
			continue
		}
		if rest = bytes.TrimSpace(rest); len(rest) > 0 && rest[0] == '"' {
			name = string(asm.Unquote(rest))
		} else if rest, ok := bytes.CutPrefix(rest, []byte("0 ")); ok { // DWARF 5
			rest = bytes.TrimLeft(rest, " \t")
			if end, ok := asm.ScanSymbol(rest, 0); ok && rest[0] == '"' && len(bytes.TrimSpace(rest[end:])) > 0 {
				dir = string(rest[1 : end-1])
			}
		}
	}
	return name, dir
}
