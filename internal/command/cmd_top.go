package command

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
)

// topCommand is "profuse top". It ranks the functions of a view, or its stacks by one of their values.
func topCommand() *cli.Command {
	return &cli.Command{
		Name:  "top",
		Args:  "[OPTION]... FILE",
		Short: "list the hottest functions or stacks of a profile",
		Long: `Lists the hottest functions of a profile of any format, or its heaviest stacks,
with their shares of the total and the running sums of the shares.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &topRun{}
			f.IntVar(&c.n, "n", 20, "`N` list N of them; 0 lists all")
			f.StringVar(&c.table, "table", "", "`NAME` list these stacks (samples, allocations …) instead of functions")
			f.StringVar(&c.value, "value", "", "`NAME` rank stacks by this value")
			f.StringVar(&c.function, "function", "", "`REGEX` list only functions, or stacks with a function, whose mangled or demangled name matches REGEX; shares remain shares of the whole total")
			f.BoolVar(&c.cutoffs, "cutoffs", false, "list how many functions or stacks make up each share of the total instead")
			f.BoolVar(&c.json, "json", false, "print JSON")
			f.BoolVar(&c.mangled, "mangled", false, "print mangled names")
			c.programs.Declare(f)
			return c.run
		},
	}
}

type topRun struct {
	n             int    // length of the list; 0 for all
	table, value  string // stacks to list, and the value that ranks them
	function      string // regular expression
	cutoffs       bool   // print the distribution of the counts instead of the list
	json, mangled bool
	programs      sources.Programs
}

type topItem struct {
	symbol     profile.Symbol  // the function, or the callee of the stack
	frames     []profile.Frame // of a stack, the callee first; nil for a function
	count      uint64          // by which the item is ranked
	calls      uint64
	labels     []profile.Label
	share      float64 // of the total
	cumulative float64 // share of all items up to this one
}

// run walks over the items several times, first for the distribution of their counts, then to rank them, so
// that they are never all in memory.
func (c *topRun) run(_ context.Context, env *cli.Env, args []string) error {
	switch {
	case len(args) != 1:
		return cli.Usagef("want one profile, got %d", len(args))
	case c.n < 0:
		return cli.Usagef("option -n takes a number from 0 up")
	}
	choose, err := console.FunctionPattern("function", c.function)
	if err != nil {
		return err
	}
	v, err := sources.OpenView(env, args[0], &c.programs)
	if err != nil {
		return err
	}
	list, err := collectTop(v, c.table, c.value)
	if err != nil {
		return err
	}
	// Shares refer to the total of all items, so --function does not filter here.
	d := profile.Distribute(func(yield func(uint64) bool) {
		for it := range list.all {
			if !yield(it.count) {
				return
			}
		}
	}, profile.DefaultCutoffs())
	var wanted func(name string) bool
	if choose != nil {
		wanted = func(name string) bool { return console.MatchesFunction(choose, name) }
	}
	list.rank(d, c.n, wanted)
	out := bufio.NewWriter(env.Stdout)
	p := console.Printer{W: out, Term: env.Terminal(env.Stdout), Mangled: c.mangled}
	if c.json {
		list.writeJSON(out, v, d)
	} else {
		id := v.Identity()
		fmt.Fprintf(out, "%s: %s\n", p.Term.Paint(cli.Bold, console.Printable(id.File)), id.String())
		fmt.Fprintf(out, "%s, total %s%s\n", cli.Quantity(d.Values, list.one, list.kind), cli.Count(d.Total), list.unitSuffix())
		if c.cutoffs {
			printDistribution(&p, d, list.kind)
		} else {
			list.print(&p)
		}
	}
	return out.Flush()
}

type topList struct {
	one   string // "function"
	kind  string // "functions" or "stacks of samples"
	value string // by which the items are ranked
	unit  profile.Unit
	calls bool // print the number of calls
	// all yields all items. Each step reuses the memory of the item, its frames and labels.
	all   iter.Seq[*topItem]
	items []topItem // to print, by rank
}

// collectTop returns the functions or stacks of a view. Without --table it returns functions, or stacks if
// functions have neither calls nor blocks, as in heap profiles.
func collectTop(v profile.View, table, value string) (*topList, error) {
	features := v.Features()
	sets := v.Stacks()
	if table == "" {
		table = profile.FunctionSet
		if len(sets) > 0 && !features.Calls && !features.Blocks {
			table = sets[0].Name
		}
	}
	if table == profile.FunctionSet {
		return topFunctions(v), nil
	}
	for _, set := range sets {
		if set.Name != table {
			continue
		}
		for i, v := range set.Values {
			if value == "" || v.Name == value {
				return topStacks(set, i), nil
			}
		}
		return nil, fmt.Errorf("stacks %s have no value %q; they have %s", table, value, valueNames(set))
	}
	return nil, fmt.Errorf("%s has no stacks %q; it has %s", v.Identity().File, table, setNames(sets))
}

// topFunctions returns the functions, ranked by their total counts or, without counts of blocks, by calls.
func topFunctions(v profile.View) *topList {
	features := v.Features()
	list := &topList{one: "function", kind: "functions", value: "count", unit: profile.Count}
	s := profile.Summarize(v, nil)
	if s.OfCalls {
		list.value = "calls"
	}
	// Calls that are coverage are 0 or 1, which needs no column.
	list.calls = !s.OfCalls && features.Calls && !features.CallsAreCoverage
	list.all = func(yield func(*topItem) bool) {
		var it topItem
		for f := range profile.ReusedFunctions(v) {
			it = topItem{symbol: f.Symbol, count: f.Total(), calls: f.Calls, labels: f.Labels}
			if s.OfCalls {
				it.count = f.Calls
			}
			if !yield(&it) {
				return
			}
		}
	}
	return list
}

func topStacks(set profile.StackSet, value int) *topList {
	list := &topList{one: "stack of " + set.Name, kind: "stacks of " + set.Name, value: set.Values[value].Name, unit: set.Values[value].Unit}
	list.all = func(yield func(*topItem) bool) {
		var it topItem
		for s := range set.ReusedStacks {
			it = topItem{frames: s.Frames, count: s.Values[value], labels: s.Labels}
			if len(it.frames) > 0 {
				it.symbol = it.frames[0].Symbol
			}
			if !yield(&it) {
				return
			}
		}
	}
	return list
}

// rank sets l.items to the n items with the greatest counts, or all if n is 0, that have a function with a
// wanted name, and sets their shares of the total of d. Between its two walks it holds 16 bytes for each
// item. Items with equal counts stay in the order of the profile.
func (l *topList) rank(d profile.Distribution, n int, wanted func(name string) bool) {
	type ranked struct {
		count uint64
		index int32 // in the order of the walk
	}
	order := make([]ranked, 0, d.Values)
	for it := range l.all {
		order = append(order, ranked{it.count, int32(len(order))})
	}
	slices.SortFunc(order, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.index, b.index)) })
	whole, sum := math.Max(float64(d.Total), 1), 0.0
	rank, sums := make([]int32, len(order)), make([]float64, len(order))
	for i, r := range order {
		rank[r.index] = int32(i)
		sum += float64(r.count) / whole
		sums[i] = min(sum, 1)
	}
	chosen := make(map[int32]topItem) // by rank
	index := 0
	for it := range l.all {
		r := rank[index]
		index++
		if wanted == nil && n > 0 && int(r) >= n || wanted != nil && !it.hasFunction(wanted) {
			continue
		}
		own := *it
		own.frames, own.labels = slices.Clone(it.frames), slices.Clone(it.labels)
		own.share, own.cumulative = float64(it.count)/whole, sums[r]
		chosen[r] = own
	}
	for _, r := range firstOf(slices.Sorted(maps.Keys(chosen)), n) {
		l.items = append(l.items, chosen[r])
	}
}

func (it *topItem) hasFunction(wanted func(name string) bool) bool {
	return wanted(it.symbol.String()) || slices.ContainsFunc(it.frames, func(f profile.Frame) bool { return wanted(f.Symbol.String()) })
}

func (l *topList) unitSuffix() string {
	if l.unit == profile.Count {
		return ""
	}
	return " " + string(l.unit)
}

// print prints the ranked items as a table, with labels in braces after the name.
func (l *topList) print(p *console.Printer) {
	header := []string{l.value, "share", "running sum"}
	if l.calls {
		header = append(header, "calls")
	}
	if l.kind == profile.FunctionSet {
		header = append(header, "function")
	} else {
		header = append(header, "stack, the callee first")
	}
	var rows [][]string
	for i := range l.items {
		it := &l.items[i]
		row := []string{cli.Count(it.count), console.Percent(it.share), console.Percent(it.cumulative)}
		if l.calls {
			row = append(row, cli.Count(it.calls))
		}
		name := p.SymbolName(&it.symbol)
		if it.frames != nil {
			name = p.StackName(it.frames)
		}
		for _, label := range it.labels {
			name += " {" + console.Printable(label.Value) + "}"
		}
		rows = append(rows, append(row, name))
	}
	p.Table(header, rows)
}

// printDistribution prints how many of the greatest items make up each share of the total.
func printDistribution(p *console.Printer, d profile.Distribution, kind string) {
	var rows [][]string
	for _, c := range d.Cutoffs {
		rows = append(rows, []string{
			fmt.Sprintf("%g %%", float64(c.Share)/10_000), cli.Count(c.Values), cli.Percent(c.Values, d.Values), cli.Count(c.Min), "or more each",
		})
	}
	p.Table([]string{"of the total", kind, "of them", "count", ""}, rows)
}

// topJSON is what "profuse top --json" prints. The names are part of the interface.
// docs/schema/top.schema.json describes it.
type topJSON struct {
	schema.Head
	File string `json:"file"`
	schema.FileFormat
	Kind    string           `json:"kind"`
	Value   string           `json:"value"`
	Unit    string           `json:"unit"`
	Number  uint64           `json:"number"` // of all functions or stacks, listed or not
	Total   uint64           `json:"total"`  // of all functions or stacks
	Items   []topItemJSON    `json:"items"`
	Cutoffs []console.Cutoff `json:"cutoffs"`
}

// topItemJSON is a function or a stack with its shares of the total, from 0 to 1.
type topItemJSON struct {
	Name       string            `json:"name"`
	Signature  string            `json:"signature,omitempty"`
	File       string            `json:"file,omitempty"`
	Stack      []string          `json:"stack,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Count      uint64            `json:"count"`
	Share      float64           `json:"share"`
	Cumulative float64           `json:"cumulative"`
}

// writeJSON writes the list and the distribution.
func (l *topList) writeJSON(w *bufio.Writer, v profile.View, d profile.Distribution) {
	id := v.Identity()
	out := topJSON{
		Head: schema.For("top"), File: id.File, FileFormat: schema.FileFormatOf(id.Family, id.Format, id.Version), Kind: l.kind, Value: l.value, Unit: string(l.unit), Number: d.Values, Total: d.Total,
		Items: []topItemJSON{}, Cutoffs: console.NewCutoffs(d.Cutoffs),
	}
	for i := range l.items {
		it := &l.items[i]
		item := topItemJSON{
			Name: it.symbol.String(), Signature: it.symbol.Signature, File: it.symbol.File, Stack: frameNames(it.frames),
			Count: it.count, Share: it.share, Cumulative: it.cumulative,
		}
		for _, label := range it.labels {
			if item.Labels == nil {
				item.Labels = make(map[string]string)
			}
			item.Labels[label.Key] = label.Value
		}
		out.Items = append(out.Items, item)
	}
	console.WriteJSON(w, out, "")
}

func valueNames(set profile.StackSet) string {
	var names []string
	for _, v := range set.Values {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

func setNames(sets []profile.StackSet) string {
	if len(sets) == 0 {
		return "none"
	}
	var names []string
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
