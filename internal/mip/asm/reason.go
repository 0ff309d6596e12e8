package asm

// A Reason says, in a few words, why a function or its blocks got no probes, or
// why they stay in place; "" means no reason.
type Reason string

const (
	SkipInlineAssembly  Reason = "defined in inline assembly"
	SkipEmpty           Reason = "no instructions"
	SkipMinInstructions Reason = "fewer instructions than the minimum"
	SkipGroup           Reason = "in another function group"
	SkipListed          Reason = "in the special-case list"
	// SkipOutlined: LLVM's machine outliner gives its functions their own calling conventions.
	SkipOutlined Reason = "made by the outliner"
	// SkipXRay: probes would break the sleds.
	SkipXRay Reason = "has XRay sleds"
	// SkipFragment: the entry probe of the other function covers the fragment.
	// Fragments get records of their own under block coverage.
	SkipFragment Reason = "cold part of another function"
	// SkipSection: the flags of the section do not mark it as code.
	SkipSection        Reason = "not in a code section"
	SkipInstructionSet Reason = "instruction set older than ARMv7"
	// SkipJumpTable: block probes would overflow the narrow entries of a jump table. clang avoids them
	// with -mllvm -aarch64-enable-compress-jump-tables=false, gcc with -fno-jump-tables.
	SkipJumpTable Reason = "has compressed jump tables"
	// SkipBranchRange: block probes would push branch targets out of range.
	SkipBranchRange Reason = "too large for the range of its branches"
	SkipMacro       Reason = "has assembler macros" // or conditionals

	UseNew Reason = "not in the profile"
	// UseStale: the profile has the name, but with another control flow graph.
	UseStale Reason = "changed since the profile"
	// UseSection: the source or an option has chosen the section.
	UseSection Reason = "in a section that the source or an option names"
	// UseShared: compiled without -ffunction-sections.
	UseShared Reason = "in a section with other functions"
	// UseOpaque: defined or entered there.
	UseOpaque Reason = "in inline assembly or macros"
	// UseFragment: the compiler has already placed it with other cold code.
	UseFragment = SkipFragment
	// UseFormat: Mach-O has no sections for hot and cold code; the linker's order file places functions.
	UseFormat Reason = "placed by the linker alone"
	// UseTarget: only blocks of x86_64 ELF can be moved.
	UseTarget Reason = "blocks cannot be moved on this target"
	// UseUnwind: the unwind information cannot be recomputed.
	UseUnwind Reason = "unwind information of an unknown form"
	// UseDirective: a directive may be of unknown effect.
	UseDirective Reason = "data or directives between its instructions"
	UseBlocks    Reason = "blocks not recovered"
	UseTable     Reason = "exception table of an unknown form"
)
