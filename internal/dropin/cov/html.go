package cov

import (
	"embed"
	"fmt"
	"html"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/pagestyle"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Pages have the contents and the file names of llvm-cov's pages, and the markup of profuse's reports.

//go:embed assets
var assets embed.FS

// The files beside the index, below --output-dir.
const (
	styleFile  = "style.css"
	scriptFile = "control.js"
)

func asset(files embed.FS, name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// pageStyle returns the style sheet of all pages: the styles of profuse's reports, followed by
// the styles that only these pages need.
func pageStyle() string {
	return asset(pagestyle.Files, "report.css") + asset(pagestyle.Files, "coverage.css") + asset(assets, "assets/pages.css")
}

// pageScript returns the script of the buttons and keys that go to the next uncovered code.
func pageScript() string { return asset(assets, "assets/control.js") }

// writeAssets writes the style and the script that all pages below --output-dir use.
func (t *tool) writeAssets() error {
	for name, text := range map[string]string{styleFile: pageStyle(), scriptFile: pageScript()} {
		if err := t.writeFile(filepath.Join(t.opt.outputDir, name), func(w io.Writer) { io.WriteString(w, text) }); err != nil {
			return err
		}
	}
	return nil
}

func escape(s string) string { return html.EscapeString(strings.ToValidUTF8(s, "�")) }

// link returns the address of a file below --output-dir from the page at path. Both are paths of the file system.
func link(path, to string) string {
	rel, err := filepath.Rel(filepath.Dir(path), to)
	if err != nil {
		rel = to
	}
	return escape((&url.URL{Path: filepath.ToSlash(rel)}).String())
}

// document writes a page around its contents. path is the file of the page; "" stands for standard output, and the
// page then contains the style and the script. --project-title is the first heading, title the second.
func (p *page) document(w io.Writer, path, title string, contents func()) {
	io.WriteString(w, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	fmt.Fprintf(w, "<title>%s</title>\n", escape(title))
	if path == "" {
		fmt.Fprintf(w, "<style>\n%s</style>\n<script>\n%s</script>\n", pageStyle(), pageScript())
	} else {
		dir := p.opt.outputDir
		fmt.Fprintf(w, "<link rel=\"stylesheet\" href=\"%s\">\n<script src=\"%s\"></script>\n",
			link(path, filepath.Join(dir, styleFile)), link(path, filepath.Join(dir, scriptFile)))
	}
	io.WriteString(w, "</head>\n<body>\n")
	if p.opt.projectTitle != "" {
		fmt.Fprintf(w, "<h1>%s</h1>\n", escape(p.opt.projectTitle))
	}
	fmt.Fprintf(w, "<h2>%s</h2>\n", escape(title))
	if p.created != "" {
		fmt.Fprintf(w, "<p class=\"muted\">%s</p>\n", escape(p.created))
	}
	contents()
	io.WriteString(w, "</body>\n</html>\n")
}

// The columns of indexes, in llvm-cov's order. The columns for functions and lines are
// always there, the others by the options of report.
var indexColumns = []struct {
	title string
	shown func(o *options) bool
	ratio func(s *coverage.Summary) coverage.Ratio
}{
	{"Function Coverage", always, functionsOf},
	{"Instantiation Coverage", func(o *options) bool { return o.instantiations }, instantiationsOf},
	{"Line Coverage", always, linesOf},
	{"Region Coverage", func(o *options) bool { return o.regions }, regionsOf},
	{"Branch Coverage", func(o *options) bool { return o.branches }, branchesOf},
	{"MC/DC", func(o *options) bool { return o.mcdc }, mcdcOf},
}

// index writes the index page at path. If empty is set, a second table lists the files without functions.
func (p *page) index(w io.Writer, path string, rows []row, total row, empty bool) {
	title := "Coverage Report"
	if total.name != totalName {
		title += " (" + cleanName(total.name) + ")"
	}
	p.document(w, path, title, func() {
		some, without := splitRows(rows)
		p.indexTable(w, path, some, &total)
		if len(without) > 0 && empty {
			io.WriteString(w, "<h4>Files which contain no functions</h4>\n<p class=\"note\">These files contain no functions instrumented for coverage.</p>\n")
			p.indexTable(w, path, without, nil)
		}
	})
}

// indexTable writes the table of an index. total may be nil.
func (p *page) indexTable(w io.Writer, path string, rows []row, total *row) {
	io.WriteString(w, "<div class=\"wide\"><table class=\"plain index\">\n<thead><tr><th scope=\"col\">Filename</th>")
	for _, c := range indexColumns {
		if c.shown(&p.opt) {
			fmt.Fprintf(w, "<th scope=\"col\">%s</th>", c.title)
		}
	}
	io.WriteString(w, "</tr></thead>\n<tbody>\n")
	write := func(name string, sum *coverage.Summary) {
		fmt.Fprintf(w, "<tr><th scope=\"row\" class=\"name\">%s</th>", name)
		for _, c := range indexColumns {
			if c.shown(&p.opt) {
				p.indexCell(w, c.ratio(sum))
			}
		}
		io.WriteString(w, "</tr>\n")
	}
	for i := range rows {
		r := &rows[i]
		name := escape(displayName(r.name))
		if r.target != "" {
			name = fmt.Sprintf("<a href=\"%s\">%s</a>", link(path, p.outputPath(r.target, false)), name)
		}
		write(name, &r.sum)
	}
	io.WriteString(w, "</tbody>\n")
	if total != nil {
		io.WriteString(w, "<tfoot>\n")
		write("Totals", &total.sum)
		io.WriteString(w, "</tfoot>\n")
	}
	io.WriteString(w, "</table></div>\n")
}

// indexCell writes a share, with the class that --coverage-watermark gives it.
func (p *page) indexCell(w io.Writer, r coverage.Ratio) {
	if r.Total == 0 {
		io.WriteString(w, "<td class=\"muted\">- (0/0)</td>")
		return
	}
	share, class := percent(r), "low"
	switch {
	case share >= p.watermark[0]:
		class = "high"
	case share >= p.watermark[1]:
		class = "medium"
	}
	fmt.Fprintf(w, "<td class=\"%s\" data-share=\"%s\">%.2f%% (%d/%d)<span class=\"meter\"><span class=\"track\"><span class=\"done\" style=\"width: %.2f%%\"></span></span></span></td>",
		class, strconv.FormatFloat(share, 'g', 6, 64), share, r.Covered, r.Total, share)
}
