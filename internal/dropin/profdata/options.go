package profdata

import (
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

// profileKind is the kind of profile that a command works on: --instr (default), --sample or
// --memory.
type profileKind int

const (
	instrKind profileKind = iota
	sampleKind
	memoryKind
)

// outputFormat is what merge writes.
type outputFormat int

const (
	indexedFormat outputFormat = iota // --extbinary
	binaryFormat                      // for instrumentation profiles the same
	textFormat
	gccFormat
)

// failureMode is the value of --failure-mode.
type failureMode int

const (
	failAny  failureMode = iota // fail if any input is bad
	failAll                     // fail only if all are
	failNone                    // only warn
)

// showFormat is the value of --show-format; --json is another name for one of them.
type showFormat int

const (
	showText showFormat = iota
	showJSON
	showYAML
)

// options holds the command line. Fields named after their option have no comment.
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
	maxDbgWarn    uint32 // warnings to print about the program; 0 for all
	profiledBin   string // of memory profiles
	valueCutoff   uint32
	overlapCutoff uint64 // overlap prints details of functions with at least this count

	// Of merge.
	inputs            []string
	weightedInputs    []string
	inputFiles        string
	dumpInputs        bool
	format            outputFormat
	failureMode       failureMode
	sparse            bool
	numThreads        uint32
	traceReservoir    uint64 // traces to keep
	maxTraceLength    uint64 // functions to keep of each trace
	noFunction        string
	keepVTables       bool
	remappingFile     string
	binaryFile        string
	debuginfod        bool
	randomHotness     bool
	randomHotnessSeed uint32 // 0 makes one
	memprofVersion    int
	memprofFullSchema bool

	// Of show.
	counts, icTargets, vtables, memopSizes bool
	allFunctions, text, json, covered, cs  bool
	detailedSummary                        bool
	cutoffs                                []uint32 // shares of the total count, in millionths
	hotFuncList, onlyBelow                 bool
	topN                                   uint32
	binaryIDs, profileVersion, traces      bool
	symbolList                             bool
	showFormat                             showFormat

	// Of overlap and order.
	overlapBase, overlapTest string
	overlapCS                bool
	numTestTraces            uint32

	sample     sampleOptions
	supplement supplementOptions // of merge
}

// defaults returns the options of an empty command line. The numbers are the cl::init of llvm-profdata 22.
func defaults() options {
	return options{
		output:         "-",
		maxDbgWarn:     5,
		traceReservoir: 100,
		maxTraceLength: 10000,
		memprofVersion: 3,
		overlapCutoff:  1<<64 - 1,
		sample:         sampleOptions{coldFrames: 1},
		supplement:     supplementOptions{zeroShare: 0.7, minSize: 10},
	}
}

// parser declares the command line. As in LLVM, an option is declared once for all its commands.
func (t *tool) parser() *clopt.Parser {
	o := &t.opt
	top := clopt.NewCommand("", helpTop, t.noCommand)
	merge := clopt.NewCommand("merge", helpMerge+helpGeneric, t.merge)
	show := clopt.NewCommand("show", helpShow+helpGeneric, t.show)
	order := clopt.NewCommand("order", helpOrder+helpGeneric, t.order)
	overlap := clopt.NewCommand("overlap", helpOverlap+helpGeneric, t.overlap)
	merge.Positionals(&o.inputs)
	show.Positional(&o.profileFile, false)
	order.Positional(&o.profileFile, false)
	overlap.Positional(&o.overlapBase, true)
	overlap.Positional(&o.overlapTest, true)
	// An unknown option is answered with the nearest one.
	merge.Near, show.Near = strings.Fields(nearMerge), strings.Fields(nearShow)
	order.Near, overlap.Near = strings.Fields(nearOrder), strings.Fields(nearOverlap)

	o.global(clopt.For(top), t.VersionText(toolName))
	clopt.For(merge, show, order, overlap).String(&o.output, "output").Alias("o")
	clopt.For(merge, show, overlap).String(&o.function, "function")
	clopt.For(merge, show).String(&o.debugInfo, "debug-info")
	clopt.For(merge, show).Uint32(&o.maxDbgWarn, "max-debug-info-correlation-warnings")
	clopt.For(merge, show).String(&o.profiledBin, "profiled-binary")
	addKind(clopt.For(merge, overlap), &o.kind, "Profile kind:")
	addKind(clopt.For(show), &o.kind, "Profile kind supported by show:", clopt.Choice[profileKind]{Name: "memory", Value: memoryKind})
	o.ofMerge(clopt.For(merge))
	o.ofShow(clopt.For(show))
	clopt.For(order).Uint32(&o.numTestTraces, "num-test-traces")
	clopt.For(overlap).Uint64(&o.overlapCutoff, "value-cutoff", "ullong")
	clopt.For(overlap).Bool(&o.overlapCS, "cs")
	o.sample.ofMerge(clopt.For(merge))
	clopt.For(show).Bool(&o.sample.sectionsOnly, "show-sec-info-only")
	clopt.For(overlap).Uint64(&o.sample.similarityCutoff, "similarity-cutoff", "ullong")
	o.supplement.ofMerge(clopt.For(merge))
	clopt.For(top, merge, show, order, overlap).Generic()

	return &clopt.Parser{Env: t.Env, Top: top, Commands: clopt.For(show, order, overlap, merge)}
}

// global declares the options of the top level, which every command accepts. The thousands of
// options that LLVM's libraries add there (optimizer, code generators …) are unknown here.
func (o *options) global(top clopt.Commands, version string) {
	top.Strings(&o.debugFileDirs, "debug-file-directory")
	clopt.AddChoice(top, &o.correlate, "correlate",
		clopt.Choice[string]{Name: ""},
		clopt.Choice[string]{Name: byDebugInfo, Value: byDebugInfo},
		clopt.Choice[string]{Name: byBinary, Value: byBinary})
	top.Bool(&o.writePrevVersion, "write-prev-version")
	clopt.AddChoice(top, &o.sample.discriminatorBits, "fs-discriminator-pass",
		clopt.Choice[int]{Name: "Base", Value: 8}, clopt.Choice[int]{Name: "Pass1", Value: 14},
		clopt.Choice[int]{Name: "Pass2", Value: 20}, clopt.Choice[int]{Name: "Pass3", Value: 26},
		clopt.Choice[int]{Name: "PassLast"})
	top.Bool(&o.sample.flowSensitive, "profile-isfs")
	top.Bool(&o.sample.vtables, "extbinary-write-vtable-type-prof")
	top.BoolFunc("color", o.color.Set)
	top.Version(version)
}

func addKind(cs clopt.Commands, p *profileKind, heading string, more ...clopt.Choice[profileKind]) {
	clopt.AddSwitches(cs, p, heading, append([]clopt.Choice[profileKind]{
		{Name: "instr", Value: instrKind}, {Name: "sample", Value: sampleKind},
	}, more...)...)
}

func (o *options) ofMerge(merge clopt.Commands) {
	merge.Strings(&o.weightedInputs, "weighted-input")
	merge.String(&o.inputFiles, "input-files").Alias("f")
	merge.Bool(&o.dumpInputs, "dump-input-file-list")
	clopt.AddSwitches(merge, &o.format, "Format of output profile",
		clopt.Choice[outputFormat]{Name: "binary", Value: binaryFormat},
		clopt.Choice[outputFormat]{Name: "extbinary", Value: indexedFormat},
		clopt.Choice[outputFormat]{Name: "text", Value: textFormat},
		clopt.Choice[outputFormat]{Name: "gcc", Value: gccFormat})
	clopt.AddChoice(merge, &o.failureMode, "failure-mode",
		clopt.Choice[failureMode]{Name: "warn", Value: failNone},
		clopt.Choice[failureMode]{Name: "any", Value: failAny},
		clopt.Choice[failureMode]{Name: "all", Value: failAll})
	merge.Bool(&o.sparse, "sparse")
	merge.Uint32(&o.numThreads, "num-threads").Alias("j")
	merge.String(&o.noFunction, "no-function")
	merge.Uint64(&o.traceReservoir, "temporal-profile-trace-reservoir-size", "ulong")
	merge.Uint64(&o.maxTraceLength, "temporal-profile-max-trace-length", "ulong")
	merge.Bool(&o.keepVTables, "keep-vtable-symbols")
	merge.String(&o.remappingFile, "remapping-file").Alias("r")
	merge.String(&o.binaryFile, "binary-file")
	merge.Bool(&o.debuginfod, "debuginfod")
	clopt.AddChoice(merge, &o.memprofVersion, "memprof-version",
		clopt.Choice[int]{Name: "2", Value: 2}, clopt.Choice[int]{Name: "3", Value: 3}, clopt.Choice[int]{Name: "4", Value: 4})
	merge.Bool(&o.memprofFullSchema, "memprof-full-schema")
	merge.Bool(&o.randomHotness, "memprof-random-hotness")
	merge.Uint32(&o.randomHotnessSeed, "memprof-random-hotness-seed")
}

// ofShow declares the options of show. Some have no effect on some kinds of profiles; LLVM accepts them all the same.
func (o *options) ofShow(show clopt.Commands) {
	show.Bool(&o.allFunctions, "all-functions")
	show.Bool(&o.counts, "counts")
	show.Bool(&o.icTargets, "ic-targets")
	show.Bool(&o.vtables, "show-vtables")
	show.Bool(&o.memopSizes, "memop-sizes")
	show.Bool(&o.text, "text")
	show.Bool(&o.json, "json")
	clopt.AddChoice(show, &o.showFormat, "show-format",
		clopt.Choice[showFormat]{Name: "text", Value: showText},
		clopt.Choice[showFormat]{Name: "json", Value: showJSON},
		clopt.Choice[showFormat]{Name: "yaml", Value: showYAML})
	show.Bool(&o.covered, "covered")
	show.Bool(&o.cs, "showcs")
	show.Bool(&o.detailedSummary, "detailed-summary")
	show.Uint32s(&o.cutoffs, "detailed-summary-cutoffs")
	show.Bool(&o.hotFuncList, "hot-func-list")
	show.Uint32(&o.topN, "topn")
	show.Uint32(&o.valueCutoff, "value-cutoff")
	show.Bool(&o.onlyBelow, "list-below-cutoff")
	show.Bool(&o.binaryIDs, "binary-ids")
	show.Bool(&o.profileVersion, "profile-version")
	show.Bool(&o.traces, "temporal-profile-traces")
	show.Bool(&o.symbolList, "show-prof-sym-list")
}

func (o *sampleOptions) ofMerge(merge clopt.Commands) {
	merge.Bool(&o.useMD5, "use-md5")
	merge.Bool(&o.compress, "compress-all-sections")
	merge.Bool(&o.mergeCold, "sample-merge-cold-context")
	merge.Bool(&o.trimCold, "sample-trim-cold-context")
	merge.Bool(&o.partial, "gen-partial-profile")
	merge.Bool(&o.split, "split-layout")
	merge.Bool(&o.dropSymbols, "drop-profile-symbol-list")
	merge.String(&o.symbols, "prof-sym-list")
	merge.Uint32(&o.coldFrames, "sample-frame-depth-for-cold-context")
	merge.Uint64(&o.sizeLimit, "output-size-limit", "ulong")
	clopt.AddChoice(merge, &o.layout, "convert-sample-profile-layout",
		clopt.Choice[sampleLayout]{Name: "nest", Value: nestLayout}, clopt.Choice[sampleLayout]{Name: "flat", Value: flatLayout})
}

// ofMerge declares the options of --supplement-instr-with-sample. They apply to its adjustInstrProfile.
func (o *supplementOptions) ofMerge(merge clopt.Commands) {
	merge.String(&o.file, "supplement-instr-with-sample")
	merge.Float(&o.zeroShare, "zero-counter-threshold")
	merge.Uint32(&o.minSize, "suppl-min-size-threshold")
	merge.Uint32(&o.cold, "instr-prof-cold-threshold")
}

// The orders in which llvm-profdata 22 compares its options with an unknown name. They are
// orders of a hash table, found by experiment.
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
