package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// randomPaths makes paths of few labels, so that they meet and recur.
func randomPaths(random *rand.Rand, n, depth, labels int) (paths [][]int32, classes []uint8, values [][]uint64) {
	for range n {
		path := make([]int32, random.IntN(depth))
		for i := range path {
			path[i] = int32(random.IntN(labels))
		}
		paths = append(paths, path)
		classes = append(classes, uint8(random.IntN(2)))
		values = append(values, []uint64{uint64(random.IntN(100)), uint64(random.IntN(3)), uint64(random.IntN(50)), uint64(random.IntN(50))})
	}
	return paths, classes, values
}

var testValues = []profile.ValueType{
	{Name: "bytes", Unit: profile.Bytes},
	{Name: "count", Unit: profile.Count},
	{Name: "least", Combine: profile.Min},
	{Name: "greatest", Combine: profile.Max},
}

func treeOf(paths [][]int32, classes []uint8, values [][]uint64) *weightTree {
	t := newWeightTree(testValues, 2)
	for i, path := range paths {
		node := int32(0)
		for _, label := range path {
			node = t.child(node, label)
		}
		t.addValues(node, classes[i], values[i])
	}
	return t
}

func labelName(l int32) string { return fmt.Sprintf("f%d", l) }

// paths returns the labels on the way to each node.
func (d *treeData) paths() [][]int32 {
	out := make([][]int32, len(d.Depth))
	for i, p := range d.parents() {
		if p >= 0 {
			out[i] = append(slices.Clone(out[p]), d.Label[i])
		}
	}
	return out
}

// boxes returns how many boxes the tree makes: one for each node, and one for what a node leaves out.
func (d *treeData) boxes() int {
	n := len(d.Depth)
	for _, left := range d.Left {
		if left > 0 {
			n++
		}
	}
	return n
}

func hasPrefix(path, prefix []int32) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// TestTreesAddUp holds every node of random trees, pruned to random sizes and
// turned around or not, against the paths themselves.
func TestTreesAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for round := range 150 {
		paths, classes, values := randomPaths(random, 1+random.IntN(60), 9, 1+random.IntN(4))
		tree := treeOf(paths, classes, values)
		inverted := make([][]int32, len(paths))
		for i := range paths {
			inverted[i] = slices.Clone(paths[i])
			slices.Reverse(inverted[i])
		}
		down, up := tree.grow(1000), tree.invert(1000)
		limit := 2 + random.IntN(150)
		shareOut([]*grownTree{down, up}, limit)
		boxes := 0
		for _, turned := range []struct {
			grown *grownTree
			paths [][]int32
		}{{down, paths}, {up, inverted}} {
			d := turned.grown.arrange(2, labelName)
			boxes += d.boxes()
			checkTree(t, d, turned.paths, classes, values)
		}
		if boxes > max(limit, 4) {
			t.Fatalf("round %d: %d boxes, at most %d were wanted", round, boxes, limit)
		}
	}
}

func checkTree(t *testing.T, d *treeData, paths [][]int32, classes []uint8, values [][]uint64) {
	t.Helper()
	at := d.paths()
	kids := d.children()
	for value := range 2 {
		total, self, rest := d.weights(value, 2)
		for n := range at {
			var wantTotal, wantSelf, wantRest float64
			left := make(map[int32]bool)
			byClass := make([]float64, 2)
			for i, path := range paths {
				if !hasPrefix(path, at[n]) {
					continue
				}
				x := float64(values[i][value])
				wantTotal += x
				if len(path) == len(at[n]) {
					wantSelf += x
					byClass[classes[i]] += x
					continue
				}
				next := path[len(at[n])]
				if !slices.ContainsFunc(kids[n], func(k int32) bool { return d.Label[k] == next }) {
					wantRest += x
					left[next] = true
				}
			}
			sum := self[n] + rest[n]
			for _, k := range kids[n] {
				sum += total[k]
			}
			if total[n] != wantTotal || self[n] != wantSelf || rest[n] != wantRest || sum != wantTotal || int(d.Left[n]) != len(left) {
				t.Fatalf("node %v, value %d: total %v, self %v, rest %v, left %d; want %v, %v, %v, %d",
					at[n], value, total[n], self[n], rest[n], d.Left[n], wantTotal, wantSelf, wantRest, len(left))
			}
			for c := range byClass {
				if column := d.Self[value*2+c]; len(column) > 0 && float64(column[n]) != byClass[c] {
					t.Fatalf("node %v, value %d, class %d: self %d, want %v", at[n], value, c, column[n], byClass[c])
				}
			}
		}
	}
	for other, how := range []func(a, b uint64) uint64{func(a, b uint64) uint64 { return min(a, b) }, func(a, b uint64) uint64 { return max(a, b) }} {
		for n := range at {
			var want uint64
			first := true
			for i, path := range paths {
				if !hasPrefix(path, at[n]) {
					continue
				}
				x := values[i][2+other]
				if !first {
					x = how(want, x)
				}
				want, first = x, false
			}
			if column := d.Other[other]; len(column) > 0 && column[n] != want || len(column) == 0 && want != 0 {
				t.Fatalf("node %v, other value %d is not %d", at[n], other, want)
			}
		}
	}
}

// TestLabelTotals: recursion counts once.
func TestLabelTotals(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for range 100 {
		paths, classes, values := randomPaths(random, random.IntN(80), 12, 5)
		tree := treeOf(paths, classes, values)
		wantTotal, wantSelf := make([]uint64, 5), make([]uint64, 5)
		for i, path := range paths {
			for l := range int32(5) {
				if slices.Contains(path, l) {
					wantTotal[l] += values[i][0]
				}
			}
			if len(path) > 0 {
				wantSelf[path[len(path)-1]] += values[i][0]
			}
		}
		total, self := tree.labelTotals(5, 0)
		if !slices.Equal(total, wantTotal) || !slices.Equal(self, wantSelf) {
			t.Fatalf("total %v, self %v; want %v, %v", total, self, wantTotal, wantSelf)
		}
	}
}

// TestPruningKeepsTheWeightiest: nothing that is left out weighs more than what is kept.
func TestPruningKeepsTheWeightiest(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 17))
	paths, classes, values := randomPaths(random, 3000, 8, 6)
	tree := treeOf(paths, classes, values)
	shares := tree.shares()
	g := tree.grow(500)
	if len(g.parent) != 500 {
		t.Fatalf("%d nodes", len(g.parent))
	}
	share := func(i int) float64 {
		s := 0.0
		for v := range 2 {
			sum, all := uint64(0), uint64(0)
			for c := range 2 {
				sum, all = sum+g.total[v*2+c][i], all+g.total[v*2+c][0]
			}
			s = max(s, float64(sum)/float64(all))
		}
		return s
	}
	slices.SortFunc(shares, func(a, b float64) int { return cmp.Compare(b, a) })
	for i := range g.parent {
		if got := share(i); math.Abs(got-shares[i]) > 1e-12 {
			t.Fatalf("node %d has a share of %v, %v was there", i, got, shares[i])
		}
		if int(g.parent[i]) >= i {
			t.Fatalf("node %d stands before its parent", i)
		}
	}
}

// TestDeepRecursionIsInverted: what is quadratic in the depth is not made.
func TestDeepRecursionIsInverted(t *testing.T) {
	oracle.Slow(t)
	tree := newWeightTree(testValues, 1)
	node := int32(0)
	for range 30_000 {
		node = tree.child(node, 0)
		tree.addValues(node, 0, []uint64{1, 1, 1, 1})
	}
	g := tree.invert(2000)
	if len(g.parent) > 2000 || g.total[0][0] != 30_000 || g.total[0][1] != 30_000 || g.self[0][1] != 1 {
		t.Errorf("%d nodes, totals %d and %d, self %d", len(g.parent), g.total[0][0], g.total[0][1], g.self[0][1])
	}
	if total, _ := tree.labelTotals(1, 0); total[0] != 30_000 {
		t.Errorf("the function has %d in all", total[0])
	}
}

// TestSumsStopAtTheLimit: no sum wraps, nothing that is left out is negative.
func TestSumsStopAtTheLimit(t *testing.T) {
	tree := newWeightTree(testValues[:1], 1)
	for l := range int32(4) {
		tree.addValues(tree.child(tree.child(0, 9), l), 0, []uint64{math.MaxUint64 - 5})
	}
	for _, g := range []*grownTree{tree.grow(3), tree.invert(3)} {
		if g.total[0][0] != math.MaxUint64 {
			t.Errorf("the root has %d", g.total[0][0])
		}
		d := g.arrange(1, labelName)
		for _, rest := range d.Rest[0] {
			if rest > math.MaxUint64-5 && rest != math.MaxUint64 {
				t.Errorf("%d are left out", rest)
			}
		}
	}
}

// TestArrangeIsDeterministic: the order of the stacks does not show, but where
// weights are equal and one of them is left out.
func TestArrangeIsDeterministic(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 29))
	paths, classes, values := randomPaths(random, 50, 6, 4)
	want := fmt.Sprintf("%+v", *treeOf(paths, classes, values).grow(10000).arrange(2, labelName))
	for range 5 {
		random.Shuffle(len(paths), func(i, j int) {
			paths[i], paths[j] = paths[j], paths[i]
			classes[i], classes[j] = classes[j], classes[i]
			values[i], values[j] = values[j], values[i]
		})
		tree := treeOf(paths, classes, values)
		if got := fmt.Sprintf("%+v", *tree.grow(10000).arrange(2, labelName)); got != want {
			t.Fatalf("another order of stacks makes another tree:\n%s\n%s", got, want)
		}
	}
}

// The heaviest nodes are the first of all that are sorted.
func TestHeaviest(t *testing.T) {
	tree := treeOf(randomPaths(rand.New(rand.NewPCG(7, 7)), 400, 8, 5))
	shares := tree.shares()
	all := make([]int32, len(shares))
	for n := range all {
		all[n] = int32(n)
	}
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(shares[b], shares[a]) })
	for limit := 1; limit < len(all)+10; limit += 7 {
		if got, want := tree.heaviest(limit), all[:min(limit, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("limit %d: %v, want %v", limit, got, want)
		}
	}
}
