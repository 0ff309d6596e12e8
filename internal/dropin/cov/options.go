package cov

import (
	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

// outputFormat is the value of --format.
type outputFormat int

const (
	textFormat outputFormat = iota
	htmlFormat
	lcovFormat
)

// branchOutput is the value of --show-branches: how often each outcome happened, or its share of all.
type branchOutput int

const (
	noBranches branchOutput = iota
	branchCounts
	branchPercents
)

// options holds the command line. Fields named after their option have no comment.
type options struct {
	// Of all commands.
	program       string   // the positional argument
	object        []string // more programs
	sources       []string
	instrProfile  string
	emptyProfile  bool
	arch          []string
	format        outputFormat
	dump          bool
	dumpObjects   bool
	dumpPaths     bool
	debugFileDirs []string
	debuginfod    bool
	checkBinary   bool
	pathRemaps    []string
	compilation   string // --compilation-dir
	color         withcolor.Mode
	demangler     []string
	summaryOnly   bool
	numThreads    uint32 // every command runs on all CPUs

	// Filters.
	ignoreFile, includeFile []string
	notExecuted             bool // lists the MC/DC test vectors that were not executed, too
	name, nameFile, nameRE  []string
	regionLT, regionGT      *float64 // in percent; nil without the option
	lineLT, lineGT          *float64
	regions, branches, mcdc bool // columns of reports
	instantiations          bool

	// Of export.
	skipExpansions, skipFunctions, skipBranches, unify bool

	// Of report.
	showFunctions bool

	// Of show.
	lineCountsGiven            bool
	showRegions, showMCDC      bool
	showBranches               branchOutput
	bestCounts                 bool // --show-line-counts-or-regions
	expansions, showInstances  bool
	directories, createdTime   bool
	outputDir                  string
	binaryCounters             bool
	tabSize                    uint32 // of HTML pages
	projectTitle, covWatermark string
}

func defaults() options {
	return options{regions: true, branches: true, unify: true, showInstances: true, createdTime: true, tabSize: 2}
}

// parser declares the command line of one subcommand. Options of other subcommands are unknown.
func (t *tool) parser(command string) *clopt.Parser {
	o := &t.opt
	var c *clopt.Command
	var vectors, include string // help on options of LLVM 23
	if t.IsRelease(23) {
		vectors, include = help23Vectors, help23Include
	}
	switch command {
	case "export":
		c = clopt.NewCommand("", helpExport+vectors+include+helpFilters+helpInputs, t.export)
		o.ofExport(clopt.For(c))
	case "report":
		c = clopt.NewCommand("", helpReport+include+helpInputs, t.report)
		clopt.For(c).Bool(&o.showFunctions, "show-functions")
	default:
		c = clopt.NewCommand("", helpShow+vectors+include+helpFilters+helpInputs, t.show)
		o.ofShow(clopt.For(c))
	}
	c.Positional(&o.program, false)
	c.NamedPositionals(&o.sources, "sources")
	o.ofAll(clopt.For(c), t.VersionText(toolName))
	o.ofFilters(clopt.For(c))
	if t.IsRelease(23) {
		clopt.For(c).Strings(&o.includeFile, "include-filename-regex")
		if command != "report" {
			clopt.For(c).Bool(&o.notExecuted, "show-mcdc-non-executed-vectors")
		}
	}
	return &clopt.Parser{Env: t.Env, Top: c}
}

func (o *options) ofAll(c clopt.Commands, version string) {
	c.Strings(&o.object, "object")
	c.String(&o.instrProfile, "instr-profile")
	c.Bool(&o.emptyProfile, "empty-profile")
	c.Strings(&o.arch, "arch")
	c.Bool(&o.dump, "dump")
	c.Bool(&o.dumpObjects, "dump-collected-objects")
	c.Bool(&o.dumpPaths, "dump-collected-paths")
	c.Strings(&o.debugFileDirs, "debug-file-directory")
	c.Bool(&o.debuginfod, "debuginfod")
	c.Bool(&o.checkBinary, "check-binary-ids")
	clopt.AddChoice(c, &o.format, "format",
		clopt.Choice[outputFormat]{Name: "text", Value: textFormat},
		clopt.Choice[outputFormat]{Name: "html", Value: htmlFormat},
		clopt.Choice[outputFormat]{Name: "lcov", Value: lcovFormat})
	c.Strings(&o.pathRemaps, "path-equivalence")
	c.String(&o.compilation, "compilation-dir")
	c.BoolFunc("use-color", o.color.Set)
	c.BoolFunc("color", func(bool) {}) // of messages that llvm-cov does not print
	c.Strings(&o.demangler, "Xdemangler")
	c.Bool(&o.summaryOnly, "summary-only")
	c.Uint32(&o.numThreads, "num-threads").Alias("j")
	c.Bool(&o.regions, "show-region-summary")
	c.Bool(&o.branches, "show-branch-summary")
	c.Bool(&o.mcdc, "show-mcdc-summary")
	c.Bool(&o.instantiations, "show-instantiation-summary")
	c.Version(version)
	c.Generic()
}

// ofFilters declares the filters of sources and functions. All commands accept the filters of
// functions, but only show applies them.
func (o *options) ofFilters(c clopt.Commands) {
	c.Strings(&o.ignoreFile, "ignore-filename-regex")
	c.Strings(&o.name, "name")
	c.Strings(&o.nameFile, "name-allowlist")
	c.Strings(&o.nameRE, "name-regex")
	for name, l := range map[string]**float64{
		"region-coverage-lt": &o.regionLT, "region-coverage-gt": &o.regionGT,
		"line-coverage-lt": &o.lineLT, "line-coverage-gt": &o.lineGT,
	} {
		c.FloatFunc(name, func(f float64) { *l = &f })
	}
}

func (o *options) ofExport(c clopt.Commands) {
	c.Bool(&o.skipExpansions, "skip-expansions")
	c.Bool(&o.skipFunctions, "skip-functions")
	c.Bool(&o.skipBranches, "skip-branches")
	c.Bool(&o.unify, "unify-instantiations")
}

func (o *options) ofShow(c clopt.Commands) {
	c.BoolFunc("show-line-counts", func(bool) { o.lineCountsGiven = true })
	c.Bool(&o.showRegions, "show-regions")
	c.Bool(&o.showMCDC, "show-mcdc")
	clopt.AddChoice(c, &o.showBranches, "show-branches",
		clopt.Choice[branchOutput]{Name: "count", Value: branchCounts},
		clopt.Choice[branchOutput]{Name: "percent", Value: branchPercents})
	c.Bool(&o.bestCounts, "show-line-counts-or-regions")
	c.Bool(&o.expansions, "show-expansions")
	c.Bool(&o.showInstances, "show-instantiations")
	c.Bool(&o.directories, "show-directory-coverage")
	c.Bool(&o.createdTime, "show-created-time")
	c.String(&o.outputDir, "output-dir").Alias("o")
	c.Bool(&o.binaryCounters, "binary-counters")
	c.Uint32(&o.tabSize, "tab-size")
	c.String(&o.projectTitle, "project-title")
	c.String(&o.covWatermark, "coverage-watermark")
}
