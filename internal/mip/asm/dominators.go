package asm

import "slices"

// dominators numbers the dominator tree and measures loops. A block that control may enter from outside
// is a child of the entry block, which is covered whenever any block of the function is. A fragment has
// no such entry: there the parent is a root that is no block.
//
// Algorithm: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
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
	reached := make([]int32, n)
	successors := func(b int32) []int32 { return in.blocks[b].Succs }
	in.spreadMark(reached, 1, 0, successors)
	for b := range n {
		if in.blocks[b].root {
			in.spreadMark(reached, 1, b, successors)
		}
	}
	for b := range n {
		if reached[b] == 0 {
			in.blocks[b].root = true
			in.spreadMark(reached, 1, b, successors)
		}
	}
	seen := make([]bool, n)
	var walk func(b int32)
	walk = func(b int32) {
		if seen[b] {
			return
		}
		seen[b] = true
		for _, s := range in.blocks[b].Succs {
			walk(s)
		}
		order = append(order, b)
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

// number sets pre and post by a walk of the dominator tree.
func (in *inference) number(idom []int32) {
	n := len(in.blocks)
	children := make([][]int32, n+1)
	for b := range n {
		children[idom[b]] = append(children[idom[b]], int32(b))
	}
	in.pre, in.post = make([]int32, n+1), make([]int32, n+1)
	var clock int32
	var walk func(b int32)
	walk = func(b int32) {
		clock++
		in.pre[b] = clock
		for _, child := range children[b] {
			walk(child)
		}
		clock++
		in.post[b] = clock
	}
	walk(int32(n))
}

// loops counts the natural loops around each block. The count affects only the
// order of decisions, so the walk of a large loop stops early.
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
