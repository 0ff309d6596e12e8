package instrument

import (
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

type elfWriter struct{ *emitter }

// section puts the record into the section group of the function's code, so that the linker keeps or
// drops both together. If the code is in no group, the records of each code section form one: otherwise
// --gc-sections of GNU ld would drop the map, which nothing refers to.
func (w elfWriter) section(s recordSection, id int) {
	group, comdat := w.groupName(id)
	suffix := ""
	if comdat {
		suffix = ",comdat"
	}
	w.text.Line("\t.section\t", s.name(), `,"`, w.flags(s), `G",`, w.kind(s), ",", group, suffix)
}

// flags returns the section flags: only raw records and hits are loaded.
func (w elfWriter) flags(s recordSection) string {
	if s == rawSection || s == hitSection {
		return "aw"
	}
	return "w"
}

// kind returns the section type; '@' begins a comment on ARM.
func (w elfWriter) kind(s recordSection) string {
	switch {
	case s == hitSection, s == rawSection && w.hits():
		return "@nobits"
	case w.Target.Arch == asm.ARM:
		return "%progbits"
	}
	return "@progbits"
}

// header prints the header as a COMDAT at the start of the section: every object has it and the linker
// keeps the first. The flag R (SHF_GNU_RETAIN) keeps it from garbage collection. Sections without
// contents begin with room for it, or with nothing, but with a part that GNU ld can keep instead of a
// function's; the header is in another section.
func (w elfWriter) header(s recordSection) {
	comdat := func(name, flags, kind string) {
		w.text.Line("\t.section\t", name, `,"`, flags, `GR",`, kind, ",", name, "_header,comdat")
	}
	comdat(s.name(), w.flags(s), w.kind(s))
	switch {
	case s == rawSection && w.hits():
		w.text.Line("\t.p2align\t3\n\t.skip\t32")
		return
	case s == hitSection:
		w.text.Line("\t.balign\t", strconv.Itoa(w.opt.hitWidth()))
		comdat(asm.HeaderSection, "a", "@progbits")
	}
	const start = "__start_" + asm.RawSection
	w.text.Line("\t.hidden\t", start)
	w.headerFields(s, localPrefix(w.Target)+"h"+strconv.Itoa(int(s)), start)
}

func (w elfWriter) finish() {}
