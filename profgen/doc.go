// Package profgen makes sample profiles: it turns sums of branches and ranges of instructions, as processors with branch
// records (LBR) yield them, and the program into the [sampleprof.Profile] that llvm-profgen 22 makes of them.
//
//	f, err := symbolize.Open("app", symbolize.Options{})
//	...
//	program, err := profgen.Open(f, profgen.Options{})
//	...
//	counts, err := profgen.ReadUnsymbolized("app.unsym", data, program.Base)
//	...
//	p, err := program.Lines(counts)
//
// Profiles are by source lines (AutoFDO), of programs for x86-64 and AArch64 in ELF files with debug information and a symbol table.
//
// # How counts become a profile
//
// A range is a run of instructions without a taken branch: each instruction of it ran as often as the range. The
// count of a place in the source is the greatest count of its instructions, times the duplication factor of its
// discriminator. Totals of functions add up the counts of all instructions, each times its size in bytes. Places of
// functions that ran have count 0 if they did not run. A branch to the first instruction of a function is a call.
package profgen
