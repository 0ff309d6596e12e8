package instrument

import (
	"cmp"
	"slices"
)

// A probe that finds the raw record through a register takes 4 or 5 bytes. The
// register is r11: conventions have nothing in it where functions begin, and
// calls may overwrite it. Loading it for those that are reached from there
// without calls takes 4 bytes with a probe, 7 without.
//
// Two things may be in r11 after all: what gcc keeps across calls of functions
// of the same file that do not use it (-fipa-ra), and the eleventh argument of
// functions with LLVM's preserve_none. Such functions, and what they call, and
// such files are left alone.

// base says how a probe finds its byte.
type base struct {
	loads bool // r11 gets the address of the byte at disp of the record, that of the probe if there is one
	uses  bool // the byte is disp bytes after the one in r11
	disp  int
}

// findBases decides which probes of x86_64 code load r11 and which use it.
func (f *file) findBases(set isa, opt *Options) {
	uses := make([]*registerUse, len(f.functions))
	keep := make([]bool, len(f.functions)) // what is in the register
	var work []int32
	unknown, aliases := false, f.aliases()
	across := func(callee []byte) {
		if id := f.functionNamed(callee); id >= 0 && !keep[id] {
			keep[id] = true
			work = append(work, id)
		} else if id < 0 && aliases[string(symbolOf(callee))] {
			unknown = true
		}
	}
	for i := range f.functions {
		fn := &f.functions[i]
		if len(fn.blocks) == 0 {
			if f.mentionsR11(int32(i)) {
				return // not known how
			}
			continue
		}
		uses[i] = f.useOf(int32(i), set)
		for b := range fn.blocks {
			uses[i].scan(fn, b, across)
		}
		if uses[i].given[0] != 0 {
			return
		}
	}
	if unknown {
		return
	}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		f.callees(id, set, func(callee int32) {
			if !keep[callee] {
				keep[callee] = true
				work = append(work, callee)
			}
		})
	}
	for i := range f.functions {
		fn := &f.functions[i]
		if fn.skip == 0 && fn.blocksSkip == 0 && len(fn.blocks) > 1 && !fn.hasMacro && !keep[i] {
			c := baseChoice{file: f, fn: fn, use: uses[i]}
			c.choose(opt)
		}
	}
}

// baseChoice chooses for one function.
type baseChoice struct {
	*file
	fn     *function
	use    *registerUse
	preds  [][]int32
	offset []int // of the byte of each block with a probe in the raw record, -1 for others
	region []int32
	in     []int32 // stamp where the block is in the region
	stamp  int32
	host   []bool
	taken  []bool // in the region of one chosen
}

func (c *baseChoice) choose(opt *Options) {
	n := len(c.fn.blocks)
	c.preds = predecessors(c.fn.blocks)
	c.in, c.host, c.taken, c.offset = make([]int32, n), make([]bool, n), make([]bool, n), make([]int, n)
	next := opt.blocksAt()
	for b := range c.offset {
		c.offset[b] = -1
		if b > 0 && c.fn.probed(b) {
			c.offset[b] = next
			next++
		}
	}
	if !opt.counts() && !c.fn.fragment {
		c.offset[0] = 0
	}
	type candidate struct {
		block int32
		gain  int
	}
	var candidates []candidate
	for b := range c.fn.blocks {
		if c.use.free[b] && c.inATT(b) && !(b == 0 && c.offset[b] < 0) {
			c.reach(int32(b))
			if gain := c.gain(int32(b)); gain > 0 {
				candidates = append(candidates, candidate{int32(b), gain})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
	for _, x := range candidates {
		if !c.taken[x.block] {
			c.load(x.block)
		}
	}
}

// inATT reports whether the probe of a block is printed in AT&T syntax.
func (c *baseChoice) inATT(b int) bool {
	at := c.fn.blocks[b].probe
	return int(at) < len(c.stmts) && c.stmts[at].syntax == attPrefix
}

// start returns the offset in the raw record whose address block h would load:
// that of its probe, of the first one in the region if it has none.
func (c *baseChoice) start(h int32) int {
	if c.offset[h] >= 0 {
		return c.offset[h]
	}
	first := -1
	for _, b := range c.region {
		if o := c.offset[b]; o >= 0 && (first < 0 || o < first) {
			first = o
		}
	}
	return first
}

// gain returns the bytes that it saves if block h loads r11 for its region.
func (c *baseChoice) gain(h int32) int {
	low := func(b int32) bool { return c.fn.blocks[b].zero&lowBytes != 0 }
	gain := -4
	if c.offset[h] < 0 {
		gain = -7
	} else if c.fn.blocks[h].zero != 0 && !low(h) {
		gain-- // the other bytes cannot be named beside r11
	}
	start := c.start(h)
	for _, b := range c.region {
		switch {
		case !c.usable(b, start):
		case c.fn.blocks[b].zero != 0 && !low(b):
			gain++
		default:
			gain += 2
		}
	}
	return gain
}

// load makes block h load r11 for its region if that saves bytes.
func (c *baseChoice) load(h int32) {
	c.reach(h)
	if c.gain(h) <= 0 {
		return
	}
	start := c.start(h)
	c.host[h] = true
	c.fn.blocks[h].base = base{loads: true, disp: start}
	for _, b := range c.region {
		c.taken[b] = true
		if c.usable(b, start) {
			c.fn.blocks[b].base = base{uses: true, disp: c.offset[b] - start}
		}
	}
}

// usable reports whether the probe of b can use the address of the byte at
// start in r11.
func (c *baseChoice) usable(b int32, start int) bool {
	d := c.offset[b] - start
	return c.offset[b] >= 0 && c.use.before[b] && !c.fn.blocks[b].base.uses && d >= -128 && d < 128 && c.inATT(int(b))
}

// passes reports whether block b, in the region of h, leaves the register to
// its successors.
func (c *baseChoice) passes(b, h int32) bool {
	if b == h {
		return c.use.after[b]
	}
	return c.in[b] == c.stamp && c.use.before[b] && c.use.after[b] && !c.host[b]
}

// reach finds the region of h: the blocks before which r11 holds what the
// probe of h loads, whatever way control came.
func (c *baseChoice) reach(h int32) {
	c.stamp++
	c.region = append(c.region[:0], h)
	for i := 0; i < len(c.region) && i < regionLimit; i++ {
		b := c.region[i]
		if !c.passes(b, h) {
			continue
		}
		for _, s := range c.fn.blocks[b].succs {
			if s != h && s != 0 && c.in[s] != c.stamp && !c.fn.blocks[s].root {
				c.in[s] = c.stamp
				c.region = append(c.region, s)
			}
		}
	}
	c.region = c.region[1:]
	for changed := true; changed; {
		kept := c.region[:0]
		for _, b := range c.region {
			ok := true
			for _, p := range c.preds[b] {
				ok = ok && c.passes(p, h)
			}
			if ok {
				kept = append(kept, b)
			} else {
				c.in[b] = 0
			}
		}
		changed = len(kept) < len(c.region)
		c.region = kept
	}
}

// regionLimit bounds the blocks looked at for one probe.
const regionLimit = 1024
