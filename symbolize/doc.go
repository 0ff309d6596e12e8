// Package symbolize turns machine addresses into functions, source files,
// lines and inlined frames, from DWARF 2 to 5 in ELF and Mach-O files.
//
//	f, err := symbolize.Open("a.out", symbolize.Options{})
//	…
//	defer f.Close()
//	frames, err := f.Frames(0x401136)    // innermost first
//
// Addresses are those of the file: what the program would have if it were
// loaded where it was linked to be. [File.Segments] and [File.PreferredBase]
// tell how to get there from the addresses of a process, [File.BuildID]
// whether it ran this file.
//
// For more than a few addresses use [File.Batch]: it reads the debug
// information of one compilation unit after another, several at a time, and
// only of those that are hit.
//
// # Where debug information is found
//
// In the file itself, compressed or not. Otherwise, unless
// [Options.NoDebugFiles] is set, for Mach-O in the .dSYM bundle beside it, for
// ELF in DIR/.build-id/xx/yyyy.debug and where .gnu_debuglink says. Units of
// split DWARF are taken from FILE.dwp, or from the .dwo files that they name;
// one that is missing is a [*SplitError].
//
// # Agreement with LLVM
//
// Frames are those that LLVM 22 finds: llvm-profdata when it reads MemProf's
// raw profiles and, with [Options.SymbolTable], llvm-symbolizer
// (--functions=linkage --inlines --no-demangle). Tests compare every address
// of many programs. Differences:
//
//   - A file that has debug information is not overruled by a separate one.
//   - Sections compressed the older way, named .zdebug_*, are read.
//   - Line tables may have files and columns beyond 65535.
//   - A program that was moved finds its .dwo files beside it.
//   - Relocatable ELF files (.o) are refused: all of their sections are at
//     address 0.
//
// # Hostile input
//
// Files may be damaged or malicious: nothing is allocated that their size does
// not justify, tables that overlap are not read over and over, decompressed
// sections are bounded by a ratio, and an address in more than 2000 functions
// is in none. Errors about contents are *[profile.FormatError]; in sections of
// debug information offsets count from the section's (decompressed) start, as
// dwarfdump prints them.
package symbolize
