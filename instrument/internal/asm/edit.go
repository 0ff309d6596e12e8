package asm

import (
	"cmp"
	"slices"
)

// Edit replaces the bytes from Pos to End of a file.
type Edit struct {
	Pos, End int
	Text     string
}

// Insertion returns the edit that puts text before the byte at pos.
func Insertion(pos int, text string) Edit { return Edit{pos, pos, text} }

// Replacement returns the edit that puts text in place of the bytes from pos to
// end.
func Replacement(pos, end int, text string) Edit { return Edit{pos, end, text} }

// Apply appends the file with edits made, which it sorts, and a text at its end.
func (f *File) Apply(dst []byte, edits []Edit, tailText []byte) []byte {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Pos, b.Pos) })
	dst = slices.Grow(dst, len(f.Src)+len(tailText))
	done := 0
	for _, e := range edits {
		dst = append(dst, f.Src[done:e.Pos]...)
		dst = append(dst, e.Text...)
		done = e.End
	}
	dst = append(dst, f.Src[done:f.Tail]...)
	if len(tailText) > 0 && len(dst) > 0 && dst[len(dst)-1] != '\n' {
		dst = append(dst, '\n')
	}
	dst = append(dst, tailText...)
	return append(dst, f.Src[max(done, f.Tail):]...)
}

// QuoteLike puts a name into quotes if old has them or it needs them.
func QuoteLike(old []byte, name string) string {
	if end, ok := ScanSymbol([]byte(name), 0); len(old) > 0 && old[0] == '"' || !ok || end != len(name) {
		return `"` + name + `"`
	}
	return name
}
