package watch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A file that is open for writing is left alone, however long nothing is
// written; so is one that is mapped, as with LLVM's continuous mode.
func TestOpenForWriting(t *testing.T) {
	b := newBench(t)
	b.opt.Settle = 5 * time.Millisecond
	path := filepath.Join(b.opt.Dir, "1")
	b.put("1", "a 1")
	f := must(os.OpenFile(path, os.O_RDWR, 0))
	if _, known := hasWriter(path); !known {
		t.Skip("this file system has no leases")
	}
	check := func(what string) {
		t.Helper()
		b.mustRun()
		b.wantOut("")
		if s := eventsOf[Stopped](b)[0]; s.Busy != 1 {
			t.Errorf("%s: told %+v", what, s)
		}
	}
	check("open")
	m := oracle.Must(syscall.Mmap(int(f.Fd()), 0, 3, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))(t)
	f.Close()
	check("mapped")
	copy(m, "b 2")
	oracle.NoError(t, syscall.Munmap(m))
	r := must(os.Open(path)) // does no harm
	defer r.Close()
	b.mustRun()
	b.wantOut("b 2")
}

// A lease that is held for a moment keeps writers waiting, and does not kill.
func TestLeaseIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1")
	os.WriteFile(path, nil, 0o666)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			hasWriter(path)
		}
	}
	if yes, known := hasWriter(path); yes && known {
		t.Error("the file is closed, and has a writer")
	}
}

// Where inotify fails, the folder is looked through.
func TestTooManyFolders(t *testing.T) {
	b := newBench(t)
	w := &watcher{Options: b.opt, root: b.opt.Dir, files: make(map[string]*file), reported: make(map[string]bool)}
	w.notifier, _ = newNotifier(w.root)
	if w.notifier == nil {
		t.Skip("no inotify")
	}
	w.notifier.w.Close() // as good as any failure
	oracle.NoError(t, w.scan())
	if w.notifier != nil || w.poll != DefaultPoll || w.why == "" {
		t.Errorf("polling every %v, because %q", w.poll, w.why)
	}
	if got := notifyProblem(syscall.ENOSPC); got != "there are more folders than fs.inotify.max_user_watches" {
		t.Error(got)
	}
}

// When the queue overflows the whole folder is looked through.
func TestLostEvents(t *testing.T) {
	n := &notifier{dirty: make(map[string]struct{})}
	n.addPath("x")
	n.addPath("")
	if paths, lost := n.takePaths(); len(paths) != 0 || !lost {
		t.Errorf("%v, %v", paths, lost)
	}
	if paths, lost := n.takePaths(); len(paths) != 0 || lost {
		t.Errorf("%v, %v the second time", paths, lost)
	}
}
