package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/commands.md is made of the help texts: with -update, by this test.
func TestReference(t *testing.T) {
	var made bytes.Buffer
	if err := app().Reference(&made); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "commands.md")
	if *update {
		if err := os.WriteFile(file, made.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), made.String()); diff != "" {
		t.Errorf("docs/commands.md is not what the commands say; go test ./cmd/profuse -run Reference -update writes it\n%s", diff)
	}
}
