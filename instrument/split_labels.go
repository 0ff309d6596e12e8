package instrument

import "bytes"

// ties is what becomes of a label when the code after it moves elsewhere.
type ties byte

const (
	// goesAlong: control reaches it, by means that work across sections.
	goesAlong ties = 1 << iota
	// staysBehind: something computes its distance from other places in the
	// section, as debug information does. Ranges that end there then cover what
	// is left of the code.
	staysBehind
	// fixed: neither is possible.
	fixed
)

// findTies finds the ties of all labels.
func (f *file) findTies() []ties {
	t := make([]ties, len(f.labels.all))
	add := func(text []byte, how ties) {
		for _, id := range f.appendMentions(nil, text) {
			t[id] |= how
		}
	}
	for i := range f.stmts {
		s := &f.stmts[i]
		text := f.text(s)
		switch {
		case s.opaque != transparent:
			add(text, fixed)
		case s.kind == stmtInstruction:
			how := fixed
			if ids := f.appendMentions(nil, text); len(ids) == 1 && f.reachesFar(text, ids[0]) {
				how = goesAlong
			}
			add(text, how)
		case s.kind == stmtAssign:
			add(text, fixed)
		case s.kind == stmtDirective:
			f.tieDirective(t, s, text)
		}
	}
	for i := range t {
		if f.labels.all[i].uses&usedAsPad != 0 {
			t[i] |= fixed
		}
	}
	return t
}

// reachesFar reports whether an instruction that mentions one label can do so
// from another section.
func (f *file) reachesFar(text []byte, label int32) bool {
	word, rest := splitWord(text)
	if bytes.HasPrefix(word, []byte("loop")) || bytes.HasSuffix(word, []byte("cxz")) || string(word) == "xbegin" {
		return false // displacements of a byte, or not worth a thought
	}
	// Differences of labels.
	name := f.text(&f.stmts[f.labels.all[label].stmt])
	i := bytes.Index(rest, name)
	if i < 0 {
		return false
	}
	after := bytes.TrimLeft(rest[i+len(name):], " \t")
	before := bytes.TrimRight(rest[:i], " \t")
	return !bytes.HasPrefix(after, []byte("-")) && !bytes.HasSuffix(before, []byte("-")) &&
		!bytes.Contains(bytes.ToLower(before), []byte("short"))
}

// tieDirective finds what a directive needs of the labels in it.
func (f *file) tieDirective(t []ties, s *stmt, text []byte) {
	word, rest := splitWord(text)
	sec := &f.sections[s.section]
	wide := false
	switch string(word) {
	case ".long", ".4byte", ".int", ".quad", ".8byte":
		wide = sec.loaded && !sec.exception && !sec.code
	}
	if !wide {
		for _, id := range f.appendMentions(nil, rest) {
			t[id] |= staysBehind
		}
		return
	}
	for _, arg := range splitArgs(rest) {
		ids := f.appendMentions(nil, arg)
		how := fixed
		switch {
		case len(ids) == 1 && bytes.Equal(arg, f.text(&f.stmts[f.labels.all[ids[0]].stmt])):
			how = goesAlong
		case len(ids) == 2 && bytes.Count(arg, []byte("-")) == 1 && bytes.IndexByte(arg, '+') < 0 && bytes.IndexByte(arg, '(') < 0 &&
			f.stmts[f.labels.all[ids[1]].stmt].section == s.section:
			// The distance from a place in the section itself is one from here,
			// for which there are relocations.
			t[ids[0]] |= goesAlong
			ids = ids[1:]
		}
		for _, id := range ids {
			t[id] |= how
		}
	}
}
