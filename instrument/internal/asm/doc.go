// Package asm takes apart the assembly text that compilers print: statements,
// sections, functions, labels and basic blocks, for x86_64, AArch64 and ARM, ELF
// and Mach-O.
//
// [Read] returns a [File]. FindEntry and BuildBlocks find the blocks of one of its
// functions; when those of all functions are known, ResolveCalls decides which
// calls return, and Infer which blocks need no probe.
//
// The package reads what compilers print, not everything an assembler accepts.
// Inline assembly and macros are opaque: a statement in them is only looked at
// for the labels that it mentions.
package asm
