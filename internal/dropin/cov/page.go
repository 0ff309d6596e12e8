package cov

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// A page prints views as text or, with --format=html, as markup.
type page struct {
	*tool
	open      io.Writer // of the one page on standard output; may be nil
	lineStats bool      // a column with the counts of lines
	markers   bool      // the counts of regions below their lines
	created   string    // when the profile was written; may be empty
}

// printing says how to print a view.
type printing struct {
	whole bool // all lines of the file, also without code
	name  bool // the name of the file or function before the lines
	title bool // --project-title and the time of the profile first
	depth int  // of views in views
}

// Widths of the columns before the source.
const (
	countWidth  = 7
	numberWidth = 5
)

// margin returns the width of the columns before the source.
func (p *page) margin() int {
	if p.lineStats {
		return numberWidth + 1 + countWidth + 1
	}
	return numberWidth + 1
}

// print prints a view. Every line of a view inside a view has a prefix for each level.
func (p *page) print(w io.Writer, v *view, how printing) {
	if p.opt.format == htmlFormat {
		p.markup(w, v, how)
		return
	}
	if how.title {
		for _, s := range []string{p.opt.projectTitle, "Coverage Report", p.created} {
			if s != "" {
				io.WriteString(w, p.paint(w, withcolor.Cyan, s+"\n"))
			}
		}
	}
	if how.name {
		io.WriteString(w, p.paint(w, withcolor.Cyan, cleanName(v.name)+":\n"))
	}
	b := body{page: p, w: w, depth: how.depth, prefix: strings.Repeat("  |", how.depth), rest: *v}
	for text, l := range v.lines(how.whole) {
		b.line(text, l)
	}
}

// cleanName returns a name as a path without "." and "..".
func cleanName(name string) string {
	if name == "" {
		return name
	}
	return filepath.Clean(name)
}

// A body prints the lines of a view, in order.
type body struct {
	*page
	w      io.Writer
	depth  int
	prefix string // of every line, one part for each view around
	rest   view   // what has not been printed
}

// printf prints to the page; errors come at its end, see buffered.
func (b *body) printf(format string, args ...any) { fmt.Fprintf(b.w, format, args...) }

// line prints a line and everything shown below it, in llvm-cov's order: number, count, source,
// region markers, then expansions, instantiations, branches and MC/DC. Numbers of more than
// five digits are cut (SourceCoverageViewText::renderLineNumberColumn).
func (b *body) line(source string, l *covmap.Line) {
	io.WriteString(b.w, b.prefix)
	number := strconv.FormatUint(uint64(l.Number), 10)
	b.printf("%*s|", numberWidth, number[:min(len(number), numberWidth)])
	if b.lineStats {
		b.count(l)
	}
	column := uint32(0) // of the first expansion
	if b.colors && b.rest.expandsAt(l.Number) {
		column = b.rest.expansions[0].region.Start.Column
	}
	b.source(source, l, column)
	if b.markers && hasMarkers(l) {
		b.regionMarkers(l)
	}
	b.below(source, l)
}

// expandsAt reports whether the next expansion is on a line.
func (v *view) expandsAt(line uint32) bool {
	return len(v.expansions) > 0 && v.expansions[0].region.Start.Line == line
}

// count prints the column with the count of a line, in colour if several regions other than
// gaps begin on the line (LineCoverageStats::hasMultipleRegions).
func (b *body) count(l *covmap.Line) {
	if !l.Mapped {
		b.printf("%*s|", countWidth, "")
		return
	}
	n := b.formatCount(l.Count)
	entries := 0
	for _, s := range l.Segments {
		if s.HasCount && s.Entry && !s.Gap {
			entries++
		}
	}
	b.printf("%*s", countWidth-len(n), "")
	if entries > 1 {
		n = b.paint(b.w, withcolor.Magenta, n)
	}
	io.WriteString(b.w, n+"|")
}

func (p *page) formatCount(n uint64) string {
	if p.opt.binaryCounters {
		return strconv.FormatUint(min(n, 1), 10)
	}
	return shortCount(n)
}

// shortCount (formatCount of SourceCoverageView) formats a count with three digits and a letter
// for the magnitude. It truncates: 1999 is "1.99k".
func shortCount(n uint64) string {
	s := strconv.FormatUint(n, 10)
	if len(s) <= 3 {
		return s
	}
	whole := (len(s)-1)%3 + 1
	short := s[:3]
	if whole < 3 {
		short = s[:whole] + "." + s[whole:3]
	}
	return short + string(" kMGTPEZY"[(len(s)-1)/3])
}

// source (SourceCoverageViewText::renderLine) prints the text of a line. With colours, code
// that did not run is red, and the macro that begins at column is cyan. Columns of segments
// count bytes from 1; columns beyond the end of the line are cut.
func (b *body) source(text string, l *covmap.Line, column uint32) {
	var highlight withcolor.Color
	if s := l.Before; s != nil && !s.Gap && uncovered(s) {
		highlight = withcolor.OnRed
	}
	size := uint32(len(text)) + 1
	at := uint32(1)
	type span struct{ from, to uint32 }
	var marked []span
	write := func(to uint32) {
		part := text[min(at, size)-1 : min(max(to, at), size)-1]
		if highlight != "" {
			part = b.paint(b.w, highlight, part)
		}
		io.WriteString(b.w, part)
	}
	for _, s := range l.Segments {
		end := max(min(s.Column, size), 1)
		write(end)
		if highlight != "" {
			marked = append(marked, span{at, end})
		}
		at = end
		switch {
		// A gap keeps the colour of the region before it.
		case (!s.Gap || highlight == withcolor.OnRed) && uncovered(&s):
			highlight = withcolor.OnRed
		case at == column:
			highlight = withcolor.OnCyan
		default:
			highlight = ""
		}
	}
	write(size)
	io.WriteString(b.w, "\n")
	if !b.opt.dump {
		return
	}
	for _, m := range marked {
		fmt.Fprintf(b.Stderr, "Highlighted line %d, %d -> %d\n", l.Number, m.from, m.to)
	}
	if highlight != "" {
		fmt.Fprintf(b.Stderr, "Highlighted line %d, %d -> ?\n", l.Number, at)
	}
}

// hasMarkers reports whether a region that begins and ends on the line has another count than the line.
func hasMarkers(l *covmap.Line) bool {
	for i := range max(len(l.Segments), 1) - 1 {
		if s := &l.Segments[i]; s.Entry && s.Count != l.Count && s.HasCount {
			return true
		}
	}
	return false
}

func uncovered(s *covmap.Segment) bool { return s.HasCount && s.Count == 0 }

// regionMarkers (SourceCoverageViewText::renderRegionMarkers) prints the counts of the regions
// on a line below their first columns. Regions with the count of the line have no marker.
func (b *body) regionMarkers(l *covmap.Line) {
	b.printf("%s%*s", b.prefix, b.margin(), "")
	segments := l.Segments
	if len(segments) > 1 {
		segments = segments[:len(segments)-1]
	}
	at := uint32(1)
	for i := range segments {
		s := &segments[i]
		if !s.Entry || s.Count == l.Count {
			continue
		}
		if s.Column > at {
			b.printf("%*s", s.Column-at, "")
		}
		n := shortCount(s.Count)
		at = s.Column + 1 + uint32(len(n))
		b.printf("^%s", n)
		if b.opt.dump {
			fmt.Fprintf(b.Stderr, "Marker at %d:%d = %s\n", s.Line, s.Column, b.formatCount(s.Count))
		}
	}
	io.WriteString(b.w, "\n")
}

// below prints what is shown after a line. Each list is sorted by line, so its items for this line are in front.
// For the second and later expansions the line is repeated with the next macro marked.
func (b *body) below(source string, l *covmap.Line) {
	shown := false
	for b.rest.expandsAt(l.Number) {
		x := b.rest.expansions[0]
		b.rest.expansions = b.rest.expansions[1:]
		b.divider()
		if shown {
			indent := b.margin()
			if b.depth > 0 {
				indent++
			}
			b.printf("%s%*s", b.prefix, indent, "")
			b.source(source, l, x.region.Start.Column)
			b.divider()
		}
		if b.opt.dump {
			fmt.Fprintf(b.Stderr, "Expansion at line %d, %d -> %d\n", l.Number, x.region.Start.Column, x.region.End.Column)
		}
		b.print(b.w, x.view, printing{depth: b.depth + 2})
		shown = true
	}
	for ; len(b.rest.instances) > 0 && b.rest.instances[0].line == l.Number; b.rest.instances = b.rest.instances[1:] {
		b.divider()
		b.instance(&b.rest.instances[0])
		shown = true
	}
	for ; len(b.rest.branches) > 0 && b.rest.branches[0].line == l.Number; b.rest.branches = b.rest.branches[1:] {
		b.divider()
		if b.opt.dump {
			fmt.Fprintf(b.Stderr, "Branch at line %d\n", l.Number)
		}
		for _, br := range b.rest.branches[0].items {
			b.branch(br)
		}
		shown = true
	}
	for ; len(b.rest.mcdc) > 0 && b.rest.mcdc[0].line == l.Number; b.rest.mcdc = b.rest.mcdc[1:] {
		b.divider()
		for _, m := range b.rest.mcdc[0].items {
			b.decision(m)
		}
		shown = true
	}
	if shown {
		b.divider()
	}
}

// divider (renderViewDivider) prints the line of dashes around views inside the view.
func (b *body) divider() {
	b.printf("%s  %s\n", b.prefix, strings.Repeat("-", b.margin()+4))
}

// instance (renderInstantiationView) prints an instantiation of a function, or one line if the instantiation never ran.
func (b *body) instance(in *instance) {
	b.printf("%s  | ", b.prefix)
	if in.view == nil {
		io.WriteString(b.w, b.paint(b.w, withcolor.Red, "Unexecuted instantiation: "+in.name+"\n"))
		return
	}
	b.print(b.w, in.view, printing{name: true, depth: b.depth + 1})
}

// branch (renderBranchView) prints how often each outcome of a branch happened.
func (b *body) branch(br *covmap.CountedBranch) {
	b.printf("%s  |  Branch (%d:%d): [", b.prefix, br.Start.Line, br.Start.Column)
	b.printf("%s]\n", strings.Join(b.outcomes(br), ", "))
}

// outcomes returns texts for the two outcomes of a branch: how often each happened, or "Folded"
// if the compiler folded it to a constant. If both are folded there is one text.
func (p *page) outcomes(br *covmap.CountedBranch) []string {
	if br.ConstantTrue && br.ConstantFalse {
		return []string{"Folded - Ignored"}
	}
	total := float64(br.True) + float64(br.False)
	outcome := func(label string, n uint64, constant bool) string {
		switch {
		case constant:
			return "Folded"
		case p.opt.showBranches == branchCounts:
			return label + ": " + p.formatCount(n)
		case total == 0:
			return label + ": 0.00%"
		}
		return fmt.Sprintf("%s: %.2f%%", label, 100*float64(n)/total)
	}
	return []string{outcome("True", br.True, br.ConstantTrue), outcome("False", br.False, br.ConstantFalse)}
}

// decision (renderMCDCView) prints the MC/DC of a boolean expression.
func (b *body) decision(m *covmap.MCDC) {
	share := b.describe(m, func(format string, args ...any) {
		b.printf("%s  |", b.prefix)
		b.printf(format+"\n", args...)
	})
	s := fmt.Sprintf("%.2f%%", share)
	if share < 100 {
		s = b.paint(b.w, withcolor.OnRed, s)
	}
	b.printf("%[1]s  |  MC/DC Coverage for Decision: %[2]s\n%[1]s  |\n", b.prefix, s)
}

// describe passes the description of a decision, as MCDCRecord prints it, to say line by line.
// It returns the percentage of covered conditions. say adds the prefix of each line.
func (t *tool) describe(m *covmap.MCDC, say func(format string, args ...any)) (share float64) {
	say("---> MC/DC Decision Region (%d:%d) to (%d:%d)", m.Start.Line, m.Start.Column, m.End.Line, m.End.Column)
	say("")
	say("  Number of Conditions: %d", len(m.Conditions))
	for i, c := range m.Conditions {
		say("     Condition C%d --> (%d:%d)", i+1, c.Start.Line, c.Start.Column)
	}
	say("")
	if t.IsRelease(23) {
		say("  MC/DC Test Vectors:")
		say("")
		say("  Executed:")
	} else {
		say("  Executed MC/DC Test Vectors:")
	}
	say("")
	describeVectors(m, slices.Values(m.Vectors), say)
	if t.opt.notExecuted {
		say("")
		say("  Not executed:")
		say("")
		describeVectors(m, m.NotExecuted(), say)
	}
	say("")
	// Conditions that were folded to a constant are not counted.
	counted, covered := 0, 0
	for i, c := range m.Conditions {
		switch {
		case c.ConstantTrue || c.ConstantFalse:
			say("  C%d-Pair: constant folded", i+1)
			continue
		case c.Covered:
			say("  C%d-Pair: covered: (%d,%d)", i+1, c.Pair[0]+1, c.Pair[1]+1)
			covered++
		default:
			say("  C%d-Pair: not covered", i+1)
		}
		counted++
	}
	if counted > 0 {
		share = float64(covered) / float64(counted) * 100
	}
	return share
}

// describeVectors describes test vectors, in a table if there are any.
func describeVectors(m *covmap.MCDC, vectors iter.Seq[covmap.TestVector], say func(format string, args ...any)) {
	number := 0
	for vector := range vectors {
		if number++; number == 1 {
			names := make([]string, len(m.Conditions))
			for i := range names {
				names[i] = "C" + strconv.Itoa(i+1)
			}
			say("     %s    Result", strings.Join(names, ", "))
		}
		values := make([]string, len(vector.Conditions))
		for k, c := range vector.Conditions {
			values[k] = [...]string{covmap.NotEvaluated: "-", covmap.False: "F", covmap.True: "T"}[c]
			if m.Conditions[k].ConstantTrue || m.Conditions[k].ConstantFalse {
				values[k] = "C"
			}
		}
		result := "F"
		if vector.Result {
			result = "T"
		}
		say("  %d { %s  = %s      }", number, strings.Join(values, ",  "), result)
	}
	if number == 0 {
		say("     None.")
	}
}
