package mip

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// patched returns the golden file with bytes replaced at an offset.
func patched(t testing.TB, digits string, at int, with ...byte) []byte {
	b := unhex(t, digits)
	copy(b[at:], with)
	return b
}

// TestRejected: what the reference rejects, in its words, and what is rejected beyond that.
func TestRejected(t *testing.T) {
	for _, tt := range []struct {
		name  string
		data  []byte
		class error
		says  string
		llvm  []string
	}{
		{"empty", nil, profile.ErrEmpty, "header is 0 bytes", []string{"f: too small", "Expected: >= 32", "     Got:    0"}},
		{"short", unhex(t, goldenMap)[:31], profile.ErrTruncated, "cut off after 31 bytes", []string{"f: too small", "Expected: >= 32", "     Got:    31"}},
		{"a few bytes of the magic", unhex(t, "fb4d"), profile.ErrTruncated, "cut off", []string{"f: too small", "Expected: >= 32", "     Got:    2"}},
		{"magic", patched(t, goldenMap, 0, 0xfc), profile.ErrUnrecognized, "fc 4d 49 50", []string{"f: Invalid MIPMagic value\nExpected: 50494DFB\n     Got: 50494DFC"}},
		{"version", patched(t, goldenMap, 4, 9), profile.ErrUnsupported, "version is 9, want at most 8", []string{"f: Invalid MIP version\nExpected: <=8\n     Got: 9"}},
		{"file type", patched(t, goldenMap, 6, 0x13), profile.ErrUnsupported, "FileType is 0x13", nil},
		{"two kinds", patched(t, goldenMap, 6, 0x15), profile.ErrUnsupported, "FileType is 0x15", nil},
		{"high bit of the file type", patched(t, goldenMap, 6, 0x54), profile.ErrUnsupported, "FileType is 0x54", nil},
		{"both widths", patched(t, goldenMap, 6, 0x34), profile.ErrCorrupt, "either", []string{"f: File type cannot be both 64 bit and 32 bit\n     Got: 34"}},
		{"no width", patched(t, goldenMap, 6, 4), profile.ErrCorrupt, "32-bit targets", nil},
		{"return addresses alone", patched(t, goldenMap, 6, 0x12), profile.ErrMismatch, "whose return addresses", []string{"f: Invalid file type\nExpected: 8\n     Got: 12"}},
		{"profile type", patched(t, goldenMap, 8, 0x21), profile.ErrUnsupported, "0x21", []string{"f: Invalid profile type\nGot: 0x21 "}},
		{"no profile type", patched(t, goldenMap, 8, 0), profile.ErrCorrupt, "either function coverage", nil},
		{"both modes", patched(t, goldenMap, 8, 0xd), profile.ErrCorrupt, "either function coverage", nil},
		{"timestamps alone", patched(t, goldenMap, 8, 4), profile.ErrUnsupported, "together", nil},
		{"counts alone", patched(t, goldenMap, 8, 8), profile.ErrUnsupported, "together", nil},
		{"offset to data", patched(t, goldenMap, 28, 0x28), profile.ErrCorrupt, "OffsetToData is 0x28, want 0x20", nil},
		{"map: raw offset", patched(t, goldenMap, 0x20, 0x9f), profile.ErrCorrupt, "raw offset is 0x1f, want at least 0x20", nil},
		{"map: number of blocks", patched(t, goldenMap, 0x38, 0xff, 0xff, 0xff, 0xff), profile.ErrTruncated, "NonEntryBlockCount is 4294967295", nil},
		{"map: name length", patched(t, goldenMap, 0x64, 0xff, 0xff), profile.ErrTruncated, "length of the function name is 65535 bytes", nil},
		{"map: zero in a name", patched(t, goldenMap, 0x69, 0), profile.ErrCorrupt, `"m\x00in"`, nil},
		{"mip: number of functions", patched(t, goldenMIP, 0x27, 0x80), profile.ErrTruncated, "ProfileCount is 9223372036854775810", nil},
		{"mip: signature without a name", patched(t, goldenMIP, 0x28, 0), profile.ErrCorrupt, "function name is \"foo\"", nil},
		{"mip: no name", append(patched(t, goldenMIP, len(unhex(t, goldenMIP))-17, 1)[:len(unhex(t, goldenMIP))-9], "foo\x00"...), profile.ErrCorrupt, "FunctionSignature is 0xdb956436e78dd5fa", nil},
		{"mip: name twice", append(unhex(t, goldenMIP)[:len(unhex(t, goldenMIP))-9], "foo\x00foo\x00"...), profile.ErrCorrupt, "each name once", nil},
		{"mip: name without an end", append(unhex(t, goldenMIP)[:len(unhex(t, goldenMIP))-1], '!'), profile.ErrTruncated, "without an end", nil},
		{"raw profile alone", unhex(t, goldenRaw), profile.ErrMismatch, "a map or profile that says", []string{"f: Invalid file type\nExpected: 8\n     Got: 11"}},
		{"mip: name without a signature", patched(t, goldenMIP, len(unhex(t, goldenMIP))-9, 'g'), profile.ErrCorrupt, `"goo"`, nil},
		{"mip: covered", patched(t, goldenMIP, 0x28+60, 2), profile.ErrCorrupt, "IsCovered is 2, want 0 or 1", nil},
		{"mip: call edges", patched(t, goldenMIP, 0x28+61, 0xff), profile.ErrTruncated, "CallEdgeCount is 255", nil},
		{"mip: trailing bytes", append(unhex(t, goldenMIP), 0), profile.ErrCorrupt, "end of the file is 1 bytes later", nil},
		{"mip: raw offset", patched(t, goldenMIP, 0x33, 0x80), profile.ErrCorrupt, "RawProfileDataOffset is 0x80000020, want at least 0x18", nil},
	} {
		_, err := Read("f", tt.data, nil)
		wantRejected(t, tt.name, err, tt.class, tt.says, tt.llvm)
	}
}

// TestRejectedRaw: raw profiles that do not belong to the map.
func TestRejectedRaw(t *testing.T) {
	base := read(t, unhex(t, goldenMap))
	counts := base.clone()
	counts.Type = callGraph
	counts.Functions[1].RawOffset = 0x28
	countsRaw := append(patched(t, goldenRaw, 8, 0xc)[:32], 1, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0)
	low := base.clone()
	low.Functions[0].RawOffset = headerSizeA
	for _, tt := range []struct {
		name  string
		base  *Profile
		data  []byte
		class error
		says  string
		llvm  []string
	}{
		{
			"not a raw profile", base, unhex(t, goldenMap), profile.ErrMismatch, "FileType is .mipmap, want .mipraw",
			[]string{"f: Invalid file type\nExpected: 1\n     Got: 14"},
		},
		{
			"module", base, patched(t, goldenRaw, 12, 0), profile.ErrMismatch, "ModuleHash is 0xdeadbe00, want 0xdeadbeef",
			[]string{"f: Invalid module hash", "Expected: 0xDEADBEEF", "     Got: 0xDEADBE00"},
		},
		{"type", base, patched(t, goldenRaw, 8, 3), profile.ErrMismatch, "ProfileType is Function Coverage, Block Coverage, want Function Coverage", nil},
		{
			"size", base, unhex(t, goldenRaw)[:33], profile.ErrTruncated, "end of the raw record of main is 0x22",
			[]string{"Raw profile offset too large", "Expected: < 21", "     Got:   21"},
		},
		{
			"mark", counts, countsRaw, profile.ErrCorrupt, "0xffffffff and 0x2",
			[]string{"Corrupt raw profile near offset 0x30"},
		},
		{"inside the header", low, unhex(t, goldenRaw), profile.ErrMismatch, "0x18", nil},
		{"empty", base, nil, profile.ErrEmpty, "0 bytes", nil},
	} {
		err := mergerOf(t, tt.base, nil).AddRaw("f", tt.data, 1)
		wantRejected(t, tt.name, err, tt.class, tt.says, tt.llvm)
	}
}

// wantRejected checks an error about file f, and the messages of the reference for it unless these are nil.
func wantRejected(t *testing.T, what string, err, class error, words string, llvm []string) {
	t.Helper()
	if fe := wantError(t, what, err, class, words); fe.File != "f" {
		t.Errorf("%s: file %q", what, fe.File)
	}
	if got := llvmerr.MIPMessages(err); llvm != nil && !slices.Equal(got, llvm) {
		t.Errorf("%s: messages %q, want %q", what, got, llvm)
	}
}

// TestLongRaw: a file longer than the records is merged with a warning, for it may be of another build.
func TestLongRaw(t *testing.T) {
	base := read(t, unhex(t, goldenMap))
	for more, want := range map[int]int{0: 0, 15: 0, 16: 1, 500: 1} {
		var warned []string
		m := mergerOf(t, base, &warned)
		if err := m.AddRaw("long", append(unhex(t, goldenRaw), make([]byte, more)...), 1); err != nil {
			t.Fatal(err)
		}
		if len(warned) != want {
			t.Errorf("%d bytes more: warnings %v", more, warned)
		}
		if want > 0 && !strings.Contains(warned[0], "long: ") {
			t.Errorf("warning %v", warned[0])
		}
		if got := yamlOf(t, m.Profile()); got != goldenYAML {
			t.Errorf("%d bytes more: %s", more, got)
		}
	}
}

// TestWarnings: what is odd but readable.
func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
		says string
	}{
		{"map", unhex(t, goldenMap), ""},
		{"raw", unhex(t, goldenRaw), ""},
		{"yaml", []byte(goldenYAML), ""},
		{"reserved", patched(t, goldenMap, 24, 1), "reserved bits is 0x1, want 0"},
		{"offset of the raw section", patched(t, goldenRaw, 16, 2), "reserved bits is 0x2, want 0"},
		{"upper half", patched(t, goldenMap, 6, 0x24), "reserved bits is 0xffffffff, want 0"},
		{"file type", []byte(strings.Replace(goldenYAML, "[ .mip ]", "[ .mipmap, 64 bit ]", 1)), "f: YAML line 3: File Type is 0x14, want [ .mip ]"},
	} {
		said := ""
		if _, err := NewReader("f", tt.data, func(w profile.Warning) { said += w.String() }); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if said == "" != (tt.says == "") || !strings.Contains(said, tt.says) {
			t.Errorf("%s: warned %q, want %q", tt.name, said, tt.says)
		}
	}
}

func TestStrings(t *testing.T) {
	for got, want := range map[string]string{
		ProfileType(0).String() + (FunctionCoverage | BlockCoverage).String():  "noneFunction Coverage, Block Coverage",
		(&llvmerr.MIPError{Code: llvmerr.MIPRawMismatch, Found: "20"}).Error(): "Corrupt raw profile near offset 0x20",
		(&llvmerr.MIPError{Code: llvmerr.MIPModuleHash, Found: "20"}).Error():  "Invalid module hash",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if m := llvmerr.MIPMessages(io.EOF); m != nil {
		t.Errorf("words for another error: %q", m)
	}
}
