package iprof

import (
	"fmt"
	"slices"
	"strings"
)

// A MethodRef identifies a method across files, by the names of its types. Files do not
// record class loaders, so classes with the same name are one class.
type MethodRef struct {
	Class      string // declaring type, as Class.getName returns it
	Name       string
	Return     string
	Parameters []string
}

// TypeName returns the name of a type, "type 12" if the table has none.
func (p *Profile) TypeName(id TypeID) string {
	if t := p.typeOf(id); t != nil {
		return t.Name
	}
	return fmt.Sprintf("type %d", id)
}

// Ref returns the names of the method with the given id; ok is false if it or
// one of its types is not in the tables.
func (p *Profile) Ref(id MethodID) (ref MethodRef, ok bool) {
	if m := p.methodOf(id); m != nil {
		return p.refOf(m)
	}
	return ref, false
}

func (p *Profile) refOf(m *Method) (ref MethodRef, ok bool) {
	if len(m.Signature) < 2 {
		return MethodRef{Name: m.Name}, false
	}
	names := make([]string, len(m.Signature))
	for i, id := range m.Signature {
		t := p.typeOf(id)
		if t == nil {
			return MethodRef{Name: m.Name}, false
		}
		names[i] = t.Name
	}
	return MethodRef{Class: names[0], Name: m.Name, Return: names[1], Parameters: names[2:]}, true
}

// MethodName returns "pkg.Class.name" for a method, "method 12" if the table has none.
func (p *Profile) MethodName(id MethodID) string {
	m := p.methodOf(id)
	if m == nil {
		return fmt.Sprintf("method %d", id)
	}
	if len(m.Signature) == 0 {
		return m.Name
	}
	return p.TypeName(m.Signature[0]) + "." + m.Name
}

type primitiveType struct {
	name   string
	letter string
}

// primitives are the primitive types in the order of most files, with their letters in descriptors.
var primitives = []primitiveType{
	{"boolean", "Z"},
	{"byte", "B"},
	{"short", "S"},
	{"char", "C"},
	{"int", "I"},
	{"float", "F"},
	{"long", "J"},
	{"double", "D"},
	{"void", "V"},
}

// maxDimensions is the number of dimensions that an array can have (JVMS 4.3.2).
const maxDimensions = 255

// possibleType reports whether a JVM can have a type whose name Class.getName returns so.
func possibleType(name string) bool {
	element := strings.TrimLeft(name, "[")
	switch dims := len(name) - len(element); {
	case dims == 0:
		return possibleClass(name)
	case dims > maxDimensions:
		return false
	}
	if class, ok := strings.CutPrefix(element, "L"); ok {
		class, ok = strings.CutSuffix(class, ";")
		return ok && possibleClass(class)
	}
	return element != "V" && slices.ContainsFunc(primitives, func(p primitiveType) bool { return p.letter == element })
}

// possibleClass reports whether a class can have the name (JVMS 4.2.1), with the suffix of a hidden class.
func possibleClass(name string) bool {
	name, suffix, hidden := strings.Cut(name, "/")
	if hidden && (suffix == "" || strings.ContainsAny(suffix, "./;[")) || strings.ContainsAny(name, ";[") {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			return false
		}
	}
	return true
}

// possibleMethod reports whether a method can have the name (JVMS 4.2.2).
func possibleMethod(name string) bool {
	return name == "<init>" || name == "<clinit>" || name != "" && !strings.ContainsAny(name, ".;[/<>")
}
