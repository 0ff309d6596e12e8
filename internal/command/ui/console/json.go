package console

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes facts, indented by prefix from the second line on. It ignores errors of w, which
// must be a writer that keeps them, such as a bytes.Buffer or bufio.Writer.
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
