package instrument

import (
	"strconv"

	"github.com/profuse-pgo/profuse/instrument/internal/asm"
)

// elfWriter prints sections of ELF objects.
type elfWriter struct{ *emitter }

// section puts the record into the group of the function's code where that has
// one, so that the linker keeps or drops them together. Records of functions
// outside of groups form one for each section of code: without, --gc-sections
// of GNU ld would drop the map, to which nothing refers.
func (w elfWriter) section(s recordSection, id int) {
	group, comdat := w.groupName(id)
	suffix := ""
	if comdat {
		suffix = ",comdat"
	}
	w.line("\t.section\t", s.name(), `,"`, w.flags(s), `G",`, w.progbits(), ",", group, suffix)
}

// flags are those of the section: only raw records are loaded.
func (w elfWriter) flags(s recordSection) string {
	if s == rawSection {
		return "aw"
	}
	return "w"
}

// progbits is the section type; '@' begins comments on ARM.
func (w elfWriter) progbits() string {
	if w.Target.Arch == asm.ARM {
		return "%progbits"
	}
	return "@progbits"
}

// header prints the header as a COMDAT, which every object has and the first
// object's survives, at the start of the section. R keeps it from garbage
// collection.
func (w elfWriter) header(s recordSection) {
	w.line("\t.section\t", s.name(), `,"`, w.flags(s), `GR",`, w.progbits(), ",", s.name(), "_header,comdat")
	const start = "__start_" + asm.RawSection
	w.line("\t.hidden\t", start)
	w.headerFields(s, localPrefix(w.Target)+"h"+strconv.Itoa(int(s)), start)
}

func (w elfWriter) finish() {}
