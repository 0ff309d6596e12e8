package formats_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/profuse-pgo/profuse/formats"
	errs "github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWrongFormat: files that people give to a tool for profiles by mistake.
func TestWrongFormat(t *testing.T) {
	pprof, err := pprofOf()
	oracle.NoError(t, err)
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		program = []byte("\x7fELF")
	}
	const page = "<!DOCTYPE html>\n<html><head>"
	for _, c := range []struct{ name, data, want string }{
		{"README.md", "# profuse\n\nprofuse merges profiles.\n", "text, not a profile"},
		{"k.c", "int main(void) {\n  return 0;\n}\n", "a source file (.c), not a profile; give profuse the profiles that the program writes"},
		{"a.tar!src/k.rs", "fn main() {\n}\n", "a source file (.rs), not"},
		{"k", "/* k */\n#include <stdio.h>\n", "a source file, not"},
		{"run", "#!/bin/sh\necho\n", "a script, not"},
		{"a.profraw", "  \n<html>\n", "a web page, not a profile; the download failed"},
		{"a.profraw", page, "a web page, not"},
		{"a.profdata", "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code>", "the error message of a server, not"},
		{"cobertura.xml", "<?xml version=\"1.0\" ?>\n<!DOCTYPE coverage>\n<coverage line-rate=\"1\">", "a coverage report in XML, not"},
		{"a.xml", "<?xml version=\"1.0\" ?>\n<a/>", "XML, not"},
		{"a.profraw", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "a pointer of Git LFS, not"},
		{"t.c.gcov", "        -:    0:Source:t.c\n", "an annotated source file of gcov, not"},
		{"t.json", "{\"gcc_version\": \"14\", \"format_version\": \"2\"}", "the JSON of gcov, not"},
		{"perf.data", "PERFFILE\x68\x00\x00\x00", "a recording of perf before Linux 2.6.32, not a profile"},
		{"perf.proto", "SIMPLEPERF\x01\x00", "a report of simpleperf, not a profile; give profuse the perf.data"},
		{"a.fdata", "1 main 3fb 0 /lib/ld.so 12 4 221\n1 main 3fb 1 main 12 4 221\n", "a profile of BOLT (.fdata), not one that profuse reads"},
		{"a.fdata", "no_lbr cycles:u:\n1 main 3fb 4\n", "a profile of BOLT (.fdata), not"},
		{"a.txt", "B 4b196f 4b19e0 2 0\nF 41be50 41be50 3\n", "a profile for BOLT (pre-aggregated), not one that profuse reads; perf2bolt"},
		{"a.txt", "E cycles:u\nS 1139 7\n", "a profile for BOLT (pre-aggregated), not"},
		{"a.txt", "T 3ff:4b196f X:4b19e0 4b19ef 2\n", "a profile for BOLT (pre-aggregated), not"},
		{"a.yaml", "---\nheader:\n  profile-version: 1\n", "a profile of BOLT in YAML, not"},
		{"a.yaml", "---\nversion: 3\nservices:\n", "YAML, not"},
		{"a.covmapping", "llvmcovm\x01\x00\x00\x00\x00\x00\x00\x00", "a coverage mapping for tests of LLVM (.covmapping), not"},
		{"a.txt", "v1\nf main\nc 0 1 2\n", "a list of Propeller, not a profile; clang reads it"},
		{"a.txt", "v1\n# comment\nm a.c\nf f\n", "a list of Propeller, not"},
		{"a.txt", "!main/start\n!!0 1 2\n", "a list of Propeller, not"},
		{"a.txt", "0\n2\n1010:5\n1030:7\n0\n", "counts of addresses for AutoFDO, not a profile; create_llvm_prof"},
		{"a.diff", "--- a/k.c\n+++ b/k.c\n", "a patch, not"},
		{"cpu.pprof", string(pprof), "a profile of pprof, not one that profuse reads; \"go tool pprof\""},
		{"cover.out", "mode: set\na.go:1.2,3.4 1 0\n", "a coverage profile of Go, not"},
		{"a.info", "# lcov\nTN:\nSF:k.c\n", "a tracefile of lcov, not a profile; \"profuse coverage\" reads it"},
		{"a.json", "{\"data\":[],\"type\":\"llvm.coverage.json.export\"}", "the JSON of \"llvm-cov export\", not"},
		{"a.json", "[{\"directory\":\"/x\"}]", "a compilation database, not"},
		{"a.json", "[\n  {\n    \"schema\": \"profuse-show\",", "JSON that profuse wrote, not"},
		{"a.json", "{\n  \"name\": \"x\"\n}\n", "JSON, not"},
		{"a.folded", "main;work;malloc 12\nmain;work 7\n", "a file of folded stacks (for flame graphs), not"},
		{"callgrind.out.1", "version: 1\ncreator: callgrind-3.19\n", "a profile of callgrind, not"},
		{"a.ll", "; ModuleID = 'k.c'\n", "LLVM IR, not"},
		{"a.s", "\t.text\n\t.file\t\"k.c\"\n", "assembly text, not"},
		{"a.bc", "BC\xc0\xde\x35\x14", "LLVM bitcode, not"},
		{"a.a", "!<arch>\n/       ", "a static library, not"},
		{"a.class", "\xca\xfe\xba\xbe\x00\x00\x00\x41", "a Java class file, not a profile; --classes takes it"},
		{"a.zip", "PK\x03\x04\x14\x00", "a zip archive, not"},
		{"a.xz", "\xfd7zXZ\x00\x00\x04", "a file packed with xz, not"},
		{"a.proftext", "\xff\xfe:\x00i\x00r\x00", "text in UTF-16, not a profile; a shell wrote it"},
		{"a.proftext", "main\nnot a number\n", "text, not a profile; it is named like an IRPGO text profile, but does not begin like one"},
		{"a.profraw", strings.Repeat("\x00", 100), "nothing but zero bytes, not a profile; the file was allocated"},
		{"a.profraw", "\xffzprofr\x81\x0a", "data of an unknown kind, which begins with ff 7a 70 72 6f 66 72 81, not a profile; it is named like an IRPGO raw profile"},
		{"a.bin", "\x01\x02", "data of an unknown kind, which begins with 01 02, not"},
		{"a", string(program), " program"},
		{"a.mip", ":ir\n", "an IRPGO text profile, not a profile"},
	} {
		err := formats.WrongFormat(c.name, []byte(c.data), "a profile")
		text, ok := strings.CutPrefix(err.Error(), c.name+": this is ")
		if !ok || !strings.HasPrefix(text, c.want) && !strings.Contains(text[:min(len(text), 30)], c.want) {
			t.Errorf("%s\nwant %q", err, c.want)
		}
		if class := errs.ClassOf(err); class != errs.ErrUnrecognized && c.name != "a.mip" {
			t.Errorf("%s: %s", c.name, class)
		}
		if f, ok := formats.Detect([]byte(c.data)); ok && !f.IsProgram() && c.name != "a.mip" {
			t.Errorf("%s is taken for a %v", c.name, f)
		}
	}
	if err := formats.WrongFormat("a", nil, "a profile"); errs.ClassOf(err) != errs.ErrEmpty {
		t.Error(err)
	}
}

// pprofOf returns a small profile as pprof has it, not compressed.
func pprofOf() ([]byte, error) {
	var b strings.Builder
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
		Sample:     []*profile.Sample{{Value: []int64{1}, Location: []*profile.Location{{ID: 1}}}},
		Location:   []*profile.Location{{ID: 1, Address: 0x1000}}, TimeNanos: 1e18,
	}
	err := p.WriteUncompressed(&b)
	return []byte(b.String()), err
}

// TestWrongFormatBounded: only the first bytes of a file are looked at.
func TestWrongFormatBounded(t *testing.T) {
	long := []byte(strings.Repeat("a word and another\n", 1<<16))
	data := append(long[:len(long):len(long)], "\x00\x00\x00\x00"...)
	if a, b := formats.WrongFormat("a", long, "a profile"), formats.WrongFormat("a", data, "a profile"); a.Error() != b.Error() {
		t.Errorf("%v\n%v", a, b)
	}
}
