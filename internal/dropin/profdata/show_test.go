package profdata

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestShow(t *testing.T) {
	files := map[string]string{
		// Ten blocks of output before the damage.
		"long": strings.Repeat("a_function_with_quite_a_long_name\n1\n1\n1\n\n", 300) + "f\nx\n",
	}
	for name, text := range textFiles {
		files[name] = text
	}
	const everything = " -all-functions -counts -ic-targets -memop-sizes -show-vtables -detailed-summary -topn 3 -hot-func-list " +
		"-binary-ids -profile-version -temporal-profile-traces "
	rows := []row{
		{args: "show a"},
		{args: "show values" + everything},
		{args: "show hot" + everything},
		{args: "show cs" + everything},
		{args: "show cs -showcs" + everything},
		{args: "show comment" + everything},
		{args: "show fe" + everything},
		{args: "show entry" + everything},
		{args: "show values -value-cutoff 3" + everything},
		{args: "show -all-functions values"},
		{args: "show -function=o values"},
		{args: "show -function=nonesuch -ic-targets -memop-sizes values"},
		{args: "show -all-functions -function=o values"},
		{args: "show -counts values"},
		{args: "show -all-functions -ic-targets values"},
		{args: "show -all-functions -memop-sizes values"},
		{args: "show -function=bar -memop-sizes values"},
		{args: "show -text values"},
		{args: "show -text -all-functions values"},
		{args: "show -text -function=ba values"},
		{args: "show -text -all-functions -covered values"},
		{args: "show -text -covered values"},
		{args: "show -text -all-functions cs"},
		{args: "show -text -showcs -all-functions cs"},
		{args: "show -text -value-cutoff=3 -list-below-cutoff a"},
		{args: "show -covered values"},
		{args: "show -covered hot"},
		{args: "show -covered -all-functions -counts values"},
		{args: "show -topn=3 hot"},
		{args: "show -topn=1 hot"},
		{args: "show -topn=100 hot"},
		{args: "show -topn=2 zero"},
		{args: "show -hot-func-list hot"},
		{args: "show -hot-func-list zero"},
		{args: "show -hot-func-list -topn=1 hot"},
		{args: "show -hot-func-list -value-cutoff=11 hot"},
		{args: "show -hot-func-list -list-below-cutoff -value-cutoff=11 hot"},
		{args: "show -hot-func-list -detailed-summary-cutoffs=999999 hot"},
		{args: "show -hot-func-list -detailed-summary -detailed-summary-cutoffs=990001,200000 hot"},
		{args: "show -hot-func-list -detailed-summary-cutoffs=200000 hot", differs: "exit code, stderr: LLVM crashes"},
		{args: "show -detailed-summary hot"},
		{args: "show -detailed-summary zero"},
		{args: "show -detailed-summary-cutoffs=500000 hot"},
		{args: "show -detailed-summary -detailed-summary-cutoffs=0,1000000,2000000,500000,500000,4294967295 hot"},
		{args: "show -detailed-summary -detailed-summary-cutoffs=1 -detailed-summary-cutoffs=333333,123456 values"},
		{args: "show -value-cutoff=3 hot"},
		{args: "show -value-cutoff=3 -all-functions hot"},
		{args: "show -list-below-cutoff hot"},
		{args: "show -list-below-cutoff -all-functions -value-cutoff=4294967295 hot"},
		{args: "show -value-cutoff=3 large"},
		{args: "show -counts -all-functions large"},
		{args: "show -binary-ids -profile-version -temporal-profile-traces a"},
		{args: "show -o out a -all-functions -counts"},
		{args: "show -o=out -text -all-functions values"},
		{args: "show -o out -"},
		{args: "show -o out -", stdin: textFiles["a"]},
		{args: "show -"},
		{args: "show a -o a"},
		{args: "show a -o ./a -o nonesuch/x"},
		{args: "show -o d a"},
		{args: "show -o '' a"},
		{args: "show nonesuch"},
		{args: "show nonesuch/x"},
		{args: "show a/x"},
		{args: "show d"},
		{args: "show junk"},
		{args: "show empty"},
		{args: "show short"},
		{args: "show late -all-functions"},
		{args: "show long -all-functions"},
		{args: "show long -covered"},
		{args: "show long -text -all-functions"},
		{args: "show --instr a"},
	}
	compareRows(t, files, rows)
}

// TestShowBeyond pins what is shown here and not by llvm-profdata.
func TestShowBeyond(t *testing.T) {
	fixtures := oracle.Fixtures(t)
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	writeFiles(t, ".", map[string]string{"a.gz": gzipped(t, textFiles["a"])})
	if want, got := runMain(t, "", []string{"show", "a"}), runMain(t, "", []string{"show", "a.gz"}); got != want {
		t.Errorf("gzip: %+v, want %+v", got, want)
	}
	if got := runMain(t, "", strings.Fields("show -o ./a a")); got.code != 1 || got.stderr != "error: ./a: output file is also an input\n" {
		t.Errorf("output over the input: %+v", got)
	}
	got := runMain(t, "", strings.Fields("show -hot-func-list -detailed-summary-cutoffs=200000 hot"))
	if got.code != 1 || got.stderr != "error: Desired percentile exceeds the maximum cutoff\n" {
		t.Errorf("hot functions without the hot cutoff: %+v", got)
	}
	for _, f := range fixtures {
		if !strings.HasSuffix(f.Path, "/concat.profraw") {
			continue
		}
		got := runMain(t, "", []string{"show", "-topn=3", f.File()})
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		for _, line := range lines[max(0, len(lines)-3):] {
			if name, _, ok := strings.Cut(strings.TrimSpace(line), ", max count = "); !ok || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_/.:;0123456789") != "" {
				t.Errorf("%s: odd line %q", f.Path, line)
			}
		}
	}
}
