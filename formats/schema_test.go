package formats_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var update = flag.Bool("update", false, "write the families and formats into docs/schema/format.schema.json")

// TestFormatSchema: format.schema.json enumerates the families and formats of this package.
func TestFormatSchema(t *testing.T) {
	families, words, about := []string{""}, []string{""}, "Within the family; empty if unknown"
	for _, f := range formats.All() {
		family := strings.ToLower(string(f.Family()))
		if !slices.Contains(families, family) {
			families = append(families, family)
			about += fmt.Sprintf(". %s: ", family)
		} else {
			about += ", "
		}
		if about += f.Describe().Word; f == formats.MemProfRaw {
			about += ", indexed" // heap profiles in indexed IRPGO profiles, a format of the other family
		}
		if !slices.Contains(words, f.Describe().Word) {
			words = append(words, f.Describe().Word)
		}
	}
	file := filepath.Join(oracle.Root(t), "docs", "schema", "format.schema.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	replace := func(pattern, with string) {
		re := regexp.MustCompile(pattern)
		if len(re.FindAllString(want, -1)) != 1 {
			t.Fatalf("%s matches %d times", pattern, len(re.FindAllString(want, -1)))
		}
		want = re.ReplaceAllLiteralString(want, with)
	}
	replace(`"family": \{.*\}`, fmt.Sprintf(`"family": {"description": "Empty if unknown", "enum": ["%s"]}`, strings.Join(families, `", "`)))
	replace(`(?s)"format": \{.*?\]\n    \}`, fmt.Sprintf("\"format\": {\n      \"description\": %q,\n      \"enum\": [\n        \"%s\"\n      ]\n    }",
		about, strings.Join(words, "\",\n        \"")))
	if string(text) == want {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not list the formats (-update writes it):\n%s", file, want)
}

// TestSchemaWords: the schemas enumerate the words of package profile, no fewer and no more.
func TestSchemaWords(t *testing.T) {
	var classes, edges []string
	for _, c := range profile.Classes() {
		classes = append(classes, string(c))
	}
	for k := profile.Call; !strings.HasPrefix(k.String(), "edge kind"); k++ {
		edges = append(edges, k.String())
	}
	var features profile.Features
	for i := range reflect.TypeFor[profile.Features]().NumField() {
		reflect.ValueOf(&features).Elem().Field(i).SetBool(true)
	}
	for _, c := range []struct {
		want []string
		file string
		path []string
	}{
		{classes, "error", []string{"properties", "class"}},
		{features.Names(), "profile", []string{"$defs", "features", "items"}},
		{edges, "profile", []string{"$defs", "edge_kind"}},
	} {
		var got []string
		for _, word := range schemaAt[[]any](t, c.file, append(c.path, "enum")...) {
			got = append(got, word.(string))
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s.schema.json, %s: %q, want %q", c.file, strings.Join(c.path, "."), got, c.want)
		}
	}
}

// schemaAt returns a value within a schema.
func schemaAt[T any](t *testing.T, name string, path ...string) T {
	t.Helper()
	data, err := schema.Text(name)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	for _, key := range path {
		value = value.(map[string]any)[key]
	}
	found, ok := value.(T)
	if !ok {
		t.Fatalf("%s.schema.json: %v is %v", name, path, value)
	}
	return found
}
