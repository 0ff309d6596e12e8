package symbols

import "unicode/utf8"

// IsText reports whether a name is one that a compiler may give to a function: names in
// assembly and in Swift and Rust may have any letters, but no control characters.
func IsText(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	for i := range len(name) {
		if name[i] < ' ' && name[i] != 1 || name[i] == 0x7f { // \1 begins names that are not to be mangled
			return false
		}
	}
	return true
}
