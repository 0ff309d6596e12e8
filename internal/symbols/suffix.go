package symbols

import "strings"

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

// BaseName returns the name without suffixes of compilers.
func BaseName(name string) string {
	for {
		short := cutSuffix(name)
		if short == name {
			return name
		}
		name = short
	}
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
