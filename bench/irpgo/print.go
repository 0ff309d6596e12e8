//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

// A result holds the measurements of one case.
type result struct {
	*benchCase
	size     int64 // of the inputs, in bytes
	commands []*command
}

// metrics are the costs of a command.
var metrics = []struct {
	name   string
	format string
	of     func(measure.Sample) float64
}{
	{"wall s", "%.3f", func(s measure.Sample) float64 { return s.Wall }},
	{"CPU s", "%.3f", func(s measure.Sample) float64 { return s.CPU }},
	{"peak MiB", "%.0f", func(s measure.Sample) float64 { return s.Memory }},
}

func (c *command) values(metric int) []float64 {
	out := make([]float64, len(c.samples))
	for i, s := range c.samples {
		out[i] = metrics[metric].of(s)
	}
	return out
}

func (r *result) heading() string {
	return fmt.Sprintf("(%s) %s, %.0f MB", r.letter, r.title, float64(r.size)/1e6)
}

// rows returns the table: a row for each command, and the ratios of the peer to profuse. The last cell of a row is the ratio
// to the time for reading the inputs.
func (r *result) rows() [][]string {
	cell := func(format string, v []float64) string {
		if v == nil {
			return ""
		}
		return fmt.Sprintf(format+" ["+format+" "+format+"]", measure.Median(v), slices.Min(v), slices.Max(v))
	}
	// Times are medians of all rounds, the extremes in brackets: a mean would follow one slow round.
	head := []string{""}
	for _, m := range metrics {
		head = append(head, m.name)
	}
	rows := [][]string{append(head, "× read")}
	for _, c := range r.commands {
		row := []string{c.name}
		for i, m := range metrics {
			row = append(row, cell(m.format, c.values(i)))
		}
		rows = append(rows, append(row, cell("%.1f", r.timesRead(c))))
	}
	// A ratio above 1 means that profuse is faster, or smaller.
	for _, c := range r.measured() {
		if r.ratios(c, 0) == nil {
			continue
		}
		row := []string{"peer / " + c.name}
		for i := range metrics {
			row = append(row, cell("%.1f", r.ratios(c, i)))
		}
		rows = append(rows, append(row, ""))
	}
	return rows
}

// measured returns the commands of profuse that have goals.
func (r *result) measured() (out []*command) {
	for _, c := range r.commands {
		if c.kind == ours || c.kind == replacing {
			out = append(out, c)
		}
	}
	return out
}

// timesRead returns, for each round, the ratio of a command's wall time to the time for reading the inputs once.
func (r *result) timesRead(c *command) []float64 {
	if c.kind == reading {
		return nil
	}
	// The reading command is the last one, see bench.measure.
	read := r.commands[len(r.commands)-1]
	out := make([]float64, len(c.samples))
	for i := range out {
		out[i] = c.samples[i].Wall / read.samples[i].Wall
	}
	return out
}

// ratios returns the ratio of the peer to a command in a metric, for each round, since
// load on the machine changes between rounds. The peer runs with the number of threads
// that is best for it in that metric. Without a peer there are none.
func (r *result) ratios(c *command, metric int) []float64 {
	var best []float64
	for _, c := range r.commands {
		if v := c.values(metric); c.kind == peer && (best == nil || measure.Median(v) < measure.Median(best)) {
			best = v
		}
	}
	// Rounds have the same index in all commands.
	for i, own := range c.values(metric) {
		if best != nil {
			best[i] /= own
		}
	}
	return best
}

func (r *result) print(w io.Writer) {
	fmt.Fprintln(w, r.heading())
	for _, row := range r.rows() {
		fmt.Fprintf(w, "%-20s", row[0])
		for _, cell := range row[1:] {
			fmt.Fprintf(w, " %26s", cell)
		}
		fmt.Fprintln(w)
	}
}

// columns are the columns of the table of all results.
var columns = []struct {
	name, format string
	goal         func(g goal) float64
	least        bool // the goal is the least value, not the greatest
	of           func(r *result, c *command) []float64
}{
	{"wall s", "%.2f", func(g goal) float64 { return g.seconds }, false, func(r *result, c *command) []float64 { return c.values(0) }},
	{"CPU s", "%.2f", func(g goal) float64 { return g.cpuSeconds }, false, func(r *result, c *command) []float64 { return c.values(1) }},
	{"MiB", "%.0f", func(g goal) float64 { return 0 }, false, func(r *result, c *command) []float64 { return c.values(2) }},
	{"× wall", "%.1f", func(g goal) float64 { return g.wall }, true, func(r *result, c *command) []float64 { return r.ratios(c, 0) }},
	{"× CPU", "%.1f", func(g goal) float64 { return g.cpu }, true, func(r *result, c *command) []float64 { return r.ratios(c, 1) }},
	{"× MiB", "%.1f", func(g goal) float64 { return g.memory }, true, func(r *result, c *command) []float64 { return r.ratios(c, 2) }},
	{"× read", "%.1f", func(g goal) float64 { return g.read }, false, func(r *result, c *command) []float64 { return r.timesRead(c) }},
}

// summary returns the row of the table of all results: goals and medians, bold if they reach the goal.
func (r *result) summary() []string {
	row := []string{"(" + r.letter + ") " + r.title}
	for _, column := range columns {
		goal := column.goal(r.goal)
		var cells []string
		for _, c := range r.measured() {
			v := column.of(r, c)
			if v == nil {
				continue
			}
			is := measure.Median(v)
			text := fmt.Sprintf(column.format, is)
			if goal > 0 && (is >= goal) == column.least {
				text = "**" + text + "**"
			}
			cells = append(cells, text)
		}
		text := strings.Join(cells, " / ")
		if goal > 0 {
			sign := "≤"
			if column.least {
				sign = "≥"
			}
			text += " (" + sign + " " + strconv.FormatFloat(goal, 'f', -1, 64) + ")"
		}
		row = append(row, text)
	}
	return row
}

// summaryTable returns the table of all results. A case without a result keeps its row of old.
func summaryTable(machine string, results []*result, old string) string {
	head := []string{""}
	for _, column := range columns {
		head = append(head, column.name)
	}
	rows := [][]string{head}
	for _, c := range cases {
		if i := slices.IndexFunc(results, func(r *result) bool { return r.letter == c.letter }); i >= 0 {
			rows = append(rows, results[i].summary())
			continue
		}
		// A row of another number of columns is of an older version of this program.
		for line := range strings.Lines(old) {
			if cells := strings.Split(line, "|"); len(cells) == len(head)+2 && strings.HasPrefix(line, "| ("+c.letter+")") {
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				rows = append(rows, cells[1:len(head)+1])
			}
		}
	}
	return machine + ".\n\n" + markdownTable(rows)
}

// markdown returns the heading and the table of a case.
func (r *result) markdown() string {
	return "### " + r.heading() + "\n\n" + markdownTable(r.rows())
}

func printMarkdown(w io.Writer, machine string, results []*result) {
	fmt.Fprintln(w, summaryTable(machine, results, ""))
	for _, r := range results {
		fmt.Fprintln(w, r.markdown())
	}
}

// update replaces the results in a page.
func update(page, machine string, results []*result) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text := string(data)
	// Tables stand between comments of HTML; what is around them is written by hand.
	put := func(what string, of func(old string) string) {
		begin, end := "<!-- begin "+what+" -->\n", "<!-- end "+what+" -->\n"
		before, rest, found := strings.Cut(text, begin)
		old, after, ends := strings.Cut(rest, end)
		if !found || !ends {
			err = fmt.Errorf("%s: no %q and %q", page, begin, end)
			return
		}
		text = before + begin + of(old) + end + after
	}
	put("all", func(old string) string { return summaryTable(machine, results, old) })
	for _, r := range results {
		put("("+r.letter+")", func(string) string { return r.markdown() })
	}
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o666)
}

// markdownTable returns rows with aligned columns; the first row is the head.
func markdownTable(rows [][]string) string {
	w := new(strings.Builder)
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), len("--:"))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			// Names to the left, figures to the right.
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				cell += pad
			} else {
				cell = pad + cell
			}
			fmt.Fprint(w, "| ", cell, " ")
		}
		fmt.Fprintln(w, "|")
		if n > 0 {
			continue
		}
		for i, width := range widths {
			fmt.Fprintf(w, "|%s%c", strings.Repeat("-", width+1), "-:"[min(i, 1)])
		}
		fmt.Fprintln(w, "|")
	}
	return w.String()
}
