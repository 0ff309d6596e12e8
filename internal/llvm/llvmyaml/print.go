package llvmyaml

import (
	"strconv"
	"strings"
)

// A Printer prints in the style of LLVM's yaml::Output. The indentation of a key is in columns and
// includes the dash of a list item.
type Printer struct {
	Buf  []byte // the output so far; the caller may empty it at any time
	item bool   // the next key is the first of a list item
}

// Text prints text unchanged.
func (p *Printer) Text(s string) { p.Buf = append(p.Buf, s...) }

// Item begins a list item: the next key gets a dash.
func (p *Printer) Item() { p.item = true }

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

// begin prints the indentation and the key; the dash of a list item takes two columns of it.
func (p *Printer) begin(indent int, key string) {
	if p.item {
		p.blanks(indent - 2)
		p.Buf = append(p.Buf, "- "...)
		p.item = false
	} else {
		p.blanks(indent)
	}
	p.Buf = append(append(p.Buf, key...), ':')
}

func (p *Printer) blanks(n int) { p.Buf = append(p.Buf, strings.Repeat(" ", n)...) }
