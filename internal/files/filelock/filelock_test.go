package filelock

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const (
	childEnv = "PROFUSE_TEST_FILELOCK"
	rounds   = 20
)

// TestMain also is the program that the tests start: it counts in the file
// named by childEnv, or holds its lock until it is killed.
func TestMain(m *testing.M) {
	what, path, ok := strings.Cut(os.Getenv(childEnv), ":")
	if !ok {
		os.Exit(m.Run())
	}
	var err error
	switch what {
	case "count":
		for range rounds {
			if err = increment(path); err != nil {
				break
			}
		}
	case "hold":
		if _, err = Acquire(context.Background(), path, nil); err == nil {
			os.Stdout.WriteString("held\n")
			io.Copy(io.Discard, os.Stdin)
		}
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// increment replaces the file by one that holds the next number.
func increment(path string) error {
	lock, err := Acquire(context.Background(), path, nil)
	if err != nil {
		return err
	}
	defer lock.Release()
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(b))
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(path, atomicfile.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	f.Write([]byte(strconv.Itoa(n + 1)))
	return f.Commit()
}

func counter(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "counter")
	oracle.WriteFile(t, path, []byte("0"))
	return path
}

func child(t *testing.T, what, path string) *exec.Cmd {
	t.Helper()
	exe := oracle.Must(os.Executable())(t)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+what+":"+path)
	return cmd
}

// TestExclusive counts in one file from several processes and goroutines, half of them through a link, each replacing the file.
func TestExclusive(t *testing.T) {
	const workers = 3
	path := counter(t)
	link := path
	if runtime.GOOS != "windows" {
		link = filepath.Join(t.TempDir(), "link")
		oracle.NoError(t, os.Symlink(path, link))
	}
	var wg sync.WaitGroup
	for range workers {
		cmd := child(t, "count", path)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		wg.Go(func() {
			for range rounds {
				if err := increment(link); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b := oracle.ReadFile(t, path)
	if want := strconv.Itoa(2 * workers * rounds); string(b) != want {
		t.Errorf("counted to %s, want %s", b, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestKilled: the system releases the lock of a killed process, and Acquire calls waiting once before it waits.
func TestKilled(t *testing.T) {
	path := counter(t)
	cmd := child(t, "hold", path)
	out := oracle.Must(cmd.StdoutPipe())(t)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	oracle.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	waited := 0
	if _, err := Acquire(ctx, path, func() { waited++ }); !errors.Is(err, context.DeadlineExceeded) || waited != 1 {
		t.Errorf("while it is held: %v, waiting called %d times", err, waited)
	}

	lock := oracle.Must(Acquire(context.Background(), path, func() { cmd.Process.Kill() }))(t)
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestAcquireErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Acquire(context.Background(), filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Acquire(context.Background(), dir, nil); err == nil {
		t.Error("a folder was locked")
	}
	lock, err := Acquire(context.Background(), os.DevNull, nil)
	if err != nil {
		t.Error(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
