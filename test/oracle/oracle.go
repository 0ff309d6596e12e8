// Package oracle gives tests the real tools to compare profuse with, and the profiles that those tools wrote.
//
// A test asks for a tool with [LLVM] or [Tool]. Where the tool is missing the test is skipped with a reason that
// begins with [Missing]; with PROFUSE_REQUIRE_ORACLE=1 in the environment it fails instead. The continuous
// integration script sets the variable and also looks for [Missing] in the output, so a comparison cannot quietly
// stop taking place.
//
// A test that takes long for what it proves begins with [Slow]: go test skips it,
// make test runs it. Packages whose tests allocate much call [Main] in TestMain.
//
// Only tests import this package.
package oracle

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Missing begins the reason of every skip and failure that a missing tool causes.
const Missing = "oracle missing: "

// RequireEnv is the environment variable that turns skips into failures when it is "1".
const RequireEnv = "PROFUSE_REQUIRE_ORACLE"

// LLVM returns the path of llvm-profdata of one LLVM release, by its major number: llvm-profdata-22 for 22, or a
// plain llvm-profdata that says it is 22. Without one the test is skipped (see [Missing]).
func LLVM(t testing.TB, version int) string {
	t.Helper()
	name := fmt.Sprintf("llvm-profdata-%d", version)
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, candidate := range []string{
		fmt.Sprintf("/usr/lib/llvm-%d/bin/llvm-profdata", version),
		"llvm-profdata",
	} {
		path, err := exec.LookPath(candidate)
		if err == nil && llvmMajor(path) == version {
			return path
		}
	}
	missing(t, name)
	return ""
}

// Tool returns the path of the first of the named programs that is installed, for example Tool(t, "clang-22",
// "clang"). Without any the test is skipped (see [Missing]).
func Tool(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, strings.Join(names, " or "))
	return ""
}

// GoTool returns the path of a program that the go.mod in a folder of the module has as a
// tool; it is built the first time. Where it cannot be downloaded the test is skipped (see
// [Missing]).
func GoTool(t testing.TB, folder, name string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(Root(t), folder), "tool", "-n", name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		missing(t, name)
	}
	return strings.TrimSpace(string(out))
}

// Run runs a tool to its end with an empty standard input and returns what it printed and its exit code, -1 if a
// signal ended it. A tool that cannot be started fails the test.
func Run(t testing.TB, exe string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return RunIn(t, "", exe, args...)
}

// RunIn is [Run] in the given folder: compilers put the paths of their command line into the names of functions.
func RunIn(t testing.TB, dir, exe string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, diag bytes.Buffer
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = &out, &diag
	code, err := Exec(cmd)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(exe), err)
	}
	return out.String(), diag.String(), code
}

// Samples returns the folder of old and foreign profiles that may lie beside the checkout, ../shared/samples from
// the module root. They cannot be shipped, so without the folder the test is always skipped.
func Samples(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(Root(t)), "shared", "samples")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Skip("samples missing: no folder shared/samples beside the checkout")
	}
	return dir
}

// Root returns the folder of the profuse module that the test belongs to, also from a module nested in it.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleLine.Match(mod) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod of profuse above the working folder")
		}
		dir = parent
	}
}

var (
	moduleLine  = regexp.MustCompile(`(?m)^module github\.com/profuse-pgo/profuse\s*$`)
	versionLine = regexp.MustCompile(`LLVM version (\d+)\.`)
)

func llvmMajor(exe string) int {
	out, err := exec.Command(exe, "--version").Output()
	if err != nil {
		return 0
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return 0
	}
	major, _ := strconv.Atoi(string(m[1]))
	return major
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(RequireEnv) == "1" {
		t.Fatalf("%s%s is not installed, and %s=1", Missing, what, RequireEnv)
	}
	t.Skipf("%s%s is not installed", Missing, what)
}
