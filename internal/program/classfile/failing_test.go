package classfile

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestIndexWarns: what cannot be read in a folder is told and left out, what was named is an error.
func TestIndexWarns(t *testing.T) {
	dir := t.TempDir()
	plain := fixture(t, "java25/sample/Plain.class")
	for name, data := range map[string][]byte{
		"a/Plain.class": plain, "b/Plain.class": plain, "c/cut.class": plain[:100], "c/empty.jar": nil, "c/text.txt": []byte("text"),
		"lib/x.JAR": zipped(t, entry{"y.class", fixture(t, "java25/sample/Shapes.class")}, entry{"z.class", nil}), "e/notes.txt": plain[:5],
	} {
		oracle.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.jar"), 0o777); err != nil { // a folder
		t.Fatal(err)
	}
	var warned []*profile.FormatError
	x := NewIndex(Options{Warn: func(w profile.Warning) {
		fe, ok := errors.AsType[*profile.FormatError](w.Err)
		if !ok {
			t.Errorf("%#v", w)
		}
		warned = append(warned, fe)
	}})
	if err := x.Add(dir); err != nil {
		t.Fatal(err)
	}
	if x.Len() != 2 || x.duplicates != 1 || len(warned) != 3 {
		t.Fatalf("%d classes, %d duplicates, %v", x.Len(), x.duplicates, warned)
	}
	if fe := warned[0]; fe.File != filepath.Join(dir, "c", "cut.class") || profile.ClassOf(fe) != profile.ErrTruncated || fe.Section != "constant pool" || fe.Offset < 8 {
		t.Errorf("%+v", fe)
	}
	if fe := warned[1]; fe.File != filepath.Join(dir, "c", "empty.jar") || profile.ClassOf(fe) != profile.ErrEmpty {
		t.Errorf("%+v", fe)
	}
	if fe := warned[2]; fe.File != filepath.Join(dir, "lib", "x.JAR")+"!z.class" ||
		!strings.HasSuffix(fe.Error(), ": header at 0x0: size is 0 bytes, want a class file: empty program file") {
		t.Errorf("%+v", fe)
	}
	c, ok := x.Class("sample.Plain")
	if _, other := x.Class("sample/Plain"); !ok || other || c.Name != "sample.Plain" {
		t.Errorf("%+v, %t", c, ok)
	}
	for class := range x.Classes() {
		if class != c && class.Name != "sample.Shapes" {
			t.Errorf("%+v", class)
		}
	}
	if _, ok := x.Method("sample.None", "away", nil, "void"); ok {
		t.Error("a method of no class")
	}
	// Without an index methods are looked for one by one.
	own, err := parse("Plain.class", plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Methods {
		a, _ := c.method(m.Name, m.Descriptor)
		b, ok := own.method(m.Name, m.Descriptor)
		if !ok || a.Name != b.Name || a.Descriptor != b.Descriptor {
			t.Errorf("%s%s: %+v and %+v", m.Name, m.Descriptor, a, b)
		}
	}
	for _, class := range []*Class{c, own} {
		if m, ok := class.method("none", "()V"); ok {
			t.Errorf("%+v", m)
		}
	}
	if err := x.Add(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := x.Add(filepath.Join(dir, "c", "cut.class")); !errors.Is(err, profile.ErrTruncated) {
		t.Errorf("%v", err)
	}
}

// TestArchiveErrors: an error of the zip reader becomes one of this module, with
// its class; one of the file system stays what it is.
func TestArchiveErrors(t *testing.T) {
	a := &archive{name: "x.jar"}
	for _, tc := range []struct{ err, class error }{
		{zip.ErrFormat, profile.ErrCorrupt},
		{zip.ErrChecksum, profile.ErrCorrupt},
		{io.ErrUnexpectedEOF, profile.ErrTruncated},
		{io.EOF, profile.ErrTruncated},
		{zip.ErrAlgorithm, profile.ErrUnsupported},
	} {
		err := a.corrupt("x.jar!a.class", "entry", tc.err)
		fe, ok := errors.AsType[*profile.FormatError](err)
		if !ok || profile.ClassOf(fe) != tc.class || fe.File != "x.jar!a.class" || fe.Section != "archive" || fe.Field != "entry" || fe.Got != tc.err.Error() {
			t.Errorf("%v: %+v", tc.err, err)
		}
	}
	system := &fs.PathError{Op: "read", Path: "x.jar", Err: fs.ErrPermission}
	if err := a.corrupt("x.jar", "entry", system); err != system {
		t.Errorf("%v", err)
	}
}
