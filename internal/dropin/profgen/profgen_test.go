package profgen

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

// A result is what a run leaves. The name of the output is OUT in it.
type result struct {
	code           int
	stdout, stderr string
	out            string // contents of the output; "none" without one
}

func output(t *testing.T) string { return filepath.Join(t.TempDir(), "out") }

// words puts the names of files where the command line has the words OUT and DIR.
func words(line, dir, out string) []string {
	return strings.Fields(strings.NewReplacer("OUT", out, "DIR", dir).Replace(line))
}

func finish(code int, stdout, stderr, out string) result {
	r := result{code, stdout, strings.ReplaceAll(stderr, out, "OUT"), "none"}
	if b, err := os.ReadFile(out); err == nil {
		r.out = string(b)
	}
	return r
}

func run(t *testing.T, line, dir string) result {
	out := output(t)
	var stdout, stderr bytes.Buffer
	code := Main(words(line, dir, out), Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Prog: "llvm-profgen-22"})
	return finish(code, stdout.String(), stderr.String(), out)
}

func folder(t *testing.T) string {
	dir := t.TempDir()
	fixtures := oracle.Must(filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "profgen", "*")))(t)
	for _, name := range fixtures {
		oracle.NoError(t, os.Symlink(name, filepath.Join(dir, filepath.Base(name))))
	}
	for name, text := range map[string]string{
		"bad": "1\n10-20:x\n0\n", "cut": "1\n", "none.unsym": "0\n0\n", "long": "1\n10-20:5\n0\n\n", "text": "no program",
	} {
		oracle.WriteFile(t, filepath.Join(dir, name), []byte(text))
	}
	return dir
}

// lines are command lines that llvm-profgen 22 and this tool answer alike.
var lines = []string{
	"",
	"--binary=DIR/clang",
	"--binary=DIR/clang -o OUT",
	"--binary=DIR/none -o OUT --up=DIR/clang.unsym",
	"--binary=DIR/clang -o OUT --up=DIR/none",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --ps=DIR/short.script",
	"--binary=DIR/text -o OUT --up=DIR/clang.unsym",
	"--binary=DIR/clang -o DIR/none/out --up=DIR/clang.unsym",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --format=gcc",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --format=compbinary",
	"--binary=DIR/clang -o OUT --up=DIR/bad",
	"--binary=DIR/clang -o OUT --up=DIR/cut",
	"--binary=DIR/clang -o OUT --up=DIR/long",
	"--binary=DIR/clang -o OUT --up=DIR/none.unsym",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --pid=x",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --compress-recursion=-2",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --csprof-max-context-depth=99999999999",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --show-source-locations",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --use-md5 --format=text",
	"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --use-md5 --show-density --profile-density-cutoff-hot=999999",
	"--binary=DIR/clang -o - --up=DIR/clang.unsym --format=text --profile-density-threshold=1000000",
	"--binary=DIR/clang -output OUT -unsymbolized-profile DIR/clang.unsym -format binary -trim-cold-profile",
	"--binary=DIR/gcc -o OUT --up=DIR/gcc.unsym --update-total-samples --format=text --skip-symbolization",
	"--binary=DIR/gcc -o OUT --up=DIR/gcc.unsym --fill-zero-for-all-funcs --use-first-loadable-segment-as-base",
	"--binary=DIR/gcc -o OUT --up=DIR/gcc.unsym --use-offset=0 --format=text",
	"--binary=DIR/gcc -o OUT --up=DIR/gcc.unsym --debug-binary=DIR/clang --format=text",
	"--binary=DIR/flow -o OUT --up=DIR/flow.unsym --csspgo-preinliner=0 --populate-profile-symbol-list",
	"--binary=DIR/aarch64 -o OUT --up=DIR/aarch64.unsym",
	"--binary=DIR/clang -o OUT --llvm-sample-profile=DIR/gcc.prof --format=text --trim-cold-profile",
}

// TestAgainstLLVM: the same output, messages and exit codes as llvm-profgen 22.
func TestAgainstLLVM(t *testing.T) {
	tool := oracle.Tool(t, "llvm-profgen-22")
	dir := folder(t)
	for i := 0; i < len(lines); i += oracle.Step(4) {
		line, out := lines[i], output(t)
		stdout, stderr, code := oracle.Run(t, tool, words(line, dir, out)...)
		want, got := finish(code, stdout, stderr, out), run(t, line, dir)
		if code != 0 { // llvm-profgen empties the file before it fails
			want.out = "none"
		}
		if got != want {
			t.Errorf("%s:\n%+v\nwant\n%+v", line, got, want)
		}
	}
}

// TestAnswers has the answers of TestAgainstLLVM in short, and what this tool does not do.
func TestAnswers(t *testing.T) {
	dir := folder(t)
	for line, want := range map[string]struct {
		code   int
		stderr string // part of it
	}{
		"--binary=DIR/clang -o OUT --up=DIR/clang.unsym":                             {0, ""},
		"--binary=DIR/clang -o OUT --up=DIR/bad":                                     {1, "llvm-profgen: error: Invalid raw profile at line 2: 10-20:x\n"},
		"--binary=DIR/aarch64 -o OUT --up=DIR/aarch64.unsym":                         {0, "warning: Found 1 invalid instructions\n"},
		"--binary=DIR/clang -o OUT --ps=DIR/short.script":                            {1, "llvm-profgen: error: --perfscript is not supported by profuse\n"},
		"--binary=DIR/clang -o OUT --pd=DIR/short.script":                            {1, "--perfdata is not supported by profuse\n"},
		"--binary=DIR/clang -o OUT --show-disassembly-only":                          {1, "--show-disassembly-only is not supported by profuse\n"},
		"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --show-detailed-warning":     {1, "--show-detailed-warning is not supported by profuse\n"},
		"--binary=DIR/clang -o OUT --up=DIR/clang.unsym --data-access-perftrace=DIR": {1, "--data-access-perftrace is not supported by profuse\n"},
		"--binary=DIR/text -o OUT --up=DIR/clang.unsym":                              {1, "text: The file was not recognized as a valid object file\n"},
	} {
		got := run(t, line, dir)
		if got.code != want.code || !strings.HasSuffix(got.stderr, want.stderr) || want.code == 1 && got.out != "none" {
			t.Errorf("%s: exit code %d, %q, output %.20q", line, got.code, got.stderr, got.out)
		}
	}
	for _, line := range []string{"--help", "--version"} {
		if got := run(t, line, dir); got.code != 0 || !strings.Contains(got.stdout, "22") {
			t.Errorf("%s: %+v", line, got)
		}
	}
}
