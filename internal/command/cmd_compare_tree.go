package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

// A callNode is a calling context: a function with its chain of callers.
type callNode struct {
	callKey
	change  *compare.Change // nil if no stack ends here
	callees []*callNode
	byKey   map[callKey]*callNode
}

// A callKey is a function and the position of the call in its caller; 0 without a caller.
type callKey struct {
	callee    profile.Symbol
	line, bci int32
}

// callTree returns the n contexts that changed most, or all if n is 0, as a tree, and their number. The
// callees of a function are in the order of the greatest change below them.
func callTree(r *compare.Result, n int) (root *callNode, listed int) {
	root = new(callNode)
	top := firstOf(r.Movers, n)
	for i := range top {
		root.addContext(&top[i], true)
	}
	// Further contexts may be callers that have a node already.
	for i := range r.Movers[len(top):] {
		root.addContext(&r.Movers[len(top)+i], false)
	}
	return root, len(top)
}

// addContext sets the change of a context. If the context has no node, it makes one or, without grow, does nothing.
func (n *callNode) addContext(c *compare.Change, grow bool) {
	var key callKey
	// Frames begin with the callee, the tree with the outermost caller. A frame has the line of its
	// call, which belongs to the key of the callee.
	for _, f := range slices.Backward(c.Frames) {
		key.callee = f.Symbol
		next := n.byKey[key]
		if next == nil {
			if !grow {
				return
			}
			if n.byKey == nil {
				n.byKey = make(map[callKey]*callNode)
			}
			next = &callNode{callKey: key}
			n.callees, n.byKey[key] = append(n.callees, next), next
		}
		n, key.line, key.bci = next, f.Line, f.BCI
	}
	n.change = c
}

// walk calls visit for every context, callers first. The indentation ends at 40 levels.
func (n *callNode) walk(depth int, visit func(n *callNode, indent string)) {
	for _, c := range n.callees {
		visit(c, strings.Repeat("  ", min(depth, 40)))
		c.walk(depth+1, visit)
	}
}

// name prints a context as it stands below its caller: "14: callee".
func (n *callNode) name(p *console.Printer) string {
	name := p.SymbolName(&profile.Symbol{Name: n.callee.Name, ID: n.callee.ID, Signature: n.callee.Signature})
	switch {
	case n.line != 0:
		return fmt.Sprintf("%d: %s", n.line, name)
	case n.bci != 0:
		return fmt.Sprintf("@%d: %s", n.bci, name)
	}
	return name
}

func (n *callNode) cells() []string {
	c := n.change
	if c == nil {
		return []string{"", "", "", ""}
	}
	now := string(c.After)
	switch compare.Absent {
	case c.Before:
		now = "new"
	case c.After:
		now = "gone"
	}
	return []string{console.Percent(c.BaseShare), console.Percent(c.NewShare), points(c.Delta), now}
}

// tree prints facts about the contexts, then the contexts with callees indented below their callers.
func (p *comparisonPrinter) tree(r *compare.Result) {
	facts := comparisonFacts(r)
	facts[0][0] = "Contexts"
	facts = slices.DeleteFunc(facts, func(row [2]string) bool { return row[0] == "That ran" || row[0] == "Total" })
	fmt.Fprintln(p.W)
	p.facts("#### Contexts", facts)
	root, listed := callTree(r, p.top)
	if listed == 0 {
		return
	}
	var rows [][]string
	root.walk(0, func(n *callNode, indent string) {
		name := n.name(&p.Printer)
		if p.markdown { // which needs hard spaces to indent a cell
			indent, name = strings.ReplaceAll(indent, " ", "&nbsp;"), quoted(name)
		}
		rows = append(rows, append(n.cells(), indent+name))
	})
	heading := fmt.Sprintf("contexts of %s that came, went or moved (%s of %s)", r.Kind, cli.Count(listed), cli.Count(len(r.Movers)))
	if p.markdown {
		p.details(heading, rows, 0)
	} else {
		p.Table([]string{"Base", "New", "Points", "Now", heading}, rows)
	}
}
