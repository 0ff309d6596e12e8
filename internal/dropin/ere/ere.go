// Package ere compiles POSIX extended regular expressions as LLVM's Regex class does.
//
// They differ from Go's syntax: an escaped letter is that letter, a brace without a digit
// is a brace, and brackets have classes and collating elements. Compile refuses
// back-references, word boundaries and named collating elements.
package ere

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// ErrUnsupported is the cause of errors about expressions that LLVM can compile.
var ErrUnsupported = errors.New("not supported by profuse")

// The errors, in LLVM's words.
var (
	errParen     = errors.New("parentheses not balanced")
	errBracket   = errors.New("brackets ([ ]) not balanced")
	errBrace     = errors.New("braces not balanced")
	errCount     = errors.New("invalid repetition count(s)")
	errRange     = errors.New("invalid character range")
	errOperand   = errors.New("repetition-operator operand invalid")
	errEmptyExpr = errors.New("empty (sub)expression")
	errCollating = errors.New("invalid collating element")
	errClass     = errors.New("invalid character class")
	errEscape    = errors.New("trailing backslash (\\)")
	errBackref   = errors.New("invalid backreference number")
)

const maxRepeat = 255 // RE_DUP_MAX

// ere translates one expression into Go's syntax. LLVM matches bytes, so each byte of
// pattern and text becomes the rune of the same value.
type ere struct {
	rest   string          // the unread part of the pattern
	out    strings.Builder // the translation
	groups int             // groups closed so far
}

// Compile returns a function that reports whether the expression matches a part of a text. Errors have LLVM's words
// where LLVM has the error. LLVM has none for a pattern that Go refuses because of its size.
func Compile(pattern string) (match func(string) bool, err error) {
	p := &ere{rest: pattern}
	p.out.WriteString("(?s)")
	if err := p.alternatives(false); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(p.out.String())
	if err != nil {
		return nil, fmt.Errorf("regular expression is too complex: %w", err)
	}
	return func(text string) bool { return MatchBytes(re, text) }, nil
}

// MatchBytes reports whether re matches a part of text if every byte of text counts as the
// character of the same value, as in LLVM. Package regexp alone would read the text as UTF-8.
func MatchBytes(re *regexp.Regexp, text string) bool {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return re.MatchString(text)
	}
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return re.MatchString(string(runes))
}

// eat skips s and reports true if the rest begins with s.
func (p *ere) eat(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	p.rest = rest
	return ok
}

// next reads one byte. The rest must not be empty.
func (p *ere) next() byte {
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c
}

func (p *ere) digitAt(i int) bool {
	return len(p.rest) > i && '0' <= p.rest[i] && p.rest[i] <= '9'
}

// repeats reports whether a repetition operator is next. A "{" is one only before a digit.
func (p *ere) repeats() bool {
	return p.rest != "" && (strings.IndexByte("*+?", p.rest[0]) >= 0 || p.rest[0] == '{' && p.digitAt(1))
}

// alternatives reads branches up to the end, or to the ")" of the group. An empty branch is an
// error, as in LLVM; only an empty group "()" is none, see group.
func (p *ere) alternatives(inGroup bool) error {
	for {
		empty := true
		for p.rest != "" && p.rest[0] != '|' && !(inGroup && p.rest[0] == ')') {
			if err := p.piece(); err != nil {
				return err
			}
			empty = false
		}
		if empty {
			return errEmptyExpr
		}
		if !p.eat("|") {
			return nil
		}
		p.out.WriteByte('|')
	}
}

// piece reads an atom and its repetition. A repetition of "^" or of a repetition is an error.
func (p *ere) piece() error {
	caret := p.rest[0] == '^'
	if err := p.atom(); err != nil {
		return err
	}
	if !p.repeats() {
		return nil
	}
	if caret {
		return errOperand
	}
	if op := p.next(); op != '{' {
		p.out.WriteByte(op)
	} else if err := p.bounds(); err != nil {
		return err
	}
	if p.repeats() {
		return errOperand
	}
	return nil
}

// atom reads a group, a bracket expression, an anchor, "." or a character. A ")" outside of a group is an error.
func (p *ere) atom() error {
	switch c := p.next(); c {
	case '(':
		return p.group()
	case ')':
		return errParen
	case '*', '+', '?':
		return errOperand
	case '^', '$', '.':
		p.out.WriteByte(c)
	case '[':
		return p.bracket()
	case '\\':
		if p.rest == "" {
			return errEscape
		}
		c := p.next()
		if '1' <= c && c <= '9' {
			// LLVM refuses only a reference to a group that has not been closed.
			if int(c-'0') > p.groups {
				return errBackref
			}
			return fmt.Errorf("back-references are %w", ErrUnsupported)
		}
		p.literal(c)
	case '{':
		if p.digitAt(0) {
			return errOperand
		}
		p.literal(c)
	default:
		p.literal(c)
	}
	return nil
}

// group reads a group after its "(". It may be empty, unlike a branch.
func (p *ere) group() error {
	if p.rest == "" {
		return errParen
	}
	p.out.WriteByte('(')
	if p.rest[0] != ')' {
		if err := p.alternatives(true); err != nil {
			return err
		}
	}
	if !p.eat(")") {
		return errParen
	}
	p.out.WriteByte(')')
	p.groups++
	return nil
}

func (p *ere) literal(c byte) { p.out.WriteString(regexp.QuoteMeta(string(rune(c)))) }

// bounds reads a repetition count after its opening brace: a minimum, optionally followed by a comma and a maximum.
// For anything else LLVM has two errors: errCount if a brace closes later, errBrace if none does.
func (p *ere) bounds() error {
	low, err := p.count()
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.out, "{%d", low)
	if p.eat(",") {
		p.out.WriteByte(',')
		if p.digitAt(0) {
			high, err := p.count()
			if err != nil {
				return err
			}
			if low > high {
				return errCount
			}
			fmt.Fprint(&p.out, high)
		}
	}
	if p.eat("}") {
		p.out.WriteByte('}')
		return nil
	}
	if strings.Contains(p.rest, "}") {
		return errCount
	}
	return errBrace
}

// count reads a number, which may be at most maxRepeat.
func (p *ere) count() (int, error) {
	n := 0
	for p.digitAt(0) && n <= maxRepeat {
		n = 10*n + int(p.next()-'0')
	}
	if n > maxRepeat {
		return 0, errCount
	}
	return n, nil
}
