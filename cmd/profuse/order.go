package main

import (
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
)

// orderCommand is "profuse order", a list of commands of its own.
func orderCommand() *cli.Command {
	return &cli.Command{
		Name:  "order",
		Args:  "COMMAND [OPTION]... [ARGUMENT]...",
		Short: "make and judge orders of a program's functions",
		Long: `Works with the order in which the functions of a program lie in memory.
"profuse order help" lists the commands, and "profuse order help COMMAND" has the
options of one.

    profuse order make -o app.order app.profdata
    profuse order eval --trace app.mip app app.order`,
		Nested: orderApp,
	}
}

func orderApp() *cli.App {
	return &cli.App{
		Name:  "profuse order",
		Short: "make and judge orders of a program's functions",
		Commands: []*cli.Command{
			orderMakeCommand(),
			orderEvalCommand(),
		},
	}
}
