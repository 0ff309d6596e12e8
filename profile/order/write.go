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
//
// gold and GNU ld order sections. A function may be in one of several, which Write names all, because only the
// compiler knows whether it held the function for hot, cold or neither. One of them, .text.unlikely.NAME, may
// instead have the cold part that GCC splits off; if that part, NAME.cold, is among the symbols, the section has its place.
func Write(w io.Writer, linker Linker, symbols []string) (unwritten []string, err error) {
	line, ok := lines[linker]
	if !ok {
		return nil, fmt.Errorf("no order format for linker %q", string(linker))
	}
	split := splitNames(symbols)
	b := bufio.NewWriter(w)
	for _, s := range symbols {
		text := line(s, split[s])
		if text == "" {
			unwritten = append(unwritten, s)
			continue
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return unwritten, b.Flush()
}

// splitNames returns the functions whose cold parts are in an order.
func splitNames(order []string) map[string]bool {
	split := make(map[string]bool)
	for _, s := range order {
		if name, cold := symbols.CutCold(s); cold {
			split[name] = true
		}
	}
	return split
}

// lines has the functions that return the text of one symbol, which may have several lines; "" if the
// format cannot express the symbol. split says that the order has the cold part of the symbol.
var lines = map[Linker]func(symbol string, split bool) string{
	"lld":    symbolLine,
	"ld64":   symbolLine,
	"gold":   func(symbol string, split bool) string { return strings.Join(sectionPatterns(symbol, split), "\n") },
	"gnu-ld": gnuldLine,
}

// symbolLine returns the symbol unless the linker would read the line as another
// one: it ignores comments, which begin with #, and surrounding blanks.
func symbolLine(symbol string, _ bool) string {
	if symbol == "" || strings.ContainsAny(symbol, "#\n\r\x00") || strings.TrimSpace(symbol) != symbol {
		return ""
	}
	return symbol
}

// gnuldLine returns a statement for each section: with one statement *(a b), the
// order of the object files would decide.
func gnuldLine(symbol string, split bool) string {
	if symbol == "" {
		return ""
	}
	return "*(" + strings.Join(sectionPatterns(symbol, split), ") *(") + ")"
}

// What compilers put between ".text." and the name of a function with -ffunction-sections. GCC has startup and
// exit, for main, constructors and destructors; LLVM has unknown, for functions that a sample profile lacks.
var (
	sectionPrefixes = []string{"", "hot.", "unlikely.", "startup.", "exit.", "unknown."}
	splitPrefixes   = []string{"", "hot.", "startup.", "exit.", "unknown."}
)

func sectionPatterns(symbol string, split bool) (patterns []string) {
	if symbol == "" {
		return nil
	}
	name, cold := symbols.CutCold(symbol)
	if cold {
		// The parts that GCC and LLVM's machine function splitter split off, and a function that LLVM outlines.
		patterns = []string{".text.unlikely." + pattern(name), ".text.split." + pattern(name)}
	}
	prefixes := sectionPrefixes
	switch {
	case cold:
		prefixes = []string{"", "unlikely."}
	case split:
		prefixes = splitPrefixes
	}
	for _, prefix := range prefixes {
		patterns = append(patterns, ".text."+prefix+pattern(symbol))
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
