package irpgocmd

import (
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// counterFacts are the facts that "profuse show" prints about one profile. The JSON names are a
// stable interface. If Error is set, the numbers cover the records before it.
type counterFacts struct {
	family.Head
	WrittenBy  string `json:"written_by"`            // LLVM releases that can have written it; may be ""
	ReadableBy string `json:"readable_by,omitempty"` // LLVM releases, if others can have written it
	// VersionWord is the Version field of raw and indexed headers: the version, with the variant in the high bits.
	VersionWord uint64   `json:"version_word"`
	Variant     []string `json:"variant"` // short names of irpgo.Variant
	PointerSize int      `json:"pointer_size"`
	ByteOrder   string   `json:"byte_order"` // "little", "big", or "" for text
	Profiles    int      `json:"profiles"`   // concatenated in the file
	BinaryIDs   []string `json:"binary_ids"` // hexadecimal

	// A function has a record for each CFG hash. The sums do not contain pseudo counts, which mark
	// functions as hot or warm by a sample profile.
	Functions         int    `json:"functions"` // distinct names
	FunctionsNotRun   int    `json:"functions_not_run"`
	Records           int    `json:"records"`
	CSRecords         int    `json:"cs_records"`
	PseudoHotRecords  int    `json:"pseudo_hot_records"`
	PseudoWarmRecords int    `json:"pseudo_warm_records"`
	Counters          uint64 `json:"counters"`
	CountersZero      uint64 `json:"counters_zero"`
	TotalCount        uint64 `json:"total_count"` // saturating

	Summary   *summaryFacts `json:"summary"`
	CSSummary *summaryFacts `json:"cs_summary"` // null unless the variant has cs

	// Values has one element for each kind, in LLVM's order: IPVK_IndirectCallTarget,
	// IPVK_MemOPSize, IPVK_VTableTarget.
	Values  []valueFacts `json:"values"`
	Bitmaps bitmapFacts  `json:"bitmaps"`
	// Uniform counts the counters with uniformity bits, of programs for GPUs.
	Uniform     *uniformFacts `json:"uniform,omitempty"`
	Traces      traceFacts    `json:"traces"`
	VTableNames int           `json:"vtable_names"`

	MemProf *memprofcmd.Facts `json:"memprof,omitzero"` // with a section only

	Hottest  []functionFacts `json:"hottest"`
	Selected []recordFacts   `json:"function_records,omitzero"` // with --function only
	family.Problems

	variant   irpgo.Variant
	selecting bool // --function is given
}

// summaryFacts is a profile summary, stored in the file or computed from the records.
type summaryFacts struct {
	// Stored is false if the format has no summary; then profuse computes the summary like LLVM.
	Stored           bool   `json:"stored"`
	Functions        uint64 `json:"functions"` // records, in fact
	Counters         uint64 `json:"counters"`
	MaxFunctionCount uint64 `json:"max_function_count"`
	MaxInternalCount uint64 `json:"max_internal_count"`
	MaxCount         uint64 `json:"max_count"`
	TotalCount       uint64 `json:"total_count"` // modulo 2^64
	HotThreshold     uint64 `json:"hot_threshold"`
	ColdThreshold    uint64 `json:"cold_threshold"`
	// Cutoffs are the detailed summary: how many of the greatest counters make up each share of the
	// total. HotThreshold and ColdThreshold belong to LLVM's cutoffs 99 % and 99.9999 %.
	Cutoffs []console.Cutoff `json:"cutoffs"`
}

// valueFacts sums up the value sites of one kind.
type valueFacts struct {
	Kind            string `json:"kind"`
	Sites           int    `json:"sites"`
	SitesWithValues int    `json:"sites_with_values"`
	Values          int    `json:"values"` // number of values of all sites
	Count           uint64 `json:"count"`  // how often the values were seen; saturating
	// Targets that no function or virtual table is known to have.
	UnknownValues int    `json:"unknown_values,omitempty"`
	UnknownCount  uint64 `json:"unknown_count,omitempty"` // how often they were seen; saturating
}

// bitmapFacts sums up the MC/DC bitmaps. A set bit stands for a combination of conditions (a test
// vector) that occurred.
type bitmapFacts struct {
	Records int `json:"records"` // that have a bitmap
	Bytes   int `json:"bytes"`
	BitsSet int `json:"bits_set"`
}

// uniformFacts sums up the uniformity bits. A set bit stands for a block that nearly always ran with
// all lanes of a wave active.
type uniformFacts struct {
	Records  int `json:"records"`  // that have uniformity bits
	Counters int `json:"counters"` // of these records
	BitsSet  int `json:"bits_set"`
}

// traceFacts sums up the traces of temporal profiling. A profile keeps a random sample of Count
// traces out of a stream of StreamSize.
type traceFacts struct {
	Count      int    `json:"count"`
	StreamSize uint64 `json:"stream_size"`
	Longest    int    `json:"longest"` // functions
}

// functionFacts sums up all records of one name.
type functionFacts struct {
	console.Symbol
	TotalCount uint64  `json:"total_count"` // saturating
	Share      float64 `json:"share"`       // of the profile's total count
	MaxCount   uint64  `json:"max_count"`
	Counters   int     `json:"counters"`
	Records    int     `json:"records"`

	ran bool // a counter or a bitmap bit is set, or a sample profile says so
}

// recordFacts is one record in full.
type recordFacts struct {
	console.Symbol
	Hash            uint64      `json:"hash"`
	ContextSens     bool        `json:"cs"`
	Pseudo          string      `json:"pseudo"` // "hot", "warm" or ""
	TotalCount      uint64      `json:"total_count"`
	MaxCount        uint64      `json:"max_count"`
	Counts          []uint64    `json:"counts"`
	Bitmap          string      `json:"bitmap"`               // hexadecimal
	Uniformity      string      `json:"uniformity,omitempty"` // hexadecimal
	IndirectTargets []siteFacts `json:"indirect_call_targets"`
	MemOPSizes      []siteFacts `json:"memop_sizes"`
	VTableTargets   []siteFacts `json:"vtable_targets"`
}

func (r *recordFacts) sites(k int) *[]siteFacts {
	switch k {
	case irpgo.MemOPSize:
		return &r.MemOPSizes
	case irpgo.VTableTarget:
		return &r.VTableTargets
	}
	return &r.IndirectTargets
}

// siteFacts is one value site; it may have no values.
type siteFacts struct {
	Count  uint64          `json:"count"`
	Values []siteValueFact `json:"values"`
}

// siteValueFact is a value of a site: a target with its symbol, or a size in bytes.
type siteValueFact struct {
	Value  uint64          `json:"value"`
	Count  uint64          `json:"count"`
	Symbol *console.Symbol `json:"symbol"` // null for sizes
}
