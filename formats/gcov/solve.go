package gcov

import "slices"

// A solver computes the counts of blocks and arcs from the counted arcs, in gcov's order: it matters where the
// counters contradict each other, because threads lost counts. All arithmetic wraps at 64 bits, as gcov's does.
type solver struct {
	Result
	exitLast bool // the exit is the last block, not block 1
	work     int  // steps that cycles may still take

	arcs        []int64 // counts, by arc
	known       []bool  // by arc
	throws      []bool  // by arc
	succ, pred  []uint32
	succAt      []uint32 // by block: its first arc in succ; the last element is the end
	predAt      []uint32
	nsucc       []uint32 // arcs out of a block without a count
	npred       []uint32
	solved      []bool
	isInvalid   []bool
	isValid     []bool
	exceptional []bool
	calls       []bool   // blocks with an arc for calls that do not return
	plain       []uint32 // number of arcs out of a block that are not fake
	hasThrow    bool

	invalid, valid []uint32 // stacks
	cycles
	index map[lineKey]int
}

// reset makes a slice of n zero elements, in the memory of s if it suffices.
func reset[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// solve computes the counts of a function.
func (s *solver) solve(f *Function, counters []int64) {
	s.Result = Result{Function: f, Counts: s.Counts[:0], Lines: s.Lines[:0]}
	s.arrange(counters)
	s.propagate()
	if s.hasThrow {
		s.findExceptional()
	}
	for i, n := range s.arcs {
		// setjmp returns more often than it is called, so its fake arc has a count below zero.
		if n < 0 && f.Arcs[i].flags&arcFake == 0 {
			s.BelowZero++
		}
	}
	if f.Blocks > 0 {
		s.Calls = s.Counts[0]
	}
	for b, n := range s.Counts {
		if n != 0 && b != 0 && b != f.Blocks-1 { // the exit is block 1, but gcov leaves out the last
			s.BlocksRan++
		}
	}
}

// arrange sorts the arcs by the blocks at their ends, and gives counted arcs their counts.
func (s *solver) arrange(counters []int64) {
	f, blocks, arcs := s.Function, s.Blocks, s.Function.Arcs
	s.Counts = reset(s.Counts, blocks)
	s.arcs, s.known, s.throws = reset(s.arcs, len(arcs)), reset(s.known, len(arcs)), reset(s.throws, len(arcs))
	s.succ, s.pred = reset(s.succ, len(arcs)), reset(s.pred, len(arcs))
	s.succAt, s.predAt = reset(s.succAt, blocks+1), reset(s.predAt, blocks+1)
	s.nsucc, s.npred, s.plain = reset(s.nsucc, blocks), reset(s.npred, blocks), reset(s.plain, blocks)
	s.solved, s.isInvalid, s.isValid = reset(s.solved, blocks), reset(s.isInvalid, blocks), reset(s.isValid, blocks)
	s.exceptional, s.calls, s.hasThrow = reset(s.exceptional, blocks), reset(s.calls, blocks), false
	for i := range arcs {
		a := &arcs[i]
		s.nsucc[a.From]++
		s.npred[a.To]++
		if a.flags&arcFake == 0 {
			s.plain[a.From]++
		} else if a.From != 0 {
			s.calls[a.From] = true
		}
	}
	at, into := uint32(0), uint32(0)
	for b := range blocks {
		s.succAt[b], s.predAt[b] = at, into
		at, into = at+s.nsucc[b], into+s.npred[b]
	}
	s.succAt[blocks], s.predAt[blocks] = at, into
	next := 0
	for i := range arcs {
		a := &arcs[i]
		s.succ[s.succAt[a.From]] = uint32(i)
		s.pred[s.predAt[a.To]] = uint32(i)
		s.succAt[a.From]++
		s.predAt[a.To]++
		if s.calls[a.From] && a.flags&(arcFake|arcFallthrough) == 0 {
			s.throws[i], s.hasThrow = true, true
		}
	}
	for b := blocks; b > 0; b-- { // the ends become the beginnings
		s.succAt[b], s.predAt[b] = s.succAt[b-1], s.predAt[b-1]
	}
	if blocks > 0 {
		s.succAt[0], s.predAt[0] = 0, 0
	}
	exit := 1
	if s.exitLast {
		exit = blocks - 1
	}
	if blocks >= 2 {
		if s.npred[0] == 0 {
			s.npred[0] = 1<<32 - 1
		}
		if s.nsucc[exit] == 0 {
			s.nsucc[exit] = 1<<32 - 1
		}
	}
	// Counters follow the blocks, and the arcs of a block as the file has them.
	for b := range blocks {
		out := s.out(uint32(b))
		for _, i := range out {
			if a := &arcs[i]; a.isCounted() {
				if next < len(counters) {
					s.arcs[i] = counters[next]
				}
				next++
				s.known[i] = true
				s.nsucc[b]--
				s.npred[a.To]--
			}
		}
		if !slices.IsSortedFunc(out, f.byTarget) {
			slices.SortStableFunc(out, f.byTarget)
		}
	}
}

func (f *Function) byTarget(i, k uint32) int { return int(f.Arcs[i].To) - int(f.Arcs[k].To) }

// out returns the arcs out of a block, in the order of their targets.
func (s *solver) out(b uint32) []uint32 { return s.succ[s.succAt[b]:s.succAt[b+1]] }

// in returns the arcs into a block.
func (s *solver) in(b uint32) []uint32 { return s.pred[s.predAt[b]:s.predAt[b+1]] }

func (s *solver) propagate() {
	s.invalid, s.valid = s.invalid[:0], s.valid[:0]
	for b := range s.Blocks {
		s.invalid = append(s.invalid, uint32(b))
		s.isInvalid[b] = true
	}
	for len(s.invalid)+len(s.valid) > 0 {
		for len(s.invalid) > 0 {
			b := s.invalid[len(s.invalid)-1]
			s.invalid = s.invalid[:len(s.invalid)-1]
			s.isInvalid[b] = false
			var sum int64
			switch {
			case s.nsucc[b] == 0:
				sum = s.sum(s.out(b))
			case s.npred[b] == 0:
				sum = s.sum(s.in(b))
			default:
				continue
			}
			s.Counts[b], s.solved[b], s.isValid[b] = sum, true, true
			s.valid = append(s.valid, b)
		}
		for len(s.valid) > 0 {
			b := s.valid[len(s.valid)-1]
			s.valid = s.valid[:len(s.valid)-1]
			s.isValid[b] = false
			if s.nsucc[b] == 1 {
				s.deduce(b, s.out(b), false)
			}
			if s.npred[b] == 1 {
				s.deduce(b, s.in(b), true)
			}
		}
	}
	s.Unsolved = slices.Contains(s.solved, false)
}

func (s *solver) sum(arcs []uint32) (n int64) {
	for _, i := range arcs {
		n += s.arcs[i]
	}
	return n
}

// deduce gives the only arc without a count, of the arcs on one side of block b, what the others leave.
func (s *solver) deduce(b uint32, arcs []uint32, into bool) {
	left, unknown := s.Counts[b], -1
	for _, i := range arcs {
		left -= s.arcs[i]
		if !s.known[i] {
			unknown = int(i)
		}
	}
	if unknown < 0 {
		return
	}
	a := &s.Function.Arcs[unknown]
	s.known[unknown], s.arcs[unknown] = true, left
	s.nsucc[a.From]--
	s.npred[a.To]--
	other, open := a.To, s.npred
	if into {
		other, open = a.From, s.nsucc
	}
	switch {
	case s.solved[other] && open[other] == 1 && !s.isValid[other]:
		s.isValid[other] = true
		s.valid = append(s.valid, other)
	case !s.solved[other] && open[other] == 0 && !s.isInvalid[other]:
		s.isInvalid[other] = true
		s.invalid = append(s.invalid, other)
	}
}

// findExceptional finds the blocks that only exceptions lead to.
func (s *solver) findExceptional() {
	for b := range s.exceptional {
		s.exceptional[b] = true
	}
	s.exceptional[0] = false
	todo := append(s.invalid[:0], 0)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, i := range s.out(b) {
			a := &s.Function.Arcs[i]
			if a.flags&arcFake == 0 && !s.throws[i] && s.exceptional[a.To] {
				s.exceptional[a.To] = false
				todo = append(todo, a.To)
			}
		}
	}
	s.invalid = todo
}
