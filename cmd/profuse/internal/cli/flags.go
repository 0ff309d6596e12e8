package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Flags are the options of one command: a [flag.FlagSet] whose options may
// stand before, between and after the arguments.
type Flags struct {
	*flag.FlagSet
}

func newFlags(name string) *Flags {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &Flags{fs}
}

// parse sets the options in args and returns the other arguments in order.
func (f *Flags) parse(args []string) (rest []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			return append(rest, args[1:]...), nil
		case len(arg) < 2 || arg[0] != '-': // "-" is an argument: standard input
			rest = append(rest, arg)
			args = args[1:]
			continue
		}
		// One option at a time: only so is a value that looks like "--" or
		// like an argument told from the real ones.
		n := 1
		if f.takesNext(arg) && len(args) > 1 {
			n = 2
		}
		if err := f.Parse(args[:n]); err != nil {
			return nil, f.explain(arg, args[n-1], err)
		}
		args = args[n:]
	}
	return rest, nil
}

func optionName(arg string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
	name, _, _ = strings.Cut(name, "=")
	return name
}

// takesNext reports whether the option's value is the argument after it.
func (f *Flags) takesNext(arg string) bool {
	known := f.Lookup(optionName(arg))
	return known != nil && !strings.Contains(arg, "=") && !isBool(known)
}

func isBool(o *flag.Flag) bool {
	b, ok := o.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// explain turns an error of package flag about an option, and the argument
// after it, into a usage error in our words.
func (f *Flags) explain(arg, next string, err error) error {
	if err == flag.ErrHelp {
		return err
	}
	name := optionName(arg)
	if known := f.Lookup(name); known != nil {
		return explainValue(known, arg, next, err)
	}
	var known []string
	f.VisitAll(func(o *flag.Flag) { known = append(known, o.Name) })
	msg := "unknown option " + arg
	if near := nearest(name, known); near != "" {
		msg += fmt.Sprintf("; did you mean %s?", dashed(near))
	}
	return &UsageError{msg}
}

// explainValue does that for an option that exists: its value is the fault.
func explainValue(o *flag.Flag, arg, next string, err error) error {
	if strings.HasPrefix(err.Error(), "flag needs an argument") {
		return Usagef("option %s needs a value", dashed(o.Name))
	}
	_, value, glued := strings.Cut(arg, "=")
	if !glued {
		value = next
	}
	_, why, _ := strings.Cut(err.Error(), ": ")
	switch why {
	case "parse error", "value out of range": // what package flag says of numbers and booleans
		if why = "it takes a number"; isBool(o) {
			why = "it is true or false"
		}
	}
	return Usagef("option %s cannot be %q: %s", dashed(o.Name), value, why)
}

// dashed is how an option is written in texts: package flag takes either.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// rows lists the options for the help text. The usage of an option that takes a
// value begins with a name for it in back quotes.
func (f *Flags) rows() [][2]string {
	var rows [][2]string
	f.VisitAll(func(o *flag.Flag) {
		name, usage := dashed(o.Name), o.Usage
		if rest, ok := strings.CutPrefix(usage, "`"); ok {
			value, text, _ := strings.Cut(rest, "` ")
			name, usage = name+" "+value, text
		}
		switch o.DefValue {
		case "", "0", "false":
		default:
			usage += fmt.Sprintf(" (default %s)", o.DefValue)
		}
		rows = append(rows, [2]string{name, usage})
	})
	return rows
}

// A Choice is an option that takes one of a few words.
type Choice struct {
	Value   string
	Allowed []string
}

func (c *Choice) String() string { return c.Value }

// Set accepts one of the allowed words.
func (c *Choice) Set(s string) error {
	for _, a := range c.Allowed {
		if s == a {
			c.Value = s
			return nil
		}
	}
	return fmt.Errorf("it takes %s", anyOf(c.Allowed))
}

// anyOf joins words as "a, b or c".
func anyOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// A List is an option that may be given several times.
type List []string

func (l *List) String() string { return "" }

// Set appends s.
func (l *List) Set(s string) error {
	*l = append(*l, s)
	return nil
}
