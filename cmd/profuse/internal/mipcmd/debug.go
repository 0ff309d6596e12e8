package mipcmd

import (
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/symbolize"
)

// mipDoubts returns why the program may not be the one that was profiled; "" if
// it may. Functions of another build are elsewhere.
func mipDoubts(debug *debuginfo.Program, profilePath string, p *mip.Profile) string {
	name := debug.File().Name()
	if want, err := mip.FindBuildID(profilePath); err == nil {
		if got, other := debug.OtherBuild(want); other {
			return fmt.Sprintf("%s is another build than the one profiled: its build id is %x, that kept in %s%s is %x",
				name, got, profilePath, mip.BuildIDSuffix, want)
		}
	}
	away, first := debug.Displaced(p)
	if away == 0 {
		return ""
	}
	return fmt.Sprintf("%s is another build than the one profiled: %s, %s the first, do not begin where its symbols do",
		name, cli.Quantity(uint64(away), "function", "functions"), first)
}

// innermost returns the source of the innermost frame, as facts.
func innermost(frames []symbolize.Frame) sourceFacts { return sourceFacts(debuginfo.Innermost(frames)) }

// warnAll prints the problems of reading debug information.
func warnAll(env *cli.Env, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w))
	}
}
