package instrument

import (
	"slices"

	"github.com/profuse-pgo/profuse/mip"
)

// entryPoint is where the entry probe of a function goes.
type entryPoint struct {
	stmt int32 // before this statement
	// apart is set when control can come back to the first instruction, which
	// then begins a block of its own: the entry block is the probe alone.
	apart bool
}

// block is a basic block: its start is reached, if at all, before any of its
// instructions, and only its last instructions branch.
type block struct {
	stmt  int32   // it begins before this statement
	succs []int32 // branch targets first, then the block after it
	// leaves is set when control may not get from the start of the block to
	// one of succs: calls, which may throw, exit or jump far away, and returns.
	leaves bool
	// stays is set when the only reasons to leave are returns and those of
	// the functions of the file in calls.
	stays bool
	calls []int32
	// root is set when control may enter the block from outside of the graph:
	// landing pads, labels whose address is taken.
	root bool
	// external is set for roots that other functions jump to.
	external bool
}

// findEntry finds where the entry probe of a function goes.
func (f *file) findEntry(id int32, set isa) {
	fn := &f.functions[id]
	align := int32(-1)
	for i := fn.label + 1; i <= fn.last; i++ {
		s := &f.stmts[i]
		if s.fn != id {
			continue
		}
		switch {
		case s.kind == stmtOpaque:
			if !f.emptyRegion(i) {
				fn.entry = entryPoint{stmt: i}
				return
			}
		case s.opaque != transparent:
			fn.entry = entryPoint{stmt: i}
			return
		case s.kind == stmtInstruction:
			if !set.staysFirst(f.text(s)) {
				fn.entry = entryPoint{stmt: i}
				return
			}
			align = -1
		case s.kind == stmtDirective && isAlignment(f.text(s)):
			if align < 0 {
				align = i
			}
		case s.kind == stmtLabel:
			l := f.labels.find(unquote(f.text(s)))
			// Nothing falls into the cold part of a function.
			if l >= 0 && f.leads(l) && !fn.fragment {
				if align < 0 {
					align = i
				}
				fn.entry = entryPoint{stmt: align, apart: true}
				return
			}
		}
	}
	// Nothing but instructions that stay first.
	fn.entry = entryPoint{stmt: fn.last + 1}
}

// emptyRegion reports whether the inline assembly that begins at statement i
// is empty, as compiler barriers are.
func (f *file) emptyRegion(i int32) bool {
	return int(i)+1 >= len(f.stmts) || f.stmts[i+1].opaque == transparent
}

func isAlignment(text []byte) bool {
	word, _ := splitWord(text)
	switch string(word) {
	case ".p2align", ".balign", ".align":
		return true
	}
	return false
}

// builder recovers the basic blocks of one function.
type builder struct {
	*file
	isa isa
	id  int32
	fn  *function

	run      []int32 // labels since the last instruction
	open     bool    // control falls through to the next instruction
	fresh    bool    // the next instruction begins a block
	branches bool    // the last instruction was a branch of the current block
	indirect []int32 // blocks that end with an indirect jump not resolved
	succs    [][]int32
}

// buildBlocks recovers the basic blocks of a function whose entry is known.
func (f *file) buildBlocks(id int32, set isa) {
	b := builder{file: f, isa: set, id: id, fn: &f.functions[id]}
	b.start(b.fn.entry.stmt)
	b.open, b.fresh = true, b.fn.entry.apart
	for i := b.fn.label + 1; i <= b.fn.last; i++ {
		if s := &f.stmts[i]; s.fn == id {
			b.statement(i, s)
		}
	}
	if b.open {
		b.current().leave()
	}
	b.link()
}

// leave notes that control may leave in the middle of the block for good.
func (blk *block) leave() { blk.leaves, blk.stays = true, false }

func (b *builder) current() *block { return &b.fn.blocks[len(b.fn.blocks)-1] }

// start begins a block before statement i. Successors are labels until link
// resolves them, the complement of a block's number for the one after it.
func (b *builder) start(i int32) {
	b.fn.blocks = append(b.fn.blocks, block{stmt: i, stays: true})
	b.succs = append(b.succs, nil)
}

func (b *builder) statement(i int32, s *stmt) {
	switch {
	case s.kind == stmtOpaque:
		if !b.emptyRegion(i) {
			b.reach(i)
		}
	case s.opaque != transparent:
		b.reach(i)
		b.current().leave()
		if b.mentionsBlock(b.text(s)) { // asm goto
			b.fresh = true
		}
	case s.kind == stmtLabel:
		if id := b.labels.find(unquote(b.text(s))); id >= 0 {
			b.run = append(b.run, id)
		}
	case s.kind == stmtInstruction:
		b.instruction(i, s)
	}
}

// mentionsBlock reports whether inline assembly mentions a block.
func (b *builder) mentionsBlock(text []byte) bool {
	return slices.ContainsFunc(b.appendMentions(nil, text), func(id int32) bool {
		is, _ := b.target.isBlockName(unquote(b.text(&b.stmts[b.labels.all[id].stmt])))
		return is
	})
}

// reach begins a new block before statement i if there has to be one.
func (b *builder) reach(i int32) {
	if i < b.fn.entry.stmt {
		b.take(0)
		return
	}
	leads := slices.ContainsFunc(b.run, b.leads)
	if i == b.fn.entry.stmt && !b.fn.entry.apart {
		leads, b.fresh = false, false
	}
	if leads || b.fresh || !b.open {
		if b.open {
			last := len(b.succs) - 1
			b.succs[last] = append(b.succs[last], ^int32(len(b.fn.blocks)))
		}
		orphan := !b.open && !leads
		b.start(i)
		b.current().root = orphan
	}
	b.take(int32(len(b.fn.blocks) - 1))
	b.open, b.fresh, b.branches = true, false, false
}

// take makes the labels of the run those of a block.
func (b *builder) take(n int32) {
	blk := &b.fn.blocks[n]
	var uses labelUses
	for _, id := range b.run {
		b.labels.all[id].block = n
		uses |= b.labels.all[id].uses
	}
	if len(b.run) > 0 && n > 0 {
		if uses&(usedByAddress|usedByOther|usedAsPad) != 0 || uses == 0 && slices.ContainsFunc(b.run, b.leads) {
			blk.root = true
		}
		blk.external = uses&usedByOther != 0
	}
	b.run = b.run[:0]
}

func (b *builder) instruction(i int32, s *stmt) {
	text := b.text(s)
	kind, target := b.isa.flow(text, s.syntax)
	// A branch right after a branch belongs to the same block, as in LLVM.
	if b.branches && len(b.run) == 0 && (kind == flowBranch || kind == flowJump) {
		b.fresh = false
	}
	b.reach(i)
	if i < b.fn.entry.stmt {
		return
	}
	blk, last := b.current(), len(b.succs)-1
	switch kind {
	case flowCall:
		if b.call(blk, target) {
			b.open = false
		}
	case flowLeave:
		blk.leave()
	case flowBranch, flowJump:
		if id := b.labels.find(unquote(target)); id >= 0 && b.stmts[b.labels.all[id].stmt].fn == b.id {
			b.succs[last] = append(b.succs[last], id)
		} else {
			b.tailCall(blk, target)
		}
		b.open, b.fresh, b.branches = kind == flowBranch, true, kind == flowBranch
	case flowIndirect:
		b.open = false
		if t := b.tableIn(target); t != nil {
			b.succs[last] = append(b.succs[last], t.entries...)
			break
		}
		blk.leave() // perhaps a tail call
		b.indirect = append(b.indirect, int32(last))
	case flowReturn:
		blk.leaves = true
		b.open = false
	case flowTrap:
		blk.leave()
		b.open = false
	}
}

// tableIn returns the jump table that the operand of a jump indexes, nil if it
// is not there for certain.
func (b *builder) tableIn(operand []byte) *table {
	ids := b.appendMentions(nil, operand)
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

// link turns the successors from labels into blocks and gives indirect jumps
// all the targets they may have.
func (b *builder) link() {
	resolved := map[int32]bool{}
	for _, succs := range b.succs {
		for _, s := range succs {
			resolved[s] = true
		}
	}
	var targets []int32
	for i := b.fn.label + 1; i <= b.fn.last; i++ {
		s := &b.stmts[i]
		if s.fn != b.id || s.kind != stmtLabel || s.opaque != transparent {
			continue
		}
		id := b.labels.find(unquote(b.text(s)))
		if id < 0 || b.labels.all[id].uses&(usedByTable|usedByAddress) == 0 {
			continue
		}
		if n := b.labels.all[id].block; n > 0 {
			targets = append(targets, n)
			// A table that no jump of the function seems to use.
			if len(b.indirect) == 0 && !resolved[id] {
				b.fn.blocks[n].root = true
			}
		}
	}
	seen := make([]int32, len(b.fn.blocks)) // by the block numbered one less
	add := func(from int, to int32) {
		if seen[to] != int32(from)+1 {
			seen[to] = int32(from) + 1
			b.fn.blocks[from].succs = append(b.fn.blocks[from].succs, to)
		}
	}
	indirect := b.indirect
	for n := range b.fn.blocks {
		for _, s := range b.succs[n] {
			to := ^s
			if s >= 0 {
				to = b.labels.all[s].block
				if b.stmts[b.labels.all[s].stmt].fn != b.id {
					to = -1
				}
			}
			if to < 0 || int(to) >= len(b.fn.blocks) {
				b.fn.blocks[n].leave()
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

// signature returns the control flow graph signature of a function.
func (fn *function) signature() uint32 {
	succs := make([][]int, len(fn.blocks))
	for i := range fn.blocks {
		for _, s := range fn.blocks[i].succs {
			succs[i] = append(succs[i], int(s))
		}
	}
	return mip.CFGSignature(succs)
}
