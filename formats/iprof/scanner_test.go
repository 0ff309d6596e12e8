package iprof

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/test/hostile"
)

// accepts reports whether the scanner takes data for one JSON value.
func accepts(data []byte) bool {
	s := newScanner(data)
	s.skip("value")
	return s.err == nil && s.peek() == 0 && s.pos == len(s.data)
}

// stricter reports whether doc.go names a reason to refuse a document that encoding/json accepts.
func stricter(data []byte) bool {
	if !utf8.Valid(data) {
		return true
	}
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
			if i < len(data) && data[i] == 'u' && i+2 < len(data) && data[i+1]|0x20 == 'd' && strings.IndexByte("89abcdefABCDEF", data[i+2]) >= 0 {
				// A surrogate: lone if encoding/json cannot decode it.
				end := min(i+12, len(data))
				for end > i && !lone(data[i-1:end]) {
					end--
				}
				if end > i {
					return true
				}
				i += 10
			}
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '[' || c == '{'):
			depth++
			most = max(most, depth)
		case !quoted && (c == ']' || c == '}'):
			depth--
		}
	}
	return most > maxDepth
}

// lone reports whether the text of escapes decodes to a replacement character.
func lone(text []byte) bool {
	var s string
	return json.Unmarshal([]byte(`"`+string(text)+`"`), &s) == nil && strings.ContainsRune(s, utf8.RuneError)
}

func compareWithJSON(t *testing.T, data []byte) {
	t.Helper()
	want := json.Valid(data)
	if bytes.HasPrefix(data, byteOrderMark) {
		want = json.Valid(data[len(byteOrderMark):])
	}
	got := accepts(data)
	if got && !want || !got && want && !stricter(data) {
		t.Errorf("%q: accepted %t, encoding/json %t", data, got, want)
	}
	if !got {
		return
	}
	s := newScanner(data)
	if s.peek() != '"' {
		return
	}
	var str string
	if err := json.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &str); err != nil || string(s.str("value")) != str {
		t.Errorf("%q is another string in encoding/json: %q (%v)", data, str, err)
	}
}

var jsonTexts = []string{
	`null`, `true`, `false`, `0`, `-0`, `-1.5e+10`, `01`, `1.`, `.5`, `-`, `+1`, `1e`, `1e+`, `1E5`, `nul`, `truee`, `NaN`,
	`""`, `"a\u0000\n\/"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\ud83dA"`, "\"\x00\"", "\"\xff\"", "\"\xc3\"", `"\`, `"\u12`, `"é`,
	`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[1,[2,{"a":[]}]]`, `[`, `]`, `[}`,
	`{}`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":{"b":{"c":null}},"d":[{}]}`, `{"a":1,"a":2}`,
	"\uFEFF[]", " \t\r\n[] \t\r\n", "\f[]", `[] []`, strings.Repeat("[", 999) + strings.Repeat("]", 999),
	strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000),
}

func TestScannerIsJSON(t *testing.T) {
	for _, text := range jsonTexts {
		compareWithJSON(t, []byte(text))
		for n := range min(len(text), 100) {
			compareWithJSON(t, []byte(text[:n]))
		}
	}
	for _, f := range []string{"future.iprof", "unresolved.iprof"} {
		data := fixture(t, f)
		for i := range data {
			compareWithJSON(t, data[:i])
			for _, c := range []byte{0, ' ', '"', ',', '0', '}', '\\', 0xff} {
				mutant := bytes.Clone(data)
				mutant[i] = c
				compareWithJSON(t, mutant)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range jsonTexts {
		if len(text) < 200 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(compareWithJSON)
}

// plainJSON is a file as encoding/json decodes it.
type plainJSON struct {
	version string
	types   []plainType
	methods []plainMethod
	entries map[Kind][]plainEntry
	unknown map[string]string
}

type plainType struct {
	ID   int64
	Name string
}

type plainMethod struct {
	ID        int64
	Name      string
	Signature []int64
}

type plainEntry struct {
	Ctx     string
	Records []int64
}

// decodePlain decodes a file since 0.4.0 with encoding/json. It returns nil for what that refuses.
func decodePlain(data []byte) *plainJSON {
	var top map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &top) != nil {
		return nil
	}
	p := plainJSON{entries: map[Kind][]plainEntry{}, unknown: map[string]string{}}
	into := func(raw json.RawMessage, v any) bool { return raw != nil && json.Unmarshal(raw, v) == nil }
	// Maps tell upper and lower case apart, which structs do not.
	objects := func(raw json.RawMessage, each func(map[string]json.RawMessage) bool) bool {
		var list []map[string]json.RawMessage
		if !into(raw, &list) {
			return false
		}
		for _, o := range list {
			if !each(o) {
				return false
			}
		}
		return true
	}
	for key, raw := range top {
		ok := true
		kind, isSection := kindOfKey(key)
		switch {
		case key == keyVersion:
			ok = into(raw, &p.version)
		case key == keyTypes:
			ok = objects(raw, func(o map[string]json.RawMessage) bool {
				var t plainType
				ok := into(o[keyID], &t.ID) && into(o[keyName], &t.Name)
				p.types = append(p.types, t)
				return ok
			})
		case key == keyMethods:
			ok = objects(raw, func(o map[string]json.RawMessage) bool {
				var m plainMethod
				ok := into(o[keyID], &m.ID) && into(o[keyName], &m.Name) && into(o[keySignature], &m.Signature)
				p.methods = append(p.methods, m)
				return ok
			})
		case isSection:
			ok = objects(raw, func(o map[string]json.RawMessage) bool {
				var e plainEntry
				ok := into(o[keyContext], &e.Ctx) && into(o[keyRecords], &e.Records)
				p.entries[kind] = append(p.entries[kind], e)
				return ok
			})
		default:
			p.unknown[key] = string(raw)
		}
		if !ok {
			return nil
		}
	}
	return &p
}

func plain(p *Profile) *plainJSON {
	out := plainJSON{version: p.Version.String(), entries: map[Kind][]plainEntry{}, unknown: map[string]string{}}
	for _, t := range p.Types {
		out.types = append(out.types, plainType{int64(t.ID), t.Name})
	}
	for _, m := range p.Methods {
		sig := []int64{}
		for _, id := range m.Signature {
			sig = append(sig, int64(id))
		}
		out.methods = append(out.methods, plainMethod{int64(m.ID), m.Name, sig})
	}
	for k := range NumKinds {
		for ctx, records := range p.Sections[k].All() {
			out.entries[k] = append(out.entries[k], plainEntry{contextText(ctx), append([]int64{}, records...)})
		}
	}
	for _, u := range p.Unknown {
		out.unknown[u.Key] = string(u.Raw)
	}
	return &out
}

// checkRead reads data with both paths, encoding/json and Check, writes it and reads it again; all must agree.
func checkRead(t *testing.T, data []byte) {
	t.Helper()
	p, err := Read("f", data, ReaderOptions{})
	rep := checkOf("f", data)
	general := newDecoder("f", data, ReaderOptions{})
	general.generalOnly = true
	generalErr := flaw.InFile(general.read(), "f")
	if (err == nil) != (generalErr == nil) || err != nil && err.Error() != generalErr.Error() {
		t.Fatalf("%q:\nfast    %v\ngeneral %v", data, err, generalErr)
	}
	if err != nil {
		checkError(t, data, err)
		if rep.worst() != broken {
			t.Errorf("%q: refused with %v, but found %v", data, err, rep.Findings)
		}
		return
	}
	if !sameContent(p, general.p) {
		t.Fatalf("%q: fast and general reading differ", data)
	}
	for _, f := range rep.Findings {
		if f.Err != nil {
			t.Errorf("%q: read, but found %v", data, f)
		}
	}
	if p.Version.compare(version040) >= 0 {
		reference := decodePlain(data)
		if reference == nil {
			t.Fatalf("%q: encoding/json refuses it", data)
		}
		// Text forms that the model does not keep.
		version, err := parseVersion(reference.version)
		if err != nil {
			t.Fatalf("%q: version %q read", data, reference.version)
		}
		reference.version = version.String()
		for _, entries := range reference.entries {
			for i := range entries {
				c, err := parseContext(entries[i].Ctx)
				if err != nil {
					t.Fatalf("%q: context %q read", data, entries[i].Ctx)
				}
				entries[i].Ctx = contextText(c)
			}
		}
		if got := plain(p); !reflect.DeepEqual(reference, got) {
			diff := cmp.Diff(reference, got, cmp.AllowUnexported(plainJSON{}))
			t.Fatalf("%q: differs from encoding/json:\n%s", data, diff)
		}
	}
	for _, opt := range forms {
		out, err := written(p, opt)
		if err != nil {
			t.Fatalf("%q: cannot be written: %v", data, err)
		}
		q, err := Read("again", out, ReaderOptions{})
		if err != nil {
			t.Fatalf("%q: written as %q: %v", data, out, err)
		}
		if !sameContent(p, q) || len(p.Unknown) != len(q.Unknown) || len(p.Extra) != len(q.Extra) {
			t.Fatalf("%q: written as %q, which differs", data, out)
		}
		if again, err := written(q, opt); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q: written as %q, then as %q (%v)", data, out, again, err)
		}
	}
	if canonical, err := Renumber(p); err == nil {
		if again, err := Renumber(canonical); err != nil || !sameContent(canonical, again) {
			t.Fatalf("%q: canonical form of the canonical form differs (%v)", data, err)
		}
	} else {
		hostile.Check(t, "", data, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Add([]byte(minimal(`,"samplingProfiles":[{"ctx":"1:0\u003c1:-6","records":[-9223372036854775808]}],"x":{"a":[1.5,null]}`)))
	f.Fuzz(checkRead)
}
