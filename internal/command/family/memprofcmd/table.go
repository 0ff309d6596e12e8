package memprofcmd

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// Print prints the facts, or nothing for an unreadable file.
func (f *fileFacts) Print(p *family.Printer) {
	if f.Heap == nil {
		return
	}
	p.Title(f.File)
	format := f.What
	if f.Version > 0 {
		format += fmt.Sprintf(", version %d (written by %s)", f.Version, f.WrittenBy)
	}
	rows := [][2]string{{"Format", format + ", " + cli.Quantity(f.Size, "byte", "bytes")}}
	add := func(label, value string) { rows = append(rows, [2]string{label, value}) }
	if f.Dumps > 1 {
		add("Dumps", cli.Count(f.Dumps))
	}
	if len(f.BuildIDs) > 0 && f.BuildIDs[0] != "" {
		add("Build id", f.BuildIDs[0])
	}
	if c := f.Coverage; c != nil {
		for _, u := range c.Programs {
			add("Program", fmt.Sprintf("%s, %s", console.Printable(u.File), cli.Quantity(u.Addresses, "address", "addresses")))
		}
		if c.DroppedContexts > 0 {
			add("Left out", fmt.Sprintf("%s of %s (%s of the bytes), which have no call in a known function", cli.Count(c.DroppedContexts),
				cli.Quantity(f.RecordedContexts, "context", "contexts"), cli.Percent(c.DroppedBytes, c.Bytes)))
		}
		if n := c.OutsideAddresses + c.UnknownAddresses; n > 0 {
			add("Not known", fmt.Sprintf("%s of %s, of them %s in %s not given", cli.Count(n),
				cli.Quantity(c.Addresses, "address", "addresses"), cli.Count(c.OutsideAddresses),
				cli.Quantity(len(c.Missing), "program or library", "programs and libraries")))
		}
		for i := range c.Losses {
			if l := &c.Losses[i]; l.Places.Contexts+l.Callers.Contexts > 0 {
				add("Lost", l.text(c.Bytes))
			}
		}
	}
	rows = append(rows, Rows(f.Heap)...)
	p.List(append(rows, f.Problems.Rows(p.Term, "")...))
	Print(p, f.Heap)
}

// text says where calls are lost, why, and what that does to contexts.
func (l *heapLoss) text(bytes uint64) string {
	where := cmp.Or(console.Printable(l.File), l.BuildID)
	if where != "" {
		where += ", "
	}
	parts := []string{where + strings.ReplaceAll(l.Cause, "_", " ")}
	add := func(s heapShare, what string) {
		if s.Contexts > 0 {
			parts = append(parts, fmt.Sprintf("%s with %s of the bytes %s", cli.Quantity(s.Contexts, "context", "contexts"), cli.Percent(s.Bytes, bytes), what))
		}
	}
	add(l.Places, "allocate there")
	add(l.Callers, "lack a caller")
	return strings.Join(parts, "; ")
}

// hotColdFields is the number of fields that compilers need, and that profiles have by default.
const hotColdFields = 4

// Rows returns labels and values of a heap profile that take one line each.
func Rows(h *Facts) (rows [][2]string) {
	add := func(label, value string) { rows = append(rows, [2]string{label, value}) }
	if h.Version > 0 || h.Functions > 0 {
		fields := cli.Quantity(len(h.Fields), "field", "fields")
		if len(h.Fields) == hotColdFields {
			fields = "what compilers need"
		}
		add("Heap records", fmt.Sprintf("%s, %s, %s of each context", cli.Quantity(h.Functions, "function", "functions"),
			cli.Quantity(h.CallSites, "call site", "call sites"), fields))
	}
	if h.Contexts > 0 {
		add("Allocated", fmt.Sprintf("%s in %s, %s", cli.Quantity(h.Bytes, "byte", "bytes"), cli.Quantity(h.Allocations, "block", "blocks"),
			cli.Quantity(h.Contexts, "context", "contexts")))
	}
	for _, t := range h.Temperatures {
		if t.Contexts == 0 {
			continue
		}
		label := map[string]string{"cold": "Cold", "notcold": "Not cold", "hot": "Hot if asked"}[t.Temperature]
		add(label, fmt.Sprintf("%s, %s in %s (%s)", cli.Quantity(t.Contexts, "context", "contexts"),
			cli.Quantity(t.Bytes, "byte", "bytes"), cli.Quantity(t.Allocations, "block", "blocks"), cli.Percent(t.Bytes, h.Bytes)))
	}
	if len(h.Places) > 0 {
		var parts []string
		total := 0
		for _, word := range []string{"cold", "notcold", "ambiguous"} {
			if n := h.Places[word]; n > 0 {
				parts = append(parts, cli.Count(n)+" "+word)
				total += n
			}
		}
		add("Places", fmt.Sprintf("%s: %s", cli.Quantity(total, "call that allocates", "calls that allocate"), strings.Join(parts, ", ")))
	}
	if d := h.DataAccess; d != nil {
		add("Data accesses", fmt.Sprintf("%s of %s and %s; %s and %s never accessed", cli.Count(d.Accesses),
			cli.Quantity(d.Symbols, "symbol", "symbols"), cli.Quantity(d.Strings, "string", "strings"),
			cli.Quantity(d.ColdSymbols, "symbol", "symbols"), cli.Quantity(d.ColdStrings, "string", "strings")))
	}
	return rows
}

var rankingTitles = map[string]string{
	ByBytes: "Contexts by bytes", byCount: "Contexts by blocks", byLifetime: "Contexts by average life", byDensity: "Contexts by access density",
}

// Print prints the rankings that --by chooses. h may be nil.
func Print(p *family.Printer, h *Facts) {
	if h == nil {
		return
	}
	for i := range h.Rankings {
		if r := &h.Rankings[i]; len(r.Contexts) > 0 && (h.by == r.By || h.by == ByAll) {
			printRanking(p, h, r)
		}
	}
}

// heapNode is a frame in the trees of contexts. The roots are the calls that allocate.
type heapNode struct {
	frame    *heapFrame
	contexts []*heapContext // that have this frame and the frames between it and the root, by rank
	callers  []*heapNode
}

// addToTrees adds a context to nodes, which are roots or the callers of a node, and returns nodes.
// stack is the rest of the context's stack, innermost frame first.
func addToTrees(nodes []*heapNode, c *heapContext, stack []heapFrame) []*heapNode {
	if len(stack) == 0 {
		return nodes
	}
	i := slices.IndexFunc(nodes, func(n *heapNode) bool { return *n.frame == stack[0] })
	if i < 0 {
		i, nodes = len(nodes), append(nodes, &heapNode{frame: &stack[0]})
	}
	nodes[i].contexts = append(nodes[i].contexts, c)
	nodes[i].callers = addToTrees(nodes[i].callers, c, stack[1:])
	return nodes
}

// printRanking prints contexts as trees, with callers below callees.
func printRanking(p *family.Printer, h *Facts, r *heapRanking) {
	var roots []*heapNode
	for i := range r.Contexts {
		roots = addToTrees(roots, &r.Contexts[i], r.Contexts[i].Stack)
	}
	var rows [][]string
	for _, n := range roots {
		rows = heapBranch(p, rows, h, n, true, "")
	}
	p.Table([]string{"Bytes", "Share", "Blocks", "Life", "Density", "Hint", rankingTitles[r.By]}, rows)
}

// heapBranch appends the rows of a node and its callers. Only roots and nodes after a branch have numbers.
func heapBranch(p *family.Printer, rows [][]string, h *Facts, n *heapNode, numbers bool, indent string) [][]string {
	row := make([]string, 6, 7)
	if numbers {
		row = heapNumbers(h, n)
	}
	rows = append(rows, append(row, indent+heapFrameName(p, n.frame)))
	if strings.TrimSpace(indent) == "" {
		indent += "← "
	}
	// If contexts end at this frame, the numbers of the callers are smaller, so this is a branch.
	ends := len(n.contexts)
	for _, c := range n.callers {
		ends -= len(c.contexts)
	}
	branches := len(n.callers) > 1 || ends > 0 && len(n.callers) > 0
	for _, c := range n.callers {
		to := indent
		if branches {
			to = "  " + indent
		}
		rows = heapBranch(p, rows, h, c, branches, to)
	}
	return rows
}

// heapNumbers returns the first six cells of a row: sums over the contexts of a node, and averages
// over the allocations.
func heapNumbers(h *Facts, n *heapNode) []string {
	var bytes, blocks uint64
	var life, density float64
	hint := n.contexts[0].Temperature
	for _, c := range n.contexts {
		bytes = saturate.Add(bytes, c.Bytes)
		blocks += c.Allocations
		life += c.AverageLife * float64(c.Allocations)
		density += c.Density * float64(c.Allocations)
		if c.Temperature != hint {
			hint = "ambiguous"
		}
	}
	whole := math.Max(float64(blocks), 1)
	return []string{
		cli.Count(bytes), cli.Percent(bytes, h.Bytes), cli.Count(blocks), lifeText(life / whole), densityText(density / whole), hint,
	}
}

// lifeText formats milliseconds; from 1000 ms on as seconds.
func lifeText(ms float64) string {
	switch {
	case ms >= 100_000:
		return fmt.Sprintf("%.0f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// densityText formats accesses per byte and second with two digits; from 100 on without a fraction.
func densityText(d float64) string {
	if d >= 100 || d == 0 {
		return cli.Count(uint64(math.Min(d, 1<<62)))
	}
	return fmt.Sprintf("%.2g", d)
}

// heapFrameName returns the text of a frame: function and source line. Without the program, lines
// are relative to the first line of the function.
func heapFrameName(p *family.Printer, f *heapFrame) string {
	name := f.Demangled
	switch {
	case f.Function == "":
		name = f.ID
	case p.Mangled:
		name = f.Function
	}
	line := fmt.Sprintf("line +%d:%d", f.LineOffset, f.Column)
	if f.File != "" {
		line = fmt.Sprintf("%s:%d:%d", path.Base(f.File), f.Line, f.Column)
	}
	text := name + "  " + line
	if f.Inlined {
		text += " (inlined)"
	}
	return console.Printable(text)
}
