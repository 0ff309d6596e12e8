package instrument

import "bytes"

// table is data with the addresses of labels, or their distances to a base:
// mostly jump tables.
type table struct {
	label   int32
	entries []int32 // labels, in order
}

// findReferences notes for every label how control may reach it.
func (f *file) findReferences(set isa) {
	r := references{file: f, isa: set, table: -1}
	for i := range f.stmts {
		s := &f.stmts[i]
		switch {
		case s.kind == stmtLabel:
			r.label(s)
		case s.kind == stmtInstruction:
			r.instruction(s)
		case s.kind == stmtDirective || s.kind == stmtAssign:
			r.directive(s)
		}
	}
	r.flushCallSite()
}

type references struct {
	*file
	isa     isa
	table   int32 // index into file.tables, -1 outside of data
	mention []int32
	// The tables of exception handling print call sites as start − function,
	// end − start, landing pad − function: the start is held until the second
	// difference confirms it, then a landing pad is expected.
	siteStart int32
	held      bool
	expectPad bool
}

func (r *references) label(s *stmt) {
	r.flushCallSite()
	r.table = -1
	if s.opaque != transparent || r.sections[s.section].code && s.fn >= 0 {
		return
	}
	if id := r.labels.find(unquote(r.text(s))); id >= 0 {
		r.table = int32(len(r.tables))
		r.tables = append(r.tables, table{label: id})
	}
}

func (r *references) instruction(s *stmt) {
	text := r.text(s)
	if s.opaque != transparent {
		r.use(text, usedByOther)
		return
	}
	switch kind, target := r.isa.flow(text, s.syntax); kind {
	case flowBranch, flowJump:
		id := r.labels.find(unquote(target))
		if id < 0 {
			r.use(target, usedByOther)
			return
		}
		def := &r.stmts[r.labels.all[id].stmt]
		if def.fn == s.fn && def.section == s.section {
			r.labels.all[id].uses |= usedByBranch
		} else {
			r.labels.all[id].uses |= usedByOther
		}
	default:
		r.use(text, usedByAddress)
	}
}

func (r *references) directive(s *stmt) {
	text := r.text(s)
	if s.opaque != transparent {
		r.use(text, usedByOther)
		return
	}
	word, rest := splitWord(text)
	width := 0
	switch string(word) {
	case ".byte", ".1byte":
		width = 1
	case ".hword", ".short", ".2byte", ".half":
		width = 2
	case ".file", ".loc", ".size", ".type", ".globl", ".ident", ".ascii", ".asciz", ".string", ".section", ".p2align":
		return
	}
	sec := &r.sections[s.section]
	if !sec.loaded || bytes.HasPrefix(word, []byte(".cfi_")) {
		return
	}
	if sec.exception {
		r.exceptionTable(rest)
		return
	}
	ids := r.mentions(rest)
	for _, id := range ids {
		l := &r.labels.all[id]
		l.uses |= usedByTable
		if id := r.stmts[l.stmt].fn; width > 0 && id >= 0 {
			if fn := &r.functions[id]; fn.tableWidth == 0 || width < fn.tableWidth {
				fn.tableWidth = width
			}
		}
	}
	if r.table < 0 || len(ids) == 0 {
		return
	}
	t := &r.tables[r.table]
	for _, arg := range splitArgs(rest) {
		if ids := r.mentions(arg); len(ids) > 0 {
			t.entries = append(t.entries, ids[0])
		}
	}
}

// exceptionTable reads a directive of a language-specific data area. What does
// not look like a call site is taken for a landing pad.
func (r *references) exceptionTable(operand []byte) {
	ids := r.mentions(operand)
	switch {
	case r.expectPad:
		r.expectPad = false
		if len(ids) > 0 {
			r.labels.all[ids[0]].uses |= usedAsPad
		}
	case len(ids) == 0:
		r.flushCallSite()
	case r.held && len(ids) == 2 && ids[1] == r.siteStart:
		r.held = false
		r.expectPad = true
	default:
		r.flushCallSite()
		r.siteStart, r.held = ids[0], true
	}
}

func (r *references) flushCallSite() {
	if r.held {
		r.labels.all[r.siteStart].uses |= usedAsPad
	}
	r.held, r.expectPad = false, false
}

// use adds a use to all labels in functions that the text mentions.
func (r *references) use(text []byte, how labelUses) {
	for _, id := range r.mentions(text) {
		r.labels.all[id].uses |= how
	}
}

// appendMentions appends the private labels in the text, in order.
func (f *file) appendMentions(dst []int32, text []byte) []int32 {
	first := byte('.')
	if f.target.Format == MachO {
		first = 'L'
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := skipString(text, i)
			if name := unquote(text[i:end]); len(name) > 0 && f.target.private(name) {
				if id := f.labels.find(name); id >= 0 {
					dst = append(dst, id)
				}
			}
			i = end
		case symbolChar[c]:
			end := i + 1
			for end < len(text) && symbolChar[text[end]] {
				end++
			}
			if (c == first || c == 'l' && first == 'L') && f.target.private(text[i:end]) {
				if id := f.labels.find(text[i:end]); id >= 0 {
					dst = append(dst, id)
				}
			}
			i = end
		default:
			i++
		}
	}
	return dst
}

func (r *references) mentions(text []byte) []int32 {
	r.mention = r.appendMentions(r.mention[:0], text)
	return r.mention
}

// isBlockName tells by their names the labels that compilers print for basic
// blocks: .L12 of gcc and .LBB3_12 of LLVM. Others, as those for debug
// information, stand in the middle of blocks. llvm is set for the latter,
// which LLVM prints only for blocks that are reached other than from above.
func (t Target) isBlockName(name []byte) (is, llvm bool) {
	if t.Format == ELF {
		if len(name) == 0 || name[0] != '.' {
			return false, false
		}
		name = name[1:]
	}
	if len(name) < 2 || name[0] != 'L' {
		return false, false
	}
	name = name[1:]
	if rest, ok := bytes.CutPrefix(name, []byte("BB")); ok {
		a, b, ok := bytes.Cut(rest, []byte("_"))
		llvm = ok && allDigits(a) && allDigits(b)
		return llvm, llvm
	}
	return allDigits(name), false
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// leads reports whether a basic block begins at the label.
func (f *file) leads(id int32) bool {
	l := &f.labels.all[id]
	if l.uses&(usedByBranch|usedByOther) != 0 {
		return true
	}
	is, llvm := f.target.isBlockName(unquote(f.text(&f.stmts[l.stmt])))
	return llvm || is && l.uses != 0
}
