// Package asm parses the assembly text that compilers print into statements, sections, functions, labels
// and basic blocks, for x86_64, AArch64 and ARM, ELF and Mach-O.
//
// [Read] returns a [File]. FindEntry and BuildBlocks recover the blocks of one
// function. When the blocks of all functions are known, ResolveCalls decides
// which calls return, and Infer which blocks need no probe.
//
// The package reads what compilers print, not everything an assembler accepts. Inline assembly and macros
// are opaque: the package reads only the labels that their statements mention.
package asm
