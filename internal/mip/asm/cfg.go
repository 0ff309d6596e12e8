package asm

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
)

// EntryPoint is the position of a function's entry probe.
type EntryPoint struct {
	Stmt int32 // before this statement
	// ProbeOnly is set if control can return to the first instruction. Then the
	// entry block is the probe alone, and that instruction begins another block.
	ProbeOnly bool
}

// Block is a basic block: control enters it only at its start, and only its last instructions branch.
type Block struct {
	Stmt  int32   // it begins before this statement
	Succs []int32 // branch targets first, then the block after it
	// mayLeave is set if control that enters the block may never get to a successor: the block returns,
	// or calls a function that may throw, exit or jump far away.
	mayLeave bool
	// onlyReturns is set if control can leave the function from the block only by
	// a return or in one of calls, the functions of the file that it calls.
	onlyReturns bool
	calls       []int32
	// root is set if control may enter the block other than by an edge of the
	// graph: landing pads, labels whose address is taken.
	root bool
	// External is set for a root that other functions jump to.
	External bool
}

// FindEntry finds where the entry probe of a function goes.
func (f *File) FindEntry(id int32) {
	fn := &f.Functions[id]
	align := int32(-1)
	for i, s := range f.Statements(id) {
		switch {
		case s.Kind == StmtOpaque:
			if !f.emptyRegion(i) {
				fn.Entry = EntryPoint{Stmt: i}
				return
			}
		case s.Opaque != Transparent:
			fn.Entry = EntryPoint{Stmt: i}
			return
		case s.Kind == StmtInstruction:
			if !f.isa.staysFirst(f.Text(s)) {
				fn.Entry = EntryPoint{Stmt: i}
				return
			}
			align = -1
		case s.Kind == StmtDirective && IsAlignment(f.Text(s)):
			if align < 0 {
				align = i
			}
		case s.Kind == StmtLabel:
			l := f.Labels.Find(Unquote(f.Text(s)))
			// Control does not fall through into a cold part.
			if l >= 0 && f.beginsBlock(l) && !fn.Fragment {
				if align < 0 {
					align = i
				}
				fn.Entry = EntryPoint{Stmt: align, ProbeOnly: true}
				return
			}
		}
	}
	// All instructions of the function precede its entry probe.
	fn.Entry = EntryPoint{Stmt: fn.Last + 1}
}

// emptyRegion reports whether the inline assembly that begins at statement i is
// empty, as a compiler barrier is.
func (f *File) emptyRegion(i int32) bool {
	return int(i)+1 >= len(f.Stmts) || f.Stmts[i+1].Opaque == Transparent
}

// IsAlignment reports whether a directive aligns what follows.
func IsAlignment(text []byte) bool {
	word, _ := SplitWord(text)
	return slices.Contains([]string{".p2align", ".balign", ".align"}, string(word))
}

// builder recovers the basic blocks of one function.
type builder struct {
	*File
	id int32
	fn *Function

	run      []int32 // labels since the last instruction
	open     bool    // control falls through to the next instruction
	fresh    bool    // a block begins at the next instruction
	branches bool    // the last instruction was a branch of the current block
	indirect []int32 // blocks that end with an unresolved indirect jump
	assume   bool    // that calls return, see settleCall
	doubtful bool    // the last instruction called callee, which may not return
	callee   callee
	succs    [][]int32
}

// BuildBlocks recovers the basic blocks of a function whose entry is known.
// callsReturn assumes that its calls return, except in functions that catch exceptions.
func (f *File) BuildBlocks(id int32, callsReturn bool) {
	b := builder{File: f, id: id, fn: &f.Functions[id], assume: callsReturn && !f.Functions[id].catches}
	b.startBlock(b.fn.Entry.Stmt)
	b.open, b.fresh = true, b.fn.Entry.ProbeOnly
	for i, s := range f.Statements(id) {
		b.statement(i, s)
	}
	b.settleCall(false)
	if b.open {
		b.current().leave()
	}
	b.linkBlocks()
}

// leave records that control may leave the block before its end and not return.
func (blk *Block) leave() { blk.mayLeave, blk.onlyReturns = true, false }

func (b *builder) current() *Block { return &b.fn.Blocks[len(b.fn.Blocks)-1] }

// startBlock begins a block before statement i. Until linkBlocks resolves them, successors
// are labels, or complements of block numbers for blocks that control falls into.
func (b *builder) startBlock(i int32) {
	b.fn.Blocks = append(b.fn.Blocks, Block{Stmt: i, onlyReturns: true})
	b.succs = append(b.succs, nil)
}

func (b *builder) statement(i int32, s *Stmt) {
	switch {
	case s.Kind == StmtOpaque:
		if !b.emptyRegion(i) {
			b.reachStatement(i)
		}
	case s.Opaque != Transparent:
		b.reachStatement(i)
		b.current().leave()
		if b.mentionsBlock(b.Text(s)) { // asm goto
			b.fresh = true
		}
	case s.Kind == StmtLabel:
		if id := b.Labels.Find(Unquote(b.Text(s))); id >= 0 {
			b.run = append(b.run, id)
		}
	case s.Kind == StmtInstruction:
		b.instruction(i, s)
	}
}

// mentionsBlock reports whether inline assembly mentions a label of a block.
func (b *builder) mentionsBlock(text []byte) bool {
	return slices.ContainsFunc(b.AppendMentions(nil, text), func(id int32) bool {
		is, _ := b.Target.isBlockName(Unquote(b.Text(&b.Stmts[b.Labels.All[id].Stmt])))
		return is
	})
}

// reachStatement begins a new block before statement i if one is needed.
func (b *builder) reachStatement(i int32) {
	if i < b.fn.Entry.Stmt {
		b.takeLabels(0)
		return
	}
	needed := slices.ContainsFunc(b.run, b.beginsBlock)
	if i == b.fn.Entry.Stmt && !b.fn.Entry.ProbeOnly {
		needed, b.fresh = false, false
	}
	starts := needed || b.fresh || !b.open
	b.settleCall(!starts)
	if starts {
		if b.open {
			last := len(b.succs) - 1
			b.succs[last] = append(b.succs[last], ^int32(len(b.fn.Blocks)))
		}
		orphan := !b.open && !needed
		b.startBlock(i)
		b.current().root = orphan
	}
	b.takeLabels(int32(len(b.fn.Blocks) - 1))
	b.open, b.fresh, b.branches = true, false, false
}

// takeLabels assigns the pending labels to block n.
func (b *builder) takeLabels(n int32) {
	blk := &b.fn.Blocks[n]
	var uses labelUses
	for _, id := range b.run {
		b.Labels.All[id].Block = n
		uses |= b.Labels.All[id].Uses
	}
	if len(b.run) > 0 && n > 0 {
		if uses&(usedByAddress|usedByOther|UsedAsPad) != 0 || uses == 0 && slices.ContainsFunc(b.run, b.beginsBlock) {
			blk.root = true
		}
		blk.External = uses&usedByOther != 0
	}
	b.run = b.run[:0]
}

func (b *builder) instruction(i int32, s *Stmt) {
	kind, target := b.Flow(s)
	// A branch right after a branch belongs to the same block, as in LLVM.
	if b.branches && len(b.run) == 0 && (kind == FlowBranch || kind == FlowJump) {
		b.fresh = false
	}
	b.reachStatement(i)
	if i < b.fn.Entry.Stmt {
		return
	}
	blk, last := b.current(), len(b.succs)-1
	switch kind {
	case FlowCall:
		if b.call(blk, target) {
			b.open = false
		}
	case FlowLeave:
		blk.leave()
	case FlowBranch, FlowJump:
		if id := b.Labels.Find(Unquote(target)); id >= 0 && b.Stmts[b.Labels.All[id].Stmt].Fn == b.id {
			b.succs[last] = append(b.succs[last], id)
		} else {
			b.tailCall(blk, target)
		}
		b.open, b.fresh, b.branches = kind == FlowBranch, true, kind == FlowBranch
	case FlowIndirect:
		b.open = false
		if t := b.tableIn(target); t != nil {
			b.succs[last] = append(b.succs[last], t.entries...)
			break
		}
		blk.leave() // perhaps a tail call
		b.indirect = append(b.indirect, int32(last))
	case FlowReturn:
		blk.mayLeave = true
		b.open = false
	case FlowTrap:
		blk.leave()
		b.open = false
	}
}

// tableIn returns the jump table that the operand of a jump indexes; nil if the
// operand does not name exactly one.
func (b *builder) tableIn(operand []byte) *table {
	ids := b.AppendMentions(nil, operand)
	if len(ids) != 1 {
		return nil
	}
	for i := range b.tables {
		if b.tables[i].label == ids[0] && len(b.tables[i].entries) > 0 {
			return &b.tables[i]
		}
	}
	return nil
}

// linkBlocks replaces the labels among the successors by blocks, and gives each
// unresolved indirect jump all the targets that it may have.
func (b *builder) linkBlocks() {
	resolved := map[int32]bool{}
	for _, succs := range b.succs {
		for _, s := range succs {
			resolved[s] = true
		}
	}
	var targets []int32
	for _, s := range b.Statements(b.id) {
		if s.Kind != StmtLabel || s.Opaque != Transparent {
			continue
		}
		id := b.Labels.Find(Unquote(b.Text(s)))
		if id < 0 || b.Labels.All[id].Uses&(usedByTable|usedByAddress) == 0 {
			continue
		}
		if n := b.Labels.All[id].Block; n > 0 {
			targets = append(targets, n)
			// No jump of the function is known to use the table.
			if len(b.indirect) == 0 && !resolved[id] {
				b.fn.Blocks[n].root = true
			}
		}
	}
	seen := make([]int32, len(b.fn.Blocks)) // by successor: the last block that got it, plus one
	add := func(from int, to int32) {
		if seen[to] != int32(from)+1 {
			seen[to] = int32(from) + 1
			b.fn.Blocks[from].Succs = append(b.fn.Blocks[from].Succs, to)
		}
	}
	indirect := b.indirect
	for n := range b.fn.Blocks {
		for _, s := range b.succs[n] {
			to := ^s
			if s >= 0 {
				to = b.Labels.All[s].Block
				if b.Stmts[b.Labels.All[s].Stmt].Fn != b.id {
					to = -1
				}
			}
			if to < 0 || int(to) >= len(b.fn.Blocks) {
				b.fn.Blocks[n].leave()
				continue
			}
			add(n, to)
		}
		if len(indirect) > 0 && int(indirect[0]) == n {
			indirect = indirect[1:]
			for _, to := range targets {
				add(n, to)
			}
		}
	}
}

// Signature returns the control flow graph signature of a function.
func (fn *Function) Signature() uint32 {
	succs := make([][]int, len(fn.Blocks))
	for i := range fn.Blocks {
		for _, s := range fn.Blocks[i].Succs {
			succs[i] = append(succs[i], int(s))
		}
	}
	return guid.CFG(succs)
}

// BlockInstructions returns the number of instructions in each block of a function.
func (f *File) BlockInstructions(id int32) []int {
	blocks := f.Functions[id].Blocks
	n, b := make([]int, len(blocks)), 0
	for i, s := range f.Statements(id) {
		for b+1 < len(blocks) && blocks[b+1].Stmt <= i {
			b++
		}
		if s.Kind == StmtInstruction && len(n) > 0 {
			n[b]++
		}
	}
	return n
}
