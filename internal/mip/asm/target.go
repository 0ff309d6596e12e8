package asm

import (
	"fmt"
	"strings"
)

// Arch is an instruction set, by its name in LLVM's triples.
type Arch string

const (
	X86_64  Arch = "x86_64"
	AArch64 Arch = "aarch64" // little-endian
	ARM     Arch = "arm"     // ARMv7-A and later, in ARM or Thumb-2 code
)

// ObjectFormat is the object format that the assembly file is for; section
// directives and relocations depend on it.
type ObjectFormat string

const (
	ELF   ObjectFormat = "elf"
	MachO ObjectFormat = "macho"
)

// Target is the instruction set and object format of an assembly file.
type Target struct {
	Arch   Arch
	Format ObjectFormat
}

// String returns "ARCH-FORMAT".
func (t Target) String() string { return string(t.Arch) + "-" + string(t.Format) }

// PointerSize returns the width of addresses in bytes.
func (t Target) PointerSize() int {
	if t.Arch == ARM {
		return 4
	}
	return 8
}

func (t Target) check() error {
	switch {
	case t.Arch != X86_64 && t.Arch != AArch64 && t.Arch != ARM,
		t.Format != ELF && t.Format != MachO,
		t.Arch == ARM && t.Format == MachO:
		return fmt.Errorf("%w: %v", ErrUnsupportedTarget, t)
	}
	return nil
}

// ParseTriple returns the target of a triple such as x86_64-pc-linux-gnu or arm64-apple-macos13, as
// compilers print it for -dumpmachine.
func ParseTriple(triple string) (Target, error) {
	arch, rest, _ := strings.Cut(triple, "-")
	var t Target
	switch {
	case arch == "x86_64" || arch == "amd64" || arch == "x86_64h":
		t.Arch = X86_64
	case arch == "aarch64" || arch == "arm64" || arch == "arm64e":
		t.Arch = AArch64
	case (strings.HasPrefix(arch, "arm") || strings.HasPrefix(arch, "thumb")) && !strings.Contains(arch, "eb"):
		t.Arch = ARM
	}
	t.Format = ELF
	for _, s := range []string{"apple", "darwin", "macos", "ios"} {
		if strings.Contains(rest, s) {
			t.Format = MachO
		}
	}
	foreign := strings.Contains(rest, "windows") || strings.Contains(rest, "mingw") || strings.Contains(rest, "cygwin") ||
		strings.HasSuffix(rest, "gnux32") || strings.HasSuffix(rest, "ilp32")
	if t.Arch == "" || foreign {
		return Target{}, fmt.Errorf("%w: %s", ErrUnsupportedTarget, triple)
	}
	return t, t.check()
}
