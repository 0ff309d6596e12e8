package export

import (
	"io"
	"strconv"
	"unicode/utf8"
)

// A jsonWriter writes JSON piece by piece and inserts commas.
type jsonWriter struct {
	w     io.Writer
	buf   []byte
	comma bool   // the next value or key needs a comma
	bad   uint64 // strings that are not UTF-8
}

// jsonBuffer is how many bytes are collected before they are written.
const jsonBuffer = 1 << 15

func (j *jsonWriter) flush() {
	j.w.Write(j.buf) // the writer keeps the error
	j.buf = j.buf[:0]
}

func (j *jsonWriter) value() {
	if len(j.buf) > jsonBuffer {
		j.flush()
	}
	if j.comma {
		j.buf = append(j.buf, ',')
	}
	j.comma = true
}

func (j *jsonWriter) open(bracket byte) {
	j.value()
	j.buf = append(j.buf, bracket)
	j.comma = false
}

func (j *jsonWriter) close(bracket byte) {
	j.buf = append(j.buf, bracket)
	j.comma = true
}

func (j *jsonWriter) line() {
	if j.comma {
		j.buf = append(j.buf, ',')
		j.comma = false
	}
	j.buf = append(j.buf, '\n')
}

func (j *jsonWriter) end() {
	j.buf = append(j.buf, '\n')
	j.comma = false
}

func (j *jsonWriter) key(k string) *jsonWriter {
	j.string(k)
	j.buf = append(j.buf, ':')
	j.comma = false
	return j
}

func (j *jsonWriter) uint(v uint64) {
	j.value()
	j.buf = strconv.AppendUint(j.buf, v, 10)
}

func (j *jsonWriter) int(v int64) {
	j.value()
	j.buf = strconv.AppendInt(j.buf, v, 10)
}

func (j *jsonWriter) float(v float64) {
	j.value()
	j.buf = strconv.AppendFloat(j.buf, v, 'f', -1, 64)
}

func (j *jsonWriter) bool(v bool) {
	j.value()
	j.buf = strconv.AppendBool(j.buf, v)
}

// hex writes v as a string "0x…" of 16 digits, because readers with floating-point numbers would round a number.
func (j *jsonWriter) hex(v uint64) {
	j.value()
	const digits = "0123456789abcdef"
	j.buf = append(j.buf, `"0x`...)
	for shift := 60; shift >= 0; shift -= 4 {
		j.buf = append(j.buf, digits[v>>shift&15])
	}
	j.buf = append(j.buf, '"')
}

// string writes s with the escapes that JSON requires. It replaces bytes that are not
// UTF-8 with U+FFFD and counts such strings in bad.
func (j *jsonWriter) string(s string) {
	j.value()
	const digits = "0123456789abcdef"
	valid := true
	j.buf = append(j.buf, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			j.buf = append(j.buf, '\\', c)
		case c < 0x20:
			j.buf = append(j.buf, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c < utf8.RuneSelf:
			j.buf = append(j.buf, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			valid = valid && (r != utf8.RuneError || n > 1)
			j.buf = utf8.AppendRune(j.buf, r)
			i += n - 1
		}
		i++
	}
	j.buf = append(j.buf, '"')
	if !valid {
		j.bad++
	}
}

func (j *jsonWriter) strings(list []string) {
	j.open('[')
	for _, s := range list {
		j.string(s)
	}
	j.close(']')
}
