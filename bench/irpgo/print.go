//go:build linux

package main

import (
	"fmt"
	"io"
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

// metrics are the columns of the table.
var metrics = []struct {
	name   string
	format string
	of     func(measure.Sample) float64
}{
	{"wall s", "%.3f", func(s measure.Sample) float64 { return s.Wall }},
	{"CPU s", "%.3f", func(s measure.Sample) float64 { return s.CPU }},
	{"peak MiB", "%.0f", func(s measure.Sample) float64 { return s.Memory }},
}

func values(samples []measure.Sample, of func(measure.Sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = of(s)
	}
	return out
}

// spread returns the median, the least and the greatest value.
func spread(v []float64) (median, low, high float64) {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]
}

// heading describes the case and says how many bytes it reads.
func (r *result) heading() string {
	return fmt.Sprintf("(%s) %s, %.0f MB", r.letter, r.title, float64(r.size)/1e6)
}

// rows returns the table: a row for each command, and the ratios of the peer to
// profuse. The first cell of a row is its name.
func (r *result) rows() [][]string {
	line := func(name string, cell func(metric int) (format string, v []float64)) []string {
		out := []string{name}
		for i := range metrics {
			format, v := cell(i)
			median, low, high := spread(v)
			out = append(out, fmt.Sprintf(format+" ["+format+" "+format+"]", median, low, high))
		}
		return out
	}
	head := []string{""}
	for _, m := range metrics {
		head = append(head, m.name)
	}
	rows := [][]string{head}
	for _, c := range r.commands {
		rows = append(rows, line(c.name, func(i int) (string, []float64) {
			return metrics[i].format, values(c.samples, metrics[i].of)
		}))
	}
	if r.ratios(0) == nil {
		return rows
	}
	return append(rows, line("peer / profuse", func(i int) (string, []float64) { return "%.1f", r.ratios(i) }))
}

// own returns the measurements of profuse in a metric.
func (r *result) own(metric int) []float64 {
	for _, c := range r.commands {
		if c.kind == ours {
			return values(c.samples, metrics[metric].of)
		}
	}
	return nil
}

// ratios returns the ratio of the peer to profuse in a metric, for each round,
// since load on the machine changes between rounds. The peer runs with the
// number of threads that is best for it in that metric. Without a peer there are none.
func (r *result) ratios(metric int) []float64 {
	var best []float64
	for _, c := range r.commands {
		if v := values(c.samples, metrics[metric].of); c.kind == peer && (best == nil || less(v, best)) {
			best = v
		}
	}
	own := r.own(metric)
	if best == nil {
		return nil
	}
	ratios := make([]float64, len(own))
	for i := range own {
		ratios[i] = best[i] / own[i]
	}
	return ratios
}

func less(a, b []float64) bool {
	x, _, _ := spread(a)
	y, _, _ := spread(b)
	return x < y
}

// print prints the result for a terminal.
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

const markdownHead = `# Performance

What profuse costs, beside ` + "`llvm-profdata`" + ` 22, ` + "`llvm-cov`" + ` 22 and others where they do
the same. Up to the section "Growth" this page is the output of
` + "`go run ./bench/irpgo -markdown`" + `: every round runs each program once, and the bytes of the
results are compared.
` + "`read (cat)`" + ` is the time to read the inputs alone, below which nothing goes.

`

// printMarkdown prints all results as docs/performance.md has them: first the
// ratios beside the goals, then the figures.
func printMarkdown(w io.Writer, machine string, results []*result) {
	fmt.Fprintf(w, "%s%s.\n\n", markdownHead, machine)
	beside := [][]string{{"", "wall", "goal", "CPU", "goal", "memory", "goal"}}
	limits := [][]string{{"", "wall s", "limit", "CPU s", "limit", "peak MiB", "limit"}}
	for _, r := range results {
		title := "(" + r.letter + ") " + r.title
		if r.ratios(0) != nil {
			beside = append(beside, summary(title, r.goal, r.ratios, []string{"%.1f", "%.1f", "%.1f"}, func(is, goal float64) bool { return is >= goal }))
		}
		if r.limit != (goal{}) {
			limits = append(limits, summary(title, r.limit, r.own, []string{"%.2f", "%.2f", "%.0f"}, func(is, limit float64) bool { return is <= limit }))
		}
	}
	if len(beside) > 1 {
		fmt.Fprintf(w, "How many times less than its peer profuse takes, and the goals:\n\n")
		markdownTable(w, beside)
	}
	if len(limits) > 1 {
		fmt.Fprintf(w, "\nWhat profuse takes where there is no peer, or beside it, and the limits:\n\n")
		markdownTable(w, limits)
	}
	for _, r := range results {
		fmt.Fprintf(w, "\n## %s\n\n", r.heading())
		markdownTable(w, r.rows())
	}
}

// summary is a row with the medians of a result beside what they are to be; those that are
// so are bold.
func summary(title string, want goal, of func(metric int) []float64, formats []string, reached func(is, want float64) bool) []string {
	row := []string{title}
	for i, limit := range want.list() {
		median := measure.Median(of(i))
		is, to := fmt.Sprintf(formats[i], median), "–"
		if limit > 0 {
			if to = strconv.FormatFloat(limit, 'f', -1, 64); reached(median, limit) {
				is = "**" + is + "**"
			}
		}
		row = append(row, is, to)
	}
	return row
}

// markdownTable prints rows with aligned columns; the first row is the head.
func markdownTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), len("--:"))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
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
			rule := strings.Repeat("-", width+1)
			if i == 0 {
				fmt.Fprint(w, "|", rule, "-")
			} else {
				fmt.Fprint(w, "|", rule, ":")
			}
		}
		fmt.Fprintln(w, "|")
	}
}
