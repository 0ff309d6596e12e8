// Package llvmmipdata replaces llvm-mipdata, the tool of the MIP branches of LLVM, which
// were never merged: the same options, text, files and exit codes. It follows the last
// version of that tool (generation B of the formats, with --arch and "mip2yaml --debug"),
// even where "order" takes --regex and ignores it.
//
// Beyond that, it prints on standard error what the original passes over in silence, such
// as the raw profiles that merge skips; it replaces files as a whole, and merges into one
// profile take turns; create also takes a linked binary; inputs may be compressed, or
// folders of raw profiles. docs/differences.md has the list.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go
// holds the command line of all of them.
package llvmmipdata
