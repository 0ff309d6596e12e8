package iprofcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/iprof"
)

// A pattern selects classes and methods by name. An asterisk stands for any
// text, dots included, a question mark for one character.
//
//	java.util.*          all methods of classes whose name begins with java.util.
//	java.util.HashMap    all methods of this class
//	*.HashMap.get*       class and method names joined by a dot
//	*Map#get             class and method names matched separately
//
// A pattern without # matches a method if it matches the name of its class or
// that of the class, a dot and the name of the method.
type pattern struct {
	text          string
	class, method string // of a pattern with #
	split         bool
}

// parsePattern parses a pattern.
func parsePattern(s string) (pattern, error) {
	class, method, split := strings.Cut(s, "#")
	if s == "" || split && (class == "" || method == "" || strings.Contains(method, "#")) {
		return pattern{}, fmt.Errorf("pattern %q, want a class, a class and a method, or CLASS#METHOD", s)
	}
	return pattern{s, class, method, split}, nil
}

// matchMethod reports whether the pattern selects the method.
func (p pattern) matchMethod(class, name string) bool {
	if p.split {
		return glob(p.class, class) && glob(p.method, name)
	}
	return glob(p.text, class) || glob(p.text, class+"."+name)
}

// matchClass reports whether the pattern selects all methods of the class.
func (p pattern) matchClass(class string) bool {
	if p.split {
		return p.method == "*" && glob(p.class, class)
	}
	return glob(p.text, class)
}

// glob reports whether pattern matches all of s, in time proportional to the product of
// their lengths at most.
func glob(pattern, s string) bool {
	// Only the last asterisk is ever retried: a longer text for an earlier one cannot help, as what
	// follows it matched up to the last one.
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

// A selection selects contexts by the methods of their frames, and locks by type: what
// a pattern of keep matches, if there is any, and no pattern of drop. Methods and types
// that are not in the tables match nothing.
type selection struct {
	keep, drop []pattern
	where      string // which frames of a context: leaf, anywhere or root

	// read sets these, for one profile.
	methods map[iprof.MethodID]verdict
	types   map[iprof.TypeID]string
}

// verdict is what the patterns say about a method, found once for all its contexts.
type verdict struct{ keep, drop bool }

// read applies the patterns to the tables of a profile. It has to be called before the contexts of
// the profile are judged.
func (f *selection) read(p *iprof.Profile) {
	f.methods = make(map[iprof.MethodID]verdict, len(p.Methods))
	for i := range p.Methods {
		m := &p.Methods[i]
		if _, ok := f.methods[m.ID]; ok {
			continue // of methods with one id the first counts
		}
		class := ""
		if len(m.Signature) > 0 {
			class = p.TypeName(m.Signature[0])
		}
		match := func(p pattern) bool { return p.matchMethod(class, m.Name) }
		f.methods[m.ID] = verdict{len(f.keep) == 0 || slices.ContainsFunc(f.keep, match), slices.ContainsFunc(f.drop, match)}
	}
	f.types = make(map[iprof.TypeID]string, len(p.Types))
	for _, t := range p.Types {
		if _, ok := f.types[t.ID]; !ok {
			f.types[t.ID] = t.Name
		}
	}
}

// context reports whether entries with the context are kept. Among several frames, one that --drop
// matches wins over any that --keep matches.
func (f *selection) context(c []iprof.Frame) bool {
	switch f.where {
	case "leaf":
		c = c[:1]
	case "root":
		c = c[len(c)-1:]
	}
	keep := false
	for _, frame := range c {
		v, ok := f.methods[frame.Method]
		if v.drop {
			return false
		}
		keep = keep || v.keep || !ok && len(f.keep) == 0
	}
	return keep
}

// lock reports whether locks of the type are kept. Of patterns with a #, only CLASS#* can match a
// type.
func (f *selection) lock(id iprof.TypeID) bool {
	name := f.types[id]
	match := func(p pattern) bool { return name != "" && p.matchClass(name) }
	return (len(f.keep) == 0 || slices.ContainsFunc(f.keep, match)) && !slices.ContainsFunc(f.drop, match)
}
