package clopt

import (
	"fmt"
	"strings"
)

// arity says whether an option takes a value.
type arity int

const (
	valueOptional   arity = iota // "-x" or "-x=V"
	valueRequired                // "-x=V" or "-x V"
	valueDisallowed              // "-x" only
)

// action is what an option does beside setting its variable.
type action int

const (
	noAction action = iota
	showHelp
	showVersion
)

// Option is one option, or one group of switches, of a [Command].
type Option struct {
	name    string   // empty for a group of switches
	heading string   // what a group of switches is called in messages
	names   []string // every spelling on the command line, aliases excluded
	arity   arity
	commas  bool // the value is a comma-separated list
	action  action
	alias   *Option // the option that this one stands for
	// required: the command line is wrong without it. given counts how often it
	// was there, under any name.
	required bool
	given    int
	// set stores one value, or says what is wrong with it. spelling is the
	// name used on the command line.
	set func(spelling, value string) (complaint string)
}

// String returns the name with its dashes, as messages print it.
func (o *Option) String() string {
	if o.name == "" {
		return o.heading
	}
	return dashed(o.name)
}

// dashed puts one dash before a one-letter name and two before others.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// prefix is how a complaint about the option begins. A group of switches has
// no name, and its heading stands alone.
func (o *Option) prefix(prog string) string {
	if o.name == "" {
		return o.heading + " option: "
	}
	return prog + ": for the " + dashed(o.name) + " option: "
}

// Command is a subcommand, or the top level, with its options.
type Command struct {
	Name string // empty for the top level
	// Near lists option names in the order in which they are tried when the
	// nearest one to an unknown name is looked for; it decides ties. Options
	// that it leaves out follow in the order of their definition.
	Near []string

	options     []*Option
	byName      map[string]*Option
	positionals []*positional
}

// positional is an argument that is known by its place.
type positional struct {
	required  bool
	unbounded bool
	set       func(value string)
}

// NewCommand returns a command with the given name.
func NewCommand(name string) *Command {
	return &Command{Name: name, byName: make(map[string]*Option)}
}

func (c *Command) add(o *Option) *Option {
	c.options = append(c.options, o)
	for _, n := range o.names {
		if _, ok := c.byName[n]; ok {
			panic("clopt: option " + n + " defined twice") // a mistake in the tool's source
		}
		c.byName[n] = o
	}
	return o
}

func (c *Command) value(name string, a arity, set func(string) (complaint string)) *Option {
	return c.add(&Option{
		name: name, names: []string{name}, arity: a,
		set: func(_, v string) string { return set(v) },
	})
}

// Bool defines a boolean option.
func (c *Command) Bool(p *bool, name string) *Option {
	return c.BoolFunc(name, func(on bool) { *p = on })
}

// BoolFunc defines a boolean option that is told to set.
func (c *Command) BoolFunc(name string, set func(on bool)) *Option {
	return c.value(name, valueOptional, func(v string) string {
		switch v {
		case "", "true", "TRUE", "True", "1":
			set(true)
		case "false", "FALSE", "False", "0":
			set(false)
		default:
			return fmt.Sprintf("'%s' is invalid value for boolean argument! Try 0 or 1", v)
		}
		return ""
	})
}

// String defines an option with a text value.
func (c *Command) String(p *string, name string) *Option {
	return c.value(name, valueRequired, func(v string) string {
		*p = v
		return ""
	})
}

// Strings defines an option that may be repeated, each with one text value.
func (c *Command) Strings(p *[]string, name string) *Option {
	return c.value(name, valueRequired, func(v string) string {
		*p = append(*p, v)
		return ""
	})
}

// Uint32 defines an option with an unsigned 32-bit value.
func (c *Command) Uint32(p *uint32, name string) *Option {
	return c.value(name, valueRequired, func(v string) string {
		return parseUint32(p, v)
	})
}

// Uint32s defines an option with a comma-separated list of unsigned 32-bit
// values; it may be repeated.
func (c *Command) Uint32s(p *[]uint32, name string) *Option {
	o := c.value(name, valueRequired, func(v string) string {
		var n uint32
		if complaint := parseUint32(&n, v); complaint != "" {
			return complaint
		}
		*p = append(*p, n)
		return ""
	})
	o.commas = true
	return o
}

// Uint64 defines an option with an unsigned 64-bit value. ctype is the name of
// its C type in the message about a bad value, "ulong" or "ullong".
func (c *Command) Uint64(p *uint64, name, ctype string) *Option {
	return c.value(name, valueRequired, func(v string) string {
		n, ok := parseUint(v, 64)
		if !ok {
			return fmt.Sprintf("'%s' value invalid for %s argument!", v, ctype)
		}
		*p = n
		return ""
	})
}

// Float defines an option with a floating point value.
func (c *Command) Float(p *float64, name string) *Option {
	return c.value(name, valueRequired, func(v string) string {
		f, ok := parseFloat(v)
		if !ok {
			return fmt.Sprintf("'%s' value invalid for floating point argument!", v)
		}
		*p = f
		return ""
	})
}

// Choice is one value of an option with a fixed set of values.
type Choice[T any] struct {
	Name  string
	Value T
}

// AddChoice defines an option whose value is one of the names of choices.
// (Methods cannot have type parameters of their own, hence a function.)
func AddChoice[T any](c *Command, p *T, name string, choices ...Choice[T]) *Option {
	return c.value(name, valueRequired, func(v string) string {
		return choose(p, v, choices)
	})
}

// AddSwitches defines a group of options without values, each of which stores
// its choice; the last one given wins. heading names the group in messages.
func AddSwitches[T any](c *Command, p *T, heading string, choices ...Choice[T]) *Option {
	o := &Option{heading: heading, arity: valueDisallowed}
	for _, ch := range choices {
		o.names = append(o.names, ch.Name)
	}
	o.set = func(spelling, _ string) string { return choose(p, spelling, choices) }
	return c.add(o)
}

func choose[T any](p *T, name string, choices []Choice[T]) (complaint string) {
	for _, ch := range choices {
		if ch.Name == name {
			*p = ch.Value
			return ""
		}
	}
	return fmt.Sprintf("Cannot find option named '%s'!", name)
}

// Require makes a command line without the option an error.
func (o *Option) Require() { o.required = true }

// Alias gives an option defined before another name.
func (c *Command) Alias(name, of string) *Option {
	o := c.byName[of]
	if o == nil {
		panic("clopt: alias " + name + " of unknown option " + of) // a mistake in the tool's source
	}
	return c.add(&Option{name: name, names: []string{name}, arity: o.arity, commas: o.commas, alias: o})
}

// Help defines an option that asks for help.
func (c *Command) Help(name string) *Option {
	o := c.value(name, valueDisallowed, func(string) string { return "" })
	o.action = showHelp
	return o
}

// Version defines an option that asks for the version.
func (c *Command) Version(name string) *Option {
	o := c.value(name, valueDisallowed, func(string) string { return "" })
	o.action = showVersion
	return o
}

// Positional defines an argument known by its place.
func (c *Command) Positional(p *string, required bool) {
	c.positionals = append(c.positionals, &positional{required: required, set: func(v string) { *p = v }})
}

// Positionals defines that all arguments without a dash are collected.
func (c *Command) Positionals(p *[]string) {
	c.positionals = append(c.positionals, &positional{unbounded: true, set: func(v string) { *p = append(*p, v) }})
}

// RequiredPositionals is [Command.Positionals] for at least one argument.
func (c *Command) RequiredPositionals(p *[]string) {
	c.Positionals(p)
	c.positionals[len(c.positionals)-1].required = true
}

// split returns the values of one occurrence.
func (o *Option) split(value string) []string {
	if o.commas {
		return strings.Split(value, ",")
	}
	return []string{value}
}
