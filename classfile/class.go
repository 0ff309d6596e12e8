package classfile

import (
	"path"
	"sort"
	"strings"
)

// A Class is a class or interface of a class file.
type Class struct {
	Name  string // as Class.getName has it, "a.b.C$D"
	Major uint16 // version of the class file: 44 more than that of Java, from 5 on
	Flags uint16 // access_flags
	// SourceFile is the name of the source file without its folder, "C.java";
	// empty if the class does not say.
	SourceFile string
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
	// Lines say where the code of source lines begins, by ascending BCI. A
	// line may come several times. Empty without debug information.
	Lines []Line
}

// A Line says that the code from a bytecode index on belongs to a source line.
type Line struct {
	BCI  uint16
	Line uint16
}

// Line returns the source line of a bytecode index: that of the entry which is
// at the index or next before it, as the virtual machine finds it. It reports
// false for indexes outside of the code, negative ones among them, and where
// the class does not say.
func (m *Method) Line(bci int) (line int, ok bool) {
	if bci < 0 || bci >= m.CodeLength {
		return 0, false
	}
	after := sort.Search(len(m.Lines), func(i int) bool { return int(m.Lines[i].BCI) > bci })
	if after == 0 {
		return 0, false
	}
	// Of entries at one index the virtual machine takes the first for that
	// index itself and the last for those that follow.
	at := after - 1
	if int(m.Lines[at].BCI) == bci {
		at = sort.Search(len(m.Lines), func(i int) bool { return int(m.Lines[i].BCI) >= bci })
	}
	return int(m.Lines[at].Line), true
}

// FirstLine returns the least line of the method's code, which is mostly that
// of its first statement; false if the class does not say.
func (m *Method) FirstLine() (line int, ok bool) {
	for i, l := range m.Lines {
		if i == 0 || int(l.Line) < line {
			line = int(l.Line)
		}
	}
	return line, len(m.Lines) > 0
}
