package command

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// documented says where the commands of a document run, or those of one of its sections: what is in the folder and
// which tools they need. Commands that match other do not run here; those that match fails exit with 1.
var documented = map[string]struct{ project, setup, tools, other, fails string }{
	"README.md": {
		setup: `mkdir bin profiles && ln -s "$FIXTURES" testdata && ln -s "$(command -v profuse)" bin
			cp testdata/irpgo/clang22/ir-run*.profraw profiles && echo 'int main() {}' >app.cpp`,
		tools: "clang++-22", other: "^go install|^make|cargo", fails: "bin/profuse check",
	},

	"docs/recipes.md#C++ with CMake":            {project: "cmake", tools: "cmake clang++-22"},
	"docs/recipes.md#Rust with cargo":           {project: "cargo", tools: "cargo"},
	"docs/recipes.md#An existing build":         {setup: rawProfiles},
	"docs/recipes.md#Profiles in CI":            {setup: rawProfiles + ` && profuse merge -q -o last-good.profdata profiles`},
	"docs/recipes.md#Coverage of C++ in CI":     {project: "cmake", setup: committed, tools: "cmake clang++-22 git"},
	"docs/recipes.md#Coverage of Rust in CI":    {project: "cargo", tools: "cargo"},
	"docs/recipes.md#Coverage of Rust doctests": {project: "doctests", tools: "cargo rustdoc"},
	"docs/recipes.md#Coverage in GitLab, Codecov, Coveralls and SonarQube": {
		project: "cmake", setup: committed, tools: "cmake clang++-22 git", other: "^codecovcli|^jq|^sonar-scanner", // services
	},
	"docs/recipes.md#Heap profiles": {project: "heap", tools: "clang++-22"},
	"docs/recipes.md#MIP":           {project: "mip", tools: "clang-22"},
	"docs/recipes.md#GraalVM":       {setup: `cp "$FIXTURES"/iprof/{small,twin-x3}.iprof .`, other: "native-image"},
	"docs/recipes.md#Sample profiles": {
		setup: `cp "$FIXTURES/sampleprof/lines.afdo" day1.afdo && cp "$FIXTURES/sampleprof/calls.afdo" day2.afdo
			cp "$FIXTURES/profgen/clang" app && for i in 1 2; do sed "1s/clang/app/" "$FIXTURES/profgen/short.script" >host$i.perf.data; done`,
		other: "^perf record", // not every machine can
	},
	"docs/recipes.md#A fleet": {setup: rawProfiles},

	"docs/coverage.md": {
		project: "coverage", tools: "clang-22 git",
		setup: `git init -q -b main . && git add . && git commit -qm 1 && sed -i 's/n > 0/n >= 0/' src/app.c
			C='clang -fprofile-instr-generate -fcoverage-mapping -Wl,--build-id'
			$C -shared -fPIC src/lib.c -o libapp.so && $C src/app.c ./libapp.so -o app && mkdir -p target/debug/deps && cp app libapp.so target/debug/deps
			LLVM_PROFILE_FILE=cov/login.profraw ./app 1 && LLVM_PROFILE_FILE=cov/search-1.profraw ./app 2 && LLVM_PROFILE_FILE=cov/search-2.profraw ./app 3 4
			for i in 1 2; do profuse coverage --program app -o shard$i.info cov/search-$i.profraw; done`,
		other: `ctest|cargo|app\.wasm`, // the recipes run them, coverage-wasm.txtar the module, which needs a sysroot
	},
	"docs/export.md": {
		project: "mip", tools: "clang-22 zip genhtml",
		setup: `ln -s "$FIXTURES" testdata && cp testdata/iprof/app.iprof . && (cd testdata/iprof/app/classes && zip -qr "$OLDPWD/app.jar" .)
			profuse merge -q -o app.profdata testdata/irpgo/clang22/ir-run1.profraw
			profuse cc -- clang -O0 -g -fmachine-profile-generate -fmachine-profile-block-coverage main.c -o app
			./app && profuse merge -q -o app.mip app default.mipraw`,
	},
	"docs/fleet.md": {
		setup: `mkdir raw && cp "$FIXTURES"/irpgo/clang22/ir-run*.profraw raw
			for d in 22 23; do for r in eu canary; do mkdir -p labelled/$r && cp raw/ir-run1.profraw labelled/$r/$d.profraw; done
			profuse fleet plan --labels '{region}/' jobs/2026-11-$d labelled; for i in 0 1; do profuse fleet task jobs/2026-11-$d --index $i; done; done`,
		other: "/shared/|sh monday.sh|profuse-fleet|kubectl", // fleet_slurm_linux_test.go, fleet_kubernetes_linux_test.go
	},
	"docs/formats.md": {setup: `mkdir monday tuesday && cp "$FIXTURES/irpgo/clang22/ir-run1.profraw" monday && cp "$FIXTURES/irpgo/clang22/ir-run2.profraw" tuesday`},
	"docs/iprof.md":   {setup: `ln -s "$FIXTURES" testdata`, fails: `check testdata/iprof/\*`},
	"docs/library.md": {other: "go get"},
	"docs/llvm-cov.md": {
		setup: `mkdir "$HOME/bin" && echo 'int main(void) { return 0; }' >app.c`, tools: "clang-22",
		other: "cargo test|target/debug", // TestRust of llvmcov
	},
	"docs/memprof.md": {
		project: "heap", tools: "clang++-22",
		setup: `ln -s "$FIXTURES" testdata && mkdir bin && ln -s "$(command -v profuse)" bin && R=testdata/memprof/raw`,
	},
	"docs/mip.md": {
		project: "mip", tools: "clang-22 gcc cmake make objcopy",
		setup: `echo 'all: main' >Makefile && echo 'project(app C)
			add_executable(app-cmake main.c)' >CMakeLists.txt`,
		other: "RUNS|cargo|profuse-cc", // TestCargo of the driver
	},
	"docs/mip.md#Private coverage": {
		project: "mip", tools: "clang-22",
		setup: `mkdir runs packs && profuse cc -- clang -fmachine-profile-generate -fmachine-profile-function-coverage main.c -o app
			LLVM_MIP_PROFILE_FILENAME=runs/1.mipraw ./app && profuse pack -q --privacy 1 --program app -o packs/1.tar.zst runs`,
	},
	"docs/mip.md#Scoring orders": {
		project: "mip", tools: "clang-22",
		setup: `profuse cc -- clang -fmachine-profile-generate main.c -o app && cp app other-build && echo main >app.order
			./app && profuse merge -q -o app.mip app default.mipraw`,
	},
	"docs/sample.md": {
		tools: "clang++-22",
		setup: `ln -s "$FIXTURES" testdata && mkdir days monday tuesday build && for i in 1 2; do cp testdata/sampleprof/lines.afdo days/2026-11-$i.afdo; done
			cp testdata/sampleprof/lines.afdo monday && cp testdata/sampleprof/calls.afdo tuesday && cp testdata/sampleprof/lines.afdo app.afdo
			clang++ -g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fdebug-info-for-profiling testdata/sampleprof/src/work.cpp -o build/app`,
	},
	"docs/report-page.md": {setup: `for f in app before after; do profuse merge -q -o $f.profdata "$FIXTURES"/irpgo/clang22/ir-run1.profraw; done`, other: "profuse view"},
	"docs/watch.md":       {other: "profuse watch"}, // it does not end

	// These take hours.
	"docs/mip-benchmark.md": {other: "."}, "docs/performance.md": {other: "."},
	// Generated.
	"docs/commands.md": {other: "."},
}

const (
	rawProfiles = `mkdir profiles && cp "$FIXTURES"/irpgo/clang22/ir-run*.profraw profiles`
	// committed makes a repository in which the last change is to the program.
	committed = `git init -q . && git add CMakeLists.txt training.txt && git commit -qm 1 && git add . && git commit -qm 2`
)

var heading = regexp.MustCompile(`\n##+ `)

// TestDocuments runs the shell commands of README.md and docs as they stand there, those of
// a document, or of a section with an entry of its own, one after the other.
func TestDocuments(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	root := oracle.Root(t)
	bin := t.TempDir() // with the newest compiler under the name that people use
	for _, name := range []string{"clang", "clang++"} {
		if path, err := exec.LookPath(name + "-22"); err == nil {
			oracle.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
		}
	}
	seen := maps.Clone(documented)
	files, _ := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text := oracle.ReadFile(t, file)
		name, _ := filepath.Rel(root, file)
		parts := map[string]string{}
		for i, section := range heading.Split(string(text), -1) {
			key := name
			if title, _, _ := strings.Cut(section, "\n"); i > 0 {
				if _, ok := documented[name+"#"+title]; ok {
					key += "#" + title
				}
			}
			parts[key] += section
		}
		for key, text := range parts {
			commands := shellCommands(text)
			delete(seen, key)
			if len(commands) > 0 {
				t.Run(key, func(t *testing.T) {
					t.Parallel()
					runDocumented(t, key, commands, bin, filepath.Join(root, "testdata"))
				})
			}
		}
	}
	for key := range seen {
		t.Errorf("there is no %s", key)
	}
}

// shellCommands returns the commands in a document: blocks of sh, the lines behind prompts in
// blocks of console, and indented blocks.
func shellCommands(text string) (commands []string) {
	fence, continued := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if language, ok := strings.CutPrefix(line, "```"); ok {
			if fence != "" {
				language = ""
			} else if language == "" {
				language = "text"
			}
			fence = language
			continue
		}
		command, ok := strings.CutPrefix(line, "    ")
		switch {
		case fence == "sh":
			command, ok = line, line != ""
		case fence == "console" && !continued:
			command, ok = strings.CutPrefix(line, "$ ")
		case fence == "console":
			command, ok = line, true
		case fence != "":
			ok = false
		}
		switch {
		case !ok:
			continue
		case continued:
			commands[len(commands)-1] += "\n" + command
		default:
			commands = append(commands, command)
		}
		continued = strings.HasSuffix(command, `\`)
	}
	return commands
}

func runDocumented(t *testing.T, key string, commands []string, bin, fixtures string) {
	where, ok := documented[key]
	if !ok {
		t.Fatalf("the test does not know how to run %q", commands)
	}
	matches := func(pattern, command string) bool {
		return pattern != "" && regexp.MustCompile(pattern).MatchString(command)
	}
	dir := t.TempDir()
	script, n := "set -euo pipefail\n"+where.setup+"\nset -x\n", 0
	for _, command := range commands {
		switch {
		case matches(where.other, command):
			continue
		case matches(where.fails, command):
			command = "if " + command + "\nthen false; else [[ $? == 1 ]]; fi"
		}
		script += command + "\n"
		n++
	}
	if n == 0 {
		return
	}
	for _, tool := range strings.Fields(where.tools) {
		oracle.Tool(t, tool)
	}
	if where.project != "" {
		oracle.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "recipes", where.project))))
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "FIXTURES="+fixtures,
		"PROFUSE_CACHE="+filepath.Join(dir, ".cache"), "CARGO_NET_OFFLINE=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if strings.Contains(script, "$HOME") {
		cmd.Env = append(cmd.Env, "HOME="+dir)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
