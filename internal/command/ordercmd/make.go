package ordercmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/order"
)

// Criteria.
const (
	byTraces = "traces"
	byCalls  = "first-calls"
	byHeat   = "heat"
	byEdges  = "edges"
	byLink   = "link-order"
)

// criteria are the values of --by with their descriptions, in the order in which they are tried without
// --by.
var criteria = [][2]string{
	{byTraces, "functions that many runs first call at about the same time stand together (balanced partitioning, as in llvm-profdata order)"},
	{byCalls, "by the mean rank of first calls"},
	{byEdges, "callees stand after their most frequent callers, the densest groups first (call-chain clustering, C3)"},
	{byLink, "as the linker ordered them in the program that ran (MIP)"},
	{byHeat, "the hottest first"},
}

func makeCommand() *cli.Command {
	return &cli.Command{
		Name:  "make",
		Args:  "[OPTION]... FILE",
		Short: "write an order of functions for a linker",
		Long: `Orders the functions of a profile of any format for a linker:

` + cli.Rows(criteria) + `
The list has only functions that ran. The default is the first criterion that the
profile has data for; a MIP profile without counts is ordered by link order. The
list is for a linker:
` + linkersHelp,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &makeRun{}
			for _, row := range criteria {
				c.by.Allowed = append(c.by.Allowed, row[0])
			}
			c.programs.Declare(f)
			c.list.declare(f, &c.programs.Arch)
			f.Var(&c.by, "by", "`WHAT` criterion, see above")
			f.StringVar(&c.function, "function", "", "`REGEX` list only functions whose mangled or demangled name matches REGEX")
			return c.run
		},
	}
}

type makeRun struct {
	list     listWriter
	programs sources.Programs
	by       cli.Choice // "" for the first criterion for which the profile has data
	function string     // a regular expression
}

// run orders the functions and then filters them, because a function that --function leaves out affects the
// order of others.
func (c *makeRun) run(_ context.Context, env *cli.Env, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("want one profile, got %d", len(args))
	}
	if err := c.list.check(); err != nil {
		return err
	}
	choose, err := console.FunctionPattern("function", c.function)
	if err != nil {
		return err
	}
	v, err := sources.OpenView(env, args[0], &c.programs)
	if err != nil {
		return err
	}
	by, names := c.orderFunctions(v)
	if choose != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return !console.MatchesFunction(choose, name) })
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: has nothing to order by %s", v.Identity().File, by)
	}
	if !c.list.quiet {
		fmt.Fprintf(env.Stderr, "ordered by %s\n", by)
	}
	return c.list.write(env, args[0], names)
}

// orderFunctions returns the names of the functions that ran, in order, and the criterion: --by, or the first
// criterion for which the profile has data.
func (c *makeRun) orderFunctions(v profile.View) (by string, names []string) {
	if c.by.Value != "" {
		return c.by.Value, orderOf(v, c.by.Value)
	}
	for _, by = range c.by.Allowed {
		// Link order is a default only for coverage, which has nothing better.
		if by == byTraces && !hasRuns(v) || by == byLink && !v.Features().CallsAreCoverage {
			continue
		}
		if names = orderOf(v, by); len(names) > 0 {
			break
		}
	}
	return by, names
}

// hasRuns reports whether there are traces of single runs. Means of runs cannot be balanced.
func hasRuns(v profile.View) bool {
	for t := range v.Traces() {
		if !t.Mean {
			return true
		}
	}
	return false
}

// orderOf returns the names of the functions that ran, ordered by a criterion; nil if the profile has no data for it.
func orderOf(v profile.View, by string) []string {
	switch by {
	case byTraces:
		return order.Balanced(v, linkerName)
	case byCalls:
		return rankedOrder(v, func(f *profile.Function) float64 { return f.FirstCall })
	case byEdges:
		return order.Clustered(v, linkerName)
	case byLink:
		if !v.Features().Sizes {
			return nil // unknown addresses
		}
		return rankedOrder(v, func(*profile.Function) float64 { return 1 }) // views yield functions in link order
	}
	return rankedOrder(v, func(f *profile.Function) float64 { return -float64(f.Max()) })
}

func linkerName(s *profile.Symbol) string { return s.Name }

// rankedOrder orders functions by rank, the lowest first, without functions of rank 0. Functions of equal rank stay
// in the order of the profile.
func rankedOrder(v profile.View, rank func(*profile.Function) float64) (names []string) {
	type ranked struct {
		name string
		rank float64
	}
	var list []ranked
	for f := range profile.ReusedFunctions(v) {
		if r := rank(f); r != 0 && f.Covered && f.Name != "" {
			list = append(list, ranked{f.Name, r})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	for _, f := range list {
		names = append(names, f.name)
	}
	return names
}
