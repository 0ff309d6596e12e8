package mipcmd

import (
	"context"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/ordering"
)

func mipOrderCommand() *cli.Command {
	return &cli.Command{
		Name:  "order",
		Args:  "[OPTION]... FILE",
		Short: "write an order of functions for a linker",
		Long: `Lists the functions that ran by the mean rank of their first calls, the earliest
first; without timestamps in the order in which they were linked. The list is
for a linker:
` + ordering.About,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipOrder{}
			c.mipSource.declare(f)
			c.programs.DeclareArch(f)
			c.Writer.Declare(f, &c.programs.Arch)
			f.StringVar(&c.regex, "function", "", "`REGEX` only functions whose name, mangled or not, matches REGEX")
			f.Alias("function", "r")
			return c.run
		},
	}
}

// mipOrder is one run of "profuse mip order".
type mipOrder struct {
	mipSource
	ordering.Writer
	regex string
}

func (c *mipOrder) run(_ context.Context, env *cli.Env, args []string) error {
	if err := c.take(args); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	choose, err := console.FunctionPattern("function", c.regex)
	if err != nil {
		return err
	}
	m, err := c.read(env)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range m.profile.Order() {
		if choose == nil || console.MatchesFunction(choose, f.Name) {
			names = append(names, f.Name)
		}
	}
	return c.Writer.Write(env, c.path, names)
}
