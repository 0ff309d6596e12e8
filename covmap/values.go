package covmap

// values evaluates the expressions of a function.
type values struct {
	expressions []expression
	counts      []uint64
	known       []valueState // of the expressions
	sums        []uint64
	absent      bool // the profile does not know the function: all counters are 0
	stack       []counter
}

type valueState uint8

const (
	unknown valueState = iota
	visiting
	evaluated
	failed // needs a counter that there is not, or itself
)

// reset prepares v for the expressions of another function.
func (v *values) reset(expressions []expression) {
	v.expressions = expressions
	n := len(expressions)
	if cap(v.known) < n {
		v.known, v.sums = make([]valueState, n), make([]uint64, n)
	}
	v.known, v.sums = v.known[:n], v.sums[:n]
	clear(v.known)
}

// of returns the value of a counter, modulo 2^64. ok is false if the value needs
// a counter that the profile lacks. Expressions are evaluated without recursion,
// because a file may nest them as deep as it is long.
func (v *values) of(c counter) (value uint64, ok bool) {
	if value, state := v.at(c); state != unknown {
		return value, state == evaluated
	}
	v.stack = append(v.stack[:0], c)
	for len(v.stack) > 0 {
		i := v.stack[len(v.stack)-1] >> 2
		e := &v.expressions[i]
		if v.known[i] == unknown {
			v.known[i] = visiting
			for _, side := range [...]counter{e.Left, e.Right} {
				if _, state := v.at(side); state == unknown {
					v.stack = append(v.stack, side)
				}
			}
			continue
		}
		v.stack = v.stack[:len(v.stack)-1]
		if v.known[i] != visiting {
			continue
		}
		left, l := v.at(e.Left)
		right, r := v.at(e.Right)
		switch {
		case l != evaluated || r != evaluated: // missing, or part of a cycle
			v.known[i] = failed
			continue
		case e.Add:
			v.sums[i] = left + right
		default:
			v.sums[i] = left - right
		}
		v.known[i] = evaluated
	}
	return v.of(c)
}

// at returns the value of a counter as far as it is known.
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
