package profdata

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// heapFiles are the MemProf fixtures by short names, and files made of them.
func heapFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "testdata", "memprof", "raw")
	files := make(map[string]string)
	read := func(name string) string {
		b := oracle.ReadFile(t, filepath.Join(dir, name))
		return string(b)
	}
	for short, name := range map[string]string{
		"p": "clang22-pie", "d": "clang22-dumps", "h": "clang22-histogram", "l": "clang22-pie-lld",
		"gz": "clang22-fixed-gz", "min": "clang22-lines-only", "split": "clang22-split", "lib": "clang22-library",
		"four": "clang19-pie", "fixed": "clang19-fixed-dwarf4",
	} {
		files[short+".raw"] = read(name + ".memprofraw")
		files[short+".bin"] = read(name + ".debug")
		files[short+".idx"] = read(name + ".profdata")
	}
	files["split.bin.dwp"] = read("clang22-split.debug.dwp")
	files["other.bin"] = read("clang22-library-list.debug")
	files["two.raw"] = read("clang16-fixed.memprofraw")
	files["two.bin"] = read("clang16-fixed.debug")
	files["zero.idx"] = read("clang16-fixed.profdata")
	files["dir/x"] = ""
	files["cut.raw"] = files["p.raw"][:3000]
	files["short.raw"] = files["p.raw"][:40]
	files["magic.raw"] = files["p.raw"][:8]
	files["cut.bin"] = files["p.bin"][:3000]
	files["slack.raw"] = files["p.raw"] + "\x00\x00\x00\x00\x00\x00\x00\x00"
	files["nonsense.raw"] = files["p.raw"][:16] + "\x31\x00\x00\x00\x00\x00\x00\x00" + files["p.raw"][24:]

	t.Chdir(t.TempDir())
	writeFiles(t, ".", files)
	for _, name := range []string{"p", "d"} {
		if got := runMain(t, "", []string{"show", "--memory", name + ".idx"}); got.code != 0 {
			t.Fatal(got.stderr)
		} else {
			files[name+".yaml"] = got.stdout
		}
	}
	files["data.yaml"] = `---
HeapProfileRecords:
  - GUID:            main
    AllocSites:
      - Callstack:
          - { Function: _Znwm, LineOffset: 1, Column: 2, IsInlineFrame: true }
          - { Function: main, LineOffset: 7, Column: 5, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount:      3
          TotalSize:       400
          TotalLifetime:   900000
          TotalLifetimeAccessDensity: 2
    CallSites:
      - Frames:
          - { Function: main, LineOffset: 9, Column: 1, IsInlineFrame: false }
        CalleeGuids:     [ 0x123, _Z1fv ]
DataAccessProfiles:
  SampledRecords:
    - Symbol:          abc
      AccessCount:     100
    - Hash:            85
      AccessCount:     7
  KnownColdSymbols:
    - bar
  KnownColdStrHashes: [ 999, 1001 ]
...
`
	files["none.yaml"], files["nothing.yaml"] = "---\n", "---\n{}\n...\n"
	files["bad.yaml"] = "---\nHeapProfileRecords:\n  - GUID: main\n    Foo: 1\n...\n"
	for name, text := range textFiles {
		files[name] = text
	}
	return files
}

const (
	ownYAMLWords    = "stderr: our words for what is wrong with the YAML, and where"
	mergedContexts  = "file: llvm-profdata drops inputs, or appends instead of adding up"
	emptySection    = "file: llvm-profdata drops the section of an indexed input"
	weightOfHeaps   = "file: llvm-profdata ignores the weight"
	headerBeyond    = "stderr: llvm-profdata takes what is no dump for one of an unknown version"
	olderVersion    = "exit code, file, stderr: llvm-profdata 22 does not read this version"
	histogramMoment = "file: llvm-profdata writes an address of its own memory"
)

func TestMergeMemProf(t *testing.T) {
	files := heapFiles(t)
	var rows []row
	for _, name := range []string{"p", "d", "l", "gz", "min", "split", "lib", "four", "fixed", "h"} {
		rows = append(rows, row{args: fmt.Sprintf("merge -o out --profiled-binary=%s.bin %[1]s.raw", name)})
	}
	for _, option := range []string{
		"-memprof-version=2", "-memprof-version=3", "-memprof-version=4", "-memprof-version 4", "-memprof-full-schema",
		"-memprof-full-schema -memprof-version=2", "-memprof-full-schema -memprof-version=4", "-write-prev-version",
		"-memprof-random-hotness -memprof-random-hotness-seed=5", "-memprof-random-hotness -memprof-random-hotness-seed=1730170724 -memprof-version=4",
		"-memprof-random-hotness -memprof-random-hotness-seed=4294967295 -memprof-full-schema -j 2",
		"-memprof-random-hotness-seed=3", "-j 1", "-j 4", "-sparse", "-failure-mode=all",
	} {
		rows = append(rows,
			row{args: "merge -o out --profiled-binary=d.bin " + option + " d.raw"},
			row{args: "merge -o out " + option + " d.yaml"},
		)
	}
	rows = append(rows, []row{
		{args: "merge -o out -memprof-version=4 data.yaml", differs: "file: strings are compressed by another zlib"},
		{args: "merge -o out data.yaml"},
		{args: "merge -o out -memprof-version=2 -memprof-full-schema data.yaml"},
		{args: "merge -o out h.raw --profiled-binary=h.bin -memprof-full-schema", differs: histogramMoment},

		// Beside counters.
		{args: "merge -o out --profiled-binary=p.bin ir p.raw"},
		{args: "merge -o out --profiled-binary=p.bin -j 1 a p.raw b"},
		{args: "merge -o out --profiled-binary=p.bin -j 3 p.raw values cs"},
		{args: "merge -o out -sparse p.yaml zero hot"},
		{args: "merge -o out --profiled-binary=p.bin -function=f p.raw hot"},
		{args: "merge -o out --profiled-binary=p.bin -j 1 fe p.raw"},
		{args: "merge -o out --profiled-binary=p.bin -j 1 p.raw fe"},
		{args: "merge -o out --profiled-binary=p.bin -j 2 fe p.raw"},
		{args: "merge -o out --profiled-binary=p.bin -j 2 p.raw fe"},
		{args: "merge -o out --profiled-binary=p.bin -j 1 -failure-mode=warn fe p.raw"},
		{args: "merge -o out -j 1 fe p.yaml"},
		{args: "merge -o out -j 1 p.yaml fe"},
		{args: "merge -o out -j 1 fe p.idx"},
		{args: "merge -o out -j 1 p.idx fe"},
		{args: "merge -text --profiled-binary=p.bin p.raw"},
		{args: "merge -text --profiled-binary=p.bin p.raw ir"},
		{args: "merge -text data.yaml"},
		{args: "merge -gcc p.yaml"},

		// What it takes, and what it says otherwise.
		{args: "merge -o out p.raw"},
		{args: "merge -o out -failure-mode=warn a p.raw"},
		{args: "merge -o out --profiled-binary= p.raw"},
		{args: "merge -o out --profiled-binary=nonesuch p.raw"},
		{args: "merge -o out --profiled-binary=p.raw p.raw"},
		{args: "merge -o out --profiled-binary=dir p.raw"},
		{args: "merge -o out --profiled-binary=other.bin p.raw"},
		{args: "merge -o out --profiled-binary=cut.bin p.raw", differs: "stderr: our words for a damaged program"},
		{args: "merge -o out --profiled-binary=nonesuch a"},
		{args: "merge -o out --profiled-binary=p.bin cut.raw"},
		{args: "merge -o out --profiled-binary=p.bin short.raw"},
		{args: "merge -o out --profiled-binary=p.bin magic.raw"},
		{args: "merge -o out --profiled-binary=p.bin slack.raw", differs: headerBeyond},
		{args: "merge -o out --profiled-binary=p.bin nonsense.raw", differs: headerBeyond},
		{args: "merge -o out --profiled-binary=p.bin -j 1 -failure-mode=warn junk cut.raw a"},
		{args: "merge -o out --profiled-binary=p.bin -j 1 other cut.raw a"},
		{args: "merge -o out -failure-mode=all junk p.yaml"},
		{args: "merge -o out -memprof-version=1 p.yaml"},
		{args: "merge -o out -memprof-version= p.yaml"},
		{args: "merge -o out --keep-symbols p.yaml"}, // there is none
		{args: "merge -o out -memprof-random-hotness -memprof-random-hotness-seed=9 a"},
		{args: "merge -o out -memprof-random-hotness-seed=x a"},
		{args: "merge -o out none.yaml"},
		{args: "merge -o out nothing.yaml"},
		{args: "merge -o out -failure-mode=warn nothing.yaml a", differs: "file: llvm-profdata writes an empty section"},
		{args: "merge -o out bad.yaml", differs: ownYAMLWords},
		{args: "merge -o out -j 1 -failure-mode=warn bad.yaml p.yaml", differs: ownYAMLWords},
		{args: "merge -dump-input-file-list -weighted-input=4,p.raw p.yaml"},

		// Better than the original.
		{args: "merge -o out p.idx", differs: emptySection},
		{args: "merge -o out p.idx a", differs: emptySection},
		{args: "merge -o out zero.idx", differs: olderVersion},
		{args: "merge -o out --profiled-binary=two.bin two.raw", differs: olderVersion},
		{args: "merge -o out -j 1 d.yaml p.yaml", differs: mergedContexts},
		{args: "merge -o out -j 2 --profiled-binary=p.bin p.raw p.raw", differs: mergedContexts},
		{args: "merge -o out --profiled-binary=p.bin -weighted-input=3,p.raw", differs: weightOfHeaps},
	}...)
	compareRows(t, files, rows)
}

func TestShowMemProf(t *testing.T) {
	files := heapFiles(t)
	var rows []row
	for _, name := range []string{"p", "d", "l", "gz", "min", "split", "lib", "four", "fixed"} {
		rows = append(rows,
			row{args: fmt.Sprintf("show --memory --profiled-binary=%s.bin %[1]s.raw", name)},
			row{args: "show --memory " + name + ".idx"},
		)
	}
	rows = append(rows, []row{
		{args: "show -memory -o out p.idx"},
		{args: "show --memory --profiled-binary p.bin p.raw -o out"},
		{args: "show --memory --profiled-binary=h.bin h.raw", differs: "stdout: llvm-profdata prints an address of its own memory"},
		{args: "show --memory p.idx -show-format=yaml"},
		{args: "show --memory p.idx -show-format=text -text -counts -all-functions"},
		{args: "show --memory p.idx -json"},
		{args: "show --memory p.raw -show-format=json"},
		{args: "show --memory p.raw"},
		{args: "show --memory --profiled-binary=nonesuch p.raw"},
		{args: "show --memory --profiled-binary=p.raw p.raw"},
		{args: "show --memory --profiled-binary=dir p.raw"},
		{args: "show --memory --profiled-binary=other.bin p.raw"},
		{args: "show --memory --profiled-binary=p.bin cut.raw"},
		{args: "show --memory --profiled-binary=p.bin short.raw"},
		{args: "show --memory --profiled-binary=p.bin magic.raw"},
		{args: "show --memory --profiled-binary=p.bin slack.raw", differs: headerBeyond},
		{args: "show --memory p.yaml"},
		{args: "show --memory a"},
		{args: "show --memory junk"},
		{args: "show --memory empty"},
		{args: "show --memory nonesuch"},
		{args: "show --memory dir"},
		{args: "show --memory"},
		{args: "show p.idx"},
		{args: "show -counts p.raw"},
		{args: "show p.yaml"},
		{args: "show -profile-version p.idx"},
		{args: "show --memory zero.idx", differs: "exit code, stderr, stdout: llvm-profdata 22 does not read this version"},
		{args: "show --memory --profiled-binary=two.bin two.raw", differs: "exit code, stderr, stdout: llvm-profdata 22 does not read this version"},
	}...)
	compareRows(t, files, rows)
}

// TestMemProfBeyond pins what is said that LLVM does not say, and what is refused in its stead.
func TestMemProfBeyond(t *testing.T) {
	files := heapFiles(t)
	writeFiles(t, ".", files)
	for _, c := range []struct {
		args string
		code int
		want string // begins stderr
	}{
		{"merge -text data.yaml", 0, "warning: text has no place for memory profiles: it is left out\n"},
		{"merge -o out data.yaml", 0, "warning: version 3 of the memprof section cannot hold data-access profile: left out\n" +
			"warning: version 3 of the memprof section cannot hold callees of call sites: left out\n"},
		{"merge -o out -memprof-version=4 data.yaml", 0, ""},
		{"merge -o out bad.yaml", 1, "warning: bad.yaml: "},
		{"merge -o out p.idx", 0, ""},
		{"show --memory ir", 1, "error: ir: invalid instrumentation profile data (bad magic)\n"},
	} {
		got := runMain(t, "", strings.Fields(c.args))
		if got.code != c.code || !strings.HasPrefix(got.stderr, c.want) || c.want == "" && got.stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q, want %d, %q", c.args, got.code, got.stderr, c.code, c.want)
		}
	}
	if got := runMain(t, "", strings.Fields("merge -o out ir")); got.code != 0 {
		t.Fatal(got.stderr)
	}
	oracle.NoError(t, os.Rename("out", "counters"))
	if got := runMain(t, "", strings.Fields("show --memory counters")); got.code != 1 || got.stderr != "error: counters: the profile has no memprof section\n" {
		t.Errorf("a profile without section: %+v", got)
	}
}
