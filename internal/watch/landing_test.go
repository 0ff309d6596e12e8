package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWatching sees files that land in old and new folders, by notifications and by polling.
func TestWatching(t *testing.T) {
	for name, poll := range map[string]time.Duration{"told": 0, "polling": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			if poll == 0 && runtime.GOOS != "linux" {
				t.Skip("this system does not tell")
			}
			b := newBench(t)
			b.opt.Poll, b.opt.Settle, b.opt.Delete = poll, 10*time.Millisecond, true
			b.put("old/1", "a 1")
			stop := b.start()
			b.awaitOut("a 1")
			b.put("old/2", "a 1")
			b.put("3", "a 1")
			b.awaitOut("a 3")
			b.put("new/deep/4", "a 1")
			b.awaitOut("a 4")
			b.put("new/deep/5", "a 1")
			b.awaitOut("a 5")
			// A folder that comes whole.
			oracle.NoError(t, os.MkdirAll(b.dir+"/come/in", 0o777))
			os.WriteFile(b.dir+"/come/in/6", []byte("a 1"), 0o666)
			oracle.NoError(t, os.Rename(b.dir+"/come", b.opt.Dir+"/come"))
			b.awaitOut("a 6")
			b.put("come/in/7", "a 1")
			b.awaitOut("a 7")
			oracle.NoError(t, stop())
			b.wantFiles(b.opt.Dir, "")
			if s := eventsOf[Started](b)[0]; s.Polling != poll {
				t.Errorf("told %+v", s)
			}
			if s := eventsOf[Stopped](b)[0]; s.Merged != 7 {
				t.Errorf("told %+v", s)
			}
			b.wantFiles(b.dir, "out out.watch") // and no lock
		})
	}
}

// A file that grows is left alone until it has not for a while.
func TestSettle(t *testing.T) {
	b := newBench(t)
	b.opt.Settle = time.Second
	stop := b.start()
	for _, text := range []string{"a 1\n", "a 1\n", "a 1\n", "a 1\n"} {
		f := must(os.OpenFile(filepath.Join(b.opt.Dir, "1"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666))
		f.WriteString(text)
		f.Close()
		time.Sleep(50 * time.Millisecond)
	}
	b.awaitOut("a 4")
	oracle.NoError(t, stop())
	if w := eventsOf[Written](b); len(w) != 1 {
		t.Errorf("told %+v", w)
	}
}

// Once is not forever: a file that keeps changing is left for the next time.
func TestOnceLeavesWhatChanges(t *testing.T) {
	b := newBench(t)
	b.opt.Settle = 150 * time.Millisecond
	b.put("1", "a 1")
	b.put("2", "b 1")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 10_000 {
			if b.out() != "" && len(eventsOf[Stopped](b)) > 0 {
				return
			}
			now := time.Unix(int64(n), 0)
			os.Chtimes(filepath.Join(b.opt.Dir, "1"), now, now)
			time.Sleep(2 * time.Millisecond)
		}
	}()
	b.mustRun()
	<-done
	b.wantOut("b 1")
	if s := eventsOf[Stopped](b)[0]; s.Busy != 1 {
		t.Errorf("told %+v", s)
	}
}

// Signals end a run when what is complete has been merged.
func TestStopMergesWhatWaits(t *testing.T) {
	b := newBench(t)
	b.opt.Every = time.Hour
	stop := b.start()
	b.put("1", "a 1")
	b.awaitOut("a 1")
	b.put("2", "a 1")
	b.put("3", "a 1")
	time.Sleep(50 * time.Millisecond)
	b.wantOut("a 1") // not due
	oracle.NoError(t, stop())
	b.wantOut("a 3")
	if j := b.journal(); !j.ended || j.after.Files != 3 {
		t.Errorf("journal %+v", j)
	}
}

// Many files do not wait.
func TestBatchDoesNotWait(t *testing.T) {
	b := newBench(t)
	b.opt.Every, b.opt.Batch = time.Hour, 3
	stop := b.start()
	b.put("0", "a 1")
	b.awaitOut("a 1")
	for _, name := range []string{"1", "2", "3"} {
		b.put(name, "a 1")
	}
	b.awaitOut("a 4")
	oracle.NoError(t, stop())
}
