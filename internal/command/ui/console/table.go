// Package console writes the output of commands: tables and names for people, JSON for programs,
// errors for both, and result files.
package console

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

const (
	TableIndent    = 2 // columns before every line
	ColumnGap      = 2
	MinNameColumns = 20 // least width of a shortened name
	rule           = "─"
	maxRule        = 200 // greatest width of the line below a header
)

// A Printer prints tables for people.
type Printer struct {
	W       io.Writer
	Term    cli.Terminal
	Mangled bool // print names as in the profile
}

// newTable returns a table without borders, with a line below its header.
func newTable() table.Writer {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", ColumnGap)
	t := table.NewWriter()
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}

// render prints a table, indented. It shortens the line below a header to maxRule columns: names may have megabytes.
func (p *Printer) render(t table.Writer) {
	indent := strings.Repeat(" ", TableIndent)
	for line := range strings.Lines(t.Render() + "\n") {
		if len(line) > maxRule*len(rule) && strings.Trim(line, rule+"\n") == "" {
			line = strings.Repeat(rule, maxRule) + "\n"
		}
		fmt.Fprint(p.W, indent, line)
	}
}

// List prints labels and values, the values folded to the terminal's width.
func (p *Printer) List(rows [][2]string) {
	t := newTable()
	labels := 0
	for _, r := range rows {
		labels = max(labels, text.StringWidthWithoutEscSequences(r[0]))
		t.AppendRow(table.Row{r[0], r[1]})
	}
	if p.Term.Width > 0 {
		t.SetColumnConfigs([]table.ColumnConfig{{
			Number: 2, WidthMaxEnforcer: text.WrapSoft,
			WidthMax: max(p.Term.Width-TableIndent-labels-2*ColumnGap, MinNameColumns),
		}})
	}
	p.render(t)
}

// Item prints a sentence about the line above, folded to the terminal's width.
func (p *Printer) Item(sentence string) {
	if width := p.Term.Width; width > 0 {
		sentence = text.WrapSoft(sentence, max(width-TableIndent-ColumnGap, MinNameColumns))
	}
	for i, line := range strings.Split(sentence, "\n") {
		indent := TableIndent
		if i > 0 {
			indent += ColumnGap
		}
		fmt.Fprintf(p.W, "%s%s\n", strings.Repeat(" ", indent), strings.TrimRight(line, " "))
	}
}

// Fold prints words in lines that fit the terminal, each after indent.
func (p *Printer) Fold(indent, words string) {
	width := p.Term.Width
	if width == 0 {
		width = 100
	}
	for line := range strings.SplitSeq(text.WrapSoft(words, max(width-len(indent), MinNameColumns)), "\n") {
		fmt.Fprintln(p.W, indent+strings.TrimRight(line, " "))
	}
}

// Table prints an empty line and a table. The last column holds names, which are shortened on a narrow
// terminal; the others hold numbers.
func (p *Printer) Table(header []string, rows [][]string) {
	t := newTable()
	last := len(header) - 1
	widths := make([]int, len(header))
	appendRow := func(cells []string, add func(table.Row)) {
		row := make(table.Row, len(cells))
		for i, c := range cells {
			row[i] = c
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(c))
		}
		add(row)
	}
	appendRow(header, func(r table.Row) { t.AppendHeader(r) })
	for _, r := range rows {
		appendRow(r, func(r table.Row) { t.AppendRow(r) })
	}
	configs := make([]table.ColumnConfig, len(header))
	left := p.Term.Width - TableIndent - ColumnGap
	for i := range last {
		configs[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		left -= widths[i] + ColumnGap
	}
	configs[last] = table.ColumnConfig{Number: last + 1}
	if p.Term.Width > 0 {
		configs[last].WidthMax = max(left, MinNameColumns)
		configs[last].WidthMaxEnforcer = ShortenName
	}
	t.SetColumnConfigs(configs)
	fmt.Fprintln(p.W)
	p.render(t)
}

// TableOf prints a table with a row for each item, or nothing without items.
func TableOf[T any](p *Printer, header []string, items []T, row func(*T) []string) {
	var rows [][]string
	for i := range items {
		rows = append(rows, row(&items[i]))
	}
	if len(rows) > 0 {
		p.Table(header, rows)
	}
}

// Symbol returns the text for a function: the demangled name and in brackets the file of a local
// function, or with Mangled the name in the profile.
func (p *Printer) Symbol(s Symbol) string {
	name := s.Demangled
	switch {
	case s.Name == "":
		return "(unknown)"
	case p.Mangled:
		name = s.Name
	case s.File != "":
		name += " [" + s.File + "]"
	}
	return Printable(name)
}

// Printable escapes text of profiles for terminals: text with control or invalid characters is quoted
// as in Go, without the quotes.
func Printable(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			quoted := strconv.Quote(s)
			return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		}
	}
	return s
}

// Percent formats a share, from 0 to 1.
func Percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// MaxListed limits lists that the user did not ask for.
const MaxListed = 5
