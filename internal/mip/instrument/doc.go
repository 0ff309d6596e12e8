// Package instrument inserts MIP probes into the assembly text that compilers
// print, before it is assembled. It needs no plug-in, no compiler of its own
// and no debug information, so it works with clang, gcc and rustc alike.
//
// [Rewrite] takes one assembly file and returns it with the probes, the raw records that the probes write
// (section __llvm_mipraw, part of the running program) and the map records that say which function each
// raw record belongs to (section __llvm_mipmap, not loaded on ELF). Package mip reads both. Rewrite only
// adds lines. The [FunctionReport]s give the reason for every function that could not be instrumented.
//
// # What a probe does
//
// A function probe runs before the first instruction of the function, but after the landing markers of
// control-flow integrity (endbr64, bti, paciasp) and the sleds of patchable entries. Under function
// coverage it stores a zero byte; on x86_64 ELF something else to a word that is zero at the start, in
// section __profuse_mip_hits. The runtime makes the raw records of these words, since both then take no
// space in the file. Under call counts it increments the function's counter, which starts at 0xffffffff,
// and calls __profuse_mip_first when the result is zero: on the first call. That function sets the
// counter to one, so that memory holds the number of calls, and records the rank of the first call.
//
// A block probe does the same when control reaches the start of the block. On x86_64 it changes no flags
// and no registers. A block whose coverage follows from other blocks gets no probe; see
// [Options.AllBlockProbes] and package blocks.
//
// With block probes on x86_64, blocks inside functions lose their alignment, see [Options.KeepAlignment]:
// the alignment directives stay in the text, inside a conditional that is always false.
//
// The blocks are blocks of the assembly text. They begin at labels that control can reach and after
// branches, never after calls. A block is covered when its start was reached, whether or not its calls
// returned. The cold part that a compiler puts into another section, FUNCTION.cold, has a record of its
// own under function and block coverage; its entry is covered if control entered the cold part at any
// place.
//
// # What the runtime has to provide
//
// If there is a section __profuse_mip_header, the runtime copies its 32 bytes to the start of section
// __llvm_mipraw, and fills the rest: with 0 for each word of __profuse_mip_hits that is not zero, with
// 0xff for the others. The words have one byte, or four if there are four times as many bytes as records.
//
// Programs with call counts call __profuse_mip_first, hidden in each linked image, with a calling
// convention of its own. It must preserve every register except those named below; on x86_64 it must
// preserve all of them, and only the flags are free:
//
//   - x86_64: called by the third instruction of "incl record(%rip); jne; call".
//     The 32 bits at the return address less 11 are the displacement of the
//     record from the return address less 7.
//   - AArch64: x16 is the address of the record and x17 the link register of
//     the function, which the helper moves back to x30 and then returns to the
//     address it was called with (ret x16). x16 and x17 are free.
//   - ARM: r0 is the address of the record and r1 the link register of the
//     function, which the helper moves to lr. r0 and the flags are free.
//
// The record is {u32 count, u32 timestamp}, aligned to 4; the helper stores the
// next rank, counting from 1, as timestamp.
//
// With samples of return addresses the function is __profuse_mip_sample. It is called in the same way,
// whenever the counter is not negative. Two more words precede the record, {u32 next = 0, u32 due = 1},
// for the runtime's own use; the number of calls is due plus the counter, read as a signed number.
//
// # Using profiles
//
// [Use] applies profiles of an instrumented build to an assembly file: it places the functions, and moves
// blocks that never ran out of functions that did. It does not change what the code does. The
// [FunctionUse]s say what it left in place.
//
// # Limits
//
// The package reads what compilers print, not everything an assembler accepts: inline assembly and macros
// pass through unchanged, and functions that they define are reported as skipped.
//
// Inferred coverage can be wrong after asynchronous events: a fault whose handler leaves by a jump, or a
// profile written while other threads run. Calls cannot make it wrong: the inference assumes that any
// call may fail to return, except calls of certain functions of the C library and of the file that always
// return. With -ffreestanding, a program must not give the name of such a C function to a function that
// may not return, nor the name of exit, abort, longjmp and the like to a function that returns.
package instrument
