package covmap

import (
	"math"
	"math/bits"
)

// values evaluates the expressions of a function.
type values struct {
	expressions []expression
	counts      []uint64
	known       []valueState // of the expressions
	sums        []int128
	absent      bool // the profile does not know the function: all counters are 0
	stack       []uint32
}

// An int128 is the value of an expression: high<<64 + low. It is below zero if threads lost counts of
// the counter from which another one is subtracted.
type int128 struct {
	low  uint64
	high int64
}

func (a int128) add(b int128) int128 {
	low, carry := bits.Add64(a.low, b.low, 0)
	return int128{low, a.high + b.high + int64(carry)}
}

func (a int128) subtract(b int128) int128 {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	return int128{low, a.high - b.high - int64(borrow)}
}

type valueState uint8

const (
	unknown valueState = iota
	visiting
	evaluated
	failed // needs a counter that does not exist, or itself
)

// evaluate evaluates the expressions of a function. It does so without recursion, because a file may nest them as deep as it is long.
func (v *values) evaluate(expressions []expression, counts []uint64, absent bool) {
	v.expressions, v.counts, v.absent = expressions, counts, absent
	n := len(expressions)
	if cap(v.known) < n {
		v.known, v.sums = make([]valueState, n), make([]int128, n)
	}
	v.known, v.sums = v.known[:n], v.sums[:n]
	clear(v.known)
	// Compilers number the operands of an expression after it.
	for i := n - 1; i >= 0; i-- {
		e := &v.expressions[i]
		left, l := v.at(e.Left)
		right, r := v.at(e.Right)
		if l == evaluated && r == evaluated {
			v.known[i], v.sums[i] = evaluated, e.apply(left, right)
			continue
		}
		for v.stack = append(v.stack[:0], uint32(i)); len(v.stack) > 0; {
			v.step(v.stack[len(v.stack)-1])
		}
	}
}

// step evaluates the expression on top of the stack, or pushes its operands whose values are not known yet.
func (v *values) step(i uint32) {
	e := &v.expressions[i]
	left, l := v.at(e.Left)
	right, r := v.at(e.Right)
	if v.known[i] == unknown && (l == unknown || r == unknown) {
		v.known[i] = visiting
		if l == unknown {
			v.stack = append(v.stack, uint32(e.Left>>2))
		}
		if r == unknown {
			v.stack = append(v.stack, uint32(e.Right>>2))
		}
		return
	}
	v.stack = v.stack[:len(v.stack)-1]
	switch {
	case v.known[i] > visiting: // it was on the stack twice
	case l != evaluated || r != evaluated: // missing, or part of a cycle
		v.known[i] = failed
	default:
		v.known[i], v.sums[i] = evaluated, e.apply(left, right)
	}
}

// apply adds or subtracts the values of the operands.
func (e *expression) apply(left, right int128) int128 {
	if e.Add {
		return left.add(right)
	}
	return left.subtract(right)
}

// at returns the value of a counter and whether it is known.
func (v *values) at(c counter) (value int128, state valueState) {
	switch n := c >> 2; c & 3 {
	case zeroCounter:
		return int128{}, evaluated
	case counterNumber:
		switch {
		case v.absent:
			return int128{}, evaluated
		case int(n) >= len(v.counts):
			return int128{}, failed
		}
		return int128{low: v.counts[n]}, evaluated
	default:
		return v.sums[n], v.known[n]
	}
}

// of returns the value of a counter. ok is false if the value needs a counter that the
// profile lacks.
func (v *values) of(c counter) (value int128, ok bool) {
	value, state := v.at(c)
	return value, state == evaluated
}

// count returns the value as a count: 0 if it is below zero, at most the largest count.
func (a int128) count() uint64 {
	switch {
	case a.high < 0:
		return 0
	case a.high > 0:
		return math.MaxUint64
	}
	return a.low
}
