package atomicfile

import "strings"

// Dotted is the reason of [IsHidden] that needs no message.
const Dotted = "its name begins with a dot"

// IsHidden reports whether a path with slashes is skipped in folders and archives, and why: a member of a hidden
// folder is hidden, too.
func IsHidden(name string) (why string, yes bool) {
	for part := range strings.SplitSeq(name, "/") {
		if part == "." || part == ".." {
			continue
		}
		if why, yes := IsHiddenBase(part); yes {
			return why, true
		}
	}
	return "", false
}

// IsHiddenBase is IsHidden for a base name.
func IsHiddenBase(base string) (why string, yes bool) {
	switch {
	case IsTemp(base):
		return "temporary file of an unfinished run", true
	case IsChecksum(base):
		return "checksum of another file", true
	case strings.HasPrefix(base, "."):
		return Dotted, true
	}
	return "", false
}
