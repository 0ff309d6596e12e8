// Package llvmmipdata replaces llvm-mipdata, the tool of the MIP branches of LLVM, which
// were never merged: it has the same options, text, files and exit codes. It follows the
// last version of that tool (generation B of the formats, with --arch and "mip2yaml
// --debug"), even in that "order" ignores --regex.
//
// It goes beyond the original in a few points. It prints on standard error what the
// original does not mention, such as the raw profiles that merge skips. It replaces files
// as a whole, and merges into one profile take turns. create also takes a linked binary,
// and inputs may be compressed, or folders of raw profiles. docs/differences.md has the
// list.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go
// holds the command line of all of them.
package mipdata
