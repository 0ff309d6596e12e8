package llvmprofdata

import (
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/clopt"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
)

type profileKind int

const (
	instrKind profileKind = iota
	sampleKind
	memoryKind
)

type outputFormat int

const (
	indexedFormat outputFormat = iota // --binary and --extbinary
	textFormat
	gccFormat
)

type failureMode int

const (
	failAny  failureMode = iota // fail if any input is bad
	failAll                     // fail only if all are
	failNone                    // only warn
)

type showFormat int

const (
	showText showFormat = iota
	showJSON
	showYAML
)

// options holds the command line. Fields named after their option are not
// explained again; those under "no effect" exist to be accepted: they concern
// sample profiles.
type options struct {
	// Of all commands.
	color            withcolor.Mode
	writePrevVersion bool
	debugFileDirs    []string
	correlate        string

	// Of more than one command.
	output        string
	kind          profileKind
	function      string
	profileFile   string // show, order: the positional argument
	debugInfo     string
	maxDbgWarn    uint32
	profiledBin   string // of memory profiles
	valueCutoff   uint32
	overlapCutoff uint64

	// Of merge.
	inputs              []string
	weightedInputs      []string
	inputFiles          string
	dumpInputs          bool
	format              outputFormat
	failureMode         failureMode
	sparse              bool
	numThreads          uint32
	traceReservoir      uint64
	maxTraceLength      uint64
	noFunction          string
	keepVTables         bool
	remappingFile       string
	binaryFile          string
	debuginfod          bool
	supplement          string
	randomHotness       bool
	randomHotnessSeed   uint32 // 0 makes one
	memprofVersion      int
	memprofFullSchema   bool
	zeroThreshold       float64 // for supplement, like the next two
	supplMinSize        uint32
	instrColdThreshold  uint32
	sampleFlag          bool   // no effect: any of the switches for sample profiles
	sampleText          string // no effect: their file names
	sampleDepth         uint32 // no effect
	sampleSizeLimit     uint64 // no effect
	sampleLayout        int    // no effect
	fsDiscriminatorPass int    // no effect

	// Of show.
	counts, icTargets, vtables, memopSizes bool
	allFunctions, text, json, covered, cs  bool
	detailedSummary                        bool
	cutoffs                                []uint32
	hotFuncList, onlyBelow                 bool
	topN                                   uint32
	binaryIDs, profileVersion, traces      bool
	symbolList                             bool // of --debug-info
	showFormat                             showFormat

	// Of overlap and order.
	overlapBase, overlapTest string
	similarityCutoff         uint64
	overlapCS                bool
	numTestTraces            uint32
}

func defaults() options {
	return options{
		output:         "-",
		maxDbgWarn:     5,
		traceReservoir: 100,
		maxTraceLength: 10000,
		zeroThreshold:  0.7,
		supplMinSize:   10,
		sampleDepth:    1,
		memprofVersion: 3,
		overlapCutoff:  1<<64 - 1,
	}
}

func (o *options) parser(env Env) *clopt.Parser {
	return &clopt.Parser{
		Prog:     env.Prog,
		Top:      o.global(),
		Commands: []*clopt.Command{o.showCommand(), o.orderCommand(), o.overlapCommand(), o.mergeCommand()},
		Errors:   env.Stderr,
	}
}

// global holds the options of the top level, which every command takes too.
// The thousands that LLVM's libraries add there (of the optimizer, the code
// generators …) mean nothing here and are not accepted.
func (o *options) global() *clopt.Command {
	c := clopt.NewCommand("")
	c.Strings(&o.debugFileDirs, "debug-file-directory")
	clopt.AddChoice(c, &o.correlate, "correlate",
		clopt.Choice[string]{Name: ""},
		clopt.Choice[string]{Name: "debug-info", Value: "debug-info"},
		clopt.Choice[string]{Name: "binary", Value: "binary"})
	c.Bool(&o.writePrevVersion, "write-prev-version")
	clopt.AddChoice(c, &o.fsDiscriminatorPass, "fs-discriminator-pass",
		clopt.Choice[int]{Name: "Base"}, clopt.Choice[int]{Name: "Pass1"}, clopt.Choice[int]{Name: "Pass2"},
		clopt.Choice[int]{Name: "Pass3"}, clopt.Choice[int]{Name: "PassLast"})
	c.BoolFunc("color", o.color.Set)
	c.Version("version")
	generic(c)
	return c
}

// generic adds what LLVM gives every command. The two that would print the
// option values do nothing in llvm-profdata.
func generic(c *clopt.Command) {
	for _, name := range []string{"help", "help-list", "help-hidden", "help-list-hidden"} {
		c.Help(name)
	}
	c.Alias("h", "help")
	ignore := func(bool) {}
	c.BoolFunc("print-options", ignore)
	c.BoolFunc("print-all-options", ignore)
}

func addKind(c *clopt.Command, p *profileKind, heading string, more ...clopt.Choice[profileKind]) {
	clopt.AddSwitches(c, p, heading, append([]clopt.Choice[profileKind]{
		{Name: "instr", Value: instrKind}, {Name: "sample", Value: sampleKind},
	}, more...)...)
}

func (o *options) mergeCommand() *clopt.Command {
	c := clopt.NewCommand("merge")
	c.Positionals(&o.inputs)
	c.Strings(&o.weightedInputs, "weighted-input")
	c.String(&o.inputFiles, "input-files")
	c.Alias("f", "input-files")
	c.Bool(&o.dumpInputs, "dump-input-file-list")
	c.String(&o.output, "output")
	c.Alias("o", "output")
	addKind(c, &o.kind, "Profile kind:")
	clopt.AddSwitches(c, &o.format, "Format of output profile",
		clopt.Choice[outputFormat]{Name: "binary", Value: indexedFormat},
		clopt.Choice[outputFormat]{Name: "extbinary", Value: indexedFormat},
		clopt.Choice[outputFormat]{Name: "text", Value: textFormat},
		clopt.Choice[outputFormat]{Name: "gcc", Value: gccFormat})
	clopt.AddChoice(c, &o.failureMode, "failure-mode",
		clopt.Choice[failureMode]{Name: "warn", Value: failNone},
		clopt.Choice[failureMode]{Name: "any", Value: failAny},
		clopt.Choice[failureMode]{Name: "all", Value: failAll})
	c.Bool(&o.sparse, "sparse")
	c.Uint32(&o.numThreads, "num-threads")
	c.Alias("j", "num-threads")
	c.String(&o.function, "function")
	c.String(&o.noFunction, "no-function")
	c.Uint64(&o.traceReservoir, "temporal-profile-trace-reservoir-size", "ulong")
	c.Uint64(&o.maxTraceLength, "temporal-profile-max-trace-length", "ulong")
	c.Bool(&o.keepVTables, "keep-vtable-symbols")

	c.String(&o.remappingFile, "remapping-file")
	c.Alias("r", "remapping-file")
	c.String(&o.debugInfo, "debug-info")
	c.String(&o.binaryFile, "binary-file")
	c.Bool(&o.debuginfod, "debuginfod")
	c.Uint32(&o.maxDbgWarn, "max-debug-info-correlation-warnings")
	c.String(&o.profiledBin, "profiled-binary")
	c.String(&o.supplement, "supplement-instr-with-sample")
	c.Float(&o.zeroThreshold, "zero-counter-threshold")
	c.Uint32(&o.supplMinSize, "suppl-min-size-threshold")
	c.Uint32(&o.instrColdThreshold, "instr-prof-cold-threshold")

	clopt.AddChoice(c, &o.memprofVersion, "memprof-version",
		clopt.Choice[int]{Name: "2", Value: 2}, clopt.Choice[int]{Name: "3", Value: 3}, clopt.Choice[int]{Name: "4", Value: 4})
	c.Bool(&o.memprofFullSchema, "memprof-full-schema")
	c.Bool(&o.randomHotness, "memprof-random-hotness")
	c.Uint32(&o.randomHotnessSeed, "memprof-random-hotness-seed")

	for _, name := range []string{
		"use-md5", "compress-all-sections", "sample-merge-cold-context", "sample-trim-cold-context",
		"gen-partial-profile", "split-layout", "drop-profile-symbol-list",
	} {
		c.Bool(&o.sampleFlag, name)
	}
	c.String(&o.sampleText, "prof-sym-list")
	c.Uint32(&o.sampleDepth, "sample-frame-depth-for-cold-context")
	c.Uint64(&o.sampleSizeLimit, "output-size-limit", "ulong")
	clopt.AddChoice(c, &o.sampleLayout, "convert-sample-profile-layout",
		clopt.Choice[int]{Name: "nest"}, clopt.Choice[int]{Name: "flat"})
	generic(c)
	c.Near = strings.Fields(nearMerge)
	return c
}

func (o *options) showCommand() *clopt.Command {
	c := clopt.NewCommand("show")
	c.Positional(&o.profileFile, false)
	c.String(&o.output, "output")
	c.Alias("o", "output")
	c.Bool(&o.allFunctions, "all-functions")
	c.String(&o.function, "function")
	c.Bool(&o.counts, "counts")
	c.Bool(&o.icTargets, "ic-targets")
	c.Bool(&o.vtables, "show-vtables")
	c.Bool(&o.memopSizes, "memop-sizes")
	c.Bool(&o.text, "text")
	c.Bool(&o.json, "json")
	clopt.AddChoice(c, &o.showFormat, "show-format",
		clopt.Choice[showFormat]{Name: "text", Value: showText},
		clopt.Choice[showFormat]{Name: "json", Value: showJSON},
		clopt.Choice[showFormat]{Name: "yaml", Value: showYAML})
	c.Bool(&o.covered, "covered")
	c.Bool(&o.cs, "showcs")
	c.Bool(&o.detailedSummary, "detailed-summary")
	c.Uint32s(&o.cutoffs, "detailed-summary-cutoffs")
	c.Bool(&o.hotFuncList, "hot-func-list")
	c.Uint32(&o.topN, "topn")
	c.Uint32(&o.valueCutoff, "value-cutoff")
	c.Bool(&o.onlyBelow, "list-below-cutoff")
	c.Bool(&o.binaryIDs, "binary-ids")
	c.Bool(&o.profileVersion, "profile-version")
	c.Bool(&o.traces, "temporal-profile-traces")
	addKind(c, &o.kind, "Profile kind supported by show:", clopt.Choice[profileKind]{Name: "memory", Value: memoryKind})
	c.String(&o.debugInfo, "debug-info")
	c.Uint32(&o.maxDbgWarn, "max-debug-info-correlation-warnings")
	c.String(&o.profiledBin, "profiled-binary")
	c.Bool(&o.symbolList, "show-prof-sym-list")
	c.Bool(&o.sampleFlag, "show-sec-info-only")
	generic(c)
	c.Near = strings.Fields(nearShow)
	return c
}

func (o *options) orderCommand() *clopt.Command {
	c := clopt.NewCommand("order")
	c.Positional(&o.profileFile, false)
	c.String(&o.output, "output")
	c.Alias("o", "output")
	c.Uint32(&o.numTestTraces, "num-test-traces")
	generic(c)
	c.Near = strings.Fields(nearOrder)
	return c
}

func (o *options) overlapCommand() *clopt.Command {
	c := clopt.NewCommand("overlap")
	c.Positional(&o.overlapBase, true)
	c.Positional(&o.overlapTest, true)
	c.String(&o.output, "output")
	c.Alias("o", "output")
	addKind(c, &o.kind, "Profile kind:")
	c.String(&o.function, "function")
	c.Uint64(&o.overlapCutoff, "value-cutoff", "ullong")
	c.Uint64(&o.similarityCutoff, "similarity-cutoff", "ullong")
	c.Bool(&o.overlapCS, "cs")
	generic(c)
	c.Near = strings.Fields(nearOverlap)
	return c
}

// The orders in which llvm-profdata 22 looks through its options for the one
// nearest to an unknown name: those of a hash table, found by trying.
const (
	nearMerge = `
		print-options help-list-hidden h debuginfod split-layout keep-vtable-symbols memprof-full-schema instr
		profiled-binary extbinary binary num-threads zero-counter-threshold dump-input-file-list
		drop-profile-symbol-list help-hidden supplement-instr-with-sample help-list print-all-options
		temporal-profile-trace-reservoir-size remapping-file no-function sample failure-mode sparse r
		compress-all-sections instr-prof-cold-threshold f j debug-info weighted-input sample-trim-cold-context o
		memprof-random-hotness temporal-profile-max-trace-length function output-size-limit suppl-min-size-threshold
		memprof-random-hotness-seed sample-merge-cold-context max-debug-info-correlation-warnings gen-partial-profile
		use-md5 convert-sample-profile-layout text sample-frame-depth-for-cold-context gcc help input-files
		memprof-version prof-sym-list output binary-file`
	nearShow = `
		binary-ids sample show-sec-info-only value-cutoff help-list-hidden h print-options show-vtables all-functions
		debug-info counts showcs o ic-targets instr profiled-binary function covered json topn memory
		max-debug-info-correlation-warnings list-below-cutoff detailed-summary-cutoffs profile-version help-hidden
		memop-sizes detailed-summary text help help-list hot-func-list print-all-options temporal-profile-traces
		show-format show-prof-sym-list output`
	nearOrder = `
		print-options help-list-hidden h o help-hidden help help-list num-test-traces print-all-options output`
	nearOverlap = `
		sample print-options value-cutoff help-list-hidden h similarity-cutoff o instr function help-hidden cs
		help-list help print-all-options output`
)
