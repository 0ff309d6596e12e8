package instrument

import (
	"bytes"
	"strconv"
)

// Splitting moves the blocks of a function that never ran into another
// section, .text.unlikely.FUNCTION, where they are a function FUNCTION.cold of
// their own to linkers, unwinders and symbolizers. What falls through from one
// part into the other gets a jump; branches need no change, since the
// assembler chooses their form. Jump tables hold distances that have
// relocations. Call frame information is computed for each instruction and
// printed anew in both parts.
//
// Blocks stay that have inline assembly, that are landing pads or have calls
// that lead to one, or with labels whose distance to others something needs.
// What only debug information refers to stays in its place among the code that
// is left.

// useStem is part of all labels that splitting adds.
const useStem = ".Lmipuse_"

// split splits the functions where it pays.
func (u *user) split() {
	s := splitter{user: u}
	for id := range u.functions {
		r := &u.report.Functions[id]
		switch {
		case r.Cold == 0:
		case u.target != Target{X86_64, ELF}:
			r.NotSplit = UseTarget
		case r.Left != 0 || r.Placed == Neutral:
			r.NotSplit = max(r.Left, UseSection)
		case bytes.Contains(u.src, []byte(useStem)):
			r.NotSplit = UseOpaque
		default:
			if s.ties == nil {
				s.ties = u.findTies()
			}
			s.function(int32(id))
		}
	}
	if len(u.tailText) > 0 && s.coldUnits != nil {
		u.tailText = s.appendDebugUnit(u.tailText)
	}
}

// splitter splits the functions of a file.
type splitter struct {
	*user
	ties []ties

	// Of the function at hand.
	id    int32
	fn    *function
	parts []part
	own   []int32             // its statements, in its own section
	state map[int32]*cfiState // at each of its instructions
	cfi   cfiTracker          // at its end
	sites []callSite          // of its exception table
	locs  map[int32][]byte    // the .loc in effect at each instruction
	block []int32             // of each statement in own, -1 after the last
	cut   []bool              // per block: it moves
	// coldUnits are the cold parts with line numbers.
	coldUnits []coldUnit
}

// part is a block of the function being split.
type part struct {
	first, last int32 // statements in own: [first, last)
	end         int32 // its last instruction, -1 if it has none
	fixed       bool
	falls       bool // control can get from its end to the next block
}

// function splits one function if it can.
func (s *splitter) function(id int32) {
	s.id, s.fn = id, &s.functions[id]
	r := &s.report.Functions[id]
	flags, ok := s.sectionFlags(s.fn.section)
	switch {
	case !ok:
		r.NotSplit = UseSection
		return
	case s.fn.blocksSkip != 0:
		r.NotSplit = UseBlocks
		return
	}
	if r.NotSplit = s.collect(); r.NotSplit != 0 {
		return
	}
	if r.NotSplit = s.divide(); r.NotSplit != 0 {
		return
	}
	if r.Moved = s.chooseBlocks(); r.Moved == 0 {
		return
	}
	s.cutBlocks(flags)
}

// sectionFlags returns the flags and group of a section as they are to be
// printed, if they are those of code and nothing else.
func (s *splitter) sectionFlags(section int32) (flags string, ok bool) {
	sec := &s.sections[section]
	if len(s.entries[section]) == 0 {
		return "", false
	}
	_, operands := splitWord(s.text(&s.stmts[s.entries[section][0]]))
	args := splitArgs(operands)
	if len(args) < 2 {
		return "", false
	}
	switch string(args[1]) {
	case `"ax"`:
		return `"ax",@progbits`, true
	case `"axG"`:
		flags = `"axG",@progbits,` + sec.group
		if sec.comdat {
			flags += ",comdat"
		}
		return flags, sec.group != ""
	}
	return "", false
}

// collect finds the statements of the function, and the call frame information
// and line in effect at each instruction.
func (s *splitter) collect() UseReason {
	s.own, s.state, s.locs = s.own[:0], map[int32]*cfiState{}, map[int32][]byte{}
	s.cfi, s.sites = cfiTracker{}, nil
	var loc []byte
	current := &cfiState{}
	for i := s.fn.label + 1; i <= s.fn.last; i++ {
		st := &s.stmts[i]
		if st.fn != s.id {
			continue
		}
		text := s.text(st)
		s.own = append(s.own, i)
		switch {
		case st.opaque != transparent:
			if st.kind == stmtDirective && (isCFI(text) || isSectionDirective(text)) {
				return UseOpaque
			}
			s.state[i], s.locs[i] = current, loc
		case st.kind == stmtInstruction:
			s.state[i], s.locs[i] = current, loc
		case st.kind == stmtAssign:
			return UseDirective
		case st.kind != stmtDirective:
		case isCFI(text):
			changes, ok := s.cfi.directive(text)
			if !ok {
				return UseUnwind
			}
			if changes || !s.cfi.open || current.offset == 0 {
				state := s.cfi.state
				current = &state
			}
		case bytes.HasPrefix(text, []byte(".loc\t")), bytes.HasPrefix(text, []byte(".loc ")):
			loc = text
		case isAlignment(text), isSectionDirective(text), namesOnly(text):
		case isNumericData(text):
			s.state[i], s.locs[i] = current, loc
		default:
			return UseDirective
		}
	}
	if s.cfi.lsda != nil {
		var ok bool
		if s.sites, ok = s.callSites(s.cfi.lsda); !ok {
			return UseTable
		}
	}
	return 0
}

// namesOnly reports whether the directive is about symbols, or has no effect
// at its place.
func namesOnly(text []byte) bool {
	word, _ := splitWord(text)
	switch string(word) {
	case ".globl", ".global", ".weak", ".hidden", ".local", ".type", ".size", ".file", ".ident", ".text":
		return true
	}
	return false
}

// isNumericData reports whether the directive is for bytes of an instruction,
// such as the prefixes in accesses to thread-local storage.
func isNumericData(text []byte) bool {
	word, rest := splitWord(text)
	switch string(word) {
	case ".byte", ".value", ".word", ".short":
		return len(rest) > 0 && len(bytes.Trim(rest, "0123456789abcdefxABCDEFX, ")) == 0
	}
	return false
}

// divide finds the statements of each block, and the blocks that cannot move.
func (s *splitter) divide() UseReason {
	n := len(s.fn.blocks)
	s.parts = make([]part, n)
	s.block = make([]int32, len(s.own))
	b, lastEnd := 0, 0 // of the last instruction
	s.parts[0].end = -1
	for k, i := range s.own {
		st := &s.stmts[i]
		for b+1 < n && s.fn.blocks[b+1].stmt <= i {
			b++
			s.parts[b-1].last = int32(lastEnd)
			s.parts[b].first, s.parts[b].end = int32(lastEnd), -1
			for j := lastEnd; j < k; j++ {
				s.block[j] = int32(b)
			}
		}
		s.block[k] = int32(b)
		if _, is := s.state[i]; is && (st.kind == stmtInstruction || st.opaque != transparent) {
			s.parts[b].end = int32(k)
			lastEnd = k + 1
		}
	}
	if b != n-1 {
		return UseBlocks
	}
	s.parts[n-1].last = int32(lastEnd)
	for j := lastEnd; j < len(s.own); j++ {
		s.block[j] = -1
	}
	s.parts[0].fixed = true
	set := s.target.isa()
	for b := range s.parts {
		s.inspect(&s.parts[b], set)
		// There is no place for a jump in a block without instructions.
		if b > 0 && s.parts[b-1].end < 0 {
			s.parts[b].fixed = true
		}
	}
	return 0
}

// inspect decides whether a block can move, and whether it falls through.
func (s *splitter) inspect(p *part, set isa) {
	p.falls = true
	if p.end < 0 {
		p.fixed = true
		return
	}
	for _, i := range s.own[p.first:p.last] {
		st := &s.stmts[i]
		switch {
		case st.opaque != transparent || st.kind == stmtOpaque:
			p.fixed = true
		case st.kind == stmtLabel:
			if id := s.labels.find(unquote(s.text(st))); id < 0 || s.labels.all[id].stmt != i || s.ties[id]&fixed != 0 || s.ties[id] == goesAlong|staysBehind {
				p.fixed = true
			}
		case st.kind == stmtInstruction:
			p.fixed = p.fixed || siteOf(s.sites, i) == siteLands
		}
	}
	last := &s.stmts[s.own[p.end]]
	if last.opaque != transparent || last.kind != stmtInstruction {
		return
	}
	switch kind, _ := set.flow(s.text(last), last.syntax); kind {
	case flowJump, flowIndirect, flowReturn, flowTrap:
		p.falls = false
	}
}

// What a move costs and gains, in bytes, by and large.
const (
	instructionBytes = 4
	longBranchBytes  = 4 // more than a short branch
	jumpBytes        = 5
)

// chooseBlocks marks the blocks that move and returns their number. Runs of
// blocks that would leave more jumps than they take away stay.
func (s *splitter) chooseBlocks() (moved int) {
	n := len(s.parts)
	covered := s.known[s.id].coverage
	s.cut = make([]bool, n)
	for b := range s.parts {
		s.cut[b] = !covered[b] && !s.parts[b].fixed
	}
	run := make([]int, n) // that a block is in, counting from 1
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
			if s.stmts[i].kind == stmtInstruction {
				gain[run[b]] += instructionBytes
			}
		}
	}
	for b := range s.parts {
		for _, succ := range s.fn.blocks[b].succs {
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

// entryCost is what it costs to get into a run of blocks from the one before,
// beyond a long branch.
func (s *splitter) entryCost(from int) int {
	if !s.parts[from-1].falls {
		return 0
	}
	to := from
	for to < len(s.parts) && s.cut[to] {
		to++
	}
	if _, ok := s.inverted(from-1, to); ok {
		return 0
	}
	return jumpBytes - longBranchBytes
}

// invertedBranches has the conditions of x86 with their opposites.
var invertedBranches = func() map[string]string {
	m := map[string]string{}
	for _, pair := range [][2]string{
		{"je", "jne"},
		{"jz", "jnz"},
		{"js", "jns"},
		{"jo", "jno"},
		{"jp", "jnp"},
		{"jpe", "jpo"},
		{"jc", "jnc"},
		{"jb", "jae"},
		{"jnb", "jnae"},
		{"ja", "jbe"},
		{"jna", "jnbe"},
		{"jl", "jge"},
		{"jnl", "jnge"},
		{"jg", "jle"},
		{"jng", "jnle"},
	} {
		m[pair[0]], m[pair[1]] = pair[1], pair[0]
	}
	return m
}()

// inverted returns the opposite of the conditional branch at the end of a
// block if it leads to block to, which then may follow.
func (s *splitter) inverted(b, to int) (mnemonic string, ok bool) {
	word, target := s.lastBranch(b)
	return invertedBranches[word], to < len(s.parts) && invertedBranches[word] != "" && s.leadsTo(target, to)
}

// lastBranch returns the last instruction of a block.
func (s *splitter) lastBranch(b int) (word string, operand []byte) {
	p := &s.parts[b]
	if p.end < 0 {
		return "", nil
	}
	st := &s.stmts[s.own[p.end]]
	if st.opaque != transparent || st.kind != stmtInstruction {
		return "", nil
	}
	w, rest := splitWord(s.text(st))
	return string(w), rest
}

func (s *splitter) leadsTo(target []byte, b int) bool {
	id := s.labels.find(unquote(target))
	return id >= 0 && s.labels.all[id].block == int32(b) && s.stmts[s.labels.all[id].stmt].fn == s.id
}

// startLabel is the label that splitting puts at the start of a block.
func (s *splitter) startLabel(b int) string {
	return useStem + strconv.Itoa(int(s.id)) + "_" + strconv.Itoa(b)
}

// coldName returns a symbol for the cold part that the file does not have.
func (s *splitter) coldName() string {
	name := s.fn.name + ".cold"
	for n := 1; s.labels.find([]byte(name)) >= 0; n++ {
		name = s.fn.name + ".cold." + strconv.Itoa(n)
	}
	return quoteLike(nil, name)
}
