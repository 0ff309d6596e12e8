// Package partition is the recursive balanced graph partitioning of LLVM's Support library
// (BalancedPartitioning), by which "llvm-profdata order" orders functions.
package partition

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/internal/llvm/mt19937"
)

// Order orders functions such that functions first called at about the same time, in as many runs as possible,
// share pages. The result equals the order of an LLVM built with libstdc++, for any number of processors.
//
// A trace holds the ids of the functions of one run in the order of their first calls. The result has
// every id of a trace once.
func Order(traces [][]uint64) []uint64 {
	nodes := utilityNodes(traces)
	p := &partitioner{log2: make([]float32, len(nodes)+2), slots: make(chan struct{}, maxSplits)}
	for i := 1; i < len(p.log2); i++ {
		p.log2[i] = float32(math.Log2(float64(i)))
	}
	all := make([]*node, len(nodes))
	for i := range nodes {
		nodes[i].index = i
		all[i] = &nodes[i]
	}
	p.bisect(all, 0, 1, 0)
	p.group.Wait()
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(a.bucket, b.bucket) })
	order := make([]uint64, len(nodes))
	for i := range nodes {
		order[i] = nodes[i].id
	}
	return order
}

// The parameters of LLVM's BalancedPartitioningConfig.
const (
	splitDepth      = 18
	splitIterations = 40
	skipProbability = float32(0.1) // probability of skipping a move with gain, which breaks cycles
)

// A node is a function with its edges to utility nodes.
type node struct {
	id        uint64
	first     int      // earliest position in any trace
	utilities []uint32 // renumbered in each call of bisect
	index     int      // in the order of the input
	bucket    int      // the node's side; after the last split, its position
}

// utilityNodes makes a bipartite graph of traces, like createBPFunctionNodes of LLVM's TemporalProfTraceTy. It cuts
// a trace at the positions 1, 2, 4, 8 …; each piece is a utility node, with edges to the functions called in it or
// before it. Utility nodes of one function, or of more than half of all functions, carry no information and are
// dropped.
func utilityNodes(traces [][]uint64) []node {
	var nodes []node
	at := make(map[uint64]int) // into nodes, by id
	last := uint32(0)          // utility
	for _, trace := range traces {
		cut := 1
		since := make(map[uint64]uint32, len(trace)) // first utility of this trace
		var seen []uint64
		for position, id := range trace {
			if position >= cut {
				last++
				cut = 2 * position
			}
			if _, ok := since[id]; !ok {
				since[id] = last
				seen = append(seen, id)
			}
			if i, ok := at[id]; ok {
				nodes[i].first = min(nodes[i].first, position)
			} else {
				at[id] = len(nodes)
				nodes = append(nodes, node{id: id, first: position})
			}
		}
		for _, id := range seen {
			n := &nodes[at[id]]
			for u := since[id]; u <= last; u++ {
				n.utilities = append(n.utilities, u)
			}
		}
		last++
	}
	degree := make([]int, last)
	for i := range nodes {
		for _, u := range nodes[i].utilities {
			degree[u]++
		}
	}
	for i := range nodes {
		nodes[i].utilities = slices.DeleteFunc(nodes[i].utilities, func(u uint32) bool {
			return degree[u] <= 1 || 2*degree[u] > len(nodes)
		})
	}
	slices.SortFunc(nodes, func(a, b node) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.id, b.id))
	})
	return nodes
}

// maxSplits bounds the halves that are split concurrently.
const maxSplits = 64

type partitioner struct {
	log2  []float32 // base-2 logarithm of the index
	slots chan struct{}
	group sync.WaitGroup
}

// bisect splits nodes into the buckets 2·root and 2·root+1 and recurses into both
// halves. At the bottom it numbers the nodes from offset. The halves share no data,
// and root alone seeds the random numbers, so the order of execution is irrelevant.
func (p *partitioner) bisect(nodes []*node, depth int, root, offset int) {
	byIndex := func(a, b *node) int { return cmp.Compare(a.index, b.index) }
	slices.SortFunc(nodes, byIndex)
	if len(nodes) <= 1 || depth >= splitDepth {
		for i, n := range nodes {
			n.bucket = offset + i
		}
		return
	}
	left, right := 2*root, 2*root+1
	for i, n := range nodes {
		n.bucket = right
		if i < (len(nodes)+1)/2 {
			n.bucket = left
		}
	}
	p.split(nodes, left, right, mt19937.New(uint32(root)))
	middle := partition(nodes, func(n *node) bool { return n.bucket == left })
	a, b := nodes[:middle], nodes[middle:]
	select {
	case p.slots <- struct{}{}:
		p.group.Go(func() {
			p.bisect(a, depth+1, left, offset)
			<-p.slots
		})
	default:
		p.bisect(a, depth+1, left, offset)
	}
	p.bisect(b, depth+1, right, offset+middle)
}

// A signature holds the gain of moving a function of a utility node (UtilitySignature).
type signature struct {
	left, right uint32  // functions on each side
	toRight     float32 // gain of moving one to the right
	toLeft      float32
	valid       bool // the gains are up to date
}

// A gain is the gain of moving a node to the other side.
type gain struct {
	gain float32
	node *node
}

// A halving is a part of the nodes on two sides, which exchange nodes.
type halving struct {
	nodes       []*node
	left, right int // buckets
	signatures  []signature
	gains       []gain // of nodes
}

// split exchanges nodes between the two sides while that has a gain.
func (p *partitioner) split(nodes []*node, left, right int, rng *mt19937.Generator) {
	h := halving{nodes, left, right, compactUtilities(nodes), make([]gain, len(nodes))}
	for _, n := range nodes {
		for _, u := range n.utilities {
			if n.bucket == left {
				h.signatures[u].left++
			} else {
				h.signatures[u].right++
			}
		}
	}
	for range splitIterations {
		if p.iterate(&h, rng) == 0 {
			return
		}
	}
}

// compactUtilities drops the utilities of one or of all nodes, which do not
// distinguish these nodes, and renumbers the others from zero.
func compactUtilities(nodes []*node) []signature {
	degree := make(map[uint32]int)
	for _, n := range nodes {
		for _, u := range n.utilities {
			degree[u]++
		}
	}
	number := make(map[uint32]uint32)
	for _, n := range nodes {
		n.utilities = slices.DeleteFunc(n.utilities, func(u uint32) bool {
			return degree[u] == 1 || degree[u] == len(nodes)
		})
		for i, u := range n.utilities {
			k, ok := number[u]
			if !ok {
				k = uint32(len(number))
				number[u] = k
			}
			n.utilities[i] = k
		}
	}
	return make([]signature, len(number))
}

// iterate moves pairs of nodes in descending order of gain, and returns how many
// nodes it moved.
func (p *partitioner) iterate(h *halving, rng *mt19937.Generator) (moved int) {
	nodes, gains, signatures := h.nodes, h.gains, h.signatures
	for i := range signatures {
		if s := &signatures[i]; !s.valid {
			cost := p.cost(s.left, s.right)
			s.toRight, s.toLeft = 0, 0
			if s.left > 0 {
				s.toRight = cost - p.cost(s.left-1, s.right+1)
			}
			if s.right > 0 {
				s.toLeft = cost - p.cost(s.left+1, s.right-1)
			}
			s.valid = true
		}
	}
	for i, n := range nodes {
		g := gain{node: n}
		for _, u := range n.utilities {
			if n.bucket == h.left {
				g.gain += signatures[u].toRight
			} else {
				g.gain += signatures[u].toLeft
			}
		}
		gains[i] = g
	}
	middle := partition(gains, func(g gain) bool { return g.node.bucket == h.left })
	l, r := gains[:middle], gains[middle:]
	most := func(a, b gain) int { return cmp.Compare(b.gain, a.gain) }
	slices.SortStableFunc(l, most)
	slices.SortStableFunc(r, most)
	for i := range min(len(l), len(r)) {
		if l[i].gain+r[i].gain <= 0 {
			break
		}
		for _, n := range [2]*node{l[i].node, r[i].node} {
			if rng.Float32() > skipProbability {
				move(n, signatures, h.left, h.right)
				moved++
			}
		}
	}
	return moved
}

// move puts a node on the other side.
func move(n *node, signatures []signature, left, right int) {
	toRight := n.bucket == left
	n.bucket = left
	if toRight {
		n.bucket = right
	}
	for _, u := range n.utilities {
		s := &signatures[u]
		if toRight {
			s.left--
			s.right++
		} else {
			s.left++
			s.right--
		}
		s.valid = false
	}
}

// cost returns the logarithmic gap cost of a utility with x functions on one side and y on the other. The
// conversions prevent a fused multiply-add, which would round differently.
func (p *partitioner) cost(x, y uint32) float32 {
	return -(float32(float32(x)*p.log2[x+1]) + float32(float32(y)*p.log2[y+1]))
}

// partition moves the elements that satisfy pred to the front and returns their number. The result depends on the
// order of the elements, so partition is libstdc++'s std::partition over bidirectional iterators.
func partition[E any](s []E, pred func(E) bool) int {
	lo, hi := 0, len(s)
	for {
		for lo < hi && pred(s[lo]) {
			lo++
		}
		if lo == hi {
			return lo
		}
		for hi--; lo < hi && !pred(s[hi]); hi-- {
		}
		if lo == hi {
			return lo
		}
		s[lo], s[hi] = s[hi], s[lo]
		lo++
	}
}
