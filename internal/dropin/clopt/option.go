package clopt

import (
	"fmt"
	"io"
)

// arity is whether an option takes a value.
type arity int

const (
	valueOptional   arity = iota // "-x" or "-x=V"
	valueRequired                // "-x=V" or "-x V"
	valueDisallowed              // "-x" only
)

// Option is one option, or one group of switches, of one or more [Commands].
type Option struct {
	name     string   // empty for a group of switches
	heading  string   // name of a group of switches in messages
	names    []string // every spelling on the command line, aliases excluded
	commands Commands
	arity    arity
	commas   bool    // the value is a comma-separated list
	alias    *Option // the option that this one stands for
	required bool    // a command line without the option is an error
	given    bool    // the command line had the option, under any name
	// set stores one value, or returns what is wrong with it. spelling is the
	// name on the command line.
	set func(spelling, value string) (complaint string)
	// opens receives the positional arguments after the option; usually nil.
	opens *positional
	// answer, if set, prints help or the version; the command does not run then.
	answer func(r *run)
}

// dashed puts one dash before a one-letter name and two before others.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// prefix returns the beginning of a message about the option. A group of switches has no name, only its heading.
func (o *Option) prefix(prog string) string {
	if o.name == "" {
		return o.heading + " option: "
	}
	return prog + ": for the " + dashed(o.name) + " option: "
}

// Require makes a command line without the option an error.
func (o *Option) Require() *Option {
	o.required = true
	return o
}

// Alias gives the option another name.
func (o *Option) Alias(name string) *Option {
	o.commands.add(&Option{name: name, names: []string{name}, arity: o.arity, commas: o.commas, alias: o})
	return o
}

func (cs Commands) value(name string, a arity, set func(string) (complaint string)) *Option {
	return cs.add(&Option{
		name: name, names: []string{name}, arity: a,
		set: func(_, v string) string { return set(v) },
	})
}

// Bool defines a boolean option.
func (cs Commands) Bool(p *bool, name string) *Option {
	return cs.BoolFunc(name, func(on bool) { *p = on })
}

// BoolFunc defines a boolean option and passes its values to set.
func (cs Commands) BoolFunc(name string, set func(on bool)) *Option {
	return cs.value(name, valueOptional, func(v string) string {
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
func (cs Commands) String(p *string, name string) *Option {
	return cs.value(name, valueRequired, func(v string) string {
		*p = v
		return ""
	})
}

// Strings defines an option that may be repeated, each with one text value.
func (cs Commands) Strings(p *[]string, name string) *Option {
	return cs.value(name, valueRequired, func(v string) string {
		*p = append(*p, v)
		return ""
	})
}

// addNumber defines an option whose value is read by parse. ctype is the C type that the message about a bad value names.
func addNumber[T any](cs Commands, name, ctype string, parse func(string) (T, bool), set func(T)) *Option {
	return cs.value(name, valueRequired, func(v string) string {
		n, ok := parse(v)
		if !ok {
			return fmt.Sprintf("'%s' value invalid for %s argument!", v, ctype)
		}
		set(n)
		return ""
	})
}

// Int defines an option with a signed 32-bit value.
func (cs Commands) Int(p *int, name string) *Option {
	return addNumber(cs, name, "integer", parseInt, func(n int) { *p = n })
}

// Uint32 defines an option with an unsigned 32-bit value.
func (cs Commands) Uint32(p *uint32, name string) *Option {
	return addNumber(cs, name, "uint", parseUint32, func(n uint32) { *p = n })
}

// Uint32s defines an option with a comma-separated list of unsigned 32-bit values; it may be repeated.
func (cs Commands) Uint32s(p *[]uint32, name string) *Option {
	o := addNumber(cs, name, "uint", parseUint32, func(n uint32) { *p = append(*p, n) })
	o.commas = true
	return o
}

// Uint64 defines an option with an unsigned 64-bit value. ctype is the name of
// its C type in the message about a bad value, "ulong" or "ullong".
func (cs Commands) Uint64(p *uint64, name, ctype string) *Option {
	return addNumber(cs, name, ctype, parseUint64, func(n uint64) { *p = n })
}

// Float defines an option with a floating point value.
func (cs Commands) Float(p *float64, name string) *Option {
	return cs.FloatFunc(name, func(f float64) { *p = f })
}

// FloatFunc defines an option with a floating point value and passes the value to set.
func (cs Commands) FloatFunc(name string, set func(float64)) *Option {
	return addNumber(cs, name, "floating point", parseFloat, set)
}

// Choice is one value of an option with a fixed set of values.
type Choice[T any] struct {
	Name  string
	Value T
}

// AddChoice defines an option whose value is one of the names of choices.
// (Methods cannot have type parameters of their own, hence a function.)
func AddChoice[T any](cs Commands, p *T, name string, choices ...Choice[T]) *Option {
	return cs.value(name, valueRequired, func(v string) string {
		return choose(p, v, choices)
	})
}

// AddSwitches defines a group of options without values. Each option stores its choice; the
// last one given wins. heading names the group in messages.
func AddSwitches[T any](cs Commands, p *T, heading string, choices ...Choice[T]) *Option {
	o := &Option{heading: heading, arity: valueDisallowed}
	for _, ch := range choices {
		o.names = append(o.names, ch.Name)
	}
	o.set = func(spelling, _ string) string { return choose(p, spelling, choices) }
	return cs.add(o)
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

// Version defines the option --version, which prints the text.
func (cs Commands) Version(text string) *Option {
	return cs.question("version", func(r *run) { io.WriteString(r.Stdout, text) })
}

func (cs Commands) help(name string) *Option {
	return cs.question(name, func(r *run) { r.PrintHelp(r.cmd.Help) })
}

func (cs Commands) question(name string, answer func(r *run)) *Option {
	o := cs.value(name, valueDisallowed, func(string) string { return "" })
	o.answer = answer
	return o
}
