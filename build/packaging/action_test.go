package packaging

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// An action is what of action.yml the tests need.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, If, Shell, Run, Uses string
			Env                        map[string]string
		}
	}
}

// TestAction runs the steps of action.yml in a shell, as GitHub does: with the values of the inputs in variables.
func TestAction(t *testing.T) {
	oracle.Tool(t, "bash")
	root := oracle.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	run(t, root, "go", "build", "-o", bin, "./cmd/profuse")
	profiles := filepath.Join(root, "testdata", "irpgo", "clang22")

	dir := t.TempDir()
	summary, failed := a.run(t, dir, bin, map[string]string{
		"profiles": filepath.Join(profiles, "ir-run1.profraw") + "\n" + filepath.Join(profiles, "ir-run2.profraw"),
	})
	if failed != "" || !strings.Contains(summary, "## Profile app.profdata") || !strings.Contains(summary, "store_best") {
		t.Errorf("a merge: step %q failed; summary:\n%s", failed, summary)
	}
	for _, file := range []string{"app.profdata", "profuse-report.html", "profuse-merge.json"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}

	summary, failed = a.run(t, t.TempDir(), bin, map[string]string{
		"profiles": filepath.Join(profiles, "ir-run3.profraw"), "against": filepath.Join(dir, "app.profdata"),
		"check-options": "--min-overlap=99%\n--min-total-ratio=0.9",
	})
	if failed != "Compare with the last good profile" || !strings.Contains(summary, "overlap") {
		t.Errorf("a profile that differs: step %q failed; summary:\n%s", failed, summary)
	}

	// A name is never run, and what cannot be merged ends the job.
	summary, failed = a.run(t, t.TempDir(), bin, map[string]string{"profiles": "$(touch ran)`touch ran`", "merge-options": "--max-lost-inputs=0"})
	if failed != "Merge" || !strings.Contains(summary, "touch ran") {
		t.Errorf("no such file: step %q failed; summary:\n%s", failed, summary)
	}
}

var expression = regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)

// run runs the steps with the values of some inputs. It returns the job summary and the name
// of the step that failed.
func (a *action) run(t *testing.T, dir, bin string, with map[string]string) (summary, failed string) {
	t.Helper()
	inputs := make(map[string]string)
	for name, in := range a.Inputs {
		inputs[name] = in.Default
	}
	maps.Copy(inputs, with)
	file := filepath.Join(dir, "summary.md")
	for _, step := range a.Runs.Steps {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(step.If, "inputs."), " != ''"); step.Uses != "" || ok && inputs[name] == "" {
			continue
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+dir,
			"GITHUB_STEP_SUMMARY="+file, "GITHUB_OUTPUT="+filepath.Join(dir, "outputs"), "GITHUB_PATH="+filepath.Join(dir, "path"))
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+expression.ReplaceAllStringFunc(value, func(e string) string {
				return inputs[expression.FindStringSubmatch(e)[1]]
			}))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %v\n%s", step.Name, err, out)
			failed = step.Name
			break
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the value of an input was run")
	}
	return string(text), failed
}
