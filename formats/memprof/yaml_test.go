package memprof

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const siteDoc = `---
HeapProfileRecords:
  - GUID: GUID_
    AllocSites:
      - Callstack:
          - { Function: FUNCTION_, LineOffset: LINE_, Column: 2, IsInlineFrame: INLINE_ }
        MemInfoBlock:
          AllocCount: COUNT_
`

// site returns siteDoc with placeholders replaced, in pairs of name and value.
func site(values ...string) string {
	values = append(values, "GUID_", "0x1", "FUNCTION_", "0x2", "LINE_", "3", "INLINE_", "false", "COUNT_", "4")
	return strings.NewReplacer(values...).Replace(siteDoc)
}

// yamlDocs are documents with their error, "" for none, as in LLVM unless differs says why not.
var yamlDocs = []struct{ name, doc, want, differs string }{
	{"plain", site(), "", ""},
	{"GUID in capitals", site("GUID_", "0XABCDEF"), "", ""},
	{"names", site("GUID_", "main", "FUNCTION_", "_Z1f.llvm.123"), "", ""},
	{"name that begins with digits", site("FUNCTION_", "12ab"), "", ""},
	{"quoted name", site("FUNCTION_", "'operator new'"), "", ""},
	{"GUID in decimal", site("GUID_", "12"), `line 3 (record 0): GUID is "12", want a GUID in hexadecimal or a function's name: corrupt`, ""},
	{"GUID too long", site("GUID_", "0x12345678901234567"), `want 0x and at most 16 hexadecimal digits`, ""},
	{"GUID of no digits", site("GUID_", "0xg"), `GUID is "0xg"`, ""},
	{"line in hexadecimal", site("LINE_", "0x10"), "", ""},
	{"line too large", site("LINE_", "4294967296"), `LineOffset is "4294967296", want a number of at most 32 bits`, ""},
	{"line below zero", site("LINE_", "-1"), `LineOffset is "-1"`, ""},
	{"no bool", site("INLINE_", "2"), `IsInlineFrame is "2", want true or false`, ""},
	{"count of more bits", site("COUNT_", "0x100000001"), "", ""},
	{"count too large", site("COUNT_", "18446744073709551616"), `AllocCount is "18446744073709551616", want a number of at most 64 bits`, ""},
	{"unknown field", strings.Replace(site(), "AllocCount", "Allocs", 1), `key of MemInfoBlock is "Allocs", want the name of a field`, ""},
	{"unknown key", strings.Replace(site(), "GUID", "Guid", 1), `key is "Guid", want one of GUID, AllocSites, CallSites`, ""},
	{"unknown key at the top", "---\nHeapProfile: []\n", `key is "HeapProfile", want one of`, ""},
	{"no GUID", "---\nHeapProfileRecords:\n  - CallSites: []\n", `line 3 (record 0): key GUID is missing`, ""},
	{"no stack", "---\nHeapProfileRecords:\n  - GUID: f\n    AllocSites:\n      - MemInfoBlock: {}\n", "key Callstack is missing", ""},
	{"no MIB", "---\nHeapProfileRecords:\n  - GUID: f\n    AllocSites:\n      - Callstack: []\n", "key MemInfoBlock is missing", ""},
	{"frame without column", "---\nHeapProfileRecords:\n  - GUID: f\n    CallSites:\n      - Frames: [{Function: f, LineOffset: 1, IsInlineFrame: true}]\n", "key Column is missing", ""},
	{"flow style", "---\n{ HeapProfileRecords: [ { GUID: f, AllocSites: [ { Callstack: [], MemInfoBlock: { TotalSize: 1 } } ] } ] }\n", "", ""},
	{"record without sites", "---\nHeapProfileRecords:\n  - GUID: f\n", "", ""},
	{"key twice", "---\nHeapProfileRecords:\n  - GUID: f\n    GUID: g\n", `key is "GUID", want each key once`, ""},
	{"nothing", "---\n...\n", "document is without records", ""},
	{"nothing in braces", "---\n{}\n", "empty profile file", ""},
	{"empty list", "---\nHeapProfileRecords: []\n", "empty profile file", ""},
	{"data", "---\nDataAccessProfiles:\n  KnownColdStrHashes: [ 7, 7 ]\n  KnownColdSymbols: [ a, a.llvm.1 ]\n", "", ""},
	{"data of a symbol twice", "---\nDataAccessProfiles:\n  SampledRecords:\n    - { Symbol: a, AccessCount: 1 }\n    - { Symbol: a, AccessCount: 2 }\n", "data-access record of is a again", ""},
	{"data without count", "---\nDataAccessProfiles:\n  SampledRecords:\n    - { Symbol: a }\n", "key AccessCount is missing", ""},
	{"data of nothing", "---\nDataAccessProfiles:\n  SampledRecords:\n    - { AccessCount: 1 }\n", "without Symbol and Hash", "LLVM takes it for the hash 0"},
	{"empty file name", "---\nDataAccessProfiles:\n  SampledRecords:\n    - { Hash: 1, AccessCount: 1, Locations: [ { FileName: '', Line: 1 }, { FileName: x, Line: 1 } ] }\n", "", ""},
	{"empty cold symbol", "---\nDataAccessProfiles:\n  KnownColdSymbols: [ a, '' ]\n", "cold symbol is empty", ""},
	{"separator in a symbol", "---\nDataAccessProfiles:\n  KnownColdSymbols: [ \"a\\x01b\" ]\n", `cold symbol is "a\x01b", want no byte 0x01`, "LLVM writes a file that says something else"},
	{"anchor", "---\nHeapProfileRecords: &a []\n", `value is "&a []", want a sequence`, ""},
	{"two documents", site() + site(), "nothing after the end of the document", "LLVM reads the first"},
	{"no YAML", "---\n]", "corrupt", ""},
}

// TestYAMLDocuments: what is refused, and that LLVM judges alike.
func TestYAMLDocuments(t *testing.T) {
	tool := oracle.LLVM(t, 22)
	for _, c := range yamlDocs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadYAML("doc", []byte(c.doc))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var fe *profile.FormatError
			if err != nil && (!errors.As(err, &fe) || fe.File != "doc") {
				t.Errorf("%v is no FormatError with its file", err)
			}
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.yaml"), filepath.Join(dir, "out.profdata")
			oracle.WriteFile(t, in, []byte(c.doc))
			_, stderr, code := oracle.Run(t, tool, "merge", "--memprof-version=4", "--memprof-full-schema", in, "-o", out)
			if alike := (code == 0) == (c.want == ""); alike != (c.differs == "") {
				t.Errorf("LLVM exits %d: %s; differs: %q", code, stderr, c.differs)
			}
			if code == 0 && c.want == "" {
				compareSections(t, tool, oracle.ReadFile(t, out), []byte(c.doc), WriteOptions{Version: 4, Schema: FullSchema})
			}
		})
	}
}

// TestYAMLUnitesRecords: records of one function, which LLVM keeps the first of, become one.
func TestYAMLUnitesRecords(t *testing.T) {
	_, first, _ := strings.Cut(site("GUID_", "f"), "HeapProfileRecords:\n")
	p := readYAML(t, []byte("---\nHeapProfileRecords:\n"+first+strings.Replace(first, "AllocCount: 4", "TotalSize: 5", 1)))
	if len(p.Records) != 1 || len(p.Records[0].AllocSites) != 2 || p.Names[guidOf("f")] != "f" {
		t.Errorf("records %+v, names %v", p.Records, p.Names)
	}
}

// TestYAMLQuotes: strings are quoted as LLVM does.
func TestYAMLQuotes(t *testing.T) {
	tool := oracle.LLVM(t, 22)
	p := &Profile{DataAccess: &DataAccess{Records: []DataAccessRecord{{Hash: 1}}}}
	for _, s := range []string{
		"a b", " a", "a ", "a:", "it's", `a"b`, "~", "null", "true", "yes", "12", "1.5e3", "+1", ".inf", "0x1f", "0o7", "-x", "?x", "[a]",
		"a#b", `a\b`, "a/b-c_d^e.f,g", "ü", "tab\there", "line\nend", "<x>", "a@b", "a$b", `C:\x`, "\x02\x7f", "\u2028", "€", "a\xffb",
	} {
		p.DataAccess.Records[0].Locations = append(p.DataAccess.Records[0].Locations, SourceLocation{s, 1})
	}
	empty := llvmMerge(t, tool, []byte("---\nDataAccessProfiles:\n  KnownColdStrHashes: [ 1 ]\n"), "--memprof-version=4")
	start, end := sectionOf(t, empty)
	file := append(bytes.Clone(empty[:start]), writeSection(t, p, WriteOptions{Version: 4}, start)...)
	le.PutUint64(file[48:], uint64(len(file)))
	le.PutUint64(file[64:], uint64(len(file))+uint64(le.Uint64(empty[64:])-uint64(end)))
	file = append(file, empty[end:]...)
	compareShow(t, tool, file)
}
