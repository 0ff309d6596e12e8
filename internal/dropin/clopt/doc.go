// Package clopt parses command lines the way LLVM's CommandLine library (llvm::cl) does in release 22, with the
// same diagnostics, so that a tool that replaces one of LLVM's accepts and refuses the same command lines.
//
// What differs from package flag:
//
//   - one dash or two, options and positional arguments in any order, "--"
//     ends the options, "-" alone is a positional argument;
//   - a value follows "=" or, when the option needs one, is the next argument;
//     it is never glued to a one-letter name;
//   - a boolean takes an optional value ("-sparse", "-sparse=0"), a switch of a
//     group ("-text", "-binary") none;
//   - a scalar given twice keeps the last value, a list collects;
//   - the arguments in a response file replace its name;
//   - all errors of a command line are reported, not only the first;
//   - the message about an unknown option suggests the nearest known one.
//
// An option is declared once for all commands that have it, see [For]. A
// [Parser] is built once per run: it writes into the variables it was given.
package clopt
