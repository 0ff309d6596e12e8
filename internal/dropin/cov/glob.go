package cov

import (
	"regexp"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/ere"
)

// The errors of patterns.
const (
	errBlankGlob    = message("Supplied glob was blank")
	errBracketGlob  = message("invalid glob pattern, unmatched '['")
	errStrayGlob    = message("invalid glob pattern, stray '\\'")
	errRangeGlob    = message("invalid glob pattern")
	errNestedGlob   = message("nested brace expansions are not supported")
	errOpenGlob     = message("incomplete brace expansion")
	errSingleGlob   = message("empty or singleton brace expansions are not supported")
	errTooManyGlobs = message("too many brace expansions")
)

// mostGlobs is the number of patterns that the braces of one pattern may expand to.
const mostGlobs = 1024

// compileGlob compiles a pattern of LLVM's GlobPattern class: "*", "?", "[a-z]", "[^a]", "{a,b}" and "\" before one
// of them. The result matches whole names. Errors have LLVM's texts.
func compileGlob(pattern string) (func(string) bool, error) {
	if pattern == "" {
		return nil, errBlankGlob
	}
	g := globber{rest: pattern, globs: 1}
	g.out.WriteString("(?s)^(?:")
	for g.rest != "" {
		if err := g.next(); err != nil {
			return nil, err
		}
	}
	if g.inBraces {
		return nil, errOpenGlob
	}
	g.out.WriteString(")$")
	re, err := regexp.Compile(g.out.String())
	if err != nil {
		return nil, errRangeGlob
	}
	return func(name string) bool { return ere.MatchBytes(re, name) }, nil
}

// A globber translates a pattern into a regular expression. Bytes become the runes of the same value.
type globber struct {
	rest     string
	out      strings.Builder
	inBraces bool // braces do not nest
	terms    int  // in the braces so far
	globs    int  // the product of the terms of all braces, at most mostGlobs
}

// next translates the next element of the pattern. A comma or a closing brace outside of braces stands for itself.
func (g *globber) next() error {
	c := g.rest[0]
	g.rest = g.rest[1:]
	switch {
	case c == '*':
		g.out.WriteString(".*")
	case c == '?':
		g.out.WriteString(".")
	case c == '\\':
		if g.rest == "" {
			return errStrayGlob
		}
		g.literal(g.rest[0])
		g.rest = g.rest[1:]
	case c == '[':
		return g.bracket()
	case c == '{':
		if g.inBraces {
			return errNestedGlob
		}
		g.inBraces, g.terms = true, 1
		g.out.WriteString("(?:")
	case c == ',' && g.inBraces:
		g.terms++
		g.out.WriteString("|")
	case c == '}' && g.inBraces:
		g.inBraces = false
		if g.terms < 2 {
			return errSingleGlob
		}
		if g.globs *= g.terms; g.globs > mostGlobs {
			return errTooManyGlobs
		}
		g.out.WriteString(")")
	default:
		g.literal(c)
	}
	return nil
}

func (g *globber) literal(c byte) { g.out.WriteString(regexp.QuoteMeta(string(rune(c)))) }

// bracket translates what follows a "[". A "]" that comes first is a character.
func (g *globber) bracket() error {
	if g.rest == "" {
		return errBracketGlob
	}
	// From the second byte on: a "]" that comes first belongs to the set.
	end := strings.IndexByte(g.rest[1:], ']')
	if end < 0 {
		return errBracketGlob
	}
	set := g.rest[:1+end]
	g.rest = g.rest[2+end:]
	inverted := set[0] == '^' || set[0] == '!'
	if inverted && len(set) == 1 {
		g.out.WriteString(".") // "[^]": all but nothing
		return nil
	}
	g.out.WriteString("[")
	if inverted {
		g.out.WriteString("^")
		set = set[1:]
	}
	for set != "" {
		first := set[0]
		set = set[1:]
		last := first
		if len(set) >= 2 && set[0] == '-' {
			last, set = set[1], set[2:]
			if last < first {
				return errRangeGlob
			}
		}
		g.member(first)
		if last != first {
			g.out.WriteString("-")
			g.member(last)
		}
	}
	g.out.WriteString("]")
	return nil
}

// member adds a byte to a set. It escapes bytes that mean something in a set of package regexp.
func (g *globber) member(c byte) {
	if strings.IndexByte(`\]^-[`, c) >= 0 {
		g.out.WriteByte('\\')
	}
	g.out.WriteRune(rune(c))
}
