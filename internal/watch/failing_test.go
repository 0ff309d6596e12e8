package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFailsAtEveryStep: where the journal or the output cannot take their place, the run ends with that, the files
// stay, and once it can be written each is in the output once.
func TestFailsAtEveryStep(t *testing.T) {
	for _, c := range []struct {
		step  string                // after which it fails
		where func(b *bench) string // what gets in the way
		want  string
	}{
		{
			"written", func(b *bench) string { return journalOf(b.opt.Output) },
			"the journal cannot be written, and without it nothing is merged: ",
		},
		{"announced", func(b *bench) string { return b.opt.Output }, "replace "},
	} {
		for _, before := range []string{"", "a 1"} {
			b := newBench(t)
			b.opt.Delete = true
			if before != "" {
				b.put("0", before)
				b.mustRun()
			}
			b.put("1", "a 1")
			b.put("sub/2", "b 2")
			path := c.where(b)
			old, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			times := 0
			b.opt.step = func(step string) {
				if step == c.step && times == 0 {
					times++
					os.Remove(path)
					if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o777); err != nil {
						t.Error(err)
					}
				}
			}
			err = b.run()
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("after %q, with output %q: %v, want %s", c.step, before, err, c.want)
			}
			b.wantFiles(b.opt.Dir, "1 sub/2")
			oracle.NoError(t, os.RemoveAll(path))
			if old != nil {
				oracle.WriteFile(t, path, old)
			}
			b.opt.step = nil
			b.mustRun()
			want := "a 1, b 2"
			if before != "" {
				want = "a 2, b 2"
			}
			b.wantOut(want)
			b.wantFiles(b.opt.Dir, "")
			b.wantFiles(b.dir, "out out.watch")
		}
	}
}

// TestNowhereToMoveTo: a merged file that cannot be archived, or a damaged one
// that cannot be quarantined, stays where it is and is told.
func TestNowhereToMoveTo(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		b := newBench(t)
		text := "a 1"
		if damaged {
			text = "rubbish"
		}
		b.put("sub/1", text)
		b.opt.Archive, b.opt.Quarantine = filepath.Join(b.dir, "archive"), filepath.Join(b.dir, "quarantine")
		for _, folder := range []string{b.opt.Archive, b.opt.Quarantine} {
			oracle.NoError(t, os.Mkdir(folder, 0o777), os.WriteFile(filepath.Join(folder, "sub"), nil, 0o666))
		}
		err := b.run()
		told := eventsOf[Trouble](b)
		if err != nil && !damaged || len(told) == 0 || !strings.Contains(told[0].Err.Error(), string(filepath.Separator)+"sub: ") {
			t.Errorf("damaged %t: %v, told %+v", damaged, err, told)
		}
		b.wantFiles(b.opt.Dir, "sub/1")
		if !damaged {
			b.wantOut("a 1")
			b.mustRun()
			b.wantOut("a 1") // not once more
		}
	}
}

// TestCopyFile: a copy on another disk has the time and the permissions, and one that fails leaves nothing.
func TestCopyFile(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	when := time.Unix(1_600_000_000, 0)
	oracle.NoError(t, os.WriteFile(from, []byte("text"), 0o640), os.Chmod(from, 0o640), os.Chtimes(from, when, when))
	id := must(lookAt(from))
	content := must(contentOf(from, id))
	oracle.NoError(t, copyFile(from, to))
	info := must(os.Stat(to))
	if !sameFile(to, id, content) || info.Mode() != must(os.Stat(from)).Mode() || !info.ModTime().Equal(when) {
		t.Errorf("copied to %v of %v", info.Mode(), info.ModTime())
	}
	folder := filepath.Join(dir, "folder")
	oracle.NoError(t, os.Mkdir(folder, 0o777))
	for _, c := range []struct{ from, to string }{
		{filepath.Join(dir, "none"), filepath.Join(folder, "x")},
		{from, filepath.Join(dir, "none", "x")},
		{folder, filepath.Join(folder, "x")}, // opens, but is not to be read
		{from, folder},
	} {
		err := copyFile(c.from, c.to)
		if pe, le := (*fs.PathError)(nil), (*os.LinkError)(nil); err == nil || !errors.As(err, &pe) && !errors.As(err, &le) {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
	if left := must(os.ReadDir(folder)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if left := must(os.ReadDir(dir)); len(left) != 3 {
		t.Errorf("left %v", left)
	}
}

// TestNotTheSame: what is not a file, and what is another than a moment ago, is told apart.
func TestNotTheSame(t *testing.T) {
	dir := t.TempDir()
	if _, err := lookAt(dir); err == nil || err.Error() != "read "+dir+": is not a regular file" {
		t.Error(err)
	}
	name := filepath.Join(dir, "f")
	oracle.WriteFile(t, name, []byte("one"))
	id := must(lookAt(name))
	oracle.WriteFile(t, name, []byte("three"))
	if _, err := contentOf(name, id); !errors.Is(err, errChanged) {
		t.Error(err)
	}
	if _, err := contentOf(filepath.Join(dir, "none"), id); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if sameFile(name, id, contentID{}) {
		t.Error("another size is no difference")
	}
}
