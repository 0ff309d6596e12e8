package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// otherHead is how many bytes at the beginning of a file [identify] looks at.
const otherHead = 1 << 16

// WrongFormat returns the error that a file is not what the caller wants, such as "a profile". The error says what
// the file is, judged by its first bytes and its name, and what its owner may have meant.
func WrongFormat(name string, data []byte, want string) error {
	at := flaw.File(name)
	f, ok := Detect(data)
	switch {
	case len(data) == 0:
		hint := ""
		if strings.HasSuffix(name, ".imports") {
			hint = "AutoFDO writes this file beside a profile: it is for the build, and often empty"
		}
		return at.Field("size").Got("0 bytes").Want(want).Hint(hint).Empty()
	case f.IsProgram():
		o := otherImage(name, data)
		return at.Field("format").Got(o.what).Want(want).Hint(o.hint).Unrecognized()
	case ok:
		hint := ""
		if f.IsRecording() || f == SampleSums {
			hint = hintSums
		}
		return at.Field("format").Got(withArticle(f.String())).Want(want).Hint(hint).Mismatch()
	}
	o := identify(name, data[:min(len(data), otherHead)])
	if want == "a profile" && strings.Contains(o.what, want) {
		want = "one that profuse reads"
	}
	return at.Field("format").Got(o.what).Want(want).Hint(o.hint).Unrecognized()
}

// withArticle returns "an ELF program" for "ELF program". "… data" and "… data as text" have no article.
func withArticle(noun string) string {
	if thing, _, _ := strings.Cut(noun, " as "); strings.HasSuffix(thing, " data") {
		return noun
	}
	if strings.ContainsRune("AEIOaeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// An other is a kind of file that is no profile but is often found among profiles.
type other struct {
	magic string // first bytes of the file
	what  string // "a recording of perf"
	hint  string // what its owner may have meant; may be empty
}

// Hints that several kinds have in common.
const (
	hintUnpack   = "profuse opens gzip, zstd, tar and zip: unpack it first"
	hintTrace    = "lcov or gcovr make a tracefile of it, which \"profuse coverage\" reads"
	hintCoverage = "of coverage, profuse reads tracefiles of lcov"
	hintBOLT     = "merge-fdata and llvm-bolt read it"
	hintDownload = "the download failed, or asked for a login"
	hintProgram  = "give profuse the profiles that the program writes when it runs"
	hintSums     = `"profuse merge --program PROGRAM" makes a sample profile of it`
	hintShell    = "a shell wrote it: have the tool write its output itself (-o)"
)

// debianPackage is the beginning of a package, which is an archive like a static library.
const debianPackage = "!<arch>\ndebian-binary"

// magics lists files that begin with fixed bytes. The first match counts, so longer beginnings come
// before shorter ones: a Debian package is also a static library.
var magics = []other{
	{"llvmcovm", "a coverage mapping for tests of LLVM (.covmapping)", "\"profuse llvm-cov\" reads it in place of a program"},
	{"PERFFILE", "a recording of perf before Linux 2.6.32", ""},
	{"SIMPLEPERF", "a report of simpleperf", "give profuse the perf.data that simpleperf record writes"},
	{"BC\xc0\xde", "LLVM bitcode", hintProgram},
	{"\xde\xc0\x17\x0b", "LLVM bitcode", hintProgram},
	{"CPCH", "a precompiled header of clang", hintProgram},
	{debianPackage, "a package of Debian", ""},
	{"!<arch>\n", "a static library", hintProgram},
	{"!<thin>\n", "a static library", hintProgram},
	{"\xca\xfe\xba\xbe", "a Java class file", "--classes takes it"},
	{"rust\x00\x00\x00", "metadata of rustc (.rmeta)", hintProgram},
	{"gmon", "a profile of gprof (gmon.out)", ""},
	{"boltedcollection", "a profile of BOLT (.fdata)", hintBOLT},
	{"no_lbr", "a profile of BOLT (.fdata)", hintBOLT},
	{"\x01\xc0\xc0", "execution data of JaCoCo", ""},
	{"FLR\x00", "a recording of Java Flight Recorder", ""},
	{"JAVA PROFILE", "a heap dump of a Java VM", ""},
	{"\x00cvm", "coverage data of Go", "\"go tool covdata textfmt\" makes text of it"},
	{"\x00cwm", "coverage data of Go", "\"go tool covdata textfmt\" makes text of it"},
	{"mode: set\n", "a coverage profile of Go", ""},
	{"mode: count\n", "a coverage profile of Go", ""},
	{"mode: atomic\n", "a coverage profile of Go", ""},
	{"heap profile:", "a heap profile of gperftools", ""},
	{"# callgrind format", "a profile of callgrind", ""},
	{"\x64\xff\xff\xff\xff\xff\xbf\xc0", "coverage of a sanitizer (.sancov)", "sancov reads it"},
	{"\x32\xff\xff\xff\xff\xff\xbf\xc0", "coverage of a sanitizer (.sancov)", "sancov reads it"},
	{"REMARKS\x00", "optimization remarks of LLVM", "llvm-remarkutil and opt-viewer read it"},
	{"RMRK", "optimization remarks of LLVM", "llvm-remarkutil and opt-viewer read it"},
	{"--- !", "YAML of LLVM, such as optimization remarks", ""},
	{"MDMP", "a minidump of a crash", ""},
	{"Microsoft C/C++ MSF 7.00", "debug information or a profile of MSVC (.pdb, .pgd)", ""},
	{"version https://git-lfs.github.com", "a pointer of Git LFS", "\"git lfs pull\" fetches the file"},
	{"PK\x03\x04", "a zip archive", ""},
	{"PK\x05\x06", "a zip archive without files", ""},
	{"\xfd7zXZ\x00", "a file packed with xz", hintUnpack},
	{"BZh", "a file packed with bzip2", hintUnpack},
	{"\x04\x22\x4d\x18", "a file packed with lz4", hintUnpack},
	{"LZIP", "a file packed with lzip", hintUnpack},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", hintUnpack},
	{"Rar!", "a RAR archive", hintUnpack},
	{"\xed\xab\xee\xdb", "an RPM package", ""},
	{"SQLite format 3", "an SQLite database", ""},
	{"%PDF-", "a PDF document", ""},
	{"\x89PNG", "a picture", ""},
	{"\xff\xd8\xff", "a picture", ""},
	{"GIF8", "a picture", ""},
	{"\xff\xfe", "text in UTF-16", hintShell},
	{"\xfe\xff", "text in UTF-16", hintShell},
}

// A textKind is a kind of text that a pattern recognizes in the first lines.
type textKind struct {
	pattern *regexp.Regexp
	other
}

// textKinds returns the kinds in the order in which they are tried.
var textKinds = sync.OnceValue(func() []textKind {
	// What names a tool comes before what names only a syntax: coverage reports before XML, profiles of
	// BOLT before YAML.
	return []textKind{
		{regexp.MustCompile(`^(?i)<(!doctype html|html|head|body)\b`), other{what: "a web page", hint: hintDownload}},
		{regexp.MustCompile(`^<\?xml[^>]*>\s*<Error>`), other{what: "the error message of a server", hint: hintDownload}},
		{regexp.MustCompile(`^<\?xml[^>]*>[^{]{0,512}?<coverage\b`), other{what: "a coverage report in XML", hint: hintCoverage}},
		{regexp.MustCompile(`^<\?xml`), other{what: "XML"}},
		{regexp.MustCompile(`^[{\[][\s\S]*"type": ?"llvm\.coverage\.json\.export"`), other{what: "the JSON of \"llvm-cov export\"", hint: hintCoverage}},
		{regexp.MustCompile(`^\{[\s\S]*"gcc_version"`), other{what: "the JSON of gcov", hint: hintTrace}},
		{regexp.MustCompile(`^[{\[][\s\S]*"schema": ?"profuse-`), other{what: "JSON that profuse wrote", hint: "give profuse the profile that it is about"}},
		{regexp.MustCompile(`^[{\[][\s\S]*"traceEvents"`), other{what: "a trace of Chrome"}},
		{regexp.MustCompile(`^\{[\s\S]*"callFrame"`), other{what: "a CPU profile of V8"}},
		{regexp.MustCompile(`^\{[\s\S]*speedscope\.app/`), other{what: "a profile for speedscope", hint: "give profuse the profile that it was made of"}},
		{regexp.MustCompile(`^\[\s*\{\s*"(directory|command|file|arguments)"`), other{what: "a compilation database"}},
		{regexp.MustCompile(`^([{\[]\s*["\]}{\[]|\{\s*$)`), other{what: "JSON"}},
		{regexp.MustCompile(`^(diff |--- \S+.*\n\+\+\+ )`), other{what: "a patch"}},
		{regexp.MustCompile(`^---[\s\S]*\bprofile-version:`), other{what: "a profile of BOLT in YAML", hint: hintBOLT}},
		{regexp.MustCompile(`^v1\r?\n([#@][^\n]*\n)*[fm] \S|^([#@][^\n]*\n)*![^!\s][^\n]*\n!!\d`), other{what: "a list of Propeller", hint: "clang reads it with -fbasic-block-sections=list=FILE"}},
		{regexp.MustCompile(`^(\d+\r?\n[0-9a-f]+-|0\r?\n\d+\r?\n)[0-9a-f]+:\d+\r?\n`), other{what: "counts of addresses for AutoFDO", hint: "create_llvm_prof --profiler=text makes a sample profile of it"}},
		{regexp.MustCompile(`^---\s`), other{what: "YAML"}},
		{regexp.MustCompile(`^[0-4] \S+ [0-9a-f]+ [0-4] \S+ [0-9a-f]+ \d+ \d+\r?\n`), other{what: "a profile of BOLT (.fdata)", hint: hintBOLT}},
		{regexp.MustCompile(`^(E \S+\r?\n)?[BFfRrST] (\w*:)?[0-9a-f]+( (\w*:)?[0-9a-f]+){0,2}( \d+){1,2}\r?\n`), other{what: "a profile for BOLT (pre-aggregated)", hint: "perf2bolt and llvm-bolt read it with -pa"}},
		{regexp.MustCompile(`^ +-: +0:Source:`), other{what: "an annotated source file of gcov", hint: hintTrace}},
		{regexp.MustCompile(`^((version: \d+\s+)?creator: callgrind|events: )`), other{what: "a profile of callgrind"}},
		{regexp.MustCompile(`^[^\s;]+(;[^\r\n;]+)+ \d+\r?\n`), other{what: "a file of folded stacks (for flame graphs)"}},
		{regexp.MustCompile(`^(; ModuleID|source_filename = )`), other{what: "LLVM IR", hint: hintProgram}},
		{regexp.MustCompile(`^\s*(\.(text|file|section|build_version|globl)\b)`), other{what: "assembly text", hint: hintProgram}},
		{regexp.MustCompile(`^#!`), other{what: "a script"}},
		{regexp.MustCompile(`^[0-9a-f]{64} [ *]`), other{what: "a list of checksums"}},
		{regexp.MustCompile(`(?m)^\s*#\s*include\s*[<"]`), other{what: "a source file", hint: hintProgram}},
	}
})

// sourceSuffixes matches the names of source files and of related texts.
var sourceSuffixes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\.(c|h|cc|hh|cpp|hpp|cxx|hxx|inc|inl|m|mm|rs|swift|go|java|kt|scala|py|pl|js|ts|zig|d|f|f90|s|asm|td|proto)$`)
})

// identify says what a file is, if not a profile, by its first bytes and its name.
func identify(name string, head []byte) other {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m
		}
	}
	switch {
	case len(bytes.Trim(head, "\x00")) == 0:
		return other{what: "nothing but zero bytes", hint: "the file was allocated, but the system stopped before the data reached the disk"}
	case isPprof(head):
		return other{what: "a profile of pprof", hint: "\"go tool pprof\" reads it, and \"profuse export\" writes such profiles"}
	case !isText(head):
		return unknownBytes(name, head)
	case coverage.IsLCOV(head):
		return other{what: "a tracefile of lcov", hint: "\"profuse coverage\" reads it"}
	}
	// Editors on Windows begin UTF-8 with a byte order mark.
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	for _, k := range textKinds() {
		if k.pattern.Match(text) || k.pattern.Match(head) {
			return k.other
		}
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if sourceSuffixes().MatchString(name) {
		return other{what: fmt.Sprintf("a source file (%s)", filepath.Ext(name)), hint: hintProgram}
	}
	if f, ok := BySuffix(name); ok {
		return other{what: "text", hint: fmt.Sprintf("it is named like %s, but does not begin like one", withArticle(f.String()))}
	}
	return other{what: "text"}
}

// unknownBytes describes binary data of no known kind.
func unknownBytes(name string, head []byte) other {
	o := other{what: fmt.Sprintf("data of an unknown kind, which begins with % x", head[:min(len(head), 8)])}
	if f, ok := BySuffix(name); ok {
		o.hint = fmt.Sprintf("it is named like %s: its beginning may be damaged", withArticle(f.String()))
	}
	return o
}

// isText reports whether head is text in UTF-8, or in a code that extends ASCII and begins with it.
func isText(head []byte) bool {
	other := func(r rune) bool { return r < ' ' && r != '\x1b' && (r < '\t' || r > '\r') }
	ascii := bytes.IndexFunc(head[:min(len(head), 8)], func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	return bytes.IndexFunc(head, other) < 0 && (ascii || utf8.Valid(head))
}

// isPprof reports whether head begins as a message of type perftools.profiles.Profile: its
// first fields have the numbers and types that profile.proto gives them.
func isPprof(head []byte) bool {
	const (
		varint    = 0
		delimited = 2
		enough    = 4 // fields
	)
	for n := 0; ; n++ {
		if n == enough || n > 0 && len(head) == 0 {
			return true
		}
		tag, size := binary.Uvarint(head)
		if size <= 0 {
			return false
		}
		head = head[size:]
		value, size := binary.Uvarint(head)
		if size <= 0 {
			return false
		}
		head = head[size:]
		switch field := tag >> 3; {
		// sample_type, sample, mapping, location, function and string_table; period_type and comment, whose
		// numbers may be packed.
		case tag&7 == delimited && (1 <= field && field <= 6 || field == 11 || field == 13):
			if value > uint64(len(head)) { // the head ends in the field
				return n > 1
			}
			head = head[value:]
		// drop_frames to doc_url are numbers: indexes of strings, times, the period.
		case tag&7 == varint && 7 <= field && field <= 15:
		default:
			return false
		}
	}
}

// otherImage says what a program, library or object file is, and where its profiles are: those
// of an instrumented program are files that it writes.
func otherImage(name string, data []byte) other {
	if object.IsArchive(data) {
		return identify(name, data[:min(len(data), otherHead)])
	}
	im, err := object.Parse("", data, "")
	if err != nil {
		return other{what: "a program", hint: hintProgram}
	}
	// An instrumented program has counters: __llvm_prf_cnts in ELF and Mach-O, .lprfc in COFF
	// (INSTR_PROF_CNTS_COFF).
	format := im.Format.String() + " "
	switch {
	case im.Kind == object.Object:
		return other{what: withArticle(format + "object file"), hint: hintProgram}
	case im.Section("__llvm_prf_cnts") != nil || im.Section(".lprfc") != nil:
		hint := "run it, and give profuse the .profraw files that it writes"
		if im.Format == object.Wasm {
			hint = "run it, and give profuse the raw profile that its embedder writes"
		}
		return other{what: "an instrumented " + format + "program", hint: hint}
	}
	return other{what: withArticle(format + "program or library"), hint: "give profuse the profiles that it writes when it runs, and name it with --program if they need it"}
}
