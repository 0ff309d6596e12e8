package classfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
)

// tiny is a class file with one method, and the parts of it that tests change.
type tiny struct {
	class, name, descriptor uint16 // indexes
	text                    string // constant 7, the source file
	codeLength              uint32
	code, codes             int // bytes of code, attributes Code
	bci                     uint16
}

func newTiny() tiny {
	return tiny{class: 2, name: 3, descriptor: 4, text: "C.java", codeLength: 4, code: 4, codes: 1, bci: 3}
}

func (c tiny) bytes() []byte {
	be := binary.BigEndian
	var b []byte
	u16 := func(vs ...uint16) {
		for _, v := range vs {
			b = be.AppendUint16(b, v)
		}
	}
	utf8 := func(s string) { b = append(be.AppendUint16(append(b, tagUTF8), uint16(len(s))), s...) }
	b = be.AppendUint32(b, magic)
	u16(0, newestMajor, 9)
	utf8("C")
	b = append(b, tagClass, 0, 1)
	for _, s := range []string{"m", "()V", "Code", "LineNumberTable", c.text, "SourceFile"} {
		utf8(s)
	}
	u16(0, c.class, 0, 0, 0, 1)
	u16(0, c.name, c.descriptor, uint16(c.codes))
	for range c.codes {
		u16(5)
		b = be.AppendUint32(b, uint32(8+c.code+2+2+6+6))
		u16(1, 1)
		b = be.AppendUint32(b, c.codeLength)
		b = append(b, make([]byte, c.code)...)
		u16(0, 1, 6)
		b = be.AppendUint32(b, 6)
		u16(1, c.bci, 77)
	}
	u16(1, 8)
	b = be.AppendUint32(b, 2)
	u16(7)
	return b
}

// TestBadParts: what contradicts itself deep in a class file is told with its place and what was allowed.
func TestBadParts(t *testing.T) {
	good := newTiny()
	c, err := parse("x", good.bytes())
	if err != nil || c.Name != "C" || c.SourcePath() != "C.java" {
		t.Fatalf("%+v, %v", c, err)
	}
	if line, ok := c.Methods[0].Line(3); !ok || line != 77 {
		t.Fatalf("line %d of %+v", line, c.Methods[0])
	}
	for _, tc := range []struct {
		name   string
		change func(c *tiny)
		text   string
	}{
		{"class beyond the pool", func(c *tiny) { c.class = 9 }, "index of the class is 9, want the index of a constant with tag 7, below 9"},
		{"class that is a string", func(c *tiny) { c.class = 3 }, "index of the class is 3, want the index of a constant with tag 7, below 9"},
		{"no class", func(c *tiny) { c.class = 0 }, "index of the class is 0"},
		{"name that is a class", func(c *tiny) { c.name = 2 }, "index of the method name is 2, want the index of a constant with tag 1, below 9"},
		{"descriptor beyond the pool", func(c *tiny) { c.descriptor = 0xffff }, "index of the method descriptor is 65535"},
		{"source file of no characters", func(c *tiny) { c.text = "\xff" }, `source file is "\xff", want modified UTF-8`},
		{"code twice", func(c *tiny) { c.codes = 2 }, "attribute Code is given twice, want at most one"},
		{"no code", func(c *tiny) { c.code, c.codeLength = 0, 0 }, "length of the code is 0, want 1 to 65535"},
		{"too much code", func(c *tiny) { c.code, c.codeLength = 65536, 65536 }, "length of the code is 65536, want 1 to 65535"},
		{"line behind the code", func(c *tiny) { c.bci = 4 }, "bytecode index of a line is 4, want less than the 4 bytes of code"},
	} {
		bad := good
		tc.change(&bad)
		data := bad.bytes()
		c, err := parse("x", data)
		fe, ok := errors.AsType[*profile.FormatError](err)
		if !ok || profile.ClassOf(fe) != profile.ErrCorrupt || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %+v, %v\nwant %s", tc.name, c, err, tc.text)
		} else if fe.File != "x" || fe.Offset <= 0 || fe.Offset >= int64(len(data)) {
			t.Errorf("%s: %+v", tc.name, fe)
		}
	}
}

// TestEveryByte gives every byte of a class file every value: what is read is
// sound, and what is not has an error with a place in the file.
func TestEveryByte(t *testing.T) {
	data := newTiny().bytes()
	for at, was := range data {
		for v := range 256 {
			data[at] = byte(v)
			c, err := parse("x", data)
			if fe := hostile.Check(t, "x", data, err); fe != nil {
				if fe.Offset < 0 {
					t.Fatalf("byte %d is %#x: %#v", at, v, err)
				}
				continue
			}
			checkLines(t, c)
		}
		data[at] = was
	}
}

// TestDamagedInner: archives in archives that cannot be read are left out with a
// warning, and the classes beside them are read.
func TestDamagedInner(t *testing.T) {
	class := newTiny().bytes()
	inner := zipped(t, entry{"C.class", class})
	stored := zipped(t, entry{"BOOT-INF/lib/a.jar", inner}, entry{"x/Plain.class", fixture(t, "java8/sample/Plain.class")})
	body := bytes.Index(stored, []byte("BOOT-INF/lib/a.jar")) + len("BOOT-INF/lib/a.jar")
	damaged := slices.Clone(stored)
	damaged[body] ^= 0xff // of what is compressed
	for _, tc := range []struct {
		name    string
		data    []byte
		classes int
		warning string
	}{
		{"sound", stored, 2, ""},
		{"no archive", zipped(t, entry{"BOOT-INF/lib/a.jar", []byte("text")}, entry{"C.class", class}), 1, ""},
		{"too short for one", zipped(t, entry{"BOOT-INF/lib/a.jar", []byte("P")}, entry{"C.class", class}), 1, ""},
		{"cut short", zipped(t, entry{"BOOT-INF/lib/a.jar", inner[:len(inner)-5]}, entry{"C.class", class}), 1, "BOOT-INF/lib/a.jar: archive: zip directory"},
		{"compressed wrongly", damaged, 1, "BOOT-INF/lib/a.jar: archive: entry"},
	} {
		var warnings []string
		x := NewIndex(Options{Warn: func(w profile.Warning) { warnings = append(warnings, w.String()) }})
		err := x.Add(written(t, "app.jar", tc.data))
		text := strings.Join(warnings, "\n")
		if err != nil || x.Len() != tc.classes || len(warnings) > 1 || (tc.warning == "") != (text == "") || !strings.Contains(text, tc.warning) {
			t.Errorf("%s: %d classes, want %d; %q, want %q; %v", tc.name, x.Len(), tc.classes, text, tc.warning, err)
		}
	}
}
