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

// topCommand is "profuse top". It ranks what any view has: functions, or stacks by one of their
// values.
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

// topRun is one run of "profuse top".
type topRun struct {
	// n is how many to list, 0 for all.
	n int
	// table and value choose stacks and the value that ranks them; function filters the list.
	table, value, function string
	// cutoffs prints the distribution of the counts instead of the list.
	cutoffs, json, mangled bool
	programs               sources.Programs
}

// A topItem is a function or a stack.
type topItem struct {
	// A function has a symbol alone; a stack has frames, the callee first, whose symbol this is.
	symbol profile.Symbol
	frames []profile.Frame
	count  uint64 // by which it is ranked
	calls  uint64
	labels []profile.Label
	// Shares of the total: of the item, and of all items up to it.
	share, cumulative float64
}

// run walks over the items several times, for the distribution of their counts and to rank them,
// rather than hold them all.
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
	// Shares are of the whole total, so --function chooses after the counts are added up.
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

// A topList is a ranked list of functions or stacks.
type topList struct {
	one   string // "function"
	kind  string // "functions" or "stacks of samples"
	value string // by which they are ranked
	unit  profile.Unit
	calls bool // print the number of calls, too
	// all yields all items. The next step overwrites the item with its frames and labels.
	all   iter.Seq[*topItem]
	items []topItem // those to print, by rank
}

// collectTop returns the functions or stacks of a view. Without --table these are functions, but
// stacks where functions have neither calls nor blocks: heap profiles.
func collectTop(v profile.View, table, value string) (*topList, error) {
	features := v.Features()
	sets := v.Stacks()
	if table == "" {
		table = profile.FunctionSet
		// Functions of such profiles have no numbers to rank them by.
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
		for at, vt := range set.Values {
			if value == "" || vt.Name == value {
				return topStacks(set, at), nil
			}
		}
		return nil, fmt.Errorf("stacks %s have no value %q; they have %s", table, value, valueNames(set))
	}
	return nil, fmt.Errorf("%s has no stacks %q; it has %s", v.Identity().File, table, setNames(sets))
}

// topFunctions returns the functions by their total counts or, in formats without counts of blocks,
// by their calls.
func topFunctions(v profile.View) *topList {
	features := v.Features()
	list := &topList{one: "function", kind: "functions", value: "count", unit: profile.Count}
	s := profile.Summarize(v, nil)
	if s.OfCalls {
		list.value = "calls"
	}
	// Where calls are coverage they are 0 or 1, which no column is worth.
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

// topStacks returns the stacks of a set, ranked by the value with index at. The innermost function
// stands for a stack where there is room for one name.
func topStacks(set profile.StackSet, at int) *topList {
	list := &topList{one: "stack of " + set.Name, kind: "stacks of " + set.Name, value: set.Values[at].Name, unit: set.Values[at].Unit}
	list.all = func(yield func(*topItem) bool) {
		var it topItem
		for s := range set.ReusedStacks {
			it = topItem{frames: s.Frames, count: s.Values[at], labels: s.Labels}
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

// rank finds the n items with the greatest counts, 0 for all, of those that have a function whose
// name is wanted, and their shares of the total of d. Between two walks over all it holds their
// counts alone. Equal counts stay in the order of the profile.
func (l *topList) rank(d profile.Distribution, n int, wanted func(name string) bool) {
	type ranked struct {
		count uint64
		index int32 // in the order of the walk
	}
	// First walk: counts and places alone, 16 bytes for each item, however large the items are.
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
	// Second walk: the items to list are copied, since the next one overwrites the memory of the
	// last.
	places := make(map[int32]topItem) // by rank
	index := 0
	for it := range l.all {
		at := rank[index]
		if index++; wanted == nil && n > 0 && int(at) >= n || wanted != nil && !it.has(wanted) {
			continue
		}
		own := *it
		own.frames, own.labels = slices.Clone(it.frames), slices.Clone(it.labels)
		own.share, own.cumulative = float64(it.count)/whole, sums[at]
		places[at] = own
	}
	for _, at := range firstOf(slices.Sorted(maps.Keys(places)), n) {
		l.items = append(l.items, places[at])
	}
}

// has reports whether a function of the item has a wanted name. Any frame of a stack may have it.
func (it *topItem) has(wanted func(name string) bool) bool {
	return wanted(it.symbol.String()) || slices.ContainsFunc(it.frames, func(f profile.Frame) bool { return wanted(f.Symbol.String()) })
}

// unitSuffix is what follows a total: the unit, unless it is a mere count.
func (l *topList) unitSuffix() string {
	if l.unit == profile.Count {
		return ""
	}
	return " " + string(l.unit)
}

// print prints the ranked items as a table, labels in braces behind the name.
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

// printDistribution prints how many items, the greatest first, make up each share of the total.
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
	Kind  string `json:"kind"`
	Value string `json:"value"`
	Unit  string `json:"unit"`
	// Number and Total are of all functions or stacks, not only of those in Items.
	Number  uint64           `json:"number"` // of all
	Total   uint64           `json:"total"`
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

// writeJSON writes the list with the distribution, whether or not --cutoffs is given.
func (l *topList) writeJSON(w *bufio.Writer, v profile.View, d profile.Distribution) {
	id := v.Identity()
	out := topJSON{
		Head: schema.For("top"), File: id.File, FileFormat: schema.FileFormatOf(id.Family, id.Format, id.Version), Kind: l.kind, Value: l.value, Unit: string(l.unit), Number: d.Values, Total: d.Total,
		Items: []topItemJSON{}, Cutoffs: []console.Cutoff{},
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
	for _, c := range d.Cutoffs {
		out.Cutoffs = append(out.Cutoffs, console.Cutoff{Cutoff: c.Share, MinCount: c.Min, Counters: c.Values})
	}
	console.WriteJSON(w, out, "")
}

// valueNames joins the names of a set's values.
func valueNames(set profile.StackSet) string {
	var names []string
	for _, v := range set.Values {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// setNames joins the names of stack sets.
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
