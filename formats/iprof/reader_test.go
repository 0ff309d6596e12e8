package iprof

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// minimal wraps members into a file with the tables that they refer to.
func minimal(members string) string {
	return `{"version":"1.0.0","types":[{"id":0,"name":"void"}],"methods":[{"id":1,"name":"m","signature":[0,0]}]` + members + `}`
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `f: line 1, column 1: size is 0 bytes, want a JSON object: empty profile file`,
		"mode: set":                 `f: line 1, column 1: file is "mode: set", want a JSON object: unrecognized profile format`,
		" [1]":                      `f: line 1, column 2: file is "[1]", want a JSON object: unrecognized profile format`,
		"{":                         `f: line 1, column 2: file is cut short, want a string: truncated profile`,
		`{"version":"1.0.0"}`:       `f: line 1, column 20: key types is missing, want it in every file: corrupt profile`,
		`{"types":[],"methods":[]}`: `f: line 1, column 26: key version is missing, want it in every file: corrupt profile`,
		`{"version":1}`:             `f: line 1, column 12: version is "1", want a string: corrupt profile`,
		`{"version":"1x0x0"}`:       `f: line 1, column 12: version is "1x0x0", want three numbers as in 1.0.0: corrupt profile`,
		`{"version":"2.0.0","types":[],"methods":[]}`:                                                                         `f: line 1, column 12: version is 2.0.0, want a major version of 0 or 1: unsupported profile version or variant`,
		"{\"version\":\"1.0.0\",\"types\":[],\"methods\":[]}\n\n x":                                                           `f: line 3, column 2: file is "x", want nothing after the object: corrupt profile`,
		`{"version":"1.0.0","types":[],"methods":[],}`:                                                                        `f: line 1, column 44: key is "}", want a string: corrupt profile`,
		minimal(`,"types":[]`):                                                                                                `f: line 1, column 103: key is "types", want each key once: corrupt profile`,
		`{"version":"1.0.0","types":{},"methods":[]}`:                                                                         `f: types line 1, column 28: types is "{}", want an array: corrupt profile`,
		`{"version":"1.0.0","types":[7],"methods":[]}`:                                                                        `f: types line 1, column 29 (record 0): entry is "7", want an object: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":"1","name":"a"}],"methods":[]}`:                                                    `f: types line 1, column 35 (record 0): id is "\"1\"", want an integer: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":1e3,"name":"a"}],"methods":[]}`:                                                    `f: types line 1, column 35 (record 0): id is "1e3", want an integer, without fraction and exponent: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":2147483648,"name":"a"}],"methods":[]}`:                                             `f: types line 1, column 35 (record 0): id is "2147483648", want an integer from -2147483648 to 2147483647: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":1}],"methods":[]}`:                                                                 `f: types line 1, column 29 (record 0): key name is missing, want it in every entry: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":1,"typeName":"a"}],"methods":[]}`:                                                  `f: types line 1, column 29 (record 0): key name is missing, want it in every entry: corrupt profile`,
		"{\"version\":\"1.0.0\",\"types\":[\n{\"id\":1,\"id\":1,\"name\":\"a\"}],\"methods\":[]}":                             `f: types line 2, column 9 (record 0): key is "id", want each key once: corrupt profile`,
		minimal(`,"samplingProfiles":[{"ctx":"1:0<","records":[1]}]`):                                                         `f: samplingProfiles line 1, column 135 (record 0): context is cut short, want a method's id: corrupt profile`,
		minimal(`,"samplingProfiles":[{"ctx":"1:0,1:2","records":[1]}]`):                                                      `f: samplingProfiles line 1, column 134 (record 0): context is ",1:2", want '<': corrupt profile`,
		minimal(`,"callCountProfiles":[{"ctx":"1:7","records":[1]}]`):                                                         `f: callCountProfiles line 1, column 131 (record 0): context is "1:7", want bytecode index 0 in the first frame, the entry of the method: corrupt profile`,
		minimal(`,"monitorProfiles":[{"ctx":"1:0","records":[]}]`):                                                            `f: monitorProfiles line 1, column 129 (record 0): context is "1:0", want "0:0": corrupt profile`,
		minimal(`,"conditionalProfiles":[{"ctx":"1:0","records":[1,2]}]`):                                                     `f: conditionalProfiles line 1, column 149 (record 0): number of records is 2, want a multiple of 3: corrupt profile`,
		minimal(`,"samplingProfiles":[{"ctx":"1:0","records":[9223372036854775808]}]`):                                        `f: samplingProfiles line 1, column 147 (record 0): count is "9223372036854775808", want an integer from -9223372036854775808 to 9223372036854775807: corrupt profile`,
		minimal(`,"samplingProfiles":[{"ctx":"1:0"}]`):                                                                        `f: samplingProfiles line 1, column 123 (record 0): key records is missing, want it in every entry: corrupt profile`,
		minimal(`,"instanceofProfiles":[{"ctx":"1:0","records":[0,1]}],"instanceOfProfiles":[{"ctx":"1:0","records":[0,1]}]`): `f: instanceOfProfiles line 1, column 177: section is not empty, and the one of the other spelling is not, either, want one of instanceOfProfiles and instanceofProfiles: corrupt profile`,
		"{\"version\":\"1.0.0\",\"types\":[{\"id\":1,\"name\":\"a\tb\"}],\"methods\":[]}":                                     `f: types line 1, column 46 (record 0): name is a control character, 0x09, want it escaped: corrupt profile`,
		"{\"version\":\"1.0.0\",\"types\":[{\"id\":1,\"name\":\"a\xffb\"}],\"methods\":[]}":                                   `f: types line 1, column 46 (record 0): name is byte 0xff, want UTF-8: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":1,"name":"a\ud800"}],"methods":[]}`:                                                `f: types line 1, column 46 (record 0): name is "\\ud800\"}],\"methods\":[]}", want a pair of surrogates: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":1,"name":"\x"}],"methods":[]}`:                                                     `f: types line 1, column 45 (record 0): name is "\\x\"}],\"methods\":[]}", want an escape that JSON has: corrupt profile`,
		`{"version":"1.0.0","types":[{"id":0,"name":"void"},{"id":1,"na`:                                                      `f: types line 1, column 63 (record 1): types is cut short in its key, last complete entry {"id":0,"name":"void"}, want a closing quote: truncated profile`,
		minimal(`,"samplingProfiles":[{"ctx":"1:0","records":[01]}]`):                                                         `f: samplingProfiles line 1, column 148 (record 0): records is "1]}]}", want ',' or ']': corrupt profile`,
	} {
		p, err := Read("f", []byte(text), ReaderOptions{})
		if err == nil || p != nil {
			t.Errorf("%q: accepted", text)
			continue
		}
		if err.Error() != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, err, want)
		}
		var fe *profile.FormatError
		if !errors.As(err, &fe) || fe.File != "f" {
			t.Errorf("%q: %v is without its file", text, err)
		}
	}
}

// TestReadForms reads the same content in forms that no tool writes.
func TestReadForms(t *testing.T) {
	want := read(t, []byte(minimal(`,"samplingProfiles":[{"ctx":"1:0<1:-6","records":[-9223372036854775808]},{"ctx":"1:2","records":[9223372036854775807]}]`)))
	for name, text := range map[string]string{
		"byte order mark": "\uFEFF" + minimal(`,"samplingProfiles":[{"ctx":"1:0<1:-6","records":[-9223372036854775808]},{"ctx":"1:2","records":[9223372036854775807]}]`),
		"white space": "\n{\t\"samplingProfiles\" : [ { \"records\" : [ -9223372036854775808 ] ,\r\n \"ctx\":\"1:0<1:-6\" } , {\"ctx\":\"1:2\",\"records\":[9223372036854775807 ]} ] ," +
			`"methods" :[{"signature":[0 ,0],"name":"m","id":1}],"types":[{"name":"void","id":0}] , "version":"1.0.0"} `,
		"escapes": `{"\u0076ersion":"1.0\u002e0","types":[{"id":0,"name":"v\u006fid"}],"methods":[{"id":1,"name":"\u006d","signature":[0,0]}],` +
			`"sampling\u0050rofiles":[{"ctx":"1:0\u003c1:-6","records":[-9223372036854775808]},{"ctx":"1:2","records":[9223372036854775807]}]}`,
		"leading zeros in contexts": minimal(`,"samplingProfiles":[{"ctx":"0001:00<1:-06","records":[-9223372036854775808]},{"ctx":"1:2","records":[9223372036854775807]}]`),
	} {
		p := read(t, []byte(text))
		p.Order = want.Order
		if got, want := encode(t, p, WriteOptions{}), encode(t, want, WriteOptions{}); !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	p := read(t, []byte(`{"version":"1.0.0","types":[{"id":0,"name":"\"\\\/\b\f\n\r\t\u0000é\u00e9\ud83d\ude00"}],"methods":[]}`))
	if got, want := p.Types[0].Name, "\"\\/\b\f\n\r\t\x00éé😀"; got != want {
		t.Errorf("name is %q, want %q", got, want)
	}
}

func TestReadVersions(t *testing.T) {
	want := readFixture(t, "small.iprof")
	for _, name := range []string{"small-0.2.iprof", "small-0.4.iprof", "indented.iprof"} {
		p := readFixture(t, name)
		if name == "small-0.2.iprof" { // it has no samples
			p.Sections[Samples] = want.Sections[Samples]
		}
		if !sameContent(p, want) {
			t.Errorf("%s differs from small.iprof", name)
		}
		out := encode(t, p, WriteOptions{Version: version100})
		p = read(t, out)
		if p.Version != version100 || !sameContent(p, want) {
			t.Errorf("%s differs after writing it as 1.0.0", name)
		}
	}
	if p := readFixture(t, "small-0.2.iprof"); p.Version != version020 ||
		!bytes.HasPrefix(encode(t, p, WriteOptions{}), []byte(`{"version":"1.0.0",`)) {
		t.Error("0.2.0 is not written as 1.0.0")
	}
}

func TestUnknownMinorVersion(t *testing.T) {
	data := fixture(t, "future.iprof")
	var warnings []string
	p, err := Read("f", data, ReaderOptions{Warn: func(w profile.Warning) { warnings = append(warnings, w.String()) }})
	must(t, err)
	want := []string{`f: line 1, column 12: version is 1.7.0, want 0.2, 0.4, 1.0 or 1.1; what is new in it is kept as it is: unsupported profile version or variant`}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
	if got := encode(t, p, WriteOptions{}); !bytes.Equal(got, data) {
		t.Errorf("written as\n%s\nwant\n%s", got, data)
	}
	if got, want := encode(t, p, WriteOptions{Indent: "  "}), `"ceConditionalProfilesV2": [
    {
      "stage": "HIGH_TIER",`; !strings.Contains(string(got), want) {
		t.Errorf("indented:\n%s", got)
	}
	pruned, err := Prune(p, PruneOptions{})
	if !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("pruned to %v, %v", pruned, err)
	}
	kept, err := Prune(p, PruneOptions{KeepUnused: true, MinCount: 6})
	must(t, err)
	if len(kept.Unknown) != 1 || len(kept.Extra) != 1 || kept.Extra[0].Key != "loader" {
		t.Errorf("kept %+v and %+v", kept.Unknown, kept.Extra)
	}

	later := bytes.Replace(data, []byte("1.7.0"), []byte("3.0.0"), 1)
	if _, err := Read("f", later, ReaderOptions{}); !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("3.0.0: %v", err)
	}
}

func TestDetect(t *testing.T) {
	for _, f := range []string{"small.iprof", "small-0.2.iprof", "indented.iprof", "unresolved.iprof", "future.iprof"} {
		if !Detect(fixture(t, f)[:200]) {
			t.Errorf("%s is not detected", f)
		}
	}
	for text, want := range map[string]bool{
		`{"types":`: true, "\uFEFF { \"samplingProfiles\":[": true, `{"hotnessPoints":[`: true,
		"": false, "{": false, "[": false, `{"version":3,"sources":[]}`: false, `{"version":"1.0.0","name":"x"}`: false,
		`{"v`: true, `{ "types`: true, `{"version"`: true, `{"version": `: true, `{"version":"1.`: true, `{"version":"1.0.0",`: true, `{"version":"1.0.0","meth`: true,
		`{"vx`: false, `{"version":"1.0.0","name`: false, `{"version":"x"`: false, `{"": `: false, `{"`: false,
		`{"version":"0.0.1"}`: false, `{"$schema":"https://www.speedscope.app/file-format-schema.json"}`: false, ":ir\nmain\n": false,
	} {
		if got := Detect([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestRoundTrip: what a tool wrote comes back byte for byte.
func TestRoundTrip(t *testing.T) {
	for _, f := range []string{
		"fib.iprof", "even-odd.iprof", "small.iprof", "small-0.4.iprof", "twin-x3.iprof", "checks.iprof", "schema-spelling.iprof",
		"unresolved.iprof", "future.iprof",
	} {
		data := fixture(t, f)
		if got := encode(t, read(t, data), WriteOptions{}); !bytes.Equal(got, data) {
			t.Errorf("%s: written as\n%s", f, got)
		}
	}
	p := readFixture(t, "small.iprof")
	for _, opt := range forms[1:] {
		if q := read(t, encode(t, p, opt)); !sameContent(p, q) {
			t.Errorf("%+v changes the profile", opt)
		}
	}
	if got := encode(t, readFixture(t, "indented.iprof"), WriteOptions{Indent: "    "}); !bytes.Equal(got, fixture(t, "indented.iprof")) {
		t.Error("indented.iprof changes")
	}
	for _, members := range []string{
		``, `,"samplingProfiles":[]`, `,"instanceofProfiles":[],"instanceOfProfiles":[{"ctx":"1:4","records":[]}]`,
		`,"monitorProfiles":[],"callCountProfiles":[]`, `,"x":null,"samplingProfiles":[],"y":[1, 2.5e3,{"a":"\u00e9"}]`,
	} {
		text := minimal(members)
		if got := encode(t, read(t, []byte(text)), WriteOptions{}); string(got) != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

func TestWriteVersions(t *testing.T) {
	p := readFixture(t, "checks.iprof")
	var warnings []string
	out := encode(t, p, WriteOptions{Version: version100, Warn: func(w profile.Warning) { warnings = append(warnings, w.String()) }})
	want := []string{"instanceOfProfiles: section is left out with 2 entries, want version 1.1.0 to hold it, not 1.0.0: unsupported profile version or variant"}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(out, fixture(t, "small.iprof")) {
		t.Errorf("as 1.0.0: %s", out)
	}
	for _, v := range []Version{version020, {0, 5, 0}, {2, 0, 0}} {
		if _, err := written(p, WriteOptions{Version: v}); !errors.Is(err, profile.ErrUnsupported) {
			t.Errorf("written as %s: %v", v, err)
		}
	}
	p.Types[3].Name = "a\xff"
	if _, err := written(p, WriteOptions{}); !errors.Is(err, profile.ErrCorrupt) {
		t.Errorf("a name that is not UTF-8: %v", err)
	}
}

// samples returns real recordings and generated files, by name.
func samples(t testing.TB) map[string][]byte {
	files, err := filepath.Glob(filepath.Join(oracle.Samples(t), "iprof", "*.iprof"))
	must(t, err)
	out := make(map[string][]byte)
	for _, f := range files {
		out[filepath.Base(f)], err = os.ReadFile(f)
		must(t, err)
	}
	return out
}

func TestSamples(t *testing.T) {
	type counts struct{ types, methods, calls, conditionals, invokes, monitors, samples int }
	want := map[string]counts{
		"tiny.iprof":                           {40, 120, 43, 42, 2, 1, 12},
		"streamtdi-0.4.0.iprof":                {5021, 41768, 7098, 4759, 415, 1, 45},
		"binary-tree-0.2.0.iprof":              {4420, 20133, 12228, 8812, 900, 1, 0},
		"elidemin-jspy-1.0.0-unresolved.iprof": {1, 1, 6683, 5232, 369, 1, 0},
	}
	for name, data := range samples(t) {
		t.Run(name, func(t *testing.T) {
			p := read(t, data)
			got := counts{
				len(p.Types), len(p.Methods), p.Sections[CallCounts].Len(), p.Sections[Conditionals].Len(),
				p.Sections[VirtualInvokes].Len(), p.Sections[Monitors].Len(), p.Sections[Samples].Len(),
			}
			if got != want[name] {
				t.Errorf("%+v, want %+v", got, want[name])
			}
			out := encode(t, p, WriteOptions{})
			if p.Version != version020 && !bytes.Equal(out, data) {
				t.Error("it is not written as it was")
			}
			if !sameContent(read(t, out), p) {
				t.Error("it differs after writing")
			}
			rep := checkOf(name, data)
			if strings.Contains(name, "unresolved") {
				if rep.worst() != broken || rep.Findings[0].Rule != ruleUnresolved {
					t.Error(rep.Findings)
				}
				_, err := NewMerger(MergeOptions{}).AddProfile(name, p, Weights{})
				if !errors.Is(err, profile.ErrCorrupt) {
					t.Errorf("merged: %v", err)
				}
				return
			}
			if slices.Contains([]string{suspect, broken}, rep.worst()) {
				t.Error(rep.Findings)
			}
			if len(p.Methods) > 1000 {
				oracle.Slow(t)
			}
			checkTwin(t, name, p)
		})
	}
}
