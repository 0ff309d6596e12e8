package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const helpWidth = 80

const columnGap = 2

// columnWidth returns the width of the first column: the greatest width of a name up to 24.
func columnWidth(rows [][2]string) (width int) {
	const widest = 24
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= widest {
			width = max(width, n)
		}
	}
	return width
}

// writeColumns prints names and descriptions as two columns. The first column is left characters
// wide. A longer name gets a line of its own.
func writeColumns(w io.Writer, rows [][2]string, left int) {
	indent := strings.Repeat(" ", columnGap+left+columnGap)
	for _, r := range rows {
		lines := wrap(r[1], helpWidth-len(indent))
		if n := utf8.RuneCountInString(r[0]); n <= left {
			fmt.Fprintf(w, "  %s%s", r[0], strings.Repeat(" ", left-n+columnGap))
		} else {
			fmt.Fprintf(w, "  %s\n%s", r[0], indent)
		}
		fmt.Fprintln(w, strings.Join(lines, "\n"+indent))
	}
}

// Rows returns names and descriptions as two columns, for the Long text of a command.
func Rows(rows [][2]string) string {
	// Lines of a Long text that begin with four spaces are not filled.
	indented := make([][2]string, len(rows))
	for i, r := range rows {
		indented[i] = [2]string{"  " + r[0], r[1]}
	}
	var b strings.Builder
	writeColumns(&b, indented, columnWidth(indented))
	return b.String()
}

// fill breaks the paragraphs of text into lines. Indented lines stay unchanged.
func fill(text string, width int) string {
	var b strings.Builder
	var words []string
	flush := func() {
		if len(words) > 0 {
			b.WriteString(strings.Join(wrap(strings.Join(words, " "), width), "\n"))
			b.WriteByte('\n')
			words = words[:0]
		}
	}
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			flush()
			b.WriteByte('\n')
		case line[0] == ' ':
			flush()
			b.WriteString(line)
		default:
			words = append(words, strings.TrimSpace(line))
		}
	}
	flush()
	return b.String()
}

// wrap breaks text at spaces into lines of at most width columns.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Shorten cuts the middle out of s so that it takes at most width columns.
func Shorten(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n <= width || width < 1 {
		return s
	}
	runes := []rune(s)
	keep := width - 1
	head := (keep + 1) / 2
	return string(runes[:head]) + "…" + string(runes[n-(keep-head):])
}

// An Integer is a number that texts have.
type Integer interface {
	int | int32 | int64 | uint32 | uint64
}

// Count prints n with thousands separators.
func Count[N Integer](n N) string {
	digits, negative := strings.CutPrefix(fmt.Sprint(n), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// A Part is a number of things of one kind.
type Part struct {
	N    int
	What string
}

// Parts describes the parts that are not zero: "3 truncated".
func Parts(parts ...Part) (words []string) {
	for _, p := range parts {
		if p.N > 0 {
			words = append(words, Count(p.N)+" "+p.What)
		}
	}
	return words
}

// Quantity prints a number with its unit: "1 function", "1,234 functions".
func Quantity[N Integer](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Percent prints part of whole with one decimal. It prints "0 %" and "100 %" only if they are exact, and "0 %" for
// negative numbers.
func Percent[N Integer](part, whole N) string {
	switch {
	case whole <= 0 || part <= 0:
		return "0 %"
	case part == whole:
		return "100 %"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case p < 0.05:
		return "<0.1 %"
	case p >= 99.95 && part < whole:
		return ">99.9 %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// beginningWith returns the first word that begins with s; "" if there is none.
func beginningWith(s string, words []string) string {
	for _, w := range words {
		if len(s) > 1 && strings.HasPrefix(w, s) {
			return w
		}
	}
	return ""
}

// nearest returns the word with the least distance to s; "" if no word is similar.
func nearest(s string, words []string) string {
	best, least := "", min(len(s)/2+1, 3)
	for _, w := range words {
		if d := Distance(s, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// Distance returns the least number of insertions, deletions and replacements of bytes that turn a into b.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to every prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
