package instrument

import "fmt"

// Report says what [Rewrite] did, function by function.
type Report struct {
	Target Target
	// Functions are in the order of the text, skipped ones included.
	Functions []FunctionReport
}

// FunctionReport says what became of one function.
type FunctionReport struct {
	// Name is the linkage name as in the symbol table.
	Name string
	// Skipped is why the function has no probe at all; 0 if it has.
	Skipped SkipReason
	// BlocksSkipped is why a function that has an entry probe has no block
	// probes although block coverage was asked for; 0 if it has.
	BlocksSkipped SkipReason
	// Instructions is the number of instructions before instrumentation.
	Instructions int
	// Blocks is the number of basic blocks, the entry included; 0 unless block
	// coverage was asked for.
	Blocks int
	// Probes is the number of probes inserted, the entry's included.
	Probes int
}

// Inferred is the number of blocks whose coverage is inferred.
func (f *FunctionReport) Inferred() int { return max(f.Blocks-f.Probes, 0) }

// SkipReason is why a function, or its blocks, got no probes.
type SkipReason byte

const (
	// SkipInlineAssembly: defined in top-level inline assembly.
	SkipInlineAssembly SkipReason = iota + 1
	// SkipEmpty: no instructions.
	SkipEmpty
	// SkipMinInstructions: fewer instructions than [Options.MinInstructions].
	SkipMinInstructions
	// SkipGroup: not in [Options.SelectedGroup].
	SkipGroup
	// SkipListed: [Options.Skip] said so.
	SkipListed
	// SkipOutlined: made by the machine outliner, which gives its functions a
	// calling convention of their own.
	SkipOutlined
	// SkipXRay: has sleds for XRay, which probes would break.
	SkipXRay
	// SkipFragment: the cold part of another function, which its entry probe
	// covers. Fragments get records of their own under block coverage.
	SkipFragment
	// SkipSection: in a section that is not code by its flags.
	SkipSection
	// SkipInstructionSet: ARM code older than the probes need.
	SkipInstructionSet
	// SkipJumpTable: has jump tables with narrow entries, which block probes
	// would make overflow. clang has -mllvm
	// -aarch64-enable-compress-jump-tables=false against them, gcc
	// -fno-jump-tables.
	SkipJumpTable
	// SkipBranchRange: so large that block probes would put branches out of
	// their range.
	SkipBranchRange
	// SkipMacro: has assembler macros or conditionals.
	SkipMacro
)

var skipReasons = [...]string{
	SkipInlineAssembly:  "defined in inline assembly",
	SkipEmpty:           "no instructions",
	SkipMinInstructions: "fewer instructions than the minimum",
	SkipGroup:           "in another function group",
	SkipListed:          "in the special-case list",
	SkipOutlined:        "made by the outliner",
	SkipXRay:            "has XRay sleds",
	SkipFragment:        "cold part of another function",
	SkipSection:         "not in a code section",
	SkipInstructionSet:  "instruction set older than ARMv7",
	SkipJumpTable:       "has compressed jump tables",
	SkipBranchRange:     "too large for the range of its branches",
	SkipMacro:           "has assembler macros",
}

// String says the reason in a few words; "" for 0.
func (r SkipReason) String() string {
	if int(r) < len(skipReasons) {
		return skipReasons[r]
	}
	return fmt.Sprintf("SkipReason(%d)", byte(r))
}
