package instrument

import (
	"bytes"
	"strconv"
	"strings"
)

// machOShortSections are the directives that name a section.
var machOShortSections = map[string]string{
	".text":         "__TEXT,__text,regular,pure_instructions",
	".data":         "__DATA,__data",
	".bss":          "__DATA,__bss",
	".const":        "__TEXT,__const",
	".const_data":   "__DATA,__const",
	".static_const": "__TEXT,__static_const",
	".static_data":  "__DATA,__static_data",
	".cstring":      "__TEXT,__cstring",
	".literal4":     "__TEXT,__literal4",
	".literal8":     "__TEXT,__literal8",
	".literal16":    "__TEXT,__literal16",
	".tdata":        "__DATA,__thread_data",
	".tlv":          "__DATA,__thread_vars",
}

// parseMachOSection reads the operands of .section: segment, section [, type
// [, attributes [, size of stubs]]].
func parseMachOSection(operands []byte) section {
	args := splitArgs(operands)
	segment, name := string(args[0]), ""
	if len(args) > 1 {
		name = string(args[1])
	}
	s := section{name: segment + "," + name, key: segment + "," + name}
	s.code = bytes.Contains(operands, []byte("pure_instructions")) || s.name == "__TEXT,__text" || s.name == "__TEXT,__StaticInit"
	s.loaded = !strings.HasPrefix(segment, "__DWARF")
	s.exception = name == "__gcc_except_tab"
	s.sled = name == "xray_instr_map"
	return s
}

// machOWriter prints sections of Mach-O objects.
type machOWriter struct{ *emitter }

// section enters the section for a record. Maps live as long as what they
// refer to.
func (w machOWriter) section(s recordSection, _ int) {
	attributes := ""
	if s != rawSection {
		attributes = ",regular,live_support"
	}
	w.line("\t.section\t__DATA,", s.name(), attributes)
}

// header prints the header as a weak definition, of which the linker keeps one.
func (w machOWriter) header(s recordSection) {
	w.section(s, 0)
	symbol := headerSymbol(s)
	w.line("\t.globl\t", symbol)
	w.line("\t.weak_definition\t", symbol)
	w.line("\t.no_dead_strip\t", symbol)
	w.line("\t.p2align\t3")
	w.line(symbol, ":")
	w.headerFields(s, w.target.local()+"h"+strconv.Itoa(int(s)), headerSymbol(rawSection))
}

func headerSymbol(s recordSection) string { return "__header$" + s.name() }

// finish allows the linker to take each record for itself.
func (w machOWriter) finish() {
	w.line("\t.subsections_via_symbols")
}
