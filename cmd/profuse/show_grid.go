package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
)

const (
	tableIndent = 2 // columns before every line
	columnGap   = 2
	minNameCols = 20 // a name is not shortened to less
	rule        = "─"
	maxRule     = 200 // columns of the line below a header, whatever the names below it
)

// A printer prints tables for people.
type printer struct {
	w       io.Writer
	term    cli.Terminal
	mangled bool // names are printed as they are in the profile
}

func newTable() table.Writer {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", columnGap)
	t := table.NewWriter()
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}

func (p *printer) render(t table.Writer) {
	indent := strings.Repeat(" ", tableIndent)
	for line := range strings.Lines(t.Render() + "\n") {
		if len(line) > maxRule*len(rule) && strings.Trim(line, rule+"\n") == "" {
			line = strings.Repeat(rule, maxRule) + "\n"
		}
		fmt.Fprint(p.w, indent, line)
	}
}

// list prints labels and values, the values folded to the terminal's width.
func (p *printer) list(rows [][2]string) {
	t := newTable()
	labels := 0
	for _, r := range rows {
		labels = max(labels, text.StringWidthWithoutEscSequences(r[0]))
		t.AppendRow(table.Row{r[0], r[1]})
	}
	if p.term.Width > 0 {
		t.SetColumnConfigs([]table.ColumnConfig{{
			Number: 2, WidthMaxEnforcer: text.WrapSoft,
			WidthMax: max(p.term.Width-tableIndent-labels-2*columnGap, minNameCols),
		}})
	}
	p.render(t)
}

// item prints a sentence that belongs to the line above, folded to the
// terminal's width.
func (p *printer) item(sentence string) {
	if width := p.term.Width; width > 0 {
		sentence = text.WrapSoft(sentence, max(width-tableIndent-columnGap, minNameCols))
	}
	for i, line := range strings.Split(sentence, "\n") {
		indent := tableIndent
		if i > 0 {
			indent += columnGap
		}
		fmt.Fprintf(p.w, "%s%s\n", strings.Repeat(" ", indent), strings.TrimRight(line, " "))
	}
}

// table prints an empty line and a table whose columns are numbers, except for
// the last: a name, shortened where the terminal is too narrow for it.
func (p *printer) table(header []string, rows [][]string) {
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
	left := p.term.Width - tableIndent - columnGap
	for i := range last {
		configs[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		left -= widths[i] + columnGap
	}
	configs[last] = table.ColumnConfig{Number: last + 1}
	if p.term.Width > 0 {
		configs[last].WidthMax = max(left, minNameCols)
		configs[last].WidthMaxEnforcer = shortenName
	}
	t.SetColumnConfigs(configs)
	fmt.Fprintln(p.w)
	p.render(t)
}

// symbol is how a function is shown: demangled, and with the file that a local
// one is from, unless names as in the profile are asked for.
func (p *printer) symbol(s symbolFacts) string {
	name := s.Demangled
	switch {
	case s.Name == "":
		return "(unknown)"
	case p.mangled:
		name = s.Name
	case s.File != "":
		name += " [" + s.File + "]"
	}
	return printable(name)
}

// printable escapes what would move a terminal's cursor or worse: names and
// messages come from the profile.
func printable(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			quoted := strconv.Quote(s)
			return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		}
	}
	return s
}
