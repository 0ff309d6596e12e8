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
	MinNameColumns = 20 // a name is not shortened to less
	rule           = "─"
	maxRule        = 200 // columns of the line below a header, whatever the names below it
)

// A Printer prints tables for people.
type Printer struct {
	W       io.Writer
	Term    cli.Terminal
	Mangled bool // names are printed as they are in the profile
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

// render prints a table, indented. The line below a header ends at maxRule columns: one name
// of megabytes would make it as long.
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

// Item prints a sentence that belongs to the line above, folded to the
// terminal's width.
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

// Fold prints text in lines that fit, broken at spaces.
func (p *Printer) Fold(indent, words string) {
	width := p.Term.Width
	if width == 0 {
		width = 100
	}
	for line := range strings.SplitSeq(text.WrapSoft(words, max(width-len(indent), MinNameColumns)), "\n") {
		fmt.Fprintln(p.W, indent+strings.TrimRight(line, " "))
	}
}

// Table prints an empty line and a table whose columns are numbers, except for
// the last: a name, shortened where the terminal is too narrow for it.
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

// TableOf prints a table with a row for each item, and nothing if there are none.
func TableOf[T any](p *Printer, header []string, items []T, row func(*T) []string) {
	var rows [][]string
	for i := range items {
		rows = append(rows, row(&items[i]))
	}
	if len(rows) > 0 {
		p.Table(header, rows)
	}
}

// Symbol is how a function is shown: demangled, and with the file that a local
// one is from, unless names as in the profile are asked for.
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

// Printable escapes what would move a terminal's cursor or worse: names and
// messages come from the profile. Text with such a character is quoted as in Go, without the
// quotes.
func Printable(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			quoted := strconv.Quote(s)
			return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		}
	}
	return s
}

// Percent prints a share.
func Percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// MaxListed bounds lists that are not what the user asked for.
const MaxListed = 5
