package profgen

import (
	"github.com/profuse-pgo/profuse/internal/program/decode"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// Faults say how many runs of instructions do not fit the program.
type Faults struct {
	Runs         uint64 // in all
	Outside      uint64 // neither begin nor end at an instruction; they do not count below
	OffBoundary  uint64 // do not begin at an instruction, or end at one that never branches
	NoFunction   uint64 // begin outside the functions of the debug information; they do not count below
	LeaveRange   uint64 // end outside the function's range in which they begin
	CrossesJumps uint64 // have a jump, a call or a return before their end
}

// Faults returns how the ranges of counts fit the program. Counts of another build fit badly.
func (p *Program) Faults(c *Counts) (f Faults) {
	for r, n := range c.Ranges {
		f.add(p, r, n)
	}
	return f
}

// add adds a run that ran n times, and reports whether it is a run of instructions of the program.
func (f *Faults) add(p *Program, r Span, n uint64) (fits bool) {
	add := func(to *uint64) { *to = saturate.Add(*to, n) }
	add(&f.Runs)
	begins, ends := p.code.is(r.From), p.code.is(r.To)
	fits = begins && ends && p.code.runs(r.From, r.To)
	if !begins && !ends {
		add(&f.Outside)
		return false
	}
	if !begins || !p.code.branches(r.To) {
		add(&f.OffBoundary)
	}
	switch of := p.functions.find(r.From); {
	case of == nil:
		add(&f.NoFunction)
		return fits
	case r.To >= of.end:
		add(&f.LeaveRange)
	}
	if begins && ends && !fits {
		add(&f.CrossesJumps)
	}
	return fits
}

// branches reports whether the instruction at an address may pass control elsewhere.
func (c *code) branches(addr uint64) bool {
	in, ok := c.next(addr, addr)
	return ok && in.class != decode.Other
}
