package mip

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/profile"
)

// yamlScanner reads the part of YAML that a profile needs: one document of
// block mappings and sequences with scalars on one line, sequences of scalars
// also as [ a, b ]. Everything that makes YAML expensive or surprising is
// refused: anchors, aliases, tags, block scalars, directives, scalars over
// several lines. Like a cursor it keeps the first failure.
//
// It stands before the text of the current line from column col on; the gets
// consume that text, and the line when it is used up.
type yamlScanner struct {
	data   []byte
	pos    int    // offset of the next line
	line   int    // number of the current line
	col    int    // column of text
	text   []byte // rest of the current line without its line end
	begun  bool   // content or "---" was seen
	eof    bool
	record int // for errors; -1 outside profiles
	err    error
}

func newYAMLScanner(data []byte) yamlScanner {
	s := yamlScanner{data: data, record: -1}
	s.next()
	return s
}

// fail records a failure in the given line, unless there is one already.
func (s *yamlScanner) fail(line int, cause error, field, found, want string) {
	if s.err == nil {
		s.err = &profile.FormatError{
			Section: "YAML", Offset: -1, Line: line, Record: s.record,
			Field: field, Found: found, Want: want, Err: cause,
		}
		s.eof = true
	}
}

// next goes to the next line with content.
func (s *yamlScanner) next() {
	for s.err == nil && s.pos < len(s.data) {
		line := s.data[s.pos:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		s.pos += len(line) + 1
		s.line++
		line = bytes.TrimSuffix(line, []byte("\r"))
		s.text = bytes.TrimLeft(line, " ")
		s.col = len(line) - len(s.text)
		if s.skip() {
			continue
		}
		if s.text[0] == '\t' {
			s.fail(s.line, profile.ErrCorrupt, "indentation", "a tab", "blanks")
			return
		}
		s.begun = true
		return
	}
	s.text, s.eof = nil, true
}

// skip reports whether the current line has no content: blank, a comment or
// the mark of a document.
func (s *yamlScanner) skip() bool {
	if isYAMLEnd(s.text) {
		return true
	}
	if s.col > 0 {
		return false
	}
	mark, rest := s.text[:min(3, len(s.text))], s.text[min(3, len(s.text)):]
	switch {
	case s.text[0] == '%':
		s.fail(s.line, profile.ErrUnsupported, "line", "a YAML directive", "none")
	case !isYAMLEnd(rest) && (len(rest) == 0 || rest[0] != ' '):
		return false
	case string(mark) == "---":
		s.record = -1
		if s.begun || !isYAMLEnd(rest) {
			s.fail(s.line, profile.ErrUnsupported, "line", quoteShort(s.text), "a single document, beginning in the next line")
		}
		s.begun = true
		return true
	case string(mark) == "...":
		s.end()
		return true
	}
	return false
}

// end sees that only blank lines and comments follow.
func (s *yamlScanner) end() {
	s.record = -1
	for ; s.pos < len(s.data); s.line++ {
		line := s.data[s.pos:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if !isYAMLEnd(line) {
			s.fail(s.line+1, profile.ErrUnsupported, "line", quoteShort(line), "nothing after the end of the document")
		}
		s.pos += len(line) + 1
	}
}

// isYAMLEnd reports whether nothing but blanks and a comment is left.
func isYAMLEnd(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r")
	return len(text) == 0 || text[0] == '#'
}

func quoteShort(text []byte) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

// advance consumes n bytes of text and the blanks after them.
func (s *yamlScanner) advance(n int) {
	rest := bytes.TrimLeft(s.text[n:], " \t")
	s.col += len(s.text) - len(rest)
	s.text = rest
}

// isDash reports whether an item of a block sequence begins here.
func (s *yamlScanner) isDash() bool {
	return !s.eof && s.text[0] == '-' && (len(s.text) == 1 || s.text[1] == ' ')
}

// endLine expects the rest of the line to be empty and goes to the next one.
func (s *yamlScanner) endLine() {
	if s.err != nil {
		return
	}
	if !isYAMLEnd(s.text) {
		s.fail(s.line, profile.ErrCorrupt, "text after the value", quoteShort(s.text), "nothing or a comment")
	}
	s.next()
}

// mapping walks over the block mapping that begins here. value is called with
// each key and has to consume its value.
func (s *yamlScanner) mapping(value func(key []byte)) {
	col := s.col
	for s.err == nil && !s.eof && s.col == col && !s.isDash() {
		line := s.line
		key := s.scalar(":")
		if s.err == nil && (len(s.text) == 0 || s.text[0] != ':') {
			s.fail(line, profile.ErrCorrupt, "line", quoteShort(key), "a key with a colon")
		}
		if s.err != nil {
			return
		}
		s.advance(1)
		value(key)
	}
	s.checkIndent(col)
}

// checkIndent refuses a line that belongs neither to the block at col nor to
// one around it.
func (s *yamlScanner) checkIndent(col int) {
	if s.err == nil && !s.eof && s.col > col {
		s.fail(s.line, profile.ErrCorrupt, "indentation", fmt.Sprintf("%d blanks", s.col), fmt.Sprintf("at most %d", col))
	}
}

// sequence walks over the value of a key in column parent, a sequence, and
// calls item for each element, which has to consume it. In a [ a, b ] sequence
// the elements are scalars and item is not called for what is not.
func (s *yamlScanner) sequence(parent int, field string, item func(flow bool)) {
	if s.err != nil {
		return
	}
	if !isYAMLEnd(s.text) {
		s.flow(field, item)
		return
	}
	line := s.line
	s.next()
	if !s.isDash() || s.col < parent {
		s.fail(line, profile.ErrCorrupt, field, "without items", "a sequence")
		return
	}
	col := s.col
	for s.err == nil && s.isDash() && s.col == col {
		s.dash()
		item(false)
	}
	s.checkIndent(col)
}

// dash goes to the content of a block sequence's item.
func (s *yamlScanner) dash() {
	col := s.col
	s.advance(1)
	if !isYAMLEnd(s.text) {
		return
	}
	line := s.line
	if s.next(); s.eof || s.col <= col {
		s.fail(line, profile.ErrCorrupt, "item", "empty", "a value")
	}
}

func (s *yamlScanner) flow(field string, item func(flow bool)) {
	if s.text[0] != '[' {
		s.fail(s.line, profile.ErrCorrupt, field, quoteShort(s.text), "a sequence")
		return
	}
	s.advance(1)
	for first := true; s.err == nil; first = false {
		if first && len(s.text) > 0 && s.text[0] == ']' {
			break
		}
		item(true)
		if s.err != nil {
			return
		}
		if len(s.text) == 0 || s.text[0] != ',' && s.text[0] != ']' {
			s.fail(s.line, profile.ErrUnsupported, field, "not closed on its line", "a comma or a bracket")
			return
		}
		if s.text[0] == ']' {
			break
		}
		s.advance(1)
	}
	s.advance(1)
	s.endLine()
}

// block goes to the mapping that is the value of a key in column parent.
func (s *yamlScanner) block(parent int, field string) {
	if s.err != nil {
		return
	}
	line := s.line
	if !isYAMLEnd(s.text) {
		s.fail(line, profile.ErrCorrupt, field, quoteShort(s.text), "a mapping in the lines below")
		return
	}
	if s.next(); s.eof || s.col <= parent {
		s.fail(line, profile.ErrCorrupt, field, "empty", "a mapping in the lines below")
	}
}

// scalarLine reads a scalar that ends the line.
func (s *yamlScanner) scalarLine() []byte {
	v := s.scalar("")
	s.endLine()
	return v
}

// scalar reads a scalar. A plain one ends at a comment, at a character of ends
// (a colon counts only before a blank) or with the line. The result may be a
// part of the input.
func (s *yamlScanner) scalar(ends string) []byte {
	if s.err != nil {
		return nil
	}
	if isYAMLEnd(s.text) {
		s.fail(s.line, profile.ErrCorrupt, "value", "missing", "a scalar in this line")
		return nil
	}
	switch c := s.text[0]; c {
	case '\'':
		return s.singleQuoted()
	case '"':
		return s.doubleQuoted()
	case '&', '*', '!', '|', '>', '{', '@', '`', '%':
		s.fail(s.line, profile.ErrUnsupported, "scalar", quoteShort(s.text),
			"a plain or quoted one: no anchor, alias, tag, block scalar or flow mapping")
		return nil
	case '[', ']', '}', ',', '#':
		s.fail(s.line, profile.ErrCorrupt, "scalar", quoteShort(s.text), "a plain or quoted one")
		return nil
	case '-', '?', ':':
		if len(s.text) == 1 || s.text[1] == ' ' {
			s.fail(s.line, profile.ErrCorrupt, "scalar", quoteShort(s.text), "a plain or quoted one")
			return nil
		}
	}
	return s.plain(ends)
}

func (s *yamlScanner) plain(ends string) []byte {
	n := 0
	for ; n < len(s.text); n++ {
		c := s.text[n]
		blankNext := n+1 == len(s.text) || s.text[n+1] == ' ' || s.text[n+1] == '\t'
		if c == '#' && (s.text[n-1] == ' ' || s.text[n-1] == '\t') {
			break
		}
		if c == ':' && blankNext {
			if ends == ":" {
				break
			}
			s.fail(s.line, profile.ErrCorrupt, "scalar", quoteShort(s.text), "no colon before a blank, or quotes")
			return nil
		}
		if ends == ",]" && bytes.IndexByte([]byte(",[]{}"), c) >= 0 {
			break
		}
	}
	v := bytes.TrimRight(s.text[:n], " \t\r")
	s.advance(n)
	return v
}

func (s *yamlScanner) singleQuoted() []byte {
	var out []byte
	rest := s.text[1:]
	for {
		i := bytes.IndexByte(rest, '\'')
		if i < 0 {
			return s.unclosed()
		}
		part := rest[:i]
		rest = rest[i+1:]
		if len(rest) == 0 || rest[0] != '\'' {
			s.advance(len(s.text) - len(rest))
			if out == nil {
				return part
			}
			return append(out, part...)
		}
		out = append(append(out, part...), '\'')
		rest = rest[1:]
	}
}

func (s *yamlScanner) unclosed() []byte {
	s.fail(s.line, profile.ErrUnsupported, "scalar", quoteShort(s.text), "a closing quote on the same line")
	return nil
}

func (s *yamlScanner) doubleQuoted() []byte {
	out := []byte{}
	for i := 1; i < len(s.text); {
		switch c := s.text[i]; c {
		case '"':
			s.advance(i + 1)
			return out
		case '\\':
			r, n, ok := yamlUnescape(s.text[i+1:])
			if !ok {
				s.fail(s.line, profile.ErrCorrupt, "escape", quoteShort(s.text[i:]), "one that YAML knows")
				return nil
			}
			out = utf8.AppendRune(out, r)
			i += 1 + n
		default:
			out = append(out, c)
			i++
		}
	}
	return s.unclosed()
}

// yamlUnescape decodes what follows a backslash and returns its length.
func yamlUnescape(text []byte) (r rune, n int, ok bool) {
	if len(text) == 0 {
		return 0, 0, false
	}
	digits := 0
	switch c := text[0]; c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case ' ', '/':
		return rune(c), 1, true
	default:
		for _, e := range yamlEscapes {
			if e.letter == c {
				return e.char, 1, true
			}
		}
		return 0, 0, false
	}
	if len(text) < 1+digits {
		return 0, 0, false
	}
	v, err := parseHex(text[1:1+digits], 32)
	if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, 0, false
	}
	return rune(v), 1 + digits, true
}
