package order

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/profuse-pgo/profuse/internal/symbols"
)

// A Linker names a linker whose order format [Write] writes:
//
//	lld     LLVM's ld.lld, for ELF
//	ld64    Apple's ld64 and LLVM's ld64.lld, for Mach-O
//	gold    GNU binutils' ld.gold
//	gnu-ld  GNU binutils' ld.bfd
type Linker string

// Linkers returns all linkers.
func Linkers() []Linker { return []Linker{"lld", "ld64", "gold", "gnu-ld"} }

// Write writes an order of symbols, given by their names in the symbol table, for a linker. It omits and returns
// symbols that the linker's format cannot express. It fails if linker is not one of [Linkers], or if w does.
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

// lines has the functions that return the text of one symbol, which may have
// several lines; "" if the format cannot express the symbol.
var lines = map[Linker]func(symbol string) string{
	"lld":    symbolLine,
	"ld64":   symbolLine,
	"gold":   func(symbol string) string { return strings.Join(sectionPatterns(symbol), "\n") },
	"gnu-ld": gnuldLine,
}

// symbolLine returns the symbol unless the linker would read the line as another
// one: it ignores comments, which begin with #, and surrounding blanks.
func symbolLine(symbol string) string {
	if symbol == "" || strings.ContainsAny(symbol, "#\n\r\x00") || strings.TrimSpace(symbol) != symbol {
		return ""
	}
	return symbol
}

// gnuldLine returns a statement for each section: with one statement *(a b), the
// order of the object files would decide.
func gnuldLine(symbol string) string {
	if symbol == "" {
		return ""
	}
	return "*(" + strings.Join(sectionPatterns(symbol), ") *(") + ")"
}

func sectionPatterns(symbol string) []string {
	if symbol == "" {
		return nil
	}
	patterns := []string{".text.", ".text.hot.", ".text.startup."}
	if name, cold := symbols.CutCold(symbol); cold {
		symbol, patterns = name, []string{".text.unlikely.", ".text.split."}
	}
	for i := range patterns {
		patterns[i] += pattern(symbol)
	}
	return patterns
}

// pattern returns a wildcard pattern that matches a name. It replaces every byte
// that linkers may interpret with the wildcard for any one character.
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
