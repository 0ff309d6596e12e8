package irpgo

import (
	"math/bits"
	"slices"
)

// plainDecimal is the quick way through nearly all lines of a profile: digits, too few to overflow, and \n. It
// returns the position after the line, or 0 if the line is anything else.
func plainDecimal(data []byte, pos int) (v uint64, end int) {
	const safeDigits = 19
	i := pos
	for ; i < len(data); i++ {
		c := data[i] - '0'
		if c > 9 {
			break
		}
		v = v*10 + uint64(c)
	}
	if n := i - pos; n == 0 || n > safeDigits || i == len(data) || data[i] != '\n' {
		return 0, 0
	}
	return v, i + 1
}

// parseUint reads the whole of s as LLVM's StringRef::getAsInteger does: no
// signs, blanks or underscores; base 0 goes by the prefix.
func parseUint(s []byte, base uint64) (v uint64, ok bool) {
	if base == 0 {
		base, s = cutBase(s)
	}
	if len(s) == 0 {
		return 0, false
	}
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		hi, lo := bits.Mul64(v, base)
		v = lo + uint64(c)
		if uint64(c) >= base || hi != 0 || v < lo {
			return 0, false
		}
	}
	return v, true
}

func cutBase(s []byte) (base uint64, digits []byte) {
	if len(s) < 2 || s[0] != '0' {
		return 10, s
	}
	switch s[1] {
	case 'x', 'X':
		return 16, s[2:]
	case 'b', 'B':
		return 2, s[2:]
	case 'o': // but not 'O'
		return 8, s[2:]
	}
	if s[1]-'0' <= 9 {
		return 8, s[1:]
	}
	return 10, s
}

// lowerASCII leaves other bytes alone, so that no letter of another alphabet folds into a directive.
func lowerASCII(s []byte) string {
	s = slices.Clone(s)
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			s[i] = c + 'a' - 'A'
		}
	}
	return string(s)
}
