package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/irpgo"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Short: "print the version, and the format versions it knows",
		Long:  "Prints the version of profuse, the Go release that built it, and the versions of profiles it reads and writes.",
		Setup: func(*cli.Flags) cli.Action {
			return func(_ context.Context, env *cli.Env, args []string) error {
				if len(args) > 0 {
					return cli.Usagef("version takes no arguments")
				}
				_, err := fmt.Fprintf(env.Stdout, "profuse %s, built with %s for %s/%s\n"+
					"reads   raw profiles 1 to %d, indexed profiles 1 to %d, text profiles\n"+
					"writes  indexed profiles %d to %d, text profiles\n",
					moduleVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
					irpgo.RawVersionMax, irpgo.IndexedVersionMax, irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax)
				return err
			}
		},
	}
}

// moduleVersion is what the Go tool recorded: a release when installed by "go
// install …@version", else the commit.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "(development)"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				version += " " + s.Value
			}
		}
	}
	return version
}
