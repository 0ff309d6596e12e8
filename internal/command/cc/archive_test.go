package cc

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWriteArchive: ar and nm read what the driver writes, with names of any length,
// several members of one name, and bodies of odd length; so does the driver.
func TestWriteArchive(t *testing.T) {
	dir := t.TempDir()
	source, object := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
	oracle.WriteFile(t, source, []byte(".globl f, g\nf:\nlocal:\n.weak g\ng:\n.comm c,4,4\n.globl none\n"))
	if out, err := exec.Command(oracle.Tool(t, "gcc"), "-c", source, "-o", object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code := oracle.ReadFile(t, object)
	members := []member{{"odd", []byte("abc")}, {"a.o", code}, {"lib.rmeta", []byte("x")}, {"a name of more than sixteen bytes.o", code}, {"odd", nil}}
	file := filepath.Join(dir, "x.a")
	if err := writeArchive(file, members); err != nil {
		t.Fatal(err)
	}
	_, read, err := readArchive(file)
	same := func(a, b member) bool { return a.name == b.name && string(a.data) == string(b.data) }
	if err != nil || !slices.EqualFunc(read, members, same) {
		t.Errorf("read %d members, %v", len(read), err)
	}
	out, err := exec.Command(oracle.Tool(t, "ar"), "t", file).Output()
	if want := "odd\na.o\nlib.rmeta\na name of more than sixteen bytes.o\nodd\n"; err != nil || string(out) != want {
		t.Errorf("ar t: %v, %q, want %q", err, out, want)
	}
	out, _ = exec.Command(oracle.Tool(t, "nm"), "-s", file).Output()
	index, _, _ := strings.Cut(string(out), "\n\n")
	for _, name := range []string{"a.o", "a name of more than sixteen bytes.o"} {
		for _, symbol := range []string{"f", "g", "c"} {
			if !strings.Contains(index, "\n"+symbol+" in "+name) {
				t.Errorf("nm -s: no %s in %s\n%s", symbol, name, index)
			}
		}
	}
	if strings.Contains(index, "none") || strings.Contains(index, "local") {
		t.Errorf("nm -s: symbols that no member defines\n%s", index)
	}
}
