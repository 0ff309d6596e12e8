package dwarf

import (
	"errors"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
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

// A Unit is the inline tree and the line table of one unit. It caches lookups and is not safe for concurrent use.
type Unit struct {
	c     *cu // of the tree: the split unit, if there is one
	tree  *tree
	lines *lineTable

	compDir []byte  // of the unit with the lines
	calls   []*call // of the tree's functions, as far as they have been looked up
	names   map[uint64]naming
	paths   map[uint32]string
	foreign map[int]*cu // other units that are referred to; nil if unreadable
	text    int         // bytes that names and paths may still have
}

// A call is the decoded DIE of a function: its name, and the call site that it is inlined at.
type call struct {
	naming
	callFile, callLine, callColumn, discriminator uint32
}

// A naming is the name of a function and the place of its declaration.
type naming struct {
	name string
	line uint32
	file uint32 // index in the unit's line table, or noFile
}

// noFile is the index of no file in all versions; 0 is a valid index in DWARF 5.
const noFile = math.MaxUint32

// Load reads the tree and line table of a unit.
//
// If only part of it can be read, because it is damaged or its .dwo file is
// missing, it returns that part along with the error.
func (d *Data) Load(index int) (u *Unit, err error) {
	defer flaw.OfProgram(&err)
	c, err := d.compileUnit(index)
	if err != nil {
		return nil, err
	}
	u = &Unit{
		c: c, compDir: c.string(c.compDir),
		text:  c.maxText(),
		names: make(map[uint64]naming), paths: make(map[uint32]string), foreign: make(map[int]*cu),
	}
	var errs [3]error
	if c.dwoName.form != 0 {
		var split *cu
		split, errs[0] = d.splitUnit(c)
		if split != nil {
			u.c = split
			u.text += split.maxText()
		}
	}
	u.tree, errs[1] = u.c.readTree()
	if u.tree == nil {
		u.tree = new(tree)
	}
	u.lines, errs[2] = c.readLineTable()
	u.calls = make([]*call, len(u.tree.functions))
	return u, errors.Join(errs[:]...)
}

// Size returns the approximate memory of the unit in bytes.
func (u *Unit) Size() int {
	n := u.tree.size() + 8*len(u.calls)
	if u.lines != nil {
		n += u.lines.size()
	}
	return n
}

// Frames appends the frames at an address, innermost first; all but the last are inlined. If only the line is
// known, it appends one frame without a function; if nothing is known, it appends none.
func (u *Unit) Frames(dst []Frame, addr uint64) []Frame {
	start := len(dst)
	var at row
	var file string
	if u.lines != nil {
		if r := u.lines.find(addr); r != nil {
			// Like LLVM, ignore a row without a file.
			file = u.path(r.file)
			if file != "" {
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
		// This function's DIE holds the call site in the next frame's function.
		file = ""
		if u.lines != nil {
			file = u.path(c.callFile)
		}
		at = row{line: c.callLine, column: c.callColumn, discriminator: c.discriminator}
	}
	return dst[:start] // no outermost function, or more than maxDepth frames
}

func (u *Unit) path(file uint32) string {
	p, ok := u.paths[file]
	if !ok {
		p = u.keep(u.lines.path(file, u.compDir))
		u.paths[file] = p
	}
	return p
}

// keep returns s, or "" once the unit's names and paths exceed maxText.
func (u *Unit) keep(s string) string {
	u.text -= len(s)
	if u.text < 0 {
		return ""
	}
	return s
}

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

// maxOrigins bounds the DIEs that name follows. Three are usual: the inlined
// function, its abstract instance, its declaration in a class.
const maxOrigins = 64

// name finds the name and line of a function in its DIE and, recursively, in the DIEs that DW_AT_abstract_origin
// and DW_AT_specification refer to. It prefers a linkage name in any of them over a plain name.
func (u *Unit) name(off uint64) naming {
	// Most DIEs refer to an abstract instance, which many share.
	if n, ok := u.names[off]; ok {
		return n
	}
	found := nameSearch{file: noFile}
	todo, seen := []uint64{off}, []uint64{off}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c := u.unitOf(next)
		if c == nil {
			continue
		}
		found.origin, found.specification = value{}, value{}
		u.eachAttr(c, next, func(s attrSpec, v value) { found.addAttr(c, c == u.c, s.attr, v) })
		for _, v := range [...]value{found.origin, found.specification} {
			ref, ok := c.reference(v)
			if ok && len(seen) < maxOrigins && !slices.Contains(seen, ref) {
				todo = append(todo, ref)
				seen = append(seen, ref)
			}
		}
	}
	name := found.name
	if found.linkage != nil {
		name = found.linkage
	}
	n := naming{u.keep(string(name)), found.line, found.file}
	u.names[off] = n
	return n
}

// A nameSearch is what the DIEs of a function have said of it so far. The first DIE that says something counts.
type nameSearch struct {
	name, linkage         []byte
	line, file            uint32
	origin, specification value // of the last DIE
}

// addAttr takes an attribute. own: the DIE is in the unit whose line table has the files.
func (n *nameSearch) addAttr(c *cu, own bool, attr uint16, v value) {
	switch attr {
	case attrName:
		if n.name == nil {
			n.name = c.string(v)
		}
	case attrLinkageName, attrMIPSLinkageName:
		if n.linkage == nil {
			n.linkage = c.string(v)
		}
	case attrDeclLine:
		if line, ok := v.constant(); ok && n.line == 0 {
			n.line = uint32(line)
		}
	case attrDeclFile:
		if file, ok := v.constant(); ok && n.file == noFile && own {
			n.file = uint32(file)
		}
	case attrAbstractOrigin:
		n.origin = v
	case attrSpecification:
		n.specification = v
	}
}

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
