package clopt

import (
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// nearest returns the known spelling with the fewest edits from the unknown arg, followed by
// arg's value if it has one; "" if the command has no options. arg has no dashes.
func (c *Command) nearest(arg string) string {
	name, value, _ := strings.Cut(arg, "=")
	found, best := "", -1
	for _, spelling := range c.spellings() {
		takesValue := c.byName[spelling].arity != valueDisallowed
		// An option without value is compared with all of "name=value".
		flag := arg
		if takesValue {
			flag = name
		}
		d := cli.Distance(spelling, flag)
		if best >= 0 && d >= best {
			continue
		}
		found, best = spelling, d
		if takesValue && value != "" {
			found += "=" + value
		}
	}
	return found
}

// spellings returns all spellings of all options, starting with the options in Near. The switches of a group stay together.
func (c *Command) spellings() []string {
	out := make([]string, 0, len(c.byName))
	done := make(map[*Option]bool, len(c.options))
	add := func(o *Option) {
		if o != nil && !done[o] {
			done[o] = true
			out = append(out, o.names...)
		}
	}
	for _, n := range c.Near {
		add(c.byName[n])
	}
	for _, o := range c.options {
		add(o)
	}
	return out
}
