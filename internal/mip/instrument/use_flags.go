package instrument

import "github.com/profuse-pgo/profuse/internal/mip/asm"

// UseFlags returns the options, besides those of the user, that let a compiler
// print assembly for [Use]: each function in a section of its own, and the same
// blocks as in the instrumented build where that costs no speed. gcc for
// AArch64 instruments blocks without jump tables only, so functions with
// switches no longer match their profiles.
func UseFlags(c Compiler, triple string) []string {
	t, _ := asm.ParseTriple(triple)
	flags := []string{"-ffunction-sections"}
	switch c {
	case Clang:
		flags = append(flags, "-fverbose-asm")
		if t.Arch == asm.AArch64 {
			flags = append(flags, "-mllvm", "-aarch64-enable-compress-jump-tables=false")
		}
	case Rustc: // rustc gives each function a section by default
		flags = nil
		if t.Arch == asm.AArch64 {
			flags = append(flags, "-Cllvm-args=-aarch64-enable-compress-jump-tables=false")
		}
	}
	return flags
}
