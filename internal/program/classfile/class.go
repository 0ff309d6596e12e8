package classfile

import (
	"path"
	"sort"
	"strings"
)

// A Class is a class or interface of a class file.
type Class struct {
	Name       string   // as Class.getName returns it, "a.b.C$D"
	Major      uint16   // major version of the class file: the version of Java plus 44, since Java 5
	Flags      uint16   // access_flags
	SourceFile string   // the base name of the source file, "C.java"; "" if the class has no SourceFile attribute
	Methods    []Method // in the order of the class file

	byName []uint16 // indexes of Methods by name, then descriptor; made by an Index
}

// SourcePath returns the path of the source file below a source folder, with
// slashes: the package's folder and SourceFile. It is empty if SourceFile is.
func (c *Class) SourcePath() string {
	if c.SourceFile == "" {
		return ""
	}
	if i := strings.LastIndexByte(c.Name, '.'); i >= 0 {
		return path.Join(strings.ReplaceAll(c.Name[:i], ".", "/"), c.SourceFile)
	}
	return c.SourceFile
}

// A Method is a method, constructor or static initializer of a class.
type Method struct {
	Class      *Class
	Name       string // simple name, "<init>", "<clinit>"
	Descriptor string // "(I[Ljava/lang/String;)V"
	Flags      uint16 // access_flags
	CodeLength int    // bytes; 0 if the method has no code
	// Lines maps bytecode to source lines, by ascending BCI. A line may occur
	// several times. Empty without debug information.
	Lines []Line
}

// A Line says that the code from a bytecode index on belongs to a source line (an entry of LineNumberTable).
type Line struct {
	BCI  uint16
	Line uint16
}

// Line returns the source line of a bytecode index by the rule of the virtual machine: the line of the last entry
// at or before the index. ok is false if the index is outside the code, or the class has no line for it.
func (m *Method) Line(bci int) (line int, ok bool) {
	if bci < 0 || bci >= m.CodeLength {
		return 0, false
	}
	after := sort.Search(len(m.Lines), func(i int) bool { return int(m.Lines[i].BCI) > bci })
	if after == 0 {
		return 0, false
	}
	// If several entries have one index, the virtual machine uses the first entry for that index and
	// the last entry for the following indexes.
	at := after - 1
	if int(m.Lines[at].BCI) == bci {
		at = sort.Search(len(m.Lines), func(i int) bool { return int(m.Lines[i].BCI) >= bci })
	}
	return int(m.Lines[at].Line), true
}

// FirstLine returns the smallest line of the method's code, usually the line of its first statement. ok is false without line numbers.
func (m *Method) FirstLine() (line int, ok bool) {
	for i, l := range m.Lines {
		if i == 0 || int(l.Line) < line {
			line = int(l.Line)
		}
	}
	return line, len(m.Lines) > 0
}
