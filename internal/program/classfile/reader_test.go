package classfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixtures returns the class files of testdata/classfile, sorted.
func fixtures(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*/*.class", "*/*/*.class"} {
		f, err := filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "classfile", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f...)
	}
	if len(files) != 8 {
		t.Fatalf("%d fixtures", len(files))
	}
	slices.Sort(files)
	return files
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "classfile", filepath.FromSlash(name)))
}

func parseFixture(t testing.TB, name string) *Class {
	t.Helper()
	c, err := parse(name, fixture(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParse(t *testing.T) {
	c := parseFixture(t, "java25/sample/Plain.class")
	if c.Name != "sample.Plain" || c.Major != 69 || c.Flags&accAbstract == 0 || c.SourcePath() != "sample/Plain.java" {
		t.Errorf("class %s, version %d, flags %#x, source %s", c.Name, c.Major, c.Flags, c.SourcePath())
	}
	if len(c.Methods) != 5 {
		t.Fatalf("%d methods", len(c.Methods))
	}
	m := c.Methods[3]
	// Lines as javap prints them, by bytecode index.
	want := []Line{{0, 18}, {10, 20}, {22, 22}, {30, 23}, {33, 22}, {42, 23}, {44, 18}, {50, 25}}
	if m.Name != "grüße𠀀" || m.Descriptor != "(Ljava/lang/String;)I" || m.CodeLength != 54 || !slices.Equal(m.Lines, want) || m.Class != c {
		t.Errorf("method %+v", m)
	}
	if line, ok := m.FirstLine(); line != 18 || !ok {
		t.Errorf("first line %d, %v", line, ok)
	}
	if m := c.Methods[2]; m.Name != "away" || m.Flags&accNative == 0 || m.CodeLength != 0 {
		t.Errorf("method %+v", m)
	}

	// Without debug information there are no lines, and no source file.
	c = parseFixture(t, "java8/sample/Plain.class")
	if c.Major != 52 || c.SourceFile != "" || c.SourcePath() != "" {
		t.Errorf("version %d, source file %q", c.Major, c.SourceFile)
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		if _, ok := m.Line(0); ok || len(m.Lines) > 0 {
			t.Errorf("%s has lines %v", m.Name, m.Lines)
		}
		if _, ok := m.FirstLine(); ok {
			t.Errorf("%s has a first line", m.Name)
		}
		if (m.CodeLength > 0) == (m.Flags&(accNative|accAbstract) != 0) {
			t.Errorf("%s has %d bytes of code and flags %#x", m.Name, m.CodeLength, m.Flags)
		}
	}
	if c := parseFixture(t, "java25/module-info.class"); c.Flags&accModule == 0 || len(c.Methods) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestLine(t *testing.T) {
	m := Method{CodeLength: 20, Lines: []Line{{2, 7}, {5, 9}, {5, 10}, {9, 8}}}
	for bci, want := range map[int]int{
		-6: 0, -1: 0, 0: 0, 1: 0, 2: 7, 4: 7,
		5: 9, 6: 10, 8: 10, // two entries at 5
		9: 8, 19: 8, 20: 0, math.MaxInt: 0,
	} {
		if line, ok := m.Line(bci); line != want || ok != (want > 0) {
			t.Errorf("line of %d is %d, %v; want %d", bci, line, ok, want)
		}
	}
}

// method and code lines of javap.
var (
	javapClass = regexp.MustCompile(`(?:class|interface|module) ([^ <{]+(?:@\S+)?)`)
	javapLine  = regexp.MustCompile(`^\s+line (\d+): (\d+)$`)
)

// javap reads what "javap -l -p -s" says of the methods of each class, in the form of describe.
func javap(t *testing.T, files []string) string {
	t.Helper()
	tool := oracle.Tool(t, "javap")
	args := append([]string{"-J-Dfile.encoding=UTF-8", "-J-Dstdout.encoding=UTF-8", "-l", "-p", "-s"}, files...)
	stdout, stderr, code := oracle.Run(t, tool, args...)
	if code != 0 {
		t.Fatalf("javap exits %d: %s%s", code, stderr, stdout)
	}
	var out strings.Builder
	var class, member string
	var lines []Line
	flush := func() {
		slices.SortStableFunc(lines, func(a, b Line) int { return int(a.BCI) - int(b.BCI) })
		for _, l := range lines {
			fmt.Fprintf(&out, "    %d:%d\n", l.BCI, l.Line)
		}
		lines = nil
	}
	for text := range strings.Lines(stdout) {
		text = strings.TrimRight(text, "\r\n")
		trimmed := strings.TrimSpace(text)
		switch {
		case strings.HasSuffix(text, "{") && !strings.HasPrefix(text, " "):
			class = javapClass.FindStringSubmatch(text)[1]
			fmt.Fprintf(&out, "%s\n", strings.SplitN(class, "@", 2)[0])
		case strings.HasPrefix(trimmed, "descriptor: ("):
			name := "<clinit>"
			if before, _, ok := strings.Cut(member, "("); ok {
				name = before[strings.LastIndexByte(before, ' ')+1:]
				if name == class {
					name = "<init>"
				}
			}
			fmt.Fprintf(&out, "  %s%s\n", name, strings.TrimPrefix(trimmed, "descriptor: "))
		case javapLine.MatchString(text):
			m := javapLine.FindStringSubmatch(text)
			line, _ := strconv.Atoi(m[1])
			bci, _ := strconv.Atoi(m[2])
			lines = append(lines, Line{uint16(bci), uint16(line)})
		default:
			flush()
			if strings.HasSuffix(trimmed, ";") && strings.HasPrefix(text, "  ") && !strings.HasPrefix(text, "   ") {
				member = trimmed
			}
		}
		if text == "}" {
			flush()
		}
	}
	return out.String()
}

func describe(c *Class) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", c.Name)
	for i := range c.Methods {
		m := &c.Methods[i]
		fmt.Fprintf(&out, "  %s%s\n", m.Name, m.Descriptor)
		for _, l := range m.Lines {
			fmt.Fprintf(&out, "    %d:%d\n", l.BCI, l.Line)
		}
	}
	return out.String()
}

// TestJavap compares every method and line of the fixtures with javap.
func TestJavap(t *testing.T) {
	var files []string
	var want strings.Builder
	for _, f := range fixtures(t) {
		data := oracle.ReadFile(t, f)
		c, err := parse(f, data)
		if err != nil {
			t.Fatal(err)
		}
		if c.Flags&accModule != 0 {
			continue // javap prints what it requires
		}
		files = append(files, f)
		want.WriteString(describe(c))
	}
	if diff := cmp.Diff(javap(t, files), want.String()); diff != "" {
		t.Errorf("(-javap +read):\n%s", diff)
	}
}

// TestJavac compiles the sources of the fixtures that every javac takes, and
// compares with javap of the same release.
func TestJavac(t *testing.T) {
	tool := oracle.Tool(t, "javac")
	dir := t.TempDir()
	source := filepath.Join(oracle.Root(t), "testdata", "classfile", "src", "sample", "Plain.java")
	if _, stderr, code := oracle.Run(t, tool, "-encoding", "UTF-8", "-g", "-d", dir, source); code != 0 {
		t.Fatal(stderr)
	}
	x := NewIndex(Options{Warn: func(w profile.Warning) { t.Error(w) }})
	if err := x.Add(dir); err != nil {
		t.Fatal(err)
	}
	var files []string
	var got strings.Builder
	for c := range x.Classes() {
		files = append(files, filepath.Join(dir, strings.ReplaceAll(c.Name, ".", "/")+".class"))
		got.WriteString(describe(c))
	}
	if len(files) != 2 {
		t.Errorf("%d classes", len(files))
	}
	if diff := cmp.Diff(javap(t, files), got.String()); diff != "" {
		t.Errorf("(-javap +read):\n%s", diff)
	}
	m, ok := x.Method("sample.Plain$Inner", "pick", []string{"[Ljava.lang.String;", "boolean"}, "java.lang.String")
	if line, hasLine := m.Line(0); !ok || !hasLine || line != 31 {
		t.Errorf("line %d of %+v", line, m)
	}
}

// TestCut cuts the fixtures at every byte: nothing of a class file is optional.
func TestCut(t *testing.T) {
	for _, f := range fixtures(t) {
		data := oracle.ReadFile(t, f)
		for n, cut := range hostile.Cuts(data, 1) {
			_, err := parse("cut.class", cut)
			if fe := hostile.Check(t, "cut.class", cut, err); fe == nil || fe.Offset < 0 {
				t.Fatalf("%s cut at %d: %v", f, n, err)
			}
			if want := profile.ErrTruncated; n == 0 && !errors.Is(err, profile.ErrEmpty) || n > 0 && !errors.Is(err, want) {
				t.Fatalf("%s cut at %d: %v", f, n, err)
			}
		}
	}
}

// TestDamage pins what is said of each kind of damage.
func TestDamage(t *testing.T) {
	good := fixture(t, "java8/sample/Plain.class")
	patch := func(at int, b ...byte) []byte {
		out := slices.Clone(good)
		copy(out[at:], b)
		return out
	}
	for _, tc := range []struct {
		name  string
		data  []byte
		class error
		text  string
	}{
		{"nothing", nil, profile.ErrEmpty, "x: header at 0x0: size is 0 bytes, want a class file: empty program file"},
		{"magic", patch(0, 'P', 'K'), profile.ErrUnrecognized, "magic is 0x504bbabe, want 0xcafebabe"},
		{"old version", patch(6, 0, 44), profile.ErrUnsupported, "major version is 44, want at least 45"},
		{"no constants", patch(8, 0, 0), profile.ErrCorrupt, "number of constants is 0, want at least 1"},
		{"tag", patch(10, 2), profile.ErrCorrupt, "constant pool at 0xa (record 1): tag is 2, want 1, 3 to 12 or 15 to 20"},
		{"tag of the future", append(patch(6, 0, 70)[:10], append([]byte{21}, good[11:]...)...), profile.ErrUnsupported, "tag is 21"},
		{"more", append(slices.Clone(good), 0), profile.ErrCorrupt, "end of the class file is followed by 1 bytes, want nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parse("x", tc.data)
			if !errors.Is(err, tc.class) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %v\nwant %s: %v", err, tc.text, tc.class)
			}
		})
	}
}

// TestConstants reads a class file with a constant of every kind, and one whose
// last constant needs an index more than there is.
func TestConstants(t *testing.T) {
	var b []byte
	u16 := func(vs ...uint16) {
		for _, v := range vs {
			b = binary.BigEndian.AppendUint16(b, v)
		}
	}
	b = binary.BigEndian.AppendUint32(b, magic)
	u16(0, newestMajor, 0)
	n := uint16(1)
	add := func(tag byte, body ...byte) {
		b = append(append(b, tag), body...)
		n++
		if tag == tagLong || tag == tagDouble {
			n++
		}
	}
	add(tagUTF8, 0, 5, 'p', '/', 0xc3, 0xa9, 'C')
	add(tagClass, 0, 1)
	for tag, size := range constantSize {
		if size > 0 {
			add(byte(tag), make([]byte, size)...)
		}
	}
	binary.BigEndian.PutUint16(b[8:], n)
	u16(accInterface, 2, 0, 0, 0, 0, 0)
	c, err := parse("x", b)
	if err != nil || c.Name != "p.éC" || c.Flags != accInterface {
		t.Errorf("%+v, %v", c, err)
	}

	b = binary.BigEndian.AppendUint32(nil, magic)
	u16(0, newestMajor, 2)
	b = append(b, tagLong)
	b = append(b, make([]byte, 40)...)
	if _, err := parse("x", b); !errors.Is(err, profile.ErrCorrupt) || !strings.Contains(err.Error(), "last constant is of two indexes") {
		t.Errorf("%v", err)
	}
}

func TestDecodeUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"plain":                                "plain",
		"\xc0\x80":                             "\x00",
		"gr\xc3\xbc\xc3\x9fe":                  "grüße",
		"\xe2\x82\xac":                         "€",
		"\xed\xa0\xbd\xed\xb8\x80":             "😀",
		"\xed\xa0\xbdx":                        "\ufffdx",
		"\xed\xb8\x80":                         "\ufffd",
		"a\xed\xa0\xbd":                        "a\ufffd",
		"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80": "\ufffd😀",
	} {
		if got, ok := decodeUTF8([]byte(in)); !ok || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"\x00", "\x80", "\xc3", "\xc3x", "\xe2\x82", "\xe2x\x82", "\xf0\x9f\x98\x80", "\xff"} {
		if got, ok := decodeUTF8([]byte(in)); ok {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestDescriptor(t *testing.T) {
	for _, tc := range []struct {
		params     []string
		result     string
		descriptor string
	}{
		{nil, "void", "()V"},
		{[]string{"int", "[J", "[[Z"}, "java.lang.String", "(I[J[[Z)Ljava/lang/String;"},
		{[]string{"[Ljava.lang.String;", "byte", "char", "double", "float", "short", "boolean", "long"}, "[I", "([Ljava/lang/String;BCDFSZJ)[I"},
		{[]string{"A", "a.B$C"}, "int", "(LA;La/B$C;)I"},
		{[]string{"a.B$$Lambda/0x12"}, "[La.B/0x1;", "(La/B$$Lambda.0x12;)[La/B.0x1;"},
	} {
		if got := Descriptor(tc.params, tc.result); got != tc.descriptor {
			t.Errorf("%v %s: %s, want %s", tc.params, tc.result, got, tc.descriptor)
		}
	}
}

// FuzzParse: whatever the bytes, a class or an error that says where; lines lie in the code and ascend.
func FuzzParse(f *testing.F) {
	for _, name := range fixtures(f) {
		f.Add(oracle.ReadFile(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse("fuzz", data)
		if err != nil {
			if fe := hostile.Check(t, "fuzz", data, err); fe.Offset < 0 {
				t.Fatalf("%#v", err)
			}
			return
		}
		checkLines(t, c)
	})
}

// checkLines checks that lines lie in the code, ascend, and are found.
func checkLines(t *testing.T, c *Class) {
	t.Helper()
	for i := range c.Methods {
		m := &c.Methods[i]
		for k, l := range m.Lines {
			if int(l.BCI) >= m.CodeLength || k > 0 && l.BCI < m.Lines[k-1].BCI {
				t.Fatalf("lines %v in %d bytes", m.Lines, m.CodeLength)
			}
			if _, ok := m.Line(int(l.BCI)); !ok {
				t.Fatalf("no line of %d in %v", l.BCI, m.Lines)
			}
		}
	}
}

// parse reads one class file. name is used in errors. The class keeps nothing of data.
func parse(name string, data []byte) (*Class, error) {
	var p parser
	class, err := p.parse(data)
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return class, nil
}
