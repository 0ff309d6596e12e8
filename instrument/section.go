package instrument

import "bytes"

// section is a section of the file's own.
type section struct {
	// key tells sections apart: name, group and unique number.
	name, key string
	group     string // with its quotes, if any; "" outside of groups
	comdat    bool   // group is a COMDAT
	code      bool
	loaded    bool // part of the running program
	exception bool // language-specific tables of exception handling
	sled      bool // the index of XRay sleds
}

// sectionTracker follows the directives that change sections.
type sectionTracker struct {
	*file
	byKey          map[string]int32
	current, other int32 // other is what .previous returns to
	stack          [][2]int32
}

// trackSections sets the section of every statement.
func (f *file) trackSections() error {
	t := sectionTracker{file: f, byKey: map[string]int32{}}
	if f.target.Format == MachO {
		t.current = t.intern(parseMachOSection([]byte("__TEXT,__text,regular,pure_instructions")))
	} else {
		t.current = t.intern(elfSection(".text"))
	}
	t.other = t.current
	for i := range f.stmts {
		s := &f.stmts[i]
		// Section changes inside macros take effect where the macro is used,
		// which nothing follows: compilers print none.
		if s.kind == stmtDirective && s.opaque != macro {
			if err := t.directive(f.text(s)); err != nil {
				return err
			}
		}
		s.section = t.current
	}
	return nil
}

func (t *sectionTracker) directive(text []byte) error {
	word, rest := splitWord(text)
	switch string(word) {
	case ".section", ".pushsection":
		var s section
		if t.target.Format == MachO {
			s = parseMachOSection(rest)
		} else {
			s = t.parseELFSection(rest)
		}
		if bytes.Contains(rest, []byte("__llvm_mip")) {
			return ErrInstrumented
		}
		if string(word) == ".pushsection" {
			t.stack = append(t.stack, [2]int32{t.current, t.other})
		}
		t.enter(t.intern(s))
	case ".popsection":
		if n := len(t.stack); n > 0 {
			t.current, t.other = t.stack[n-1][0], t.stack[n-1][1]
			t.stack = t.stack[:n-1]
		}
	case ".previous":
		t.current, t.other = t.other, t.current
	case ".text", ".data", ".bss":
		if t.target.Format == ELF {
			t.enter(t.intern(elfSection(string(word))))
			break
		}
		fallthrough
	default:
		if t.target.Format == MachO {
			if name, ok := machOShortSections[string(word)]; ok {
				t.enter(t.intern(parseMachOSection([]byte(name))))
			}
		}
	}
	return nil
}

func (t *sectionTracker) enter(id int32) { t.current, t.other = id, t.current }

// intern returns the index of the section with the key of s.
func (t *sectionTracker) intern(s section) int32 {
	if id, ok := t.byKey[s.key]; ok {
		return id
	}
	id := int32(len(t.sections))
	t.sections = append(t.sections, s)
	t.byKey[s.key] = id
	return id
}

// splitArgs cuts the operands of a directive at the commas outside of strings
// and trims them.
func splitArgs(text []byte) [][]byte {
	var args [][]byte
	start := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			continue
		case ',':
			args = append(args, bytes.TrimSpace(text[start:i]))
			start = i + 1
		}
		i++
	}
	return append(args, bytes.TrimSpace(text[start:]))
}
