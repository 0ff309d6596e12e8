package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func write(t *testing.T, name, contents string) {
	t.Helper()
	oracle.WriteFile(t, name, []byte(contents))
}

func wantContents(t *testing.T, name, want string) {
	t.Helper()
	got := oracle.ReadFile(t, name)
	if string(got) != want {
		t.Errorf("%s holds %.40q (%d bytes), want %.40q", filepath.Base(name), got, len(got), want)
	}
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries := oracle.Must(os.ReadDir(dir))(t)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func create(t *testing.T, path string, opts Options) *File {
	t.Helper()
	f := oracle.Must(Create(path, opts))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestCommitReplaces(t *testing.T) {
	for _, size := range []int{0, 1, bufferSize, 3*bufferSize + 1} {
		dir := t.TempDir()
		out := filepath.Join(dir, "out.profdata")
		write(t, out, "old")
		f := create(t, out, Options{})
		data := strings.Repeat("x", size)
		if _, err := f.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
		wantContents(t, out, "old")
		oracle.NoError(t, f.Commit())
		wantContents(t, out, data)
		if err := f.Close(); err != nil {
			t.Errorf("Close after Commit: %v", err)
		}
		wantContents(t, out, data)
		wantFiles(t, dir, "out.profdata")
	}
}

func TestCloseLeavesTheOldFile(t *testing.T) {
	for name, end := range map[string]func(*File) error{
		"close": (*File).Close,
		"twice": func(f *File) error { return errors.Join(f.Close(), f.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			write(t, out, "old")
			f := create(t, out, Options{})
			f.Write(bytes.Repeat([]byte("new"), bufferSize))
			if err := end(f); err != nil {
				t.Error(err)
			}
			wantContents(t, out, "old")
			wantFiles(t, dir, "out")
			if _, err := f.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
				t.Errorf("Write after the end: %v", err)
			}
			if err := f.Commit(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("Commit after the end: %v", err)
			}
			wantContents(t, out, "old")
		})
	}
}

func TestNewFileOnlyAfterCommit(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	f := create(t, out, Options{})
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Commit: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 || !IsTemp(entries[0].Name()) {
		t.Errorf("temporary file not recognised: %v", entries)
	}
	oracle.NoError(t, f.Commit())
	wantContents(t, out, "")
	if err := f.Commit(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Commit: %v", err)
	}
}

func TestCreateErrorsNameTheOutput(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for _, c := range []struct {
		path string
		want error
	}{
		{"", fs.ErrNotExist},
		{filepath.Join(dir, "no-such-folder", "out"), fs.ErrNotExist},
		{filepath.Join(dir, "file", "out"), nil}, // ENOTDIR on unix, not found on windows
		{dir, nil},                               // is a directory
	} {
		f, err := Create(c.path, Options{})
		if err == nil {
			f.Close()
			t.Errorf("Create(%q) succeeded", c.path)
			continue
		}
		if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("Create(%q): %v, want %v", c.path, err, c.want)
		}
		if !strings.Contains(err.Error(), c.path) || strings.Contains(err.Error(), tempPrefix) {
			t.Errorf("Create(%q): message %q", c.path, err)
		}
	}
	wantFiles(t, dir, "file")
}

func TestInputsAreRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	oracle.NoError(t, os.Mkdir("sub", 0o777))
	for _, name := range []string{"a", "b", filepath.Join("sub", "c")} {
		write(t, name, "input "+name)
	}
	oracle.NoError(t, os.Link("a", "hard"))
	links := os.Symlink("a", "soft") == nil
	for _, c := range []struct {
		out   string
		in    []string
		same  bool
		links bool
	}{
		{out: "a", in: []string{"a"}, same: true},
		{out: "a", in: []string{"b", "a"}, same: true},
		{out: "a", in: []string{filepath.Join(dir, "a")}, same: true},
		{out: "./sub/../a", in: []string{"a"}, same: true},
		{out: "hard", in: []string{"a"}, same: true},
		{out: "soft", in: []string{"a"}, same: true, links: true},
		{out: "a", in: []string{"soft"}, same: true, links: true},
		{out: "new", in: []string{"new"}, same: true},
		{out: "a", in: []string{"b", "missing", "-", ""}},
		{out: "new", in: []string{"a", "b"}},
		{out: "a", in: nil},
	} {
		if c.links && !links {
			continue
		}
		f, err := Create(c.out, Options{Inputs: c.in})
		if err == nil {
			f.Close()
		}
		if errors.Is(err, ErrSameFile) != c.same {
			t.Errorf("Create(%q, inputs %q): %v, want refusal: %v", c.out, c.in, err, c.same)
		}
	}
	wantContents(t, "a", "input a")
}

// TestConcurrentCommits has writers race for one target: whoever is last, the file is at every moment one of theirs, whole.
func TestConcurrentCommits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is being read cannot be replaced")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	const size = 300_000
	write(t, out, strings.Repeat("x", size))

	check := func() error {
		got, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		if len(got) != size || len(bytes.Trim(got, string(got[:1]))) != 0 {
			return fmt.Errorf("a mixture of %d bytes", len(got))
		}
		return nil
	}
	done := make(chan struct{})
	var reader, writers sync.WaitGroup
	reader.Go(func() {
		for {
			if err := check(); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for w := range 8 {
		writers.Go(func() {
			data := bytes.Repeat([]byte{byte('a' + w)}, size)
			for range 5 {
				f, err := Create(out, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				for p := data; len(p) > 0; p = p[10_000:] {
					f.Write(p[:10_000])
				}
				if err := f.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	reader.Wait()
	wantFiles(t, dir, "out")
}

func TestIsTemp(t *testing.T) {
	for name, want := range map[string]bool{
		".profuse-abc.tmp":     true,
		"dir/.profuse-abc.tmp": true,
		".profuse-abc":         false,
		"profuse-abc.tmp":      false,
		"out.profdata":         false,
		"":                     false,
	} {
		if got := IsTemp(name); got != want {
			t.Errorf("IsTemp(%q) = %v", name, got)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	out := filepath.Join(b.TempDir(), "out")
	data := make([]byte, 1<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f := oracle.Must(Create(out, Options{}))(b)
		f.Write(data)
		oracle.NoError(b, f.Commit())
	}
}

// TestSync: what is there can be brought to the disk, by whatever path.
func TestSync(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := Sync(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	write(t, out, "x")
	if err := Sync(out); err != nil {
		t.Error(err)
	}
	t.Chdir(dir)
	if err := Sync("out"); err != nil {
		t.Error(err)
	}
	wantContents(t, out, "x")
}

// TestSteady: a large file holds what was written, in pieces that end beside the places from
// where the system writes it to the disk.
func TestSteady(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	want := make([]byte, 3*writeback+5)
	for i := range want {
		want[i] = byte(i * i >> 7)
	}
	f := oracle.Must(Create(path, Options{}))(t)
	for rest := want; len(rest) > 0; {
		n := oracle.Must(f.Write(rest[:min(len(rest), writeback/3+1)]))(t)
		rest = rest[n:]
	}
	oracle.NoError(t, f.Commit())
	wantContents(t, path, string(want))
}
