package instrument

import (
	"bytes"
	"strconv"
	"strings"
)

// elfSection returns a section with the attributes that its name implies.
func elfSection(name string) section {
	s := section{name: name, key: name}
	family := func(prefix string) bool { return name == prefix || strings.HasPrefix(name, prefix+".") }
	switch {
	case family(".text"), family(".init"), family(".fini"):
		s.code, s.loaded = true, true
	case family(".data"), family(".bss"), family(".rodata"), family(".tdata"), family(".tbss"):
		s.loaded = true
	}
	s.exception = family(".gcc_except_table")
	s.sled = name == "xray_instr_map"
	return s
}

// parseELFSection reads the operands of .section:
//
//	name [, "flags" [, @type [, entsize if M] [, group [, comdat] if G] [, symbol if o] [, unique, N]]]
func (t *sectionTracker) parseELFSection(operands []byte) section {
	args := splitArgs(operands)
	s := elfSection(string(unquote(args[0])))
	if len(args) < 2 || len(args[1]) == 0 || args[1][0] != '"' {
		return s
	}
	flags := unquote(args[1])
	s.code = bytes.IndexByte(flags, 'x') >= 0
	s.loaded = bytes.IndexByte(flags, 'a') >= 0
	next := 3
	if bytes.IndexByte(flags, 'M') >= 0 {
		next++
	}
	if bytes.IndexByte(flags, 'G') >= 0 && len(args) > next {
		s.group = string(args[next])
		s.comdat = len(args) > next+1 && string(args[next+1]) == "comdat"
	}
	if bytes.IndexByte(flags, '?') >= 0 { // the group of the section before
		s.group, s.comdat = t.sections[t.current].group, t.sections[t.current].comdat
	}
	s.key = s.name + "\x00" + s.group
	if len(args) > 3 && string(args[len(args)-2]) == "unique" {
		s.key += "\x00" + string(args[len(args)-1])
	} else if s.group == "" {
		s.key = s.name // as the short forms
	}
	return s
}

// isLargeModelSection tells the sections that only the medium and large code
// models of x86_64 use.
func isLargeModelSection(name string) bool {
	for _, prefix := range []string{".ltext", ".ldata", ".lbss", ".lrodata"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

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
	if w.target.Arch == ARM {
		return "%progbits"
	}
	return "@progbits"
}

// header prints the header as a COMDAT, which every object has and the first
// object's survives, at the start of the section. R keeps it from garbage
// collection.
func (w elfWriter) header(s recordSection) {
	w.line("\t.section\t", s.name(), `,"`, w.flags(s), `GR",`, w.progbits(), ",", s.name(), "_header,comdat")
	const start = "__start_" + RawSection
	w.line("\t.hidden\t", start)
	w.headerFields(s, w.target.local()+"h"+strconv.Itoa(int(s)), start)
}

func (w elfWriter) finish() {}
