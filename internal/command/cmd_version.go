package command

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Short: "print the version, and the format versions that it reads and writes",
		Long: `Prints the version of profuse, the Go release that built it, and the versions of profiles it
reads and writes. A program that was not built from the tag of a release has the commit behind
the version, as in 1.2.3+0123456789ab. docs/stability.md says what all releases with the
same first number have in common.`,
		Setup: func(*cli.Flags) cli.Action { return versionRun{}.run },
	}
}

type versionRun struct{}

func (versionRun) run(_ context.Context, env *cli.Env, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("want no arguments")
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "profuse %s, built with %s for %s/%s\n\nversions of\treads\twrites\n",
		moduleVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, f := range formats.All() {
		about := f.Describe()
		fmt.Fprintf(w, "%s\t%s\t%s\n", f, about.Read, cmp.Or(about.Written, "-"))
	}
	return w.Flush()
}

// release is the version in the newest heading of CHANGELOG.md.
const release = "1.0.0-rc.1"

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return versionOf(info)
}

// versionOf returns the release if the program was built from its tag, by "go install …@version" or in a
// checkout. For any other build it appends the commit, as build metadata of semantic versioning, and
// "dirty" if files were changed since.
func versionOf(info *debug.BuildInfo) string {
	if info.Main.Version == "v"+release {
		return release
	}
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"] // none if the source was not a checkout
	if commit == "" {
		// The Go tool records a commit that it downloads as vX.Y.Z-TIME-COMMIT.
		if parts := strings.Split(info.Main.Version, "-"); len(parts) > 2 {
			commit = parts[len(parts)-1]
		}
	}
	version := release + "+" + cmp.Or(commit[:min(len(commit), 12)], "unknown")
	if settings["vcs.modified"] == "true" {
		version += ".dirty"
	}
	return version
}
