package doctorcmd

import "strings"

// defaultProfile is the file of a program whose file name pattern the runtime refuses, with a warning.
const defaultProfile = "default.profraw"

// A piece of a file name pattern is a specifier, such as "%p" or "%4m", or text between specifiers.
type piece struct {
	text   string
	letter byte // of a specifier; 0 in text; unknownSpecifier
}

const unknownSpecifier = '?'

// splitPattern splits a file name pattern as the runtime does: for it, a percent sign and any one byte behind it
// are a specifier, also "%%" and "%1"; only before m there may be a number.
func splitPattern(pattern string) (pieces []piece) {
	for pattern != "" {
		text, rest, more := strings.Cut(pattern, "%")
		if text != "" {
			pieces = append(pieces, piece{text: text})
		}
		if !more {
			break
		}
		letter, end := byte(unknownSpecifier), min(1, len(rest))
		if number := strings.TrimLeft(rest, "0123456789"); strings.HasPrefix(number, "m") {
			letter, end = 'm', len(rest)-len(number)+1
		} else if end > 0 && strings.IndexByte("phtbc", rest[0]) >= 0 {
			letter = rest[0]
		}
		pieces = append(pieces, piece{"%" + rest[:end], letter})
		pattern = rest[end:]
	}
	return pieces
}

// hasLetter reports whether a file name pattern has a specifier with the letter.
func hasLetter(pattern string, letter byte) bool {
	for _, p := range splitPattern(pattern) {
		if p.letter == letter {
			return true
		}
	}
	return false
}
