// Package driver runs a compiler for a build system, as ccache does, and instruments
// what the compiler compiles. It supports clang, gcc and their
// siblings for C++, Objective-C, Fortran, Go, D and Ada, and rustc.
//
// [Run] takes the command line of the compiler. Without the flags -fmachine-profile-generate and
// -fmachine-profile-use the compiler runs as it would without the driver. With the first, the compiler
// compiles each source file to assembly, package instrument instruments it, and the same compiler
// assembles the result; where the command links, the driver adds the runtime of package runtime. All
// flags for this stand among the compiler's own arguments, see docs/mip.md; the driver removes them.
//
// Under link-time optimization the objects hold no machine code. The driver then
// rewrites the assembly while linking, see lto.go and lto_gcc.go.
//
// The driver refuses code that it cannot instrument: XRay, other architectures. It
// passes commands without code to instrument through: preprocessing, precompiled
// headers, and unless a flag asks for them assembler sources.
//
// With -fmachine-profile-use the driver instruments nothing. It lays out the assembly according to the
// profile instead, see instrument.Use, and tells the linker the order of the functions that ran: lld by
// --symbol-ordering-file, gold by --section-ordering-file, ld64 by -order_file, GNU ld by a linker script
// that adds an output section, .text.hot, to the default one. mold and unknown linkers place functions by
// the names of their sections.
//
// # Link units
//
// Objects know the program they become part of by the name that -fmachine-profile-link-unit-name gives;
// its hash ties raw profiles to the map. Without it they are made for "a.out", as in the reference, and
// when linking the driver writes the hash of the output's base name into the headers of the ELF file, so
// that programs and libraries differ without anyone naming them.
//
// # Files
//
// Temporary files are in a folder of their own, which the driver always removes. Compiled runtimes stay in a cache, $XDG_CACHE_HOME/profuse, keyed by
// their source, the compiler and its target; several builds may use it at once.
package cc
