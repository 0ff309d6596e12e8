// Package symbols turns mangled symbol names into readable ones.
//
// A demangled name is for display only. It must never be a key: two symbols may print alike, and the demangler,
// while good, is not exact (about 0.6 % of libLLVM's names print differently from llvm-cxxfilt).
package symbols

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// maxMangled bounds, in bytes, the names that are tried. The demangler prints in time quadratic in the nesting,
	// which is as deep as the name is long: 16 KiB cost some 50 ms at worst, 256 KiB would cost 10 s.
	maxMangled = 16 << 10

	// maxDemangledLog2 bounds the result to 64 KiB. Substitutions let n
	// bytes stand for 2^n, so the output needs a bound of its own.
	maxDemangledLog2 = 16

	// maxCasts bounds conversion operators to a template parameter ("cvT_"). The demangler parses the template
	// arguments that follow one twice, so k of them nested cost 2^k: 19 take 2 s. Compilers do not nest them.
	maxCasts = 6
)

// Demangle returns the readable form of a symbol of C++ or Rust, see [DemangleCXX], or of Fortran: "module::procedure" for
// procedures of modules and inner procedures of flang and gfortran. It returns all other names unchanged.
func Demangle(name string) string {
	if readable, ok := demangleFortran(name); ok {
		return readable
	}
	return DemangleCXX(name)
}

// DemangleCXX returns the readable form, in LLVM's style, of a symbol mangled by the Itanium C++ ABI or by Rust
// (legacy or v0). It returns all other names unchanged, including MSVC and Swift names, malformed names, and names
// whose readable form exceeds 64 KiB. It accepts the extra underscore that Mach-O puts before every symbol.
//
// DemangleCXX keeps a suffix that a compiler or linker added, "f() (.llvm.123)"; legacy Rust names lose it together
// with their hash, so that instances of one generic function print alike.
//
// The name must be the symbol alone. Where a profile puts a file name before a
// local symbol ("file.c;name"), split it first.
func DemangleCXX(name string) (readable string) {
	mangled := name
	if strings.HasPrefix(name, "__Z") || strings.HasPrefix(name, "__R") {
		mangled = name[1:]
	}
	if !mayBeMangled(mangled) || len(mangled) > maxMangled || strings.Count(mangled, "cvT") > maxCasts {
		return name
	}
	// Malformed names make the demangler panic, for example _ZZN1XIfLj0EE2FnEvENKcvUlTyT_E_clIiEEDaS1_.
	defer func() {
		if recover() != nil {
			readable = name
		}
	}()
	s, err := demangle.ToString(mangled, demangle.LLVMStyle, demangle.MaxLength(maxDemangledLog2))
	if err != nil || len(s) >= 1<<maxDemangledLog2 {
		return name
	}
	return s
}

// mayBeMangled reports whether a name has the prefix of a mangled one. Most names
// in C programs have none, and need not cost an error value. Some prefixes that
// the demangler knows begin no mangled name in a profile; they do not count.
func mayBeMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") ||
		strings.HasPrefix(name, "___Z")
}

// FunctionName returns the name of a function alone, without scopes, parameters and
// arguments of templates: "f" for "_ZN2ns1fIiEEvT_". It is "" for names that are not
// mangled, and for operators, constructors, lambdas and others without a plain name.
func FunctionName(name string) (plain string) {
	if !strings.HasPrefix(name, "_Z") || len(name) > maxMangled || strings.Count(name, "cvT") > maxCasts {
		return ""
	}
	defer func() {
		if recover() != nil {
			plain = ""
		}
	}()
	s, err := demangle.ToString(name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams, demangle.NoClones, demangle.MaxLength(maxDemangledLog2))
	if err != nil {
		return ""
	}
	s = s[strings.LastIndex(s, "::")+1:]
	s = strings.TrimPrefix(s, ":")
	for i := range len(s) {
		if c := s[i]; c != '_' && c < 0x80 && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return ""
		}
	}
	return s
}
