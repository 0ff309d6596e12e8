package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// manualCommand is "profuse manual", for the commands of the app.
func manualCommand(a *cli.App) *cli.Command {
	return &cli.Command{
		Name:  "manual",
		Args:  "[-o DIR] [COMMAND]...",
		Short: "write the manual pages, for man",
		Long: `Prints the manual page of profuse, or of a command, as man reads it:

    profuse manual merge | man -l -

With -o it writes the pages of profuse and of all commands into a folder.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &manualRun{app: a}
			f.StringVar(&c.dir, "o", "", "`DIR` write all pages into DIR, which is created if needed")
			return c.run
		},
	}
}

type manualRun struct {
	app *cli.App
	dir string
}

// run prints one page, or with -o writes all of them as files of section 1.
func (c *manualRun) run(_ context.Context, env *cli.Env, args []string) error {
	source := c.app.Name + " " + moduleVersion()
	switch {
	case c.dir == "":
		return c.app.Manual(env.Stdout, args, source)
	case len(args) > 0:
		return cli.Usagef("-o writes the pages of all commands: want no command")
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return err
	}
	return c.writeAll(env, nil, c.app.Commands, source)
}

// writeAll writes the page of the command with this path and of the commands below it, as PROGRAM-COMMAND-….1.
func (c *manualRun) writeAll(env *cli.Env, path []string, commands []*cli.Command, source string) error {
	file := filepath.Join(c.dir, strings.Join(append([]string{c.app.Name}, path...), "-")+".1")
	err := console.Write(env, file, nil, false, func(w io.Writer) error { return c.app.Manual(w, path, source) })
	for _, below := range commands {
		if err == nil {
			err = c.writeAll(env, append(slices.Clip(path), below.Name), below.Commands, source)
		}
	}
	return err
}
