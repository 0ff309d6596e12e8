// Package cli is the front end of profuse's own subcommands: a list of commands,
// options that may stand between the inputs, help texts, exit codes, and the
// properties of the terminal.
//
// Options are those of package flag, one dash or two, "--" ends them. The exit
// code is [ExitOK], [ExitFailure] or [ExitUsage]. Requested help goes to
// standard output and is no failure; everything that went wrong goes to
// standard error. Nothing here is global: the streams come in an [Env].
package cli
