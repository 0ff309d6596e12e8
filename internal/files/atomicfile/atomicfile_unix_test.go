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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
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
	case "hold":
		os.Stdout.WriteString("held\n")
		io.Copy(io.Discard, os.Stdin)
	case "end":
		RemoveAll()
		RemoveAll()
		if _, err := Create(out, Options{}); !errors.Is(err, errEnding) {
			exit(fmt.Errorf("Create after RemoveAll: %v", err))
		}
		if _, err := f.Write(make([]byte, 2*bufferSize)); err != nil {
			exit(fmt.Errorf("Write after RemoveAll: %v", err))
		}
		if err := f.Commit(); !errors.Is(err, errEnding) {
			exit(fmt.Errorf("Commit after RemoveAll: %v", err))
		}
		exit(nil)
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
			entries := oracle.Must(os.ReadDir(dir))(t)
			if len(entries) != 2 || !IsTemp(entries[0].Name()) {
				t.Errorf("folder holds %v, want a temporary file and out", entries)
			}
			// The next process that writes there removes it.
			if stderr, err := runChild(t, "commit", out, nil); err != nil {
				t.Fatal(err, stderr)
			}
			wantFiles(t, dir, "out")
		})
	}
}

// TestRemoveAll: a process that ends by itself leaves nothing behind, and what it had committed stays.
func TestRemoveAll(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	write(t, out, "old")
	if stderr, err := runChild(t, "end", out, nil); err != nil {
		t.Fatal(err, stderr)
	}
	wantContents(t, out, "old")
	wantFiles(t, dir, "out")
}

// TestAbandoned: only temporary files of ended processes are removed, not files of running
// processes or files with similar names.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	exe := oracle.Must(os.Executable())(t)
	running := exec.Command(exe, filepath.Join(dir, "held"))
	running.Env = append(os.Environ(), childEnv+"=hold")
	stdin := oracle.Must(running.StdinPipe())(t)
	stdout := oracle.Must(running.StdoutPipe())(t)
	oracle.NoError(t, running.Start())
	defer running.Wait()
	defer stdin.Close()
	if _, err := io.ReadFull(stdout, make([]byte, len("held\n"))); err != nil {
		t.Fatal(err)
	}
	own := create(t, filepath.Join(dir, "own"), Options{})

	others := []string{".profuse-notes.tmp", tempName() + "x"}
	for _, name := range others {
		write(t, filepath.Join(dir, name), "a user's")
	}
	link, fifo := filepath.Join(dir, tempName()), filepath.Join(dir, tempName())
	oracle.NoError(t, os.Symlink(others[0], link), syscall.Mkfifo(fifo, 0o600))
	abandoned := filepath.Join(dir, tempName())
	write(t, abandoned, "half a prof")
	count := func() int {
		entries := oracle.Must(os.ReadDir(dir))(t)
		return len(entries)
	}
	before := count()
	removeAbandoned(dir)
	if _, err := os.Lstat(abandoned); !errors.Is(err, fs.ErrNotExist) || count() != before-1 {
		t.Errorf("%d files before, %d after; the abandoned one: %v", before, count(), err)
	}

	if err := own.Commit(); err != nil {
		t.Error(err)
	}
	stdin.Close()
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "held")); err != nil {
		t.Error("the other process could not commit:", err)
	}
}

// TestAbandonedRace: what is being made is not taken for abandoned at any moment.
func TestAbandonedRace(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	var cleaner, writers sync.WaitGroup
	for range 2 {
		cleaner.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					removeAbandoned(dir)
				}
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for range 50 {
				f, err := Create(filepath.Join(dir, fmt.Sprint(w)), Options{})
				if err == nil {
					f.Write([]byte("x"))
					err = f.Commit()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	cleaner.Wait()
	wantFiles(t, dir, "0", "1", "2", "3")
}

// TestLike: a copy has the permission bits and the time of what it is a copy of.
func TestLike(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	write(t, from, "x")
	write(t, to, "y")
	modified := time.Unix(1_234_567_890, 123_000_000)
	oracle.NoError(t, os.Chmod(from, 0o604), os.Chtimes(from, modified, modified))
	info := oracle.Must(os.Stat(from))(t)
	oracle.NoError(t, create(t, to, Options{Like: info}).Commit())
	got, err := os.Stat(to)
	if err != nil || got.Mode() != info.Mode() || !got.ModTime().Equal(modified) {
		t.Errorf("%v %v, want %v %v", got.Mode(), got.ModTime(), info.Mode(), modified)
	}
}

// TestFullDisk lets writing fail in the middle, by a limit on the size of a file: a full disk fails in the same call.
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
				oracle.NoError(t, os.Chmod(out, c.existing))
			}
			oracle.NoError(t, create(t, out, Options{}).Commit())
			info := oracle.Must(os.Stat(out))(t)
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
	oracle.NoError(t, os.Chmod(out, 0o444))
	if f, err := Create(out, Options{}); !errors.Is(err, fs.ErrPermission) {
		f.Close()
		t.Errorf("got %v", err)
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"real/deep", "links"} {
		oracle.NoError(t, os.MkdirAll(d, 0o777))
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
		oracle.NoError(t, os.Symlink(to, link))
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
	oracle.NoError(t, syscall.Mkfifo(fifo, 0o600))
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(fifo)
		got <- string(b)
	}()
	f := create(t, fifo, Options{Inputs: []string{fifo}})
	io.WriteString(f, "through the pipe")
	oracle.NoError(t, f.Commit())
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
			log := oracle.Must(os.Create(filepath.Join(dir, "log")))(t)
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
	oracle.NoError(t, os.Symlink("/dev/stdout", link))
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
	out := oracle.Must(os.CreateTemp(t.TempDir(), ""))(t)
	defer out.Close()
	path := fmt.Sprint("/dev/fd/", out.Fd())
	for range 2 {
		f := create(t, path, Options{})
		io.WriteString(f, "x")
		oracle.NoError(t, f.Commit())
	}
	wantContents(t, out.Name(), "xx")
	if _, err := Create(path, Options{Inputs: []string{out.Name()}}); !errors.Is(err, ErrSameFile) {
		t.Errorf("an input through a descriptor: %v", err)
	}
}
