package instrument

import "bytes"

// parts is a set of parts of r11.
type parts byte

const (
	lowByte parts = 1 << iota
	otherBytes
)

// event is a statement of interest for r11.
type event struct {
	stmt          int32
	reads, writes parts
	changes       bool // it may hold something else afterwards
	call          bool
	callee        []byte // the operand of a call
}

// registerUse is what the blocks of a function do to r11.
type registerUse struct {
	events [][]event
	live   []parts // at the start of each block: may be read before they are written
	// given are those that are read without a doubt, if control comes that
	// way: not after calls or jumps to anywhere.
	given []parts
	free  []bool // at the probe of each block
	// before and after are set when the block leaves the register alone up to
	// its probe and from there.
	before, after []bool
}

// accessR11 tells which parts of r11 an instruction reads, and which it
// overwrites.
func accessR11(text []byte) (reads, writes parts) {
	if partsOf(text) == 0 {
		return 0, 0
	}
	word, rest := splitWord(text)
	args, n := x86Args(rest)
	if n == 0 || n > len(args) {
		return partsOf(text), 0
	}
	last := args[n-1]
	switch string(last) {
	case "%r11", "%r11d":
		writes = lowByte | otherBytes
	case "%r11b":
		writes = lowByte
	default:
		return partsOf(text), 0
	}
	kind := x86Ops[string(word)]
	if kind == opArith && n == 2 && bytes.Equal(args[0], last) && (word[0] == 'x' || word[0] == 's') {
		return 0, writes // clears it
	}
	switch {
	case kind == opMove, kind == opExtend, kind == opMultiply && n == 3:
	case kind == opResult && !readsLast[string(word[:min(len(word), 3)])]:
	default:
		return partsOf(text), 0
	}
	return partsOf(text[:len(text)-len(last)]), writes
}

// readsLast are the beginnings of the names of instructions of kind opResult
// that read their last operand, too.
var readsLast = map[string]bool{"not": true, "bsw": true, "cmo": true}

// partsOf returns the parts of r11 that the text mentions, functions that jump
// to the address in it among them, as __x86_indirect_thunk_r11.
func partsOf(text []byte) (p parts) {
	for i := 0; ; {
		n := bytes.Index(text[i:], []byte("r11"))
		if n < 0 {
			return p
		}
		start := i + n
		i = start + len("r11")
		part := lowByte | otherBytes
		if i < len(text) && text[i] == 'b' {
			part = lowByte
		}
		if i < len(text) && (text[i] == 'b' || text[i] == 'd' || text[i] == 'w') {
			i++
		}
		if (start == 0 || text[start-1] == '_' || !symbolChar[text[start-1]]) && (i == len(text) || !symbolChar[text[i]]) {
			p |= part
		}
	}
}

// eventOf returns what a statement does to r11.
func (f *file) eventOf(i int32, set isa) (e event, any bool) {
	s := &f.stmts[i]
	text := f.text(s)
	e.stmt = i
	switch {
	case s.kind == stmtLabel || s.kind == stmtAssign:
		return e, false
	case s.opaque == macro:
		e.reads, e.changes = lowByte|otherBytes, true // perhaps
	case s.kind == stmtInstruction && s.opaque == transparent && s.syntax == attPrefix:
		kind, target := set.flow(text, s.syntax)
		if e.call = kind == flowCall; e.call {
			e.callee = target
		}
		e.reads, e.writes = accessR11(text)
		if word, _ := splitWord(text); bytes.HasPrefix(word, []byte("iret")) || string(word) == "uiret" {
			e.reads = lowByte | otherBytes // what was interrupted has something in it
		}
		e.changes = e.reads|e.writes != 0 || e.call || kind == flowLeave
	case s.kind == stmtDirective && s.opaque == transparent:
		e.changes = registers{zero: 1}.past(f, s).zero == 0
	default:
		e.reads, e.changes = partsOf(text), true
	}
	return e, e.reads != 0 || e.changes
}

// useOf analyses a function with blocks.
func (f *file) useOf(id int32, set isa) *registerUse {
	fn := &f.functions[id]
	n := len(fn.blocks)
	u := &registerUse{
		events: make([][]event, n), live: make([]parts, n), given: make([]parts, n), free: make([]bool, n),
		before: make([]bool, n), after: make([]bool, n),
	}
	for b := range fn.blocks {
		for i := fn.blocks[b].stmt; i < fn.blockEnd(b); i++ {
			if f.stmts[i].fn != id {
				continue
			}
			if e, any := f.eventOf(i, set); any {
				u.events[b] = append(u.events[b], e)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			live, given := u.scan(fn, b, nil)
			changed = changed || live != u.live[b] || given != u.given[b]
			u.live[b], u.given[b] = live, given
		}
	}
	return u
}

// scan goes through a block backwards. It returns what of r11 is live, and
// given, at its start and calls across for each call that it is live after.
func (u *registerUse) scan(fn *function, b int, across func(callee []byte)) (live, given parts) {
	blk := &fn.blocks[b]
	for _, s := range blk.succs {
		live |= u.live[s]
		if !blk.anywhere {
			given |= u.given[s]
		}
	}
	u.before[b], u.after[b] = true, true
	u.free[b] = live == 0
	for i := len(u.events[b]) - 1; i >= 0; i-- {
		e := &u.events[b][i]
		if e.call && live != 0 && across != nil {
			across(e.callee)
		}
		if e.call {
			given = 0
		}
		live, given = live&^e.writes|e.reads, given&^e.writes|e.reads
		if e.stmt >= blk.probe {
			u.free[b] = live == 0
			u.after[b] = u.after[b] && !e.changes
		} else {
			u.before[b] = u.before[b] && !e.changes
		}
	}
	return live, given
}

// blockEnd returns the statement before which block b ends.
func (fn *function) blockEnd(b int) int32 {
	if b+1 < len(fn.blocks) {
		return fn.blocks[b+1].stmt
	}
	return fn.last + 1
}

func (f *file) mentionsR11(id int32) bool {
	fn := &f.functions[id]
	for i := fn.label; i <= fn.last; i++ {
		if s := &f.stmts[i]; s.fn == id && s.kind != stmtLabel && partsOf(f.text(s)) != 0 {
			return true
		}
	}
	return false
}

// symbolOf returns the symbol of a direct call.
func symbolOf(operand []byte) []byte {
	name, _ := bytes.CutSuffix(operand, []byte("@PLT"))
	return unquote(name)
}

// functionNamed returns the function of the file that an operand names, whether
// or not another may take its place; -1 if there is none.
func (f *file) functionNamed(operand []byte) int32 {
	if id := f.labels.find(symbolOf(operand)); id >= 0 {
		at := f.labels.all[id].stmt
		if fn := f.stmts[at].fn; fn >= 0 && f.functions[fn].label == at {
			return fn
		}
	}
	return -1
}

// aliases returns the symbols that the file defines to be others.
func (f *file) aliases() map[string]bool {
	m := map[string]bool{}
	for i := range f.stmts {
		s := &f.stmts[i]
		text := f.text(s)
		switch {
		case s.kind == stmtAssign:
		case s.kind == stmtDirective && bytes.HasPrefix(text, []byte(".set")):
			_, text = splitWord(text)
		default:
			continue
		}
		if end, ok := scanSymbol(text, 0); ok {
			m[string(unquote(text[:end]))] = true
		}
	}
	return m
}

// callees visits the functions of the file that one calls or jumps to.
func (f *file) callees(id int32, set isa, visit func(int32)) {
	fn := &f.functions[id]
	for i := fn.label; i <= fn.last; i++ {
		s := &f.stmts[i]
		if s.fn != id || s.kind != stmtInstruction || s.opaque != transparent {
			continue
		}
		if kind, target := set.flow(f.text(s), s.syntax); kind == flowCall || kind == flowJump || kind == flowBranch {
			if callee := f.functionNamed(target); callee >= 0 && callee != id {
				visit(callee)
			}
		}
	}
}
