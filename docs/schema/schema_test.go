package schema

import (
	"encoding/json"
	"testing"
)

// Each schema that For knows is a file that says the same version, and no file is unknown.
func TestVersions(t *testing.T) {
	type member struct{ Const any }
	type object struct {
		Properties map[string]member
		Items      struct{ Properties map[string]member }
	}
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		var o object
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, ok := versions[name]; !ok {
			continue
		}
		head, members := For(name), o.Properties
		if members == nil {
			members = o.Items.Properties
		}
		if members["schema"].Const != head.Schema || members["schema_version"].Const != float64(head.SchemaVersion) {
			t.Errorf("%s: the file has %v %v, want %+v", name, members["schema"].Const, members["schema_version"].Const, head)
		}
	}
	files, err := files.ReadDir(".")
	if err != nil || len(files) != len(Names()) {
		t.Errorf("%d files for %d names (%v)", len(files), len(Names()), err)
	}
	if _, err := Text("frobnicate"); err == nil {
		t.Error("an unknown name has a schema")
	}
}

func TestFileFormatOf(t *testing.T) {
	for _, c := range []struct {
		family, format, version string
		want                    FileFormat
	}{
		{"IRPGO", "raw", "10", FileFormat{"irpgo", "raw", 10, ""}},
		{"iprof", "", "1.1.0", FileFormat{"iprof", "iprof", 0, "1.1.0"}},
		{"AutoFDO", "extensible binary", "103", FileFormat{"autofdo", "extensible_binary", 103, ""}},
		{"MIP", ".mipmap", "8", FileFormat{"mip", "mipmap", 8, ""}},
		{"MemProf", "", "", FileFormat{"memprof", "", 0, ""}},
		{"", "", "", FileFormat{}},
	} {
		if got := FileFormatOf(c.family, c.format, c.version); got != c.want {
			t.Errorf("%q %q %q: %+v, want %+v", c.family, c.format, c.version, got, c.want)
		}
	}
}
