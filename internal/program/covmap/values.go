package covmap

type values struct {
	expressions []expression
	counts      []uint64
	known       []valueState // of the expressions
	sums        []uint64
	absent      bool // the profile does not know the function: all counters are 0
	stack       []uint32
}

type valueState uint8

const (
	unknown valueState = iota
	visiting
	evaluated
	failed // needs a counter that does not exist, or itself
)

// evaluate evaluates the expressions of a function, modulo 2^64. It does so without
// recursion, because a file may nest them as deep as it is long.
func (v *values) evaluate(expressions []expression, counts []uint64, absent bool) {
	v.expressions, v.counts, v.absent = expressions, counts, absent
	n := len(expressions)
	if cap(v.known) < n {
		v.known, v.sums = make([]valueState, n), make([]uint64, n)
	}
	v.known, v.sums = v.known[:n], v.sums[:n]
	clear(v.known)
	// Compilers number the operands of an expression after it.
	for i := n - 1; i >= 0; i-- {
		e := &v.expressions[i]
		left, l := v.at(e.Left)
		right, r := v.at(e.Right)
		if l == evaluated && r == evaluated {
			if !e.Add {
				right = -right
			}
			v.known[i], v.sums[i] = evaluated, left+right
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
	case e.Add:
		v.known[i], v.sums[i] = evaluated, left+right
	default:
		v.known[i], v.sums[i] = evaluated, left-right
	}
}

func (v *values) at(c counter) (value uint64, state valueState) {
	switch n := c >> 2; c & 3 {
	case zeroCounter:
		return 0, evaluated
	case counterNumber:
		switch {
		case v.absent:
			return 0, evaluated
		case int(n) >= len(v.counts):
			return 0, failed
		}
		return v.counts[n], evaluated
	default:
		return v.sums[n], v.known[n]
	}
}

// of returns the value of a counter. ok is false if the value needs a counter that the profile lacks.
func (v *values) of(c counter) (value uint64, ok bool) {
	value, state := v.at(c)
	return value, state == evaluated
}
