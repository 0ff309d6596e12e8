package clopt

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/internal/memlimit"
)

// Env holds the streams of a run of a tool, and its name.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Prog is the program as it was started (argv[0]), "/usr/bin/llvm-profdata" or "profuse llvm-profdata".
	Prog string
	// MaxInput is the size limit for pipes and compressed files that the environment sets, in bytes; 0 if it sets none.
	MaxInput int64
	// Release is the LLVM release whose words and bytes the tool uses, see [ParseRelease]; 0 is the default.
	Release int
}

// Inputs returns how the program opens its inputs.
func (e Env) Inputs() inputs.Options {
	return inputs.Options{Stdin: e.Stdin, MaxSize: e.MaxInput, MaxSizeOption: memlimit.SizeVariable, Recognize: memlimit.RecognizeText}
}

// Name returns the name of the program, which begins every message.
func (e Env) Name() string { return filepath.Base(e.Prog) }

// PrintHelp prints a text and replaces PROG in it by the program's name.
func (e Env) PrintHelp(text string) {
	io.WriteString(e.Stdout, strings.ReplaceAll(text, "PROG", e.Name()))
}

// Outcome says what to do after parsing a command line.
type Outcome int

const (
	Run      Outcome = iota // run the command
	Failed                  // exit with an error; Parse has printed the reasons
	Answered                // exit; Parse has printed help or the version
)

// Parser holds the commands of a tool.
type Parser struct {
	Env
	// Top holds the options that every command accepts. It is the command if the first argument names none.
	Top      *Command
	Commands Commands
}

// run is the state of one Parse.
type run struct {
	*Parser
	cmd      *Command
	args     []string
	i        int // index of the current argument
	failed   bool
	active   *positional // see [Command.NamedPositionals]; nil at first
	answered bool        // help or the version was printed
}

// Parse expands response files in the arguments, parses the arguments and returns the command
// that they name. args does not include the program name. Parse stops at an option for help or
// the version and returns Answered even if it has printed errors before.
func (p *Parser) Parse(args []string) (*Command, Outcome) {
	args, err := responsefile.Expand(args)
	if err != nil {
		fmt.Fprintln(p.Stderr, err)
		return p.Top, Failed
	}
	r := &run{Parser: p, cmd: p.Top, args: args}
	wantsCommand := len(args) > 0 && !strings.HasPrefix(args[0], "-") && len(p.Commands) > 0
	nearCommand := ""
	if wantsCommand {
		r.cmd, nearCommand = p.lookupCommand(args[0])
		if r.cmd != p.Top {
			r.i = 1
		}
	}
	var values []string // positional arguments
	onlyPositional := false
	for ; r.i < len(args); r.i++ {
		arg := args[r.i]
		isOption := !onlyPositional && len(arg) > 1 && arg[0] == '-'
		switch {
		case isOption && arg == "--":
			onlyPositional = true
		case isOption:
			r.option(arg)
		case r.active != nil:
			r.active.set(arg)
		case len(r.cmd.positionals) > 0:
			values = append(values, arg)
		case r.i == 0 && wantsCommand:
			r.reportUnknown("subcommand", nearCommand)
		default:
			r.reportUnknown("command line argument", "")
		}
		if r.answered {
			return r.cmd, Answered
		}
	}
	r.assignPositionals(values)
	for _, o := range r.cmd.options {
		if o.required && !o.given {
			r.reportProblem(o, "must be specified at least once!")
		}
	}
	if r.failed {
		return r.cmd, Failed
	}
	return r.cmd, Run
}

// lookupCommand returns the command of that name, or the top level and the name of a command one edit away.
func (p *Parser) lookupCommand(name string) (cmd *Command, near string) {
	for _, c := range p.Commands {
		if c.Name == name {
			return c, ""
		}
	}
	if name == "" {
		return p.Top, ""
	}
	for _, c := range p.Commands {
		if cli.Distance(c.Name, name) < 2 {
			return p.Top, c.Name
		}
	}
	return p.Top, ""
}

func (r *run) option(arg string) {
	name := strings.TrimPrefix(arg[1:], "-")
	o, key, value := r.cmd.lookup(name)
	if o == nil && r.cmd != r.Top {
		o, key, value = r.Top.lookup(name)
	}
	if o == nil {
		if o, key, value = r.group(name); r.answered {
			return
		}
	}
	if o == nil {
		near := r.cmd.nearest(key)
		if near != "" {
			near = dashed(near)
		}
		r.reportUnknown("command line argument", near)
		return
	}
	r.provide(o, key, value)
}

// lookup finds the option for "name" or "name=value". value is nil without "=".
func (c *Command) lookup(arg string) (o *Option, name string, value *string) {
	name, v, found := strings.Cut(arg, "=")
	o = c.byName[name]
	if o == nil {
		return nil, arg, nil
	}
	if found {
		value = &v
	}
	return o, name, value
}

// group handles one-letter options after one dash. It returns the last option, which
// remains to be handled, or otherwise the unknown part of arg.
func (r *run) group(arg string) (o *Option, rest string, value *string) {
	if len(arg) == 1 {
		return nil, arg, nil
	}
	for {
		first := r.cmd.byName[arg[:1]]
		switch {
		case first == nil:
			return nil, arg, nil
		case len(arg) == 1:
			return first, arg, nil
		case arg[1] == '=':
			v := arg[2:]
			return first, arg[:1], &v
		case first.arity == valueRequired:
			r.reportProblem(first, "may not occur within a group!")
			return nil, arg[:1], nil
		}
		r.provide(first, arg[:1], nil)
		if r.answered {
			return nil, arg, nil
		}
		arg = arg[1:]
	}
}

// provide gives an option its value, taking the next argument if it needs one.
func (r *run) provide(o *Option, spelling string, value *string) {
	switch {
	case o.arity == valueRequired && value == nil:
		if r.i+1 >= len(r.args) {
			r.reportProblem(o, "requires a value!")
			return
		}
		r.i++
		value = &r.args[r.i]
	case o.arity == valueDisallowed && value != nil:
		r.reportProblem(o, "does not allow a value! '"+*value+"' specified.")
		return
	case value == nil:
		value = new(string)
	}
	target := o
	if o.alias != nil {
		target, spelling = o.alias, o.alias.name
	}
	target.given = true
	if target.opens != nil {
		r.active = target.opens
	}
	values := []string{*value}
	if target.commas {
		values = strings.Split(*value, ",")
	}
	for _, v := range values {
		if complaint := target.set(spelling, v); complaint != "" {
			r.reportProblem(target, complaint)
			return
		}
	}
	if target.answer != nil {
		target.answer(r)
		r.answered = true
	}
}

// assignPositionals assigns one positional argument to each required positional, and the rest in order to the optional ones.
func (r *run) assignPositionals(values []string) {
	positionals := r.cmd.positionals
	required, unbounded := 0, false
	for _, p := range positionals {
		if p.required {
			required++
		}
		unbounded = unbounded || p.unbounded
	}
	switch {
	case len(values) < required:
		plural := ""
		if required > 1 {
			plural = "s"
		}
		fmt.Fprintf(r.Stderr, "%s: Not enough positional command line arguments specified!\n"+
			"Must specify at least %d positional argument%s: See: %s --help\n", r.Name(), required, plural, r.Prog)
		r.failed = true
		return
	case !unbounded && len(values) > len(positionals):
		fmt.Fprintf(r.Stderr, "%s: Too many positional arguments specified!\n"+
			"Can specify at most %d positional arguments: See: %s --help\n", r.Name(), len(positionals), r.Prog)
		r.failed = true
		return
	}
	for _, p := range positionals {
		n := min(1, len(values))
		if p.required {
			required--
		}
		switch {
		case p.unbounded:
			n = len(values) - required
		case p.required:
		case len(values) <= required:
			n = 0
		}
		for _, v := range values[:n] {
			p.set(v)
		}
		values = values[n:]
	}
}

func (r *run) reportProblem(o *Option, msg string) {
	fmt.Fprintf(r.Stderr, "%s%s\n", o.prefix(r.Name()), msg)
	r.failed = true
}

func (r *run) reportUnknown(what, near string) {
	fmt.Fprintf(r.Stderr, "%s: Unknown %s '%s'.  Try: '%s --help'\n", r.Name(), what, r.args[r.i], r.Prog)
	if near != "" {
		fmt.Fprintf(r.Stderr, "%s: Did you mean '%s'?\n", r.Name(), near)
	}
	r.failed = true
}
