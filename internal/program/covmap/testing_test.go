package covmap

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// testingFile builds what "llvm-cov convert-for-testing" writes for an object, in one of its versions.
func testingFile(t testing.TB, data []byte, version string) []byte {
	t.Helper()
	im := oracle.Must(object.Parse("object", data, ""))(t)
	r := newObjectReader("object", im, Options{})
	find := func(names sectionNames) *section { return oracle.Must(r.find(names))(t) }
	names, files := find(namesSection), find(filesSection)
	b := append([]byte(testingMagic), version...)
	b = cursor.AppendULEB(cursor.AppendULEB(b, uint64(len(names.data))), names.addr)
	b = append(b, names.data...)
	if version == testingV2 {
		b = cursor.AppendULEB(b, uint64(len(files.data)))
	}
	align := func() { b = append(b, make([]byte, cursor.PadTo(uint64(len(b)), 8))...) }
	align()
	b = append(b, files.data...)
	if functions := find(functionsSection); functions != nil {
		align()
		b = append(b, functions.data...)
	}
	return b
}

// TestTesting: a file for testing has the mapping of its object.
func TestTesting(t *testing.T) {
	for _, name := range []string{"shapes-14.o", "shapes-16.o", "conditions-19.o", "conditions-22.o"} {
		data := oracle.ReadFile(t, testdata+"/"+name)
		want := oracle.Must(Read("f", data, Options{}))(t)
		for _, version := range []string{testingFirst, testingV2} {
			file := testingFile(t, data, version)
			got := oracle.Must(Read("f", file, Options{}))(t)
			for _, maps := range [][]*Mapping{got, want} {
				maps[0].BuildID = nil
				for i := range maps[0].Records {
					maps[0].Records[i].at = 0
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, version %q: another mapping", name, version)
			}
			if _, err := Read("f", append([]byte(testingMagic+"\x07"), file[9:]...), Options{}); !errors.Is(err, profile.ErrCorrupt) {
				t.Errorf("%s: version 7: %v", name, err)
			}
			for n := range file {
				if _, err := Read("f", file[:n], Options{}); n <= len(testingMagic) && err == nil {
					t.Errorf("%s: read the first %d bytes", name, n)
				}
			}
		}
	}
	file := testingFile(t, oracle.ReadFile(t, testdata+"/conditions-22.o"), testingV2)
	for _, b := range hostile.Flips(file, 1) {
		if _, err := Read("f", b, Options{}); err != nil && !strings.HasPrefix(err.Error(), "f: ") {
			t.Fatalf("the error does not name the file: %v", err)
		}
	}
	huge := binary.AppendUvarint([]byte(testingMagic+testingV2), 1<<62)
	if _, err := Read("f", append(huge, 0, 0), Options{}); err == nil {
		t.Error("read names of 2^62 bytes")
	}
}
