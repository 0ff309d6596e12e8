package iprof

import "github.com/profuse-pgo/profuse/internal/saturate"

// executed returns the bytecodes that certainly ran, and how many times each ran at least.
// The result lacks most bytecodes, because a profile has no data on them.
//
// Data comes from entries of methods (call counts), inlined calls (call counts of the
// callee), conditionals and their targets, virtual calls and type checks. A bytecode that
// contexts or stacks only pass through ran at least once. If several kinds of data count
// the same bytecode, the largest number is used.
func (p *Profile) executed() map[Frame]int64 {
	out := make(map[Frame]int64)
	atLeast := func(f Frame, n int64) {
		if n > out[f] && f.BCI >= 0 {
			out[f] = n
		}
	}
	// sums are the sums over all contexts from one kind of data.
	sums := make(map[Frame]int64)
	add := func(f Frame, n int64) { sums[f], _ = saturate.AddSigned(sums[f], max(n, 0)) }
	keepLargest := func() {
		for f, n := range sums {
			atLeast(f, n)
		}
		clear(sums)
	}
	for k := range NumKinds {
		if k == Monitors {
			continue
		}
		for i := range p.Sections[k].Len() {
			ctx, n := p.Sections[k].Context(i), p.Sections[k].Count(i)
			if n <= 0 {
				continue
			}
			if k != Samples {
				add(ctx[0], n)
			}
			for _, f := range ctx {
				atLeast(f, 1)
			}
		}
		keepLargest()
	}
	for ctx, records := range p.Sections[CallCounts].All() {
		if len(ctx) > 1 {
			add(ctx[1], records[0])
		}
	}
	keepLargest()
	for ctx, records := range p.Sections[Conditionals].All() {
		for b := range branchesIn(records) {
			add(Frame{ctx[0].Method, b.Target}, b.Count)
		}
	}
	keepLargest()
	return out
}
