// Package profdata replaces llvm-profdata of LLVM 22: same options, same text on standard output and standard
// error, same files, same exit codes. docs/differences.md lists what it does differently on purpose.
//
// [Main] is the whole tool. Each subcommand has a file of its name; options.go declares all
// command lines.
package profdata
