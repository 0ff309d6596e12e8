package iprof

import (
	"fmt"
	"strings"
)

// A Pattern selects classes and methods by name. An asterisk stands for any
// text, dots included, a question mark for one character.
//
//	java.util.*          all methods of classes whose name begins with java.util.
//	java.util.HashMap    all methods of this class
//	*.HashMap.get*       class and method names joined by a dot
//	*Map#get             class and method names matched separately
//
// A pattern without # matches a method if it matches the name of its class or
// that of the class, a dot and the name of the method.
type Pattern struct {
	text          string
	class, method string // of a pattern with #
	split         bool
}

// ParsePattern parses a pattern.
func ParsePattern(s string) (Pattern, error) {
	class, method, split := strings.Cut(s, "#")
	if s == "" || split && (class == "" || method == "" || strings.Contains(method, "#")) {
		return Pattern{}, fmt.Errorf("pattern %q, want a class, a class and a method, or CLASS#METHOD", s)
	}
	return Pattern{s, class, method, split}, nil
}

// matchMethod reports whether the pattern selects the method.
func (p Pattern) matchMethod(class, name string) bool {
	if p.split {
		return glob(p.class, class) && glob(p.method, name)
	}
	return glob(p.text, class) || glob(p.text, class+"."+name)
}

// matchClass reports whether the pattern selects all methods of the class.
func (p Pattern) matchClass(class string) bool {
	if p.split {
		return p.method == "*" && glob(p.class, class)
	}
	return glob(p.text, class)
}

// glob reports whether pattern matches all of s, in time proportional to the product of
// their lengths at most.
func glob(pattern, s string) bool {
	star, retry := -1, 0 // the last asterisk, and where its text ends so far
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, retry = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			retry++
			i, j = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}

// Where selects the frames of a context that a filter matches.
type Where int

const (
	Leaf     Where = iota // the method of the count
	Anywhere              // any method of the context
	Root                  // the compilation root; of samples the bottom of the stack
)

// FilterOptions select the entries that [Filter] keeps: those with a frame that Keep
// matches, if Keep is not empty, and without a frame that Drop matches. Methods that are
// not in the table match nothing. In Monitors, which has no contexts, the patterns select
// types.
type FilterOptions struct {
	Keep, Drop []Pattern
	Where      Where
}

// Filter returns p with the selected entries in their order, and with all types and
// methods; [Prune] drops the unused ones. It does not filter types in records, except in
// Monitors.
func Filter(p *Profile, opt FilterOptions) (*Profile, Pruned) {
	var pruned Pruned
	q := p.derive()
	f := newFilter(p, opt)
	for k := range p.sections {
		from := &p.sections[k]
		if Kind(k) == Monitors {
			q.sections[k] = f.monitors(from)
			continue
		}
		keep := make([]bool, from.Len())
		for i := range keep {
			keep[i] = f.context(from.Context(i))
		}
		q.sections[k] = copySection(from, func(i int) bool { return keep[i] })
		q.selectExtra(Kind(k), keep)
		pruned.Entries[k] = from.Len() - q.sections[k].Len()
	}
	return q, pruned
}

// A filter holds the verdict of the patterns on each method.
type filter struct {
	p    *Profile
	opt  FilterOptions
	keep []bool // by index in the table; the last one is for missing methods
	drop []bool
}

func newFilter(p *Profile, opt FilterOptions) *filter {
	n := len(p.Methods)
	f := &filter{p: p, opt: opt, keep: make([]bool, n+1), drop: make([]bool, n+1)}
	f.keep[n] = len(opt.Keep) == 0
	for i := range p.Methods {
		m := &p.Methods[i]
		class := ""
		if len(m.Signature) > 0 {
			class = p.TypeName(m.Signature[0])
		}
		match := func(pattern Pattern) bool { return pattern.matchMethod(class, m.Name) }
		f.keep[i] = len(opt.Keep) == 0 || matchesAny(opt.Keep, match)
		f.drop[i] = matchesAny(opt.Drop, match)
	}
	return f
}

func matchesAny(patterns []Pattern, match func(Pattern) bool) bool {
	for _, p := range patterns {
		if match(p) {
			return true
		}
	}
	return false
}

// context reports whether entries with the context are kept.
func (f *filter) context(c Context) bool {
	switch f.opt.Where {
	case Leaf:
		c = c[:1]
	case Root:
		c = c[len(c)-1:]
	}
	keep := false
	for _, frame := range c {
		i := f.p.methIndex.find(int32(frame.Method))
		if i < 0 {
			i = len(f.keep) - 1
		}
		if f.drop[i] {
			return false
		}
		keep = keep || f.keep[i]
	}
	return keep
}

func (f *filter) monitors(s *Section) Section {
	out := Section{kind: Monitors}
	for ctx, records := range s.All() {
		out.frames = append(out.frames, ctx...)
		for i := 0; i < len(records); i += 2 {
			name := ""
			if t := f.p.typeOf(TypeID(records[i])); t != nil {
				name = t.Name
			}
			match := func(pattern Pattern) bool { return name != "" && pattern.matchClass(name) }
			if (len(f.opt.Keep) == 0 || matchesAny(f.opt.Keep, match)) && !matchesAny(f.opt.Drop, match) {
				out.records = append(out.records, records[i], records[i+1])
			}
		}
		out.ends = append(out.ends, entryEnd{uint32(len(out.frames)), uint32(len(out.records))})
	}
	return out
}
