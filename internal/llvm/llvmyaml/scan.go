package llvmyaml

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Scanner reads one document of mappings, sequences and scalars, each in block or flow style. It
// refuses anchors, aliases, tags, block scalars, directives, scalars over several lines and
// mappings as keys. Like a cursor it keeps the first failure.
//
// The caller asks for the mapping, sequence or scalar that it expects, so the caller's code limits
// the nesting, whatever the input. A copy of a Scanner continues at the same position.
type Scanner struct {
	Record int // index of the record being read, for errors; -1 when in none

	data    string
	pos     int
	line    int  // number of the current line
	keyLine int  // of the last key
	start   int  // offset of the current line
	lineEnd int  // offset of its end, if not before pos
	parent  int  // column of the block that the value read belongs to; -1 at the top
	flow    int  // how many flow collections are open
	inline  bool // the value begins in the line of its key or dash
	err     error
}

// NewScanner returns a scanner at the value of the first document in data. Like LLVM it skips documents without a value.
func NewScanner(data []byte) *Scanner {
	// Keys and scalars are substrings of one string instead of copies.
	s := &Scanner{Record: -1, data: string(data), line: 1, parent: -1, lineEnd: -1}
	if !utf8.ValidString(s.data) {
		s.Fail(s.At(1 + strings.Count(validPrefix(s.data), "\n")).Field("text").Got("not UTF-8").Want("UTF-8").
			Corrupt())
		return s
	}
	if strings.HasPrefix(s.data, "\ufeff") {
		s.pos, s.start = 3, 3
	}
	s.blank()
	// A document without a value is followed by the next mark at once.
	for s.mark("---") {
		s.pos += 3
		s.blank()
		s.inline = false
	}
	return s
}

// validPrefix returns the part of text before its first byte that is not UTF-8.
func validPrefix(text string) string {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return text[:i]
			}
		}
	}
	return text
}

// Err returns the first failure, a *[profile.FormatError], or nil.
func (s *Scanner) Err() error { return s.err }

// Line returns the number of the current line, from 1.
func (s *Scanner) Line() int { return s.line }

// valueLine returns the line to name in an error about the next value: the line
// of its key if the value does not begin in that line.
func (s *Scanner) valueLine() int {
	if s.flow == 0 && !s.inline && s.keyLine > 0 {
		return s.keyLine
	}
	return s.line
}

// At returns the position of a line in the record being read; line 0 means no line.
func (s *Scanner) At(line int) flaw.Position {
	return flaw.In("YAML").InRecord(s.Record).OnLine(line)
}

// Fail records a failure, unless there is one already.
func (s *Scanner) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Rest returns a scanner at the next value and moves s to the end of the document, so that a
// caller can read the document in parts.
func (s *Scanner) Rest() *Scanner {
	rest := *s
	s.pos = len(s.data)
	return &rest
}

func (s *Scanner) rest() string {
	if s.lineEnd < s.pos { // searched once for each line, which may be long
		s.lineEnd = len(s.data)
		if i := strings.IndexByte(s.data[s.pos:], '\n'); i >= 0 {
			s.lineEnd = s.pos + i
		}
	}
	return strings.TrimSuffix(s.data[s.pos:s.lineEnd], "\r")
}

// column returns the offset in the line, in bytes. At a key or dash it is the indentation, because only blanks come before.
func (s *Scanner) column() int { return s.pos - s.start }

// blank skips blanks, comments and line ends. It sets inline if the next content is in the line where it began.
func (s *Scanner) blank() {
	s.inline = true
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == ' ' || c == '\r':
			s.pos++
		// Tabs may separate tokens, but not indent a block.
		case c == '\t':
			if !s.inline && s.flow == 0 && len(strings.TrimSpace(s.data[s.start:s.pos])) == 0 &&
				len(strings.TrimSpace(s.rest())) > 0 {
				s.Fail(s.At(s.line).Field("indentation").Got("a tab").Want("blanks").Corrupt())
				return
			}
			s.pos++
		case c == '\n':
			s.pos++
			s.line++
			s.start = s.pos
			s.inline = false
		case c == '#' && (s.pos == s.start || s.data[s.pos-1] == ' ' || s.data[s.pos-1] == '\t'):
			s.pos += len(s.rest())
		default:
			return
		}
	}
}

// mark reports whether the document mark m, "---" or "...", is at this position.
func (s *Scanner) mark(m string) bool {
	if s.column() != 0 || !strings.HasPrefix(s.data[s.pos:], m) {
		return false
	}
	rest := s.rest()[3:]
	return len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t'
}

// end reports whether the document ends here.
func (s *Scanner) end() bool {
	return s.err != nil || s.pos >= len(s.data) || s.mark("---") || s.mark("...")
}

// Finish fails if anything follows the document.
func (s *Scanner) Finish() {
	s.Record = -1
	if s.err == nil && !s.end() {
		s.Fail(s.At(s.line).Field("text").Got(flaw.Quote(s.rest())).Want("the end of the document").Corrupt())
	}
	if s.err == nil && s.mark("...") {
		s.pos += 3
		s.blank()
	}
	if s.err == nil && s.pos < len(s.data) {
		s.Fail(s.At(s.line).Field("text").Got(flaw.Quote(s.rest())).Want("nothing after the end of the document").
			Unsupported())
	}
}

// null reports whether the value is missing or null, and skips a written null.
func (s *Scanner) null() bool {
	if s.err != nil {
		return true
	}
	if s.flow > 0 {
		if s.closing() {
			return true
		}
	} else if s.end() || !s.inline && s.column() <= s.parent && !(s.column() == s.parent && s.dash()) {
		return true
	}
	// The scalar is read to see whether it is null, and read again if it is not.
	if s.pos < len(s.data) && (s.data[s.pos] == '~' || s.data[s.pos] == 'n') {
		at := s.pos
		if text, quoted := s.scalar(); s.err == nil && !quoted && (text == "~" || text == "null") {
			s.after()
			return true
		}
		s.pos = at
	}
	return false
}

// closing reports whether an element of a flow collection ends here.
func (s *Scanner) closing() bool {
	return s.pos < len(s.data) && strings.IndexByte(",]}", s.data[s.pos]) >= 0
}

// dash reports whether an item of a block sequence begins here.
func (s *Scanner) dash() bool {
	return s.pos < len(s.data) && s.data[s.pos] == '-' &&
		(s.pos+1 == len(s.data) || strings.IndexByte(" \t\r\n", s.data[s.pos+1]) >= 0)
}

// open enters the flow collection that begins with bracket at this position, and reports whether there is one.
func (s *Scanner) open(bracket byte) bool {
	if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != bracket {
		return false
	}
	s.pos++
	s.flow++
	s.blank()
	return true
}

// close moves to the next element of a flow collection, or past its closing
// bracket, and reports whether the collection has ended.
func (s *Scanner) close(bracket byte, first bool) bool {
	if s.err != nil {
		return true
	}
	if s.pos >= len(s.data) {
		s.Fail(s.At(s.line).Field("flow collection").Got("not ended").Wantf("%q", bracket).Truncated())
		return true
	}
	if c := s.data[s.pos]; c == ',' && !first {
		s.pos++
		s.blank()
	} else if c != bracket && !first {
		s.Fail(s.At(s.line).Field("flow collection").Got(flaw.Quote(s.rest())).Wantf("a comma or %q", bracket).Corrupt())
		return true
	}
	if s.pos < len(s.data) && s.data[s.pos] == bracket {
		s.pos++
		s.flow--
		s.after()
		return true
	}
	return s.err != nil
}

// after skips to what follows a value.
func (s *Scanner) after() {
	s.blank()
	if s.err == nil && s.flow == 0 && s.inline && !s.end() {
		s.Fail(s.At(s.line).Field("text after the value").Got(flaw.Quote(s.rest())).Want("nothing or a comment").Corrupt())
	}
}

// Mapping reads a mapping. It calls value with each key; value must read the key's value. A
// duplicate key is an error. A missing or null mapping has no keys.
func (s *Scanner) Mapping(value func(key string)) {
	if s.null() {
		return
	}
	// Most mappings have few keys: a list on the stack is faster than a map.
	var keys [32]string
	seen := keys[:0]
	var more map[string]struct{} // all keys beyond
	each := func(line int, key string) {
		_, twice := more[key]
		if twice || slices.Contains(seen, key) {
			s.Fail(s.At(line).Field("key").Got(flaw.Quote(key)).Want("each key once").Corrupt())
			return
		}
		switch {
		case len(seen) < len(keys):
			seen = append(seen, key)
		case more == nil:
			more = map[string]struct{}{key: {}}
		default:
			more[key] = struct{}{}
		}
		value(key)
	}
	if s.open('{') {
		for first := true; !s.close('}', first); first = false {
			line := s.line
			key := s.key()
			if s.err == nil {
				each(line, key)
			}
		}
		return
	}
	if s.flow > 0 || s.dash() || s.inline && s.parent >= 0 {
		s.Fail(s.At(s.line).Field("value").Got(flaw.Quote(s.rest())).Want("a mapping").Corrupt())
		return
	}
	s.block(func() {
		line := s.line
		key := s.key()
		if s.err == nil {
			each(line, key)
		}
	}, false)
}

// Fields reads a mapping with the given keys and calls value with each key. All keys except the optional ones are mandatory.
func (s *Scanner) Fields(keys []string, value func(key string), optional ...string) {
	// A bit for each key.
	seen, line := uint(0), s.Line()
	s.Mapping(func(key string) {
		i := slices.Index(keys, key)
		if i < 0 {
			s.Fail(s.At(s.Line()).Field("key").Got(flaw.Quote(key)).Want("one of " + strings.Join(keys, ", ")).Corrupt())
			return
		}
		seen |= 1 << i
		value(key)
	})
	for i, k := range keys {
		if seen&(1<<i) == 0 && !slices.Contains(optional, k) {
			s.Fail(s.At(line).Field("key " + k).Got("missing").Want("a value").Corrupt())
		}
	}
}

// block reads the entries of the block collection that begins at this position.
func (s *Scanner) block(entry func(), dashes bool) {
	col, outer := s.column(), s.parent
	s.parent = col
	for !s.end() && s.column() == col && s.dash() == dashes {
		entry()
	}
	s.parent = outer
	if s.err == nil && !s.end() && s.column() > col {
		s.Fail(s.At(s.line).Field("indentation").Gotf("%d blanks", s.column()).Wantf("at most %d", col).Corrupt())
	}
}

// key reads a key with its colon.
func (s *Scanner) key() string {
	line := s.line
	key, _ := s.scalar()
	if s.err != nil {
		return ""
	}
	if s.pos >= len(s.data) || s.data[s.pos] != ':' || s.line != line {
		s.Fail(s.At(line).Field("key").Got(flaw.Quote(key)).Want("a colon after it").Corrupt())
		return ""
	}
	s.pos++
	s.keyLine = line
	s.blank()
	return key
}

// Sequence reads a sequence. It calls item for each element, which item must read. A missing or null sequence has no elements.
func (s *Scanner) Sequence(item func()) {
	if s.null() {
		return
	}
	if s.open('[') {
		for first := true; !s.close(']', first); first = false {
			item()
		}
		return
	}
	if s.flow > 0 || !s.dash() || s.inline && s.parent >= 0 {
		s.Fail(s.At(s.line).Field("value").Got(flaw.Quote(s.rest())).Want("a sequence").Corrupt())
		return
	}
	s.block(func() {
		line := s.line
		s.pos++
		s.blank()
		if s.line == line {
			s.inline = false // a block mapping may begin in the line of its dash
		}
		item()
	}, true)
}
