package dwarf

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A Probe is the counters of a function, described by the compiler for profiles that leave their data to the debug
// information: a variable below the function, with annotations. What is missing is zero, see Has.
type Probe struct {
	Offset   uint64 // of the variable in .debug_info
	Function string // annotation "Function Name": the PGO name
	Hash     uint64 // annotation "CFG Hash"
	Counters uint64 // annotation "Num Counters"
	Counter  uint64 // address of the first one
	Entry    uint64 // address of the function
	Has      ProbeFields

	// Of the function's declaration.
	LinkageName string
	File        string // with its directory, without that of the compilation
	Line        uint64
}

// ProbesOf calls yield for the probes of a *symbolize.File, see [Data.Probes]. Package
// symbolize sets it, for package irpgo alone: as a method it would be promised to all.
var ProbesOf func(file any, yield func(*Probe)) error

// ProbeFields is the set of fields of a Probe that are there.
type ProbeFields uint8

// The fields of a probe that can be missing.
const (
	HasFunction ProbeFields = 1 << iota
	HasHash
	HasCounters
	HasCounter
	HasEntry
)

// probePrefix is what the names of the variables begin with (INSTR_PROF_PROFC_VAR_PREFIX).
var probePrefix = []byte("__profc_")

// Probes calls yield for every probe, in the order of the file. It skips units that
// it cannot read, and returns the first reason.
func (d *Data) Probes(yield func(*Probe)) (err error) {
	defer flaw.OfProgram(&err)
	var first error
	for i := range d.units {
		u := Unit{names: make(map[uint64]naming), foreign: make(map[int]*cu)}
		var err error
		if u.c, err = d.compileUnit(i); err == nil {
			u.text = u.c.maxText()
			err = u.probes(yield)
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}

type level struct {
	tag   uint16
	off   uint64
	probe *Probe // of a variable that is one
}

func (u *Unit) probes(yield func(*Probe)) error {
	c := u.c
	// The tree of other lookups has functions alone: probes are variables, so all entries are read.
	r := at(c.d.s.Info[:c.end], c.first, c.d.BigEndian)
	levels := make([]level, 0, 64)
	var lines *lineHeader
	for r.more() {
		off := uint64(r.off)
		n := r.uleb()
		if n == 0 {
			if len(levels) == 0 {
				continue
			}
			// The annotations are children of the variable: they are complete when its children end.
			if p := levels[len(levels)-1].probe; p != nil {
				if lines == nil {
					lines = u.readLineHeader()
				}
				u.function(p, levels[len(levels)-2].off, lines)
				yield(p)
			}
			levels = levels[:len(levels)-1]
			continue
		}
		a := c.abbrevs.get(n)
		if a == nil {
			return c.d.badCode(off, n)
		}
		self := level{tag: a.tag, off: off}
		var parent level
		if len(levels) > 0 {
			parent = levels[len(levels)-1]
		}
		switch {
		// Variables of functions without children are ordinary static ones.
		case a.tag == tagVariable && a.children && parent.tag == tagSubprogram:
			self.probe = u.variable(&r, a, off)
		case a.tag == tagLLVMAnnotation && parent.probe != nil:
			u.annotation(&r, a, parent.probe)
		default:
			skipAttrs(&r, a, c.format)
		}
		if r.bad {
			return c.d.cut("info", off, "entry")
		}
		if a.children {
			levels = append(levels, self)
		}
	}
	return nil
}

func (u *Unit) variable(r *buf, a *abbrev, off uint64) *Probe {
	p := &Probe{Offset: off}
	named := false
	for _, s := range a.specs {
		v := readValue(r, s, u.c.format)
		switch s.attr {
		case attrName:
			named = bytes.HasPrefix(u.c.string(v), probePrefix)
		case attrLocation:
			if addr, ok := u.location(v); ok {
				p.Counter, p.Has = addr, p.Has|HasCounter
			}
		}
	}
	if !named || r.bad {
		return nil
	}
	return p
}

func (u *Unit) location(v value) (uint64, bool) {
	c := u.c
	r := at(c.d.s.Info[:c.end], v.u, c.d.BigEndian)
	switch v.form {
	case formExprloc, formBlock:
		r.uleb()
	case formBlock1:
		r.u8()
	case formBlock2:
		r.u16()
	case formBlock4:
		r.u32()
	default:
		return 0, false
	}
	switch r.u8() {
	case opAddr:
		addr := r.uint(c.addrSize)
		return addr, !r.bad
	case opAddrx:
		if index := r.uleb(); !r.bad {
			return c.indexedAddress(index)
		}
	}
	return 0, false
}

func (u *Unit) annotation(r *buf, a *abbrev, p *Probe) {
	var name []byte
	var content value
	for _, s := range a.specs {
		switch v := readValue(r, s, u.c.format); s.attr {
		case attrName:
			name = u.c.string(v)
		case attrConstValue:
			content = v
		}
	}
	if r.bad {
		return
	}
	// InstrProfCorrelator::FunctionNameAttributeName, CFGHashAttributeName, NumCountersAttributeName
	number, isNumber := content.constant()
	switch string(name) {
	case "Function Name":
		if s := u.c.string(content); s != nil {
			p.Function, p.Has = u.keep(string(s)), p.Has|HasFunction
		}
	case "CFG Hash":
		if isNumber {
			p.Hash, p.Has = number, p.Has|HasHash
		}
	case "Num Counters":
		if isNumber {
			p.Counters, p.Has = number, p.Has|HasCounters
		}
	}
}

func (u *Unit) function(p *Probe, off uint64, lines *lineHeader) {
	u.eachAttr(u.c, off, func(s attrSpec, v value) {
		if addr, ok := u.c.address(v); ok && s.attr == attrLowPC {
			p.Entry, p.Has = addr, p.Has|HasEntry
		}
	})
	n := u.name(off)
	p.LinkageName, p.Line = n.name, uint64(n.line)
	if lines != nil {
		p.File = u.keep(lines.relativePath(n.file))
	}
}

func (u *Unit) readLineHeader() *lineHeader {
	c := u.c
	if c.line.form == 0 {
		return nil
	}
	h := new(lineHeader)
	r, err := h.readHeader(c)
	if err != nil || c.spend(partLines, "line", len(c.d.s.Line), r.off-int(c.line.u)) != nil {
		return nil
	}
	return h
}
