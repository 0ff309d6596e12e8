package clopt

import (
	"errors"
	"strconv"
	"strings"
)

// parseUint parses an unsigned number in the radix of its prefix: 0x, 0b or 0o (but not
// 0O), or a leading 0 for octal. Signs, blanks and underscores are errors.
func parseUint(s string, bits int) (uint64, bool) {
	n, err := strconv.ParseUint(s, 0, bits)
	return n, err == nil && !strings.ContainsAny(s, "_O")
}

func parseUint32(s string) (uint32, bool) {
	n, ok := parseUint(s, 32)
	return uint32(n), ok
}

func parseUint64(s string) (uint64, bool) { return parseUint(s, 64) }

// parseInt parses a number that may have a minus sign.
func parseInt(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 0, 32)
	return int(n), err == nil && !strings.ContainsAny(s, "_O+")
}

// parseFloat parses a number as C's strtod does: it skips leading blanks, the empty text
// is 0, overflow gives infinity, and "nan" may have a payload.
func parseFloat(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimLeft(s, " \t\n\v\f\r"))
	if s == "" {
		return 0, true
	}
	switch digits := strings.TrimLeft(s, "+-"); {
	case strings.Contains(s, "_"):
		return 0, false
	case strings.HasPrefix(digits, "0x") && !strings.Contains(s, "p"):
		s += "p0" // Go wants an exponent
	case strings.HasPrefix(digits, "nan(") && strings.HasSuffix(s, ")"):
		s = "nan"
	}
	f, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		return f, true
	}
	return f, err == nil
}
