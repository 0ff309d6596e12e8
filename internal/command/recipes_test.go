package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// recipes says for each section of docs/recipes.md which project of testdata/recipes its
// commands run in, what else is there, and which tools they need.
var recipes = map[string]struct{ project, setup, tools string }{
	"C++ with CMake":         {project: "cmake", tools: "cmake clang++-22"},
	"Rust with cargo":        {project: "cargo", tools: "cargo"},
	"An existing build":      {setup: rawProfiles},
	"Profiles in CI":         {setup: rawProfiles + ` && profuse merge -q -o last-good.profdata profiles`},
	"Coverage of C++ in CI":  {project: "cmake", setup: committed, tools: "cmake clang++-22 git"},
	"Coverage of Rust in CI": {project: "cargo", tools: "cargo"},
	"Heap profiles":          {project: "heap", tools: "clang++-22"},
	"MIP":                    {project: "mip", tools: "clang-22"},
	"GraalVM":                {setup: `cp "$FIXTURES"/iprof/{small,twin-x3}.iprof .`},
	"Sample profiles":        {setup: `cp "$FIXTURES/sampleprof/lines.afdo" day1.afdo && cp "$FIXTURES/sampleprof/calls.afdo" day2.afdo`},
	"A fleet":                {setup: rawProfiles},
}

const (
	rawProfiles = `mkdir profiles && cp "$FIXTURES"/irpgo/clang22/ir-run*.profraw profiles`
	// committed makes a repository in which the last change is to the program.
	committed = `git init -q . && git add CMakeLists.txt training.txt && git commit -qm 1 && git add . && git commit -qm 2`
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestRecipes runs the shell commands of docs/recipes.md as they stand there, those of a
// section one after the other.
func TestRecipes(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	root := oracle.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/profuse-pgo/profuse/cmd/profuse").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The newest compiler under the name that people use.
	for _, name := range []string{"clang", "clang++"} {
		if path, err := exec.LookPath(name + "-22"); err == nil {
			link(path, name)
		}
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	if len(sections) != len(recipes) {
		t.Errorf("%d sections, the test knows %d", len(sections), len(recipes))
	}
	for _, section := range sections {
		title, body, _ := strings.Cut(section, "\n")
		t.Run(title, func(t *testing.T) {
			recipe, ok := recipes[title]
			if !ok {
				t.Fatal("the test does not know this section")
			}
			for _, tool := range strings.Fields(recipe.tools) {
				oracle.Tool(t, tool)
			}
			dir := t.TempDir()
			if recipe.project != "" {
				if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "recipes", recipe.project))); err != nil {
					t.Fatal(err)
				}
			}
			script := "set -euo pipefail\n" + recipe.setup + "\nset -x\n"
			for _, block := range shellBlock.FindAllStringSubmatch(body, -1) {
				script += block[1]
			}
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "FIXTURES="+filepath.Join(root, "testdata"),
				"PROFUSE_CACHE="+filepath.Join(dir, ".cache"), "CARGO_NET_OFFLINE=true",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
