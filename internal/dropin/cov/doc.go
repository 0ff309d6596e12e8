// Package cov replaces llvm-cov of LLVM 22: same options, same text on standard output and
// standard error, same files, same exit codes. docs/llvm-cov.md lists what it leaves out,
// docs/differences.md what it does differently on purpose.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go declares all
// command lines, load.go reads the inputs for all subcommands.
package cov
