package clopt

// Command is a subcommand, or the top level, with its options.
type Command struct {
	Name string // empty for the top level
	Help string // what --help prints, see [Env.PrintHelp]
	Run  func() error
	// Near lists option names in the order that decides ties when an unknown name is close to several. Other
	// options follow in the order of their definition.
	Near []string

	options     []*Option
	byName      map[string]*Option
	positionals []*positional
}

// NewCommand returns a command without options.
func NewCommand(name, help string, run func() error) *Command {
	return &Command{Name: name, Help: help, Run: run, byName: make(map[string]*Option)}
}

func (c *Command) add(o *Option) {
	c.options = append(c.options, o)
	for _, n := range o.names {
		if _, ok := c.byName[n]; ok {
			panic("clopt: option " + n + " defined twice") // a mistake in the tool's source
		}
		c.byName[n] = o
	}
}

// positional is an argument identified by its position.
type positional struct {
	required  bool
	unbounded bool
	set       func(value string)
}

// Positional defines an argument identified by its position.
func (c *Command) Positional(p *string, required bool) {
	c.positionals = append(c.positionals, &positional{required: required, set: func(v string) { *p = v }})
}

// Positionals collects all arguments without a dash.
func (c *Command) Positionals(p *[]string) {
	c.positionals = append(c.positionals, &positional{unbounded: true, set: func(v string) { *p = append(*p, v) }})
}

// NamedPositionals is [Command.Positionals] with an option of the given name: after the option,
// all arguments without a dash belong to this list.
func (c *Command) NamedPositionals(p *[]string, name string) {
	c.Positionals(p)
	own := c.positionals[len(c.positionals)-1]
	For(c).value(name, valueOptional, func(string) string { return "" }).opens = own
}

// RequiredPositionals is [Command.Positionals] but requires at least one argument.
func (c *Command) RequiredPositionals(p *[]string) {
	c.Positionals(p)
	c.positionals[len(c.positionals)-1].required = true
}

// Commands share the options that are defined for them.
type Commands []*Command

// For returns the commands to define options for, as cl::sub does.
func For(commands ...*Command) Commands { return commands }

func (cs Commands) add(o *Option) *Option {
	o.commands = cs
	for _, c := range cs {
		c.add(o)
	}
	return o
}

// Generic defines the options that LLVM gives every command. All help options print the same
// text; print-options and print-all-options have no effect.
func (cs Commands) Generic() {
	help := cs.help("help")
	for _, name := range []string{"help-list", "help-hidden", "help-list-hidden"} {
		cs.help(name)
	}
	help.Alias("h")
	ignore := func(bool) {}
	cs.BoolFunc("print-options", ignore)
	cs.BoolFunc("print-all-options", ignore)
}
