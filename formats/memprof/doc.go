// Package memprof reads, merges and writes LLVM MemProf heap profiles: the raw files that programs
// built with -fmemory-profile write, the memprof section of indexed profiles (.profdata), which
// compilers read with -fmemory-profile-use, and MemProf YAML.
//
// # First calls
//
// [ReadRaw] reads a raw profile, symbolize.OpenPrograms opens its programs, and
// [RawProfile.Symbolize] turns it into a [Profile]. [ReadYAML] and
// [IndexedReader.Profile] read the other formats. A [Merger] merges profiles;
// [NewSection] arranges the result for an indexed file, whose other parts package irpgo
// reads and writes (irpgo.Profile.MemProf), and [WriteYAML] prints it. [Profile.Contexts] iterates over
// the allocation contexts, and [Thresholds.Classify] classifies them as cold, notcold or hot.
//
// # Versions
//
// The package reads raw versions 1 to 5, and reads and writes sections of versions 0 to 4 with any
// schema. A [Profile] does not depend on the version it was read from. Compilers read these versions of
// the section: clang 15 to 18 version 0, clang 19 versions 0 to 3, clang 20 versions 1 to 3, clang 21
// and 22 versions 2 to 4 (19 and 22 by test, the others by their sources). Version 3 in an indexed file
// of version 12 suits all from 19 on. Callees of call sites and data-access profiles need version 4; no
// version holds access histograms.
//
// # Bytes
//
// For a single input, sections and YAML equal the output of llvm-profdata 22 byte for byte, or the
// output of an older release that [WriteOptions.LLVMRelease] names. Three things differ: the compressed
// bytes of data-access strings, the meaningless address that LLVM writes as AccessHistogram in full
// schemas, and the order of frames in the tables of versions 0 to 2 of LLVM 19 and older.
//
// # Merging
//
// A merge combines the MIBs of one context in one function field by field. It adds counts, totals and
// histogram buckets, and takes the least minimum, the greatest maximum and the latest timestamps. CPU
// ids and data types that differ become unknown (2^32-1 and 0). Sums saturate at the largest value of
// their field, with a warning. A weight w counts a profile w times.
//
// A field that one of the two MIBs lacks is unknown in the result, because a partial sum would be
// wrong: a context of a full-schema profile merged with the same context of a hot/cold profile keeps
// the hot/cold fields. [Profile.KnownFields] is the schema to write the result with.
//
// Call sites with the same frames become one, with all their callees. Data accessed in one profile is
// not cold in the result. The result does not depend on the order or grouping of the inputs.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] with section, offset or line, the found and the
// allowed value. No reader panics, and none allocates more than a small multiple of the input, apart
// from the inflated size of compressed strings. Call stacks form a tree, so the shared stacks of
// versions 3 and 4 stay shared in memory. Printing expands them: the YAML of a hostile profile can be
// much larger than the profile.
package memprof
