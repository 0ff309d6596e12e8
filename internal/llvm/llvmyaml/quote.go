// Package llvmyaml writes YAML in the style of LLVM's tools, and reads the part of YAML that these tools and their users write.
package llvmyaml

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote quotes s as LLVM does (yaml::needsQuotes): with single quotes where a plain scalar would be ambiguous or
// has a character outside a short list, with double quotes where it has control or non-ASCII characters.
func Quote(s string) string {
	if s == "" {
		return "''"
	}
	// A scalar that begins with one of these characters means something else in YAML.
	single := isSpace(s[0]) || isSpace(s[len(s)-1]) || meansOther(s) ||
		strings.IndexByte(`-?:\,[]{}#&*!|>'"%@`+"`", s[0]) >= 0
	for i := range len(s) {
		switch c := s[i]; {
		// needsQuotes accepts these characters anywhere.
		case c == '\t' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z',
			strings.IndexByte("_-^., ", c) >= 0:
		case c < 0x20 || c >= 0x7f:
			return doubleQuoted(s)
		default:
			single = true
		}
	}
	if single {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// isSpace is C's isspace.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// meansOther reports whether YAML reads the plain scalar s as a null, bool or number.
func meansOther(s string) bool {
	switch s {
	case "null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN", ".NAN":
		return true
	}
	// Numbers in base 16 and 8, as YAML's core schema has them.
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	if digits, ok := strings.CutPrefix(s, "0o"); ok {
		return digits != "" && strings.Trim(digits, "01234567") == ""
	}
	switch strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+") {
	case ".inf", ".Inf", ".INF":
		return true
	}
	return isFloat(s)
}

// isFloat reports whether s, which is not empty, matches
// [-+]? ( \.[0-9]+ | [0-9]+ (\.[0-9]*)? ) ([eE][-+]?[0-9]+)?
func isFloat(s string) bool {
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	mantissa, exponent := s, "0"
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
		if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
			exponent = exponent[1:]
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	return whole+fraction != "" && exponent != "" && digits(whole) && digits(fraction) && digits(exponent)
}

// escapes are the short escapes of double-quoted scalars.
var escapes = []struct {
	char   rune
	letter byte
}{
	{'\\', '\\'},
	{'"', '"'},
	{0, '0'},
	{7, 'a'},
	{8, 'b'},
	{9, 't'},
	{10, 'n'},
	{11, 'v'},
	{12, 'f'},
	{13, 'r'},
	{0x1b, 'e'},
	{0x85, 'N'},
	{0xa0, '_'},
	{0x2028, 'L'},
	{0x2029, 'P'},
}

// doubleQuoted quotes s, which is UTF-8, and escapes all but printable characters.
func doubleQuoted(s string) string {
	b := []byte{'"'}
next:
	for _, r := range s {
		for _, e := range escapes {
			if e.char == r {
				b = append(b, '\\', e.letter)
				continue next
			}
		}
		switch {
		case 0x20 <= r && r < 0x80 || r >= 0x80 && unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r <= 0xff:
			b = fmt.Appendf(b, `\x%02X`, r)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04X`, r)
		default:
			b = fmt.Appendf(b, `\U%08X`, r)
		}
	}
	return string(append(b, '"'))
}
