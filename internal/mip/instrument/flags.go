package instrument

import (
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// Compiler is a family of compilers that share their options.
type Compiler byte

// The compilers whose assembly can be instrumented.
const (
	Clang Compiler = iota + 1
	GCC
	Rustc
)

// CompilerFlags returns the options that a compiler needs, beside the user's options, to print
// assembly that can be instrumented in full. They do not change what the program computes.
func CompilerFlags(c Compiler, t asm.Target, profile mip.ProfileType) []string {
	var flags []string
	if c == Clang {
		// Without -fverbose-asm no comments mark inline assembly outside functions.
		flags = append(flags, "-fverbose-asm")
	}
	switch {
	case t.Arch == asm.ARM && profile.Has(mip.BlockCoverage) && c != Rustc:
		return append(flags, "-fno-jump-tables")
	case t.Arch != asm.AArch64:
		return flags
	}
	if c == GCC {
		// By default, callers of a file-local function may keep values in
		// scratch registers that the function does not use.
		flags = append(flags, "-fno-ipa-ra")
	}
	if profile.Has(mip.BlockCoverage) {
		flags = append(flags, wideJumpTables[c]...)
	}
	return flags
}

// wideJumpTables are the options against narrow entries in the jump tables of AArch64, see SkipJumpTable.
var wideJumpTables = map[Compiler][]string{
	Clang: {"-mllvm", "-aarch64-enable-compress-jump-tables=false"},
	Rustc: {"-Cllvm-args=-aarch64-enable-compress-jump-tables=false"},
	GCC:   {"-fno-jump-tables"},
}

// UseFlags returns the options that a compiler needs, beside the user's options, to print assembly for
// [Use]: each function in a section of its own, and the same blocks as in the instrumented build where
// that costs no speed. gcc for AArch64 instruments blocks without jump tables only, so functions with
// switches no longer match their profiles.
func UseFlags(c Compiler, t asm.Target) []string {
	var flags []string
	if c != Rustc { // which gives each function a section by default
		flags = append(flags, "-ffunction-sections")
	}
	if c == Clang {
		flags = append(flags, "-fverbose-asm")
	}
	if t.Arch == asm.AArch64 && c != GCC {
		flags = append(flags, wideJumpTables[c]...)
	}
	return flags
}
