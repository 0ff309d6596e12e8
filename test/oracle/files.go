package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

// ReadFile returns the contents of a file.
func ReadFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// WriteFile writes a file, and makes the folders above it.
func WriteFile(t testing.TB, name string, data []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		err = os.WriteFile(name, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
