package cov

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/dropin/profdata"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// run23 runs a command line in the words of LLVM 23, which could not be run.
func run23(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(args, Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Prog: "llvm-cov", Release: 23})
	return outcome{code, stdout.String(), stderr.String(), ""}
}

// fixture23 are the arguments for a fixture with its sources.
func fixture23(t *testing.T, name string) []string {
	folder := oracle.Must(filepath.Abs(filepath.Join(oracle.Root(t), "testdata", "covmap")))(t)
	indexed := filepath.Join(t.TempDir(), name+".profdata")
	if code := profdata.Main([]string{"merge", filepath.Join(folder, name+".proftext"), "-o", indexed}, Env{Stderr: t.Output()}); code != 0 {
		t.FailNow()
	}
	return []string{filepath.Join(folder, name+".o"), "-instr-profile=" + indexed, "-compilation-dir=" + filepath.Join(folder, "src")}
}

// TestDecisions23: LLVM 23 lists the test vectors of a decision in parts; with an option, also those that were not
// executed. Apart from that it prints what LLVM 22 prints.
func TestDecisions23(t *testing.T) {
	args := append([]string{"show", "-show-mcdc"}, fixture23(t, "conditions-22")...)
	old, plain, all := runMain(t, args...), run23(t, args...), run23(t, append(args, "-show-mcdc-non-executed-vectors")...)
	want := strings.ReplaceAll(old.stdout, "  |  Executed MC/DC Test Vectors:\n", "  |  MC/DC Test Vectors:\n  |\n  |  Executed:\n")
	if plain.stdout != want || want == old.stdout {
		t.Errorf("%s\nwant\n%s", plain.stdout, want)
	}
	// Without the further part, the text is the same.
	var b strings.Builder
	rest := all.stdout
	parts := 0
	for {
		before, after, found := strings.Cut(rest, "  |\n  |  Not executed:\n  |\n")
		b.WriteString(before)
		if !found {
			break
		}
		parts++
		lines, after, _ := strings.Cut(after, "  |\n")
		if lines != "  |     None.\n" && !strings.Contains(lines, "    Result\n  |  1 { ") {
			t.Errorf("part %q", lines)
		}
		rest = "  |\n" + after
	}
	if b.String() != plain.stdout || parts == 0 {
		t.Errorf("%d parts: %s\nwant\n%s", parts, b.String(), plain.stdout)
	}
	// In JSON, the decisions count the same, and others come after the executed ones.
	args[0], args[1] = "export", "-skip-functions"
	type document struct {
		Data []struct {
			Files []struct {
				Decisions [][]any `json:"mcdc_records"`
			}
		}
	}
	var few, more document
	oracle.NoError(t, json.Unmarshal([]byte(run23(t, args...).stdout), &few))
	oracle.NoError(t, json.Unmarshal([]byte(run23(t, append(args, "-show-mcdc-non-executed-vectors")...).stdout), &more))
	others := 0
	for i, f := range more.Data[0].Files {
		for k, d := range f.Decisions {
			known := few.Data[0].Files[i].Decisions[k]
			vectors, executed := d[len(d)-1].([]any), known[len(known)-1].([]any)
			for n, v := range vectors {
				if got := v.(map[string]any)["executed"]; got != (n < len(executed)) {
					t.Errorf("vector %d is executed: %v", n, got)
				}
			}
			others += len(vectors) - len(executed)
		}
	}
	if others == 0 {
		t.Error("no vector")
	}
}

// TestIncludeFiles23: -include-filename-regex keeps what it matches, and -ignore-filename-regex removes from that.
// The output of release 22, which has only the latter, is the output of llvm-cov 22 (TestCommandLine).
func TestIncludeFiles23(t *testing.T) {
	files := fixture23(t, "shapes-22")
	for _, command := range [][]string{{"report"}, {"show"}, {"export", "-format=lcov"}, {"export"}} {
		with := func(options ...string) []string {
			return append(append(append([]string{}, command...), files...), options...)
		}
		for _, tc := range []struct{ include, same []string }{
			{[]string{"-include-filename-regex=shapes\\.h$"}, []string{"-ignore-filename-regex=cpp$"}},
			{[]string{"-include-filename-regex=shapes", "-ignore-filename-regex=cpp$"}, []string{"-ignore-filename-regex=cpp$"}},
			{[]string{"-include-filename-regex=\\.h$", "-include-filename-regex=\\.cpp$"}, nil},
		} {
			got, want := run23(t, with(tc.include...)...), runMain(t, with(tc.same...)...)
			if got.stdout != want.stdout || got.code != 0 || want.stdout == "" {
				t.Errorf("%s %s: %d %s\nwant\n%s", command, tc.include, got.code, got.stderr+got.stdout, want.stdout)
			}
		}
		if got := runMain(t, with("-include-filename-regex=x")...); got.code != 1 || !strings.Contains(got.stderr, "Unknown command line argument") {
			t.Errorf("release 22: %d, %s", got.code, got.stderr)
		}
	}
}
