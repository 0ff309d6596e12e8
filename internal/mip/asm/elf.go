package asm

import (
	"bytes"
	"strings"
)

// elfSection returns a section with the attributes that its name implies.
func elfSection(name string) Section {
	s := Section{Name: name, Key: name}
	family := func(prefix string) bool { return name == prefix || strings.HasPrefix(name, prefix+".") }
	switch {
	case family(".text"), family(".init"), family(".fini"):
		s.Code, s.Loaded = true, true
	case family(".data"), family(".bss"), family(".rodata"), family(".tdata"), family(".tbss"):
		s.Loaded = true
	}
	s.Exception = family(".gcc_except_table")
	return s
}

// parseELFSection reads the operands of .section:
//
//	name [, "flags" [, @type [, entsize if M] [, group [, comdat] if G] [, symbol if o] [, unique, N]]]
func (t *sectionTracker) parseELFSection(operands []byte) Section {
	args := SplitArgs(operands)
	s := elfSection(string(Unquote(args[0])))
	if len(args) < 2 || len(args[1]) == 0 || args[1][0] != '"' {
		return s
	}
	flags := Unquote(args[1])
	s.Code = bytes.IndexByte(flags, 'x') >= 0
	s.Loaded = bytes.IndexByte(flags, 'a') >= 0
	next := 3
	// Sections that are merged have the size of their entries next.
	if bytes.IndexByte(flags, 'M') >= 0 {
		next++
	}
	if bytes.IndexByte(flags, 'G') >= 0 && len(args) > next {
		s.Group = string(args[next])
		s.Comdat = len(args) > next+1 && string(args[next+1]) == "comdat"
	}
	if bytes.IndexByte(flags, '?') >= 0 { // the group of the previous section
		s.Group, s.Comdat = t.Sections[t.current].Group, t.Sections[t.current].Comdat
	}
	s.Key = s.Name + "\x00" + s.Group
	if len(args) > 3 && string(args[len(args)-2]) == "unique" {
		s.Key += "\x00" + string(args[len(args)-1])
	} else if s.Group == "" {
		s.Key = s.Name // as for the short forms
	}
	return s
}
