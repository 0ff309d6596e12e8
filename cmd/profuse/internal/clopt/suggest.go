package clopt

import "strings"

// nearest returns the known spelling that takes the fewest edits to turn into
// the unknown arg (given without its dashes), with arg's value attached when
// it has one; "" when there is nothing to compare.
func (c *Command) nearest(arg string) string {
	if arg == "" {
		return ""
	}
	name, value, _ := strings.Cut(arg, "=")
	found, best := "", -1
	for _, spelling := range c.spellings() {
		takesValue := c.byName[spelling].arity != valueDisallowed
		// An option without value is compared with all of "name=value".
		flag := arg
		if takesValue {
			flag = name
		}
		d := editDistance(spelling, flag)
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

// spellings returns every spelling of every option, those of Near first. The
// switches of a group follow the first of them.
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

// editDistance counts the insertions, deletions and replacements of bytes
// that turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to every prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
