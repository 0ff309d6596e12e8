package layout

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A Linker is what an order is written for.
type Linker string

// The linkers.
const (
	LLD   Linker = "lld"    // LLVM's for ELF
	LD64  Linker = "ld64"   // Apple's, and LLVM's for Mach-O
	Gold  Linker = "gold"   // of GNU binutils
	GNULD Linker = "gnu-ld" // the other one of GNU binutils, ld.bfd
)

// Linkers returns all linkers.
func Linkers() []Linker { return []Linker{LLD, LD64, Gold, GNULD} }

// Write writes the order of symbols, given by their names in the symbol table,
// for a linker. Those that its format cannot express are left out and returned;
// of a linker that is not one of [Linkers] that would be all, which is an error.
// So is a failure of w.
func Write(w io.Writer, linker Linker, symbols []string) (unwritten []string, err error) {
	line, ok := lines[linker]
	if !ok {
		return nil, fmt.Errorf("no order format for linker %q", string(linker))
	}
	b := bufio.NewWriter(w)
	for _, s := range symbols {
		text := line(s)
		if text == "" {
			unwritten = append(unwritten, s)
			continue
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return unwritten, b.Flush()
}

// lines has what makes the text of one symbol, possibly of several lines; ""
// if it cannot be expressed.
var lines = map[Linker]func(symbol string) string{
	LLD:   symbolLine,
	LD64:  symbolLine,
	Gold:  goldLines,
	GNULD: gnuldLine,
}

// symbolLine: everything from # on is a comment, and blanks around a name are
// not part of it.
func symbolLine(symbol string) string {
	if symbol == "" || strings.ContainsAny(symbol, "#\n\r\x00") || strings.TrimSpace(symbol) != symbol {
		return ""
	}
	return symbol
}

func goldLines(symbol string) string {
	return strings.Join(sectionPatterns(symbol), "\n")
}

// gnuldLine gives each section a statement: in *(a b) the order would be that
// of the object files.
func gnuldLine(symbol string) string {
	var b strings.Builder
	for i, p := range sectionPatterns(symbol) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("*(" + p + ")")
	}
	return b.String()
}

// sectionPatterns returns the names of the sections that a function may be in.
func sectionPatterns(symbol string) []string {
	if symbol == "" {
		return nil
	}
	prefixes := []string{".text.", ".text.hot.", ".text.startup."}
	if name, cold := cutCold(symbol); cold {
		symbol, prefixes = name, []string{".text.unlikely.", ".text.split."}
	}
	name := pattern(symbol)
	patterns := make([]string, len(prefixes))
	for i, p := range prefixes {
		patterns[i] = p + name
	}
	return patterns
}

// pattern returns a wildcard pattern that matches a name. What could mean
// something to a linker is replaced by the wildcard for any one character.
func pattern(name string) string {
	b := []byte(name)
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '$':
		default:
			b[i] = '?'
		}
	}
	return string(b)
}
