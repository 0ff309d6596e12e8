package atomicfile

import (
	"crypto/sha256"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestChecksum: the checksum fits the file at every moment at which there is one.
func TestChecksum(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	put := func(text string, opts Options) {
		t.Helper()
		f := create(t, out, opts)
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		oracle.NoError(t, f.Commit())
	}
	want := func(text string, there bool) {
		t.Helper()
		sum, ok, err := ReadChecksum(out)
		if err != nil || ok != there || ok && sum != sha256.Sum256([]byte(text)) {
			t.Fatalf("%x %v %v", sum, ok, err)
		}
	}
	put("one", Options{})
	want("", false)
	put("two", Options{Checksum: true})
	want("two", true)
	put("three", Options{})
	want("three", true)

	// What is not committed changes nothing.
	f := create(t, out, Options{})
	if _, err := f.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	want("three", true)
	if err := f.removeChecksum(); err != nil { // and then the process is killed
		t.Fatal(err)
	}
	f.Close()
	want("", false)
}

// TestReadChecksum: what sha256sum and other tools write is read.
func TestReadChecksum(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	digits := strings.Repeat("0a", sha256.Size)
	for text, ok := range map[string]bool{
		digits + "  out\n":               true,
		digits + " *out\n":               true,
		digits:                           true,
		strings.ToUpper(digits) + "\r\n": true,
		"00 x\n" + digits + "  out":      true,
		digits + "  other\n":             false,
		digits[1:] + "  out\n":           false,
		digits + "00  out\n":             false,
		"":                               false,
	} {
		oracle.WriteFile(t, out+checksumSuffix, []byte(text))
		sum, got, err := ReadChecksum(out)
		if got != ok || (err == nil) != ok || ok && sum[31] != 0x0a {
			t.Errorf("%q: %x %v %v", text, sum, got, err)
		}
	}
}
