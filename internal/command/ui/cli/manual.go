package cli

import (
	"fmt"
	"io"
	"strings"
)

// Manual writes the manual page of the app, or of the command that path names, in the macros of man(7). source is the
// program's name and version. The page has no date, so that equal versions have equal pages.
func (a *App) Manual(w io.Writer, path []string, source string) error {
	if len(path) > 0 {
		c := a.find(path[0])
		switch {
		case c == nil:
			return Usagef("unknown command %q", path[0])
		case c.Commands != nil && (len(path) > 1 || c.Setup == nil):
			return a.nested(c).Manual(w, path[1:], source)
		}
		return a.commandManual(w, c, source)
	}
	m := manual{}
	m.head(a.Name, a.Short, source)
	m.section("SYNOPSIS")
	m.text(fmt.Sprintf("    %s COMMAND [OPTION]... [ARGUMENT]...", a.Name))
	if a.Long != "" {
		m.section("DESCRIPTION")
		m.text(a.Long)
	}
	m.commands(a)
	_, err := io.WriteString(w, m.String())
	return err
}

func (a *App) commandManual(w io.Writer, c *Command, source string) error {
	m := manual{}
	m.head(a.Name+" "+c.Name, c.Short, source)
	m.section("SYNOPSIS")
	m.text("    " + strings.TrimSpace(a.Name+" "+c.Name+" "+strings.Join(strings.Fields(c.Args), " ")))
	m.section("DESCRIPTION")
	m.text(c.Long)
	if c.Commands != nil {
		m.commands(a.nested(c))
	}
	if c.Setup != nil {
		f, _ := c.flags(new(Env))
		for _, g := range f.sorted() {
			m.section(strings.ToUpper("options" + g.heading(f)))
			for _, row := range g.rows() {
				m.entry(row[0], row[1])
			}
		}
	}
	_, err := io.WriteString(w, m.String())
	return err
}

type manual struct{ strings.Builder }

func (m *manual) head(name, short, source string) {
	page := strings.ReplaceAll(name, " ", "-")
	fmt.Fprintf(m, ".TH %s 1 \"\" \"%s\" \"User Commands\"\n.SH NAME\n%s \\- %s\n",
		strings.ToUpper(roff(page)), roff(source), roff(page), roff(short))
}

func (m *manual) section(title string) { fmt.Fprintf(m, ".SH %s\n", roff(title)) }

func (m *manual) entry(word, about string) {
	fmt.Fprintf(m, ".TP\n.B %s\n%s\n", roff(word), roff(about))
}

// commands lists the commands of an app, each with its own page.
func (m *manual) commands(a *App) {
	m.section("COMMANDS")
	for _, c := range a.Commands {
		m.entry(c.Name, c.Short)
	}
	m.section("SEE ALSO")
	var pages []string
	for _, c := range a.Commands {
		pages = append(pages, strings.ReplaceAll(a.Name+"-"+c.Name, " ", "-")+"(1)")
	}
	m.text(strings.Join(pages, ", "))
}

// text writes paragraphs. Indented lines stay as they are.
func (m *manual) text(text string) {
	verbatim := false
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		line = strings.TrimRight(line, " \n")
		if indented := strings.HasPrefix(line, " "); indented != verbatim && line != "" {
			verbatim = indented
			m.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[verbatim])
		}
		switch {
		case line == "" && verbatim:
			m.WriteByte('\n')
		case line == "":
			m.WriteString(".PP\n")
		default:
			m.WriteString(roff(line) + "\n")
		}
	}
	if verbatim {
		m.WriteString(".fi\n")
	}
}

// roff escapes the characters that have a meaning in roff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ", "…", "...").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
