package classfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// entry is a file of an archive.
type entry struct {
	name string
	data []byte
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e.name)
		if err == nil {
			_, err = w.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// written puts data into a file of the given name in a folder of its own.
func written(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	oracle.WriteFile(t, path, data)
	return path
}

func TestIndexLookup(t *testing.T) {
	x := NewIndex(Options{})
	for _, f := range fixtures(t) { // java25 before java8: the first stands
		if err := x.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for c := range x.Classes() {
		names = append(names, c.Name)
	}
	if want := []string{"sample.Plain$Inner", "sample.Plain", "sample.Shapes$Circle", "sample.Shapes$Square", "sample.Shapes"}; !slices.Equal(names, want) || x.Len() != len(want) || x.duplicates != 2 {
		t.Errorf("classes %q, %d duplicates", names, x.duplicates)
	}
	for _, tc := range []struct {
		class, name string
		params      []string
		result      string
		line        int // of index 0; -1 if there is no such method, 0 if it has no lines
	}{
		{"sample.Plain", "grüße𠀀", []string{"java.lang.String"}, "int", 18},
		{"sample.Plain", "<clinit>", nil, "void", 10},
		{"sample.Plain", "<init>", nil, "void", 4},
		{"sample.Plain", "away", []string{"byte", "char", "short", "float"}, "void", 0},
		{"sample.Plain", "away", []string{"byte", "char", "short"}, "void", -1},
		{"sample.Plain", "away", []string{"byte", "char", "short", "float"}, "int", -1},
		{"sample.Shapes$Circle", "<init>", []string{"double", "[Ljava.lang.String;"}, "void", 9},
		{"sample.Shapes", "later", []string{"[[I", "java.util.List"}, "java.util.function.IntSupplier", 27},
		{"sample.None", "f", nil, "void", -1},
		{"[I", "clone", nil, "java.lang.Object", -1},
	} {
		m, ok := x.Method(tc.class, tc.name, tc.params, tc.result)
		if ok != (tc.line >= 0) {
			t.Errorf("%+v: found %v", tc, ok)
			continue
		}
		if !ok {
			continue
		}
		if line, _ := m.Line(0); line != tc.line || m.Class.Name != tc.class {
			t.Errorf("%+v: line %d of %s", tc, line, m.Class.Name)
		}
	}
}

// TestArchives reads the forms that archives come in.
func TestArchives(t *testing.T) {
	plain, inner := fixture(t, "java25/sample/Plain.class"), fixture(t, "java25/sample/Plain$Inner.class")
	old := fixture(t, "java8/sample/Plain.class")
	multi := entry{"META-INF/MANIFEST.MF", []byte("Manifest-Version: 1.0\r\nMulti-Release: TRUE\r\n\r\nName: x\r\n")}
	single := entry{"META-INF/MANIFEST.MF", []byte("Manifest-Version: 1.0\r\n\r\nMulti-Release: true\r\n")}
	versions := []entry{
		{"META-INF/versions/8/sample/Plain.class", plain}, // below 9: nobody looks there
		{"META-INF/versions/21/sample/Plain.class", plain},
		{"META-INF/versions/11/sample/Plain.class", inner}, // told apart by its name
		{"sample/Plain.class", old},
	}
	jar := zipped(t, entry{"sample/Plain.class", plain})
	for _, tc := range []struct {
		name    string
		data    []byte
		release int
		want    string // names and versions
	}{
		{"a.jar", zipped(t, entry{"sample/", nil}, entry{"README", []byte("x")}, entry{"sample/Plain.class", old}, entry{"anywhere/x.class", inner}), 0, "sample.Plain 52, sample.Plain$Inner 69"},
		{"empty.jar", zipped(t), 0, ""},
		{"java.base.jmod", append([]byte(jmodMagic), zipped(t, entry{"classes/sample/Plain.class", plain}, entry{"lib/x", nil})...), 0, "sample.Plain 69"},
		{"module.jar", zipped(t, entry{"module-info.class", fixture(t, "java25/module-info.class")}), 0, ""},
		{"boot.jar", zipped(t, entry{"BOOT-INF/classes/sample/Plain.class", old}, entry{"BOOT-INF/lib/a.jar", jar}, entry{"BOOT-INF/lib/b.jar", zipped(t, entry{"x.class", inner})}, entry{"elsewhere/c.jar", jar}), 0, "sample.Plain 52, sample.Plain$Inner 69"},
		{"deep.jar", zipped(t, entry{"WEB-INF/lib/a.jar", zipped(t, entry{"BOOT-INF/lib/b.jar", jar})}), 0, ""},
		{"multi.jar", zipped(t, append(versions, multi)...), 0, "sample.Plain 69"},
		{"multi.jar", zipped(t, append(versions, multi)...), 11, "sample.Plain$Inner 69"},
		{"multi.jar", zipped(t, append(versions, multi)...), 9, "sample.Plain 52"},
		{"not-multi.jar", zipped(t, append(versions, single)...), 0, "sample.Plain 52"},
		{"no-manifest.jar", zipped(t, versions...), 0, "sample.Plain 52"},
	} {
		x := NewIndex(Options{Release: tc.release, Warn: func(w profile.Warning) { t.Errorf("%s: %v", tc.name, w) }})
		if err := x.Add(written(t, tc.name, tc.data)); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		var got []string
		for c := range x.Classes() {
			got = append(got, c.Name+" "+map[uint16]string{52: "52", 69: "69"}[c.Major])
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s, release %d: %q, want %q", tc.name, tc.release, got, tc.want)
		}
	}
}

// TestBomb: what decompresses to far more than its size is refused, also when archives in it are what does.
func TestBomb(t *testing.T) {
	zeros := make([]byte, minBudget/2+1<<20)
	bomb := zipped(t, entry{"a.class", zeros}, entry{"b.class", zeros})
	for name, data := range map[string][]byte{
		"bomb.jar":   bomb,
		"nested.jar": zipped(t, entry{"BOOT-INF/lib/a.jar", bomb}),
	} {
		warned := 0
		x := NewIndex(Options{MaxExpansion: 1, Warn: func(w profile.Warning) {
			warned++
			if !errors.Is(w.Err, profile.ErrUnrecognized) {
				t.Errorf("%s: warning %v", name, w)
			}
		}})
		err := x.Add(written(t, name, data))
		if !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), "decompressed size of the archive is more, want at most 64 MiB and 1 times its size") {
			t.Errorf("%s: %v", name, err)
		}
		if warned > 1 {
			t.Errorf("%s: %d warnings", name, warned)
		}
	}
	x := NewIndex(Options{})
	if _, err := x.addClass("x.class", make([]byte, maxClassFile+1)); !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// TestDamagedArchive cuts an archive at every byte and flips a bit of nearly every byte: an error, a warning, or the class.
func TestDamagedArchive(t *testing.T) {
	data := zipped(t, entry{"META-INF/MANIFEST.MF", []byte("Multi-Release: true\n")}, entry{"x.class", fixture(t, "java8/sample/Plain.class")})
	path := filepath.Join(t.TempDir(), "x.jar")
	check := func(what string, at int, b []byte) {
		t.Helper()
		warned := 0
		x := NewIndex(Options{Warn: func(w profile.Warning) {
			warned++
			if !errors.As(w.Err, new(*profile.FormatError)) {
				t.Errorf("%s at %d: warning %#v", what, at, w)
			}
		}})
		err := x.addArchive(path, bytes.NewReader(b), int64(len(b)))
		if err != nil && !errors.As(err, new(*profile.FormatError)) {
			t.Errorf("%s at %d: %#v", what, at, err)
		}
		if what == "cut" && err == nil {
			t.Errorf("cut at %d: %d classes, %d warnings", at, x.Len(), warned)
		}
	}
	for i, cut := range hostile.Cuts(data, 1) {
		check("cut", i, cut)
	}
	for bit, flipped := range hostile.Flips(data, 9) {
		check("flip", bit, flipped)
	}
}
