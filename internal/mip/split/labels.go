package split

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// ties says what happens to a label when the code after it moves.
type ties byte

const (
	// goesAlong: the label moves with the code. Control reaches it by means that work across sections.
	goesAlong ties = 1 << iota
	// staysBehind: the label stays in the section, since something computes its
	// distance from other places there, as debug information does. A range that
	// ends at the label then covers the remaining code.
	staysBehind
	// fixed: the label may neither move nor stay behind, so its block cannot move.
	fixed
)

func findTies(f *asm.File) []ties {
	t := make([]ties, len(f.Labels.All))
	add := func(text []byte, how ties) {
		for _, id := range f.AppendMentions(nil, text) {
			t[id] |= how
		}
	}
	for i := range f.Stmts {
		s := &f.Stmts[i]
		text := f.Text(s)
		switch {
		case s.Opaque != asm.Transparent:
			add(text, fixed)
		case s.Kind == asm.StmtInstruction:
			how := fixed
			if ids := f.AppendMentions(nil, text); len(ids) == 1 && reachesFar(f, text, ids[0]) {
				how = goesAlong
			}
			add(text, how)
		case s.Kind == asm.StmtAssign:
			add(text, fixed)
		case s.Kind == asm.StmtDirective:
			tieDirective(f, t, s, text)
		}
	}
	for i := range t {
		if f.Labels.All[i].Uses&asm.UsedAsPad != 0 {
			t[i] |= fixed
		}
	}
	return t
}

// reachesFar reports whether an instruction that mentions one label could do so from another section.
// Distances between labels and branches with a displacement of one byte cannot.
func reachesFar(f *asm.File, text []byte, label int32) bool {
	word, rest := asm.SplitWord(text)
	if bytes.HasPrefix(word, []byte("loop")) || bytes.HasSuffix(word, []byte("cxz")) || string(word) == "xbegin" {
		return false // displacements of one byte, or too rare to matter
	}
	// Differences of labels.
	name := f.Text(&f.Stmts[f.Labels.All[label].Stmt])
	i := bytes.Index(rest, name)
	if i < 0 {
		return false
	}
	after := bytes.TrimLeft(rest[i+len(name):], " \t")
	before := bytes.TrimRight(rest[:i], " \t")
	return !bytes.HasPrefix(after, []byte("-")) && !bytes.HasSuffix(before, []byte("-")) &&
		!bytes.Contains(bytes.ToLower(before), []byte("short"))
}

// tieDirective adds the ties that a directive imposes on the labels in it. Only words of 4
// or 8 bytes in loaded data can refer to another section.
func tieDirective(f *asm.File, t []ties, s *asm.Stmt, text []byte) {
	word, rest := asm.SplitWord(text)
	sec := &f.Sections[s.Section]
	wide := false
	switch string(word) {
	case ".long", ".4byte", ".int", ".quad", ".8byte":
		wide = sec.Loaded && !sec.Exception && !sec.Code
	}
	if !wide {
		for _, id := range f.AppendMentions(nil, rest) {
			t[id] |= staysBehind
		}
		return
	}
	for _, arg := range asm.SplitArgs(rest) {
		ids := f.AppendMentions(nil, arg)
		how := fixed
		switch {
		case len(ids) == 1 && bytes.Equal(arg, f.Text(&f.Stmts[f.Labels.All[ids[0]].Stmt])):
			how = goesAlong
		case len(ids) == 2 && bytes.Count(arg, []byte("-")) == 1 && bytes.IndexByte(arg, '+') < 0 && bytes.IndexByte(arg, '(') < 0 &&
			f.Stmts[f.Labels.All[ids[1]].Stmt].Section == s.Section:
			// A distance from a place in the table's own section is relative to
			// the directive, for which there are relocations.
			t[ids[0]] |= goesAlong
			ids = ids[1:]
		}
		for _, id := range ids {
			t[id] |= how
		}
	}
}
