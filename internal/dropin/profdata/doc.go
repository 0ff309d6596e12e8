// Package llvmprofdata speaks the command line of llvm-profdata as LLVM 22 has
// it: the same options, the same text on standard output and standard error,
// the same files, the same exit codes. docs/differences.md lists where it
// departs from the original on purpose.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go
// holds the command line of all of them.
package profdata
