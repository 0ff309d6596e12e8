package classfile

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A parser reads one class file after another and reuses its memory.
type parser struct {
	c       *cursor.Cursor
	data    []byte
	pool    []constant
	major   uint16
	strings map[string]string // descriptors repeat a lot, in other classes too
}

// A constant locates an entry of the constant pool. Index 0 and the second index of a long or double have tag 0.
type constant struct {
	tag    byte
	offset uint32 // of what follows the tag
}

func (p *parser) parse(data []byte) (_ *Class, err error) {
	defer flaw.OfProgram(&err)
	p.c = cursor.New("header", 0, data, binary.BigEndian)
	p.data = data
	if p.strings == nil {
		p.strings = make(map[string]string)
	}
	c := p.c
	if len(data) == 0 {
		c.Fail(c.At(0).Field("size").Got("0 bytes").Want("a class file").Empty())
	}
	if m := c.U32("magic"); m != magic && c.Err() == nil {
		c.Fail(c.At(0).Field("magic").Gotf("%#x", m).Wantf("%#x", uint32(magic)).Unrecognized())
	}
	c.U16("minor version")
	p.major = c.U16("major version")
	if p.major < oldestMajor && c.Err() == nil {
		c.Fail(c.At(c.Offset()-2).Field("major version").Got(p.major).Wantf("at least %d", oldestMajor).Unsupported())
	}
	p.readPool()

	c.Section = "class"
	class := &Class{Major: p.major, Flags: c.U16("access flags")}
	class.Name = strings.ReplaceAll(p.className(), "/", ".")
	c.U16("super class")
	c.Skip(2*uint64(c.Count(uint64(c.U16("number of interfaces")), 2, "number of interfaces")), "interfaces")

	c.Section = "fields"
	for i := range c.Count(uint64(c.U16("number of fields")), memberMinSize, "number of fields") {
		c.Record = i
		c.Skip(6, "field")
		p.skipAttributes()
		if c.Err() != nil {
			break
		}
	}
	c.Section, c.Record = "methods", -1
	n := c.Count(uint64(c.U16("number of methods")), memberMinSize, "number of methods")
	class.Methods = make([]Method, n)
	for i := range class.Methods {
		c.Record = i
		class.Methods[i].Class = class
		p.readMethod(&class.Methods[i])
		if c.Err() != nil {
			break
		}
	}
	c.Section, c.Record = "class attributes", -1
	p.attributes(p.c, func(name string, a *cursor.Cursor) {
		if name == "SourceFile" && class.SourceFile == "" {
			at := a.Offset()
			class.SourceFile = p.string(a, at, a.U16("source file"), "source file")
		}
	})
	if c.Err() == nil && c.Len() > 0 {
		c.Fail(c.At(c.Offset()).Field("end of the class file").Gotf("followed by %d bytes", c.Len()).
			Want("nothing").Corrupt())
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	return class, nil
}

func (p *parser) readPool() {
	c := p.c
	c.Section = "constant pool"
	at := c.Offset()
	count := c.U16("number of constants")
	if c.Err() == nil && count == 0 {
		c.Fail(c.At(at).Field("number of constants").Got(0).Want("at least 1").Corrupt())
	}
	if c.Err() != nil {
		return
	}
	c.Count(uint64(count-1), constantMinSize, "number of constants")
	p.pool = append(p.pool[:0], constant{})
	for len(p.pool) < int(count) && c.Err() == nil {
		c.Record = len(p.pool)
		at := c.Offset()
		tag := c.U8("tag")
		p.pool = append(p.pool, constant{tag, uint32(c.Offset())})
		switch {
		case tag == tagUTF8:
			c.Skip(uint64(c.U16("length of the string")), "string")
		case int(tag) < len(constantSize) && constantSize[tag] > 0:
			c.Skip(constantSize[tag], "constant")
			if tag == tagLong || tag == tagDouble {
				p.pool = append(p.pool, constant{})
			}
		case p.major > newestMajor:
			c.Fail(c.At(at).Field("tag").Got(tag).Want("one known in class files of version 69").Unsupported())
		default:
			c.Fail(c.At(at).Field("tag").Got(tag).Want("1, 3 to 12 or 15 to 20").Corrupt())
		}
	}
	if c.Err() == nil && len(p.pool) > int(count) {
		c.Fail(c.At(c.Offset()).Field("last constant").Got("of two indexes").Want("one of one").Corrupt())
	}
	c.Record = -1
}

// constant returns the offset of the constant at an index of the pool, and fails if
// it has another tag. at is the offset of the index, for the error.
func (p *parser) constant(at int64, index uint16, tag byte, field string) (offset uint32, ok bool) {
	if p.c.Err() != nil {
		return 0, false
	}
	if int(index) >= len(p.pool) || p.pool[index].tag != tag {
		p.c.Fail(p.c.At(at).Field("index of the "+field).Got(index).
			Wantf("the index of a constant with tag %d, below %d", tag, len(p.pool)).Corrupt())
		return 0, false
	}
	return p.pool[index].offset, true
}

// string returns the string at an index of the pool. a is the cursor that read the
// index, at offset at; errors go to p.c.
func (p *parser) string(a *cursor.Cursor, at int64, index uint16, field string) string {
	if a.Err() != nil {
		return ""
	}
	offset, ok := p.constant(at, index, tagUTF8, field)
	if !ok {
		return ""
	}
	start := offset + 2
	raw := p.data[start : start+uint32(binary.BigEndian.Uint16(p.data[offset:]))]
	if s, ok := p.strings[string(raw)]; ok {
		return s
	}
	s, ok := decodeUTF8(raw)
	if !ok {
		p.c.Fail(p.c.At(int64(start)).Field(field).Gotf("%q", raw).Want("modified UTF-8").Corrupt())
		return ""
	}
	p.strings[string(raw)] = s
	return s
}

func (p *parser) className() string {
	at := p.c.Offset()
	offset, ok := p.constant(at, p.c.U16("this class"), tagClass, "class")
	if !ok {
		return ""
	}
	return p.string(p.c, int64(offset), binary.BigEndian.Uint16(p.data[offset:]), "class name")
}

func (p *parser) readMethod(m *Method) {
	c := p.c
	m.Flags = c.U16("access flags")
	at := c.Offset()
	m.Name = p.string(c, at, c.U16("method name"), "method name")
	m.Descriptor = p.string(c, at+2, c.U16("method descriptor"), "method descriptor")
	code := false
	p.attributes(p.c, func(name string, a *cursor.Cursor) {
		if name != "Code" {
			return
		}
		if code {
			a.Fail(a.At(a.Offset()).Field("attribute Code").Got("given twice").Want("at most one").Corrupt())
			return
		}
		code = true
		p.readCode(m, a)
	})
}

// attributes reads the attributes at the cursor. It calls what with a cursor over
// the contents of each; what need not read all of them.
func (p *parser) attributes(c *cursor.Cursor, what func(name string, a *cursor.Cursor)) {
	for range c.Count(uint64(c.U16("number of attributes")), attributeMinSize, "number of attributes") {
		at := c.Offset()
		name := p.string(c, at, c.U16("attribute name"), "attribute name")
		size := uint64(c.U32("length of the attribute"))
		start := c.Offset()
		b := c.Bytes(size, "attribute")
		if c.Err() == nil && p.c.Err() == nil {
			a := cursor.New(name, start, b, binary.BigEndian)
			a.Record = c.Record
			what(name, a)
			p.c.Fail(a.Err())
		}
		if c.Err() != nil || p.c.Err() != nil {
			return
		}
	}
}

func (p *parser) skipAttributes() {
	c := p.c
	for range c.Count(uint64(c.U16("number of attributes")), attributeMinSize, "number of attributes") {
		c.Skip(2, "attribute name")
		c.Skip(uint64(c.U32("length of the attribute")), "attribute")
		if c.Err() != nil {
			return
		}
	}
}

func (p *parser) readCode(m *Method, a *cursor.Cursor) {
	a.Skip(4, "stack and locals")
	at := a.Offset()
	length := a.U32("length of the code")
	if a.Err() == nil && (length == 0 || length > maxCodeLength) {
		a.Fail(a.At(at).Field("length of the code").Got(length).Wantf("1 to %d", maxCodeLength).Corrupt())
	}
	a.Skip(uint64(length), "code")
	m.CodeLength = int(length)
	exceptions := a.Count(uint64(a.U16("length of the exception table")), exceptionSize, "length of the exception table")
	a.Skip(exceptionSize*uint64(exceptions), "exception table")
	p.attributes(a, func(name string, a *cursor.Cursor) {
		if name == "LineNumberTable" {
			m.readLines(a)
		}
	})
	slices.SortStableFunc(m.Lines, func(x, y Line) int { return cmp.Compare(x.BCI, y.BCI) })
}

func (m *Method) readLines(a *cursor.Cursor) {
	n := a.Count(uint64(a.U16("number of lines")), lineSize, "number of lines")
	m.Lines = slices.Grow(m.Lines, n)
	for range n {
		at := a.Offset()
		l := Line{BCI: a.U16("bytecode index"), Line: a.U16("line")}
		if int(l.BCI) >= m.CodeLength {
			a.Fail(a.At(at).Field("bytecode index of a line").Got(l.BCI).
				Wantf("less than the %d bytes of code", m.CodeLength).Corrupt())
		}
		if a.Err() != nil {
			return
		}
		m.Lines = append(m.Lines, l)
	}
}
