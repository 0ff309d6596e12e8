package export

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// edgeEvent is the event that counts the calls of edges. It is an event of its own, because the profile has no
// costs of calls: their number must not be added to what functions cost themselves.
const edgeEvent = "edge_calls"

// callgrind writes version 1 of the format in Valgrind's manual ("Callgrind Format Specification"). It sums stacks
// to the costs of each function's own lines and the inclusive costs of each call from a line to a function. The
// functions of a profile without stacks have their own costs, and the calls of the edges.
//
// The format requires a number of calls. It is the value of the first event with the unit
// count: how often the call was on a stack.
func (e *exporter) callgrind() error {
	set, values, err := e.set()
	if err != nil {
		return err
	}
	// Readers choose among the events themselves.
	if e.opt.Value != "" {
		return fmt.Errorf("callgrind files have all values: none is chosen")
	}
	g := callgrindWriter{e: e, values: values, files: make(map[string]int), known: make(map[int]bool)}
	g.calls = max(0, slices.IndexFunc(g.values, func(i int) bool { return set.Values[i].Unit == profile.Count }))
	g.edges = set.Name == profile.FunctionSet && e.features.Edges
	g.totals = make([]uint64, len(g.values)+1)
	g.header(set)
	if set.Name == profile.FunctionSet {
		g.functions(set)
		g.writeEdges()
	} else {
		g.stacks(set)
	}
	g.print("\ntotals:")
	// The last total belongs to edgeEvent.
	if !g.edges {
		g.totals = g.totals[:len(g.values)]
	}
	for _, t := range g.totals {
		fmt.Fprintf(g.e, " %d", t)
	}
	g.print("\n")
	e.loseLines()
	e.loseCounted(g.labels, "stacks with labels", "the format has none")
	e.loseSignatures()
	return nil
}

// A callgrindWriter writes one file. It keeps which names were written: a name appears once
// and is a number afterwards, as the format allows.
type callgrindWriter struct {
	e      *exporter
	values []int // indexes in the set's values
	calls  int   // index in values of the value that is written as the number of calls
	edges  bool  // edgeEvent is among the events
	files  map[string]int
	known  map[int]bool // symbols whose names were written
	totals []uint64     // own costs of all functions, by event
	labels uint64
	line   []byte
}

// header writes the part before the costs: the identity of the profile, and the events.
func (g *callgrindWriter) header(set profile.StackSet) {
	id := g.e.v.Identity()
	g.print("# callgrind format\nversion: 1\ncreator: profuse\n")
	if id.File != "" {
		g.print("cmd: ", oneLine(id.File), "\n")
	}
	g.print("desc: Profile: ", oneLine(id.String()), "\n")
	g.print("desc: Costs: ", oneLine(set.Description), "\npositions: line\n")
	for _, i := range g.values {
		g.print("event: ", set.Values[i].Name, " : ", set.Values[i].Name, " (", string(set.Values[i].Unit), ")\n")
	}
	if g.edges {
		g.print("event: ", edgeEvent, " : calls counted at their places\n")
	}
	g.print("events:")
	for _, i := range g.values {
		g.print(" ", set.Values[i].Name)
	}
	if g.edges {
		g.print(" ", edgeEvent)
	}
	g.print("\n")
}

func (g *callgrindWriter) print(parts ...string) {
	for _, p := range parts {
		g.e.WriteString(p) // the writer keeps the error
	}
}

var lineBreaks = strings.NewReplacer("\n", " ", "\r", " ")

// oneLine returns text that cannot end a line of the file.
func oneLine(s string) string { return lineBreaks.Replace(s) }

// position writes the file and function of the following costs, or of a callee with the
// prefix "c". A name is written once, and then as a number.
func (g *callgrindWriter) position(prefix string, s *profile.Symbol) {
	file := s.File
	if file == "" {
		file = "???" // callgrind's word for an unknown file
	}
	n, ok := g.files[file]
	if !ok {
		n = len(g.files) + 1
		g.files[file] = n
		file = " " + oneLine(file)
	} else {
		file = ""
	}
	number, _ := g.e.symbols.number(s)
	name := ""
	if !g.known[number] {
		g.known[number] = true
		name = " " + g.e.clean(g.e.symbols.name(s), "\n\r")
	}
	fmt.Fprintf(g.e, "%sfl=(%d)%s\n%sfn=(%d)%s\n", prefix, n, file, prefix, number+1, name)
}

func (g *callgrindWriter) costs(line int32, costs []uint64, edge uint64) {
	g.line = strconv.AppendInt(g.line[:0], int64(line), 10)
	for _, c := range costs {
		g.line = strconv.AppendUint(append(g.line, ' '), c, 10)
	}
	if g.edges {
		g.line = strconv.AppendUint(append(g.line, ' '), edge, 10)
	}
	g.e.Write(append(g.line, '\n')) // the writer keeps the error
}

func (g *callgrindWriter) total(costs []uint64) {
	for i, c := range costs {
		g.totals[i] = saturate.Add(g.totals[i], c)
	}
}

func (g *callgrindWriter) functions(set profile.StackSet) {
	costs := make([]uint64, len(g.values))
	for s := range set.ReusedStacks {
		for i, at := range g.values {
			costs[i] = s.Values[at]
		}
		if len(s.Labels) > 0 {
			g.labels++
		}
		g.print("\n")
		g.position("", &s.Frames[0].Symbol)
		g.total(costs)
		g.costs(g.e.line(&s.Frames[0]), costs, 0)
	}
}

// writeEdges writes the edges that are calls. Their only cost is the number of calls.
func (g *callgrindWriter) writeEdges() {
	none := make([]uint64, len(g.values))
	var others uint64
	for e := range profile.ReusedEdges(g.e.v) {
		if e.Kind != profile.Call && e.Kind != profile.IndirectCall || !known(&e.Target) {
			others++
			continue
		}
		g.print("\n")
		g.position("", &e.Caller)
		g.position("c", &e.Target)
		fmt.Fprintf(g.e, "calls=%d %d\n", e.Count, e.Target.StartLine)
		g.costs(e.Line, none, e.Count)
		g.totals[len(g.values)] = saturate.Add(g.totals[len(g.values)], e.Count)
	}
	g.e.loseCounted(others, "edges", "they are no calls of a known function")
	if g.edges {
		g.e.lose(0, "costs of calls", "the profile has none: calls cost only their number, as "+edgeEvent)
	}
}

// A callKey is a line of a function and the callee there; -1 for the costs of the line itself.
type callKey struct {
	caller int
	line   int32
	callee int
}

// A callSum is the sum of the costs of a callKey.
type callSum struct {
	callKey
	calleeLine int32
	costs      []uint64
	last       uint64 // number of the last stack that was added
}

// stacks sums the stacks and writes the result. Memory is proportional to the number of distinct lines and calls.
func (g *callgrindWriter) stacks(set profile.StackSet) {
	sums := make(map[callKey]*callSum)
	var order []*callSum
	stack := uint64(0)
	add := func(k callKey, calleeLine int32, s *profile.Stack) {
		sum := sums[k]
		if sum == nil {
			sum = &callSum{callKey: k, calleeLine: calleeLine, costs: make([]uint64, len(g.values))}
			sums[k] = sum
			order = append(order, sum)
		}
		if sum.last == stack {
			return // recursion: this stack has been counted
		}
		sum.last = stack
		for i, at := range g.values {
			sum.costs[i] = saturate.Add(sum.costs[i], s.Values[at])
		}
	}
	for s := range set.ReusedStacks {
		stack++
		if len(s.Labels) > 0 {
			g.labels++
		}
		callee := -1
		var calleeLine int32
		for i := range s.Frames {
			f := &s.Frames[i]
			n, _ := g.e.symbols.number(&f.Symbol)
			add(callKey{caller: n, line: g.e.line(f), callee: callee}, calleeLine, s)
			callee, calleeLine = n, f.StartLine
		}
	}
	// By function in order of appearance, own costs first.
	slices.SortStableFunc(order, func(a, b *callSum) int {
		return cmp.Or(a.caller-b.caller, min(a.callee, 0)-min(b.callee, 0), int(a.line)-int(b.line))
	})
	last := -1
	for _, s := range order {
		if s.caller != last {
			last = s.caller
			g.print("\n")
			g.position("", &g.e.symbols.table.Keys[s.caller])
		}
		if s.callee >= 0 {
			g.position("c", &g.e.symbols.table.Keys[s.callee])
			fmt.Fprintf(g.e, "calls=%d %d\n", s.costs[g.calls], s.calleeLine)
		} else {
			g.total(s.costs)
		}
		g.costs(s.line, s.costs, 0)
	}
}
