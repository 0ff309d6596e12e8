// Package llvmjson writes JSON as LLVM's tools do (json::OStream).
package llvmjson

import (
	"strconv"
	"unicode/utf8"
)

// AppendString appends a string in quotes. Where s is not UTF-8, it replaces each maximal
// incomplete character by U+FFFD, as Unicode recommends.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			n := 1
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				n = size
				dst = append(dst, s[i:i+n]...)
			} else {
				for i+n < len(s) && !utf8.FullRuneInString(s[i:i+n+1]) {
					n++
				}
				dst = utf8.AppendRune(dst, utf8.RuneError)
			}
			i += n
			continue
		}
		i++
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	return append(dst, '"')
}

// A Text is JSON indented by two spaces per level. Between two elements the caller may write Bytes elsewhere and empty it.
type Text struct {
	Bytes []byte
	depth int
	some  bool // the innermost array or object has an element
}

// Open begins an array or object with its bracket, after [Text.Next] or [Text.Field].
func (t *Text) Open(bracket byte) {
	t.Bytes = append(t.Bytes, bracket)
	t.depth++
	t.some = false
}

// Close ends an array or object with its bracket.
func (t *Text) Close(bracket byte) {
	t.depth--
	if t.some {
		t.line()
	}
	t.Bytes = append(t.Bytes, bracket)
	t.some = true
}

// Next begins an element of an array.
func (t *Text) Next() {
	if t.some {
		t.Bytes = append(t.Bytes, ',')
	}
	t.line()
	t.some = true
}

// Field begins a field of an object. Its name needs no escapes.
func (t *Text) Field(name string) {
	t.Next()
	t.Bytes = append(append(append(t.Bytes, '"'), name...), `": `...)
}

// Number appends a field with a number.
func (t *Text) Number(name string, n uint64) {
	t.Field(name)
	t.Bytes = strconv.AppendUint(t.Bytes, n, 10)
}

// String appends a field with a string.
func (t *Text) String(name, s string) {
	t.Field(name)
	t.Bytes = AppendString(t.Bytes, s)
}

func (t *Text) line() {
	t.Bytes = append(t.Bytes, '\n')
	for range t.depth {
		t.Bytes = append(t.Bytes, "  "...)
	}
}
