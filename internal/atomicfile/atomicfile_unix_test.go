//go:build linux || darwin

package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv makes the test binary write a file instead of testing.
const childEnv = "PROFUSE_ATOMICFILE_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(childEnv); how != "" {
		child(how, os.Args[len(os.Args)-1])
	}
	os.Exit(m.Run())
}

// child writes 1 MiB to out and ends in the way that how says.
func child(how, out string) {
	exit := func(err error) {
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	if how == "limit" {
		signal.Ignore(syscall.SIGXFSZ)
		lim := syscall.Rlimit{Cur: 512 << 10, Max: 512 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
			exit(err)
		}
	}
	f, err := Create(out, Options{})
	if err != nil {
		exit(err)
	}
	defer f.Close()
	f.Write(bytes.Repeat([]byte("new\n"), 1<<18))
	switch how {
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "exit":
		os.Exit(0)
	}
	exit(f.Commit())
}

func runChild(t *testing.T, how, out string, stdout io.Writer) (stderr string, err error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, out)
	cmd.Env = append(os.Environ(), childEnv+"="+how)
	var diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &diag
	err = cmd.Run()
	return diag.String(), err
}

func TestKilledWriterLeavesTheOldFile(t *testing.T) {
	for _, how := range []string{"kill", "exit"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			write(t, out, "old")
			runChild(t, how, out, nil)
			wantContents(t, out, "old")
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) != 2 || !IsTemp(entries[0].Name()) {
				t.Errorf("folder holds %v, want a temporary file and out", entries)
			}
		})
	}
}

// TestFullDisk lets writing fail in the middle, by a limit on the size of a
// file: a full disk fails in the same call.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	write(t, out, "old")
	stderr, err := runChild(t, "limit", out, nil)
	if err == nil || !strings.Contains(stderr, out) || !strings.Contains(stderr, syscall.EFBIG.Error()) {
		t.Errorf("got %v, message %q", err, stderr)
	}
	wantContents(t, out, "old")
	wantFiles(t, dir, "out")
}

func TestPermissions(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	for _, c := range []struct {
		name           string
		existing, want fs.FileMode
	}{
		{name: "new", want: 0o640},
		{name: "existing keeps its own", existing: 0o604, want: 0o604},
		{name: "existing wins over the umask", existing: 0o666, want: 0o666},
		{name: "executable", existing: 0o755, want: 0o755},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			if c.existing != 0 {
				write(t, out, "old")
				if err := os.Chmod(out, c.existing); err != nil {
					t.Fatal(err)
				}
			}
			if err := create(t, out, Options{}).Commit(); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(out)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode(); got != c.want {
				t.Errorf("mode %v, want %v", got, c.want)
			}
		})
	}
}

func TestReadOnlyFileIsNotReplaced(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may write everything")
	}
	out := filepath.Join(t.TempDir(), "out")
	write(t, out, "old")
	if err := os.Chmod(out, 0o444); err != nil {
		t.Fatal(err)
	}
	if f, err := Create(out, Options{}); !errors.Is(err, fs.ErrPermission) {
		f.Close()
		t.Errorf("got %v", err)
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"real/deep", "links"} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "real/file", "old")
	for link, to := range map[string]string{
		"links/direct":   "../real/file",
		"links/absolute": filepath.Join(dir, "real/file"),
		"links/chain":    "direct",
		"links/folder":   "../real/deep",   // links/folder/.. is real, not links
		"links/dotdot":   "folder/../file", // real/file
		"links/new":      "../real/created",
		"links/loop":     "loop",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, file string }{
		{"links/direct", "real/file"},
		{"links/absolute", "real/file"},
		{"links/chain", "real/file"},
		{"links/dotdot", "real/file"},
		{"links/folder/../file", "real/file"},
		{"links/new", "real/created"},
		{"links/folder/x", "real/deep/x"},
	} {
		f := create(t, c.path, Options{})
		io.WriteString(f, c.path)
		if err := f.Commit(); err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
		wantContents(t, c.file, c.path)
	}
	wantFiles(t, "links", "absolute", "chain", "direct", "dotdot", "folder", "loop", "new")
	wantFiles(t, "real", "created", "deep", "file")
	for _, link := range []string{"direct", "absolute", "chain", "dotdot", "new"} {
		if info, err := os.Lstat("links/" + link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link: %v, %v", link, info.Mode(), err)
		}
	}
	if f, err := Create("links/loop", Options{}); err == nil {
		f.Close()
		t.Error("a loop of links was opened")
	}
}

func TestFIFO(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(fifo)
		got <- string(b)
	}()
	f := create(t, fifo, Options{Inputs: []string{fifo}})
	io.WriteString(f, "through the pipe")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "through the pipe" {
		t.Errorf("read %q", s)
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("no FIFO any more: %v, %v", info, err)
	}
	wantFiles(t, dir, "fifo")
}

func TestDevices(t *testing.T) {
	f := create(t, "/dev/null", Options{})
	io.WriteString(f, "x")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("/dev/null is %v, %v", info, err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		return
	}
	f = create(t, "/dev/full", Options{})
	io.WriteString(f, "x")
	if err := f.Commit(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("on a full device: %v", err)
	}
}

// TestStandardOutput writes to a standard output that is a regular file with
// something in it already: it must be added to, not replaced.
func TestStandardOutput(t *testing.T) {
	want := "before\n" + strings.Repeat("new\n", 1<<18)
	for _, path := range []string{"-", "/dev/stdout", "/dev/fd/1", "/dev/../dev//stdout"} {
		t.Run(path, func(t *testing.T) {
			dir := t.TempDir()
			log, err := os.Create(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			io.WriteString(log, "before\n")
			if stderr, err := runChild(t, "commit", path, log); err != nil {
				t.Fatal(err, stderr)
			}
			io.WriteString(log, "after\n")
			wantContents(t, log.Name(), want+"after\n")
			wantFiles(t, dir, "log")
		})
	}
	// A symbolic link to it, and a pipe.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/dev/stdout", link); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if stderr, err := runChild(t, "commit", link, &out); err != nil {
		t.Fatal(err, stderr)
	}
	if out.String() != want[len("before\n"):] {
		t.Errorf("the pipe got %d bytes", out.Len())
	}
}

// TestStandardOutputStaysOpen commits to standard output twice in one process.
func TestStandardOutputStaysOpen(t *testing.T) {
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	path := fmt.Sprint("/dev/fd/", out.Fd())
	for range 2 {
		f := create(t, path, Options{})
		io.WriteString(f, "x")
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	wantContents(t, out.Name(), "xx")
	if _, err := Create(path, Options{Inputs: []string{out.Name()}}); !errors.Is(err, ErrSameFile) {
		t.Errorf("an input through a descriptor: %v", err)
	}
}
