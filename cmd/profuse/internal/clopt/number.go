package clopt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func parseUint32(p *uint32, s string) (complaint string) {
	n, ok := parseUint(s, 32)
	if !ok {
		return fmt.Sprintf("'%s' value invalid for uint argument!", s)
	}
	*p = uint32(n)
	return ""
}

// parseUint reads an unsigned number in the radix that its prefix names: 0x,
// 0b and 0o as in Go (a capital O is not known), and a leading 0 for octal.
// Signs, blanks and underscores are errors.
func parseUint(s string, bits int) (uint64, bool) {
	base := 10
	switch lower := strings.ToLower(s[:min(2, len(s))]); {
	case lower == "0x":
		base, s = 16, s[2:]
	case lower == "0b":
		base, s = 2, s[2:]
	case strings.HasPrefix(s, "0o"):
		base, s = 8, s[2:]
	case len(s) > 1 && s[0] == '0' && '0' <= s[1] && s[1] <= '9':
		base, s = 8, s[1:]
	}
	if s == "" || s[0] == '+' || strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, bits)
	return n, err == nil
}

// parseFloat reads what C's strtod reads: blanks in front are skipped, the
// empty text is 0, what overflows is infinite, and "nan" may have a payload.
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
