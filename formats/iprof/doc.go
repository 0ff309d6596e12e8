// Package iprof reads, checks, merges, prunes and writes profiles of GraalVM native
// images (.iprof): JSON files with counts of calls, branches, receiver types, locks and
// sampled stacks, each with a bytecode and its inlining context.
//
// # First calls
//
// [Read] reads a file into a [Profile]; [Write] writes it back, byte for byte like the tools.
// A [Merger] merges profiles, [Prune] makes them smaller, and [Renumber] makes them comparable.
// [Check] reports errors in a file. [Section.All] iterates over the counts of one kind with their
// contexts. [Profile.View] returns the format-neutral view, with sums by function and edge, for
// exports and comparisons.
//
// # Versions
//
// Versions 1.0.0 and 1.1.0 are documented. 0.4.0 has the layout of 1.0.0; 0.2.0, which
// has other names for everything, is read and then written as 1.0.0. Later minor versions
// are read with a warning and keep their unknown members; other major versions are
// refused. A profile in memory has the model of 1.1.0 whatever its version.
//
// # Ids
//
// Ids of types and methods are valid within one file, so everything that combines files
// matches names: see [MethodRef]. The names of some generated classes differ from build
// to build. The sum of profiles of different builds contains the contexts of each build.
//
// # JSON
//
// The package has its own JSON scanner. It accepts any order of keys, white space, escapes and a byte
// order mark, and is stricter than encoding/json where leniency would hide damage: a known key that
// occurs twice, a fraction or exponent instead of an integer, integers beyond 64 bits (32 for ids and
// bytecode indexes), text that is not UTF-8, unpaired surrogates, and nesting beyond 1000 levels are
// errors. Keys are case-sensitive, and null is not a value of a known key.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] with section, entry, line, column
// and offset, the found and the allowed value, of one of the classes in package profile.
// No input causes a panic, and memory is at most a small multiple of the input. A profile
// does not alias the text that it was read from.
package iprof
