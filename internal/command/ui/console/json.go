package console

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes facts, indented by prefix from the second line on. w keeps its errors,
// as a bytes.Buffer or bufio.Writer does.
func WriteJSON(w io.Writer, facts any, prefix string) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(facts); err != nil {
		panic("facts as JSON: " + err.Error()) // they are plain values
	}
	w.Write(b.Bytes())
}
