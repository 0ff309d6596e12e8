package cov

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// sources writes the page of a source to the file path, or of several sources to standard output if path is "".
func (p *page) sources(w io.Writer, path string, contents func()) {
	p.document(w, path, "Coverage Report", func() {
		io.WriteString(w, "<div class=\"bar\">")
		if path != "" {
			fmt.Fprintf(w, "<a href=\"%s\">All files</a>", link(path, p.outputPath("index", true)))
		}
		io.WriteString(w, "<button type=\"button\" data-next=\"l\" title=\"L\">Next uncovered line</button>"+
			"<button type=\"button\" data-next=\"r\" title=\"R\">Next uncovered region</button>"+
			"<button type=\"button\" data-next=\"b\" title=\"B\">Next uncovered branch</button></div>\n")
		contents()
	})
}

// markup writes a view of a page. It uses llvm-cov's words, and the elements and classes of profuse's style sheet.
func (p *page) markup(w io.Writer, v *view, how printing) {
	class := "source excerpt"
	if how.depth == 0 {
		class = "source whole"
		fmt.Fprintf(w, "<h3 class=\"path\">%s</h3>\n", escape(v.name))
	}
	fmt.Fprintf(w, "<div class=\"%s\" style=\"tab-size: %d\">\n", class, p.opt.tabSize)
	b := markupBody{page: p, w: w, ids: how.whole && how.depth == 0, depth: how.depth, rest: *v}
	for text, l := range v.lines(how.whole) {
		b.line(text, l)
	}
	io.WriteString(w, "</div>\n")
}

// A markupBody writes the lines of a view, in order.
type markupBody struct {
	*page
	w     io.Writer
	ids   bool // lines have ids
	depth int
	rest  view // what has not been written
}

func (b *markupBody) printf(format string, args ...any) { fmt.Fprintf(b.w, format, args...) }

// line writes a line and everything shown below it. The class says whether the line ran, ran in
// part or did not run. Lines without code have no count.
func (b *markupBody) line(source string, l *covmap.Line) {
	class := "line"
	text, missed := b.text(source, l)
	switch {
	case l.Mapped && l.Count == 0:
		class = "line not"
	case l.Mapped && missed:
		class = "line run some"
	case l.Mapped:
		class = "line run"
	}
	if b.ids {
		b.printf("<div class=\"%s\" id=\"L%d\"><a class=\"at\" href=\"#L%d\">%d</a>", class, l.Number, l.Number, l.Number)
	} else {
		b.printf("<div class=\"%s\"><span class=\"at\">%d</span>", class, l.Number)
	}
	if b.lineStats {
		count := ""
		if l.Mapped {
			count = b.formatCount(l.Count)
		}
		b.printf("<span class=\"times\">%s</span>", count)
	}
	b.printf("<span class=\"text\">%s</span></div>\n", text)
	b.below(l)
}

// text returns a line with the code that did not run marked; missed reports whether there is
// such code. Columns of segments count bytes from 1; columns beyond the end of the line, which
// a changed source causes, are cut. A gap region keeps the mark of the region before it.
func (b *markupBody) text(text string, l *covmap.Line) (marked string, missed bool) {
	var out strings.Builder
	red := l.Before != nil && !l.Before.Gap && uncovered(l.Before)
	counts := b.markers && hasMarkers(l)
	// Of several expansions on the line, the name of the first is marked.
	macro := uint32(0)
	if b.rest.expandsAt(l.Number) {
		macro = b.rest.expansions[0].region.Start.Column
	}
	size := uint32(len(text)) + 1
	at := uint32(1)
	class, title := "", ""
	write := func(to uint32) {
		part := escape(text[min(at, size)-1 : min(max(to, at), size)-1])
		classes := class
		if red && strings.TrimSpace(part) != "" {
			classes += " miss"
			missed = true
		}
		if part != "" && (classes != "" || title != "") {
			part = fmt.Sprintf("<span class=\"%s\"%s>%s</span>", strings.TrimSpace(classes), title, part)
		}
		out.WriteString(part)
	}
	for i := range l.Segments {
		s := &l.Segments[i]
		end := max(min(s.Column, size), 1)
		write(end)
		at = end
		// A gap goes on with the mark of the region before it but does not begin one.
		red = (!s.Gap || red) && uncovered(s)
		class, title = "", ""
		if at == macro {
			class = "macro"
		}
		if counts && s.Entry && s.HasCount && s.Count != l.Count {
			class += " counted"
			title = " title=\"" + html.EscapeString(b.formatCount(s.Count)) + "\""
		}
	}
	write(size)
	if out.Len() == 0 {
		return " ", missed
	}
	return out.String(), missed
}

// below writes what is shown after a line, in llvm-cov's order: expansions, instances, branches, decisions.
func (b *markupBody) below(l *covmap.Line) {
	open := false
	begin := func() {
		if !open {
			open = true
			io.WriteString(b.w, "<div class=\"cov-notes-of notes\">\n")
		}
	}
	r := &b.rest
	for ; r.expandsAt(l.Number); r.expansions = r.expansions[1:] {
		begin()
		x := r.expansions[0]
		b.printf("<div class=\"expansion\"><span class=\"muted\">Expansion (%d:%d) of %s</span>\n", x.region.Start.Line, x.region.Start.Column, escape(x.view.file))
		b.markup(b.w, x.view, printing{depth: b.depth + 1})
		io.WriteString(b.w, "</div>\n")
	}
	for ; len(r.instances) > 0 && r.instances[0].line == l.Number; r.instances = r.instances[1:] {
		begin()
		in := &r.instances[0]
		if in.view == nil {
			b.printf("<div class=\"lost\">Unexecuted instantiation: %s</div>\n", escape(in.name))
			continue
		}
		b.printf("<details class=\"instance\"><summary>%s</summary>\n", escape(in.name))
		b.markup(b.w, in.view, printing{depth: b.depth + 1})
		io.WriteString(b.w, "</details>\n")
	}
	for ; len(r.branches) > 0 && r.branches[0].line == l.Number; r.branches = r.branches[1:] {
		begin()
		for _, br := range r.branches[0].items {
			b.branch(br)
		}
	}
	for ; len(r.mcdc) > 0 && r.mcdc[0].line == l.Number; r.mcdc = r.mcdc[1:] {
		begin()
		for _, m := range r.mcdc[0].items {
			b.decision(m)
		}
	}
	if open {
		io.WriteString(b.w, "</div>\n")
	}
}

// branch writes the counts of a branch and marks the outcomes that never happened.
func (b *markupBody) branch(br *covmap.CountedBranch) {
	outcomes := b.outcomes(br)
	lacks := ""
	for i := range outcomes {
		outcomes[i] = escape(outcomes[i])
		if len(outcomes) == 2 && [2]bool{br.True == 0 && !br.ConstantTrue, br.False == 0 && !br.ConstantFalse}[i] {
			outcomes[i] = "<span class=\"lost\">" + outcomes[i] + "</span>"
			lacks = " lacks"
		}
	}
	b.printf("<div class=\"branch%s\">Branch (%d:%d): [%s]</div>\n", lacks, br.Start.Line, br.Start.Column, strings.Join(outcomes, ", "))
}

// decision writes the MC/DC of a boolean expression with the words of the text output, and
// marks the conditions that are not covered.
func (b *markupBody) decision(m *covmap.MCDC) {
	io.WriteString(b.w, "<pre class=\"decision\">")
	share := b.describe(m, func(format string, args ...any) {
		line := escape(fmt.Sprintf(format, args...))
		if strings.HasSuffix(line, "not covered") {
			line = "<span class=\"lost\">" + line + "</span>"
		}
		io.WriteString(b.w, line+"\n")
	})
	class := ""
	if share < 100 {
		class = " class=\"lost\""
	}
	b.printf("  MC/DC Coverage for Decision: <span%s>%.2f%%</span></pre>\n", class, share)
}
