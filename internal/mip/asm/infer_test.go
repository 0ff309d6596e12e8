package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// randomGraph makes a function of n blocks in which any block may leave, loop or be entered from outside.
func randomGraph(r *rand.Rand, n int) []Block {
	blocks := make([]Block, n)
	leaves := r.IntN(60)
	for i := range blocks {
		b := &blocks[i]
		b.mayLeave = r.IntN(100) < leaves
		b.root = i > 0 && r.IntN(40) == 0
		for range 1 + r.IntN(2) {
			to := int32(r.IntN(n))
			if r.IntN(8) > 0 { // mostly nearby and ahead
				to = int32(min(n-1, i+1+r.IntN(3)))
			}
			if !slices.Contains(b.Succs, to) {
				b.Succs = append(b.Succs, to)
			}
		}
		if len(b.Succs) == 0 {
			b.mayLeave = true
		}
	}
	return blocks
}

// walk executes a function once and marks the blocks reached. The way may end
// in any block that leaves, and in a cycle, where the process may be ended.
func walk(r *rand.Rand, blocks []Block, fragment bool, covered []bool) {
	var roots []int32
	for i := range blocks {
		if blocks[i].root {
			roots = append(roots, int32(i))
		}
	}
	at := int32(0)
	if fragment && len(roots) > 0 && r.IntN(2) == 0 {
		at = roots[r.IntN(len(roots))]
	}
	visits := make([]int, len(blocks))
	for {
		covered[at] = true
		visits[at]++
		b := &blocks[at]
		if b.mayLeave && r.IntN(2) == 0 || len(b.Succs) == 0 {
			// A call may throw and come back at a landing pad.
			if !b.mayLeave || len(roots) == 0 || r.IntN(2) == 0 {
				return
			}
			at = roots[r.IntN(len(roots))]
			continue
		}
		if visits[at] > 4 { // caught in a cycle
			if !onCycle(blocks, at) || r.IntN(2) == 0 || visits[at] > 30 {
				return
			}
		}
		at = b.Succs[r.IntN(len(b.Succs))]
	}
}

// onCycle reports whether b can reach itself.
func onCycle(blocks []Block, b int32) bool {
	seen := make([]bool, len(blocks))
	work := slices.Clone(blocks[b].Succs)
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == b {
			return true
		}
		if !seen[x] {
			seen[x] = true
			work = append(work, blocks[x].Succs...)
		}
	}
	return false
}

// resolve computes the coverage of all blocks from that of the probed ones.
func resolve(t *testing.T, formula [][]int32, covered []bool) []bool {
	out := make([]bool, len(covered))
	state := make([]int, len(covered))
	var eval func(b int32) bool
	eval = func(b int32) bool {
		switch {
		case state[b] == 1:
			t.Fatalf("block %d depends on itself: %v", b, formula)
		case state[b] == 2:
		case formula[b] == nil:
			out[b] = covered[b]
		default:
			state[b] = 1
			for _, s := range formula[b] {
				out[b] = eval(s) || out[b]
			}
		}
		state[b] = 2
		return out[b]
	}
	for b := range covered {
		eval(int32(b))
	}
	return out
}

// check compares the inferred coverage with the true one.
func check(t *testing.T, g []Block, fragment bool, formula [][]int32, covered []bool) {
	t.Helper()
	bytes := slices.Clone(covered)
	if fragment { // every way in sets the byte of the entry
		bytes[0] = slices.Contains(covered, true)
	}
	if got := resolve(t, formula, bytes); !slices.Equal(got[1:], covered[1:]) {
		t.Fatalf("%+v\nfragment %t\nformula %v\ncovered  %v\ninferred %v", g, fragment, formula, covered, got)
	}
}

// TestInferRandomGraphs: whatever way executions take, the inferred coverage is the true one.
func TestInferRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	blocks, saved := 0, 0
	for range 4000 {
		n := 1 + r.IntN(24)
		g := randomGraph(r, n)
		fragment := r.IntN(5) == 0
		formula := infer(g, fragment)
		if formula[0] != nil {
			t.Fatalf("the entry is inferred: %v", formula)
		}
		blocks += n
		for _, f := range formula {
			if f != nil {
				saved++
			}
		}
		for range 40 {
			covered := make([]bool, n)
			for range 1 + r.IntN(3) {
				walk(r, g, fragment, covered)
			}
			check(t, g, fragment, formula, covered)
		}
	}
	t.Logf("%d of %d blocks need no probe", saved, blocks)
	if saved*8 < blocks {
		t.Errorf("only %d of %d blocks are inferred", saved, blocks)
	}
}

// TestInferShapes: what the shapes of structured code need.
func TestInferShapes(t *testing.T) {
	b := func(leaves bool, succs ...int32) Block { return Block{mayLeave: leaves, Succs: succs} }
	tests := []struct {
		name   string
		blocks []Block
		probes int
	}{
		{"straight", []Block{b(false, 1), b(false, 2), b(true)}, 1},
		{"if", []Block{b(false, 1, 2), b(false, 2), b(true)}, 2},
		{"if with a call", []Block{b(false, 1, 2), b(true, 2), b(true)}, 3},
		{"if else", []Block{b(false, 2, 1), b(false, 3), b(false, 3), b(true)}, 3},
		{"two branches below a branch", []Block{b(true, 1, 4), b(false, 2, 3), b(true), b(true), b(true)}, 4},
		{"loop", []Block{b(false, 1), b(false, 1, 2), b(true)}, 2},
		{"loop without end", []Block{b(false, 1), b(false, 1)}, 1},
		{"call, then straight on", []Block{b(true, 1), b(true, 2), b(true)}, 3},
	}
	for _, tt := range tests {
		got := 0
		for _, f := range infer(tt.blocks, false) {
			if f == nil {
				got++
			}
		}
		if got != tt.probes {
			t.Errorf("%s: %d probes, want %d", tt.name, got, tt.probes)
		}
	}
}

// TestInferLarge: a function of generated code does not take forever.
func TestInferLarge(t *testing.T) {
	n := 20_000
	if oracle.Everything() {
		n = 200_000
	}
	g := make([]Block, n)
	for i := range g {
		g[i].Succs = []int32{int32(min(i+1, n-1)), int32(min(i+2, n-1))}
		if i%3 == 0 {
			g[i].Succs = append(g[i].Succs, int32(i/2))
		}
		g[i].mayLeave = i%5 == 0
	}
	g[n-1] = Block{mayLeave: true}
	infer(g, false)
}

func FuzzInfer(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint(10), false)
	f.Fuzz(func(t *testing.T, a, b uint64, n uint, fragment bool) {
		r := rand.New(rand.NewPCG(a, b))
		g := randomGraph(r, 1+int(n%200))
		formula := infer(g, fragment)
		for range 20 {
			covered := make([]bool, len(g))
			walk(r, g, fragment, covered)
			check(t, g, fragment, formula, covered)
		}
	})
}
