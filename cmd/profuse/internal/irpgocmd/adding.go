package irpgocmd

import (
	"strconv"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/memprofcmd"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/irpgo"
)

// adding is what "profuse merge" and "profuse watch" have in common where
// they add IRPGO and heap profiles up.
type adding struct {
	writer
	asked       string // version of the indexed format: "auto" or a number
	mixed       bool
	keepVTables bool
	correlate   cli.List
	binaries    cli.List // of raw heap profiles
}

func (c *adding) declare(f *cli.Flags, aboutVersion, aboutCorrelate string) {
	f.Group("LLVM profiles")
	f.StringVar(&c.asked, "indexed-version", "auto", aboutVersion)
	f.BoolVar(&c.sparse, "sparse", false, "leave out functions that never ran")
	f.BoolVar(&c.mixed, "allow-mixed", false, "merge profiles of different kinds of instrumentation too")
	f.BoolVar(&c.keepVTables, "keep-vtable-names", false, "keep the names of virtual tables")
	f.Var(&c.correlate, "correlate", aboutCorrelate)
	sources.DeclareProfiledBinary(f, &c.binaries)
}

// Check finds out how the result is to be written.
func (c *adding) Check(r *merging.Run) error {
	c.text = r.Format == formatText
	if c.asked == "auto" {
		return nil
	}
	n, err := strconv.ParseUint(c.asked, 10, 32)
	if err != nil || n < irpgo.IndexedVersionMinWritten || n > irpgo.IndexedVersionMax {
		return cli.Usagef("option --indexed-version takes auto or %d to %d, not %q",
			irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax, c.asked)
	}
	if c.text {
		return cli.Usagef("options --indexed-version and --format text exclude each other")
	}
	c.version = uint32(n)
	return nil
}

// reading is what reading raw profiles takes beside the profiles.
type reading struct {
	correlations
	heaps  *memprofcmd.Reader
	rescue irpgo.Rescue
}

// openReading opens the programs that the options name.
func (c *adding) openReading(workers int, warn func(irpgo.Warning)) (from reading, err error) {
	if from.correlations, err = openCorrelations(c.correlate, warn); err != nil {
		return from, err
	}
	from.heaps, err = memprofcmd.OpenReader(c.binaries, workers)
	return from, err
}
