package asm

import (
	"cmp"
	"slices"
)

// How the package decides which blocks need no probe.
//
// A block is covered when its start has been reached. Its coverage is the
// disjunction of the coverage of other blocks, its sources, if
//
//   - each source implies it: either every path to the source passes the block
//     (the block dominates the source), or the block is inevitable once the
//     source is reached; and
//   - it implies one of them: either every path to the block passes a source, or
//     a source is inevitable once the block is reached.
//
// "Inevitable" excludes three things between the two starts: a block that control may leave, because a
// call in it may throw, exit or jump elsewhere; a cycle of the graph, which may run until the process
// ends; and a branch to another place. Where a jump cannot be resolved the graph has extra edges; they
// only make both conditions harder to meet.
//
// Sources may be inferred themselves, as long as no block depends on itself.

// searchLimit bounds the number of blocks visited to decide one block; a block
// whose search exceeds it keeps its probe.
const searchLimit = 512

// inference decides which blocks of one function need a probe.
type inference struct {
	blocks   []Block
	fragment bool
	preds    [][]int32
	// pre and post number the dominator tree: a dominates b if and only if
	// pre[a] <= pre[b] && post[b] <= post[a].
	pre, post []int32
	depth     []int32 // number of loops that a block is in
	body      []int32 // header of the last loop that counted the block, plus one
	formula   [][]int32
	users     [][]int32 // blocks that have it as a source

	// Marks of the search for the block being decided; an entry is set if it equals stamp.
	stamp                                      int32
	inevitable, depends, seenBack, seenForward []int32
	onPath                                     []int32
	missing                                    []int32 // number of successors not yet known to make the block inevitable
	missingOf                                  []int32
	work                                       []int32
	budget                                     int
}

// Infer finds the blocks whose coverage follows from the coverage of other blocks.
func (fn *Function) Infer() { fn.Formula = infer(fn.Blocks, fn.Fragment) }

// infer returns for each block the sources of its coverage, nil for blocks that
// need a probe. The entry block always needs one.
func infer(blocks []Block, fragment bool) [][]int32 {
	n := len(blocks)
	in := &inference{blocks: blocks, fragment: fragment, formula: make([][]int32, n), users: make([][]int32, n)}
	if n < 2 {
		return in.formula
	}
	for _, s := range []*[]int32{&in.inevitable, &in.depends, &in.seenBack, &in.seenForward, &in.onPath, &in.missing, &in.missingOf} {
		*s = make([]int32, n)
	}
	in.preds = predecessors(blocks)
	in.dominators()
	for _, b := range in.order() {
		in.decideBlock(b)
	}
	return in.formula
}

func predecessors(blocks []Block) [][]int32 {
	preds := make([][]int32, len(blocks))
	for i := range blocks {
		for _, s := range blocks[i].Succs {
			preds[s] = append(preds[s], int32(i))
		}
	}
	return preds
}

// order returns all blocks but the entry in the order of decision: blocks of
// inner loops first, since their probes run most often.
func (in *inference) order() []int32 {
	order := make([]int32, 0, len(in.blocks)-1)
	for b := 1; b < len(in.blocks); b++ {
		order = append(order, int32(b))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(in.depth[b], in.depth[a]) })
	return order
}

// decideBlock removes the probe of block b if its coverage follows from other blocks.
func (in *inference) decideBlock(b int32) {
	in.stamp++
	// The blocks whose coverage is inferred from b's.
	in.spreadMark(in.depends, in.stamp, b, func(b int32) []int32 { return in.users[b] })
	in.markInevitable(b)
	in.budget = searchLimit
	sources, ok := in.sourcesBefore(b)
	if !ok {
		in.budget = searchLimit
		sources, ok = in.sourcesAfter(b)
	}
	if !ok {
		return
	}
	in.formula[b] = sources
	for _, s := range sources {
		in.users[s] = append(in.users[s], b)
	}
}

// spreadMark sets mark to stamp for block b and all that next leads to, but does not pass
// blocks that have the mark already.
func (in *inference) spreadMark(mark []int32, stamp, b int32, next func(b int32) []int32) {
	if mark[b] == stamp {
		return
	}
	mark[b] = stamp
	in.work = append(in.work[:0], b)
	for len(in.work) > 0 {
		x := in.work[len(in.work)-1]
		in.work = in.work[:len(in.work)-1]
		for _, y := range next(x) {
			if mark[y] != stamp {
				mark[y] = stamp
				in.work = append(in.work, y)
			}
		}
	}
}

// markInevitable marks the blocks after which b is inevitable: the least set of
// blocks that control cannot leave and whose successors are all b or in the set.
// In a larger set a cycle could justify itself.
func (in *inference) markInevitable(b int32) {
	in.inevitable[b] = in.stamp
	in.work = append(in.work[:0], b)
	for n := 0; n < len(in.work) && n < searchLimit; n++ {
		for _, p := range in.preds[in.work[n]] {
			if in.blocks[p].mayLeave || in.inevitable[p] == in.stamp {
				continue
			}
			if in.missingOf[p] != in.stamp {
				in.missingOf[p] = in.stamp
				in.missing[p] = int32(len(in.blocks[p].Succs))
			}
			if in.missing[p]--; in.missing[p] == 0 {
				in.inevitable[p] = in.stamp
				in.work = append(in.work, p)
			}
		}
	}
}

// source reports whether s implies b and may be a source of b. The entry of a fragment may not, because
// its byte is cleared wherever control enters the fragment.
func (in *inference) source(s, b int32) bool {
	if in.fragment && s == 0 {
		return false
	}
	return in.depends[s] != in.stamp && (in.inevitable[s] == in.stamp || in.dominates(b, s))
}

func (in *inference) dominates(a, b int32) bool {
	return in.pre[a] <= in.pre[b] && in.post[b] <= in.post[a]
}

// sourcesBefore looks for sources that every path to b passes.
func (in *inference) sourcesBefore(b int32) (sources []int32, ok bool) {
	in.work = append(in.work[:0], b)
	in.seenBack[b] = in.stamp
	visit := func(p int32) bool {
		if in.seenBack[p] == in.stamp {
			return true
		}
		in.seenBack[p] = in.stamp
		if in.source(p, b) {
			sources = append(sources, p)
			return true
		}
		in.work = append(in.work, p)
		in.budget--
		return in.budget > 0
	}
	for len(in.work) > 0 {
		x := in.work[len(in.work)-1]
		in.work = in.work[:len(in.work)-1]
		if x == 0 || in.blocks[x].root && (in.fragment || !visit(0)) {
			return nil, false
		}
		for _, p := range in.preds[x] {
			if !visit(p) {
				return nil, false
			}
		}
	}
	return sources, len(sources) > 0
}

// sourcesAfter looks for a set of sources such that control always reaches one of them after b.
func (in *inference) sourcesAfter(b int32) (sources []int32, ok bool) {
	if !in.leadsToSource(b, b, &sources) {
		return nil, false
	}
	slices.Sort(sources)
	return slices.Compact(sources), true
}

// leadsToSource reports whether every path from x, which is not a source, leads inevitably to a source.
func (in *inference) leadsToSource(x, b int32, sources *[]int32) bool {
	if in.blocks[x].mayLeave || len(in.blocks[x].Succs) == 0 {
		return false
	}
	if in.budget--; in.budget <= 0 {
		return false
	}
	in.onPath[x] = in.stamp
	for _, s := range in.blocks[x].Succs {
		switch {
		case in.onPath[s] == in.stamp: // a cycle
			return false
		case in.seenForward[s] == in.stamp:
		case in.source(s, b):
			*sources = append(*sources, s)
		case !in.leadsToSource(s, b, sources):
			return false
		}
	}
	in.onPath[x] = 0
	in.seenForward[x] = in.stamp
	return true
}
