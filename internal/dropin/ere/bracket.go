package ere

import (
	"fmt"
	"strings"
)

// byteSet is the set of bytes that a bracket expression matches.
type byteSet [256]bool

// bracket (p_bracket of LLVM's regcomp.c) reads a bracket expression after its "[". A first "]"
// or "-" and a last "-" are characters.
func (p *ere) bracket() error {
	if strings.HasPrefix(p.rest, "[:<:]]") || strings.HasPrefix(p.rest, "[:>:]]") {
		return fmt.Errorf("word boundaries are %w", ErrUnsupported)
	}
	var set byteSet
	invert := p.eat("^")
	switch {
	case p.eat("]"):
		set[']'] = true
	case p.eat("-"):
		set['-'] = true
	}
	for p.rest != "" && p.rest[0] != ']' && !strings.HasPrefix(p.rest, "-]") {
		if err := p.bracketTerm(&set); err != nil {
			return err
		}
	}
	if p.eat("-") {
		set['-'] = true
	}
	if !p.eat("]") {
		return errBracket
	}
	set.write(&p.out, invert)
	return nil
}

// write writes the set in Go's syntax, each member by its number. A set without members,
// such as the complement of all bytes, matches nothing.
func (set *byteSet) write(out *strings.Builder, invert bool) {
	out.WriteByte('[')
	empty := true
	for c, in := range set {
		if in != invert {
			fmt.Fprintf(out, `\x{%x}`, c)
			empty = false
		}
	}
	if empty {
		out.WriteString(`^\x{0}-\x{10ffff}`)
	}
	out.WriteByte(']')
}

// bracketTerm (p_b_term) reads a class, an equivalence class, a character or a range. Ranges go
// by byte values, as in the C locale.
func (p *ere) bracketTerm(set *byteSet) error {
	switch {
	case p.rest[0] == '-':
		return errRange
	case p.eat("[:"):
		return p.class(set)
	case p.eat("[="):
		if err := p.notAtEnd(errCollating); err != nil {
			return err
		}
		c, err := p.collating('=')
		if err != nil {
			return err
		}
		set[c] = true
		return nil
	}
	first, err := p.symbol()
	if err != nil {
		return err
	}
	last := first
	if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' {
		p.next()
		// A range may end with "-", as in "[+--]".
		if p.eat("-") {
			last = '-'
		} else if last, err = p.symbol(); err != nil {
			return err
		}
	}
	if first > last {
		return errRange
	}
	for c := int(first); c <= int(last); c++ {
		set[c] = true
	}
	return nil
}

// notAtEnd checks the byte after the opening of a class or equivalence class. It returns err if that byte is "-" or "]".
func (p *ere) notAtEnd(err error) error {
	switch {
	case p.rest == "":
		return errBracket
	case p.rest[0] == '-' || p.rest[0] == ']':
		return err
	}
	return nil
}

// symbol reads one character of a bracket expression, or a collating element.
func (p *ere) symbol() (byte, error) {
	if p.eat("[.") {
		return p.collating('.')
	}
	return p.next(), nil
}

// collating reads a collating element up to the delimiter and its bracket. It supports single
// characters, not POSIX names of characters.
func (p *ere) collating(delimiter byte) (byte, error) {
	switch end := strings.Index(p.rest, string(rune(delimiter))+"]"); {
	case end < 0:
		return 0, errBracket
	case end != 1:
		return 0, errCollating
	}
	c := p.next()
	p.rest = p.rest[len(".]"):]
	return c, nil
}

// classes are the character classes of the C locale. Two characters are the ends of a range.
var classes = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "\t\t  ",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "\t\r  ",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}

// class reads the name of a character class after "[:", in lower case, and adds its members.
func (p *ere) class(set *byteSet) error {
	if err := p.notAtEnd(errClass); err != nil {
		return err
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	rest := strings.TrimLeft(p.rest, letters)
	members, ok := classes[strings.TrimSuffix(p.rest, rest)]
	if !ok {
		return errClass
	}
	p.rest = rest
	for ; members != ""; members = members[2:] {
		for c := int(members[0]); c <= int(members[1]); c++ {
			set[c] = true
		}
	}
	switch {
	case p.rest == "":
		return errBracket
	case !p.eat(":]"):
		return errClass
	}
	return nil
}
