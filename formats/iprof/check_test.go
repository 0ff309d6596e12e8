package iprof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestCheck(t *testing.T) {
	methodCut, _, _ := strings.Cut(string(fixture(t, "small.iprof")), `used","signature":[18,1`)
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"sound", string(fixture(t, "small.iprof")), nil},
		{"sound 1.1.0", string(fixture(t, "checks.iprof")), nil},
		{"0.2.0", string(fixture(t, "small-0.2.iprof")), nil},
		{"no data", minimal(``), []string{`warning: the file has no profile data: all sections are empty or absent`}},
		{"not resolved", string(fixture(t, "unresolved.iprof")), []string{
			`error: the recording was not resolved: instead of names there is a placeholder, so nothing says which methods its 4 entries are about; ` +
				`it cannot be used, and has to be recorded again`,
			`virtualInvokeProfiles line 1, column 240 (record 0): warning: count 11553462028917 of a type is above 2^40, as in recordings that hold garbage (1 of 1, 100.0%)`,
		}},
		{"unknown", string(fixture(t, "future.iprof")), []string{
			`line 1, column 12: warning: version is 1.7.0, want 0.2, 0.4, 1.0 or 1.1; what is new in it is kept as it is`,
			`ceConditionalProfilesV2: info: section "ceConditionalProfilesV2" is unknown; it is kept when the file is rewritten, and cannot be merged`,
			`types (record 1): info: entries have the unknown key "loader"; it is kept when the file is rewritten, and cannot be merged`,
			`callCountProfiles (record 0): info: entries have the unknown key "since"; it is kept when the file is rewritten, and cannot be merged`,
		}},
		{"schema", `{"version":"1.0.0","types":[{"id":0,"name":"void"},{"id":"x","name":"a"},5],"methods":[{"id":1,"name":"m","signature":[0,0]},{"id":2,"name":"n"}],` +
			`"samplingProfiles":[{"ctx":"1:0","records":[1,2]},{"ctx":"1;0","records":[1]},{"ctx":"1:4","records":[1]}]}`, []string{
			`types line 1, column 58 (record 1): error: id is "\"x\"", want an integer`,
			`types line 1, column 74 (record 2): error: entry is "5", want an object`,
			`methods line 1, column 126 (record 1): error: key signature is missing, want it in every entry`,
			`samplingProfiles line 1, column 190 (record 0): error: number of records is 2, want 1`,
			`samplingProfiles line 1, column 206 (record 1): error: context is ";0", want a colon`,
		}},
		{"tables", `{"version":"1.0.0","types":[{"id":0,"name":"void"},{"id":0,"name":"A"},{"id":2,"name":"A"},{"id":3,"name":""}],` +
			`"methods":[{"id":1,"name":"m","signature":[2,0]},{"id":1,"name":"","signature":[2,0]},{"id":2,"name":"m","signature":[2,0]},` +
			`{"id":3,"name":"x","signature":[2]},{"id":4,"name":"x","signature":[2,9]}],"samplingProfiles":[{"ctx":"1:0","records":[1]}]}`, []string{
			`types line 1, column 52 (record 1): error: type id 0 is not the only one`,
			`types line 1, column 72 (record 2): warning: type "A" is there twice`,
			`types line 1, column 92 (record 3): warning: type 3 has an empty name`,
			`methods line 1, column 161 (record 1): error: method id 1 is not the only one`,
			`methods line 1, column 161 (record 1): warning: method 1 has an empty name`,
			`methods line 1, column 198 (record 2): warning: method A.m is there twice`,
			`methods line 1, column 236 (record 3): error: the signature of method 3 has 1 types, fewer than declaring and return type (2 of 5, 40.0%)`,
		}},
		{"names", `{"version":"1.0.0","types":[{"id":0,"name":"void"},{"id":1,"name":"a..B"},{"id":2,"name":"[V"},{"id":3,"name":"[La.B"},{"id":4,"name":"[[La.B$C/0x1f;"}],` +
			`"methods":[{"id":1,"name":"<init>","signature":[4,0]},{"id":2,"name":"<inht>","signature":[4,0]}],"samplingProfiles":[{"ctx":"1:0","records":[1]}]}`, []string{
			`types line 1, column 52 (record 1): warning: no type of a JVM has the name "a..B" (3 times)`,
			`methods line 1, column 208 (record 1): warning: no method of a JVM has the name "<inht>"`,
		}},
		{"dangling", minimal(`,"callCountProfiles":[{"ctx":"1:0","records":[1]},{"ctx":"1:0<7:1<8:1","records":[1]},` + "\n" + `{"ctx":"9:0","records":[2]}],` +
			`"virtualInvokeProfiles":[{"ctx":"1:0","records":[0,1,5,1,6,1]},{"ctx":"1:1","records":[0,1]}]`), []string{
			`callCountProfiles line 1, column 152 (record 1): error: context 1:0<7:1<8:1 has method 7, which is not in the table (2 of 3, 66.7%)`,
			`virtualInvokeProfiles line 2, column 55 (record 0): error: type 5 is not in the table (1 of 2, 50.0%)`,
		}},
		{"entries", minimal(`,"callCountProfiles":[{"ctx":"1:0<1:70000","records":[0]},{"ctx":"1:0<1:70000","records":[-4]},{"ctx":"1:0","records":[9223372036854775807]},{"ctx":"1:0<1:1","records":[1]}],` +
			`"conditionalProfiles":[{"ctx":"1:5","records":[-5,1,1,-9,0,0]},{"ctx":"1:6","records":[-5,0,0,7,0,0]}],` +
			`"virtualInvokeProfiles":[{"ctx":"1:5","records":[0,1099511627777]}]`), []string{
			`callCountProfiles line 1, column 124 (record 0): warning: bytecode index 70000 is not from -6 to 65535 (2 times)`,
			`callCountProfiles line 1, column 124 (record 0): info: all counts of the entry are 0 (1 of 4, 25.0%)`,
			`callCountProfiles line 1, column 160 (record 1): warning: context 1:0<1:70000 is there twice, first in entry 0`,
			`callCountProfiles line 1, column 160 (record 1): error: count -4 is negative (1 of 4, 25.0%)`,
			`callCountProfiles: warning: the counts add up to more than 9223372036854775807`,
			`conditionalProfiles line 1, column 299 (record 0): warning: branch 1 has no target of its own and the count 1, want 0`,
			`conditionalProfiles line 1, column 299 (record 0): warning: branch 1 has no target, and no other of its index has one`,
			`conditionalProfiles line 1, column 299 (record 0): warning: branch target -9 is not from -6 to 65535`,
			`conditionalProfiles line 1, column 339 (record 1): info: all counts of the entry are 0 (1 of 2, 50.0%)`,
			`virtualInvokeProfiles line 1, column 404 (record 0): warning: count 1099511627777 of a type is above 2^40, as in recordings that hold garbage (1 of 1, 100.0%)`,
		}},
		{"cut short", string(fixture(t, "truncated.iprof")), []string{
			`callCountProfiles line 1, column 1025 (record 4): error: callCountProfiles is cut short in its ctx, last complete entry {"ctx":"4:0","records":[24491824436273]}, want a closing quote`,
		}},
		{"cut in methods", methodCut, []string{
			fmt.Sprintf("methods line 1, column %d", len(methodCut)+1) + ` (record 6): error: methods is cut short in its name, last complete entry {"id":8,"name":"get","signature":[17,9]}, want a closing quote`,
		}},
		{"not JSON", "hello", []string{`line 1, column 1: error: file is "hello", want a JSON object`}},
		{"other major", `{"version":"2.1.0"}`, []string{`line 1, column 12: error: version is 2.1.0, want a major version of 0 or 1`}},
	} {
		rep := checkOf("f", []byte(tc.text))
		var got []string
		for _, f := range rep.Findings {
			got = append(got, f.String())
			if (f.Err != nil) != (f.Rule == ruleSyntax || f.Rule == ruleSchema) {
				t.Errorf("%s: %v has error %v", tc.name, f, f.Err)
			}
			if f.Err == nil && f.Position.Offset >= 0 && f.Position.Record >= 0 && tc.text[f.Position.Offset] != '{' {
				t.Errorf("%s: %v is not at the beginning of an entry", tc.name, f)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s:\n%s", tc.name, diff)
		}
	}
}

// schemaSays validates a file with the schema of its version.
type schemaSays map[string]*jsonschema.Schema

func loadSchemas(t testing.TB) schemaSays {
	says := schemaSays{}
	c := jsonschema.NewCompiler()
	for _, v := range []string{"1.0.0", "1.1.0"} {
		s, err := c.Compile(filepath.Join("testdata", "schema-"+v+".json"))
		must(t, err)
		says[v] = s
	}
	return says
}

func (s schemaSays) valid(data []byte) bool {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return false
	}
	version := "1.0.0"
	if top, ok := doc.(map[string]any); ok && top["version"] == "1.1.0" {
		version = "1.1.0"
	}
	return s[version].Validate(doc) == nil
}

// beyondSchema reports whether the violations are all of a sort that the schema cannot express, or leaves open.
func beyondSchema(findings []Finding) bool {
	for _, f := range findings {
		if f.Rule != ruleSchema {
			continue
		}
		m := f.Message
		if !strings.Contains(m, "each key once") && !strings.Contains(m, "without fraction and exponent") &&
			!strings.Contains(m, "an integer from") && !strings.Contains(m, "at most 2147483647") && // ranges
			!strings.Contains(m, "a multiple of") && // arity by meaning
			!strings.Contains(m, TypeChecks.Key()) && f.Position.Section != TypeChecks.Key() && // a spelling that the schema does not know
			!(f.Position.Section == schemaTypeChecks) { // not in 1.0.0
			return false
		}
	}
	return true
}

func violates(rep checkReport) bool {
	return slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Rule == ruleSchema })
}

// TestCheckIsSchema compares the verdict on the schema with a validator's.
func TestCheckIsSchema(t *testing.T) {
	schemas := loadSchemas(t)
	compare := func(name string, data []byte) (valid bool) {
		t.Helper()
		rep := checkOf("f", data)
		valid = schemas.valid(data)
		switch {
		case slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Rule == ruleSyntax }):
		case !valid && !violates(rep):
			t.Errorf("%s: %q: the schema refuses it, Check finds %v", name, data, rep.Findings)
		case valid && violates(rep) && !beyondSchema(rep.Findings):
			t.Errorf("%s: %q: the schema accepts it, Check finds %v", name, data, rep.Findings)
		}
		return valid
	}
	seeds := map[string][]byte{}
	for _, name := range []string{"fib.iprof", "small.iprof", "checks.iprof", "schema-spelling.iprof", "unresolved.iprof", "even-odd.iprof"} {
		seeds[name] = fixture(t, name)
		if !schemas.valid(seeds[name]) || violates(checkOf("f", seeds[name])) {
			t.Errorf("%s is not valid", name)
		}
	}
	rng := rand.New(rand.NewPCG(21, 22))
	disagree := 0
	for name, data := range seeds {
		for range 400 / oracle.Step(5) {
			if !compare(name, mutateValue(t, rng, data)) {
				disagree++
			}
		}
	}
	if disagree < 200/oracle.Step(5) {
		t.Errorf("only %d mutants were invalid", disagree)
	}
}

// mutateValue replaces or removes a random value in a JSON text.
func mutateValue(t testing.TB, rng *rand.Rand, data []byte) []byte {
	var doc any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	must(t, dec.Decode(&doc))
	others := []any{
		nil, true, "x", "1:0", "0:0", "1:-6<2:0", "01:0", "1:00", "1:-0", "1:0<", "", json.Number("-1"), json.Number("1.5"), json.Number("99999999999"),
		[]any{},
		[]any{json.Number("1")},
		[]any{"x"},
		map[string]any{},
		map[string]any{"ctx": "1:0", "records": []any{json.Number("1")}},
	}
	var change func(v any) any
	change = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			if len(keys) == 0 || rng.IntN(8) == 0 {
				break
			}
			k := keys[rng.IntN(len(keys))]
			if rng.IntN(8) == 0 {
				delete(v, k)
			} else if k != keyVersion {
				v[k] = change(v[k])
			}
			return v
		case []any:
			if len(v) == 0 || rng.IntN(8) == 0 {
				break
			}
			i := rng.IntN(len(v))
			switch rng.IntN(8) {
			case 0:
				return slices.Delete(v, i, i+1)
			case 1:
				return append(v, v[i])
			}
			v[i] = change(v[i])
			return v
		}
		return others[rng.IntN(len(others))]
	}
	out, err := json.Marshal(change(doc))
	must(t, err)
	return out
}

func TestSamplesAndSchema(t *testing.T) {
	schemas := loadSchemas(t)
	for name, data := range samples(t) {
		t.Run(name, func(t *testing.T) {
			if len(data) > 1<<20 {
				oracle.Slow(t)
			}
			if got, want := schemas.valid(data), !strings.Contains(name, "0.2.0"); got != want {
				t.Errorf("the schema says %t", got)
			}
			if rep := checkOf(name, data); violates(rep) {
				t.Errorf("it violates the schema: %v", rep.Findings)
			}
		})
	}
}

func TestCheckManyViolations(t *testing.T) {
	rep := checkOf("f", []byte(minimal(`,"samplingProfiles":[`+strings.Repeat("1,", 1000)+`{"ctx":"1:0","records":[1]}]`)))
	if len(rep.Findings) != maxViolations+1 {
		t.Fatalf("%d findings", len(rep.Findings))
	}
	if last := rep.Findings[maxViolations]; last.Count != 900 || last.String() != "error: more of the same kind (900 times)" {
		t.Errorf("the last one is %v", last)
	}
	if rep.Profile.Sections[Samples].Len() != 1 {
		t.Errorf("%d entries left", rep.Profile.Sections[Samples].Len())
	}
	if got := rep.worst(); got != broken {
		t.Errorf("the worst is of severity %q", got)
	}
}

// String returns "SECTION line L, column C (record N): error: MESSAGE (COUNT of OF, P%)".
func (f Finding) String() string {
	s := f.Position.Where()
	if s != "" {
		s += ": "
	}
	s += f.Severity + ": " + f.Message
	switch {
	case f.Of > 0:
		s += fmt.Sprintf(" (%d of %d, %.1f%%)", f.Count, f.Of, 100*float64(f.Count)/float64(f.Of))
	case f.Count > 1:
		s += fmt.Sprintf(" (%d times)", f.Count)
	}
	return s
}

// worst returns the highest severity of a finding, "" if there is none.
func (r checkReport) worst() string {
	for _, s := range []string{broken, suspect, info} {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == s }) {
			return s
		}
	}
	return ""
}

type checkReport struct {
	Profile  *Profile
	Findings []Finding
}

func checkOf(name string, data []byte) checkReport {
	p, findings := Check(name, data)
	return checkReport{p, findings}
}
