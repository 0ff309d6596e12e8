// Package schema holds the JSON schemas of what profuse's commands print and write, and the
// members with which each object begins.
//
// A version goes up when a member changes its meaning or goes away, or when a word that a
// member may have is replaced. Adding a member, or a word where the schema allows it, keeps the
// version. docs/json.md has the rules.
package schema

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// files has a file NAME.schema.json for each schema.
//
//go:embed *.schema.json
var files embed.FS

// versions holds the schema version of each object that begins with a [Head]. The other schemas
// describe parts of objects.
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

// Names returns the names of all schemas: first the objects in order, then the parts that other
// schemas refer to.
func Names() []string { return append(slices.Sorted(maps.Keys(versions)), "error", "format") }

// Text returns the schema of a name, as JSON.
func Text(name string) ([]byte, error) {
	text, err := files.ReadFile(FileName(name))
	if err != nil {
		return nil, fmt.Errorf("no schema %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}

// FileName returns the name of the file of a schema, by which other schemas refer to it.
func FileName(name string) string { return name + ".schema.json" }
