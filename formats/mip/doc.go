// Package mip reads, merges and writes MIP (Machine IR Profile) files: the raw profiles
// of instrumented programs (.mipraw), the maps that list a program's functions (.mipmap),
// merged profiles (.mip) and their YAML form. LLVM never accepted MIP; the package follows
// the code of review D104060 and its later branches.
//
// # First calls
//
// [FindMap] finds the map in a linked binary. [Read] turns it into an empty profile, a [Merger] adds raw
// profiles, and [WriteMIP] or [WriteYAML] writes the result, which [Read] reads back. [Profile.Order]
// returns the order of functions for a linker, [Profile.View] the format-neutral view.
//
// # Generations
//
// Two generations of the format have version number 8. The package reads generation A (24-byte header),
// and reads and writes generation B (32-byte header, as in the document), for 32-bit and 64-bit targets.
// The .mip that the code of generation B writes differs from the document; [WriteOptions] also offers the
// document's layout. Profiles in memory do not depend on the generation.
//
// # Call edges
//
// Programs instrumented with [ReturnAddress] write samples of return addresses after their raw records,
// as a file of type .mipret. A merge turns them into [CallEdge]s of the callees; [Profile.Calls] finds
// the callers. The document only names samples and edges; the layout of their fields is profuse's own.
//
// # Merging
//
// A raw profile has no names and no framing, and the module hash that connects it with a map is a hash of
// the program's name, not of its code. A merge therefore cannot always tell a raw profile of an older
// build; it reports a difference in size and impossible counts.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] of one of the classes in package profile, with file,
// section, offset or line, and the found and the allowed value. No reader panics or allocates more than a
// small multiple of the input. The YAML reader refuses anchors, aliases and tags. Readers retain slices
// of the input, which must not change while they are in use.
package mip
