package console_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSchemas: what merge --report, show --json and check --json write about all fixtures, most of them broken on
// purpose or of other versions, meets the schemas in docs, and so do the reasons in the quarantines of merge and watch.
// Reports are the same for any number of workers. The outputs contain errors of every class. What doctor --json writes
// meets its schema as well.
//
// It stands apart from the other tests of the commands: those start their own
// binary hundreds of times, and loading the validator takes longer than profuse.
func TestSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("builds profuse")
	}
	root := oracle.Root(t)
	compiler := jsonschema.NewCompiler()
	var output []byte // of all commands
	validate := func(what, schema string, data []byte) {
		t.Helper()
		output = append(output, data...)
		s, err := compiler.Compile(filepath.Join(root, "docs", "schema", schema))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = s.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	dir := t.TempDir()
	profuse := filepath.Join(dir, "profuse.exe") // Windows wants the ending
	run := func(want int, tool string, args ...string) (stdout []byte) {
		t.Helper()
		out, stderr, code := oracle.Run(t, tool, args...)
		if code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, stderr)
		}
		return []byte(out)
	}
	run(0, oracle.Tool(t, "go"), "build", "-o", profuse, "github.com/profuse-pgo/profuse/cmd/profuse")
	report := func(want int, args ...string) []byte {
		t.Helper()
		path := filepath.Join(dir, "report.json")
		run(want, profuse, append([]string{"merge", "--report", path}, args...)...)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		validate("report", "merge-report.schema.json", data)
		return data
	}
	fixtures := func(folder string, file ...string) string {
		return filepath.Join(append([]string{root, "testdata", folder}, file...)...)
	}
	out := filepath.Join(dir, "out.profdata")
	all := fixtures("irpgo")
	one := report(0, "-j", "1", "--failure-mode", "all", "-o", out, all)
	for _, workers := range []string{"2", "7"} {
		if many := report(0, "-j", workers, "--failure-mode", "all", "-o", out, all); !bytes.Equal(many, one) {
			t.Errorf("%s workers: another report", workers)
		}
	}
	const overBudget = 4
	quarantine := filepath.Join(dir, "quarantine")
	report(overBudget, "--quarantine", quarantine, "-o", out, all)
	report(0, "-o", filepath.Join(dir, "out.mip"), fixtures("mip", "all.mip"), fixtures("mip", "all-1.mipraw"))
	report(0, "--per-binary", "--failure-mode", "all", "-o", filepath.Join(dir, "each"), fixtures("irpgo", "clang22"))

	every := []string{filepath.Join(root, "testdata"), filepath.Join(dir, "nowhere")}
	validate("show", "show.schema.json", run(1, profuse, append([]string{"show", "--json"}, every...)...))
	validate("check", "check.schema.json", run(1, profuse, append([]string{"check", "--json"}, every...)...))

	cov := []string{"coverage", "--json", "--program", fixtures("covmap", "conditions-22.o"), fixtures("covmap", "conditions-22.proftext")}
	tracefile := filepath.Join(dir, "cov.info")
	patch := filepath.Join(dir, "change.patch")
	oracle.WriteFile(t, patch, []byte("+++ conditions.c\n@@ -17,0 +17 @@\n+x\n+++ new.c\n@@ -0,0 +1 @@\n+x\n"))
	validate("coverage", "coverage.schema.json", run(0, profuse, append(cov, "-o", tracefile)...))
	validate("coverage", "coverage.schema.json", run(1, profuse, append(cov, "--baseline", tracefile, "--changed", patch, "--fail-under-lines", "99")...))
	tests := append([]string{"coverage", "tests"}, cov[1:4]...)
	validate("tests", "coverage-tests.schema.json", run(0, profuse, append(tests, "one="+cov[4])...))
	validate("tests", "coverage-tests.schema.json", run(0, profuse, append(tests, "--changed", patch, "one="+cov[4])...))
	stale := fixtures("covmap", "shapes-22.o")
	validate("coverage", "coverage.schema.json", run(0, profuse, "coverage", "--json", "--program", stale, cov[4]))

	// The commands that read a view, for every fixture that has one, or some of them.
	viewed := 0
	for i, file := range fixtureFiles(t, filepath.Join(root, "testdata")) {
		if i%oracle.Step(5) > 0 {
			continue
		}
		out, _, code := oracle.Run(t, profuse, "top", "--json", "-n", "3", file)
		if code != 0 {
			continue
		}
		viewed++
		validate("top "+file, "top.schema.json", []byte(out))
		validate("compare "+file, "compare.schema.json", run(0, profuse, "compare", "--json", "--top", "2", fixtures("irpgo", "clang22", "ir-run1.profraw"), file))
	}
	if viewed < 100/oracle.Step(5) {
		t.Errorf("%d fixtures have a view", viewed)
	}
	validate("check --against", "check.schema.json", run(1, profuse, "check", "--json", "--min-overlap", "100%",
		"--against", fixtures("irpgo", "clang22", "ir-run1.profraw"), fixtures("irpgo", "clang22", "ir-run3.profraw")))
	validate("check --against PROGRAM", "check.schema.json", run(1, profuse, "check", "--json",
		"--against", fixtures("against", "ir-22.o"), fixtures("against", "ir.proftext")))
	program := filepath.Join(root, "internal", "command", "testdata", "mip", "shapes.elf")
	validate("order eval", "order-eval.schema.json", run(0, profuse, "order", "eval", "--json",
		"--trace", fixtures("irpgo", "llvm22", "temporal-merged.profdata"), program))
	job := filepath.Join(dir, "job")
	run(0, profuse, "fleet", "plan", job, fixtures("irpgo", "clang22"))
	validate("fleet status", "fleet-status.schema.json", run(0, profuse, "fleet", "status", "--json", job))

	// reasons validates those in a quarantine and counts them.
	reasons := func(quarantine string) (n int) {
		err := filepath.WalkDir(quarantine, func(path string, _ os.DirEntry, err error) error {
			file, ok := strings.CutSuffix(path, ".reason.json")
			if !ok || err != nil {
				return err
			}
			n++
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			validate(path, "merge-report.schema.json#/$defs/input", data)
			_, err = os.Stat(file)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if got, want := reasons(quarantine), strings.Count(string(one), `"outcome": "left_out"`); got != want || got == 0 {
		t.Errorf("%d reasons in quarantine for %d files left out", got, want)
	}
	watched := filepath.Join(dir, "watched")
	if err := os.CopyFS(watched, os.DirFS(fixtures("irpgo", "clang22"))); err != nil {
		t.Fatal(err)
	}
	run(1, profuse, "watch", watched, "-o", filepath.Join(dir, "watched.profdata"), "--once", "--settle=0s", "--quarantine", filepath.Join(dir, "refused"))
	if reasons(filepath.Join(dir, "refused")) == 0 {
		t.Error("watch refused no file")
	}
	if runtime.GOOS == "linux" {
		t.Run("doctor", func(t *testing.T) {
			app := filepath.Join(dir, "app")
			source := filepath.Join(dir, "app.c")
			oracle.WriteFile(t, source, []byte("int main(void) { return 0; }\n"))
			run(0, oracle.Tool(t, "clang-22"), "-fprofile-instr-generate", source, "-o", app)
			t.Chdir(dir)
			t.Setenv("LLVM_PROFILE_FILE", "app.profraw")
			got := run(1, profuse, "doctor", "--json", "--", "sh", "-c", "./app; echo damaged > app.profraw; exec true")
			validate("doctor", "doctor.schema.json", got)
			for _, member := range []string{"instrumented", "pattern", "profiles", "cause", "error"} {
				if !bytes.Contains(got, []byte(`"`+member+`":`)) {
					t.Errorf("doctor says nothing of %q:\n%s", member, got)
				}
			}
		})
	}
	for _, class := range profile.Classes() {
		if !bytes.Contains(output, []byte(`"class": "`+class+`"`)) {
			t.Errorf("no error of class %s", class)
		}
	}
}

// fixtureFiles returns the files in a folder and below.
func fixtureFiles(t *testing.T, folder string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
