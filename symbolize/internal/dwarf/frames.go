package dwarf

import (
	"errors"
	"math"
	"slices"
)

// A Frame is one function at an address.
type Frame struct {
	Function      string // linkage name, or name without one
	File          string // path, absolute if the compiler knew it
	Line          uint32
	Column        uint32
	StartLine     uint32 // of the function's declaration
	Discriminator uint32
	IsInlined     bool // into the next frame
}

// A Unit is the inline tree and the line table of one unit.
//
// It remembers what it has looked up, so only one goroutine at a time may use
// it.
type Unit struct {
	c     *cu // of the tree: the split unit, if there is one
	tree  *tree
	lines *lineTable

	compDir []byte  // of the unit with the lines
	calls   []*call // what is known of the tree's functions
	names   map[uint64]naming
	paths   map[uint32]string
	foreign map[int]*cu // other units that are referred to; nil if unreadable
	text    int         // bytes that names and paths may still have
}

// A call is what a function's DIE says of itself and of where it is inlined.
type call struct {
	naming
	callFile, callLine, callColumn, discriminator uint32
}

// A naming is what DWARF calls a function, and where it says it is declared.
type naming struct {
	name string
	line uint32
	file uint32 // index in the unit's line table, or noFile
}

// noFile is the index of no file, whatever the version: 0 is one in DWARF 5.
const noFile = math.MaxUint32

// Load reads the tree and line table of a unit.
//
// If only part of it can be read, because it is damaged or its .dwo file is
// missing, it returns that part along with the error.
func (d *Data) Load(index int) (*Unit, error) {
	c, err := d.compileUnit(index)
	if err != nil {
		return nil, err
	}
	u := &Unit{
		c: c, compDir: c.string(c.compDir),
		text:  c.maxText(),
		names: make(map[uint64]naming), paths: make(map[uint32]string), foreign: make(map[int]*cu),
	}
	var errs [3]error
	if c.dwoName.form != 0 {
		var split *cu
		if split, errs[0] = d.splitUnit(c); split != nil {
			u.c = split
			u.text += split.maxText()
		}
	}
	if u.tree, errs[1] = u.c.readTree(); u.tree == nil {
		u.tree = new(tree)
	}
	u.lines, errs[2] = c.readLineTable()
	u.calls = make([]*call, len(u.tree.functions))
	return u, errors.Join(errs[:]...)
}

// Size is about how many bytes of memory the unit takes.
func (u *Unit) Size() int {
	n := u.tree.size() + 8*len(u.calls)
	if u.lines != nil {
		n += u.lines.size()
	}
	return n
}

// Frames appends the frames at an address, innermost first: all but the last
// are inlined. Where only the line is known, that is a frame without function;
// where nothing is known, there is no frame.
func (u *Unit) Frames(dst []Frame, addr uint64) []Frame {
	start := len(dst)
	var at row
	var file string
	if u.lines != nil {
		if r := u.lines.find(addr); r != nil {
			// A row without file counts for nothing, as in LLVM.
			if file = u.path(r.file); file != "" {
				at = *r
			}
		}
	}
	f := u.tree.find(addr)
	if f < 0 {
		if file == "" {
			return dst
		}
		return append(dst, Frame{File: file, Line: at.line, Column: at.column, Discriminator: at.discriminator})
	}
	for ; f >= 0 && len(dst)-start < maxDepth; f = u.tree.functions[f].parent {
		c := u.call(f)
		dst = append(dst, Frame{
			Function: c.name, File: file, StartLine: c.line,
			Line: at.line, Column: at.column, Discriminator: at.discriminator,
			IsInlined: u.tree.functions[f].inlined,
		})
		if !u.tree.functions[f].inlined {
			return dst
		}
		// The next is called where this one says it is inlined.
		file = ""
		if u.lines != nil {
			file = u.path(c.callFile)
		}
		at = row{line: c.callLine, column: c.callColumn, discriminator: c.discriminator}
	}
	return dst[:start] // something is inlined into nothing, or too deep
}

func (u *Unit) path(file uint32) string {
	p, ok := u.paths[file]
	if !ok {
		p = u.keep(u.lines.path(file, u.compDir))
		u.paths[file] = p
	}
	return p
}

// keep counts a name or path, and forgets it if there are too many.
func (u *Unit) keep(s string) string {
	if u.text -= len(s); u.text < 0 {
		return ""
	}
	return s
}

// call returns what the DIE of a function says.
func (u *Unit) call(f int32) *call {
	if c := u.calls[f]; c != nil {
		return c
	}
	c := new(call)
	u.calls[f] = c
	off := u.c.off + uint64(u.tree.functions[f].off)
	u.eachAttr(u.c, off, func(s attrSpec, v value) {
		n, _ := v.constant()
		switch s.attr {
		case attrCallFile:
			c.callFile = uint32(n)
		case attrCallLine:
			c.callLine = uint32(n)
		case attrCallColumn:
			c.callColumn = uint32(n)
		case attrGNUDiscriminator:
			c.discriminator = uint32(n)
		}
	})
	c.naming = u.name(off)
	return c
}

// eachAttr calls fn for every attribute of the DIE at an offset.
func (u *Unit) eachAttr(c *cu, off uint64, fn func(attrSpec, value)) {
	r := at(c.d.s.Info[:c.end], off, c.d.BigEndian)
	a := c.abbrevs.get(r.uleb())
	if a == nil {
		return
	}
	for _, s := range a.specs {
		v := readValue(&r, s, c.format)
		if r.bad {
			return
		}
		fn(s, v)
	}
}

// maxOrigins is how many DIEs are followed for the name of a function. Three
// are usual: the inlined function, its abstract instance, its declaration in a
// class.
const maxOrigins = 64

// name finds name and line of a function: in its DIE, in those it is a copy or
// the definition of, and so on. A linkage name further on comes before a plain
// name nearby.
func (u *Unit) name(off uint64) naming {
	// Most DIEs have but a reference to an abstract instance, which has them
	// in common.
	if n, ok := u.names[off]; ok {
		return n
	}
	var name, linkage []byte
	var line uint32
	file := uint32(noFile)
	todo, seen := []uint64{off}, []uint64{off}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c := u.unitOf(next)
		if c == nil {
			continue
		}
		var origin, specification value
		u.eachAttr(c, next, func(s attrSpec, v value) {
			switch s.attr {
			case attrName:
				if name == nil {
					name = c.string(v)
				}
			case attrLinkageName, attrMIPSLinkageName:
				if linkage == nil {
					linkage = c.string(v)
				}
			case attrDeclLine:
				if n, ok := v.constant(); ok && line == 0 {
					line = uint32(n)
				}
			case attrDeclFile:
				if n, ok := v.constant(); ok && file == noFile && c == u.c {
					file = uint32(n)
				}
			case attrAbstractOrigin:
				origin = v
			case attrSpecification:
				specification = v
			}
		})
		for _, v := range [...]value{origin, specification} {
			ref, ok := c.reference(v)
			if ok && len(seen) < maxOrigins && !slices.Contains(seen, ref) {
				todo = append(todo, ref)
				seen = append(seen, ref)
			}
		}
	}
	if linkage != nil {
		name = linkage
	}
	n := naming{u.keep(string(name)), line, file}
	u.names[off] = n
	return n
}

// unitOf returns the unit that an offset of .debug_info is in.
func (u *Unit) unitOf(off uint64) *cu {
	if u.c.first <= off && off < u.c.end {
		return u.c
	}
	i := u.c.d.unitAt(off)
	if i < 0 {
		return nil
	}
	c, ok := u.foreign[i]
	if !ok {
		c, _ = u.c.d.compileUnit(i)
		u.foreign[i] = c
	}
	return c
}
