package console

import (
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
)

// ShortenName makes a function's name, as a table shows it, take at most width
// columns. What tells functions apart goes last: first the file that is named
// behind in brackets, then the parameters, then what stands in angle brackets,
// and only then the middle of the name.
func ShortenName(name string, width int) string {
	if width < 1 || utf8.RuneCountInString(name) <= width {
		return name
	}
	if at := strings.LastIndex(name, " ["); at > 0 && strings.HasSuffix(name, "]") {
		const least = 5 // columns of a file that still say something
		bare := ShortenName(name[:at], width)
		if left := width - utf8.RuneCountInString(bare) - len(" []"); left >= least {
			return bare + " [" + cli.Shorten(name[at+2:len(name)-1], left) + "]"
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

// emptyBrackets puts "…" for what is in outermost brackets that belong to a
// name: they follow a letter, a digit or "::", and each is closed. That spares
// what only looks like them, such as operators, "<init>" and arrows.
func emptyBrackets(name string, open, shut byte) string {
	var b strings.Builder
	from := 0 // not yet written
	for i := 0; i < len(name); i++ {
		if name[i] != open || !belongsToName(name[:i]) {
			continue
		}
		end := closing(name, i, open, shut)
		if end < 0 { // then the others may be no brackets either
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

// belongsToName reports whether a bracket behind before is one of arguments.
func belongsToName(before string) bool {
	if before == "" || strings.HasSuffix(before, "operator") {
		return false
	}
	last := before[len(before)-1]
	return last == '_' || last == '>' || last == ']' || last >= 0x80 || last >= '0' && last <= '9' || last|0x20 >= 'a' && last|0x20 <= 'z' ||
		strings.HasSuffix(before, "::")
}

// closing returns where the bracket at i is closed; -1 if nowhere.
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
