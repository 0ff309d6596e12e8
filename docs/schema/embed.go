// Package schema holds the JSON schemas of what profuse's commands print and write.
// docs/json.md says what they promise.
package schema

import "embed"

// Files has a file NAME.schema.json for each schema.
//
//go:embed *.schema.json
var Files embed.FS
