package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestPackages: the .deb and the .rpm that build/scripts/package.sh makes install, and profuse runs from each in a
// root that has nothing else. That their bytes are the same each time, build/scripts/release.sh finds out.
func TestPackages(t *testing.T) {
	oracle.Slow(t)
	for _, tool := range []string{"dpkg", "rpm", "zip", "man"} {
		oracle.Tool(t, tool)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can install into a folder and change the root")
	}
	root, dir := oracle.Root(t), t.TempDir()
	profuse := filepath.Join(dir, "profuse")
	t.Setenv("CGO_ENABLED", "0")
	run(t, root, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", profuse, "./cmd/profuse")
	const version = "1.2.3-rc.1"
	run(t, root, "build/scripts/package.sh", "profuse", "linux/"+runtime.GOARCH, version, "1764000000", profuse, profuse, filepath.Join(dir, "dist"))
	name := filepath.Join(dir, "dist", "profuse-"+version+"-linux-"+runtime.GOARCH)

	for kind, install := range map[string][]string{
		"deb": {"dpkg", "--force-not-root", "--force-script-chrootless", "--log=/dev/null", "--root=ROOT", "--install", name + ".deb"},
		"rpm": {"rpm", "--root=ROOT", "--nodeps", "--install", name + ".rpm"},
	} {
		t.Run(kind, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "root")
			for _, folder := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "tmp"} {
				if err := os.MkdirAll(filepath.Join(at, folder), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for i := range install {
				install[i] = strings.ReplaceAll(install[i], "ROOT", at)
			}
			run(t, dir, install[0], install[1:]...)
			demo(t, at)
			if page := run(t, dir, "man", "-l", filepath.Join(at, "usr/share/man/man1/profuse-merge.1.gz")); !strings.Contains(page, "--max-lost-inputs") {
				t.Errorf("manual page: %.300s", page)
			}
			script := fmt.Sprintf("source %s && complete -p profuse", filepath.Join(at, "usr/share/bash-completion/completions/profuse"))
			run(t, dir, "bash", "-c", script)
		})
	}

	// The container of the Dockerfile: the program, an empty /tmp, a user without privileges.
	t.Run("container", func(t *testing.T) {
		at := t.TempDir()
		run(t, at, "install", "-D", profuse, "usr/bin/profuse")
		if err := os.Mkdir(filepath.Join(at, "tmp"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(at, "tmp"), 0o777); err != nil {
			t.Fatal(err)
		}
		demo(t, at)
	})
}

// demo runs "profuse demo" in a root, as a user without privileges.
func demo(t *testing.T, root string) {
	t.Helper()
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	out := run(t, root, "chroot", "--userspec=65532:65532", root, "/usr/bin/profuse", "demo", "-o", "/tmp/demo")
	if !strings.Contains(out, "app.profdata") {
		t.Errorf("demo: %s", out)
	}
}

// run runs a command that must succeed and returns its standard output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
