package llvmyaml

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// A Printer prints in the style of LLVM's yaml::Output. The indentation of a key is in columns and
// includes the dash of a list item.
type Printer struct {
	Buf    []byte // the output so far; the caller may empty it after any line
	dashes int    // list items that begin with the next key
}

// Text prints text unchanged.
func (p *Printer) Text(s string) { p.Buf = append(p.Buf, s...) }

// Item begins a list item: the next key gets a dash, and one more for each list whose first item is the list.
func (p *Printer) Item() { p.dashes++ }

// Parent prints a line with a key that has its value below it.
func (p *Printer) Parent(indent int, key string) {
	p.begin(indent, key)
	p.Buf = append(p.Buf, '\n')
}

// Key begins a line with a key, up to the column of its value.
func (p *Printer) Key(indent int, key string) {
	const valueColumn = 17 // of the value, counted from its key, if that is short enough
	p.begin(indent, key)
	p.blanks(max(1, valueColumn-len(key)-1))
}

// Value prints a line with a key and its value.
func (p *Printer) Value(indent int, key, value string) {
	p.Key(indent, key)
	p.Buf = append(append(p.Buf, value...), '\n')
}

// Decimal prints a line with a key and a number.
func (p *Printer) Decimal(indent int, key string, v uint64) {
	p.Key(indent, key)
	p.Buf = append(strconv.AppendUint(p.Buf, v, 10), '\n')
}

// EmptyItem prints a list item that is an empty list.
func (p *Printer) EmptyItem(indent int) {
	p.Item()
	p.indent(indent)
	p.Text("[  ]\n")
}

// Flow prints a line with a key and a list of numbers in brackets. As yaml::Output does, it breaks the line before an element
// that would begin beyond column 70.
func (p *Printer) Flow(indent int, key string, numbers iter.Seq[uint64]) {
	const wrapColumn = 70
	p.Key(indent, key)
	line := 1 + bytes.LastIndexByte(p.Buf, '\n')
	start := len(p.Buf) - line
	p.Text("[ ")
	first := true
	for n := range numbers {
		if !first {
			p.Text(", ")
		}
		first = false
		if len(p.Buf)-line > wrapColumn {
			p.Text("\n")
			line = len(p.Buf)
			p.blanks(start + len("[ "))
		}
		p.Buf = strconv.AppendUint(p.Buf, n, 10)
	}
	p.Text(" ]\n")
}

// begin prints the indentation and the key.
func (p *Printer) begin(indent int, key string) {
	p.indent(indent)
	p.Buf = append(append(p.Buf, key...), ':')
}

// indent prints the indentation; each dash of a list item takes two columns of it.
func (p *Printer) indent(columns int) {
	const dash = "- "
	p.blanks(columns - p.dashes*len(dash))
	for ; p.dashes > 0; p.dashes-- {
		p.Text(dash)
	}
}

func (p *Printer) blanks(n int) { p.Buf = append(p.Buf, strings.Repeat(" ", n)...) }
