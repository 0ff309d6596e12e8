package asm

import "bytes"

// Sections of MIP records, in segment __DATA on Mach-O.
const (
	RawSection = "__llvm_mipraw" // raw records, which probes write to
	MapSection = "__llvm_mipmap" // map records; not loaded on ELF

	// On x86_64 ELF, probes of coverage write to words of HitSection instead, which take no space in the
	// file. The runtime makes the raw records of these, and of the header in HeaderSection.
	HitSection    = "__profuse_mip_hits"
	HeaderSection = "__profuse_mip_header"
)

// Section is a section of the assembly file.
type Section struct {
	// Key identifies the section: name, group and unique number.
	Name, Key string
	Group     string // with its quotes, if any; "" outside of groups
	Comdat    bool   // Group is a COMDAT
	Code      bool
	Loaded    bool // part of the running program
	Exception bool // language-specific tables of exception handling
}

// sectionTracker follows the directives that switch sections.
type sectionTracker struct {
	*File
	byKey          map[string]int32
	current, other int32 // other is what .previous returns to
	stack          [][2]int32
}

// trackSections sets the section of every statement.
func (f *File) trackSections() error {
	t := sectionTracker{File: f, byKey: map[string]int32{}}
	if f.Target.Format == MachO {
		t.current = t.intern(parseMachOSection([]byte("__TEXT,__text,regular,pure_instructions")))
	} else {
		t.current = t.intern(elfSection(".text"))
	}
	t.other = t.current
	for i := range f.Stmts {
		s := &f.Stmts[i]
		// A switch inside a macro takes effect where the macro is used. The
		// tracker ignores such switches, since compilers print none.
		if s.Kind == StmtDirective && s.Opaque != macro {
			if err := t.directive(f.Text(s)); err != nil {
				return err
			}
		}
		s.Section = t.current
	}
	return nil
}

func (t *sectionTracker) directive(text []byte) error {
	word, rest := SplitWord(text)
	switch string(word) {
	case ".section", ".pushsection":
		var s Section
		if t.Target.Format == MachO {
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
		t.enterSection(t.intern(s))
	case ".popsection":
		if n := len(t.stack); n > 0 {
			t.current, t.other = t.stack[n-1][0], t.stack[n-1][1]
			t.stack = t.stack[:n-1]
		}
	case ".previous":
		t.current, t.other = t.other, t.current
	case ".text", ".data", ".bss":
		if t.Target.Format == ELF {
			t.enterSection(t.intern(elfSection(string(word))))
			break
		}
		fallthrough
	default:
		if t.Target.Format == MachO {
			if name, ok := machOShortSections[string(word)]; ok {
				t.enterSection(t.intern(parseMachOSection([]byte(name))))
			}
		}
	}
	return nil
}

func (t *sectionTracker) enterSection(id int32) { t.current, t.other = id, t.current }

// intern returns the index of the section with the key of s.
func (t *sectionTracker) intern(s Section) int32 {
	if id, ok := t.byKey[s.Key]; ok {
		return id
	}
	id := int32(len(t.Sections))
	t.Sections = append(t.Sections, s)
	t.byKey[s.Key] = id
	return id
}

// SplitArgs cuts the operands of a directive at the commas outside of strings and trims them.
func SplitArgs(text []byte) [][]byte {
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

// IsSectionDirective reports whether a directive switches to a named section.
func IsSectionDirective(text []byte) bool {
	word, _ := SplitWord(text)
	return string(word) == ".section" || string(word) == ".pushsection"
}
