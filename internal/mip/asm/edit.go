package asm

import (
	"bytes"
	"cmp"
	"slices"
)

// Text is assembly text being printed.
type Text []byte

// Line appends a line, made of the parts.
func (t *Text) Line(parts ...string) {
	for _, p := range parts {
		*t = append(*t, p...)
	}
	*t = append(*t, '\n')
}

// Lines appends indented lines, such as instructions.
func (t *Text) Lines(lines ...string) {
	for _, l := range lines {
		t.Line("\t", l)
	}
}

// Edit replaces the bytes from Pos to End of a file by a text.
type Edit struct {
	Pos, End int
	Text     string
}

// Apply sorts the edits and appends the file with the edits made, then tailText.
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
	end, ok := ScanSymbol([]byte(name), 0)
	if ok && end == len(name) && name[0] != '"' && !IsDigit(name[0]) && !bytes.HasPrefix(old, []byte(`"`)) {
		return name
	}
	return `"` + name + `"`
}
