package watch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestOnce merges what there is, and what there is not counts for nothing.
func TestOnce(t *testing.T) {
	b := newBench(t)
	b.mustRun()
	b.wantFiles(b.dir, "out.watch")
	b.put("a", "a 1")
	b.put("b", "a 1") // equal to another: both count
	b.put("sub/deeper/c", "c 1\nc 1")
	b.put(".hidden", "h 1")
	b.put(".git/h", "h 1")
	b.put(".profuse-x.tmp", "h 1")
	if runtime.GOOS != "windows" {
		oracle.NoError(t, os.Symlink("a", filepath.Join(b.opt.Dir, "link")))
	}
	b.mustRun()
	b.wantOut("a 2, c 2")
	if s := eventsOf[Started](b)[0]; s.Files != 3 || s.Known != 0 || s.Contents != "" || s.Interrupted {
		t.Errorf("told %+v", s)
	}
	if w := eventsOf[Written](b); len(w) != 1 || w[0].Files != 3 || w[0].Profiles != 4 || w[0].Total != (Total{3, 4}) || w[0].Contents != "2 names" {
		t.Errorf("told %+v", w)
	}
	b.put("d", "a 1")
	b.mustRun()
	b.wantOut("a 3, c 2")
	if s := eventsOf[Started](b)[0]; s.Files != 4 || s.Known != 3 || s.Contents != "2 names" || s.Total != (Total{3, 4}) || s.Interrupted {
		t.Errorf("told %+v", s)
	}
	if s := eventsOf[Stopped](b)[0]; s.Merged != 1 || s.Total != (Total{4, 5}) {
		t.Errorf("told %+v", s)
	}
}

// The output, and the folders that files are moved to, may be in the folder that is watched.
func TestAllInOneFolder(t *testing.T) {
	b := newBench(t)
	b.opt.Output = filepath.Join(b.opt.Dir, "out")
	b.opt.Archive = filepath.Join(b.opt.Dir, "done")
	b.opt.Quarantine = filepath.Join(b.opt.Dir, "odd")
	b.opt.Ignore = []string{filepath.Join(b.opt.Dir, "program")}
	b.put("program", "p 1")
	b.put("1", "a 1")
	b.put("2", "mixed")
	for range 2 {
		b.run() // the first one says that 2 cannot be merged
		b.wantOut("a 1")
		b.wantFiles(b.opt.Dir, "done/1 odd/2 out out.watch program")
	}
	b.opt.Archive = b.opt.Dir
	if err := b.run(); err == nil {
		t.Error("merged files were to be moved to where they are, and it ran")
	}
}

// A file is what it is by path, time, size and contents together.
func TestIdentity(t *testing.T) {
	past := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		change func(b *bench, path string) error
		want   string
	}{
		"written again, the same":   {func(b *bench, _ string) error { b.put("1", "a 1"); return nil }, "a 2"},
		"written again, otherwise":  {func(b *bench, _ string) error { b.put("1", "b 1"); return nil }, "a 1, b 1"},
		"with other permissions":    {func(_ *bench, path string) error { return os.Chmod(path, 0o600) }, "a 1"},
		"with another time":         {func(_ *bench, path string) error { return os.Chtimes(path, past, past) }, "a 2"},
		"linked to another name":    {func(_ *bench, path string) error { return os.Link(path, path+"x") }, "a 2"},
		"copied with its time":      {copyInPlace, "a 1"},
		"other contents, same time": {func(b *bench, path string) error { return disguise(path, "b 1") }, "a 1, b 1"},
		"removed":                   {func(_ *bench, path string) error { return os.Remove(path) }, "a 1"},
		"moved out and in": {func(b *bench, path string) error {
			if err := os.Rename(path, b.dir+"/x"); err != nil {
				return err
			}
			b.mustRun()
			return os.Rename(b.dir+"/x", path)
		}, "a 1"},
		"renamed": {func(b *bench, path string) error {
			if inodeOf(must(os.Lstat(path))) == 0 {
				b.t.Skip("no inodes")
			}
			return os.Rename(path, path+"x")
		}, "a 1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put("1", "a 1")
			b.mustRun()
			oracle.NoError(t, c.change(b, filepath.Join(b.opt.Dir, "1")))
			for range 2 {
				b.mustRun()
				b.wantOut(c.want)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// copyInPlace gives a file another inode.
func copyInPlace(_ *bench, path string) error {
	if err := copyFile(path, path+"x"); err != nil {
		return err
	}
	return os.Rename(path+"x", path)
}

// disguise gives a file other contents of the same size, at the same time, on another inode.
func disguise(path, text string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	temp := path + "x"
	if err := os.WriteFile(temp, []byte(text), 0o666); err != nil {
		return err
	}
	if err := os.Chtimes(temp, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// What a run before merged is deleted only if its contents are the same.
func TestDeletesOnlyWhatWasMerged(t *testing.T) {
	b := newBench(t)
	b.opt.Delete = true
	b.put("1", "a 1")
	b.put("2", "b 1")
	b.runUntil(3) // the output is written, nothing is deleted
	path := filepath.Join(b.opt.Dir, "1")
	info := must(os.Lstat(path))
	f := must(os.OpenFile(path, os.O_WRONLY, 0)) // keeps the inode
	f.WriteString("c 1")
	f.Close()
	oracle.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	b.mustRun()
	b.wantOut("a 1, b 1, c 1")
	b.wantFiles(b.opt.Dir, "")
}

// A program that writes its file again while the old contents are merged does not lose the new ones.
func TestRewrittenBeforeDeletion(t *testing.T) {
	for _, done := range crashes {
		t.Run(done, func(t *testing.T) {
			b := newBench(t)
			b.disposeOf(done)
			again := false
			b.opt.step = func(point string) {
				if point == "committed" && !again {
					again = true
					b.put("1", "a 10")
				}
			}
			b.put("1", "a 1")
			b.mustRun()
			if done == "keep" { // is not looked at again by this run
				b.mustRun()
			}
			b.wantOut("a 11")
		})
	}
}

func TestBroken(t *testing.T) {
	for _, quarantine := range []bool{false, true} {
		b := newBench(t)
		b.opt.Delete = true
		if quarantine {
			b.opt.Quarantine = filepath.Join(b.dir, "odd")
		}
		tries := 0
		b.opt.Merge = func(ctx context.Context, base string, files []string) (*Sum, error) {
			for _, f := range files {
				if filepath.Base(f) == "short" {
					tries++
				}
			}
			return mergeTallies(ctx, base, files)
		}
		b.put("good", "a 1")
		b.put("sub/short", "bad")
		b.put("kind", "mixed")
		b.put("part", "b 1\nbad")
		err := b.run()
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%v, want %v", err, ErrRefused)
		}
		b.wantOut("a 1, b 1")
		if tries != maxTries {
			t.Errorf("tried %d times, want %d", tries, maxTries)
		}
		got := make(map[string]Refused)
		for _, e := range eventsOf[Refused](b) {
			got[filepath.Base(e.File)] = e
		}
		if len(got) != 3 || !errors.Is(got["short"].Err, profile.ErrTruncated) || !got["part"].Partly || got["kind"].Partly {
			t.Errorf("told %+v", got)
		}
		if moved := got["part"].Moved != ""; moved != quarantine {
			t.Errorf("told of quarantine: %v", moved)
		}
		if !quarantine {
			b.wantFiles(b.opt.Dir, "kind part sub/short")
			// Told again by the next run, but a part is never counted again.
			if err := b.run(); !errors.Is(err, ErrRefused) {
				t.Errorf("the second time: %v", err)
			}
			b.wantOut("a 1, b 1")
			b.wantFiles(b.opt.Dir, "kind part sub/short")
			continue
		}
		b.wantFiles(b.opt.Dir, "")
		b.wantFiles(b.opt.Quarantine, "kind part sub/short")
		// Names that are taken.
		b.put("kind", "mixed")
		b.run()
		b.put("kind", "mixed")
		b.run()
		b.wantFiles(b.opt.Quarantine, "kind kind.1 kind.2 part sub/short")
	}
}

// A run that dies after part of a file was merged leaves it to the next one to put into quarantine.
func TestPartOfDeadRun(t *testing.T) {
	b := newBench(t)
	b.opt.Delete, b.opt.Quarantine = true, filepath.Join(b.dir, "odd")
	b.put("part", "b 1\nbad")
	if point, ok := b.runUntil(3); !ok || point != "committed" {
		t.Fatalf("died at %q", point)
	}
	b.mustRun()
	b.wantOut("b 1")
	b.wantFiles(b.opt.Dir, "")
	b.wantFiles(b.opt.Quarantine, "part")
}

// Files that break a whole merge are found, and the others are merged.
func TestPoison(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		b.put(name, "a 1")
	}
	b.put("33", "poison")
	b.put("44", "poison")
	if err := b.run(); !errors.Is(err, ErrRefused) {
		t.Errorf("%v, want %v", err, ErrRefused)
	}
	b.wantOut("a 7")
	if got := eventsOf[Refused](b); len(got) != 2 {
		t.Errorf("told %+v", got)
	}
}

// A file that changes while it is merged is not in the sum of then.
func TestChangesDuringMerge(t *testing.T) {
	b := newBench(t)
	b.put("1", "a 1")
	b.put("2", "b 1")
	merges := 0
	b.opt.Merge = func(ctx context.Context, base string, files []string) (*Sum, error) {
		sum, err := mergeTallies(ctx, base, files)
		if len(files) > 0 {
			if merges++; merges == 1 {
				b.put("1", "a 100")
				os.Remove(filepath.Join(b.opt.Dir, "2"))
			}
		}
		return sum, err
	}
	b.mustRun()
	b.wantOut("a 100")
}

// The output was changed or removed between two runs.
func TestOutputReplaced(t *testing.T) {
	foreign := func(b *bench) {
		oracle.WriteFile(t, b.opt.Output, []byte("z 5\n"))
	}
	t.Run("nothing left that it might contain", func(t *testing.T) {
		b := newBench(t)
		b.opt.Delete = true
		b.put("1", "a 1")
		b.mustRun()
		foreign(b)
		b.put("2", "a 1")
		b.mustRun()
		b.wantOut("a 1, z 5")
		if s := eventsOf[Started](b)[0]; !s.Adopted {
			t.Errorf("told %+v", s)
		}
	})
	t.Run("files left", func(t *testing.T) {
		b := newBench(t)
		b.put("1", "a 1")
		b.mustRun()
		foreign(b)
		err := b.run()
		if !errors.Is(err, errForeign) || !strings.Contains(err.Error(), journalOf(b.opt.Output)) {
			t.Errorf("%v, want %v and what to do", err, errForeign)
		}
		b.wantOut("z 5")
		oracle.NoError(t, os.Remove(journalOf(b.opt.Output)))
		b.mustRun()
		b.wantOut("a 1, z 5")
	})
	t.Run("removed", func(t *testing.T) {
		b := newBench(t)
		b.put("1", "a 1")
		b.mustRun()
		b.put("2", "a 1")
		b.mustRun()
		oracle.NoError(t, os.Remove(b.opt.Output))
		b.mustRun()
		b.wantOut("a 2")
		if s := eventsOf[Started](b)[0]; !s.Restarted || s.Known != 0 {
			t.Errorf("told %+v", s)
		}
	})
	t.Run("removed while it is watched", func(t *testing.T) {
		b := newBench(t)
		b.opt.Delete = true
		stop := b.start()
		b.put("1", "a 1")
		b.awaitOut("a 1")
		b.await("deletion", func() bool { _, err := os.Lstat(b.opt.Dir + "/1"); return err != nil })
		oracle.NoError(t, os.Rename(b.opt.Output, b.opt.Output+"-1"))
		b.put("2", "b 1")
		b.awaitOut("b 1")
		oracle.NoError(t, stop())
		if e := eventsOf[Replaced](b); len(e) != 1 || !e[0].Gone {
			t.Errorf("told %+v", e)
		}
	})
	t.Run("of another format", func(t *testing.T) {
		b := newBench(t)
		os.WriteFile(b.opt.Output, []byte("what?"), 0o666)
		if err := b.run(); !errors.Is(err, ErrOutput) {
			t.Errorf("%v, want %v", err, ErrOutput)
		}
		if got := b.out(); got != "what?" {
			t.Errorf("output is %q", got)
		}
	})
}

// A write that fails loses nothing, is told once, and is tried again.
func TestWriteFails(t *testing.T) {
	b := newBench(t)
	b.opt.Delete = true
	fails := 2
	full := errors.New("no space left")
	b.opt.Merge = func(ctx context.Context, base string, files []string) (*Sum, error) {
		sum, err := mergeTallies(ctx, base, files)
		if len(files) > 0 && fails > 0 {
			fails--
			sum.Write = func(w io.Writer) error {
				io.WriteString(w, "half")
				return full
			}
		}
		return sum, err
	}
	b.put("1", "a 1")
	stop := b.start()
	b.awaitOut("a 1")
	oracle.NoError(t, stop())
	if e := eventsOf[Trouble](b); len(e) != 1 || !errors.Is(e[0].Err, full) {
		t.Errorf("told %+v", e)
	}
	b.wantFiles(b.dir, "out out.watch")

	// If it lasts, it is the error of the run, and all is still there.
	fails = 100
	b.put("2", "a 1")
	b.opt.Once = true
	if err := b.run(); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	b.wantOut("a 1")
	b.wantFiles(b.opt.Dir, "2")
	fails = 0
	b.mustRun()
	b.wantOut("a 2")
}

func TestStartErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *bench)
		want   string
	}{
		"no folder":          {func(b *bench) { os.Remove(b.opt.Dir) }, "no such file"},
		"folder is a file":   {func(b *bench) { b.put("1", ""); b.opt.Dir += "/1" }, "is not a folder"},
		"nowhere to write":   {func(b *bench) { b.opt.Output = b.dir + "/none/out" }, "no such file"},
		"output is a folder": {func(b *bench) { b.opt.Output = b.opt.Dir }, "is not a regular file"},
		"damaged journal":    {func(b *bench) { os.WriteFile(b.opt.Output+".watch", []byte("x"), 0o666) }, "corrupt"},
		"two disposals":      {func(b *bench) { b.opt.Delete, b.opt.Archive = true, b.dir+"/done" }, "both deleted and archived"},
		"negative":           {func(b *bench) { b.opt.Settle = -1 }, "negative"},
		"no merge":           {func(b *bench) { b.opt.Merge = nil }, "must be set"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c.change(b)
			if err := b.run(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Of two watchers of one output the second waits for the first to end.
func TestLocked(t *testing.T) {
	b := newBench(t)
	stop := b.start()
	b.await("the start", func() bool { return len(eventsOf[Started](b)) > 0 })
	second := newBench(t)
	second.opt.Output = b.opt.Output
	second.put("2", "b 1")
	stopSecond := second.start()
	second.await("the lock", func() bool { return len(eventsOf[Locked](second)) > 0 })
	b.put("1", "a 1")
	b.awaitOut("a 1")
	oracle.NoError(t, stop())
	second.awaitOut("a 1, b 1")
	oracle.NoError(t, stopSecond())
	// One journal for both: nothing counts again.
	b.opt.Once = true
	b.mustRun()
	b.wantOut("a 1, b 1")

	stop = b.start()
	b.await("the start", func() bool { return len(eventsOf[Started](b)) > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := Run(ctx, second.opt); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it waits: %v", err)
	}
	oracle.NoError(t, stop())
}

// Files that are gone are forgotten when they are many.
func TestJournalIsBounded(t *testing.T) {
	w := &watcher{merged: make(map[string]*entry), renamed: make(map[uint64]*entry), scans: 2}
	for i := range vanished + 1 {
		seen := 1
		if i < 5 {
			seen = 2
		}
		w.remember(&entry{path: string(rune(i + 1000)), id: fileID{inode: uint64(i + 1)}, seen: seen})
	}
	w.dropVanished()
	if len(w.merged) != vanished+1 {
		t.Errorf("%d entries, want all", len(w.merged))
	}
	for i := range 5 {
		w.remember(&entry{path: string(rune(i + 900)), id: fileID{inode: uint64(i + 1<<20)}, seen: 1})
	}
	w.dropVanished()
	if len(w.merged) != 5 || len(w.renamed) != 5 {
		t.Errorf("%d entries, want 5", len(w.merged))
	}
}
