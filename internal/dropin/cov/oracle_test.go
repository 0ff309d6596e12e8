package cov

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// compared counts the command lines that were compared with llvm-cov.
var compared atomic.Int64

func TestMain(m *testing.M) { oracle.Main(m) }

// logCompared logs how many command lines a test has compared when it ends.
func logCompared(t *testing.T) {
	before := compared.Load()
	t.Cleanup(func() { t.Logf("compared %d command lines with llvm-cov 22", compared.Load()-before) })
}

// outcome is what one run of a tool left behind.
type outcome struct {
	code           int
	stdout, stderr string
	files          string // below outDir, each after its name
}

// outDir is the folder that command lines of the tests write to.
const outDir = "out"

// takeFiles returns the files below outDir in a folder, and deletes them.
func takeFiles(t testing.TB, dir string) string {
	t.Helper()
	dir = filepath.Join(dir, outDir)
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s:\n%s\n", strings.TrimPrefix(path, dir), data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	oracle.NoError(t, os.RemoveAll(dir))
	return b.String()
}

func runMain(t testing.TB, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(args, Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Prog: "llvm-cov"})
	return outcome{code, stdout.String(), stderr.String(), takeFiles(t, ".")}
}

// runLLVM runs llvm-cov in the working folder, under the name that Main is given too.
func runLLVM(t testing.TB, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	exe := llvmTool(t, 22, "llvm-cov")
	code, err := oracle.Exec(&exec.Cmd{Path: exe, Args: append([]string{"llvm-cov"}, args...), Stdout: &stdout, Stderr: &stderr})
	oracle.NoError(t, err)
	return outcome{code, stdout.String(), stderr.String(), takeFiles(t, ".")}
}

// compare runs a command line through both tools, in the working folder.
func compare(t *testing.T, args ...string) {
	t.Helper()
	compared.Add(1)
	ours, llvm := runMain(t, args...), runLLVM(t, args...)
	line := strings.Join(args, " ")
	if ours.code != llvm.code {
		t.Errorf("%s: exit code %d, LLVM's is %d", line, ours.code, llvm.code)
	}
	for _, part := range []struct{ what, ours, llvm string }{
		{"stdout", ours.stdout, llvm.stdout}, {"stderr", ours.stderr, llvm.stderr}, {"files", ours.files, llvm.files},
	} {
		if part.ours != part.llvm {
			t.Errorf("%s: %s %s", line, part.what, parting(part.ours, part.llvm))
		}
	}
}

func parting(ours, llvm string) string {
	at := 0
	for at < min(len(ours), len(llvm)) && ours[at] == llvm[at] {
		at++
	}
	clip := func(s string) string { return s[max(0, min(at-100, len(s))):min(at+200, len(s))] }
	return fmt.Sprintf("from byte %d:\n%s\nLLVM:\n%s", at, clip(ours), clip(llvm))
}

// llvmTool returns the path of a tool of an LLVM release.
func llvmTool(t testing.TB, version int, name string) string {
	t.Helper()
	return oracle.Tool(t, fmt.Sprintf("/usr/lib/llvm-%d/bin/%s", version, name), fmt.Sprintf("%s-%d", name, version))
}

func sh(t testing.TB, exe string, args ...string) string {
	t.Helper()
	stdout, stderr, code := oracle.RunIn(t, ".", exe, args...)
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", exe, strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// copySources copies testdata into a new folder and makes it the working folder.
func copySources(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	// Compilers write the folder without links into mappings.
	dir = oracle.Must(filepath.EvalSymlinks(dir))(t)
	oracle.NoError(t, os.CopyFS(dir, os.DirFS("testdata")))
	t.Chdir(dir)
}

// instrumented are the options that instrument a program.
var instrumented = []string{"-fprofile-instr-generate", "-fcoverage-mapping"}

// profileOf runs a program and writes NAME.profdata.
func profileOf(t testing.TB, version int, name string) {
	t.Helper()
	t.Setenv("LLVM_PROFILE_FILE", name+".profraw")
	sh(t, "./"+name)
	sh(t, llvmTool(t, version, "llvm-profdata"), "merge", name+".profraw", "-o", name+".profdata")
}

// commandLines are what every program is compared with: the options of each command line.
var commandLines = [][]string{
	{"export"},
	{"export", "-format=lcov"},
	{"report"},
	{"show"},
	{"show", "-show-regions", "-show-expansions", "-show-branches=count", "-show-mcdc"},
}

// moreCommandLines are further ones for slow tests.
var moreCommandLines = [][]string{
	{"export", "-summary-only"},
	{"export", "-skip-expansions", "-skip-functions"},
	{"export", "-format=lcov", "-skip-functions"},
	{"export", "-format=lcov", "-unify-instantiations=false"},
	{"export", "-format=lcov", "-skip-branches"},
	{"export", "-format=lcov", "-summary-only"},
	{"report", "-show-instantiation-summary", "-show-mcdc-summary", "-use-color"},
	{"report", "-show-region-summary=0", "-show-branch-summary=0"},
	{"show", "-use-color", "-show-line-counts-or-regions", "-show-branches=percent"},
	{"show", "-use-color", "-show-expansions", "-show-branches=count", "-show-mcdc"},
	{"show", "-show-instantiations=false", "-binary-counters", "-show-branches=count"},
	{"show", "-show-regions", "-show-line-counts"},
	{"show", "-name-regex=^(main|_Z)", "-show-expansions"},
	{"show", "-line-coverage-lt=90", "-region-coverage-gt=10"},
	{"show", "-output-dir=out", "-show-branches=count"},
	{"show", "-output-dir=out", "-show-directory-coverage", "-project-title=A title"},
	{"show", "-dump", "-show-regions", "-show-expansions", "-show-branches=count"},
}

// compareProgram compares all command lines for a program; objects are further options.
func compareProgram(t *testing.T, name string, objects ...string) {
	t.Helper()
	lines := commandLines
	if oracle.Everything() {
		lines = append(lines[:len(lines):len(lines)], moreCommandLines...)
	}
	for _, line := range lines {
		args := append(line[:len(line):len(line)], "-instr-profile="+name+".profdata")
		if len(objects) == 0 {
			args = append(args, name)
		}
		compare(t, append(args, objects...)...)
	}
}
