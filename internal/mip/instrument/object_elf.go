package instrument

import (
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// elfWriter prints sections of ELF objects.
type elfWriter struct{ *emitter }

// section puts the record into the section group of the function's code, so that
// the linker keeps or drops both together. If the code is in no group, the
// records of each code section form one: otherwise --gc-sections of GNU ld would
// drop the map, which nothing refers to.
func (w elfWriter) section(s recordSection, id int) {
	group, comdat := w.groupName(id)
	suffix := ""
	if comdat {
		suffix = ",comdat"
	}
	w.text.Line("\t.section\t", s.name(), `,"`, w.flags(s), `G",`, w.progbits(), ",", group, suffix)
}

// flags returns the section flags: only raw records are loaded.
func (w elfWriter) flags(s recordSection) string {
	if s == rawSection {
		return "aw"
	}
	return "w"
}

// progbits returns the section type; '@' begins a comment on ARM.
func (w elfWriter) progbits() string {
	if w.Target.Arch == asm.ARM {
		return "%progbits"
	}
	return "@progbits"
}

// header prints the header as a COMDAT at the start of the section: every
// object has it and the linker keeps the first. The flag R (SHF_GNU_RETAIN)
// keeps it from garbage collection.
func (w elfWriter) header(s recordSection) {
	w.text.Line("\t.section\t", s.name(), `,"`, w.flags(s), `GR",`, w.progbits(), ",", s.name(), "_header,comdat")
	const start = "__start_" + asm.RawSection
	w.text.Line("\t.hidden\t", start)
	w.headerFields(s, localPrefix(w.Target)+"h"+strconv.Itoa(int(s)), start)
}

func (w elfWriter) finish() {}
