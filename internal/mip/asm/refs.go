package asm

import "bytes"

// table is data with the addresses of labels, or their distances to a base: usually a jump table.
type table struct {
	label   int32
	entries []int32 // labels, in order
}

// findReferences records for every label how control may reach it.
func (f *File) findReferences() {
	r := references{File: f, table: -1}
	for i := range f.Stmts {
		s := &f.Stmts[i]
		switch {
		case s.Kind == StmtLabel:
			r.label(s)
		case s.Kind == StmtInstruction:
			r.instruction(s)
		case s.Kind == StmtDirective || s.Kind == StmtAssign:
			r.directive(s)
		}
	}
	r.flushCallSite()
}

type references struct {
	*File
	table   int32 // index into file.tables, -1 outside of data
	mention []int32
	// Exception tables print a call site as start − function, end − start,
	// landing pad − function. siteStart holds the start until the second
	// difference confirms it; the next operand is then a landing pad.
	siteStart int32
	held      bool
	expectPad bool
}

// label begins a table if the label stands before data.
func (r *references) label(s *Stmt) {
	r.flushCallSite()
	r.table = -1
	if s.Opaque != Transparent || r.Sections[s.Section].Code && s.Fn >= 0 {
		return
	}
	if id := r.Labels.Find(Unquote(r.Text(s))); id >= 0 {
		r.table = int32(len(r.tables))
		r.tables = append(r.tables, table{label: id})
	}
}

// instruction notes the labels that an instruction mentions: targets of branches, and all others as
// addresses that may be jumped to.
func (r *references) instruction(s *Stmt) {
	text := r.Text(s)
	if s.Opaque != Transparent {
		r.markUses(text, usedByOther)
		return
	}
	switch kind, target := r.Flow(s); kind {
	case FlowBranch, FlowJump:
		id := r.Labels.Find(Unquote(target))
		if id < 0 {
			r.markUses(target, usedByOther)
			return
		}
		def := &r.Stmts[r.Labels.All[id].Stmt]
		if def.Fn == s.Fn && def.Section == s.Section {
			r.Labels.All[id].Uses |= usedByBranch
		} else {
			r.Labels.All[id].Uses |= usedByOther
		}
	default:
		r.markUses(text, usedByAddress)
	}
}

// directive records the labels in data. Data that no code reads, such as debug information, does not
// count.
func (r *references) directive(s *Stmt) {
	text := r.Text(s)
	if s.Opaque != Transparent {
		r.markUses(text, usedByOther)
		return
	}
	word, rest := SplitWord(text)
	width := 0
	switch string(word) {
	case ".byte", ".1byte":
		width = 1
	case ".hword", ".short", ".2byte", ".half":
		width = 2
	case ".file", ".loc", ".size", ".type", ".globl", ".ident", ".ascii", ".asciz", ".string", ".section", ".p2align":
		return
	}
	sec := &r.Sections[s.Section]
	if !sec.Loaded || bytes.HasPrefix(word, []byte(".cfi_")) {
		return
	}
	if sec.Exception {
		r.exceptionTable(rest)
		return
	}
	ids := r.mentions(rest)
	for _, id := range ids {
		l := &r.Labels.All[id]
		l.Uses |= usedByTable
		if id := r.Stmts[l.Stmt].Fn; width > 0 && id >= 0 {
			if fn := &r.Functions[id]; fn.TableWidth == 0 || width < fn.TableWidth {
				fn.TableWidth = width
			}
		}
	}
	if r.table < 0 || len(ids) == 0 {
		return
	}
	t := &r.tables[r.table]
	for _, arg := range SplitArgs(rest) {
		if ids := r.mentions(arg); len(ids) > 0 {
			t.entries = append(t.entries, ids[0])
		}
	}
}

// exceptionTable reads a directive of a language-specific data area (LSDA). It
// counts every label that is not part of a call site as a landing pad.
func (r *references) exceptionTable(operand []byte) {
	ids := r.mentions(operand)
	switch {
	case r.expectPad:
		r.expectPad = false
		if len(ids) > 0 {
			r.markPad(ids[0])
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

// flushCallSite ends a call site. A start that no second difference has confirmed
// counts as a landing pad.
func (r *references) flushCallSite() {
	if r.held {
		r.markPad(r.siteStart)
	}
	r.held, r.expectPad = false, false
}

func (r *references) markPad(id int32) {
	l := &r.Labels.All[id]
	l.Uses |= UsedAsPad
	if fn := r.Stmts[l.Stmt].Fn; fn >= 0 {
		r.Functions[fn].catches = true
	}
}

func (r *references) markUses(text []byte, how labelUses) {
	for _, id := range r.mentions(text) {
		r.Labels.All[id].Uses |= how
	}
}

// AppendMentions appends the private labels that the text mentions, in order.
func (f *File) AppendMentions(dst []int32, text []byte) []int32 {
	first := byte('.')
	if f.Target.Format == MachO {
		first = 'L'
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := skipString(text, i)
			if name := Unquote(text[i:end]); len(name) > 0 && f.Target.private(name) {
				if id := f.Labels.Find(name); id >= 0 {
					dst = append(dst, id)
				}
			}
			i = end
		case symbolChar[c]:
			end := i + 1
			for end < len(text) && symbolChar[text[end]] {
				end++
			}
			if (c == first || c == 'l' && first == 'L') && f.Target.private(text[i:end]) {
				if id := f.Labels.Find(text[i:end]); id >= 0 {
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
	r.mention = r.AppendMentions(r.mention[:0], text)
	return r.mention
}

// isBlockName recognizes by name the labels that compilers print for basic blocks: .L12 of gcc and
// .LBB3_12 of LLVM. Other labels, such as those for debug information, stand in the middle of blocks.
// llvm is set for LLVM's labels. LLVM prints them only for blocks that control can reach other than by
// falling through.
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
		if !IsDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

func (f *File) beginsBlock(id int32) bool {
	l := &f.Labels.All[id]
	if l.Uses&(usedByBranch|usedByOther) != 0 {
		return true
	}
	is, llvm := f.Target.isBlockName(Unquote(f.Text(&f.Stmts[l.Stmt])))
	return llvm || is && l.Uses != 0
}
