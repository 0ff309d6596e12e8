package console

import (
	"bytes"
	"encoding/json"
)

// WriteJSON writes facts, indented by prefix from the second line on.
func WriteJSON(b *bytes.Buffer, facts any, prefix string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(facts); err != nil {
		panic("facts as JSON: " + err.Error()) // they are plain values
	}
}
