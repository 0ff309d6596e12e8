package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// schemaCommand is "profuse schema". The schemas are the files of docs/schema.
func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Args:  "[-o DIR] [NAME]",
		Short: "print the JSON schemas of all JSON output",
		Long: `Prints the names of all JSON schemas, or the schema NAME: "profuse schema show"
prints that of "profuse show --json". The members schema and schema_version of a
JSON object name the schema that it follows.

With -o it writes all schemas into a folder, because they refer to each other.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &schemaRun{}
			f.StringVar(&c.dir, "o", "", "`DIR` write all schemas into DIR, which is created if needed")
			return c.run
		},
	}
}

type schemaRun struct {
	dir string
}

func (c *schemaRun) run(_ context.Context, env *cli.Env, args []string) error {
	switch {
	case len(args) > 1 || c.dir != "" && len(args) > 0:
		return cli.Usagef("want at most one NAME, and none with -o")
	case c.dir != "":
		return c.writeAll(env)
	case len(args) == 0:
		for _, name := range schema.Names() {
			fmt.Fprintln(env.Stdout, name)
		}
		return nil
	}
	text, err := schema.Text(args[0])
	if err != nil {
		return &cli.UsageError{Message: err.Error()}
	}
	_, err = env.Stdout.Write(text)
	return err
}

// writeAll writes all schemas under the file names by which they refer to each other, so that validators
// need no network.
func (c *schemaRun) writeAll(env *cli.Env) error {
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return err
	}
	for _, name := range schema.Names() {
		text, err := schema.Text(name)
		if err == nil {
			err = console.Write(env, filepath.Join(c.dir, schema.FileName(name)), nil, false, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
