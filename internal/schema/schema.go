// Package schema has the beginning of the JSON objects that profuse's commands print and
// write, and their schemas.
//
// A version goes up when a member changes its meaning or goes away, or when a word that a
// member may have is replaced. Members, and words where the schema says so, may be added
// without. docs/json.md has the rules.
package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	docs "github.com/profuse-pgo/profuse/docs/schema"
)

// versions are those of the objects that begin with a [Head]. The other schemas are of parts.
var versions = map[string]int{
	"check": 2, "compare": 1, "coverage": 1, "coverage-tests": 1, "doctor": 1, "fleet-status": 2, "merge-report": 3, "order-eval": 1,
	"profile": 2, "show": 2, "top": 1,
}

// A Head begins a JSON object and says what it is.
type Head struct {
	Schema        string `json:"schema"` // "profuse-" and the name of the schema
	SchemaVersion int    `json:"schema_version"`
}

// For returns the head of objects with the schema of a name, such as "show".
func For(name string) Head {
	version, ok := versions[name]
	if !ok {
		panic("no schema " + name)
	}
	return Head{"profuse-" + name, version}
}

// Names returns the names of all schemas, in order: those of objects, then those that
// others refer to.
func Names() []string { return append(slices.Sorted(maps.Keys(versions)), "error", "format") }

// Text returns the schema of a name, as JSON.
func Text(name string) ([]byte, error) {
	text, err := docs.Files.ReadFile(FileName(name))
	if err != nil {
		return nil, fmt.Errorf("no schema %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}

// FileName returns the name of the file of a schema, by which other schemas refer to it.
func FileName(name string) string { return name + ".schema.json" }
