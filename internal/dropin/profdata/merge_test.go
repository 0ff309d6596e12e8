package profdata

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

const intoPipe = "exit code, stderr, stdout: LLVM seeks in the output, which a pipe does not let it"

func TestMergeText(t *testing.T) {
	rows := []row{
		{args: "merge -text a"},
		{args: "merge -text a b"},
		{args: "merge -text b a a"},
		{args: "merge -o out a"},
		{args: "merge a b -o out"},
		{args: "merge a", differs: intoPipe},
		{args: "merge -o out -sparse zero a"},
		{args: "merge -text -sparse zero b"},
		{args: "merge -o out -write-prev-version a values"},
		{args: "merge -o out empty"},
		{args: "merge -text empty empty a"},
		{args: "merge -text comment"},
		{args: "merge -o out comment"},
		{args: "merge -text hot"},
		{args: "merge -o out hot"},
		{args: "merge -text values"},
		{args: "merge -o out values a b"},
		{args: "merge -text cs ir"},
		{args: "merge -o out cs"},
		{args: "merge -text entry ir"},

		{args: "merge -text -weighted-input=3,a"},
		{args: "merge -text -weighted-input=3,a b -weighted-input 2,a"},
		{args: "merge -text -weighted-input=03,a"},
		{args: "merge -text -weighted-input=18446744073709551615,a"},
		{args: "merge -text -weighted-input=18446744073709551616,a"},
		{args: "merge -text -weighted-input=9,values -weighted-input=2,values"},
		{args: "merge -weighted-input=0,a"},
		{args: "merge -weighted-input=-1,a"},
		{args: "merge -weighted-input=+1,a"},
		{args: "merge -weighted-input=1_0,a"},
		{args: "merge -weighted-input=a"},
		{args: "merge -weighted-input=5"},
		{args: "merge -weighted-input=5,"},
		{args: "merge -weighted-input=5,a,b"},
		{args: "merge -weighted-input=2,~/nonesuch"},
		{args: "merge -weighted-input=2,~nobody/nonesuch"},
		{args: "merge -weighted-input=2,~nosuchuser/x"},
		{args: "merge -text -f list"},
		{args: "merge -text --input-files=list a"},
		{args: "merge -f list -dump-input-file-list a -weighted-input 3,b"},
		{args: "merge -f blanks"},
		{args: "merge -f badlist"},
		{args: "merge -f nonesuch"},
		{args: "merge -f d"},
		{args: "merge -text -f -", stdin: "a\n3,b\n"},
		{args: "merge -f -"},
		{args: "merge -f empty"},
		{args: "merge -dump-input-file-list - a -", stdin: "x"},
		{args: "merge -dump-input-file-list d a /dev/null"},
		{args: "merge -dump-input-file-list d/ ./d//"},
		{args: "merge -text d"},
		{args: "merge -text -weighted-input=4,d"},
		{args: "merge nonesuch"},
		{args: "merge ''"},
		{args: "merge -text a nonesuch junk"},

		{args: "merge junk"},
		{args: "merge -text junk a"},
		{args: "merge -text -failure-mode=all junk a"},
		{args: "merge -text -failure-mode=all junk short"},
		{args: "merge -text -failure-mode=warn junk short"},
		{args: "merge -text -failure-mode=warn short"},
		{args: "merge -text -failure-mode=warn late a"},
		{args: "merge -o out -failure-mode=any junk a"},
		{args: "merge -failure-mode=all empty", differs: intoPipe},
		{args: "merge -o out -failure-mode=all empty"},
		{args: "merge -text -j 1 a other other"},
		{args: "merge -text -j 3 a other b"},
		{args: "merge -text -j 4 a b a b a b"},
		{args: "merge -o out -j 9 a b"},
		{args: "merge -text -j 1 large large"},
		{args: "merge -text -weighted-input=3,large"},

		{args: "merge -text fe a"},
		{args: "merge -text a fe"},
		{args: "merge -text a ir"},
		{args: "merge -text -j 1 fe ir fe"},
		{args: "merge -text -j 2 fe ir fe"},
		{args: "merge -text -j 2 fe fe fe"},
		{args: "merge -text -j 2 fe", differs: "exit code, stderr, stdout: LLVM takes the empty result of the idle thread for another kind of profile"},

		{args: "merge -o nonesuch/x a"},
		{args: "merge -o d a"},
		{args: "merge -o '' a"},
		{args: "merge -o /dev/null a"},
		{args: "merge -o out junk"},
	}
	compareRows(t, textFiles, rows)
}

func TestMergeFilter(t *testing.T) {
	rows := []row{
		{args: "merge -text -function=^f a"},
		{args: "merge -text -no-function=o a"},
		{args: "merge -text -function=o -no-function=f a b"},
		{args: "merge -text -function= a"},
		{args: "merge -text -no-function= a"},
		{args: "merge -text -function=?foo a"},
		{args: "merge -text -function=?f[ a"},
		{args: "merge -o out -sparse -function=f zero hot"},
		{args: "merge -text -function=nonesuch a"},
	}
	for _, re := range strings.Fields(`
		f( ( ) () (a (|a) a| |a a||b (f|b)a (o)o
		* + ? f* fo+ x? ^* $* o** o+? o{2} o{2}$ o{2,} o{0,1} {2 { a{ o{2 o{,3} o{3,2} o{256} o{255} o{1x} o{1,2 o{1}{2} (o{1}){2}
		. ^ $ ^foo$ b|^f f.o \. \d \f \( a\ \1 ^^f f$$
		[ [] []a] [^]a] [a [-a] [a-] [a-c]a [z-a] [a-b-c] [--a] [a-- [^a-z] [^f]oo
		[[:alpha:]] [[:digit:]] [^[:alpha:]] [[:foo:]] [[:alpha [[:alpha] [[:alpha:] [[:-:]] [[:]:]]
		[[:alnum:]_]o [[:upper:]] [[:punct:]] [[:space:]] [[:blank:]] [[:cntrl:]] [[:graph:]] [[:print:]] [[:xdigit:]] [[:lower:]]
		[[=f=]]oo [[=f [[=fo=]] [[=-=]] [[.f.]]oo [[.f [[.fo.]] [[.f.]-z]oo [a-[.z.]]
	`) {
		rows = append(rows, row{args: "merge -text -function=" + re + " a"})
	}
	const refused = "exit code, stderr: not supported: "
	rows = append(rows,
		row{args: `merge -text -function=(o)\1 a`, differs: "exit code, stderr, stdout: back-references"},
		row{args: "merge -text -function=[[:<:]]foo a", differs: "exit code, stderr, stdout: word boundaries"},
		row{args: "merge -text -function=[[.space.]] a", differs: refused + "names of characters"},
	)
	compareRows(t, textFiles, rows)
}

func TestMergeRaw(t *testing.T) {
	files := make(map[string]string)
	for _, f := range oracle.Fixtures(t) {
		if strings.HasPrefix(f.Path, "clang22/") {
			files[f.Path] = string(f.Bytes(t))
		}
	}
	const t1, t2, t3 = "clang22/temporal-run1.profraw", "clang22/temporal-run2.profraw", "clang22/temporal-run3.profraw"
	const runs = "clang22/ir-run1.profraw clang22/ir-run2.profraw clang22/ir-run3.profraw"
	const temporal = t1 + " " + t2 + " " + t3
	rows := []row{
		{args: "merge -o out clang22/ir.profraw clang22/fe.profraw clang22/cs.profraw clang22/pool.profraw"},
		{args: "merge -text clang22/ir.profraw clang22/dispatch.profraw"},
		{args: "merge -o out clang22/concat.profraw clang22/concat-padded.profraw clang22/concat-kinds.profraw"},
		{args: "merge -o out -failure-mode=warn clang22/truncated.profraw clang22/zero-bytes.profraw clang22/ir.profraw"},
		{args: "merge -o out clang22/truncated.profraw"},
		{args: "merge -text clang22/concat-garbage.profraw"},
		{args: "merge -o out -weighted-input=3,clang22/dispatch.profraw clang22/dispatch-all.profraw -weighted-input=5,clang22/dispatch-all.profraw"},
		{args: "merge -o out -weighted-input=18446744073709551615,clang22/dispatch.profraw"},
		{args: "merge -text -weighted-input=99999999999999999,clang22/dispatch.profraw"},
		{args: "merge -o out clang22/ir-block-coverage.profraw clang22/ir.profraw"},
		{args: "merge -o out clang22/ir-function-entry.profraw clang22/ir-entry-first.profraw"},
		{args: "merge -o out -j 2 clang22/ir-function-entry.profraw clang22/ir-entry-first.profraw"},
		{args: "merge -text clang22/coverage-mcdc-run1.profraw clang22/coverage-mcdc-run2.profraw"},
		{args: "merge -o out -function=store clang22/ir.profraw"},
		{args: "merge -text -no-function=^src/ clang22/ir.profraw"},
		{args: "merge -text -keep-vtable-symbols clang22/ir-vtable.profraw"},
		{args: "merge -o out -keep-vtable-symbols clang22/ir-vtable.profraw", differs: "file: the names are compressed by another zlib"},
		{args: "merge -o out clang22/correlate-binary.profraw", differs: "stderr: we say that there is nothing in it"},
		{args: "merge -o out -j 1 -temporal-profile-max-trace-length=3 " + temporal},
		{args: "merge -o out -j 1 -temporal-profile-max-trace-length=0 " + temporal},
		{args: "merge -o out -temporal-profile-trace-reservoir-size=0 -j 1 " + temporal},
		{args: "merge -o out -j 1 -write-prev-version " + temporal},
		// Several inputs of one thread's context race for their order in LLVM,
		// which the sample shows; with one thread there is one order.
		{args: "merge -o out -j 1 -temporal-profile-trace-reservoir-size=2 " + temporal + " " + temporal},
	}
	for _, j := range []string{"1", "2", "3", "4", "7"} {
		rows = append(rows,
			row{args: "merge -o out -j " + j + " " + runs},
			row{args: "merge -text -j " + j + " " + temporal},
			row{args: "merge -o out -j " + j + " -weighted-input=3,clang22/dispatch.profraw clang22/dispatch-all.profraw -weighted-input=5,clang22/pool.profraw"},
		)
	}
	compareRows(t, files, rows)
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	oracle.NoError(t, w.Close())
	return b.String()
}

// TestMergeBeyond pins what works here and not in llvm-profdata.
func TestMergeBeyond(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	writeFiles(t, ".", map[string]string{
		"a.gz":             gzipped(t, textFiles["a"]),
		"damaged":          gzipped(t, textFiles["a"])[:20],
		"d/.profuse-x.tmp": "junk\x01",
	})
	want := runMain(t, "", []string{"merge", "-text", "a"})
	for _, tc := range []struct{ name, args, stdin string }{
		{"standard input", "merge -text -", textFiles["a"]},
		{"standard input, named twice", "merge -text -j 1 - -", textFiles["a"]},
		{"gzip", "merge -text a.gz", ""},
		{"folder with an unfinished file", "merge -text d", ""},
	} {
		if got := runMain(t, tc.stdin, strings.Fields(tc.args)); got != want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, want)
		}
	}
	for args, want := range map[string]string{
		"merge damaged": "warning: damaged: ",
	} {
		got := runMain(t, "", strings.Fields(args))
		if got.code != 1 || !strings.HasPrefix(got.stderr, want) || !strings.HasSuffix(got.stderr, "error: no profile can be merged\n") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// TestMergeUnnamed: merge warns once per file about records whose names are not in the file, and
// leaves them out of text, where they would damage the next record.
func TestMergeUnnamed(t *testing.T) {
	var raw []byte
	for _, f := range oracle.Fixtures(t) {
		if f.Path == "clang22/ir.profraw" {
			raw = f.Bytes(t)
		}
	}
	const header, binaryIDsSize = 128, 16 // of raw version 10, 64-bit
	record := header + binary.LittleEndian.Uint64(raw[binaryIDsSize:])
	raw[record]++ // the name reference of the first two records
	raw[record+64]++
	t.Chdir(t.TempDir())
	writeFiles(t, ".", map[string]string{"in": string(raw)})

	got := runMain(t, "", strings.Fields("merge -text in"))
	lines := strings.Split(got.stderr, "\n")
	if got.code != 0 || len(lines) != 3 ||
		!strings.HasPrefix(lines[0], "warning: in: name reference is 0x") ||
		lines[1] != "warning: malformed instrumentation profile data: symbol name is empty" {
		t.Errorf("exit code %d, stderr:\n%s", got.code, got.stderr)
	}
	if !strings.HasPrefix(got.stdout, "# IR level Instrumentation Flag\n:ir\n") || strings.Contains(got.stdout, "\n\n# Func Hash:") {
		t.Errorf("text begins %.200q", got.stdout)
	}
	writeFiles(t, ".", map[string]string{"text": got.stdout})
	if again := runMain(t, "", strings.Fields("merge -text text")); again.code != 0 || again.stdout != got.stdout {
		t.Errorf("the text reads back as %.200q, %s", again.stdout, again.stderr)
	}
}

// TestWalkLinks: links back to a folder on the way are not followed, others are.
func TestWalkLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	for link, to := range map[string]string{"d/sub/up": "..", "d/gone": "nowhere", "e": "d/sub"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	got := runMain(t, "", strings.Fields("merge -dump-input-file-list d e"))
	lines := strings.Fields(got.stdout)
	slices.Sort(lines)
	if want := []string{"1,d/sub/y", "1,d/x", "1,e/up/x", "1,e/y"}; got.code != 0 || !slices.Equal(lines, want) {
		t.Errorf("%+v, want %v", got, want)
	}
}

// TestFailureKeepsOutput: a run that fails leaves the file as it was.
func TestFailureKeepsOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	for _, args := range []string{"merge -o keep junk", "merge -o keep a -function=(", "show -o keep junk", "show -o keep late"} {
		writeFiles(t, ".", map[string]string{"keep": "precious"})
		if got := runMain(t, "", strings.Fields(args)); got.code != 1 {
			t.Errorf("%s: %+v", args, got)
		}
		if b, err := os.ReadFile("keep"); err != nil || string(b) != "precious" {
			t.Errorf("%s: left %q, %v", args, b, err)
		}
	}
	// An input may be the output of merge.
	if got := runMain(t, "", strings.Fields("merge -text -o a a")); got.code != 0 {
		t.Errorf("merge into an input: %+v", got)
	}
	entries := oracle.Must(os.ReadDir("."))(t)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left", e.Name())
		}
	}
}
