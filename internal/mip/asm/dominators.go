package asm

import "slices"

// dominators numbers the dominator tree and measures loops. A block that
// control may enter from outside is a child of the entry block, which is
// covered whenever any block of the function is. A fragment has no such entry:
// there the parent is a root that is no block.
//
// The algorithm is that of Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm".
func (in *inference) dominators() {
	n := int32(len(in.blocks))
	rank, order := in.reversePostorder() // root is number n
	idom := make([]int32, n+1)
	for i := range idom {
		idom[i] = -1
	}
	idom[n] = n
	for changed := true; changed; {
		changed = false
		for _, b := range order[1:] {
			dom := int32(-1)
			join := func(p int32) {
				switch {
				case idom[p] < 0:
				case dom < 0:
					dom = p
				default:
					dom = intersect(idom, rank, dom, p)
				}
			}
			if b == 0 || in.fragment && in.blocks[b].root {
				join(n)
			} else if in.blocks[b].root {
				join(0)
			}
			for _, p := range in.preds[b] {
				join(p)
			}
			if idom[b] != dom {
				idom[b] = dom
				changed = true
			}
		}
	}
	in.number(idom)
	in.loops()
}

// intersect returns the closest common dominator of two blocks.
func intersect(idom, rank []int32, a, b int32) int32 {
	for a != b {
		for rank[a] > rank[b] {
			a = idom[a]
		}
		for rank[b] > rank[a] {
			b = idom[b]
		}
	}
	return a
}

// reversePostorder orders the blocks below the root, number len(blocks). A
// block that neither the entry nor a root reaches becomes a root itself.
func (in *inference) reversePostorder() (rank, order []int32) {
	n := int32(len(in.blocks))
	reached := make([]bool, n)
	in.reach(0, reached)
	for b := range n {
		if in.blocks[b].root {
			in.reach(b, reached)
		}
	}
	for b := range n {
		if !reached[b] {
			in.blocks[b].root = true
			in.reach(b, reached)
		}
	}
	type frame struct{ b, next int32 }
	var stack []frame
	seen := make([]bool, n)
	walk := func(start int32) {
		if seen[start] {
			return
		}
		seen[start] = true
		stack = append(stack[:0], frame{b: start})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if succs := in.blocks[top.b].Succs; int(top.next) < len(succs) {
				s := succs[top.next]
				top.next++
				if !seen[s] {
					seen[s] = true
					stack = append(stack, frame{b: s})
				}
				continue
			}
			order = append(order, top.b)
			stack = stack[:len(stack)-1]
		}
	}
	// The entry comes last, and so first in the reverse.
	for b := n - 1; b > 0; b-- {
		if in.blocks[b].root {
			walk(b)
		}
	}
	walk(0)
	order = append(order, n)
	slices.Reverse(order)
	rank = make([]int32, n+1)
	for i, b := range order {
		rank[b] = int32(i)
	}
	return rank, order
}

// reach marks the blocks that b reaches.
func (in *inference) reach(b int32, reached []bool) {
	if reached[b] {
		return
	}
	reached[b] = true
	in.work = append(in.work[:0], b)
	for len(in.work) > 0 {
		x := in.work[len(in.work)-1]
		in.work = in.work[:len(in.work)-1]
		for _, s := range in.blocks[x].Succs {
			if !reached[s] {
				reached[s] = true
				in.work = append(in.work, s)
			}
		}
	}
}

// number sets pre and post by a walk of the dominator tree.
func (in *inference) number(idom []int32) {
	n := len(in.blocks)
	children := make([][]int32, n+1)
	for b := range n {
		children[idom[b]] = append(children[idom[b]], int32(b))
	}
	in.pre, in.post = make([]int32, n+1), make([]int32, n+1)
	type frame struct{ b, next int32 }
	stack := []frame{{b: int32(n)}}
	var clock int32
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == 0 {
			clock++
			in.pre[top.b] = clock
		}
		if int(top.next) < len(children[top.b]) {
			child := children[top.b][top.next]
			top.next++
			stack = append(stack, frame{b: child})
			continue
		}
		clock++
		in.post[top.b] = clock
		stack = stack[:len(stack)-1]
	}
}

// loops counts for each block the natural loops around it. The depth affects
// only the order of decisions, so the walk of a large loop stops early.
func (in *inference) loops() {
	const limit = 4096
	in.depth = make([]int32, len(in.blocks))
	in.body = make([]int32, len(in.blocks))
	for h := range in.blocks {
		header := int32(h)
		in.work = in.work[:0]
		for _, p := range in.preds[header] {
			if in.dominates(header, p) && in.body[p] != header+1 {
				in.body[p] = header + 1
				in.work = append(in.work, p)
			}
		}
		if len(in.work) == 0 {
			continue
		}
		if in.body[header] != header+1 {
			in.body[header] = header + 1
			in.depth[header]++
		}
		for i := 0; i < len(in.work) && i < limit; i++ {
			x := in.work[i]
			in.depth[x]++
			if x == header {
				in.depth[x]--
				continue
			}
			for _, p := range in.preds[x] {
				if in.body[p] != header+1 {
					in.body[p] = header + 1
					in.work = append(in.work, p)
				}
			}
		}
	}
}
