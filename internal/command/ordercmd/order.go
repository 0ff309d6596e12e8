// Package ordercmd is "profuse order", which makes and evaluates orders of functions for linkers.
package ordercmd

import (
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// Command is "profuse order". Package profile/order orders functions, evaluates orders and matches names.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "order",
		Short: "make and evaluate orders of a program's functions",
		Long: `An order is a list of functions for the linker, which places them in memory:

    profuse order make -o app.order app.profdata
    profuse order eval --trace app.mip app app.order`,
		Commands: []*cli.Command{makeCommand(), evalCommand()},
	}
}
