package cov

import (
	"regexp"
	"strings"
	"sync"
)

// archNames matches the names of architectures in triples. Another name is an error of the
// command line, before any program is read.
var archNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(i[3-9]86|x86_64h?|amd64|(arm|thumb)(eb)?(v[0-9a-z._]+)?|arm64(e|ec|_32)?|aarch64(_be|_32)?|` +
		`(powerpc|ppc)(64)?(le)?|ppu|powerpcspe|mips(64)?(el|eb|n32|n32el)?|mipsallegrex(el)?|mips(isa)?(32|64)?r6(el)?|` +
		`s390x|systemz|riscv(32|64)(be)?|loongarch(32|64)|sparc(v9|64|el)?|wasm(32|64)|hexagon|xscale(eb)?|msp430|avr|bpf(_le|_be|el|eb)?|` +
		`lanai|ve|csky|m68k|xcore|xtensa|arc|tce(le)?|nvptx(64)?|amdgcn|amdil(64)?|hsail(64)?|r600|spir(64)?|spirv(32|64)?(v[0-9.]+)?|` +
		`shave|renderscript(32|64)|dxil(v[0-9.]+)?|kalimba[0-9]?)$`)
})

// knownArch reports whether LLVM knows an architecture of this name. The name may be a triple.
func knownArch(name string) bool {
	name, _, _ = strings.Cut(name, "-")
	return archNames().MatchString(name)
}

// canonicalArch returns one of the names of an architecture. LLVM has several names for one
// architecture, and --arch may use another one than the program's header does.
func canonicalArch(name string) string {
	name, _, _ = strings.Cut(name, "-")
	switch {
	case name == "amd64" || name == "x86_64h":
		return "x86_64"
	case name == "arm64" || name == "arm64e":
		return "aarch64"
	case len(name) == 4 && name[0] == 'i' && strings.HasSuffix(name, "86"):
		return "i386"
	case strings.HasPrefix(name, "ppc"):
		return "powerpc" + name[3:]
	case strings.HasPrefix(name, "armv"):
		return "arm"
	}
	return name
}
