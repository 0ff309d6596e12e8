package instrument

import "github.com/profuse-pgo/profuse/instrument/internal/asm"

// UseFlags returns the options that a compiler should print assembly with for
// [Use], besides those of the user: each function in a section of its own, and
// the same blocks as when it was instrumented as far as that costs nothing. On
// AArch64, gcc instruments blocks without jump tables, so that its functions
// with switches count as changed.
func UseFlags(c Compiler, triple string) []string {
	t, _ := asm.ParseTriple(triple)
	flags := []string{"-ffunction-sections"}
	switch c {
	case Clang:
		flags = append(flags, "-fverbose-asm")
		if t.Arch == asm.AArch64 {
			flags = append(flags, "-mllvm", "-aarch64-enable-compress-jump-tables=false")
		}
	case Rustc: // has such sections by itself
		flags = nil
		if t.Arch == asm.AArch64 {
			flags = append(flags, "-Cllvm-args=-aarch64-enable-compress-jump-tables=false")
		}
	}
	return flags
}
