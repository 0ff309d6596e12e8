// Package cli is the front end of profuse's own subcommands: commands, options that may stand between
// the inputs, help texts, exit codes, and the properties of the terminal.
//
// Options have one dash or two, and "--" ends them, as in package flag. The exit code is [ExitOK],
// [ExitFailure] or [ExitUsage]. Requested help goes to standard output, errors go to standard error.
// Nothing is global: the streams come in an [Env].
package cli
