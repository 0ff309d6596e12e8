// Package mipdata replaces llvm-mipdata, the tool of LLVM's unmerged MIP branches: same options,
// text, files and exit codes. It follows the last version of that tool (generation B of the
// formats, with --arch and "mip2yaml --debug"); even its "order" ignores --regex.
//
// It goes beyond the original in a few points. Standard error has more warnings, such as the raw
// profiles that merge skips. Files are replaced as a whole, and merges into one profile take
// turns. create also accepts a linked binary, and inputs may be compressed, or folders of raw
// profiles. docs/differences.md has the list.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go declares all
// command lines.
package mipdata
