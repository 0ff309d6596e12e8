package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// schema compiles a JSON schema, or the part of it that fragment names.
func loadSchema(t *testing.T, path, fragment string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(path + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, what string, s *jsonschema.Schema, data []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s: %v\n%.500s", what, err, data)
	}
}

// TestSchemas: speedscope files meet the published schema, JSON and NDJSON those
// of docs/schema/profile.schema.json.
func TestSchemas(t *testing.T) {
	speedscope := loadSchema(t, filepath.Join("testdata", "speedscope", "file-format-schema.json"), "")
	own := filepath.Join(oracle.Root(t), "docs", "schema", "profile.schema.json")
	document, record := loadSchema(t, own, ""), loadSchema(t, own, "#/$defs/record")
	for _, nv := range append(realViews(t), fakeViews()...) {
		for _, opt := range []Options{{}, {Lines: true, Demangle: true, Signatures: true}} {
			data, _ := written(t, "speedscope", nv.v, opt)
			validate(t, nv.name+" to speedscope", speedscope, data)
		}
		data, _ := written(t, "json", nv.v, Options{})
		validate(t, nv.name+" to JSON", document, data)
		data, _ = written(t, "ndjson", nv.v, Options{})
		for line := range bytes.Lines(data) {
			validate(t, nv.name+" to NDJSON", record, line)
		}
	}
	// The schemas can say no.
	for _, bad := range []string{`{"kind":"edge","edge_kind":"call","caller":-1,"site":0,"count":1}`, `{"kind":"symbol"}`, `{"kind":"trace","weight":1,"mean":false,"functions":[],"more":1}`} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if record.Validate(doc) == nil {
			t.Errorf("valid: %s", bad)
		}
	}
}

// document is a JSON export as its readers decode it.
type document struct {
	Functions []struct {
		Name   string
		Calls  *uint64
		Counts []uint64
	}
	Stacks []struct {
		Name   string
		Stacks []struct {
			Frames []struct{ Symbol int }
			Values []uint64
		}
	}
	Edges []struct {
		Kind   string
		Caller int
		Target *int
		Count  uint64
	}
	Traces  []struct{ Functions []int }
	Symbols []struct{ Name, File, ID string }
}

// TestJSONContents: nothing of the view is missing from the JSON, and the records of NDJSON are the same.
func TestJSONContents(t *testing.T) {
	for _, nv := range append(realViews(t), fakeViews()...) {
		data, _ := written(t, "json", nv.v, Options{})
		var d document
		if err := json.Unmarshal(data, &d); err != nil {
			t.Fatalf("%s: %v", nv.name, err)
		}
		i := 0
		for f := range nv.v.Functions() {
			got := d.Functions[i]
			i++
			if got.Name != strings.ToValidUTF8(f.Name, "\ufffd") || len(got.Counts) != len(f.Blocks) || got.Calls != nil && *got.Calls != f.Calls {
				t.Fatalf("%s: function %+v is %+v", nv.name, f, got)
			}
			for k, b := range f.Blocks {
				if got.Counts[k] != b.Count {
					t.Fatalf("%s: function %+v is %+v", nv.name, f, got)
				}
			}
		}
		if i != len(d.Functions) {
			t.Errorf("%s: %d functions, want %d", nv.name, len(d.Functions), i)
		}
		i = 0
		for e := range nv.v.Edges() {
			got := d.Edges[i]
			i++
			if got.Kind != e.Kind.String() || d.Symbols[got.Caller].Name != e.Caller.Name || got.Count != e.Count ||
				(got.Target != nil) != known(&e.Target) || got.Target != nil && d.Symbols[*got.Target].Name != e.Target.Name {
				t.Fatalf("%s: edge %+v is %+v", nv.name, e, got)
			}
		}
		if i != len(d.Edges) {
			t.Errorf("%s: %d edges, want %d", nv.name, len(d.Edges), i)
		}
		i = 0
		for tr := range nv.v.Traces() {
			for k, s := range tr.Functions {
				if n := d.Traces[i].Functions[k]; d.Symbols[n].ID != fmt.Sprintf("0x%016x", s.ID) {
					t.Fatalf("%s: trace %d has %+v at %d, want %+v", nv.name, i, d.Symbols[n], k, s)
				}
			}
			i++
		}
		for k, set := range nv.v.Stacks() {
			for i, s := range collect(set) {
				got := d.Stacks[k].Stacks[i]
				if len(got.Frames) != len(s.Frames) || fmt.Sprint(got.Values) != fmt.Sprint(s.Values) {
					t.Fatalf("%s: stack %+v is %+v", nv.name, s, got)
				}
			}
		}
		lines, _ := written(t, "ndjson", nv.v, Options{})
		records := 2 + len(d.Functions) + len(d.Edges) + len(d.Traces) + len(d.Symbols) + len(d.Stacks)
		for _, s := range d.Stacks {
			records += len(s.Stacks)
		}
		if n := bytes.Count(lines, []byte("\n")); n != records {
			t.Errorf("%s: %d records, want %d", nv.name, n, records)
		}
	}
}

// TestCSV: every table is rectangular and as long as it should be.
func TestCSV(t *testing.T) {
	for _, nv := range append(realViews(t), fakeViews()...) {
		want := map[string]int{profile.FunctionSet: 1, edgeSet: 1, traceSet: 1}
		for range nv.v.Functions() {
			want[profile.FunctionSet]++
		}
		for range nv.v.Edges() {
			want[edgeSet]++
		}
		for tr := range nv.v.Traces() {
			want[traceSet] += len(tr.Functions)
		}
		for _, set := range nv.v.Stacks() {
			want[set.Name] = 1 + len(collect(set))
		}
		for _, table := range tables(nv.v) {
			data, _ := written(t, "csv", nv.v, Options{Table: table})
			rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll() // refuses rows of other lengths
			if err != nil {
				t.Fatalf("%s, %s: %v", nv.name, table, err)
			}
			if len(rows) != want[table] {
				t.Errorf("%s, %s: %d rows, want %d", nv.name, table, len(rows), want[table])
			}
		}
	}
}

// exported writes a file into the test's folder.
func exported(t *testing.T, f Format, v profile.View, opt Options) string {
	t.Helper()
	data, _ := written(t, f, v, opt)
	path := filepath.Join(t.TempDir(), "export"+f.Suffix())
	oracle.WriteFile(t, path, data)
	return path
}

// oracleViews are some of each kind: starting a tool for every fixture takes too long.
func oracleViews(t *testing.T) []namedView {
	t.Helper()
	views := fakeViews()[:3]
	wanted := map[string]bool{
		"clang14/dispatch.profraw": true, "llvm22/merged.profdata": true, "llvm22/rust-merged.profdata": true,
		"clang22/temporal.profraw": true, "clang22/coverage.profraw": true, "all.mip": true,
	}
	for _, nv := range realViews(t) {
		if wanted[nv.name] {
			views = append(views, nv)
			delete(wanted, nv.name)
		}
	}
	for name := range wanted {
		t.Errorf("no fixture %s", name)
	}
	return views
}

// TestGoToolPprof: go tool pprof reads the files, totals what the view totals, and finds everything symbolized.
func TestGoToolPprof(t *testing.T) {
	// The go command would look at each start whether pprof is up to date.
	tool, stderr, code := oracle.Run(t, oracle.Tool(t, "go"), "tool", "-n", "pprof")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	tool = strings.TrimSpace(tool)
	total := regexp.MustCompile(`(?m)^Showing nodes accounting for .* of (\S+) total$`)
	for _, nv := range oracleViews(t) {
		t.Run(nv.name, func(t *testing.T) {
			path := exported(t, "pprof", nv.v, Options{Demangle: true})
			top, stderr, code := oracle.Run(t, tool, "-top", "-symbolize=none", "-unit=minimum", "-nodecount=10000", "-nodefraction=0", path)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			raw, stderr, code := oracle.Run(t, tool, "-raw", path)
			if code != 0 || !strings.Contains(raw, "Samples:\n") {
				t.Fatalf("exit %d: %s%s", code, stderr, raw)
			}
			set := functionStacks(nv.v)
			if sets := nv.v.Stacks(); len(sets) > 0 {
				set = sets[0]
			}
			var want uint64
			names := make(map[string]bool)
			for s := range set.ReusedStacks {
				want += min(s.Values[0], math.MaxInt64)
				names[(&symbols{opt: Options{Demangle: true}}).name(&s.Frames[0].Symbol)] = true
			}
			m := total.FindStringSubmatch(top)
			if m == nil {
				t.Fatalf("no total in\n%s", top)
			}
			// pprof adds in 64 signed bits.
			if got := strings.TrimRight(m[1], "B"); got != fmt.Sprint(want) && want < math.MaxInt64 {
				t.Errorf("total %s, want %d\n%s", got, want, top)
			}
			for name := range names {
				if !strings.Contains(raw, strings.Join(strings.Fields(name), " ")) && !strings.ContainsAny(name, "\n;") {
					t.Errorf("%s is not in\n%s", name, raw)
				}
			}
		})
	}
}

// TestCallgrindAnnotate: callgrind_annotate reads the files and finds the totals, exclusive and inclusive.
func TestCallgrindAnnotate(t *testing.T) {
	tool := oracle.Tool(t, "callgrind_annotate")
	for _, nv := range oracleViews(t) {
		t.Run(nv.name, func(t *testing.T) {
			path := exported(t, "callgrind", nv.v, Options{Demangle: true})
			set := functionStacks(nv.v)
			if sets := nv.v.Stacks(); len(sets) > 0 {
				set = sets[0]
			}
			e := &exporter{}
			want := make([]uint64, len(set.Values))
			for s := range set.ReusedStacks {
				for i, v := range s.Values {
					want[i] = saturate.Add(want[i], v)
				}
			}
			exclusive, stderr, code := oracle.Run(t, tool, "--auto=no", "--threshold=100", path)
			if code != 0 || stderr != "" {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			line := ""
			for l := range strings.Lines(exclusive) {
				if strings.Contains(l, "PROGRAM TOTALS") {
					line = strings.ReplaceAll(l, ",", "")
				}
			}
			fields := strings.Fields(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(line, ""))
			for i, at := range e.additive(set) {
				if want[at] > 1<<53 { // perl adds in floating point
					continue
				}
				if got := fields[i]; got != fmt.Sprint(want[at]) && !(got == "." && want[at] == 0) {
					t.Errorf("%s: total %s, want %d\n%s", set.Values[at].Name, got, want[at], exclusive)
				}
			}
			inclusive, stderr, code := oracle.Run(t, tool, "--auto=no", "--inclusive=yes", "--tree=both", "--threshold=100", path)
			if code != 0 || stderr != "" {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if nv.name == "java" && !regexp.MustCompile(`(?m)^37 \(100\.0%\)\s+\*\s+Fib\.java:Fib\.main`).MatchString(inclusive) {
				t.Errorf("main has not everything in\n%s", inclusive)
			}
			if nv.name == "counter" && !regexp.MustCompile(`(?m)200.*helper\(int\) \(200x\)`).MatchString(inclusive) {
				t.Errorf("the call is not in\n%s", inclusive)
			}
		})
	}
}
