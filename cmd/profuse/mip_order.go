package main

import (
	"context"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
)

func mipOrderCommand() *cli.Command {
	return &cli.Command{
		Name:  "order",
		Args:  "[OPTION]... FILE",
		Short: "write an order of functions for a linker",
		Long: `Lists the functions that ran by the mean rank of their first calls, the earliest
first; without timestamps in the order in which they were linked. The list is
for a linker:
` + aboutOrders,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipOrder{}
			c.mipSource.declare(f)
			c.orderWriter.declare(f)
			f.StringVar(&c.regex, "r", "", "`REGEX` only functions whose name, mangled or not, matches REGEX")
			return c.run
		},
	}
}

// mipOrder is one run of "profuse mip order".
type mipOrder struct {
	mipSource
	orderWriter
	regex string
}

func (c *mipOrder) run(_ context.Context, env *cli.Env, args []string) error {
	if err := c.take(args); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	choose, err := functionPattern("r", c.regex)
	if err != nil {
		return err
	}
	m, err := c.read(env)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range m.profile.Order() {
		if choose == nil || matchesFunction(choose, f.Name) {
			names = append(names, f.Name)
		}
	}
	return c.orderWriter.write(env, c.path, names)
}
