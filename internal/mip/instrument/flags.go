package instrument

import (
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/mip"
)

// Compiler is a family of compilers that share their options.
type Compiler byte

// The compilers whose assembly can be instrumented.
const (
	Clang Compiler = iota + 1
	GCC
	Rustc
)

// CompilerFlags returns the options, besides those of the user, that let a
// compiler print assembly which can be instrumented in full. They do not change
// what the program computes.
func CompilerFlags(c Compiler, triple string, profile mip.ProfileType) []string {
	t, _ := asm.ParseTriple(triple) // no options are known for other targets
	var flags []string
	if c == Clang {
		// Without -fverbose-asm no comments mark inline assembly outside
		// functions.
		flags = append(flags, "-fverbose-asm")
	}
	switch {
	case t.Arch == asm.ARM && profile.Has(mip.BlockCoverage) && c != Rustc:
		return append(flags, "-fno-jump-tables")
	case t.Arch != asm.AArch64:
		return flags
	}
	if c == GCC {
		// By default, callers of file-local functions may keep values in
		// scratch registers that the function does not use.
		flags = append(flags, "-fno-ipa-ra")
	}
	if profile.Has(mip.BlockCoverage) {
		switch c { // see SkipJumpTable
		case Clang:
			flags = append(flags, "-mllvm", "-aarch64-enable-compress-jump-tables=false")
		case Rustc:
			flags = append(flags, "-Cllvm-args=-aarch64-enable-compress-jump-tables=false")
		case GCC:
			flags = append(flags, "-fno-jump-tables")
		}
	}
	return flags
}
