// Package driver stands between a build system and a compiler, as ccache does,
// and instruments what passes: clang, gcc and their C++, Objective-C and
// Fortran kin, and rustc.
//
// [Run] takes the command line of the compiler. Without the flags
// -fmachine-profile-generate and -fmachine-profile-use in it the compiler runs
// as it would have without the driver. With the first, each source file is compiled to assembly, instrumented
// by package instrument, and assembled by the same compiler; where the command
// links, the runtime of package runtime is added. Everything that says how to
// do this stands among the compiler's own arguments, see docs/mip.md, and is taken
// out before the compiler sees them.
//
// What cannot be instrumented is an error: link-time optimization, XRay, large
// code models, other architectures. What needs no instrumentation passes
// through: assembler sources, preprocessing, precompiled headers.
//
// With -fmachine-profile-use nothing is instrumented. The assembly is laid out
// by the profile instead, see instrument.Use, and the linker is told the order
// of the functions that ran in the way it understands: lld by
// --symbol-ordering-file, gold by --section-ordering-file, ld64 by -order_file,
// GNU ld by a linker script that adds an output section, .text.hot, to the
// one in use. mold and unknown linkers go by the names of sections.
//
// # Link units
//
// Objects know the program they become part of by the name that
// -fmachine-profile-link-unit-name gives; its hash ties raw profiles to the map.
// Without it they are made for "a.out", as in the reference, and when linking
// the driver writes the hash of the output's base name into the headers of the
// ELF file, so that programs and libraries differ without anyone naming them.
//
// # Files
//
// Temporary files live in a folder of their own that is removed whatever
// happens. Compiled runtimes stay in a cache, $XDG_CACHE_HOME/profuse, keyed by
// their source, the compiler and its target; several builds may use it at once.
package driver
