package irpgocmd

import (
	"fmt"
	"strconv"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/memprofcmd"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

// The formats of the result.
const (
	formatIndexed     = "indexed"
	formatText        = "text"
	formatMemProfYAML = "memprof-yaml"
	formatHeapYAML    = "yaml"
)

// adder adds up IRPGO and heap profiles.
type adder struct {
	writer
	asked         string // version of the indexed format: "auto" or a number
	mixed         bool
	keepVTables   bool
	perBinary     bool
	rescueMode    cli.Choice
	only, without string // functions to keep, to leave out
	remap         string // file
	heapOptions   heapOptions

	programs     *sources.Programs
	correlations *correlations
	heapReader   *memprofcmd.Reader
	keep         func(name string) bool   // nil for all
	rename       func(name string) string // nil for none
}

func (c *adder) Declare(f *cli.Flags, watching bool) {
	f.Group("LLVM profiles")
	f.StringVar(&c.asked, "indexed-version", "auto", "`N` version of the indexed format, "+
		fmt.Sprintf("%d to %d, or auto: the newest that every compiler reads which can have made the inputs",
			irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax))
	f.BoolVar(&c.sparse, "sparse", false, "leave out functions that never ran")
	f.BoolVar(&c.mixed, "allow-mixed", false, "merge profiles of different kinds of instrumentation too")
	f.BoolVar(&c.keepVTables, "keep-vtable-names", false, "keep the names of virtual tables")
	c.rescueMode = cli.Choice{Value: rescueDrop, Allowed: []string{rescueDrop, rescueClamp, rescueOff}}
	f.Var(&c.rescueMode, "rescue", "`HOW` single damaged functions of a raw or indexed profile: drop leaves them out, clamp leaves them out "+
		"but replaces absurd counters (above 2^56), off leaves the input out and only warns of absurd counters")
	f.StringVar(&c.only, "function", "", "`REGEX` keep only the functions whose name, mangled or not, matches REGEX")
	f.StringVar(&c.without, "no-function", "", "`REGEX` leave out the functions whose name matches REGEX")
	if !watching { // these need all inputs at once
		f.BoolVar(&c.perBinary, "per-binary", false, "write a profile for each binary into the folder OUTPUT, named by its binary id")
		f.StringVar(&c.remap, "remap", "", "`FILE` give functions other names: a line for each, OLD NEW")
	}
	c.heapOptions.declare(f)
}

func (c *adder) Results() []merging.Result {
	return []merging.Result{
		{Name: formatIndexed, Family: formats.IRPGO, Text: false},
		{Name: formatText, Family: formats.IRPGO, Text: true},
		{Name: formatMemProfYAML, Family: formats.MemProf, Text: true},
		{Name: formatHeapYAML, Family: formats.MemProf, Text: true},
	}
}

func (c *adder) Refuses() []string { return nil }

// Check determines from the options how to write the result.
func (c *adder) Check(r *merging.Run) error {
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

func (c *adder) Open(r *merging.Run, warn func(text string)) (err error) {
	if err = r.CheckWeights(); err != nil {
		return err
	}
	if c.heaps, err = c.heapOptions.options(); err != nil {
		return err
	}
	c.programs = &r.Programs
	c.programs.Workers = merging.NumWorkers(r.Workers)
	programs, err := c.programs.Open()
	if err != nil {
		return err
	}
	c.correlations = newCorrelations(programs, func(w profile.Warning) {
		text := warningText(w)
		if w.File != "" {
			text = w.File + ": " + text
		}
		warn(text)
	})
	c.heapReader = memprofcmd.NewReader(programs)
	if c.rename, err = c.renaming(); err != nil {
		return err
	}
	c.keep, err = c.selection()
	return err
}

func (c *adder) Close() {
	if c.programs != nil {
		c.programs.Close()
	}
}

const (
	rescueOff   = "off"
	rescueDrop  = "drop"
	rescueClamp = "clamp"
)

// rescue returns how readers treat damaged functions.
func (c *adder) rescue() irpgo.Rescue {
	switch c.rescueMode.Value {
	case rescueDrop:
		return irpgo.RescueDrop
	case rescueClamp:
		return irpgo.RescueClamp
	}
	return irpgo.RescueOff
}
