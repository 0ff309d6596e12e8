// Package mipcmd implements the commands' operations on Machine IR Profiles, and "profuse mip".
package mipcmd

import "github.com/profuse-pgo/profuse/internal/command/ui/cli"

// Command returns "profuse mip", which has commands of its own.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "mip",
		Short: "make Machine IR profiles from programs and YAML",
		Long: `A program built with MIP instrumentation writes a .mipraw when it ends, and the map
inside the program says what the bytes in it mean. "profuse merge" combines both
into one .mip, which all commands read:

    profuse merge -o app.mip app *.mipraw
    profuse show app.mip
    profuse order make -o app.order app.mip`,
		Commands: []*cli.Command{createCommand(), mip2yamlCommand(), yaml2mipCommand()},
		// These commands of llvm-mipdata were here once.
		Moved: map[string]string{
			"merge":   "profuse merge --update -o PROFILE",
			"show":    "profuse show --function REGEX",
			"info":    "profuse show --top 0",
			"covered": "profuse export --to lcov, or --to csv --table functions",
			"order":   "profuse order make",
		},
	}
}
