// Package instrument puts MIP probes into the assembly text that compilers
// print, before it is assembled. It needs no plug-in, no compiler of its own
// and no debug information, so it works with clang, gcc and rustc alike.
//
// [Rewrite] takes one assembly file and returns it with the probes, the raw
// records the probes write to (section __llvm_mipraw, part of the running
// program) and the map records that say whose they are (section
// __llvm_mipmap, not loaded on ELF). Package mip reads both. The text is
// otherwise untouched: lines are only added. What could not be instrumented is
// listed with its reason in the [Report]; nothing is left out silently.
//
// # What a probe does
//
// A function probe runs before the first instruction of the function, after
// landing markers of control-flow integrity (endbr64, bti, paciasp) and the
// sleds of patchable entries. Under function coverage it stores a zero byte.
// Under call counts it increments the function's counter, which starts at
// 0xffffffff, and calls __profuse_mip_first when the result is zero: the first
// call. That function sets the counter to one, so memory holds the number of
// calls, and notes when the call came.
//
// A block probe stores a zero byte when control reaches the start of the
// block. On x86_64 it changes no flags and no registers. Blocks whose coverage
// follows from that of others get none, see [Options.AllBlockProbes] and package
// blocks.
//
// With block probes on x86_64, blocks inside of functions lose their alignment,
// see [Options.KeepAlignment]: the lines that ask for it stay, in a conditional
// that is never true.
//
// Blocks are those of the assembly text: they begin at labels that control can
// reach and after branches, never after calls. A block is covered when its
// start was reached, whether or not its calls returned. The cold part that a
// compiler puts into another section, FUNCTION.cold, has a record of its own
// under function and block coverage; its entry tells that it was entered
// anywhere.
//
// # What the runtime has to provide
//
// Programs with call counts call __profuse_mip_first, hidden in each linked
// image, with a convention of its own; it must preserve every register but the
// ones named, on x86_64 even those (only the flags are free):
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
// The record is {u32 count, u32 timestamp}, aligned to 4; the helper stores
// the next rank, counting from 1, as timestamp.
//
// With samples of return addresses the function is __profuse_mip_sample, in the
// same way, and is called whenever the counter is not negative. Two more words
// precede the record, {u32 next = 0, u32 due = 1}, for the runtime's own use;
// the number of calls is the counter, as a signed number, and due together.
//
// # Using profiles
//
// [Use] does the reverse: it places the functions of an assembly file by what
// profiles of an instrumented build say of them, and moves blocks that never
// ran out of functions that did. It changes nothing about what the code does;
// what it leaves as it is, is in the [UseReport].
//
// # Limits
//
// The package reads what compilers print, not everything an assembler accepts:
// inline assembly and macros pass through untouched and what they define is
// reported as skipped. Asynchronous events – a fault whose handler leaves by a
// jump, a profile written while other threads run – can separate a block from
// the one its coverage is inferred from; calls, which may all fail to return,
// never can, but for those of functions of the C library and of the file itself
// that always do. With -ffreestanding, programs must not give the names of the
// former to functions that do not return, nor those of exit, abort, longjmp and
// the like to functions that do.
package instrument
