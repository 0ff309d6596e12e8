package symbols

import (
	"regexp"
	"strings"
	"sync"
)

// The suffixes of clones and parts of functions; most come with a number.
var (
	numberedSuffixes = []string{
		".llvm",                                           // promoted from its file by ThinLTO
		".__uniq",                                         // -funique-internal-linkage-names
		".part", ".cold", ".constprop", ".isra", ".clone", // what GCC and LLVM split off or specialize
		".lto_priv", // made local by GCC's LTO
	}
	plainSuffixes = []string{".cold", ".localalias"}
)

// The hashes in Rust's names: at the end of legacy names, 17h and 16 digits, of the crate, the
// compiler and the types of generic functions; in v0 names, of each crate and its version.
const legacyHash = len("17h0123456789abcdefE")

var crateHash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Cs[0-9A-Za-z]*_`) })

// wasmMain is the name that clang gives to a main with parameters for WebAssembly. A main without any is "main" there, too.
const wasmMain = "__main_argc_argv"

// BaseName returns the name without what changes from build to build: suffixes of
// compilers, Rust's hashes, and the name of main for WebAssembly. Instances of one
// generic function in Rust may share it.
func BaseName(name string) string {
	for {
		short := cutSuffix(name)
		if short == name {
			break
		}
		name = short
	}
	if name == wasmMain {
		return "main"
	}
	elf := strings.TrimPrefix(name, "_") // Mach-O's names have another underscore
	switch at := len(name) - legacyHash; {
	case strings.HasPrefix(name, "_R"), strings.HasPrefix(elf, "_R"):
		return crateHash().ReplaceAllLiteralString(name, "C")
	case at > 0 && (strings.HasPrefix(name, "_ZN") || strings.HasPrefix(elf, "_ZN")) &&
		strings.HasPrefix(name[at:], "17h") && strings.Trim(name[at+3:], "0123456789abcdef") == "E":
		return name[:at] + "E"
	}
	return name
}

// IsPromoted reports whether ThinLTO gave a function another name to export it from its file.
func IsPromoted(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && isNumber(name[i+1:]) && strings.HasSuffix(name[:i], numberedSuffixes[0])
}

// cutSuffix removes the last suffix of a compiler, if there is one.
func cutSuffix(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 && isNumber(name[i+1:]) {
		for _, s := range numberedSuffixes {
			if short, ok := strings.CutSuffix(name[:i], s); ok && short != "" {
				return short
			}
		}
	}
	for _, s := range plainSuffixes {
		if short, ok := strings.CutSuffix(name, s); ok && short != "" {
			return short
		}
	}
	return name
}

// CutCold removes the suffix of a cold part, ".cold" or ".cold.1".
func CutCold(name string) (function string, cold bool) {
	if i := strings.LastIndexByte(name, '.'); i > 0 && isNumber(name[i+1:]) {
		name = name[:i]
	}
	function, cold = strings.CutSuffix(name, ".cold")
	return function, cold && function != ""
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
