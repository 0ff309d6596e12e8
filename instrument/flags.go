package instrument

import (
	"github.com/profuse-pgo/profuse/instrument/internal/asm"
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

// CompilerFlags returns the options that a compiler should print assembly
// with for a target, besides those of the user, so that it can be instrumented in
// full. They do not change what a program computes.
func CompilerFlags(c Compiler, triple string, profile mip.ProfileType) []string {
	t, _ := asm.ParseTriple(triple) // of other targets there is nothing to say
	var flags []string
	if c == Clang {
		// Only comments tell inline assembly outside of functions.
		flags = append(flags, "-fverbose-asm")
	}
	switch {
	case t.Arch == asm.ARM && profile.Has(mip.BlockCoverage) && c != Rustc:
		return append(flags, "-fno-jump-tables")
	case t.Arch != asm.AArch64:
		return flags
	}
	if c == GCC {
		// Otherwise callers of functions local to the file may rely on the
		// scratch registers that the functions do not use.
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
