// Package llvmmipdata speaks the command line of llvm-mipdata, the tool of the
// MIP branches of LLVM that were never merged: the same options, the same text
// on standard output and standard error, the same files, the same exit codes.
// It follows the last version of that tool (generation B of the formats, with
// --arch and "mip2yaml --debug"), in which, for one, "order" takes --regex and
// ignores it.
//
// What goes beyond: it says on standard error what the original passes over in
// silence, such as the raw profiles that merge leaves out; files are replaced
// as a whole, and merges into one profile take turns; create also takes a
// linked binary; inputs may be compressed, or folders of raw profiles.
// docs/differences.md has the list.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go
// holds the command line of all of them.
package llvmmipdata
