// Package split moves the blocks of a function that never ran into another
// section, .text.unlikely.FUNCTION, where they are a function FUNCTION.cold of
// their own to linkers, unwinders and symbolizers. It does so in the assembly
// text of x86_64 ELF that compilers print; package instrument decides which
// blocks did not run.
//
// Where control falls through from one part into the other the package adds a
// jump. Branches need no change, since the assembler chooses their form, and jump
// tables hold distances that have relocations. Call frame information is computed
// for each instruction and printed anew in both parts.
//
// These blocks stay: blocks with inline assembly, landing pads, blocks with calls
// that lead to a landing pad, and blocks with labels whose distance to other
// labels is computed. Labels that only debug information refers to stay where
// they are, among the code that is left.
package split
