package split

import (
	"bytes"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// cutBlocks removes the marked blocks from the function and appends them to the
// end of the file.
func (s *Splitter) cutBlocks(flags string) {
	s.cutFromHot()
	end := s.syntaxBefore(len(s.Stmts))
	c := coldPart{
		Splitter: s, text: s.tailText, start: UseStem + strconv.Itoa(int(s.id)), syntax: end,
		unwinds: s.cfi.procedures > 0, needsTable: s.needsTable(),
		current: &cfiState{offset: initialCFAOffset}, openSite: -1,
	}
	name := s.coldName()
	c.begin(name, flags)
	for b := range s.parts {
		if s.cut[b] {
			c.block(b)
		}
	}
	c.end(name)
	c.text, _ = appendSyntax(c.text, c.syntax, end)
	if c.needsTable {
		c.text = s.appendTable(c.text, c.start, flags, c.sites)
	}
	s.tailText = c.text
	if c.hasLines {
		s.coldUnits = append(s.coldUnits, coldUnit{name: s.fn.Name, label: c.start})
	}
}

// coldPart prints the blocks that move out of a function as a function of their
// own.
type coldPart struct {
	*Splitter
	text       []byte
	start      string // prefix of all its labels
	syntax     asm.X86Syntax
	unwinds    bool // it has call frame information
	needsTable bool // it has an exception table
	hasLines   bool // it has line numbers

	current  *cfiState // at the end of the text
	sites    int       // number of entries of the exception table so far
	openSite int       // the open entry, -1 for none
}

func (c *coldPart) line(parts ...string) {
	for _, p := range parts {
		c.text = append(c.text, p...)
	}
	c.text = append(c.text, '\n')
}

// begin prints the directives before the first block.
func (c *coldPart) begin(name, flags string) {
	c.line("\t.section\t", asm.QuoteLike(nil, ".text.unlikely."+c.fn.Name), ",", flags)
	c.line("\t.type\t", name, ", @function")
	c.line(name, ":")
	c.line(c.start, "s:")
	if c.unwinds {
		c.line("\t.cfi_startproc")
	}
	if c.needsTable {
		c.line("\t", string(c.cfi.personality))
		encoding, _, _ := bytes.Cut(bytes.TrimPrefix(c.cfi.lsda, []byte(".cfi_lsda")), []byte(","))
		c.line("\t.cfi_lsda ", string(bytes.TrimSpace(encoding)), ", ", c.start, "t")
	}
}

// block prints a block, and a jump if the next block stays.
func (c *coldPart) block(b int) {
	needsLine := !c.cut[b-1] // the previous block has not set the line
	c.line(c.startLabel(b), ":")
	for _, i := range c.own[c.parts[b].first:c.parts[b].last] {
		st := &c.Stmts[i]
		text := c.Text(st)
		_, isCode := c.state[i]
		switch {
		case isCode:
			c.code(i, needsLine)
			needsLine = false
		case st.Kind == asm.StmtLabel:
			if id := c.Labels.Find(asm.Unquote(text)); c.ties[id]&goesAlong != 0 {
				c.line(string(text), ":")
			}
		case st.Kind == asm.StmtDirective && isLoc(text):
			c.line("\t", string(text))
			needsLine = false
		}
	}
	if next := b + 1; c.parts[b].falls && next < len(c.parts) && !c.cut[next] {
		c.line("\tjmp\t", c.startLabel(next))
	}
}

// code prints an instruction, preceded by the directives that it needs and that
// are not yet in effect: call frame information, line, entry of the exception
// table, syntax.
func (c *coldPart) code(i int32, needsLine bool) {
	if c.unwinds && !c.state[i].equal(c.current) {
		c.text = appendCFI(c.text, c.current, c.state[i])
		c.current = c.state[i]
	}
	if loc := c.locs[i]; loc != nil {
		c.hasLines = true
		if needsLine {
			c.line("\t", plainLoc(loc))
		}
	}
	if c.needsTable {
		if siteOf(c.Splitter.sites, i) != siteThrough {
			c.endSite()
		} else if c.openSite < 0 {
			c.openSite = c.sites
			c.sites++
			c.line(c.start, "b", strconv.Itoa(c.openSite), ":")
		}
	}
	st := &c.Stmts[i]
	c.text, c.syntax = appendSyntax(c.text, c.syntax, st.Syntax)
	c.line("\t", string(c.Text(st)))
}

// endSite ends the open entry of the exception table.
func (c *coldPart) endSite() {
	if c.openSite >= 0 {
		c.line(c.start, "e", strconv.Itoa(c.openSite), ":")
		c.openSite = -1
	}
}

// end prints the directives after the last block.
func (c *coldPart) end(name string) {
	c.endSite()
	c.line(c.start, "z:")
	if c.unwinds {
		c.line("\t.cfi_endproc")
	}
	c.line("\t.size\t", name, ", ", c.start, "z-", c.start, "s")
}

// cutFromHot prepares the edits to the remaining part of the function.
func (s *Splitter) cutFromHot() {
	insert := func(pos int, text string) { s.edits = append(s.edits, asm.Insertion(pos, text)) }
	remove := func(i int32) { s.edits = append(s.edits, s.wholeLine(int(s.Stmts[i].Pos), int(s.Stmts[i].End))) }
	current := &cfiState{offset: initialCFAOffset}
	resumed, begun := false, -1
	for k, i := range s.own {
		st := &s.Stmts[i]
		text := s.Text(st)
		b := int(s.block[k])
		_, isCode := s.state[i]
		if b >= 0 && s.cut[b] {
			resumed = true
			switch {
			case isCode, st.Kind == asm.StmtDirective && (isLoc(text) || asm.IsAlignment(text)):
				remove(i)
			case st.Kind == asm.StmtLabel:
				if id := s.Labels.Find(asm.Unquote(text)); s.ties[id]&goesAlong != 0 {
					s.edits = append(s.edits, s.wholeLine(int(st.Pos), asm.SkipBlanks(s.Src, int(st.End))+1))
				}
			case st.Kind == asm.StmtDirective && s.changesCFI(text):
				remove(i)
			}
			continue
		}
		switch {
		case st.Kind == asm.StmtDirective && st.Opaque == asm.Transparent && isLoc(text):
			resumed = false
		case st.Kind == asm.StmtDirective && st.Opaque == asm.Transparent && s.changesCFI(text):
			remove(i)
		case isCode:
			var add []byte
			if b >= 0 && b != begun {
				begun = b
				if b > 0 && s.cut[b-1] && s.parts[b-1].falls {
					add = append(append(add, s.startLabel(b)...), ":\n"...)
				}
			}
			if s.cfi.procedures > 0 && !s.state[i].equal(current) {
				add = appendCFI(add, current, s.state[i])
				current = s.state[i]
			}
			if resumed && s.locs[i] != nil {
				add = append(append(append(add, '\t'), plainLoc(s.locs[i])...), '\n')
			}
			resumed = false
			if len(add) > 0 {
				insert(int(st.Pos), "\n"+string(add)+"\t")
			}
		}
	}
	for b := 0; b+1 < len(s.parts); b++ {
		if s.cut[b] || !s.cut[b+1] {
			continue
		}
		to := b + 1
		for to < len(s.parts) && s.cut[to] {
			to++
		}
		s.join(b, to, insert, remove)
	}
}

// join repairs the control flow from block b, which stays, to block to, the
// next block that stays.
func (s *Splitter) join(b, to int, insert func(int, string), remove func(int32)) {
	p := &s.parts[b]
	last := s.own[p.end]
	word, target := s.lastBranch(b)
	cold := s.startLabel(b + 1)
	switch mnemonic, ok := s.inverted(b, to); {
	case ok:
		st := &s.Stmts[last]
		s.edits = append(s.edits, asm.Replacement(int(st.Pos), int(st.End), mnemonic+"\t"+cold))
	case p.falls:
		insert(int(s.Stmts[last].End), "\n\tjmp\t"+cold)
	case word == "jmp" && to < len(s.parts) && s.leadsTo(target, to):
		remove(last)
	}
}

// changesCFI reports whether a directive changes the state, which is printed
// anew.
func (s *Splitter) changesCFI(text []byte) bool {
	if !isCFI(text) {
		return false
	}
	word, _ := asm.SplitWord(text)
	switch string(word) {
	case ".cfi_startproc", ".cfi_endproc", ".cfi_personality", ".cfi_lsda":
		return false
	}
	return true
}

// wholeLine returns the edit that removes a statement, and its line if the line
// holds nothing else but a comment.
func (s *Splitter) wholeLine(pos, end int) asm.Edit {
	from, to := pos, asm.SkipBlanks(s.Src, end)
	for from > 0 && (s.Src[from-1] == ' ' || s.Src[from-1] == '\t') {
		from--
	}
	if from > 0 && s.Src[from-1] != '\n' || to < len(s.Src) && s.Src[to] != '\n' && s.Src[to] != '#' {
		return asm.Replacement(pos, end, "")
	}
	return asm.Replacement(from, min(asm.LineEnd(s.Src, to)+1, len(s.Src)), "")
}

func isLoc(text []byte) bool {
	word, _ := asm.SplitWord(text)
	return string(word) == ".loc"
}

// plainLoc returns a .loc directive without the options that hold only for its
// original place: view numbers, and marks of prologue and epilogue.
func plainLoc(text []byte) string {
	fields := bytes.Fields(text)
	n := 1
	for n < len(fields) && n <= 3 && asm.IsDigit(fields[n][0]) { // file, line, column
		n++
	}
	keep := fields[:n:n]
	for i := n; i+1 < len(fields); i++ {
		if name := string(fields[i]); name == "is_stmt" || name == "discriminator" || name == "isa" {
			keep = append(keep, fields[i], fields[i+1])
			i++
		}
	}
	return string(bytes.Join(keep, []byte(" ")))
}

// syntaxBefore returns the syntax in effect before statement i, or at the end.
func (s *Splitter) syntaxBefore(i int) asm.X86Syntax {
	if i == 0 {
		return asm.AttPrefix
	}
	syntax := s.Stmts[i-1].Syntax
	if st := &s.Stmts[i-1]; st.Kind == asm.StmtDirective {
		switch string(s.Text(st)) { // the directive itself stands in the previous syntax
		case ".att_syntax", ".att_syntax prefix":
			syntax = asm.AttPrefix
		case ".intel_syntax noprefix":
			syntax = asm.IntelNoPrefix
		}
	}
	return syntax
}

// appendSyntax switches from one syntax to another.
func appendSyntax(dst []byte, from, to asm.X86Syntax) ([]byte, asm.X86Syntax) {
	if from == to {
		return dst, to
	}
	return append(dst, map[asm.X86Syntax]string{
		asm.AttPrefix: "\t.att_syntax prefix\n", asm.AttNoPrefix: "\t.att_syntax noprefix\n",
		asm.IntelPrefix: "\t.intel_syntax prefix\n", asm.IntelNoPrefix: "\t.intel_syntax noprefix\n",
	}[to]...), to
}

// needsTable reports whether the cold part needs an exception table. Without
// one, exceptions pass through it.
func (s *Splitter) needsTable() bool {
	if s.cfi.lsda == nil || s.cfi.personality == nil {
		return false
	}
	for b := range s.parts {
		if !s.cut[b] {
			continue
		}
		for _, i := range s.own[s.parts[b].first:s.parts[b].last] {
			if _, isCode := s.state[i]; isCode && siteOf(s.sites, i) == siteNone {
				return true
			}
		}
	}
	return false
}

// appendTable prints an exception table whose entries let exceptions pass.
func (s *Splitter) appendTable(t []byte, start, flags string, sites int) []byte {
	line := func(parts ...string) {
		for _, p := range parts {
			t = append(t, p...)
		}
		t = append(t, '\n')
	}
	table := `"a",@progbits`
	if group, ok := bytes.CutPrefix([]byte(flags), []byte(`"axG",@progbits,`)); ok {
		table = `"aG",@progbits,` + string(group)
	}
	line("\t.section\t", asm.QuoteLike(nil, ".gcc_except_table."+s.fn.Name+".cold"), ",", table)
	line("\t.p2align\t2")
	line(start, "t:")
	line("\t.byte\t255, 255, 1") // no base, no types, ULEB128
	line("\t.uleb128 ", start, "y-", start, "x")
	line(start, "x:")
	for i := range sites {
		n := strconv.Itoa(i)
		line("\t.uleb128 ", start, "b", n, "-", start, "s")
		line("\t.uleb128 ", start, "e", n, "-", start, "b", n)
		line("\t.byte\t0, 0")
	}
	line(start, "y:")
	return t
}
