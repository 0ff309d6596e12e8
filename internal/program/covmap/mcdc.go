package covmap

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// MCDC is the modified condition/decision coverage of one boolean expression.
type MCDC struct {
	Start, End Position
	File       uint32       // virtual file
	Conditions []Condition  // in the order of the mapping, except that the condition evaluated first comes first
	Vectors    []TestVector // the executed test vectors: first all vectors with the result false

	notExecuted iter.Seq[TestVector] // nil unless asked for
}

// NotExecuted yields the test vectors that were not executed, in the order of Vectors; none without
// [EvaluateOptions.NotExecuted]. There may be 2^31.
func (m *MCDC) NotExecuted() iter.Seq[TestVector] {
	if m.notExecuted == nil {
		return func(func(TestVector) bool) {}
	}
	return m.notExecuted
}

// A Condition is one operand of a [MCDC].
type Condition struct {
	Start Position
	// Covered: two executed vectors with different results differ only in this condition, so the
	// condition decides the result.
	Covered                     bool
	Pair                        [2]int // holds the indexes of the first two such vectors
	ConstantTrue, ConstantFalse bool   // as in [CountedBranch]

	next [2]int // index of the condition after this one is false, true; -1 at the end
}

// A TestVector is one way to evaluate a [MCDC].
type TestVector struct {
	Conditions []Truth // has the value of each condition, in the order of [MCDC].Conditions
	Result     bool
}

// Truth is the value of a condition.
type Truth uint8

// Values of conditions.
const (
	NotEvaluated Truth = iota
	False
	True
)

type decision struct {
	region
	conditions []region // the condition with ID 0 comes first
	has        map[int16]bool
	expanded   map[uint32]bool // virtual files of the expansions in the decision
}

func (d *decision) dominates(r *region) bool {
	return r.File == d.File && !r.Start.before(d.Start) && !d.End.before(r.End) || d.expanded[r.File]
}

// expandDecision adds the virtual file of an expansion to the decision that contains the expansion.
func (e *evaluator) expandDecision(r *region) {
	for _, d := range e.pending {
		if d.dominates(r) {
			if d.expanded == nil {
				d.expanded = make(map[uint32]bool)
			}
			d.expanded[r.Expanded] = true
			return
		}
	}
}

// condition adds a condition to the first decision that lacks it, and evaluates the decision when
// all of its conditions are known.
func (e *evaluator) condition(f *Function, r *region, bitmap []byte) error {
	for i, d := range e.pending {
		if r.ID < 0 || d.has[r.ID] || r.ID >= d.Conditions || !d.dominates(r) {
			continue
		}
		if r.ID == 0 {
			d.conditions = slices.Insert(d.conditions, 0, *r)
		} else {
			d.conditions = append(d.conditions, *r)
		}
		if d.has == nil {
			d.has = make(map[int16]bool)
		}
		d.has[r.ID] = true
		if len(d.conditions) == int(d.Conditions) {
			e.pending = slices.Delete(e.pending, i, i+1)
			g, ok := newConditionGraph(d)
			if !ok {
				return flaw.At("coverage mapping", f.record.at).Field("conditions of " + f.PGOName).Got("a cycle, or one that is not there").
					Want("each condition followed by later ones").Corrupt()
			}
			f.MCDC = append(f.MCDC, g.evaluate(bitmap, &e.opt))
		}
		return nil
	}
	return nil
}

// A conditionGraph numbers the test vectors of a decision (LLVM's TVIdxBuilder).
// The value of a condition leads to another condition or to the end.
type conditionGraph struct {
	d        *decision
	position []int       // of each condition in d.conditions
	next     [][2]int    // by condition: the next condition after false and after true; -1 at the end
	offset   [][2]uint64 // what the edge adds to the number of a vector
	width    []uint64    // number of ways to each condition
	into     [][]edge    // edges to each condition
	ends     []edge      // edges to the end, by number
	vectors  uint64      // number of vectors
}

type edge struct {
	from  int
	value int // 0 or 1
}

// newConditionGraph returns false if the conditions form a cycle, if one leads to a condition that
// does not exist, or if there are too many vectors to number.
func newConditionGraph(d *decision) (g *conditionGraph, ok bool) {
	const mostVectors = 1 << 31
	n := len(d.conditions)
	g = &conditionGraph{
		d: d, position: make([]int, n), next: make([][2]int, n), offset: make([][2]uint64, n), width: make([]uint64, n), into: make([][]edge, n),
	}
	for i, r := range d.conditions {
		g.position[r.ID], g.next[r.ID] = i, [2]int{int(r.NextFalse), int(r.NextTrue)}
		for value, to := range g.next[r.ID] {
			if to >= n {
				return nil, false
			}
			if to >= 0 {
				g.into[to] = append(g.into[to], edge{int(r.ID), value})
			}
		}
	}
	missing := make([]int, n) // predecessors that are not done
	for i := range missing {
		missing[i] = len(g.into[i])
		g.into[i] = g.into[i][:0]
	}
	g.width[0] = 1
	done := 0
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		done++
		for value, to := range g.next[i] {
			if to < 0 {
				g.ends = append(g.ends, edge{i, value})
				continue
			}
			g.offset[i][value] = g.width[to]
			g.into[to] = append(g.into[to], edge{i, value})
			g.width[to] += g.width[i]
			if g.width[to] > mostVectors {
				return nil, false
			}
			missing[to]--
			if missing[to] == 0 {
				queue = append(queue, to)
			}
		}
	}
	// Wider ends have the smaller numbers.
	slices.SortStableFunc(g.ends, func(a, b edge) int { return cmp.Compare(g.width[b.from], g.width[a.from]) })
	for _, e := range g.ends {
		g.offset[e.from][e.value] = g.vectors
		g.vectors += g.width[e.from]
		if g.vectors > mostVectors {
			return nil, false
		}
	}
	return g, done == n
}

type numbered struct {
	number uint64
	TestVector
}

// evaluate returns the coverage of the decision. Its time depends on how many bits are set, not on
// how many vectors are possible.
func (g *conditionGraph) evaluate(bitmap []byte, opt *EvaluateOptions) MCDC {
	r := &g.d.region
	m := MCDC{Start: r.Start, End: r.End, File: r.File, Conditions: make([]Condition, len(g.d.conditions))}
	for i, c := range g.d.conditions {
		m.Conditions[i] = Condition{Start: c.Start, ConstantTrue: c.Count.constant(), ConstantFalse: c.False.constant()}
		for value, to := range g.next[c.ID] {
			if to >= 0 {
				to = g.position[to]
			}
			m.Conditions[i].next[value] = to
		}
	}
	first, n := uint64(r.Bits)-g.vectors, g.vectors
	vectorOf := g.vector
	if opt.bitmapsByCondition() {
		first, n, vectorOf = 8*uint64(r.Bits), 1<<min(len(g.d.conditions), 32), g.vectorOfConditions
	} else if uint64(r.Bits) < g.vectors {
		return m
	}
	var found [2][]numbered
	eachBit(bitmap, first, n, func(bit uint64) {
		if v, ok := vectorOf(bit); ok {
			result := 0
			if v.Result {
				result = 1
			}
			found[result] = append(found[result], v)
		}
	})
	for _, vectors := range found {
		slices.SortFunc(vectors, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
		for _, v := range vectors {
			m.Vectors = append(m.Vectors, v.TestVector)
		}
	}
	m.findPairs(len(found[0]))
	if opt.NotExecuted {
		m.notExecuted = func(yield func(TestVector) bool) { g.eachOther(found, yield) }
	}
	return m
}

// eachOther yields the vectors that were not found, by result and number. found has the others in this order.
func (g *conditionGraph) eachOther(found [2][]numbered, yield func(TestVector) bool) {
	for result, executed := range found {
		for _, end := range g.ends { // by number
			if end.value != result {
				continue
			}
			first := g.offset[end.from][end.value]
			for number := first; number < first+g.width[end.from]; number++ {
				if len(executed) > 0 && executed[0].number == number {
					executed = executed[1:]
				} else if v, _ := g.vector(number); !yield(v.TestVector) {
					return
				}
			}
		}
	}
}

// eachBit calls fn with the number of each set bit among the n bits from first on; first is bit 0.
func eachBit(bitmap []byte, first, n uint64, fn func(bit uint64)) {
	end := min(first+n, 8*uint64(len(bitmap)))
	for bit := first; bit < end; {
		rest := bitmap[bit/8] >> (bit % 8)
		if rest == 0 {
			bit = (bit/8 + 1) * 8
			continue
		}
		bit += uint64(bits.TrailingZeros8(rest))
		if bit < end {
			fn(bit - first)
		}
		bit++
	}
}

// vector returns the vector with a number. It walks back from the end to which the number belongs.
func (g *conditionGraph) vector(number uint64) (v numbered, ok bool) {
	end, found := slices.BinarySearchFunc(g.ends, number, func(e edge, number uint64) int {
		return cmp.Compare(g.offset[e.from][e.value], number)
	})
	if !found {
		end--
	}
	e := g.ends[end]
	v = numbered{number, TestVector{make([]Truth, len(g.next)), e.value == 1}}
	for rest := number; ; {
		rest -= g.offset[e.from][e.value]
		v.Conditions[g.position[e.from]] = False + Truth(e.value)
		if e.from == 0 {
			return v, true
		}
		// The edge into the condition whose range of numbers contains the rest.
		into := g.into[e.from]
		k := len(into) - 1
		for k > 0 && g.offset[into[k].from][into[k].value] > rest {
			k--
		}
		e = into[k]
	}
}

// vectorOfConditions returns the vector in which exactly the conditions of the set bits are true. It
// returns false if the vector does not evaluate all of these conditions.
func (g *conditionGraph) vectorOfConditions(set uint64) (v numbered, ok bool) {
	v.Conditions = make([]Truth, len(g.next))
	for i := 0; ; {
		value := int(set >> i & 1)
		set &^= 1 << i
		v.number += g.offset[i][value]
		v.Conditions[g.position[i]] = False + Truth(value)
		if next := g.next[i][value]; next >= 0 {
			i = next
			continue
		}
		v.Result = value == 1
		return v, set == 0
	}
}

// findPairs looks for independence pairs among the vectors. The first n vectors have the result false.
func (m *MCDC) findPairs(n int) {
	const most = 1 << 27 // comparisons; compilers allow few conditions
	left := len(m.Conditions)
	work := 0
	for k, a := range m.Vectors[n:] {
		for l, b := range m.Vectors[:n] {
			work += len(m.Conditions)
			if work > most {
				return
			}
			differs := -1
			for i, x := range a.Conditions {
				if y := b.Conditions[i]; x != y && x != NotEvaluated && y != NotEvaluated {
					if differs >= 0 {
						differs = -1
						break
					}
					differs = i
				}
			}
			if differs >= 0 && !m.Conditions[differs].Covered {
				m.Conditions[differs].Covered, m.Conditions[differs].Pair = true, [2]int{l, n + k}
				left--
				if left == 0 {
					return
				}
			}
		}
	}
}
