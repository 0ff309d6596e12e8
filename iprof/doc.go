// Package iprof reads, checks, merges, prunes and writes the profiles of GraalVM
// native images (.iprof): JSON files with counts of calls, branches, receiver
// types, locks and sampled stacks, each at a place in the bytecode and in the
// context that it was inlined into.
//
// # First calls
//
// [Read] makes a [Profile] of a file, [Write] writes it back, byte for byte as
// the tools have it. A [Merger] adds profiles up; [Prune], [Filter] and
// [Renumber] make smaller or comparable ones. [Check] says what is wrong with
// a file. [Profile.MethodCounts], [Profile.BranchSites], [Profile.TypeSites],
// [Profile.Monitors] and [Profile.edges] sum the counts up; [Section.All] walks
// over the entries themselves. [Profile.View] is the view that all formats
// share, for exports and comparisons.
//
// # Versions
//
// 1.0.0 and 1.1.0 are documented. 0.4.0 has the layout of 1.0.0; 0.2.0, which
// names everything differently, is read and written as 1.0.0. Later minor
// versions are read with a warning and what is unknown in them is kept as it
// is; other major versions are refused. A profile in memory is that of 1.1.0,
// whatever it was read from.
//
// # Ids
//
// Ids of types and methods mean something in one file only, so everything that
// combines files goes by names: see [MethodRef]. Names of some generated
// classes differ from build to build. Sums of profiles of different builds
// hold the contexts of each beside those of the others.
//
// # JSON
//
// The text is read by a scanner made for it. It takes any order of keys, white
// space, escapes and a byte order mark, and is stricter than encoding/json
// where leniency would hide damage: a known key that occurs twice, a fraction
// or exponent where an integer has to be, integers beyond 64 bits (32 for ids
// and bytecode indexes), text that is not UTF-8, surrogates without their
// pair, and nesting beyond 1000 levels are errors. Keys are compared with
// upper and lower case told apart, and null is no value of a known key.
//
// # Hostile input
//
// Every error of a reader is a [profile.FormatError] with section, entry, line,
// column and offset, what was found and what is allowed, of one of the classes
// in package profile. Nothing panics on any input, and memory stays within a
// small multiple of it. A profile keeps nothing of the text that it was read
// from.
package iprof
