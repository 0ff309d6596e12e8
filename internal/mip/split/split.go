package split

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// UseStem is part of every label that splitting adds.
const UseStem = ".Lmipuse_"

// Splitter splits the functions of a file.
type Splitter struct {
	*asm.File
	ties     []ties  // of all labels; nil before the first function is split
	entered  []int32 // the first statement that enters each section, -1 for none
	edits    []asm.Edit
	tailText asm.Text // for the end of the file

	// State of the current function.
	id    int32
	fn    *asm.Function
	parts []part
	own   []int32             // its statements in its own section
	state map[int32]*cfiState // at each of its instructions
	cfi   cfiTracker          // state at its end
	sites []callSite          // of its exception table
	locs  map[int32][]byte    // the .loc in effect at each instruction
	block []int32             // block of each statement in own, -1 after the last
	ran   []bool              // by block
	cut   []bool              // by block: it moves
	// coldUnits are the cold parts with line numbers.
	coldUnits []coldUnit
}

// part is a block of the function being split.
type part struct {
	first, last int32 // statements in own: [first, last)
	end         int32 // its last instruction, -1 if it has none
	fixed       bool
	falls       bool // control can reach the next block from its end
}

// New returns a Splitter for a file. The Splitter keeps the file and does not change it.
func New(f *asm.File) *Splitter {
	s := &Splitter{File: f, entered: make([]int32, len(f.Sections))}
	for i := range s.entered {
		s.entered[i] = -1
	}
	for i := range f.Stmts {
		st := &f.Stmts[i]
		if st.Kind == asm.StmtDirective && s.entered[st.Section] < 0 && asm.IsSectionDirective(f.Text(st)) {
			s.entered[st.Section] = int32(i)
		}
	}
	return s
}

// Function moves the blocks of a function that did not run, where that saves bytes. It returns the number
// of blocks moved, or why it could move none. ran has an element for each block of the function. A reason
// is about this function only; others may still be split.
func (s *Splitter) Function(id int32, ran []bool) (moved int, why asm.Reason) {
	if s.ties == nil {
		if bytes.Contains(s.Src, []byte(UseStem)) {
			return 0, asm.UseOpaque
		}
		s.ties = findTies(s.File)
	}
	s.id, s.fn, s.ran = id, &s.Functions[id], ran
	flags, ok := s.sectionFlags(s.fn.Section)
	switch {
	case !ok:
		return 0, asm.UseSection
	case s.fn.BlocksSkip != "":
		return 0, asm.UseBlocks
	}
	if why := s.collectStatements(); why != "" {
		return 0, why
	}
	if why := s.divideBlocks(); why != "" {
		return 0, why
	}
	if moved = s.chooseBlocks(); moved > 0 {
		s.cutBlocks(flags)
	}
	return moved, ""
}

// Finish returns the edits to the file and the text to append to it. It is called once,
// after the last function.
func (s *Splitter) Finish() (edits []asm.Edit, tailText []byte) {
	if len(s.tailText) > 0 && s.coldUnits != nil {
		s.debugUnit(&s.tailText)
	}
	return s.edits, s.tailText
}

// sectionFlags returns the flags and group of a section as .section takes them;
// ok is false if the section is not plain code.
func (s *Splitter) sectionFlags(section int32) (flags string, ok bool) {
	sec := &s.Sections[section]
	if s.entered[section] < 0 {
		return "", false
	}
	_, operands := asm.SplitWord(s.Text(&s.Stmts[s.entered[section]]))
	args := asm.SplitArgs(operands)
	if len(args) < 2 {
		return "", false
	}
	switch string(args[1]) {
	case `"ax"`:
		return `"ax",@progbits`, true
	case `"axG"`:
		flags = `"axG",@progbits,` + sec.Group
		if sec.Comdat {
			flags += ",comdat"
		}
		return flags, sec.Group != ""
	}
	return "", false
}

// collectStatements finds the statements of the function, and the call frame information
// and the line in effect at each instruction. It returns why the function cannot be split,
// "" if it can: a directive whose effect is unknown could depend on its place.
func (s *Splitter) collectStatements() asm.Reason {
	s.own, s.state, s.locs = s.own[:0], map[int32]*cfiState{}, map[int32][]byte{}
	s.cfi, s.sites = cfiTracker{}, nil
	var loc []byte
	current := &cfiState{}
	for i, st := range s.Statements(s.id) {
		text := s.Text(st)
		s.own = append(s.own, i)
		switch {
		case st.Opaque != asm.Transparent:
			if st.Kind == asm.StmtDirective && (isCFI(text) || asm.IsSectionDirective(text)) {
				return asm.UseOpaque
			}
			s.state[i], s.locs[i] = current, loc
		case st.Kind == asm.StmtInstruction:
			s.state[i], s.locs[i] = current, loc
		case st.Kind == asm.StmtAssign:
			return asm.UseDirective
		case st.Kind != asm.StmtDirective:
		case isCFI(text):
			changes, ok := s.cfi.directive(text)
			if !ok {
				return asm.UseUnwind
			}
			if changes || !s.cfi.open || current.offset == 0 {
				state := s.cfi.state
				current = &state
			}
		case bytes.HasPrefix(text, []byte(".loc\t")), bytes.HasPrefix(text, []byte(".loc ")):
			loc = text
		case asm.IsAlignment(text), asm.IsSectionDirective(text), namesOnly(text):
		case isNumericData(text):
			s.state[i], s.locs[i] = current, loc
		default:
			return asm.UseDirective
		}
	}
	if s.cfi.lsda != nil {
		var ok bool
		if s.sites, ok = callSites(s.File, s.cfi.lsda); !ok {
			return asm.UseTable
		}
	}
	return ""
}

// namesOnly reports whether the directive concerns only symbols, or has no effect inside a function.
func namesOnly(text []byte) bool {
	word, _ := asm.SplitWord(text)
	return symbolDirectives[string(word)]
}

var symbolDirectives = asm.Words(".globl .global .weak .hidden .local .type .size .file .ident .text")

// isNumericData reports whether the directive spells bytes of an instruction,
// such as the prefixes in accesses to thread-local storage.
func isNumericData(text []byte) bool {
	word, rest := asm.SplitWord(text)
	switch string(word) {
	case ".byte", ".value", ".word", ".short":
		return len(rest) > 0 && len(bytes.Trim(rest, "0123456789abcdefxABCDEFX, ")) == 0
	}
	return false
}

// divideBlocks finds the statements of each block and the blocks that cannot move. The first block
// never moves: it has the entry.
func (s *Splitter) divideBlocks() asm.Reason {
	n := len(s.fn.Blocks)
	s.parts = make([]part, n)
	s.block = make([]int32, len(s.own))
	b, lastEnd := 0, 0 // of the last instruction
	s.parts[0].end = -1
	for k, i := range s.own {
		st := &s.Stmts[i]
		for b+1 < n && s.fn.Blocks[b+1].Stmt <= i {
			b++
			s.parts[b-1].last = int32(lastEnd)
			s.parts[b].first, s.parts[b].end = int32(lastEnd), -1
			for j := lastEnd; j < k; j++ {
				s.block[j] = int32(b)
			}
		}
		s.block[k] = int32(b)
		if _, is := s.state[i]; is && (st.Kind == asm.StmtInstruction || st.Opaque != asm.Transparent) {
			s.parts[b].end = int32(k)
			lastEnd = k + 1
		}
	}
	if b != n-1 {
		return asm.UseBlocks
	}
	s.parts[n-1].last = int32(lastEnd)
	for j := lastEnd; j < len(s.own); j++ {
		s.block[j] = -1
	}
	s.parts[0].fixed = true
	for b := range s.parts {
		s.inspectBlock(&s.parts[b])
		// A block without instructions has no place for a jump.
		if b > 0 && s.parts[b-1].end < 0 {
			s.parts[b].fixed = true
		}
	}
	return ""
}

// inspectBlock decides whether a block can move and whether control falls through it. A block
// without instructions stays.
func (s *Splitter) inspectBlock(p *part) {
	p.falls = true
	if p.end < 0 {
		p.fixed = true
		return
	}
	for _, i := range s.own[p.first:p.last] {
		st := &s.Stmts[i]
		switch {
		case st.Opaque != asm.Transparent || st.Kind == asm.StmtOpaque:
			p.fixed = true
		case st.Kind == asm.StmtLabel:
			if id := s.Labels.Find(asm.Unquote(s.Text(st))); id < 0 || s.Labels.All[id].Stmt != i || s.ties[id]&fixed != 0 || s.ties[id] == goesAlong|staysBehind {
				p.fixed = true
			}
		case st.Kind == asm.StmtInstruction:
			p.fixed = p.fixed || siteOf(s.sites, i) == siteLands
		}
	}
	last := &s.Stmts[s.own[p.end]]
	if last.Opaque != asm.Transparent || last.Kind != asm.StmtInstruction {
		return
	}
	switch kind, _ := s.Flow(last); kind {
	case asm.FlowJump, asm.FlowIndirect, asm.FlowReturn, asm.FlowTrap:
		p.falls = false
	}
}

// Approximate cost and gain of a move, in bytes.
const (
	// Instructions are not assembled here: their size is a typical one.
	instructionBytes = 4
	longBranchBytes  = 4 // more than a short branch takes
	jumpBytes        = 5
)

// chooseBlocks marks the blocks that move and returns their number. A run of
// blocks stays if its move would add more bytes of jumps than it saves.
func (s *Splitter) chooseBlocks() (moved int) {
	n := len(s.parts)
	s.cut = make([]bool, n)
	for b := range s.parts {
		s.cut[b] = !s.ran[b] && !s.parts[b].fixed
	}
	run := make([]int, n) // number of the run that a block is in, from 1
	gain := []int{0}
	for b := 1; b < n; b++ {
		if !s.cut[b] {
			continue
		}
		if !s.cut[b-1] {
			gain = append(gain, -s.entryCost(b))
		}
		run[b] = len(gain) - 1
		for _, i := range s.own[s.parts[b].first:s.parts[b].last] {
			if s.Stmts[i].Kind == asm.StmtInstruction {
				gain[run[b]] += instructionBytes
			}
		}
	}
	for b := range s.parts {
		for _, succ := range s.fn.Blocks[b].Succs {
			if !s.cut[b] && s.cut[succ] {
				gain[run[succ]] -= longBranchBytes
			}
		}
	}
	for b := range s.cut {
		if s.cut[b] = s.cut[b] && gain[run[b]] > 0; s.cut[b] {
			moved++
		}
	}
	return moved
}

// entryCost returns how many bytes the jump from the block before a run of blocks into the run takes
// beyond the bytes of a long branch.
func (s *Splitter) entryCost(from int) int {
	if !s.parts[from-1].falls {
		return 0
	}
	if _, ok := s.inverted(from-1, s.nextStaying(from-1)); ok {
		return 0
	}
	return jumpBytes - longBranchBytes
}

// invertedBranches maps the conditional branches of x86 to their opposites.
var invertedBranches = func() map[string]string {
	m := map[string]string{}
	pairs := strings.Fields("je jne jz jnz js jns jo jno jp jnp jpe jpo jc jnc jb jae jnb jnae ja jbe jna jnbe jl jge jnl jnge jg jle jng jnle")
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]], m[pair[1]] = pair[1], pair[0]
	}
	return m
}()

// inverted returns the opposite of the conditional branch at the end of block b if
// the branch leads to block to, which can then follow block b directly.
func (s *Splitter) inverted(b, to int) (mnemonic string, ok bool) {
	word, target := s.lastBranch(b)
	return invertedBranches[word], to < len(s.parts) && invertedBranches[word] != "" && s.leadsTo(target, to)
}

// lastBranch returns the last instruction of a block. Any instruction is returned; "" is for
// a block without one, or with inline assembly at its end.
func (s *Splitter) lastBranch(b int) (word string, operand []byte) {
	p := &s.parts[b]
	if p.end < 0 {
		return "", nil
	}
	st := &s.Stmts[s.own[p.end]]
	if st.Opaque != asm.Transparent || st.Kind != asm.StmtInstruction {
		return "", nil
	}
	w, rest := asm.SplitWord(s.Text(st))
	return string(w), rest
}

// leadsTo reports whether the operand of a branch is a label of block b.
func (s *Splitter) leadsTo(target []byte, b int) bool {
	id := s.Labels.Find(asm.Unquote(target))
	return id >= 0 && s.Labels.All[id].Block == int32(b) && s.Stmts[s.Labels.All[id].Stmt].Fn == s.id
}

// startLabel returns the label that splitting puts at the start of a block.
func (s *Splitter) startLabel(b int) string {
	return UseStem + strconv.Itoa(int(s.id)) + "_" + strconv.Itoa(b)
}

// coldName returns a name for the cold part that the file does not use yet.
func (s *Splitter) coldName() string {
	name := s.fn.Name + ".cold"
	for n := 1; s.Labels.Find([]byte(name)) >= 0; n++ {
		name = s.fn.Name + ".cold." + strconv.Itoa(n)
	}
	return asm.QuoteLike(nil, name)
}
