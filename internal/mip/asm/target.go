package asm

import (
	"bytes"
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

// Target is the instruction set and object format of an assembly file. The zero
// value asks [Read] to infer both.
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

// check returns an error for an unsupported combination.
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
// compilers print it for -dumpmachine, and the zero value for "".
func ParseTriple(triple string) (Target, error) {
	if triple == "" {
		return Target{}, nil
	}
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

// DetectTarget infers the target of an assembly file from its directives and
// registers. A driver that knows the triple should use [ParseTriple].
func DetectTarget(src []byte) (Target, error) {
	t := Target{Format: ELF}
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '.' {
			if t.Arch == "" {
				t.Arch = archOfLine(line)
			}
			continue
		}
		word, rest := SplitWord(line)
		switch string(word) {
		case ".build_version", ".subsections_via_symbols", ".macosx_version_min", ".ios_version_min":
			t.Format = MachO
		case ".section":
			if bytes.HasPrefix(rest, []byte("__TEXT,")) {
				t.Format = MachO
			}
		case ".intel_syntax", ".att_syntax", ".code64":
			t.Arch = X86_64
		case ".syntax", ".thumb", ".fpu", ".eabi_attribute", ".fnstart", ".thumb_func":
			t.Arch = ARM
		case ".cpu", ".arch":
			if bytes.HasPrefix(rest, []byte("armv8-a")) || bytes.HasPrefix(rest, []byte("armv9-a")) {
				t.Arch = AArch64
			}
		case ".xword":
			t.Arch = AArch64
		}
	}
	if t.Arch == "" {
		return Target{}, fmt.Errorf("%w: no instruction or directive of the text names it", ErrUnsupportedTarget)
	}
	return t, t.check()
}

// archOfLine guesses the instruction set from one instruction; "" if the instruction does not tell.
func archOfLine(line []byte) Arch {
	word, rest := SplitWord(line)
	switch string(word) {
	case "adrp", "stp", "ldp", "cbz", "cbnz", "paciasp", "bti", "fmov", "madd":
		return AArch64
	case "pushq", "movq", "leaq", "retq", "callq", "movl", "xorl", "endbr64", "jmpq", "popq", "addq", "subq":
		return X86_64
	case "bx", "stmfd", "ldmfd", "vpush", "movw", "movt", "blx":
		return ARM
	}
	for _, r := range []string{"%rsp", "%rax", "%rdi", "%eax", "%edi", "%rip", "%rbp"} {
		if bytes.Contains(rest, []byte(r)) {
			return X86_64
		}
	}
	if bytes.Contains(rest, []byte("x29")) || bytes.HasPrefix(rest, []byte("w0,")) || bytes.HasPrefix(rest, []byte("x0,")) {
		return AArch64
	}
	if bytes.HasSuffix(rest, []byte(", lr}")) || bytes.HasSuffix(rest, []byte("lr")) || bytes.HasPrefix(rest, []byte("r0,")) {
		return ARM
	}
	return ""
}
