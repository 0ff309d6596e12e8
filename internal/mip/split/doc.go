// Package split moves the blocks of a function that never ran into another section,
// .text.unlikely.FUNCTION. There they form a function of their own, FUNCTION.cold, for linkers, unwinders
// and symbolizers. The package edits the assembly text that compilers print for x86_64 ELF; package
// instrument decides which blocks did not run.
//
// Where control falls through from one part into the other, the package adds a jump. Branches need no
// change, since the assembler chooses their form, and jump tables hold distances that have relocations.
// The package computes the call frame information at each instruction and prints it anew in both parts.
//
// Four kinds of blocks do not move: blocks with inline assembly, landing pads, blocks with calls that
// lead to a landing pad, and blocks with labels whose distance to other labels is computed. Labels that
// only debug information refers to stay in the remaining code.
package split
