package instrument

import "strconv"

type machOWriter struct{ *emitter }

// section switches to the section for a record. A map record lives as long as
// the function it refers to (live_support).
func (w machOWriter) section(s recordSection, _ int) {
	attributes := ""
	if s != rawSection {
		attributes = ",regular,live_support"
	}
	w.text.Line("\t.section\t__DATA,", s.name(), attributes)
}

// header prints the header as a weak definition, so that the linker keeps only one header.
func (w machOWriter) header(s recordSection) {
	w.section(s, 0)
	symbol := headerSymbol(s)
	w.text.Line("\t.globl\t", symbol)
	w.text.Line("\t.weak_definition\t", symbol)
	w.text.Line("\t.no_dead_strip\t", symbol)
	w.text.Line("\t.p2align\t3")
	w.text.Line(symbol, ":")
	w.headerFields(s, localPrefix(w.Target)+"h"+strconv.Itoa(int(s)), headerSymbol(rawSection))
}

func headerSymbol(s recordSection) string { return "__header$" + s.name() }

// finish lets the linker keep or drop each record separately (.subsections_via_symbols).
func (w machOWriter) finish() {
	w.text.Line("\t.subsections_via_symbols")
}
