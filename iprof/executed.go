package iprof

// Executed returns the bytecodes that certainly ran and how often each did at
// least. Of most bytecodes a profile says nothing; those are not in the result.
//
// Known are entries of methods (call counts), calls that were inlined (call
// counts of the callee), conditionals and where they led to, virtual calls and
// type checks. Where contexts or stacks only pass through, once is certain. Of
// several numbers for one bytecode the largest stands: they count the same.
func (p *Profile) Executed() map[Frame]int64 {
	out := make(map[Frame]int64)
	atLeast := func(f Frame, n int64) {
		if n > out[f] && f.BCI >= 0 {
			out[f] = n
		}
	}
	// Sums over all contexts, of one way of knowing.
	sums := make(map[Frame]int64)
	add := func(f Frame, n int64) { sums[f], _ = addSaturating(sums[f], max(n, 0)) }
	take := func() {
		for f, n := range sums {
			atLeast(f, n)
		}
		clear(sums)
	}
	for _, k := range Kinds() {
		if k == Monitors {
			continue
		}
		for ctx, n := range p.Section(k).Counts() {
			if n <= 0 {
				continue
			}
			if k != Samples {
				add(ctx.leaf(), n)
			}
			for _, f := range ctx {
				atLeast(f, 1)
			}
		}
		take()
	}
	for ctx, n := range p.Section(CallCounts).Counts() {
		if len(ctx) > 1 {
			add(ctx[1], n)
		}
	}
	take()
	for ctx, records := range p.Section(Conditionals).All() {
		for b := range branchesIn(records) {
			add(Frame{ctx.leaf().Method, b.Target}, b.Count)
		}
	}
	take()
	return out
}
