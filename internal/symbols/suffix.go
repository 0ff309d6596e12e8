package symbols

import (
	"regexp"
	"strings"
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

// The hashes in Rust's names: at the end of legacy names, of the crate, the compiler and the
// types of generic functions; in v0 names, of each crate and its version.
var (
	legacyHash   = regexp.MustCompile(`^(_?_ZN.*)17h[0-9a-f]{16}E$`)
	crateHash    = regexp.MustCompile(`Cs[0-9A-Za-z]*_`)
	rustPrefixes = []string{"_R", "__R"} // Mach-O's has another underscore
)

// BaseName returns the name without what changes from build to build: suffixes of
// compilers and Rust's hashes. Instances of one generic function in Rust may share it.
func BaseName(name string) string {
	for {
		short := cutSuffix(name)
		if short == name {
			break
		}
		name = short
	}
	for _, p := range rustPrefixes {
		if strings.HasPrefix(name, p) {
			return crateHash.ReplaceAllLiteralString(name, "C")
		}
	}
	if strings.HasSuffix(name, "E") && strings.Contains(name, "17h") {
		return legacyHash.ReplaceAllString(name, "${1}E")
	}
	return name
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
