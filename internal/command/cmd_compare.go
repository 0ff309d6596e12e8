package command

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

// compareCommand is "profuse compare". Package compare compares views; the command prints the result.
// docs/schema/compare.schema.json describes the JSON.
func compareCommand() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Args:  "[OPTION]... BASE NEW",
		Short: "show how two profiles differ",
		Long: `Lists the functions that became hot, are no longer hot, appeared, disappeared or
have another CFG hash, and those whose share of the total changed most, from
the profile BASE to the profile NEW. The profiles may be of any formats, even of
different ones: all numbers except the totals are shares of a profile's total.

The hot functions make up 99 % of the total, as in compilers; functions beyond
99.9999 % are cold. Ranks are those of the functions' greatest counts: unlike shares,
they do not depend on how a format counts.

For context-sensitive profiles it also prints a call tree of the calling contexts
that appeared, disappeared or moved.

The exit code is 0 if the profiles could be compared, whatever the result, 1 if
not, and 2 if the command line is wrong. "profuse check --against" fails if they
differ too much.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &compareRun{}
			f.BoolVar(&c.json, "json", false, "print JSON")
			f.BoolVar(&c.markdown, "markdown", false, "print Markdown, for a code review")
			f.IntVar(&c.top, "top", 10, "`N` list N of each kind; 0 lists all")
			f.StringVar(&c.table, "table", "", "`NAME` compare these stacks (samples, allocations …) instead of functions")
			f.StringVar(&c.value, "value", "", "`NAME` compare stacks by this value")
			f.BoolVar(&c.tree, "tree", false, "also print the stacks of --table, or the most important ones, as a call tree")
			f.StringVar(&c.hot, "hot", "99", "`PERCENT` share of the total that hot functions make up")
			c.programs.Declare(f)
			f.BoolVar(&c.mangled, "mangled", false, "print mangled names")
			return c.run
		},
	}
}

type compareRun struct {
	json, markdown, mangled bool
	tree                    bool   // also compare calling contexts
	top                     int    // length of each list; 0 for all items
	table, value            string // stacks to compare, and their value
	hot                     string // share of the total, in percent
	programs                sources.Programs
}

// run prints the comparison. It succeeds whatever the difference.
func (c *compareRun) run(_ context.Context, env *cli.Env, args []string) error {
	opt, err := c.check(args)
	if err != nil {
		return err
	}
	views, err := sources.OpenViews(env, args, &c.programs, nil)
	if err != nil {
		return err
	}
	r, err := compare.Views(views[0], views[1], opt)
	if err != nil {
		return err
	}
	contexts, err := c.compareContexts(views, opt)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(env.Stdout)
	if c.json {
		json := newComparisonJSON(r, c.top)
		if contexts != nil {
			inner := newComparisonJSON(contexts, c.top)
			json.Contexts = &inner
		}
		console.WriteJSON(out, struct {
			schema.Head
			comparisonJSON
		}{schema.For("compare"), json}, "")
		return out.Flush()
	}
	p := comparisonPrinter{Printer: console.Printer{W: out, Term: env.Terminal(env.Stdout), Mangled: c.mangled}, markdown: c.markdown, top: c.top}
	p.print(r)
	if contexts != nil {
		p.tree(contexts)
	}
	return out.Flush()
}

// compareContexts compares the calling contexts if --tree is given, or if both profiles are
// context-sensitive and --table is not given. Otherwise it returns nil.
func (c *compareRun) compareContexts(views []profile.View, opt compare.Options) (*compare.Result, error) {
	sensitive := func(v profile.View) bool {
		return len(v.Stacks()) > 0 && slices.Contains(v.Identity().Variant, "context-sensitive")
	}
	if !c.tree && (c.table != "" || !sensitive(views[0]) || !sensitive(views[1])) {
		return nil, nil
	}
	// Functions have no tree: compare the most important stacks.
	if sets := views[0].Stacks(); opt.Table == "" || opt.Table == profile.FunctionSet {
		if len(sets) == 0 {
			return nil, cli.Usagef("option --tree needs profiles with stacks; %s has none", views[0].Identity().File)
		}
		opt.Table = sets[0].Name
	}
	// Stacks that differ only in the line of the innermost function are one context.
	opt.Contexts = true
	return compare.Views(views[0], views[1], opt)
}

// check checks the command line and converts the options. compare.Options has the hot share in millionths.
func (c *compareRun) check(args []string) (opt compare.Options, err error) {
	switch {
	case len(args) != 2:
		return opt, cli.Usagef("want two profiles, got %d", len(args))
	case c.json && c.markdown:
		return opt, cli.Usagef("options --json and --markdown exclude each other")
	case c.top < 0:
		return opt, cli.Usagef("option --top takes a number from 0 up")
	}
	hot, err := strconv.ParseFloat(strings.TrimSuffix(c.hot, "%"), 64)
	if err != nil || !(hot > 0 && hot <= 100) {
		return opt, cli.Usagef("option --hot takes a percentage above 0 up to 100, not %q", c.hot)
	}
	return compare.Options{Table: c.table, Value: c.value, Hot: uint64(hot * 10_000)}, nil
}

type changeList struct {
	title   string // "became hot"
	key     string // in JSON
	changes []compare.Change
	after   bool // print what the items are now, which the title does not say
}

func changeLists(r *compare.Result) []changeList {
	return []changeList{
		{"became hot", "became_hot", r.BecameHot, false},
		{"no longer hot", "left_hot", r.LeftHot, true},
		{"ran for the first time", "started", r.Started, true},
		{"no longer runs", "stopped", r.Stopped, false},
		{"new", "appeared", r.Appeared, true},
		{"gone", "disappeared", r.Disappeared, false},
		{"control flow changed", "hash_changed", r.HashChanged, true},
		{"moved most", "movers", r.Movers, true},
	}
}

// firstOf returns the first n items of a list, or all if n is 0.
func firstOf[E any](list []E, n int) []E {
	if n == 0 {
		return list
	}
	return list[:min(n, len(list))]
}

// itemsTitle names what is compared: "Functions" or "Stacks of samples".
func itemsTitle(r *compare.Result) string {
	if r.Kind == profile.FunctionSet {
		return "Functions"
	}
	return "Stacks of " + r.Kind
}

// total prints a sum, at most 2^63, with its unit.
func total(r *compare.Result, s *compare.Side) string {
	text := cli.Count(uint64(min(s.Total, 1<<63)))
	if r.Unit != "" && r.Unit != profile.Count {
		text += " " + string(r.Unit)
	}
	return text
}

// points prints a difference of shares in percentage points. A difference that would round to 0 is "<0.01".
func points(d float64) string {
	if d == 0 {
		return "0.00"
	}
	text := fmt.Sprintf("%+.2f", 100*d)
	if text == "+0.00" || text == "-0.00" {
		return map[bool]string{true: "+<0.01", false: "-<0.01"}[d > 0]
	}
	return text
}
