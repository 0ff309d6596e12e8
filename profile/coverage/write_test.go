package coverage

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// An element says what the schema of a format demands of an XML element: its children in order, each with a mark
// as in DTDs ("*", "?" or none), and its attributes, those that may be missing with "?".
type element struct{ children, attributes string }

// The rules of coverage-04.dtd.
var coberturaRules = map[string]element{
	"coverage": {"sources? packages", "line-rate branch-rate lines-covered lines-valid branches-covered branches-valid complexity version timestamp"},
	"sources":  {"source*", ""}, "source": {"", ""},
	"packages": {"package*", ""}, "package": {"classes", "name line-rate branch-rate complexity"},
	"classes": {"class*", ""}, "class": {"methods lines", "name filename line-rate branch-rate complexity"},
	"methods": {"method*", ""}, "method": {"lines", "name signature line-rate branch-rate complexity"},
	"lines": {"line*", ""}, "line": {"conditions*", "number hits branch? condition-coverage?"},
	"conditions": {"condition*", ""}, "condition": {"", "number type coverage"},
}

// The rules of sonar-generic-coverage.xsd.
var sonarRules = map[string]element{
	"coverage": {"file*", "version"}, "file": {"lineToCover*", "path"},
	"lineToCover": {"", "lineNumber covered branchesToCover? coveredBranches?"},
}

type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []node     `xml:",any"`
}

// validate compares an element and what is in it with the rules.
func (n *node) validate(t *testing.T, rules map[string]element) {
	t.Helper()
	rule, ok := rules[n.XMLName.Local]
	if !ok {
		t.Errorf("element %s is not in the schema", n.XMLName.Local)
		return
	}
	have := make(map[string]bool)
	for _, a := range n.Attrs {
		have[a.Name.Local] = true
	}
	for _, name := range strings.Fields(rule.attributes) {
		bare := strings.TrimSuffix(name, "?")
		if !have[bare] && bare == name {
			t.Errorf("%s lacks attribute %s", n.XMLName.Local, name)
		}
		delete(have, bare)
	}
	if len(have) > 0 {
		t.Errorf("%s has attributes %v", n.XMLName.Local, have)
	}
	rest := n.Children
	for _, name := range strings.Fields(rule.children) {
		bare := strings.TrimRight(name, "*?")
		count := 0
		for len(rest) > 0 && rest[0].XMLName.Local == bare {
			rest[0].validate(t, rules)
			rest = rest[1:]
			count++
		}
		if name == bare && count != 1 || strings.HasSuffix(name, "?") && count > 1 {
			t.Errorf("%s has %d %s", n.XMLName.Local, count, bare)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%s has %s out of place", n.XMLName.Local, rest[0].XMLName.Local)
	}
}

func written(t *testing.T, f Format, c *Coverage, opt WriteOptions) string {
	t.Helper()
	var b bytes.Buffer
	oracle.NoError(t, Write(&b, c, f, opt))
	return b.String()
}

// TestXMLSchemas: the documents follow the schemas of their formats.
func TestXMLSchemas(t *testing.T) {
	c := readTrace(t, trace+"SF:<&\".c\nFN:1,operator<<\nFNDA:1,operator<<\nend_of_record\n")
	for f, rules := range map[Format]map[string]element{"cobertura": coberturaRules, "sonar": sonarRules} {
		for _, c := range []*Coverage{c, {}} {
			var root node
			if err := xml.Unmarshal([]byte(written(t, f, c, WriteOptions{})), &root); err != nil {
				t.Fatal(f, err)
			}
			root.validate(t, rules)
		}
	}
	text := written(t, "cobertura", c, WriteOptions{})
	for _, want := range []string{
		`<coverage line-rate="0.8" branch-rate="0.5" lines-covered="4" lines-valid="5" branches-covered="2" branches-valid="4" complexity="0" version="profuse" timestamp="0">`,
		`<package name="/src" line-rate="0.75" branch-rate="0.5" complexity="0">`,
		`<class name="a.c" filename="/src/a.c" `, `<line number="1" hits="4" branch="false"></line>`,
		`<line number="2" hits="4" branch="true" condition-coverage="50% (2/4)">`, `<condition number="1" type="jump" coverage="0%"></condition>`,
		`<method name="operator&lt;&lt;" signature="" line-rate="1" `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	sonar := written(t, "sonar", c, WriteOptions{})
	for _, want := range []string{
		`<coverage version="1">`, `<file path="/src/a.c">`, `<lineToCover lineNumber="5" covered="false"></lineToCover>`,
		`<lineToCover lineNumber="2" covered="true" branchesToCover="4" coveredBranches="2"></lineToCover>`,
	} {
		if !strings.Contains(sonar, want) {
			t.Errorf("no %s in\n%s", want, sonar)
		}
	}
}

// dtd returns the rules as a document type definition.
func dtd(rules map[string]element) string {
	var b strings.Builder
	for _, name := range sortedKeys(rules) {
		content := "(" + strings.ReplaceAll(rules[name].children, " ", ", ") + ")"
		switch {
		case name == "source":
			content = "(#PCDATA)"
		case content == "()":
			content = "EMPTY"
		}
		fmt.Fprintf(&b, "<!ELEMENT %s %s>\n", name, content)
		for _, attribute := range strings.Fields(rules[name].attributes) {
			bare, optional := strings.CutSuffix(attribute, "?")
			fmt.Fprintf(&b, "<!ATTLIST %s %s CDATA %s>\n", name, bare, map[bool]string{false: "#REQUIRED", true: "#IMPLIED"}[optional])
		}
	}
	return b.String()
}

// TestXMLIsValid: a validating parser takes the documents, and their values are of the
// types that the schemas demand.
func TestXMLIsValid(t *testing.T) {
	xmllint := oracle.Tool(t, "xmllint")
	c := readTrace(t, trace+"SF:<&\".c\nFN:1,operator<<\nFNDA:1,operator<<\nDA:0,1\nend_of_record\n")
	dir := t.TempDir()
	for f, rules := range map[Format]map[string]element{"cobertura": coberturaRules, "sonar": sonarRules} {
		schema, document := filepath.Join(dir, string(f)+".dtd"), filepath.Join(dir, string(f)+".xml")
		text := written(t, f, c, WriteOptions{})
		for name, content := range map[string]string{schema: dtd(rules), document: text} {
			oracle.WriteFile(t, name, []byte(content))
		}
		validate := func() (string, int) {
			_, stderr, code := oracle.Run(t, xmllint, "--noout", "--nonet", "--dtdvalid", schema, document)
			return stderr, code
		}
		if stderr, code := validate(); code != 0 {
			t.Errorf("%s: exit code %d\n%s", f, code, stderr)
		}
		wrong := strings.Replace(text, "<line", "<lines/><line", 1)
		oracle.WriteFile(t, document, []byte(wrong))
		if _, code := validate(); code == 0 {
			t.Errorf("%s: a wrong document is valid", f)
		}
		for _, m := range regexp.MustCompile(`([\w-]+)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			ok := true
			switch name, value := m[1], m[2]; name {
			case "line-rate", "branch-rate":
				rate, err := strconv.ParseFloat(value, 64)
				ok = err == nil && rate >= 0 && rate <= 1
			case "lineNumber":
				n, err := strconv.ParseUint(value, 10, 31)
				ok = err == nil && n > 0
			case "number", "hits", "branchesToCover", "coveredBranches":
				_, err := strconv.ParseUint(value, 10, 64)
				ok = err == nil
			case "covered", "branch":
				ok = value == "true" || value == "false"
			case "condition-coverage":
				ok = regexp.MustCompile(`^\d+% \(\d+/\d+\)$`).MatchString(value)
			}
			if !ok {
				t.Errorf("%s: %s", f, m[0])
			}
		}
	}
}

// The schemas of JSON formats, after the documentation of the services.
var jsonSchemas = map[Format]string{
	// A map of files to the counts of their lines: hits, "taken/all" of branches, true or null.
	"codecov": `{"type": "object", "required": ["coverage"], "additionalProperties": false, "properties": {"coverage": {
		"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": {
			"type": "object", "propertyNames": {"pattern": "^[0-9]+$"},
			"additionalProperties": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}, {"type": ["null", "boolean"]}]}}}}}`,
	// A job without the members that identify the repository and the run. Branches are fours of numbers.
	"coveralls": `{"type": "object", "required": ["source_files"], "additionalProperties": false, "properties": {"source_files": {
		"type": "array", "items": {"type": "object", "required": ["name", "coverage"], "additionalProperties": false, "properties": {
			"name": {"type": "string", "minLength": 1}, "source_digest": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
			"coverage": {"type": "array", "items": {"type": ["integer", "null"], "minimum": 0}},
			"branches": {"type": "array", "items": {"type": "integer", "minimum": 0}}}}}}}`,
}

// TestJSONSchemas: the documents follow the schemas of their formats.
func TestJSONSchemas(t *testing.T) {
	for f, text := range jsonSchemas {
		compiler := jsonschema.NewCompiler()
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		oracle.NoError(t, err)
		oracle.NoError(t, compiler.AddResource("schema.json", document))
		schema, err := compiler.Compile("schema.json")
		oracle.NoError(t, err)
		for _, c := range []*Coverage{readTrace(t, trace), readTrace(t, trace+trace), {}} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(written(t, f, c, WriteOptions{Roots: []string{"/src"}})))
			oracle.NoError(t, err)
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
		if schema.Validate(map[string]any{"coverage": []any{}, "source_files": ""}) == nil {
			t.Errorf("%s: a wrong document is valid", f)
		}
	}
}

// TestFunctionTotals: FNF and FNH are the numbers of the summary: instances of one place are one function, and a name
// at two places is two.
func TestFunctionTotals(t *testing.T) {
	fn := func(name string, line, column int32, calls uint64) Function {
		return Function{Symbol: profile.Symbol{Name: name, StartLine: line}, Column: column, Calls: calls}
	}
	c := &Coverage{Files: []*File{{Path: "a.cc", Functions: []Function{
		fn("id<int>", 1, 5, 0), fn("id<long>", 1, 5, 2), fn("main", 3, 1, 1), fn("main", 7, 1, 0), fn("inl", 9, 0, 0), fn("inl", 9, 0, 1), fn("other", 9, 0, 0),
	}}}}
	c.Finish()
	if want := (Ratio{5, 3}); c.Total.Functions != want {
		t.Errorf("%v functions, want %v", c.Total.Functions, want)
	}
	want := "FN:1,id<int>\nFN:1,id<long>\nFN:3,main\nFN:9,inl\nFN:9,other\nFNDA:0,id<int>\nFNDA:2,id<long>\nFNDA:1,main\nFNDA:1,inl\nFNDA:0,other\nFNF:5\nFNH:3\n"
	if got := written(t, "lcov", c, WriteOptions{}); !strings.Contains(got, want) {
		t.Errorf("got  %swant %s", got, want)
	}
}

// lines is the end of a source of nine lines.
var lines = strings.Repeat("\n", 9)

// TestRoots: names below a root are relative to it, for files of equal names add up, and Cobertura lists the roots.
func TestRoots(t *testing.T) {
	c := readTrace(t, trace+"SF:/src/x/../a.c\nDA:1,1\nend_of_record\nSF:/srcs/c.c\nDA:1,1\nend_of_record\nSF:/gen/d.c\nDA:1,1\nend_of_record\n")
	opt := WriteOptions{Roots: []string{"/src/", "/gen"}, Source: func(path string) ([]byte, error) { return []byte(path + lines), nil }}
	if got, want := written(t, "codecov", c, opt),
		`{"coverage":{"/srcs/c.c":{"1":1},"a.c":{"1":5,"2":"2/4","3":1500,"5":0},"b.c":{"7":2},"d.c":{"1":1}}}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	cobertura := written(t, "cobertura", c, opt)
	for _, want := range []string{"<source>/src/</source>\n  <source>/gen</source>", `filename="a.c"`, `<package name="." `, `<package name="/srcs" `} {
		if !strings.Contains(cobertura, want) {
			t.Errorf("no %s in\n%s", want, cobertura)
		}
	}
	digest := fmt.Sprintf(`{"name":"d.c","source_digest":"%x"`, md5.Sum([]byte("/gen/d.c"+lines)))
	if got := written(t, "coveralls", c, opt); !strings.Contains(got, digest) {
		t.Errorf("no %s in %s", digest, got)
	}
	if got := written(t, "lcov", c, opt); strings.Count(got, "SF:a.c\n") != 1 || !strings.Contains(got, "\nSF:/srcs/c.c\n") {
		t.Error(got)
	}
	if len(c.Files) != 5 || c.Files[1].Path != "/src/a.c" {
		t.Errorf("the coverage has %d files, %s", len(c.Files), c.Files[1].Path)
	}
}

// TestJSONFormats: what Codecov and Coveralls read.
func TestJSONFormats(t *testing.T) {
	c := readTrace(t, trace)
	if got, want := written(t, "codecov", c, WriteOptions{}),
		`{"coverage":{"/src/a.c":{"1":4,"2":"2/4","3":1500,"5":0},"b.c":{"7":2}}}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	source := func(path string) ([]byte, error) {
		if path == "b.c" {
			return nil, errors.New("gone")
		}
		return []byte("abc" + lines), nil
	}
	got := written(t, "coveralls", c, WriteOptions{Source: source})
	want := `{"source_files":[{"name":"/src/a.c","source_digest":"9d907748b1ec94cd988537e756f4bbb5","coverage":[4,4,1500,null,0],` +
		`"branches":[2,0,0,3,2,0,1,1,2,1,0,0,2,1,1,0]},{"name":"b.c","coverage":[null,null,null,null,null,null,2]}]}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	var any any
	if err := json.Unmarshal([]byte(got), &any); err != nil {
		t.Error(err)
	}
	huge := readTrace(t, "SF:a\nDA:"+strconv.Itoa(maxCoverallsLine+1)+",1\nend_of_record\n")
	if err := Write(io.Discard, huge, "coveralls", WriteOptions{}); err == nil {
		t.Error("a list of millions of lines")
	}
	if err := Write(io.Discard, c, "svg", WriteOptions{}); err == nil {
		t.Error("unknown format")
	}
	if again := readTrace(t, written(t, "lcov", c, WriteOptions{})); !reflect.DeepEqual(again, c) {
		t.Error("lcov differs")
	}
}
