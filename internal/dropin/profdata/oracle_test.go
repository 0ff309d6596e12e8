package profdata

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// outcome is what one run of a tool left behind.
type outcome struct {
	code           int
	stdout, stderr string
	file           string // contents of outFile; "" also if it is not there
}

// outFile is what the command lines of the tests write to.
const outFile = "out"

// ownWarnings are about what LLVM does without a word. They are no difference in a comparison; TestOwnWarnings is about them.
var ownWarnings = regexp.MustCompile(`warning: (Sum of edge counts for profile .* is 0\.|no input has any function: .*|counts of different instrumentation are mixed: .*|text has no place for memory profiles: .*|version . of the memprof section cannot hold .*)\n`)

func runMain(t testing.TB, stdin string, args []string) outcome {
	t.Helper()
	os.Remove(outFile)
	var stdout, stderr bytes.Buffer
	code := Main(args, Env{
		Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Prog: "llvm-profdata",
	})
	file := oracle.Must(takeFile("."))(t)
	return outcome{code, stdout.String(), stderr.String(), file}
}

// takeFile returns the contents of outFile in dir, "" if there is none.
func takeFile(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, outFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return string(b), err
}

// compared leaves out of an outcome what LLVM has nothing for.
func compared(o outcome) outcome {
	o.stderr = ownWarnings.ReplaceAllString(o.stderr, "")
	return o
}

func (o outcome) differ(p outcome) (parts []string) {
	if o.code != p.code {
		parts = append(parts, "exit code")
	}
	for what, pair := range map[string][2]string{
		"stdout": {o.stdout, p.stdout}, "stderr": {o.stderr, p.stderr}, "file": {o.file, p.file},
	} {
		if pair[0] != pair[1] {
			parts = append(parts, what)
		}
	}
	slices.Sort(parts)
	return parts
}

func report(t *testing.T, ours, llvm outcome) {
	t.Helper()
	for _, part := range ours.differ(llvm) {
		switch part {
		case "exit code":
			t.Errorf("exit code %d, LLVM's is %d", ours.code, llvm.code)
		case "stdout":
			t.Errorf("stdout %s", parting(ours.stdout, llvm.stdout))
		case "stderr":
			t.Errorf("stderr %s", parting(ours.stderr, llvm.stderr))
		case "file":
			t.Errorf("file %s", parting(ours.file, llvm.file))
		}
	}
}

func parting(ours, llvm string) string {
	a, b := strings.SplitAfter(ours, "\n"), strings.SplitAfter(llvm, "\n")
	i := 0
	for i < min(len(a), len(b))-1 && a[i] == b[i] {
		i++
	}
	clip := func(lines []string) string {
		s := strings.Join(lines[i:min(len(lines), i+3)], "")
		return s[:min(len(s), 400)]
	}
	return fmt.Sprintf("from line %d:\n", i+1) + clip(a) + "\nLLVM:\n" + clip(b)
}

// A row is a command line to run through both tools.
type row struct {
	args  string // separated by blanks, '…' keeps blanks together
	stdin string
	// differs says why the two are to differ, and in what: "stderr: we warn". Such a row fails when they do not.
	differs string
}

func (r row) split() []string {
	var args []string
	for i, part := range strings.Split(r.args, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

// compareRows runs every row in a folder with the given files.
func compareRows(t *testing.T, files map[string]string, rows []row) {
	llvm := startLLVM(t, oracle.LLVM(t, 22), files)
	results := make([]<-chan outcome, len(rows))
	for i, r := range rows {
		results[i] = llvm.run(r.stdin, r.split())
	}
	llvm.start()
	t.Chdir(t.TempDir())
	writeFiles(t, ".", files)
	for i, r := range rows {
		t.Run(r.args, func(t *testing.T) {
			llvm, ours := <-results[i], compared(runMain(t, r.stdin, r.split()))
			if r.differs == "" {
				report(t, ours, llvm)
				return
			}
			where, why, _ := strings.Cut(r.differs, ": ")
			if got := strings.Join(ours.differ(llvm), ", "); got != where {
				t.Errorf("they differ in %q, but should in %q: %s", got, where, why)
			}
		})
	}
}

// writeFiles writes files below dir, always in the same order: folders are
// read in the order in which they were filled on some file systems.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		oracle.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		oracle.WriteFile(t, path, []byte(files[name]))
	}
}
