package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

// A comparisonPrinter prints a comparison for people, or as Markdown for a code review, with collapsed lists.
type comparisonPrinter struct {
	console.Printer
	markdown bool
	top      int // length of each list; 0 is no limit
}

func itemName(p *console.Printer, c *compare.Change) string {
	if c.Frames != nil {
		return p.StackName(c.Frames)
	}
	return p.SymbolName(&c.Symbol)
}

// print prints a line about each profile, the facts of the comparison and all lists that are not empty.
func (p *comparisonPrinter) print(r *compare.Result) {
	sides, facts := sideRows(r, "Base", p.fileName), comparisonFacts(r)
	if p.markdown {
		p.facts("### Profile comparison", append(sides, facts...))
	} else {
		p.List(sides)
		fmt.Fprintln(p.W)
		p.List(facts)
	}
	for _, l := range changeLists(r) {
		p.changes(l)
	}
}

func (p *comparisonPrinter) fileName(name string) string {
	if p.markdown {
		return quoted(name)
	}
	return console.Printable(name)
}

// facts prints labels and values, in Markdown under a heading.
func (p *comparisonPrinter) facts(heading string, rows [][2]string) {
	if !p.markdown {
		p.List(rows)
		return
	}
	fmt.Fprintf(p.W, "%s\n\n| | |\n|---|---|\n", heading)
	for _, f := range rows {
		p.row(f[:]...)
	}
}

// sideRows returns a row about each profile; name shows the name of a file.
func sideRows(r *compare.Result, base string, name func(string) string) [][2]string {
	row := func(label string, s *compare.Side) [2]string {
		return [2]string{label, fmt.Sprintf("%s: %s, total %s", name(s.Identity.File), s.Identity.String(), total(r, s))}
	}
	rows := [][2]string{row(base, &r.Base), row("New", &r.New)}
	if a, b := r.Base.Identity, r.New.Identity; a.Family == b.Family && a.Kind != b.Kind {
		rows = append(rows, [2]string{"Counts", fmt.Sprintf("of different instrumentation: %s and %s count different blocks, so totals are not comparable, and shares only roughly", a.Kind, b.Kind)})
	}
	return rows
}

func quoted(name string) string { return "`" + name + "`" }

func pair(a, b int) string { return cli.Count(a) + " → " + cli.Count(b) }

func comparisonFacts(r *compare.Result) [][2]string {
	rows := [][2]string{
		{itemsTitle(r), fmt.Sprintf("%s (%s new, %s gone)", pair(r.Base.Items, r.New.Items),
			cli.Count(len(r.Appeared)), cli.Count(len(r.Disappeared)))},
		{"That ran", pair(r.Base.Ran, r.New.Ran)},
		{"Hot", fmt.Sprintf("%s (%s no longer hot, %s)", pair(r.Base.Hot, r.New.Hot),
			cli.Count(len(r.LeftHot)), console.Percent(r.HotTurnover))},
		{"In common", console.Percent(r.Overlap) + " of the weight"},
	}
	// The correlation of two items is always 1 or -1.
	if r.Ranked > 2 {
		rows = append(rows, [2]string{"Ranks", fmt.Sprintf("%.2f correlation over %s in both", r.RankCorrelation, cli.Count(r.Ranked))})
	}
	if r.Base.Total > 0 && sameUnits(r) {
		rows = append(rows, [2]string{"Total", fmt.Sprintf("%.2f times the base's", r.New.Total/r.Base.Total)})
	}
	if n := len(r.HashChanged); n > 0 {
		rows = append(rows, [2]string{"Control flow", cli.Quantity(n, "function", "functions") + " changed"})
	}
	return rows
}

// sameUnits reports whether the totals are comparable. Families count different things, such as executions or samples,
// and so do the kinds of some families.
func sameUnits(r *compare.Result) bool {
	a, b := r.Base.Identity, r.New.Identity
	return a.Family == b.Family && a.Kind == b.Kind
}

// changes prints a list: shares of the total before and after, their difference, and what the item is now, which the
// title of some lists says.
func (p *comparisonPrinter) changes(l changeList) {
	if len(l.changes) == 0 {
		return
	}
	listed := firstOf(l.changes, p.top)
	rows := make([][]string, len(listed))
	for i := range listed {
		c := &listed[i]
		rows[i] = []string{console.Percent(c.BaseShare), console.Percent(c.NewShare), points(c.Delta), string(c.After), itemName(&p.Printer, c)}
	}
	n, more := cli.Count(len(l.changes)), len(l.changes)-len(listed)
	if p.markdown {
		for _, row := range rows {
			row[4] = quoted(row[4])
		}
		p.details(l.title+": "+n, rows, more)
		return
	}
	header := []string{"Base", "New", "Points", "Now", l.title}
	if more > 0 {
		header[4] += fmt.Sprintf(" (%s of %s)", cli.Count(len(listed)), n)
	}
	if !l.after {
		for i, row := range rows {
			rows[i] = slices.Delete(row, 3, 4)
		}
		header = slices.Delete(header, 3, 4)
	}
	p.Table(header, rows)
}

// details prints a collapsed list in Markdown. more is the number of items that it lacks.
func (p *comparisonPrinter) details(summary string, rows [][]string, more int) {
	fmt.Fprintf(p.W, "\n<details><summary>%s</summary>\n\n| base | new | points | now | |\n|--:|--:|--:|---|---|\n", summary)
	for _, row := range rows {
		p.row(row...)
	}
	if more > 0 {
		fmt.Fprintf(p.W, "\nand %s more\n", cli.Count(more))
	}
	fmt.Fprintf(p.W, "\n</details>\n")
}

// table prints numbers, and names in the last column.
func (p *comparisonPrinter) table(header []string, rows [][]string) {
	if !p.markdown {
		p.Table(header, rows)
		return
	}
	fmt.Fprintln(p.W)
	p.row(header...)
	fmt.Fprintln(p.W, "|"+strings.Repeat("--:|", len(header)-1)+"---|")
	for _, row := range rows {
		p.row(row...)
	}
}

// row prints a row of a table in Markdown. It escapes bars, which would end a cell.
func (p *comparisonPrinter) row(cells ...string) {
	for _, c := range cells {
		fmt.Fprintf(p.W, "| %s ", strings.ReplaceAll(c, "|", "\\|"))
	}
	fmt.Fprintln(p.W, "|")
}

// comparisonJSON is what "profuse compare --json" prints (docs/schema/compare.schema.json). The
// names are part of the interface.
type comparisonJSON struct {
	Kind  string `json:"kind"`  // "functions" or the name of the stacks
	Value string `json:"value"` // of the stacks; "" for functions
	Unit  string `json:"unit"`

	Base sideJSON `json:"base"`
	New  sideJSON `json:"new"`

	Overlap     float64 `json:"overlap"`          // weight that both give to the same items, from 0 to 1
	HotTurnover float64 `json:"hot_turnover"`     // share of the base's hot items that are no longer hot
	Ranks       float64 `json:"rank_correlation"` // -1 to 1
	Ranked      int     `json:"ranked"`           // number of items in the correlation

	Changes  []changeListJSON `json:"changes"`            // all of changeLists, also empty lists
	Contexts *comparisonJSON  `json:"contexts,omitempty"` // of calling contexts; the callee has line 0
}

type sideJSON struct {
	File string `json:"file"`
	schema.FileFormat
	Kind   string  `json:"kind,omitempty"` // what was counted: profiles of two kinds have no comparable totals
	Items  int     `json:"items"`          // functions or stacks
	Ran    int     `json:"ran"`
	Hot    int     `json:"hot"`
	Total  float64 `json:"total"`   // in the unit of the comparison; may exceed 64 bits
	HotMin uint64  `json:"hot_min"` // least count of a hot item
}

type changeListJSON struct {
	Change string       `json:"change"` // "became_hot" …
	Count  int          `json:"count"`  // of the whole list
	Items  []changeJSON `json:"items"`  // the first items
}

// changeJSON is a function or a stack that changed. Base and New are counts in the units of the profiles.
type changeJSON struct {
	Name        string   `json:"name"`
	Signature   string   `json:"signature,omitempty"`
	File        string   `json:"file,omitempty"`
	Stack       []string `json:"stack,omitempty"` // the callee first
	Lines       []int32  `json:"lines,omitempty"` // of each function of the stack: lines, or offsets from its beginning
	Base        uint64   `json:"base"`
	New         uint64   `json:"new"`
	BaseShare   float64  `json:"base_share"` // 0 to 1
	NewShare    float64  `json:"new_share"`
	Before      string   `json:"before"` // "absent", "never_ran", "cold", "warm" or "hot"
	After       string   `json:"after"`
	HashChanged bool     `json:"hash_changed"`
}

// newComparisonJSON converts a comparison, with at most top items in each list; 0 means all.
func newComparisonJSON(r *compare.Result, top int) comparisonJSON {
	out := comparisonJSON{
		Kind: r.Kind, Value: r.ValueName, Unit: string(r.Unit), Base: newSideJSON(&r.Base), New: newSideJSON(&r.New),
		Overlap: r.Overlap, HotTurnover: r.HotTurnover, Ranks: r.RankCorrelation, Ranked: r.Ranked,
	}
	for _, l := range changeLists(r) {
		out.Changes = append(out.Changes, newChangeListJSON(l, top))
	}
	return out
}

func newSideJSON(s *compare.Side) sideJSON {
	id := &s.Identity
	return sideJSON{id.File, schema.FileFormatOf(id.Family, id.Format, id.Version), id.Kind, s.Items, s.Ran, s.Hot, s.Total, s.HotMin}
}

// newChangeListJSON converts the first top items of a list; 0 means all.
func newChangeListJSON(l changeList, top int) changeListJSON {
	list := changeListJSON{Change: l.key, Count: len(l.changes), Items: []changeJSON{}}
	for _, c := range firstOf(l.changes, top) {
		list.Items = append(list.Items, changeJSON{
			Name: c.Symbol.String(), Signature: c.Symbol.Signature, File: c.Symbol.File, Stack: frameNames(c.Frames), Lines: frameLines(c.Frames),
			Base: c.Base, New: c.New, BaseShare: c.BaseShare, NewShare: c.NewShare,
			Before: word(c.Before), After: word(c.After), HashChanged: c.HashChanged,
		})
	}
	return list
}

func word(t compare.Temperature) string { return strings.ReplaceAll(string(t), " ", "_") }

// frameNames returns the names of the functions in a stack, the callee first; nil for a function.
func frameNames(frames []profile.Frame) (names []string) {
	for i := range frames {
		names = append(names, frames[i].Symbol.String())
	}
	return names
}

func frameLines(frames []profile.Frame) (lines []int32) {
	for i := range frames {
		lines = append(lines, frames[i].Line)
	}
	return lines
}
