package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Reference writes the help texts of all commands as one Markdown document, a
// section each, those of nested lists after the command that they stand under.
func (a *App) Reference(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Reference of %s\n\nWhat `%s help COMMAND` prints, for all commands.\n\n", a.Name, a.Name)
	a.eachCommand(func(owner *App, c *Command) {
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", title(owner, c), anchor(owner, c), c.Short)
	})
	a.eachCommand(func(owner *App, c *Command) {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n", title(owner, c))
		owner.helpOf(&b, c)
		b.WriteString("```\n")
	})
	_, err := w.Write(b.Bytes())
	return err
}

func (a *App) eachCommand(do func(owner *App, c *Command)) {
	for _, c := range a.Commands {
		do(a, c)
		a.nested(c).eachCommand(do)
	}
}

func title(owner *App, c *Command) string { return owner.Name + " " + c.Name }

// anchor is what Markdown viewers make of a heading: its words joined by
// dashes.
func anchor(owner *App, c *Command) string {
	return strings.ReplaceAll(title(owner, c), " ", "-")
}
