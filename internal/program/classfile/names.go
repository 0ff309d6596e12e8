package classfile

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var primitives = [...]struct {
	code byte
	name string
}{
	{'B', "byte"},
	{'C', "char"},
	{'D', "double"},
	{'F', "float"},
	{'I', "int"},
	{'J', "long"},
	{'S', "short"},
	{'V', "void"},
	{'Z', "boolean"},
}

// Descriptor returns the descriptor of a method by the names of its parameter types and of its return type, as
// Class.getName returns them: Descriptor([]string{"int", "[J"}, "java.lang.String") is "(I[J)Ljava/lang/String;".
func Descriptor(params []string, result string) string {
	var b strings.Builder
	b.WriteByte('(')
	for _, p := range params {
		appendType(&b, p)
	}
	b.WriteByte(')')
	appendType(&b, result)
	return b.String()
}

func appendType(b *strings.Builder, name string) {
	for _, p := range primitives {
		if name == p.name {
			b.WriteByte(p.code)
			return
		}
	}
	internal := internalName.Replace(name)
	if strings.HasPrefix(name, "[") { // a descriptor already
		b.WriteString(internal)
		return
	}
	b.WriteString("L" + internal + ";")
}

// internalName turns the result of Class.getName into an internal name of class
// files. The slash before the suffix of a hidden class becomes a dot, as in the JVM.
var internalName = strings.NewReplacer(".", "/", "/", ".")

// decodeUTF8 decodes the modified UTF-8 of class files (JVMS 4.4.7): no byte is zero, and a character beyond
// U+FFFF is two surrogates of three bytes each. Java names may contain unpaired surrogates; they become U+FFFD.
// decodeUTF8 reports false for other malformed bytes.
func decodeUTF8(b []byte) (string, bool) {
	ascii := true
	for _, c := range b {
		if c == 0 || c >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return string(b), true
	}
	out := make([]byte, 0, len(b))
	high := rune(0) // surrogate waiting for its partner
	flush := func() {
		if high != 0 {
			out = utf8.AppendRune(out, utf8.RuneError)
			high = 0
		}
	}
	continued := func(i int) bool { return i < len(b) && b[i]&0xc0 == 0x80 }
	for i := 0; i < len(b); {
		var r rune
		switch c := b[i]; {
		case c == 0 || c >= 0xf0 || c&0xc0 == 0x80:
			return "", false
		case c < 0x80:
			r = rune(c)
			i++
		case c < 0xe0:
			if !continued(i + 1) {
				return "", false
			}
			r = rune(c&0x1f)<<6 | rune(b[i+1]&0x3f)
			i += 2
		default:
			if !continued(i+1) || !continued(i+2) {
				return "", false
			}
			r = rune(c&0x0f)<<12 | rune(b[i+1]&0x3f)<<6 | rune(b[i+2]&0x3f)
			i += 3
		}
		if high != 0 {
			if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
				out = utf8.AppendRune(out, pair)
				high = 0
				continue
			}
		}
		flush()
		if r >= 0xd800 && r < 0xdc00 {
			high = r
			continue
		}
		out = utf8.AppendRune(out, r) // a lone low surrogate turns into U+FFFD
	}
	flush()
	return string(out), true
}
