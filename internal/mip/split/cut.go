package split

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// cutBlocks moves the marked blocks from the function to the end of the file. flags are the flags of
// the function's section; the section of the cold part gets the same flags.
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
	c.switchSyntax(end)
	if c.needsTable {
		c.table(flags)
	}
	s.tailText = c.text
	if c.hasLines {
		s.coldUnits = append(s.coldUnits, coldUnit{name: s.fn.Name, label: c.start})
	}
}

// coldPart prints the blocks that move out of a function as a function of their own.
type coldPart struct {
	*Splitter
	text       asm.Text
	start      string // prefix of all its labels
	syntax     asm.X86Syntax
	unwinds    bool // it has call frame information
	needsTable bool // it has an exception table
	hasLines   bool // it has line numbers

	current  *cfiState // at the end of the text
	sites    int       // number of entries of the exception table so far
	openSite int       // the open entry, -1 for none
}

func (c *coldPart) begin(name, flags string) {
	c.text.Line("\t.section\t", asm.QuoteLike(nil, ".text.unlikely."+c.fn.Name), ",", flags)
	c.text.Line("\t.type\t", name, ", @function")
	c.text.Line(name, ":")
	c.text.Line(c.start, "s:")
	if c.unwinds {
		c.text.Line("\t.cfi_startproc")
	}
	if c.needsTable {
		c.text.Line("\t", string(c.cfi.personality))
		encoding, _, _ := bytes.Cut(bytes.TrimPrefix(c.cfi.lsda, []byte(".cfi_lsda")), []byte(","))
		c.text.Line("\t.cfi_lsda ", string(bytes.TrimSpace(encoding)), ", ", c.start, "t")
	}
}

// block prints a block, and a jump if the next block stays. Labels with the tie goesAlong move with it.
func (c *coldPart) block(b int) {
	needsLine := !c.cut[b-1] // the previous block stays, so no line is set
	c.text.Line(c.startLabel(b), ":")
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
				c.text.Line(string(text), ":")
			}
		case st.Kind == asm.StmtDirective && isLoc(text):
			c.text.Line("\t", string(text))
			needsLine = false
		}
	}
	if next := b + 1; c.parts[b].falls && next < len(c.parts) && !c.cut[next] {
		c.text.Line("\tjmp\t", c.startLabel(next))
	}
}

// code prints an instruction, after the directives that it needs and that are not yet in effect: call
// frame information, line, entry of the exception table, syntax.
func (c *coldPart) code(i int32, needsLine bool) {
	if c.unwinds && !c.state[i].equal(c.current) {
		printCFI(&c.text, c.current, c.state[i])
		c.current = c.state[i]
	}
	if loc := c.locs[i]; loc != nil {
		c.hasLines = true
		if needsLine {
			c.text.Line("\t", plainLoc(loc))
		}
	}
	if c.needsTable {
		if siteOf(c.Splitter.sites, i) != siteThrough {
			c.endSite()
		} else if c.openSite < 0 {
			c.openSite = c.sites
			c.sites++
			c.text.Line(c.start, "b", strconv.Itoa(c.openSite), ":")
		}
	}
	st := &c.Stmts[i]
	c.switchSyntax(st.Syntax)
	c.text.Line("\t", string(c.Text(st)))
}

// endSite ends the open entry of the exception table.
func (c *coldPart) endSite() {
	if c.openSite >= 0 {
		c.text.Line(c.start, "e", strconv.Itoa(c.openSite), ":")
		c.openSite = -1
	}
}

func (c *coldPart) end(name string) {
	c.endSite()
	c.text.Line(c.start, "z:")
	if c.unwinds {
		c.text.Line("\t.cfi_endproc")
	}
	c.text.Line("\t.size\t", name, ", ", c.start, "z-", c.start, "s")
}

// cutFromHot makes the edits to the remaining part of the function. It removes what moves, adds the jumps
// and labels that lead into the cold part and back, and prints the call frame information anew.
func (s *Splitter) cutFromHot() {
	h := hotPart{Splitter: s, current: &cfiState{offset: initialCFAOffset}, begun: -1}
	for k, i := range s.own {
		st := &s.Stmts[i]
		_, isCode := s.state[i]
		switch b := s.block[k]; {
		case b >= 0 && s.cut[b]:
			h.resumed = true
			s.removeMoved(st, isCode)
		case isCode:
			h.code(k)
		case st.Kind != asm.StmtDirective || st.Opaque != asm.Transparent:
		case isLoc(s.Text(st)):
			h.resumed = false
		case changesCFI(s.Text(st)):
			s.removeLine(int(st.Pos), int(st.End))
		}
	}
	for b := range s.parts {
		if b+1 < len(s.parts) && !s.cut[b] && s.cut[b+1] {
			s.joinCold(b)
		}
	}
}

// removeMoved removes a statement of a block that moves, unless it stays behind.
func (s *Splitter) removeMoved(st *asm.Stmt, isCode bool) {
	text := s.Text(st)
	switch {
	case isCode, st.Kind == asm.StmtDirective && (isLoc(text) || asm.IsAlignment(text) || changesCFI(text)):
		s.removeLine(int(st.Pos), int(st.End))
	case st.Kind == asm.StmtLabel:
		if id := s.Labels.Find(asm.Unquote(text)); s.ties[id]&goesAlong != 0 {
			s.removeLine(int(st.Pos), asm.SkipBlanks(s.Src, int(st.End))+1)
		}
	}
}

type hotPart struct {
	*Splitter
	current *cfiState // in effect
	resumed bool      // blocks have moved since the last .loc
	begun   int32     // the last block with an instruction so far
}

// code edits the instruction with index k among the function's statements.
func (h *hotPart) code(k int) {
	i, b := h.own[k], h.block[k]
	st := &h.Stmts[i]
	var before asm.Text // lines that precede the instruction
	if b >= 0 && b != h.begun {
		h.begun = b
		if b > 0 && h.cut[b-1] && h.parts[b-1].falls {
			before.Line(h.startLabel(int(b)), ":")
		}
	}
	if h.cfi.procedures > 0 && !h.state[i].equal(h.current) {
		printCFI(&before, h.current, h.state[i])
		h.current = h.state[i]
	}
	if h.resumed && h.locs[i] != nil {
		before.Line("\t", plainLoc(h.locs[i]))
	}
	h.resumed = false
	dropped := b >= 0 && int(h.parts[b].end) == k && h.dropsJump(int(b))
	switch {
	case len(before) > 0 && dropped:
		h.edit(st.Pos, st.End, "\n"+string(before)+"\t")
	case len(before) > 0:
		h.edit(st.Pos, st.Pos, "\n"+string(before)+"\t")
	case dropped:
		h.removeLine(int(st.Pos), int(st.End))
	}
}

// nextStaying returns the block behind block b, which stays, that follows it once the
// cold blocks between them have moved; len(s.parts) if none does.
func (s *Splitter) nextStaying(b int) int {
	for b++; b < len(s.parts) && s.cut[b]; b++ {
	}
	return b
}

// dropsJump reports whether block b, which stays, ends with a jump to the block that
// follows it only after the move.
func (s *Splitter) dropsJump(b int) bool {
	to := s.nextStaying(b)
	word, target := s.lastBranch(b)
	return to > b+1 && to < len(s.parts) && word == "jmp" && s.leadsTo(target, to)
}

// joinCold lets block b, which stays, reach the cold block behind it. A conditional branch
// around the cold block is inverted, which saves the jump.
func (s *Splitter) joinCold(b int) {
	last := &s.Stmts[s.own[s.parts[b].end]]
	cold := s.startLabel(b + 1)
	if mnemonic, ok := s.inverted(b, s.nextStaying(b)); ok {
		s.edit(last.Pos, last.End, mnemonic+"\t"+cold)
	} else if s.parts[b].falls {
		s.edit(last.End, last.End, "\n\tjmp\t"+cold)
	}
}

func (s *Splitter) edit(pos, end int32, text string) {
	s.edits = append(s.edits, asm.Edit{Pos: int(pos), End: int(end), Text: text})
}

// changesCFI reports whether a directive changes the call frame information. The output of printCFI replaces
// such directives.
func changesCFI(text []byte) bool {
	word, _ := asm.SplitWord(text)
	return isCFI(text) && !slices.Contains([]string{".cfi_startproc", ".cfi_endproc", ".cfi_personality", ".cfi_lsda"}, string(word))
}

// removeLine removes a statement, and its line if the line holds nothing else but a comment.
func (s *Splitter) removeLine(pos, end int) {
	from, to := pos, asm.SkipBlanks(s.Src, end)
	for from > 0 && (s.Src[from-1] == ' ' || s.Src[from-1] == '\t') {
		from--
	}
	if from > 0 && s.Src[from-1] != '\n' || to < len(s.Src) && s.Src[to] != '\n' && s.Src[to] != '#' {
		s.edit(int32(pos), int32(end), "")
		return
	}
	s.edit(int32(from), int32(min(asm.LineEnd(s.Src, to)+1, len(s.Src))), "")
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

// switchSyntax switches to a syntax if another one is in effect.
func (c *coldPart) switchSyntax(to asm.X86Syntax) {
	if c.syntax == to {
		return
	}
	c.syntax = to
	c.text.Line(map[asm.X86Syntax]string{
		asm.AttPrefix: "\t.att_syntax prefix", asm.AttNoPrefix: "\t.att_syntax noprefix",
		asm.IntelPrefix: "\t.intel_syntax prefix", asm.IntelNoPrefix: "\t.intel_syntax noprefix",
	}[to])
}

// needsTable reports whether the cold part needs an exception table. Without
// one, exceptions pass through it. Exceptions in an instruction that the original table does
// not cover end the program, and would pass if the part had no table.
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

// table prints an exception table whose entries let exceptions pass. A call that it does not
// list ends the program.
func (c *coldPart) table(flags string) {
	t, start := &c.text, c.start
	table := `"a",@progbits`
	if group, ok := strings.CutPrefix(flags, `"axG",@progbits,`); ok {
		table = `"aG",@progbits,` + group
	}
	t.Line("\t.section\t", asm.QuoteLike(nil, ".gcc_except_table."+c.fn.Name+".cold"), ",", table)
	t.Line("\t.p2align\t2")
	t.Line(start, "t:")
	t.Line("\t.byte\t255, 255, 1") // no base, no types, ULEB128
	t.Line("\t.uleb128 ", start, "y-", start, "x")
	t.Line(start, "x:")
	for i := range c.sites {
		n := strconv.Itoa(i)
		t.Line("\t.uleb128 ", start, "b", n, "-", start, "s")
		t.Line("\t.uleb128 ", start, "e", n, "-", start, "b", n)
		t.Line("\t.byte\t0, 0")
	}
	t.Line(start, "y:")
}
