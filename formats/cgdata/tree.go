package cgdata

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// maxDepth is how long an outlined sequence may be. The outliner takes sequences within one block of code.
const maxDepth = 1 << 16

// A rawNode is a node as files have it.
type rawNode struct {
	hash       uint64
	terminals  uint32
	successors []uint32 // ids
}

// A treeBuilder makes a tree of nodes with ids.
type treeBuilder struct {
	*reader
	at    func() flaw.Position // of errors
	nodes []rawNode
	index map[uint32]int // by id
	err   error
}

func (b *treeBuilder) fail(field string, got any, want string) {
	if b.err == nil {
		b.err = b.at().Field(field).Got(got).Want(want).Corrupt()
	}
}

func (b *treeBuilder) add(id uint32, node rawNode) {
	if _, twice := b.index[id]; twice {
		b.fail("id of a node", id, "each id once")
	}
	b.index[id] = len(b.nodes)
	b.nodes = append(b.nodes, node)
}

// build returns the tree. A node of a sequence that occurs twice gets the terminals of both, with a warning: LLVM keeps only
// one of them.
func (b *treeBuilder) build() ([]Node, error) {
	root, ok := b.index[0]
	if !ok {
		b.fail("node 0", "missing", "the root")
	} else if hash := b.nodes[root].hash; hash != 0 {
		b.fail("hash of the root", hash, "0")
	}
	if b.err != nil {
		return nil, b.err
	}
	var t hashTree
	type step struct {
		node  int // in b.nodes
		to    int32
		depth int
	}
	seen := make([]bool, len(b.nodes))
	reached := 0
	for todo := []step{{root, t.root(), 0}}; len(todo) > 0 && b.err == nil; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s.node] || s.depth > maxDepth {
			b.fail("successors", "a node twice, or too many levels", "each node once, and at most 65536 levels")
			break
		}
		seen[s.node] = true
		reached++
		node := &b.nodes[s.node]
		t.addTerminals(s.to, node.terminals)
		for _, id := range node.successors {
			next, ok := b.index[id]
			if !ok {
				b.fail("id of a successor", id, "the id of a node")
				break
			}
			todo = append(todo, step{next, t.child(s.to, b.nodes[next].hash), s.depth + 1})
		}
	}
	if reached < len(b.nodes) {
		b.fail("nodes outside of the tree", len(b.nodes)-reached, "none")
	}
	if b.err != nil {
		return nil, b.err
	}
	if twice := len(b.nodes) - len(t.nodes); twice > 0 {
		b.warn(b.at().Field("sequences that occur twice").Got(twice).Want("none: LLVM keeps one of each; they are added up here").Mismatch())
	}
	return t.list(), nil
}

// A hashTree is a prefix tree that grows.
type hashTree struct {
	nodes     []treeNode
	children  map[edge]int32
	saturated bool
}

type treeNode struct {
	hash      uint64
	parent    int32
	terminals uint32
}

type edge struct {
	parent int32
	hash   uint64
}

// root returns the root, and makes it first.
func (t *hashTree) root() int32 {
	if t.nodes == nil {
		t.nodes, t.children = []treeNode{{parent: -1}}, make(map[edge]int32)
	}
	return 0
}

// child returns the successor with a hash, and makes it if there is none.
func (t *hashTree) child(parent int32, hash uint64) int32 {
	at := edge{parent, hash}
	i, ok := t.children[at]
	if !ok {
		i = int32(len(t.nodes))
		t.nodes = append(t.nodes, treeNode{hash: hash, parent: parent})
		t.children[at] = i
	}
	return i
}

func (t *hashTree) addTerminals(node int32, n uint32) {
	to := &t.nodes[node].terminals
	if *to > math.MaxUint32-n {
		*to, t.saturated = math.MaxUint32, true
		return
	}
	*to += n
}

// add adds all sequences of a tree.
func (t *hashTree) add(tree []Node) {
	if len(tree) == 0 {
		return
	}
	to := make([]int32, len(tree))
	to[0] = t.root()
	for i := range tree {
		t.addTerminals(to[i], tree[i].Terminals)
		for _, next := range tree[i].Successors {
			to[next] = t.child(to[i], tree[next].Hash)
		}
	}
}

// list returns the nodes in the order of LLVM: each before its successors, and these by descending hash. A tree of its root
// alone has no nodes.
func (t *hashTree) list() []Node {
	if len(t.nodes) < 2 {
		return nil
	}
	sorted := make([]int32, len(t.nodes))
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int {
		x, y := &t.nodes[a], &t.nodes[b]
		return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(y.hash, x.hash))
	})
	// The successors of a node follow each other in sorted.
	first := make([]int32, len(t.nodes)+1)
	for i, n := range sorted {
		first[t.nodes[n].parent+1] = int32(i + 1)
	}
	for i := 1; i < len(first); i++ {
		first[i] = max(first[i], first[i-1])
	}
	out := make([]Node, 0, len(t.nodes))
	type step struct {
		node   int32
		parent int // in out
	}
	for todo := []step{{0, -1}}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.parent >= 0 {
			out[s.parent].Successors = append(out[s.parent].Successors, len(out))
		}
		children := sorted[first[s.node]:first[s.node+1]]
		for _, c := range slices.Backward(children) {
			todo = append(todo, step{c, len(out)})
		}
		out = append(out, Node{Hash: t.nodes[s.node].hash, Terminals: t.nodes[s.node].terminals})
	}
	return out
}
