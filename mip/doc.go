// Package mip reads, merges and writes MIP (Machine IR Profile) files: the raw
// profiles of instrumented programs (.mipraw), the maps that say which
// functions a program has (.mipmap), merged profiles (.mip) and their YAML
// form. LLVM never merged MIP; the format is that of review D104060 and its
// later branches, in the form their code gave it.
//
// # First calls
//
// [FindMap] takes the map out of a linked binary. [Read] makes an empty profile
// of it, a [Merger] adds raw profiles, and [WriteMIP] or [WriteYAML] writes the
// result, which [Read] reads back. [Profile.Order] is the order of functions
// for a linker, [Profile.View] the view that all formats share. [WriteMap] and
// [WriteRaw] make the files of programs and runs that there never were, to test
// what reads such files.
//
// # Generations
//
// Two generations call themselves version 8. Generation A (24-byte header) is
// read, generation B (32-byte header, the document's) is read and written, for
// 32-bit and 64-bit targets. The .mip that the code of generation B writes
// differs from the document; [MIPOptions] has the document's layout, too.
// Profiles in memory carry no trace of what they were read from.
//
// # Call edges
//
// Programs instrumented with [ReturnAddress] write samples of return addresses
// behind their raw records, as a file of type .mipret. Merging makes them the
// [CallEdge]s of the functions called; [Profile.Calls] says who the callers are.
// Of all this the document has only the names: what the fields are is ours.
//
// # Merging
//
// A raw profile has no names and no framing, and the module hash that joins it
// with a map is that of the program's name, not of its code. So a raw profile
// of an older build may pass for one of this build; what can be told apart, by
// size or by damaged counts, is reported.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] with file, section, offset
// or line, what was found and what is allowed, of one of the classes in package
// profile; where the reference tool llvm-mipdata has words for it,
// [LLVMMessages] returns them. No reader panics, and none allocates more than a
// small multiple of the input. YAML is read by a parser of the part that is
// needed, which refuses anchors, aliases and tags. Readers keep slices of the
// input: it must not change while they are used.
package mip
