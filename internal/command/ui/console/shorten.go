package console

import (
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// ShortenName shortens a function's name to at most width columns. It cuts the least distinctive part first: the file
// in brackets after the name, then the parameters, then the template arguments, and last the middle of the name.
func ShortenName(name string, width int) string {
	if width < 1 || utf8.RuneCountInString(name) <= width {
		return name
	}
	if i := strings.LastIndex(name, " ["); i > 0 && strings.HasSuffix(name, "]") {
		const least = 5 // columns of a useful part of a file name
		bare := ShortenName(name[:i], width)
		if left := width - utf8.RuneCountInString(bare) - len(" []"); left >= least {
			return bare + " [" + cli.Shorten(name[i+2:len(name)-1], left) + "]"
		}
		return bare
	}
	for _, brackets := range []string{"()", "<>"} {
		if name = emptyBrackets(name, brackets[0], brackets[1]); utf8.RuneCountInString(name) <= width {
			return name
		}
	}
	return cli.Shorten(name, width)
}

// emptyBrackets replaces the contents of outermost brackets by "…" if they follow a letter, a digit or
// "::" and are closed. Operators, "<init>" and arrows stay.
func emptyBrackets(name string, open, shut byte) string {
	var b strings.Builder
	from := 0 // not yet written
	for i := 0; i < len(name); i++ {
		if name[i] != open || !belongsToName(name[:i]) {
			continue
		}
		end := closing(name, i, open, shut)
		if end < 0 { // the other characters may be no brackets either
			break
		}
		if end-i < len("<…>") {
			continue
		}
		b.WriteString(name[from : i+1])
		b.WriteString("…")
		from, i = end, end
	}
	b.WriteString(name[from:])
	return b.String()
}

// belongsToName reports whether a bracket after before contains arguments.
func belongsToName(before string) bool {
	if before == "" || strings.HasSuffix(before, "operator") {
		return false
	}
	last := before[len(before)-1]
	return last == '_' || last == '>' || last == ']' || last >= 0x80 || last >= '0' && last <= '9' || last|0x20 >= 'a' && last|0x20 <= 'z' ||
		strings.HasSuffix(before, "::")
}

// closing returns the index of the bracket that closes the bracket at i; -1 if there is none.
func closing(name string, i int, open, shut byte) int {
	depth := 0
	for ; i < len(name); i++ {
		switch {
		case name[i] == open:
			depth++
		case name[i] == shut && (shut != '>' || name[i-1] != '-'):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
