// Package symbolize turns machine addresses into functions, source files,
// lines and inlined frames, from DWARF 2 to 5 in ELF and Mach-O files and WebAssembly modules.
//
//	f, err := symbolize.Open("a.out", symbolize.Options{})
//	…
//	defer f.Close()
//	frames, err := f.Frames(0x401136)    // innermost first
//
// Addresses are link-time addresses of the file; in WebAssembly, offsets in the code section. [File.Segments] relates them to the addresses of a process;
// [File.BuildID] shows whether the process ran this file.
//
// For more than a few addresses use [File.Batch]: it reads the debug information of every compilation unit that
// has one of the addresses once, several units in parallel.
//
// # Where debug information is found
//
// The package looks for debug information in the file itself, compressed or not. If there is none and
// [Options.NoDebugFiles] is not set, it looks for Mach-O in the .dSYM bundle beside the file, and for ELF in
// DIR/.build-id/xx/yyyy.debug and where .gnu_debuglink points. It takes units of split DWARF from FILE.dwp, or
// from the .dwo files that the units name; a missing file is an error that matches fs.ErrNotExist and names it.
//
// # Agreement with LLVM
//
// Frames equal the frames of LLVM 22: of llvm-profdata when it reads MemProf's raw profiles and, with
// [Options.SymbolTable], of llvm-symbolizer (--functions=linkage --inlines --no-demangle). Tests compare every
// address of many programs. Differences:
//
//   - A file's own debug information takes precedence over a separate file.
//   - The older compressed sections, named .zdebug_*, are read.
//   - Line tables may have more than 65535 files and columns.
//   - .dwo files are also searched beside the program.
//   - Relocatable files (.o) but for Mach-O are refused, because all of their
//     sections are at address 0.
//   - Functions of WebAssembly without debug information have no names.
//
// # Hostile input
//
// Files may be damaged or malicious. Memory is proportional to the size of the file, overlapping tables are read a
// bounded number of times, sections inflate by a bounded ratio, and an address that is nested in more than 2000
// functions gets no frames. Errors about contents are *[profile.FormatError]; their offsets in sections of debug
// information count from the section's (decompressed) start, as in the output of dwarfdump.
package symbolize
