// Package memprof reads, merges and writes LLVM MemProf heap profiles: the raw
// files that programs built with -fmemory-profile leave behind, the memprof
// section of indexed profiles (.profdata), which compilers read with
// -fmemory-profile-use, and MemProf YAML.
//
// # First calls
//
// [ReadRaw] reads a raw profile, symbolize.OpenPrograms opens the programs it is of,
// and [RawProfile.Symbolize] makes a [Profile] of it. [ReadYAML] and
// [IndexedReader.Profile] read the other forms. A [Merger] adds profiles up;
// [NewSection] arranges the result for an indexed file, which package irpgo
// reads and writes around it (irpgo.Profile.MemProf), and [WriteYAML] prints
// it. [Profile.Contexts] lists what a profile knows of each allocation
// context, and [Thresholds.Classify] tells how warm it is.
//
// # Versions
//
// Raw versions 1 to 5 are read. Sections of versions 0 to 4, with any schema,
// are read and written; profiles carry no trace of the version they were read
// from. What compilers read: clang 15 to 18 version 0, clang 19 versions 0 to
// 3, clang 20 versions 1 to 3, clang 21 and 22 versions 2 to 4 (19 and 22 by
// test, the others by their sources). Version 3 in an indexed file of version
// 12 suits all from 19 on. Callees of call sites and
// data-access profiles need version 4; no version holds access histograms.
//
// # Bytes
//
// Sections and YAML equal, byte for byte, those of llvm-profdata 22 for the
// same single input, and those of older releases where
// [WriteOptions.LLVMRelease] names one. Three things are not reproduced: the
// compressed bytes of data-access strings, the meaningless address that LLVM
// writes as AccessHistogram in full schemas, and the order that LLVM 19 and
// older give to frames in the tables of versions 0 to 2.
//
// # Merging
//
// What two profiles say of one context in one function is merged field by
// field. Counts, totals and histogram buckets are added, minima and maxima
// joined; the timestamps are those of the latest allocation and deallocation;
// CPU ids and data types stay only where all agree, else they become unknown
// (2^32-1 and 0). Sums that outgrow their fields stop at the largest value and
// are reported. A weight counts a profile several times.
//
// Fields that one of the two does not know are not known of the sum, for a
// part of a sum is no sum: a full-schema profile merged with a hot/cold one
// keeps, of their common contexts, the hot/cold fields. [Profile.KnownFields]
// is the schema that suits the result.
//
// Call sites with the same frames become one, with all their callees. Data
// accessed in one profile is not cold in the sum. The result does not depend
// on the order or grouping of the inputs.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] with section, offset or
// line, what was found and what is allowed. No reader panics, and none
// allocates more than a small multiple of the input, except for compressed
// strings, whose real size it follows: call stacks are kept as a tree, so that
// the array of versions 3 and 4 does not unfold. Printing unfolds them: the
// YAML of a hostile profile can be much larger than the profile.
package memprof
