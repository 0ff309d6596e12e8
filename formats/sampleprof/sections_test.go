package sampleprof

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// withSectionType returns the file with another word as the type of its section number i, in reading order.
func withSectionType(t *testing.T, data []byte, i int, word func(uint64) uint64) []byte {
	t.Helper()
	const table = 9 + 1 + 8 // magic, version, number of sections
	data = bytes.Clone(data)
	at := table + sectionEntry*i
	le.PutUint64(data[at:], word(le.Uint64(data[at:])))
	return data
}

// sectionOf returns the number of the last section of a type.
func sectionOf(t *testing.T, data []byte, kind sectionType) (number int) {
	t.Helper()
	number = -1
	for i, s := range oracle.Must(Sections("", data))(t) {
		if sectionType(s.Type) == kind && s.Size > 0 {
			number = i
		}
	}
	if number < 0 {
		t.Fatal("no section of the type")
	}
	return number
}

// TestUnknownSectionType: a type is the low 32 bits of its word, as in LLVM. A file whose functions are in a
// section of an unknown type has lost them: it does not pass for an empty or a smaller profile.
func TestUnknownSectionType(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	dir := t.TempDir()
	files := fixtures(t)
	split := mustWrite(t, mustRead(t, files["lines.afdo"]), WriteOptions{Split: true})
	for name, data := range map[string][]byte{"lines.afdo": files["lines.afdo"], "contexts.afdo": files["contexts.afdo"], "split": split} {
		want := mustWrite(t, mustRead(t, data), WriteOptions{Format: FormatText})
		i := sectionOf(t, data, profileSection)
		lost := withSectionType(t, data, i, func(uint64) uint64 { return 0x21 })
		for what, read := range map[string]func() error{
			"Read":       func() error { _, err := Read(name, lost, ReaderOptions{}); return err },
			"AddFile":    func() error { _, err := NewMerger(MergeOptions{}).AddFile(name, lost, ReaderOptions{}, 1); return err },
			"ReadSorted": func() error { _, _, err := ReadSorted(name, lost, ReaderOptions{}); return err },
		} {
			if err := read(); !errors.Is(err, profile.ErrCorrupt) || !strings.Contains(err.Error(), "as the summary says") {
				t.Errorf("%s: %s of a file that lost functions: %v", name, what, err)
			}
		}
		high := withSectionType(t, data, i, func(word uint64) uint64 { return word | 1<<40 })
		p := mustRead(t, high)
		if got := mustWrite(t, p, WriteOptions{Format: FormatText}); !bytes.Equal(got, want) {
			t.Errorf("%s: with a type above 32 bits\n%s\nwant\n%s", name, got, want)
		}
		if len(p.Check()) == 0 {
			t.Errorf("%s: no remark on a type above 32 bits", name)
		}
		for variant, data := range map[string][]byte{"lost": lost, "high": high} {
			oracle.WriteFile(t, filepath.Join(dir, "in"), data)
			if _, stderr, code := oracle.RunIn(t, dir, llvm, "merge", "--sample", "--text", "-o", "out", "in"); code != 0 {
				t.Fatalf("%s, %s: LLVM: %s", name, variant, stderr)
			}
			m := NewMerger(MergeOptions{LLVMCompat: true})
			oracle.Must(m.AddFile("in", data, ReaderOptions{Lenient: true}, 1))(t)
			if got, want := mustWrite(t, m.Finish(), WriteOptions{Format: FormatText}), oracle.ReadFile(t, filepath.Join(dir, "out")); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %d bytes, LLVM %d", name, variant, len(got), len(want))
			}
		}
	}
}

// TestUnknownSectionBeside: a further section of an unknown type, as of a later LLVM, loses nothing.
func TestUnknownSectionBeside(t *testing.T) {
	data := fixtures(t)["lines.afdo"]
	later := withSectionType(t, data, sectionOf(t, data, offsetSection), func(uint64) uint64 { return 7 })
	if got, want := mustWrite(t, mustRead(t, later), WriteOptions{Format: FormatText}), mustWrite(t, mustRead(t, data), WriteOptions{Format: FormatText}); !bytes.Equal(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestLostFunctions: a binary file that ends with its names has lost the functions that its summary counts; a
// profile without functions is sound.
func TestLostFunctions(t *testing.T) {
	data := fixtures(t)["lines-binary.prof"]
	p := mustRead(t, data)
	c := newBinaryReader(data, FormatBinary, &ReaderOptions{}).cursor("", 0, data)
	c.ULEB("magic")
	c.ULEB("version")
	r := newBinaryReader(data, FormatBinary, &ReaderOptions{})
	r.readSummary(c)
	r.readNames(c)
	if _, err := Read("", data[:c.Offset()], ReaderOptions{}); err == nil || !strings.Contains(err.Error(), "number of functions is 0, want") {
		t.Errorf("names without functions: %v", err)
	}
	for _, opt := range []WriteOptions{{}, {Format: FormatBinary}, {Format: FormatGCov}, {Format: FormatGCov, GCC: 12}} {
		p.Functions = nil
		if q := mustRead(t, mustWrite(t, p, opt)); len(q.Functions) > 0 {
			t.Errorf("%+v: %d functions", opt, len(q.Functions))
		}
	}
}
