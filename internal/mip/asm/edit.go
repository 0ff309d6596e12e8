package asm

import (
	"cmp"
	"slices"
)

// Edit replaces the bytes from Pos to End of a file by a text.
type Edit struct {
	Pos, End int
	Text     string
}

// Insertion returns the edit that inserts text before the byte at pos.
func Insertion(pos int, text string) Edit { return Edit{pos, pos, text} }

// Replacement returns the edit that replaces the bytes from pos to end by text.
func Replacement(pos, end int, text string) Edit { return Edit{pos, end, text} }

// Apply sorts the edits and appends the file with the edits made, then
// tailText.
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

// QuoteLike returns name, in quotes if old has them or name needs them.
func QuoteLike(old []byte, name string) string {
	if end, ok := ScanSymbol([]byte(name), 0); len(old) > 0 && old[0] == '"' || !ok || end != len(name) {
		return `"` + name + `"`
	}
	return name
}
