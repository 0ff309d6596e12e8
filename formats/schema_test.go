package formats_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// TestSchemaWords: the schemas enumerate the words of this module, no fewer and no more.
func TestSchemaWords(t *testing.T) {
	families, words, about := []string{""}, []string{""}, ""
	for _, f := range formats.All() {
		family := strings.ToLower(string(f.Family()))
		if !slices.Contains(families, family) {
			families = append(families, family)
			about += fmt.Sprintf(". %s: ", family)
		} else {
			about += ", "
		}
		if about += f.Word(); f == formats.MemProfRaw {
			about += ", indexed" // heap profiles in indexed IRPGO profiles, a format of the other family
		}
		if !slices.Contains(words, f.Word()) {
			words = append(words, f.Word())
		}
	}
	about = "Within the family; empty if unknown" + about
	if got := schemaAt[string](t, "format", "$defs", "format", "description"); got != about {
		t.Errorf("the description of format is\n%s, want\n%s", got, about)
	}
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
		{families, "format", []string{"$defs", "family"}},
		{words, "format", []string{"$defs", "format"}},
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
