// Package irpgo reads, merges and writes LLVM instrumentation profiles: the raw files that instrumented programs
// leave behind (.profraw), the indexed files that compilers read (.profdata), and their text form (.proftext), of
// clang's and rustc's IR-level and front-end instrumentation.
//
// # First calls
//
// [NewReader] opens a profile of any format and version; [Reader.Records] iterates over its functions. [Merger]
// adds profiles up, and [WriteIndexed] or [WriteText] writes the result. For a single file, [Read] does the first
// two steps at once.
//
// # Versions
//
// Raw versions 1 to 5 and 7 to 11, of 32 and 64 bits and both byte orders, also several profiles in one file.
// Version 6 was never released. Version 11 (LLVM 23) is read by its documented layout and has not been checked
// against a real producer. Indexed versions 1 to 13 are read, 4 to 13 written; newer ones are refused as
// unsupported. [Merged.ChooseVersion] finds the version that fits the compilers that made the inputs. Records carry
// no trace of the version they were read from.
//
// # Bytes
//
// What is written equals, byte for byte, what llvm-profdata of the release that introduced the version writes for
// the same content. The exceptions are listed in docs/differences.md.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] with file, section, offset, what was found and what is
// allowed, of one of the classes in package profile. No reader panics, and none allocates more than a small
// multiple of the input, except for compressed names, whose real size it follows. Readers keep slices of the input:
// it must not change while they are used.
//
// # Heap profiles
//
// The memprof section of an indexed profile is read by package memprof, see [Reader.MemProf]. A merge carries it
// along, and [Merger.AddMemProf] adds heap profiles that have no functions beside them.
package irpgo
