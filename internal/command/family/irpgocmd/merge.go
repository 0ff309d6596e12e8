package irpgocmd

import (
	"fmt"
	"os"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/llvm/remapping"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
)

// The values of --format.
const (
	formatIndexed     = "indexed" // LLVM's .profdata
	formatText        = "text"
	formatPartial     = "partial" // profuse's own, for partial sums
	formatMemProfYAML = "memprof-yaml"
	formatHeapYAML    = "yaml" // the same as memprof-yaml
)

type adder struct {
	writer
	// The options as given. Check and Open set writer and the fields below by them.
	askedVersion  string // of the indexed format: "auto" or a number
	mixed         bool
	keepVTables   bool
	perBinary     bool
	partial       bool // write a partial sum
	rescueMode    cli.Choice
	only, without string // regular expressions of functions to keep and to leave out
	remap         string // file
	expected      expectedIDs
	heapOptions   heapOptions

	// All workers share these.
	correlations *correlations
	heapReader   *memprofcmd.Reader
	keep         func(name string) bool   // nil for all
	rename       func(name string) string // nil for none
}

// Declare declares the options of LLVM profiles and of heap profiles.
func (c *adder) Declare(f *cli.Flags, watching bool) {
	f.Group("LLVM profiles")
	f.StringVar(&c.askedVersion, "indexed-version", "auto", fmt.Sprintf("`N` version of the indexed format, %d to %d, or auto: "+
		"the newest that every compiler that may have made the inputs can read", irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax))
	f.BoolVar(&c.sparse, "sparse", false, "drop functions that never ran")
	f.BoolVar(&c.mixed, "allow-mixed", false, "also merge profiles of different kinds of instrumentation")
	f.BoolVar(&c.keepVTables, "keep-vtable-names", false, "keep the names of virtual tables")
	c.rescueMode = cli.Choice{Value: rescueDrop, Allowed: []string{rescueDrop, rescueClamp, rescueOff}}
	f.Var(&c.rescueMode, "rescue", "`HOW` what to do with a damaged function in a raw or indexed profile: drop leaves the function out; clamp lowers "+
		"absurd counters (above 2^56), and leaves the function out if other parts are damaged; off leaves out the whole input, and only warns of "+
		"absurd counters. For example, one of 100 functions has the counters 7, 2^60, 9: drop merges 99 functions, clamp all with the counters "+
		"7, 9, 9, off all with 7, 2^60, 9 and a warning")
	f.StringVar(&c.only, "function", "", "`REGEX` keep only functions whose mangled or demangled name matches REGEX")
	f.StringVar(&c.without, "no-function", "", "`REGEX` drop functions whose mangled or demangled name matches REGEX")
	if !watching { // these need all inputs at once
		f.BoolVar(&c.perBinary, "per-binary", false, "write one profile for each binary into the folder OUTPUT, named after its binary id")
		f.Var(&c.expected, "expect-binary-id", "`ID` count inputs without this binary id as lost; its first 8 digits are enough; repeatable")
		f.StringVar(&c.remap, "remap", "", "`FILE` rename functions; each line of FILE is OLD NEW")
	}
	c.heapOptions.declare(f)
}

// Results returns the values of --format.
func (c *adder) Results() []merging.Result {
	return []merging.Result{
		{Name: formatIndexed, Family: formats.IRPGO},
		{Name: formatText, Family: formats.IRPGO, Text: true},
		{Name: formatPartial, Family: formats.IRPGO, Exact: ".profpart", Whole: ".profdata"},
		{Name: formatMemProfYAML, Family: formats.MemProf, Text: true},
		{Name: formatHeapYAML, Family: formats.MemProf, Text: true},
	}
}

// Refuses returns nil: LLVM profiles support all shared options.
func (c *adder) Refuses() []string { return nil }

// Check checks the options and sets how to write the result.
func (c *adder) Check(r *merging.Options) error {
	c.text, c.partial = r.Format == formatText, r.Format == formatPartial
	if err := r.CheckPartial(c.partial, map[string]bool{
		"indexed-version": c.askedVersion != "auto", "sparse": c.sparse, "function": c.only != "", "no-function": c.without != "", "per-binary": c.perBinary,
	}); err != nil {
		return err
	}
	if c.askedVersion == "auto" {
		return nil
	}
	n, err := strconv.ParseUint(c.askedVersion, 10, 32)
	if err != nil || n < irpgo.IndexedVersionMinWritten || n > irpgo.IndexedVersionMax {
		return cli.Usagef("option --indexed-version takes auto or %d to %d, not %q",
			irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax, c.askedVersion)
	}
	if c.text {
		return cli.Usagef("options --indexed-version and --format text exclude each other")
	}
	c.version = uint32(n)
	return nil
}

// Open opens the programs, for correlation and heap profiles, and reads the file of --remap and the expressions.
func (c *adder) Open(r *merging.Options, warn func(text string)) (err error) {
	if err = r.FixWeights(c.partial); err != nil {
		return err
	}
	if c.heaps, err = c.heapOptions.options(); err != nil {
		return err
	}
	r.Programs.Workers = merging.NumWorkers(r.Workers)
	programs, err := r.Programs.Open()
	if err != nil {
		return err
	}
	c.correlations = &correlations{programs: programs, warn: func(w profile.Warning) { warn(console.NewWarning(w).String()) }}
	c.heapReader = memprofcmd.NewReader(programs)
	if c.remap != "" {
		text, err := os.ReadFile(c.remap)
		if err != nil {
			return err
		}
		if c.rename, err = remapping.Parse(c.remap, text); err != nil {
			return err
		}
	}
	c.keep, err = c.selection()
	return err
}

// The values of --rescue, see [irpgo.ReaderOptions].
const (
	rescueOff   = "off"
	rescueDrop  = "drop"
	rescueClamp = "clamp"
)

// selection returns the filter of --function and --no-function; nil keeps all functions. It takes names after --remap.
func (c *adder) selection() (func(name string) bool, error) {
	only, err := console.FunctionPattern("function", c.only)
	if err != nil {
		return nil, err
	}
	without, err := console.FunctionPattern("no-function", c.without)
	if err != nil || only == nil && without == nil {
		return nil, err
	}
	return func(name string) bool {
		return (only == nil || console.MatchesFunction(only, name)) && (without == nil || !console.MatchesFunction(without, name))
	}, nil
}
