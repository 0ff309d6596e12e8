package command

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/cli"
)

// versionCommand is "profuse version". The table follows from package formats, so it is never out
// of date.
func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Short: "print the version, and the format versions that it reads and writes",
		Long:  "Prints the version of profuse, the Go release that built it, and the versions of profiles it reads and writes.",
		Setup: func(*cli.Flags) cli.Action {
			return func(_ context.Context, env *cli.Env, args []string) error {
				if len(args) > 0 {
					return cli.Usagef("want no arguments")
				}
				w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintf(w, "profuse %s, built with %s for %s/%s\n\nversions of\treads\twrites\n",
					moduleVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
				// Formats that profuse only reads have a dash under "writes".
				for _, f := range formats.All() {
					read, written := f.Versions()
					fmt.Fprintf(w, "%s\t%s\t%s\n", f, read, cmp.Or(written, "-"))
				}
				return w.Flush()
			}
		},
	}
}

// moduleVersion returns the version that the Go tool recorded: a release for "go install
// …@version", otherwise the commit.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	version := info.Main.Version
	// A build in a checkout has no release; the commit, if it was recorded, tells which code it is.
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
