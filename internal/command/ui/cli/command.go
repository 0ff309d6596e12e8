// Package cli is the front end of profuse's own subcommands: commands, options that may stand between
// the inputs, help texts, exit codes, and the properties of the terminal.
//
// Options have one dash or two, and "--" ends them, as in package flag. The exit code is [ExitOK],
// [ExitFailure] or [ExitUsage]. Requested help goes to standard output, errors go to standard error.
// Nothing is global: the streams come in an [Env].
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// The exit codes of every command. Package interrupt has the exit codes after a signal.
const (
	ExitOK      = 0
	ExitFailure = 1 // the work failed, wholly or for some inputs
	ExitUsage   = 2 // the command line was wrong, nothing was done
)

// Env holds the streams and the environment of the process that runs a command.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string

	Stores *store.Access // opens URLs

	MaxInput ByteSize // option --max-input-size; 0 if not given
	AllFiles bool     // option --all-files

	passedOver map[string]bool // files in folders that are no inputs
}

// PassOver records a file of a folder or pattern that is no input.
func (env *Env) PassOver(name string) {
	if env.passedOver == nil {
		env.passedOver = make(map[string]bool)
	}
	env.passedOver[name] = true
}

func (env *Env) printPassedOver() {
	n := len(env.passedOver)
	if n == 0 {
		return
	}
	first := slices.Min(slices.Collect(maps.Keys(env.passedOver)))
	if strings.ContainsFunc(first, unicode.IsControl) {
		first = strconv.Quote(first)
	}
	if n == 1 {
		fmt.Fprintf(env.Stderr, "note: passed over %s, which is no profile; --all-files takes it\n", first)
		return
	}
	fmt.Fprintf(env.Stderr, "note: passed over %s files that are no profiles, such as %s; --all-files takes them\n", Count(n), first)
}

// Action runs a command with the arguments that are not options. The error decides the exit code: nil means success, a
// [UsageError] a wrong command line, any other error a failure. [App.Run] prints the error unless it is [ErrReported].
type Action func(ctx context.Context, env *Env, args []string) error

// A Command is one subcommand.
type Command struct {
	Name  string
	Args  string // what follows the name in the usage line
	Short string // one line for the list of commands
	Long  string // paragraphs for the command's own help
	// Setup declares the options. The action that it returns runs after they are parsed.
	Setup func(*Flags) Action
	// Profiles is set if the command opens profiles. It then has --max-input-size and --all-files.
	Profiles bool
	// Foreign, if set, takes the unparsed arguments and returns the exit code: for command lines
	// that follow another program's rules.
	Foreign func(ctx context.Context, env *Env, args []string) int
	// Commands are the command's own commands. If Setup is set as well, the first argument runs one
	// of them only if it is its name.
	Commands []*Command
	Moved    map[string]string // see [App]
}

// An App is a program made of subcommands.
type App struct {
	Name     string // as it is started: "profuse", "profuse mip"
	Short    string // one line
	Long     string // shown below the list of commands
	Commands []*Command
	Moved    map[string]string // what replaces commands that are gone, by name; may be nil
}

// ErrReported is returned by an [Action] that failed and has printed the reason.
var ErrReported = errors.New("failed")

// ExitError is a failure with an exit code of its own.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *ExitError) Unwrap() error { return e.Err }

// UsageError is a command line that cannot be carried out.
type UsageError struct {
	Message string
}

func (e *UsageError) Error() string { return e.Message }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// Run runs the subcommand that args, without the program's name, ask for and returns the exit code.
func (a *App) Run(ctx context.Context, env *Env, args []string) int {
	if len(args) == 0 {
		a.help(env.Stderr)
		return ExitUsage
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		a.help(env.Stdout)
		return ExitOK
	case "help":
		return a.runHelp(env, args[1:])
	case "-version", "--version":
		name = "version"
	}
	c := a.find(name)
	if c == nil {
		return a.unknown(env, name)
	}
	switch {
	case c.Commands != nil && (c.Setup == nil || len(args) > 1 && a.nested(c).find(args[1]) != nil):
		return a.nested(c).Run(ctx, env, args[1:])
	case c.Foreign != nil:
		return c.Foreign(ctx, env, args[1:])
	}
	return a.runCommand(ctx, env, c, args[1:])
}

func (a *App) runCommand(ctx context.Context, env *Env, c *Command, args []string) int {
	f, action := c.flags(env)
	rest, err := f.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		a.commandHelp(env.Stdout, c, f)
		return ExitOK
	}
	if err == nil {
		err = action(ctx, env, rest)
		if q := f.Lookup("q"); q == nil || q.Value.String() != "true" {
			defer env.printPassedOver()
		}
	}
	var usage *UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrReported):
		return ExitFailure
	case ctx.Err() != nil:
		fmt.Fprintf(env.Stderr, "%s %s: interrupted\n", a.Name, c.Name)
		return interrupt.Code(ctx)
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "%s %s: %v\n", a.Name, c.Name, usage)
		fmt.Fprintf(env.Stderr, "Run \"%s %s --help\" for its options.\n", a.Name, c.Name)
		return ExitUsage
	}
	fmt.Fprintf(env.Stderr, "%s %s: %s\n", a.Name, c.Name, Message(err))
	if exit := (*ExitError)(nil); errors.As(err, &exit) {
		return exit.Code
	}
	return ExitFailure
}

// flags declares the options of the command. Some of them set fields of env.
func (c *Command) flags(env *Env) (*Flags, Action) {
	f := NewFlags(c.Name)
	action := c.Setup(f)
	if c.Profiles {
		f.Group("")
		f.Var(&env.MaxInput, "max-input-size", "`SIZE` read pipes and compressed files of up to SIZE bytes, such as 512M or 20G "+
			"(default 16G, of text 512M; less for small compressed files and on small machines)")
		f.BoolVar(&env.AllFiles, "all-files", false, "take all files in folders and patterns, not only files that are profiles by name or contents")
	}
	f.addSynonyms()
	return f, action
}

// Message returns the text of an error. A system error begins with the file, like other errors,
// instead of the system call.
func Message(err error) string {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Path + ": " + pe.Err.Error()
	}
	return err.Error()
}

func (a *App) runHelp(env *Env, args []string) int {
	if len(args) == 0 {
		a.help(env.Stdout)
		return ExitOK
	}
	c := a.find(args[0])
	switch {
	case c == nil:
		return a.unknown(env, args[0])
	case c.Commands != nil && len(args) > 1:
		return a.nested(c).runHelp(env, args[1:])
	}
	a.helpOf(env.Stdout, c)
	return ExitOK
}

func (a *App) nested(c *Command) *App {
	return &App{Name: a.Name + " " + c.Name, Short: c.Short, Long: c.Long, Commands: c.Commands, Moved: c.Moved}
}

// helpOf prints the help of a command that is not running.
func (a *App) helpOf(w io.Writer, c *Command) {
	if c.Commands != nil && c.Setup == nil {
		a.nested(c).help(w)
		return
	}
	var f *Flags
	if c.Setup != nil {
		f, _ = c.flags(new(Env))
	}
	a.commandHelp(w, c, f)
}

func (a *App) find(name string) *Command {
	for _, c := range a.Commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (a *App) unknown(env *Env, name string) int {
	if to, ok := a.Moved[name]; ok {
		fmt.Fprintf(env.Stderr, "%s: the command %q is gone; use %s\n", a.Name, name, to)
		return ExitUsage
	}
	fmt.Fprintf(env.Stderr, "%s: unknown command %q\n", a.Name, name)
	known := []string{"help"}
	for _, c := range a.Commands {
		known = append(known, c.Name)
	}
	if near := nearest(name, known); near != "" {
		fmt.Fprintf(env.Stderr, "Did you mean %q? ", near)
	}
	fmt.Fprintf(env.Stderr, "Run \"%s help\" for the list of commands.\n", a.Name)
	return ExitUsage
}

func (a *App) help(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\nUsage: %s COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n", a.Name, a.Short, a.Name)
	rows := make([][2]string, 0, len(a.Commands)+1)
	for _, c := range a.Commands {
		rows = append(rows, [2]string{c.Name, c.Short})
	}
	rows = append(rows, [2]string{"help", "show this text, or the help of a command"})
	writeColumns(w, rows, columnWidth(rows))
	if a.Long != "" {
		fmt.Fprintf(w, "\n%s", fill(a.Long, helpWidth))
	}
}

func (a *App) commandHelp(w io.Writer, c *Command, f *Flags) {
	fmt.Fprintf(w, "Usage: %s\n\n%s", strings.Join(strings.Fields(a.Name+" "+c.Name+" "+c.Args), " "), fill(c.Long, helpWidth))
	if f == nil {
		return
	}
	f.help(w)
}
