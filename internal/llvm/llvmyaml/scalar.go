package llvmyaml

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// AtScalar reports whether the next value is a scalar in this line.
func (s *Scanner) AtScalar() bool {
	return s.err == nil && s.inline && s.pos < len(s.data) && strings.IndexByte("[{", s.data[s.pos]) < 0
}

// Scalar reads a scalar. A missing one is empty.
func (s *Scanner) Scalar() string {
	if s.err != nil {
		return ""
	}
	if s.flow == 0 && (s.end() || !s.inline && s.column() <= s.parent) || s.flow > 0 && s.closing() {
		return ""
	}
	text, _ := s.scalar()
	if s.err == nil {
		s.after()
	}
	return text
}

// scalar reads a plain or quoted scalar. After a quoted scalar, which may be a key, it skips blanks.
func (s *Scanner) scalar() (text string, quoted bool) {
	if s.pos >= len(s.data) {
		return "", false
	}
	// Anchors, aliases, tags, block scalars and directives are refused, as are the characters that YAML reserves.
	switch c := s.data[s.pos]; c {
	case '\'', '"':
		text = s.quoted(c)
		for s.pos < len(s.data) && s.data[s.pos] == ' ' {
			s.pos++
		}
		return text, true
	case '&', '*', '!', '|', '>', '%', '@', '`':
		s.Fail(s.At(s.line).Field("value").Got(flaw.Quote(s.rest())).Want("a plain or quoted scalar").Unsupported())
		return "", false
	case '[', '{', ']', '}':
		s.Fail(s.At(s.line).Field("value").Got(flaw.Quote(s.rest())).Want("a scalar").Corrupt())
		return "", false
	}
	rest := s.rest()
	for n := range rest {
		if s.endsPlain(rest, n) {
			rest = rest[:n]
			break
		}
	}
	s.pos += len(rest)
	return strings.TrimRight(rest, " \t"), false
}

// endsPlain reports whether a plain scalar ends before text[i].
func (s *Scanner) endsPlain(text string, i int) bool {
	switch c := text[i]; c {
	case '#':
		return i > 0 && (text[i-1] == ' ' || text[i-1] == '\t')
	case ':':
		return i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t' ||
			s.flow > 0 && strings.IndexByte(",[]{}", text[i+1]) >= 0
	case ',', '[', ']', '{', '}':
		return s.flow > 0
	}
	return false
}

// quoted reads a quoted scalar, which must end in the same line.
func (s *Scanner) quoted(quote byte) string {
	rest := s.rest()
	if n := strings.IndexAny(rest[1:], `\`+string(quote)); n >= 0 && rest[1+n] == quote && !strings.HasPrefix(rest[2+n:], "'") {
		s.pos += n + 2 // nothing in it is escaped
		return rest[1 : 1+n]
	}
	var out []byte
	for i := 1; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == quote && quote == '\'' && i+1 < len(rest) && rest[i+1] == quote:
			out = append(out, quote)
			i++
		case c == quote:
			s.pos += i + 1
			return string(out)
		case c == '\\' && quote == '"':
			r, n := unescape(rest[i+1:])
			if n == 0 {
				s.Fail(s.At(s.line).Field("escape").Got(flaw.Quote(rest[i:min(len(rest), i+10)])).Want("one of YAML").
					Corrupt())
				return ""
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			out = append(out, c)
		}
	}
	s.Fail(s.At(s.line).Field("quoted scalar").Got(flaw.Quote(rest)).Want("its end in the same line").Unsupported())
	return ""
}

// unescape decodes the escape after a backslash. n is its number of bytes, 0 if text does not begin with an escape of YAML.
func unescape(text string) (r rune, n int) {
	if len(text) == 0 {
		return 0, 0
	}
	digits := 0
	switch c := text[0]; c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	// Escapes of YAML 1.2 that LLVM does not write.
	case ' ', '/', '\t':
		return rune(c), 1
	default:
		for _, e := range escapes {
			if e.letter == c {
				return e.char, 1
			}
		}
		return 0, 0
	}
	if len(text) < 1+digits {
		return 0, 0
	}
	v, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, 0
	}
	return rune(v), 1 + digits
}

// Unsigned reads a number of at most the given bits, as LLVM does: decimal, or hexadecimal, binary
// or octal with the prefix 0x, 0b, 0o or 0.
func (s *Scanner) Unsigned(field string, bits int) uint64 {
	line := s.valueLine()
	text := s.Scalar()
	if s.err != nil {
		return 0
	}
	// Unlike StringRef::getAsInteger with radix 0, Go accepts underscores and 0O.
	v, err := strconv.ParseUint(text, 0, bits)
	if strings.ContainsAny(text, "_O") {
		err = strconv.ErrSyntax
	}
	if err != nil {
		s.Fail(s.At(line).Field(field).Got(flaw.Quote(text)).Wantf("a number of at most %d bits", bits).Corrupt())
	}
	return v
}

// Bool reads a boolean in any of YAML's spellings.
func (s *Scanner) Bool(field string) bool {
	line := s.valueLine()
	switch text := s.Scalar(); text {
	case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y":
		return true
	case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N":
	default:
		s.Fail(s.At(line).Field(field).Got(flaw.Quote(text)).Want("true or false").Corrupt())
	}
	return false
}
