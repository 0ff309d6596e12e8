// Package llvmcov speaks the command line of llvm-cov as LLVM 22 has it: the same
// options, the same text on standard output and standard error, the same files, the same
// exit codes. docs/llvm-cov.md lists what it leaves out, and docs/differences.md where it
// departs from the original on purpose.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go holds
// the command line of all of them, load.go what they have in common before they write
// anything.
package cov
