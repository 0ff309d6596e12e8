package iprof

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// maxDepth bounds the nesting of arrays and objects in skipped values; known members nest four deep.
const maxDepth = 1000

// A scanner reads JSON text from front to back. It is independent of the schema, apart
// from the section and record that it puts into errors. Like a cursor it keeps the first
// failure; after that every get returns zero and the scanner is at the end.
//
// It accepts exactly the UTF-8 documents of RFC 8259, with or without a byte order mark,
// in which escaped surrogates are paired.
type scanner struct {
	data []byte
	pos  int
	err  error

	section string // top-level key; empty outside of its value
	record  int    // index of the entry; -1 outside of entries
	// The last complete entry of the section, for errors about what comes after it.
	lastStart, lastEnd int

	scratch []byte // for text with escapes

	lines lineCounter
}

var byteOrderMark = []byte("\uFEFF")

func newScanner(data []byte) scanner {
	s := scanner{data: data, record: -1}
	if bytes.HasPrefix(data, byteOrderMark) {
		s.pos = len(byteOrderMark)
	}
	return s
}

// at returns the position of the text at offset off.
func (s *scanner) at(off int) flaw.Position {
	at := flaw.At(s.section, int64(off)).InRecord(s.record)
	at.Line, at.Column = s.lines.find(s.data, off)
	return at
}

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
		s.data = s.data[:min(s.pos, len(s.data))]
		s.pos = len(s.data)
	}
}

// A lineCounter finds lines and columns of offsets. For ascending offsets it reads the text once.
type lineCounter struct {
	at, line, start int // start of the line, lines before it
}

// find returns line and column of an offset, both from 1, the column in bytes.
func (c *lineCounter) find(data []byte, at int) (line, column int) {
	at = min(at, len(data))
	if at < c.at {
		*c = lineCounter{}
	}
	between := data[c.at:at]
	if i := bytes.LastIndexByte(between, '\n'); i >= 0 {
		c.line += bytes.Count(between, []byte("\n"))
		c.start = c.at + i + 1
	}
	c.at = at
	return c.line + 1, at - c.start + 1
}

// syntax fails at the current position, where want is missing; at the end of the text with a truncation.
func (s *scanner) syntax(field, want string) {
	if s.err != nil {
		return
	}
	if s.pos < len(s.data) {
		s.fail(s.at(s.pos).Field(field).Got(flaw.Quote(s.data[s.pos:])).Want(want).Corrupt())
		return
	}
	found := "cut short in its " + field
	switch last := bytes.TrimSpace(s.data[s.lastStart:s.lastEnd]); {
	case s.section == "":
		found = "cut short"
	case len(last) > 0:
		found += ", last complete entry " + entryText(last)
	default:
		found += ", no entry complete"
	}
	s.fail(s.at(len(s.data)).Field(cmp.Or(s.section, "file")).Got(found).Want(want).Truncated())
}

// entryText returns an entry for a message, quoted unless it is short and plain.
func entryText(entry []byte) string {
	const limit = 100
	if len(entry) > limit || slices.ContainsFunc(entry, func(c byte) bool { return c < ' ' || c >= 0x7f }) {
		return flaw.Quote(entry)
	}
	return string(entry)
}

// peek returns the first byte after white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// consume consumes c, after white space, if it comes next.
func (s *scanner) consume(c byte) bool {
	if s.peek() == c && s.pos < len(s.data) {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) need(c byte, field string) bool {
	if s.consume(c) {
		return true
	}
	s.syntax(field, strconv.QuoteRune(rune(c)))
	return false
}

// more reports whether an array or object has another element. It consumes the comma or the closing bracket.
func (s *scanner) more(first bool, end byte, field string) bool {
	if s.err != nil {
		return false
	}
	if s.consume(end) {
		return false
	}
	if first || s.consume(',') {
		return true
	}
	s.syntax(field, fmt.Sprintf("',' or %q", end))
	return false
}

// key reads a key and the colon after it. The result is valid until the next string is read.
func (s *scanner) key() []byte {
	k := s.str("key")
	s.need(':', "key")
	return k
}

// str reads a string. The result aliases the text, or is valid until the next string is read.
func (s *scanner) str(field string) []byte {
	if s.peek() != '"' {
		s.syntax(field, "a string")
		return nil
	}
	s.pos++
	start := s.pos
	for i, c := range s.data[start:] {
		switch {
		case c == '"':
			s.pos = start + i + 1
			return s.data[start : start+i]
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			s.pos = start + i
			return s.strRest(field, start)
		}
	}
	s.pos = len(s.data)
	s.syntax(field, "a closing quote")
	return nil
}

// strRest continues str at the first character that is not plain ASCII.
func (s *scanner) strRest(field string, start int) []byte {
	s.scratch = append(s.scratch[:0], s.data[start:s.pos]...)
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.scratch
		case c == '\\':
			if !s.escape(field) {
				return nil
			}
		case c < ' ':
			s.fail(s.at(s.pos).Field(field).Gotf("a control character, %#02x", c).Want("it escaped").Corrupt())
			return nil
		case c < utf8.RuneSelf:
			s.scratch = append(s.scratch, c)
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				s.notUTF8(field)
				return nil
			}
			s.scratch = append(s.scratch, s.data[s.pos:s.pos+n]...)
			s.pos += n
		}
	}
	s.syntax(field, "a closing quote")
	return nil
}

// notUTF8 fails at a byte that is not valid UTF-8, or at the end of the text within a character.
func (s *scanner) notUTF8(field string) {
	if rest := s.data[s.pos:]; !utf8.FullRune(rest) {
		s.pos = len(s.data)
		s.syntax(field, "the rest of a character")
		return
	}
	s.fail(s.at(s.pos).Field(field).Gotf("byte %#02x", s.data[s.pos]).Want("UTF-8").Corrupt())
}

// escape decodes the escape at the current position into scratch.
func (s *scanner) escape(field string) bool {
	at := s.pos
	s.pos++
	if s.pos == len(s.data) {
		s.syntax(field, "the rest of an escape")
		return false
	}
	c := s.data[s.pos]
	s.pos++
	switch i := strings.IndexByte(escapeLetters, c); {
	case i >= 0:
		c = escapedBytes[i]
	case c == 'u':
		return s.escapedRune(field, at)
	case c != '"' && c != '\\' && c != '/':
		s.pos = at
		s.syntax(field, "an escape that JSON has")
		return false
	}
	s.scratch = append(s.scratch, c)
	return true
}

// The letters of escapes, and the bytes that they stand for.
const escapeLetters, escapedBytes = "bfnrt", "\b\f\n\r\t"

// escapedRune decodes the digits of an escape that begins at offset at, and the second of a pair of surrogates.
func (s *scanner) escapedRune(field string, at int) bool {
	r, ok := s.hex4(field)
	if ok && utf16.IsSurrogate(r) {
		second := rune(0)
		if rest := s.data[s.pos:]; bytes.HasPrefix(rest, []byte(`\u`)) {
			s.pos += 2
			second, ok = s.hex4(field)
		} else if len(rest) < 2 && bytes.HasPrefix([]byte(`\u`), rest) {
			s.pos = len(s.data)
			s.syntax(field, "the rest of an escape")
			return false
		}
		r = utf16.DecodeRune(r, second)
		if ok && r == utf8.RuneError {
			s.fail(s.at(at).Field(field).Got(flaw.Quote(s.data[at:])).Want("a pair of surrogates").Corrupt())
			return false
		}
	}
	if ok {
		s.scratch = utf8.AppendRune(s.scratch, r)
	}
	return ok
}

func (s *scanner) hex4(field string) (r rune, ok bool) {
	for range 4 {
		d := byte(0)
		if s.pos < len(s.data) {
			d = s.data[s.pos]
		}
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d && d <= 'f':
			d -= 'a' - 10
		case 'A' <= d && d <= 'F':
			d -= 'A' - 10
		default:
			s.syntax(field, "a hexadecimal digit")
			return 0, false
		}
		r = r<<4 | rune(d)
		s.pos++
	}
	return r, true
}

// number skips a number and returns its text. integer reports that it has no fraction or exponent.
func (s *scanner) number(field string) (text []byte, integer bool) {
	s.peek()
	start := s.pos
	digits := func() bool {
		from := s.pos
		for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
			s.pos++
		}
		if s.pos == from {
			s.syntax(field, "a digit")
		}
		return s.pos > from
	}
	is := func(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }
	if is('-') {
		s.pos++
	}
	if is('0') {
		s.pos++
	} else if !digits() {
		return nil, false
	}
	integer = true
	if is('.') {
		integer = false
		s.pos++
		if !digits() {
			return nil, false
		}
	}
	if is('e') || is('E') {
		integer = false
		s.pos++
		if is('+') || is('-') {
			s.pos++
		}
		if !digits() {
			return nil, false
		}
	}
	return s.data[start:s.pos], integer
}

// skip skips a value of any type and returns its text.
func (s *scanner) skip(field string) []byte {
	s.peek()
	start := s.pos
	var open []byte // the missing closing brackets, outermost first
	for s.err == nil {
		if s.scalarOrOpen(field, &open) {
			if len(open) == 0 {
				return s.data[start:s.pos]
			}
			if !s.between(field, &open) {
				return s.data[start:s.pos]
			}
		}
	}
	return nil
}

// scalarOrOpen reads a scalar or an empty collection and returns true, or moves to the first value of one.
func (s *scanner) scalarOrOpen(field string, open *[]byte) bool {
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if len(*open) == maxDepth {
			s.fail(s.at(s.pos).Field(field).Got("nested deeper").Wantf("at most %d levels", maxDepth).Unsupported())
			return false
		}
		s.pos++
		end := c + 2 // in ASCII, of both kinds
		if s.consume(end) {
			return true
		}
		*open = append(*open, end)
		if c == '{' {
			s.key()
		}
		return false
	case c == '"':
		s.str(field)
	case c == '-' || c-'0' <= 9:
		s.number(field)
	default:
		for _, word := range []string{"true", "false", "null"} {
			if rest := s.data[s.pos:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
				s.pos += len(word)
				return true
			} else if len(rest) > 0 && len(rest) < len(word) && word[:len(rest)] == string(rest) {
				s.pos = len(s.data)
			}
		}
		s.syntax(field, "a value")
	}
	return s.err == nil
}

// between moves past closing brackets to the next value, and reports whether there is one.
func (s *scanner) between(field string, open *[]byte) bool {
	for len(*open) > 0 {
		end := (*open)[len(*open)-1]
		if s.more(false, end, field) {
			if end == '}' {
				s.key()
			}
			return true
		}
		*open = (*open)[:len(*open)-1]
	}
	return false
}
