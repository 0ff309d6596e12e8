package instrument

import "bytes"

// Probes on x86_64 store a zero byte. From a register that has one this takes 6
// bytes, with an immediate operand 7. Registers have one often: the second byte
// of what was loaded from a byte or is a small number, all of what was cleared
// or compared with zero. What is known of the registers is computed along the
// graph of blocks, forwards; whatever is not understood leaves nothing known.

// zeroSearch computes what is known of the registers in one function.
type zeroSearch struct {
	*file
	isa    isa
	id     int32
	fn     *function
	before []registers // each block
	seen   []bool
	given  []bool // of the successors of the block being looked at
	work   []int32
}

// findZeros finds for each block of an x86_64 function a register for its
// probe to store, and the place: at the start of the block, or after
// instructions that cannot fault, so that the probe runs whenever the block's
// start is reached.
func (f *file) findZeros(id int32, set isa) {
	fn := &f.functions[id]
	n := len(fn.blocks)
	z := zeroSearch{
		file: f, isa: set, id: id, fn: fn,
		before: make([]registers, n), seen: make([]bool, n), given: make([]bool, n),
	}
	for b := range fn.blocks {
		if b == 0 || fn.blocks[b].root {
			z.give(int32(b), registers{})
		}
	}
	for len(z.work) > 0 {
		b := z.work[len(z.work)-1]
		z.work = z.work[:len(z.work)-1]
		z.flow(b)
	}
	for b := 1; b < n; b++ {
		if z.seen[b] {
			z.place(int32(b))
		}
	}
}

// give notes that control may come to block b with what r tells.
func (z *zeroSearch) give(b int32, r registers) {
	z.given[b] = true
	now := r
	if z.seen[b] {
		now = z.before[b].and(r)
		if now == z.before[b] {
			return
		}
	}
	z.seen[b], z.before[b] = true, now
	z.work = append(z.work, b)
}

// flow gives the successors of a block what is known after it.
func (z *zeroSearch) flow(b int32) {
	succs := z.fn.blocks[b].succs
	for _, s := range succs {
		z.given[s] = false
	}
	r, open := z.before[b], true
	for i := z.fn.blocks[b].stmt; i < z.fn.blockEnd(int(b)) && open; i++ {
		s := &z.stmts[i]
		if s.fn != z.id {
			continue
		}
		if s.kind != stmtInstruction || s.opaque != transparent || s.syntax != attPrefix {
			r = r.past(z.file, s)
			continue
		}
		text := z.text(s)
		kind, target := z.isa.flow(text, s.syntax)
		switch kind {
		case flowNone:
			r = r.step(text)
		case flowBranch, flowJump:
			branch, _ := splitWord(text)
			if branch[0] != 'j' { // loop and xbegin write registers
				r = registers{}
			}
			if id := z.labels.find(unquote(target)); id >= 0 {
				if l := &z.labels.all[id]; l.block >= 0 && z.stmts[l.stmt].fn == z.id {
					z.give(l.block, r.taken(branch))
				}
			}
			r, open = r.fallen(branch), kind == flowBranch
		case flowIndirect, flowReturn, flowTrap:
			open = false
		default:
			r = registers{}
		}
		if kind == flowIndirect {
			for _, s := range succs {
				z.give(s, r)
			}
		}
	}
	if next := b + 1; open && int(next) < len(z.fn.blocks) {
		z.give(next, r)
	}
	for _, s := range succs {
		if !z.given[s] {
			z.give(s, registers{})
		}
	}
}

// past is what is known after a statement that is not an instruction in AT&T
// syntax.
func (r registers) past(f *file, s *stmt) registers {
	if s.opaque != transparent {
		return registers{}
	}
	switch s.kind {
	case stmtLabel, stmtAssign:
		return r
	case stmtDirective:
		word, _ := splitWord(f.text(s))
		if bytes.HasPrefix(word, []byte(".cfi_")) || isAlignment(word) || string(word) == ".loc" {
			return r
		}
	}
	return registers{} // data between the instructions may be some
}

// place chooses where the probe of a block goes, and its register.
func (z *zeroSearch) place(b int32) {
	blk := &z.fn.blocks[b]
	r := z.before[b]
	for i := blk.stmt; i < z.fn.blockEnd(int(b)); i++ {
		s := &z.stmts[i]
		if s.fn != z.id {
			continue
		}
		if s.kind == stmtInstruction && s.opaque == transparent {
			if s.syntax != attPrefix {
				return
			}
			if r.zero != 0 {
				blk.probe, blk.zero = i, r.zero
				return
			}
			if !safeToPass(z.text(s)) {
				return
			}
			r = r.step(z.text(s))
		} else if r = r.past(z.file, s); r.zero == 0 && s.kind == stmtOpaque || s.opaque != transparent {
			return
		}
	}
}

// safeToPass reports whether an instruction can neither fault nor branch.
func safeToPass(text []byte) bool {
	word, rest := splitWord(text)
	switch x86Ops[string(word)] {
	case opUnknown, opDivide:
		return false
	}
	args, n := x86Args(rest)
	for i := range min(n, len(args)) {
		if !x86Operands[string(args[i])].register && (len(args[i]) == 0 || args[i][0] != '$') {
			return bytes.HasPrefix(word, []byte("lea"))
		}
	}
	return n > 0 && !bytes.HasPrefix(word, []byte("push")) && !bytes.HasPrefix(word, []byte("pop"))
}
