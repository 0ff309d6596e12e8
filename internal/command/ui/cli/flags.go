package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flags are the options of one command: a [flag.FlagSet] whose options may stand before, between and
// after the arguments.
type Flags struct {
	*flag.FlagSet

	groups []*group // in the order of the help text
	group  *group   // of the options that are declared next
	known  map[string]bool
	alias  map[string]string // old name of an option -> its name

	command *[]string // see TakesCommand
}

// TakesCommand makes the words after "--" a command, which goes to argv.
func (f *Flags) TakesCommand(argv *[]string) { f.command = argv }

// A group is a part of the options, with a heading in the help text.
type group struct {
	title   string
	options []*flag.Flag // by name
}

const allFormats = "all formats"

// NewFlags returns a set without options. [App.Run] calls it for commands.
func NewFlags(name string) *Flags {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f := &Flags{FlagSet: fs, known: make(map[string]bool), alias: make(map[string]string)}
	f.Group("")
	return f
}

// Group makes the options declared from now on part of a group, with a title such as "MIP profiles".
// The title "" stands for options for all formats.
func (f *Flags) Group(title string) {
	f.closeGroup()
	if title == "" {
		title = allFormats
	}
	for _, g := range f.groups {
		if g.title == title {
			f.group = g
			return
		}
	}
	f.group = &group{title: title}
	f.groups = append(f.groups, f.group)
}

// closeGroup assigns the options declared since [Flags.Group] to the group.
func (f *Flags) closeGroup() {
	f.VisitAll(func(o *flag.Flag) {
		if !f.known[o.Name] {
			f.known[o.Name] = true
			f.group.options = append(f.group.options, o)
		}
	})
}

// Alias adds old names of an option, which the help text does not list.
func (f *Flags) Alias(name string, old ...string) {
	for _, o := range old {
		f.known[o], f.alias[o] = true, name
		f.Var(f.Lookup(name).Value, o, "")
	}
}

// synonyms are the short and long names of options that mean the same in all commands. A command
// that declares one of the two names has both.
var synonyms = [...]struct {
	short, long string
	isBool      bool
}{
	{"j", "jobs", false},
	{"n", "top", false},
	{"o", "output", false},
	{"q", "quiet", true},
}

// synonym returns the other name of an option; "" if it has one name.
func synonym(o *flag.Flag) string {
	for _, s := range synonyms {
		switch {
		case isBool(o) != s.isBool:
		case o.Name == s.short:
			return s.long
		case o.Name == s.long:
			return s.short
		}
	}
	return ""
}

func (f *Flags) addSynonyms() {
	var declared []*flag.Flag
	f.VisitAll(func(o *flag.Flag) { declared = append(declared, o) })
	for _, o := range declared {
		if other := synonym(o); other != "" && f.Lookup(other) == nil {
			f.Alias(o.Name, other)
		}
	}
}

// Given calls do for each option on the command line, with the name from the help text.
func (f *Flags) Given(do func(name string)) {
	f.Visit(func(o *flag.Flag) {
		if name, ok := f.alias[o.Name]; ok {
			do(name)
		} else {
			do(o.Name)
		}
	})
}

func (f *Flags) parse(args []string) (rest []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--" && f.command != nil:
			*f.command = args[1:]
			if len(args) == 1 {
				return nil, Usagef("no command after --")
			}
			return rest, nil
		case arg == "--":
			return append(rest, args[1:]...), nil
		case len(arg) < 2 || arg[0] != '-': // "-" is an argument: standard input
			rest = append(rest, arg)
			args = args[1:]
			continue
		}
		if name, value, ok := f.splitShort(arg); ok {
			args = append([]string{name, value}, args[1:]...)
			arg = name
		}
		// Parsing one option at a time distinguishes "--" from a value that looks like it.
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

// splitShort splits a short option with its value, "-oFILE".
func (f *Flags) splitShort(arg string) (name, value string, ok bool) {
	if len(arg) < 3 || arg[1] == '-' || arg[2] == '=' || f.Lookup(optionName(arg)) != nil {
		return "", "", false
	}
	short := f.Lookup(arg[1:2])
	return arg[:2], arg[2:], short != nil && !isBool(short)
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

// explain turns an error of package flag about the option arg, with the next argument, into a usage error.
func (f *Flags) explain(arg, next string, err error) error {
	if err == flag.ErrHelp {
		return err
	}
	name := optionName(arg)
	if known := f.Lookup(name); known != nil {
		return explainValue(known, arg, next, err)
	}
	var known []string
	f.VisitAll(func(o *flag.Flag) {
		name := f.alias[o.Name] // old names are not suggested, long synonyms are
		if name == "" || len(o.Name) > 1 && synonym(f.Lookup(name)) == o.Name {
			known = append(known, o.Name)
		}
	})
	msg := "unknown option " + arg
	if near := cmp.Or(nearest(name, known), beginningWith(name, known)); near != "" {
		msg += fmt.Sprintf("; did you mean %s?", dashed(near))
	}
	return &UsageError{msg}
}

// explainValue is explain for a known option with a wrong value.
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
	case "parse error", "value out of range": // texts of package flag
		if why = "want a number"; isBool(o) {
			why = "want true or false"
		}
	}
	return Usagef("option %s: invalid value %q: %s", dashed(o.Name), value, why)
}

// dashed returns an option's name with one dash if it is a letter, otherwise with two.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func (f *Flags) help(w io.Writer) {
	groups := f.sorted()
	var lists [][][2]string
	var all [][2]string
	for _, g := range groups {
		lists = append(lists, g.rows())
		all = append(all, lists[len(lists)-1]...)
	}
	left := columnWidth(all)
	for i, rows := range lists {
		fmt.Fprintf(w, "\nOptions%s:\n", groups[i].heading(f))
		writeColumns(w, rows, left)
	}
}

// sorted returns the groups that have options, each with its options by name.
func (f *Flags) sorted() []*group {
	f.closeGroup()
	for _, g := range f.groups {
		slices.SortFunc(g.options, func(a, b *flag.Flag) int { return cmp.Compare(a.Name, b.Name) })
	}
	return slices.DeleteFunc(slices.Clone(f.groups), func(g *group) bool { return len(g.options) == 0 })
}

// heading returns the text after "Options" above the group; "" if it is the only group.
func (g *group) heading(f *Flags) string {
	if len(f.sorted()) == 1 {
		return ""
	}
	return " for " + g.title
}

func (g *group) rows() [][2]string {
	var rows [][2]string
	for _, o := range g.options {
		value, usage := valueName(o)
		name := dashed(o.Name)
		if other := synonym(o); len(other) == 1 {
			name = dashed(other) + ", " + name
		} else if other != "" {
			name += ", " + dashed(other)
		}
		if value != "" {
			name += " " + value
		}
		switch o.DefValue {
		case "", "0", "false":
		default:
			usage += fmt.Sprintf(" (default %s)", o.DefValue)
		}
		rows = append(rows, [2]string{name, usage})
	}
	return rows
}

// valueName splits the usage of an option, "`VALUE` text", into the name of the value and the text.
// An option without a value has the name "".
func valueName(o *flag.Flag) (value, usage string) {
	rest, ok := strings.CutPrefix(o.Usage, "`")
	if !ok {
		return "", o.Usage
	}
	value, usage, _ = strings.Cut(rest, "` ")
	return value, usage
}

// A Choice is an option that takes one of a few words.
type Choice struct {
	Value   string
	Allowed []string
}

func (c *Choice) String() string { return c.Value }

// Words lists the allowed words for a help text: "a, b or c".
func (c *Choice) Words() string { return AnyOf(c.Allowed) }

// Set accepts one of the allowed words.
func (c *Choice) Set(s string) error {
	for _, a := range c.Allowed {
		if s == a {
			c.Value = s
			return nil
		}
	}
	return fmt.Errorf("want %s", c.Words())
}

// AnyOf joins words as "a, b or c".
func AnyOf(words []string) string {
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

// A ByteSize is an option with a number of bytes.
type ByteSize int64

func (s *ByteSize) String() string { return "" }

// Set takes a number of bytes, or a number of KiB, MiB, GiB or TiB followed by K, M, G or T.
func (s *ByteSize) Set(text string) error {
	digits := strings.TrimRight(strings.ToUpper(text), "IB")
	unit := 1
	if i := strings.IndexAny(digits, "KMGT"); i >= 0 && i == len(digits)-1 {
		unit = 1 << (10 * (1 + strings.IndexByte("KMGT", digits[i])))
		digits = digits[:i]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/int64(unit) {
		return errors.New("want a number of bytes from 1 up, such as 1000000, 512M or 20G")
	}
	*s = ByteSize(n * int64(unit))
	return nil
}

// A Duration is an option with a time, such as 500ms, 2s or 1m.
type Duration struct{ time.Duration }

// Set takes a duration for [time.ParseDuration] that is not negative.
func (d *Duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return errors.New("want a time such as 500ms, 2s or 1m")
	}
	d.Duration = v
	return nil
}
