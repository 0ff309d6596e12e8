package mip

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/profile"
)

// The bytes of the reference's own tool test, unless said otherwise: foo with one block beside the entry
// and main, of which a run covered foo. goldenRawA is goldenRaw with the other header.
const (
	goldenRaw = `
		fb4d4950 0800 1100 01000000 efbeadde
		00000000 00000000 00000000 20000000
		00 ff`
	goldenMap = `
		fb4d4950 0800 1400 01000000 efbeadde
		a0feffff ffffffff 00000000 20000000
		a0feffff ffffffff 80ffffff ffffffff
		10000000 15770e00 01000000 04000000
		03000000 666f6f00 79feffff ffffffff
		68ffffff ffffffff 30000000 11110000
		00000000 04000000 6d61696e`
	goldenMapA = `
		fb4d4950 0700 0200 01000000 efbeadde
		00000000 18000000
		80feffff 98feffff 80ffffff 10000000
		15770e00 01000000 04000000
		03000000 666f6f00 00000000
		98feffff b1feffff a8ffffff 30000000
		11110000 00000000 04000000 6d61696e`
	goldenRawA = `
		fb4d4950 0700 0100 01000000 efbeadde
		00000000 18000000
		00 ff`
	goldenYAML = `---
Header:
  File Type:       [ .mip ]
  Profile Type:    [ Function Coverage ]
  Module Hash:     0xDEADBEEF
Profiles:
  - Function Name:   foo
    Function Signature: 0x5CF8C24CDB18BDAC
    Raw Profile Data Address: 0x20
    Encoded Function Address: 0x100
    Function Size:   0x10
    Control Flow Graph Signature: 0xE7715
    Raw Profile Count: 1
    Function Call Count: 1
    Function Order Sum: 0
    Basic Block Profiles:
      - Offset:          0x0
        Covered:         true
      - Offset:          0x4
        Covered:         false
    Call Edges:      []
  - Function Name:   main
    Function Signature: 0xDB956436E78DD5FA
    Raw Profile Data Address: 0x21
    Encoded Function Address: 0x110
    Function Size:   0x30
    Control Flow Graph Signature: 0x1111
    Raw Profile Count: 0
    Function Call Count: 0
    Function Order Sum: 0
    Basic Block Profiles:
      - Offset:          0x0
        Covered:         false
    Call Edges:      []
...
`
	// goldenMIP is the same profile in the layout of generation B's code, put
	// together by hand: no llvm-mipdata could be run.
	goldenMIP = `
		fb4d4950 0800 0800 01000000 efbeadde
		00000000 00000000 00000000 20000000
		02000000 00000000
		acbd18db 4cc2f85c 20000000 00000000 00010000 00000000
		10000000 15770e00 01000000 01000000
		01000000 00000000 00000000 00000000
		04000000 00 00000000
		fad58de7 366495db 21000000 00000000 10010000 00000000
		30000000 11110000 00000000 00000000
		00000000 00000000 00000000 00000000
		00000000
		02000000 00000000 666f6f00 6d61696e 00`
	// goldenDocument is the same profile by the letter of the document.
	goldenDocument = `
		fb4d4950 0800 0800 01000000 efbeadde
		00000000 00000000 00000000 20000000
		02000000 00000000
		acbd18db 4cc2f85c 20000000 00010000
		10000000 15770e00 01000000 01000000
		01000000 00000000 00000000 00000000
		04000000 00 00000000
		fad58de7 366495db 21000000 10010000
		30000000 11110000 00000000 00000000
		00000000 00000000 00000000 00000000
		00000000
		08000000 00000000 666f6f00 6d61696e`
)

// unhex decodes hexadecimal digits with white space between them.
func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, data []byte) *Profile {
	t.Helper()
	p, err := Read("input", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mergerOf returns a merger for the functions of base. It appends its warnings to warned; if that is nil,
// there must be none.
func mergerOf(t testing.TB, base *Profile, warned *[]string) *Merger {
	t.Helper()
	m, err := NewMerger(base, MergeOptions{Warn: func(w profile.Warning) {
		if warned == nil {
			t.Error(w)
			return
		}
		*warned = append(*warned, w.String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// merged merges raw files into a map or profile.
func merged(t testing.TB, base *Profile, raws ...[]byte) *Profile {
	t.Helper()
	m := mergerOf(t, base, nil)
	for _, raw := range raws {
		if err := m.AddRaw("raw", raw, 1); err != nil {
			t.Fatal(err)
		}
	}
	return m.Profile()
}

// wantError checks the class of a format error, and that its text has the words.
func wantError(t testing.TB, what string, err, class error, words string) *profile.FormatError {
	t.Helper()
	fe := new(profile.FormatError)
	if !errors.As(err, &fe) || profile.ClassOf(fe) != class || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want %q: %v", what, err, words, class)
	}
	return fe
}

// TestFunctionCoverage is the reference's function-coverage.test: a map, a raw
// profile merged into it, and the result as YAML, byte for byte.
func TestFunctionCoverage(t *testing.T) {
	p := merged(t, read(t, unhex(t, goldenMap)), unhex(t, goldenRaw))
	if got := yamlOf(t, p); got != goldenYAML {
		t.Errorf("got %s", got)
	}
	if got := mipOf(t, p, WriteOptions{}); !bytes.Equal(got, unhex(t, goldenMIP)) {
		t.Errorf(".mip:\n% x", got)
	}
	if got := mipOf(t, p, WriteOptions{DocumentLayout: true}); !bytes.Equal(got, unhex(t, goldenDocument)) {
		t.Errorf(".mip by the document:\n% x", got)
	}
}

// TestYAMLIdentity is the reference's yaml.test: YAML to .mip and back.
func TestYAMLIdentity(t *testing.T) {
	file := mipOf(t, read(t, []byte(goldenYAML)), WriteOptions{})
	if got := yamlOf(t, read(t, file)); got != goldenYAML {
		t.Errorf("got %s", got)
	}
}

// TestGenerationA reads the same test in the first generation's form, where
// the header is shorter, so that records lie lower.
func TestGenerationA(t *testing.T) {
	p := merged(t, read(t, unhex(t, goldenMapA)), unhex(t, goldenRawA))
	want := strings.NewReplacer("Address: 0x20\n", "Address: 0x18\n", "Address: 0x21\n", "Address: 0x19\n").Replace(goldenYAML)
	if got := yamlOf(t, p); got != want {
		t.Errorf("got %s", got)
	}
	r, err := NewReader("map", unhex(t, goldenMapA), nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := r.Info; i.Generation != generationA || i.Version != 7 || i.Format != FormatMap {
		t.Errorf("info %+v", i)
	}
	// Generation A's YAML has a scalar for the type.
	scalar := strings.Replace(want, "[ .mip ]", ".mip", 1)
	if got := yamlOf(t, read(t, []byte(scalar))); got != want {
		t.Errorf("got %s", got)
	}
}

// TestGoldenFiles: the writers give back the files that were read.
func TestGoldenFiles(t *testing.T) {
	p := read(t, unhex(t, goldenMIP))
	if got := mipOf(t, p, WriteOptions{}); !bytes.Equal(got, unhex(t, goldenMIP)) {
		t.Errorf(".mip:\n% x", got)
	}
	if got := yamlOf(t, read(t, unhex(t, goldenDocument))); got != goldenYAML {
		t.Errorf("document layout: %s", got)
	}
	if raw := rawOf(p, 8); !bytes.Equal(raw, unhex(t, goldenRaw)) {
		t.Errorf(".mipraw:\n% x", raw)
	}
	if m := mapOf(p, 8, -0x160); !bytes.Equal(m, unhex(t, goldenMap)) {
		t.Errorf(".mipmap:\n% x", m)
	}
}

func TestHashes(t *testing.T) {
	for name, want := range map[string]uint64{"foo": 0x5CF8C24CDB18BDAC, "main": 0xDB956436E78DD5FA} {
		if got := guid.Of(name); got != want {
			t.Errorf("guid.Of(%q) = %#x, want %#x", name, got, want)
		}
	}
	if got := guid.LinkUnit("a.out"); got != 0xFF70EA5D {
		t.Errorf("guid.LinkUnit(a.out) = %#x", got)
	}
}

func TestCFGSignature(t *testing.T) {
	for _, tt := range []struct {
		successors [][]int
		want       uint32
	}{
		{nil, 0},
		{[][]int{{}}, 0},
		{[][]int{{0}}, 0}, // a loop on itself is still one block
		{[][]int{{1, 2}, {2}, {}}, 0x70C9FA27},
		{[][]int{{1}, {10}}, uint32(guid.Of("{1;}{10;}"))},
	} {
		if got := guid.CFG(tt.successors); got != tt.want {
			t.Errorf("guid.CFG(%v) = %#x, want %#x", tt.successors, got, tt.want)
		}
	}
}
