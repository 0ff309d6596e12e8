package merging_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/merge"
)

// TestReportSchema: reports of merges of all fixtures, most of them broken on
// purpose or of other versions, meet docs/report.schema.json, and so do the
// reasons in a quarantine. They are the same for any number of workers.
//
// It stands apart from the other tests of the command: those start their own
// binary hundreds of times, and loading the validator takes longer than profuse.
func TestReportSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("builds profuse")
	}
	root := oracle.Root(t)
	c := jsonschema.NewCompiler()
	validate := func(path, fragment string) []byte {
		s, err := c.Compile(filepath.Join(root, "docs", "report.schema.json") + fragment)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := s.Validate(value); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return data
	}
	dir := t.TempDir()
	profuse := filepath.Join(dir, "profuse.exe") // Windows wants the ending
	if _, stderr, code := oracle.Run(t, oracle.Tool(t, "go"), "build", "-o", profuse, "github.com/profuse-pgo/profuse/cmd/profuse"); code != 0 {
		t.Fatal(stderr)
	}
	run := func(want int, report string, args ...string) []byte {
		t.Helper()
		path := filepath.Join(dir, report)
		if _, stderr, code := oracle.Run(t, profuse, append([]string{"merge", "--report", path}, args...)...); code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, stderr)
		}
		return validate(path, "")
	}
	out := filepath.Join(dir, "out.profdata")
	all := filepath.Join(root, "testdata", "irpgo")
	quarantine := filepath.Join(dir, "quarantine")
	one := run(0, "one.json", "-j", "1", "--failure-mode", "all", "-o", out, all)
	for _, workers := range []string{"2", "7"} {
		if many := run(0, "many.json", "-j", workers, "--failure-mode", "all", "-o", out, all); !bytes.Equal(many, one) {
			t.Errorf("%s workers: another report", workers)
		}
	}
	run(merging.ExitOverBudget, "over.json", "--quarantine", quarantine, "-o", out, all)
	run(0, "mip.json", "-o", filepath.Join(dir, "out.mip"), filepath.Join(root, "testdata", "mip", "all.mip"), filepath.Join(root, "testdata", "mip", "all-1.mipraw"))
	run(0, "each.json", "--per-binary", "--failure-mode", "all", "-o", filepath.Join(dir, "each"), filepath.Join(all, "clang22"))

	reasons := 0
	err := filepath.WalkDir(quarantine, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, merge.ReasonSuffix) {
			reasons++
			validate(path, "#/$defs/input")
			if _, err := os.Stat(strings.TrimSuffix(path, merge.ReasonSuffix)); err != nil {
				t.Error(err)
			}
		}
		return err
	})
	if left := strings.Count(string(one), `"outcome": "left out"`); err != nil || reasons != left || left == 0 {
		t.Errorf("%d reasons in quarantine for %d files left out, %v", reasons, left, err)
	}
}
