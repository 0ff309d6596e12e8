package profgen

import (
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/profgen"
)

// formatGCC is a value of --format that llvm-profgen accepts and then cannot write.
const formatGCC sampleprof.Format = "gcc"

// options holds the command line. Fields named after their option have no comment.
type options struct {
	binary, output                     string
	unsymbolized, perfScript, perfData string
	sampleProfile                      string // --llvm-sample-profile
	debugBinary, dwp                   string
	format                             sampleprof.Format
	color                              withcolor.Mode

	skip                    bool // --skip-symbolization
	useOffset, firstBase    bool // --use-first-loadable-segment-as-base
	dwarf                   bool // --use-dwarf-correlation
	trimCold, sumTotals     bool
	allFunctions            bool // --fill-zero-for-all-funcs
	useMD5, symbols         bool // --populate-profile-symbol-list
	showDensity             bool
	densityThreshold        float64
	densityCutoff           int
	compressRecursion       int
	disassemble, locations  bool
	detailed, probes        bool
	dataAccess, disassembly string
}

func defaults() options {
	return options{
		format: sampleprof.FormatExtended, useOffset: true, compressRecursion: -1,
		densityThreshold: 50, densityCutoff: profgen.HotShare,
	}
}

func (t *tool) parser() *clopt.Parser {
	o := &t.opt
	top := clopt.NewCommand("", help, nil)
	c := clopt.For(top)
	c.String(&o.output, "output").Require().Alias("o")
	c.String(&o.binary, "binary").Require()
	c.String(&o.perfScript, "perfscript").Alias("ps")
	c.String(&o.perfData, "perfdata").Alias("pd")
	c.String(&o.unsymbolized, "unsymbolized-profile").Alias("up")
	c.String(&o.sampleProfile, "llvm-sample-profile")
	c.String(&o.debugBinary, "debug-binary")
	c.String(&o.dwp, "dwp")
	clopt.AddChoice(c, &o.format, "format",
		clopt.Choice[sampleprof.Format]{Name: "binary", Value: sampleprof.FormatBinary},
		clopt.Choice[sampleprof.Format]{Name: "extbinary", Value: sampleprof.FormatExtended},
		clopt.Choice[sampleprof.Format]{Name: "text", Value: sampleprof.FormatText},
		clopt.Choice[sampleprof.Format]{Name: "gcc", Value: formatGCC})
	c.Bool(&o.skip, "skip-symbolization")
	c.Bool(&o.useOffset, "use-offset")
	c.Bool(&o.firstBase, "use-first-loadable-segment-as-base")
	c.Bool(&o.dwarf, "use-dwarf-correlation")
	c.Bool(&o.trimCold, "trim-cold-profile")
	c.Bool(&o.sumTotals, "update-total-samples")
	c.Bool(&o.allFunctions, "fill-zero-for-all-funcs")
	c.Bool(&o.useMD5, "use-md5")
	c.Bool(&o.symbols, "populate-profile-symbol-list")
	c.Bool(&o.showDensity, "show-density")
	c.Float(&o.densityThreshold, "profile-density-threshold")
	c.Int(&o.densityCutoff, "profile-density-cutoff-hot")
	c.Int(&o.compressRecursion, "compress-recursion")
	c.Bool(&o.disassemble, "show-disassembly-only")
	c.Bool(&o.locations, "show-source-locations")
	c.Bool(&o.detailed, "show-detailed-warning")
	c.Bool(&o.probes, "show-pseudo-probe")
	c.String(&o.dataAccess, "data-access-perftrace")
	c.String(&o.disassembly, "disassemble-functions")
	c.BoolFunc("color", o.color.Set)
	ofOtherInputs(c)
	c.Version(versionText)
	c.Generic()
	return &clopt.Parser{Env: t.Env, Top: top}
}

// ofOtherInputs declares the options that llvm-profgen accepts but that do not change what it makes of an unsymbolized
// profile without contexts.
func ofOtherInputs(c clopt.Commands) {
	var flag bool
	for _, name := range []string{
		"ignore-stack-samples", "infer-missing-frames", "kernel", "load-function-from-symbol",
		"csprof-merge-cold-context", "show-canonical-fname", "show-mmap-events",
		"mark-all-context-preinlined", "gen-cs-nested-profile", "csspgo-preinliner", "use-context-cost-for-preinliner", "csspgo-replay-preinline",
	} {
		c.Bool(&flag, name)
	}
	var unsigned uint32
	for _, name := range []string{"pid", "csprof-max-cold-context-depth", "max-search-depth"} {
		c.Uint32(&unsigned, name)
	}
	var signed int
	for _, name := range []string{"csprof-max-context-depth", "csprof-max-unsymbolized-context-depth"} {
		c.Int(&signed, name)
	}
}
