package gcov

import (
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A Unit is one object file: its notes and, if it ran, its counts.
type Unit struct {
	Notes *Notes
	// Misfits are functions whose counts are for another flow graph, as indexes in Notes.Functions. They count as if they had not run.
	Misfits []int
	// Missing is the number of functions in the counts that the notes do not have.
	Missing int

	arcs [][]int64 // counters of arcs, by function; nil for a function without
	ran  bool      // there are counts
}

// NewUnit joins notes and counts, which may be nil if nothing ran. It returns an error if they are of different
// compilations.
func NewUnit(n *Notes, c *Counts) (*Unit, error) {
	u := &Unit{Notes: n, arcs: make([][]int64, len(n.Functions))}
	if c == nil {
		return u, nil
	}
	u.ran = true
	if n.Stamp != c.Stamp {
		return nil, flaw.At("header", 8).Field("stamp").Gotf("%08x", c.Stamp).Wantf("%08x, as in the notes", n.Stamp).
			Hint("the notes and the counts are of different compilations").Mismatch()
	}
	byIdent := make(map[uint32]int, len(n.Functions))
	for i := range n.Functions {
		byIdent[n.Functions[i].Ident] = i
	}
	for k := range c.Functions {
		f := &c.Functions[k]
		i, ok := byIdent[f.Ident]
		counters := f.Arcs()
		switch {
		case f.Placeholder:
		case !ok:
			u.Missing++
		case !n.Functions[i].fits(f):
			u.Misfits = append(u.Misfits, i)
		case u.arcs[i] == nil:
			u.arcs[i] = counters
		case counters != nil: // gcov adds them up
			sum := slices.Clone(counters)
			for j := range sum {
				sum[j] += u.arcs[i][j]
			}
			u.arcs[i] = sum
		}
	}
	return u, nil
}

// fits reports whether the counts are for this flow graph. A function may have no counters of arcs.
func (f *Function) fits(c *FunctionCounts) bool {
	arcs := c.Arcs()
	return f.LineChecksum == c.LineChecksum && f.FlowChecksum == c.FlowChecksum && (arcs == nil || len(arcs) == f.counted)
}

// Results yields what each function of the sources did; of functions that the compiler made nothing. The next step
// overwrites the result.
func (u *Unit) Results() iter.Seq[*Result] {
	return func(yield func(*Result) bool) {
		type start struct {
			source int
			line   uint32
		}
		begin := make(map[start]int)
		for i := range u.Notes.Functions {
			if f := &u.Notes.Functions[i]; !f.Artificial {
				begin[start{f.Source, f.StartLine}]++
			}
		}
		s := solver{exitLast: u.Notes.release < releaseExit, work: maxWork}
		for i := range u.Notes.Functions {
			f := &u.Notes.Functions[i]
			// gcov leaves out functions without counted arcs, unless the counts are missing.
			if f.Artificial || f.counted == 0 && u.ran {
				continue
			}
			s.solve(f, u.arcs[i])
			s.Index, s.Shared = i, begin[start{f.Source, f.StartLine}] > 1
			s.collectLines()
			if !yield(&s.Result) {
				return
			}
		}
	}
}

// Result is what a function did, by the solution of its flow graph.
type Result struct {
	*Function
	Index int // in Notes.Functions
	// Shared: another function begins on the same line, such as another instance of a template.
	Shared    bool
	Calls     int64   // may be below zero, as all counts, if threads lost counts
	Counts    []int64 // of blocks
	BlocksRan int     // without the entry and the exit
	BelowZero int     // arcs with counts below zero, other than fake ones
	Lines     []Line  // in the order in which the blocks mention them
	// Unsolved: the counters do not determine all counts. Complex: the cycles of a line are too many to count each.
	Unsolved, Complex bool
}

// A Line is what a function has on one line of a source.
type Line struct {
	Source int // index in Notes.Sources
	Number uint32
	// Count is how often the line ran. If blocks end on it, this is how often they were entered from other lines, and
	// how often cycles on the line ran; else the sum of the blocks with code on it. Of functions that share a line, only
	// the counts of functions with blocks add up, if any has.
	Count     int64
	HasBlocks bool
	// Unexecuted: a block with code on the line did not run, although it is not only for exceptions. Exceptional: all
	// blocks with code on the line are only for exceptions.
	Unexecuted, Exceptional bool
	Branches                []Branch

	blocks []uint32
}

// A Branch is an arc out of a block that ends on a line.
type Branch struct {
	Count, Block int64 // of the arc, and of the block that it leaves
	// Call arcs are taken by calls that do not return, Throw arcs by exceptions; an unconditional arc is the only way out.
	Call, Throw, Fallthrough, Unconditional bool
	// Last: the next branch of the line leaves another block.
	Last bool
}
