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
// A pattern without # matches a method if it matches CLASS or CLASS.METHOD.
type pattern struct {
	text          string
	class, method string // of a pattern with #
	split         bool
}

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

// glob reports whether pattern matches all of s, in time at most proportional to the product of
// their lengths: only the text of the last asterisk is ever extended.
func glob(pattern, s string) bool {
	star, retry := -1, 0 // index of the last asterisk, end of the text that it matches
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

// A selection selects contexts by the methods of their frames, and locks by type: what matches a
// pattern of keep, or everything without these, except what matches a pattern of drop. Methods and
// types that are not in the tables match nothing.
type selection struct {
	keep, drop []pattern
	where      string // which frames of a context count: leaf, anywhere or root

	// readTables sets these.
	methods map[iprof.MethodID]verdict
	types   map[iprof.TypeID]string // names
}

// verdict says which patterns match a method.
type verdict struct{ keep, drop bool }

// readTables applies the patterns to the tables of a profile. It must be called before keepsContext and keepsLock.
func (f *selection) readTables(p *iprof.Profile) {
	f.methods = make(map[iprof.MethodID]verdict, len(p.Methods))
	for i := range p.Methods {
		m := &p.Methods[i]
		if _, ok := f.methods[m.ID]; ok {
			continue // the first method of an id counts
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

// keepsContext reports whether entries with the context are kept. A frame that matches drop wins over
// frames that match keep.
func (f *selection) keepsContext(c []iprof.Frame) bool {
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

// keepsLock reports whether locks of the type are kept.
func (f *selection) keepsLock(id iprof.TypeID) bool {
	name := f.types[id]
	match := func(p pattern) bool { return name != "" && p.matchClass(name) }
	return (len(f.keep) == 0 || slices.ContainsFunc(f.keep, match)) && !slices.ContainsFunc(f.drop, match)
}
