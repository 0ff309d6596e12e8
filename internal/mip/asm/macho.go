package asm

import (
	"bytes"
	"strings"
)

// machOShortSections maps directives to the section that they stand for.
var machOShortSections = map[string]string{
	".text":         "__TEXT,__text,regular,pure_instructions",
	".data":         "__DATA,__data",
	".bss":          "__DATA,__bss",
	".const":        "__TEXT,__const",
	".const_data":   "__DATA,__const",
	".static_const": "__TEXT,__static_const",
	".static_data":  "__DATA,__static_data",
	".cstring":      "__TEXT,__cstring",
	".literal4":     "__TEXT,__literal4",
	".literal8":     "__TEXT,__literal8",
	".literal16":    "__TEXT,__literal16",
	".tdata":        "__DATA,__thread_data",
	".tlv":          "__DATA,__thread_vars",
}

// parseMachOSection reads the operands of .section: segment, section [, type
// [, attributes [, size of stubs]]].
func parseMachOSection(operands []byte) Section {
	args := SplitArgs(operands)
	segment, name := string(args[0]), ""
	if len(args) > 1 {
		name = string(args[1])
	}
	s := Section{Name: segment + "," + name, Key: segment + "," + name}
	s.Code = bytes.Contains(operands, []byte("pure_instructions")) || s.Name == "__TEXT,__text" || s.Name == "__TEXT,__StaticInit"
	s.Loaded = !strings.HasPrefix(segment, "__DWARF")
	s.Exception = name == "__gcc_except_tab"
	return s
}
