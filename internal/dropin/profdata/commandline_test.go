package profdata

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// textFiles are small profiles, good and bad, that the rows name.
var textFiles = map[string]string{
	"a":        "foo\n10\n2\n1\n2\n\nbar\n20\n1\n5\n",
	"b":        "foo\n10\n2\n30\n4\n\nbaz\n7\n1\n0\n",
	"fe":       ":fe\nfoo\n1\n1\n1\n",
	"ir":       ":ir\nfoo\n1\n1\n1\n",
	"entry":    ":ir\n:entry_first\nfoo\n1\n1\n1\n",
	"cs":       ":csir\nfoo\n1\n1\n1\n\nfoo\n1152921504606846977\n1\n4\n",
	"values":   ":ir\nfoo\n10\n2\n1000\n2\n2\n0\n2\n3\nfoo:10\nbar:10\nunknown:5\n0\n1\n1\n3\n8:100\n16:50\n513:7\n\nbar\n20\n1\n5\n\ncold\n1\n3\n0\n0\n0\n",
	"other":    "foo\n10\n1\n7\n\nbar\n20\n2\n1\n2\n", // other numbers of counters than a
	"hot":      "f1\n1\n3\n10\n1\n2\n\nf2\n2\n2\n5\n900\n\nf3\n3\n1\n900\n\nf1\n4\n1\n900\n\nf4\n5\n2\n0\n0\n\nf5\n6\n1\n2\n\nf6\n7\n1\n18446744073709551615\n\nf7\n8\n2\n3\n3\n\nf8\n9\n1\n18446744073709551614\n",
	"zero":     "f1\n1\n1\n0\n\nf2\n2\n1\n0\n",
	"map":      "# renamed\n\nfoo renamed\nfoo again\nbaz bar\r\n",
	"badmap":   "foo bar\n\n#\n foo bar\n",
	"comment":  "# nothing\n",
	"traces":   ":ir\n:temporal_prof_traces\n3\n3\n1\nfoo,bar,x.c;baz\n1\nbar,foo\n1\nx.c;baz,foo,foo,bar\nfoo\n1\n1\n1\n\nbar\n1\n1\n1\n\nx.c;baz\n1\n1\n1\n",
	"empty":    "",
	"short":    ":ir\nfoo\n10\n2\n1\n",
	"late":     "foo\n10\n2\n1\n2\n\nbar\n20\nx\n", // bad after a good record
	"junk":     "junk\x01\x02\x03\x04\x05",
	"large":    "foo\n1\n2\n18446744073709551000\n2\n",
	"d/x":      "foo\n10\n2\n1\n2\n",
	"d/sub/y":  "bar\n20\n1\n5\n",
	"list":     "# comment\n\n2,a\r\n  b\t\n\n",
	"blanks":   "   \n",
	"badlist":  "x,a\n",
	"rsp":      "merge\n  -text 'a' \"b\"\n",
	"part.rsp": "-sparse a\\\n b",
	"loop.rsp": "@loop.rsp",
}

func TestCommandLine(t *testing.T) {
	rows := []row{
		{args: ""},
		{args: "''"},
		{args: "foo"},
		{args: "merg"},
		{args: "mrege"},
		{args: "shows x -y"},
		{args: "-"},
		{args: "-- merge"},
		{args: "--color"},
		{args: "--write-prev-version"},
		{args: "--write-prev-version merge a"},
		{args: "-nonesuch", differs: "stderr: the top level of llvm-profdata has every option of LLVM's libraries to suggest"},

		{args: "merge"},
		{args: "merge -o"},
		{args: "merge -o=out a"},
		{args: "merge -o out a"},
		{args: "merge --output=out a"},
		{args: "merge -output out a"},
		{args: "merge -oout a"},
		{args: "merge a -o"},
		{args: "merge -j1 a"},
		{args: "merge -jx"},
		{args: "merge -j abc a"},
		{args: "merge -j= a"},
		{args: "merge -j -1 a"},
		{args: "merge -num-threads=99999999999 a"},
		{args: "merge -text -j 0x1 a"},
		{args: "merge -text -num-threads=0b1 a"},
		{args: "merge -text -sparse=maybe a"},
		{args: "merge -text -sparse=True zero"},
		{args: "merge -text -sparse=0 zero"},
		{args: "merge -text -sparse -sparse=false zero"},
		{args: "merge -text -sparse false a"},
		{args: "merge -text=1 a"},
		{args: "merge -text= a"},
		{args: "merge -instr=1 a"},
		{args: "merge -binary -text a"},
		{args: "merge -text -extbinary -o out a"},
		{args: "merge -gcc a"},
		{args: "merge -text -gcc -text a"},
		{args: "merge -failure-mode"},
		{args: "merge -failure-mode=x a"},
		{args: "merge --failure-mode= a"},
		{args: "merge -text -failure-mode any -failure-mode=warn junk"},
		{args: "merge -sparze a"},
		{args: "merge -sparze=1 a"},
		{args: "merge --num-thread=3 a"},
		{args: "merge -weighted-imput=3,a"},
		{args: "merge -txet -bianry=1 -no-functon=x"},
		{args: "merge -foo"},
		{args: "merge --- a"},
		{args: "merge -=x a"},
		{args: "merge --=x a"},
		{args: "merge -memprof-version=5 a"},
		{args: "merge -text -memprof-version=2 -memprof-full-schema -use-md5 a"},
		{args: "merge -text -output-size-limit=10 -compress-all-sections -split-layout a"},
		{args: "merge --output-size-limit=abc a"},
		{args: "merge --convert-sample-profile-layout=x a"},
		{args: "merge --zero-counter-threshold=abc a"},
		{args: "merge -text --zero-counter-threshold=0x1p3 --suppl-min-size-threshold=3 a"}, // without effect
		{args: "merge -correlate a"},
		{args: "merge -correlate=x a"},
		{args: "merge -text -correlate= a"},
		{args: "merge -fs-discriminator-pass=Pass9 a"},
		{args: "merge -text -fs-discriminator-pass=Pass1 a"},
		{args: "merge -text -write-prev-version=2 a"},
		{args: "merge --help=1"},
		{args: "merge -h=1"},
		{args: "merge --version=x"},
		{args: "merge -text -print-options -print-all-options=0 a"},
		{args: "merge --color junk"},
		{args: "merge --color=0 junk"},
		{args: "merge --color=x junk"},
		{args: "show --color junk"},
		{args: "show --color -all-functions -function=x a"},
		{args: "merge -text -r map a b"},
		{args: "merge -remapping-file=map a b -o out"},
		{args: "merge -text -r map values"},
		{args: "merge -text -r map traces"},
		{args: "merge -text -r - a", stdin: "foo x\nbar x\n"},
		{args: "merge -text -r badmap a"},
		{args: "merge -text -r nonesuch a"},
		{args: "merge -text -r empty a"},
		{args: "merge -text a -- -o out"},
		{args: "merge -text -- a"},
		{args: "merge -text -- --"},

		{args: "@rsp"},
		{args: "merge -text @part.rsp"},
		{args: "merge -text @nonesuch.rsp"},
		{args: "merge -text @loop.rsp", differs: "stderr: our words for it name the file alone, and LLVM goes on without arguments"},

		{args: "show"},
		{args: "show a b"},
		{args: "show -nonesuch a"},
		{args: "show -topn=x a"},
		{args: "show -topn=1 -topn=0x10 -topn=010 -topn=0b1 -topn=0B1 -topn=08 -topn=4294967296 -topn=0X1f -topn=+1 " +
			"-topn= -topn=' 1' -topn=0x -topn=00 -topn=0o17 -topn=0O17 -topn=1_0 a"},
		{args: "show -detailed-summary-cutoffs=1,,2 a"},
		{args: "show -detailed-summary-cutoffs= a"},
		{args: "show -show-format=xml a"},
		{args: "show -value-cutof=3 a"},
		{args: "show -json a"},
		{args: "show -show-format=yaml a"},
		{args: "show -json -show-format=yaml a"},
		{args: "show -show-format=text a"},
		{args: "show -profiled-binary=x -show-prof-sym-list a"},
		{args: "order a"},
		{args: "order traces"},
		{args: "order traces -num-test-traces=1 -o out"},
		{args: "order -num-test-traces=2 traces"},
		{args: "order -num-test-traces=3 traces"},
		{args: "order -num-test-traces=9 traces"},
		{args: "order empty"},
		{args: "order junk"},
		{args: "order nonesuch"},
		{args: "order late"},
		{args: "order -", stdin: ":ir\n:temporal_prof_traces\n1\n1\n1\nx.c;f,g,;h,k;\nx.c;f\n1\n1\n1\n\ng\n1\n1\n1\n\n;h\n1\n1\n1\n\nk;\n1\n1\n1\n"},
		{args: "order a b"},
		{args: "overlap a b"},
		{args: "overlap a a -o out"},
		{args: "overlap -value-cutoff=0 a b"},
		{args: "overlap -value-cutoff=5 a b"},
		{args: "overlap -function=ba a b"},
		{args: "overlap -function=ba -value-cutoff=2 b a"},
		{args: "overlap -value-cutoff=1 a other"},
		{args: "overlap other a"},
		{args: "overlap values values -value-cutoff=0"},
		{args: "overlap values ir"},
		{args: "overlap cs cs"},
		{args: "overlap -cs cs cs"},
		{args: "overlap -cs -value-cutoff=0 cs cs"},
		{args: "overlap hot hot -value-cutoff=7"},
		{args: "overlap large large"},
		{args: "overlap late a"},
		{args: "overlap a late"},
		{args: "overlap fe ir"},
		{args: "overlap a junk"},
		{args: "overlap junk a"},
		{args: "overlap empty a"},
		{args: "overlap a nonesuch"},
		{args: "overlap nonesuch a"},
		{args: "overlap a zero"},
		{args: "overlap zero a"},
		{args: "overlap comment a"},
		{args: "overlap -similarity-cutoff=3 a b"},
		{args: "overlap a"},
		{args: "overlap -cutoff=1 a b"},
		{args: "overlap -value-cutoff=-1 a b"},
	}
	// A name that is nearest to several options, or to none.
	for _, name := range strings.Fields("aa bb ext instrs simple fuction symbols thread memprof merge file-list in cold-threshold reservoir binary-files prints") {
		rows = append(rows, row{args: "merge --" + name}, row{args: "show --" + name + "=1"})
	}
	compareRows(t, textFiles, rows)
}

// TestOrderOfChecks: of two faults the one is reported that LLVM finds first.
func TestOrderOfChecks(t *testing.T) {
	for command, faults := range map[string][]string{
		"merge -o out a": {
			"none", "junk", "-o=none/x", "-gcc", "-sample", "-text", "-debug-info=none", "-debug-info=a", "-binary-file=none",
			"-correlate=binary", "-debug-file-directory=d", "-remapping-file=none", "-remapping-file=badmap", "-input-files=none",
			"-input-files=badlist", "-weighted-input=0,a", "-weighted-input=2,none", "-function=[", "-no-function=(",
			"-supplement-instr-with-sample=a", "-supplement-instr-with-sample=none", "-profiled-binary=none", "-failure-mode=any",
			"-memprof-version=9", "-output-size-limit=10", "-gen-cs-nested-profile", "-max-debuginfod-correlate=x",
		},
		"show": {
			"none", "junk", "a", "-o=none/x", "-sample", "-memory", "-covered", "-topn=3", "-topn=x", "-value-cutoff=x",
			"-list-below-cutoff", "-function=(", "-show-format=yaml", "-show-format=json", "-debug-info=none", "-binary-ids",
			"-detailed-summary-cutoffs=x", "-text", "-temporal-profile-traces", "-profile-version", "-show-sec-info-only",
		},
		"overlap a": {"none", "junk", "a", "fe", "-o=none/x", "-sample", "-value-cutoff=x", "-function=(", "-cs", "-similarity-cutoff=x"},
		"order":     {"none", "junk", "a", "traces", "-o=none/x", "-num-test-traces=9", "-num-test-traces=x"},
	} {
		var rows []row
		for i, first := range faults {
			for k := i + 1; k < len(faults); k += oracle.Step(5) {
				rows = append(rows, row{args: command + " " + first + " " + faults[k]})
			}
		}
		t.Run(strings.Fields(command)[0], func(t *testing.T) { compareRows(t, textFiles, rows) })
	}
}

// TestOwnWarnings: what LLVM does without a word is done as well, and said.
func TestOwnWarnings(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	for args, want := range map[string]string{
		"overlap a zero":              "warning: Sum of edge counts for profile zero is 0.\n",
		"merge -o out empty":          "warning: no input has any function: the profile is empty\n",
		"merge -o out comment empty":  "warning: no input has any function: the profile is empty\n",
		"merge -o out -j 1 a ir":      "warning: counts of different instrumentation are mixed: a is of the front end, ir of the IR\n",
		"merge -o out -j 2 ir a b cs": "warning: counts of different instrumentation are mixed: a is of the front end, ir of the IR\n",
		"merge -o out a b":            "",
		"merge -o out ir empty":       "",
	} {
		if got := runMain(t, "", strings.Fields(args)); got.code != 0 || got.stderr != want {
			t.Errorf("%s: exit code %d, stderr %q, want %q", args, got.code, got.stderr, want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for args, want := range map[string]string{
		"--help":          "USAGE: llvm-profdata [subcommand]",
		"-h":              "USAGE: llvm-profdata [subcommand]",
		"merge --help":    "--weighted-input=<n>,<file>",
		"merge -hx":       "--weighted-input=<n>,<file>",
		"show -help":      "--all-functions",
		"overlap --help":  "USAGE: llvm-profdata overlap",
		"merge --version": "LLVM version 22.",
		"--version":       "LLVM version 22.",
	} {
		got := runMain(t, "", strings.Fields(args))
		if got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: exit code %d, stderr %q, stdout without %q:\n%s", args, got.code, got.stderr, want, got.stdout)
		}
	}
	if got := runMain(t, "", []string{"merge", "--nonesuch", "--help"}); got.code != 0 || got.stderr == "" {
		t.Errorf("an error before --help: %+v", got)
	}
}
