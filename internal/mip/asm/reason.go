package asm

import "fmt"

// Reason says why a function or its blocks got no probes, or why they stay in
// place; 0 means no reason.
type Reason byte

const (
	// SkipInlineAssembly: defined in top-level inline assembly.
	SkipInlineAssembly Reason = iota + 1
	// SkipEmpty: no instructions.
	SkipEmpty
	// SkipMinInstructions: fewer instructions than [Options.MinInstructions].
	SkipMinInstructions
	// SkipGroup: not in [Options.SelectedGroup].
	SkipGroup
	// SkipListed: [Options.Skip] said so.
	SkipListed
	// SkipOutlined: made by LLVM's machine outliner, which gives its functions
	// their own calling conventions.
	SkipOutlined
	// SkipXRay: has sleds for XRay, which probes would break.
	SkipXRay
	// SkipFragment: the cold part of another function, which its entry probe
	// covers. Fragments get records of their own under block coverage.
	SkipFragment
	// SkipSection: in a section whose flags do not mark it as code.
	SkipSection
	// SkipInstructionSet: ARM code older than the probes need.
	SkipInstructionSet
	// SkipJumpTable: has jump tables with narrow entries, which block probes
	// would overflow. clang avoids them with -mllvm
	// -aarch64-enable-compress-jump-tables=false, gcc with -fno-jump-tables.
	SkipJumpTable
	// SkipBranchRange: so large that block probes would push branch targets out
	// of range.
	SkipBranchRange
	// SkipMacro: has assembler macros or conditionals.
	SkipMacro

	// UseNew: the profile does not know the function.
	UseNew
	// UseStale: the profile knows the name, but with another control flow
	// graph.
	UseStale
	// UseSection: in a section that the source or an option has chosen.
	UseSection
	// UseShared: in a section with other functions, since it was compiled
	// without -ffunction-sections.
	UseShared
	// UseOpaque: defined or entered in inline assembly or macros.
	UseOpaque
	// UseFragment: the cold part of another function, which the compiler has
	// already placed with other cold code.
	UseFragment
	// UseFormat: Mach-O has no sections for hot and cold code; the linker's
	// order file places functions.
	UseFormat
	// UseTarget: blocks are moved on x86_64 with ELF only.
	UseTarget
	// UseUnwind: has unwind information that cannot be recomputed.
	UseUnwind
	// UseDirective: has data, or directives of unknown effect, among its
	// instructions.
	UseDirective
	// UseBlocks: its blocks could not be recovered.
	UseBlocks
	// UseTable: its exception table has an unknown form.
	UseTable
)

var reasons = [...]string{
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
	UseNew:              "not in the profile",
	UseStale:            "changed since the profile",
	UseSection:          "in a section of its own choice",
	UseShared:           "in a section with other functions",
	UseOpaque:           "in inline assembly or macros",
	UseFragment:         "cold part of another function",
	UseFormat:           "placed by the linker alone",
	UseTarget:           "blocks cannot be moved on this target",
	UseUnwind:           "unwind information of an unknown form",
	UseDirective:        "data or directives between its instructions",
	UseBlocks:           "blocks not recovered",
	UseTable:            "exception table of an unknown form",
}

// String returns the reason in a few words; "" for 0.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("Reason(%d)", byte(r))
}
