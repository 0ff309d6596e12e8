package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/watch"
)

// TestWatchLog: what the log of a watch says of each event, and that it says much of one kind once.
func TestWatchLog(t *testing.T) {
	moved := filepath.Join(t.TempDir(), "1.profraw")
	for _, c := range []struct {
		event watch.Event
		want  string
	}{
		{watch.Started{}, "watching in: found 0 files\nout does not exist yet\n"},
		{watch.Started{Restarted: true}, "watching in: found 0 files\nout is gone; counting starts again\n"},
		{
			watch.Started{Files: 2, Bytes: 2000, Known: 1, Contents: "5 functions", Adopted: true, Interrupted: true, Rolled: 3},
			"watching in: found 2 files (2.0 kB), 1 of them merged before\nout has 5 functions; further profiles are added to it\n" +
				"the last run was interrupted; adding 3 files that it did not finish\n",
		},
		{
			watch.Started{Contents: "5 functions", Total: watch.Total{Files: 1, Profiles: 4}, Polling: 2 * time.Second, Why: "it is on NFS"},
			"watching in: found 0 files\nout has 5 functions, of 1 file with 4 profiles\nlooking through in every 2s: it is on NFS\n",
		},
		{watch.Trouble{Err: errors.New("no space\x1b")}, "warning: no space\\x1b\n"},
		{watch.Locked{}, "waiting for another \"profuse watch\" that adds to out\n"},
		{watch.Replaced{}, "out was replaced; further profiles are added to the new one\n"},
		{watch.Replaced{Gone: true}, "out is gone; counting starts again\n"},
		{watch.Status{Waiting: 5}, ""}, // for terminals
		{watch.Refused{File: "in/a", Err: errors.New("cut off")}, "not merged: in/a: cut off; left in place\n"},
		{watch.Refused{File: "in/a", Err: errors.New("in/a: cut off"), Partly: true}, "partly merged: in/a: cut off; left in place\n"},
		{watch.Refused{File: "in/1.profraw", Err: errors.New("cut off"), Moved: moved}, "not merged: in/1.profraw: cut off; moved to " + filepath.Dir(moved) + "\n"},
		{watch.Refused{File: "in/a", Err: errors.New("cut off"), Moved: moved}, "not merged: in/a: cut off; moved to " + moved + "\n"},
		{watch.Stopped{}, "ended: nothing was merged\n"},
		{watch.Stopped{Status: watch.Status{Merged: 1, Refused: 2, Settling: 1, Busy: 2}}, "ended: 1 file merged, 2 not; left for the next run: 3 files that may still change\n"},
	} {
		t.Run(fmt.Sprintf("%T", c.event), func(t *testing.T) {
			log, out := watchLogTo()
			log.event(c.event)
			if got := out.String(); got != c.want {
				t.Errorf("%+v:\n%q, want\n%q", c.event, got, c.want)
			}
		})
	}

	log, out := watchLogTo()
	for i := range maxRefusedFiles + 5 {
		log.event(watch.Refused{File: fmt.Sprint(i), Err: errors.New("cut off")})
	}
	if got := out.String(); strings.Count(got, "\n") != maxRefusedFiles+1 || !strings.HasSuffix(got, "not merged: more such files follow, which are only counted\n") {
		t.Errorf("refused files:\n%s", got)
	}
	out.Reset()
	for i := range maxWarnings + 5 {
		log.warn(fmt.Sprint("warning ", i))
		log.warn("warning 0")
	}
	if got := out.String(); strings.Count(got, "\n") != maxWarnings+1 || !strings.HasSuffix(got, "warning: more warnings follow, which are not printed\n") {
		t.Errorf("warnings:\n%s", got)
	}
	out.Reset()
	log.event(watch.Written{Files: 1, Bytes: 1000, Contents: "4 functions", Total: watch.Total{Files: 1, Profiles: 1}})
	log.event(watch.Written{Files: 2, Bytes: 1000, Contents: "5 functions", Total: watch.Total{Files: 3, Profiles: 3}})
	log.event(watch.Written{Files: 1, Bytes: 1000, Contents: "6 functions", Total: watch.Total{Files: 4, Profiles: 4}})
	log.event(watch.Stopped{Status: watch.Status{Merged: 4}})
	if got, want := out.String(), "merged 1 file (1.0 kB) into out: 4 functions; 1 file in all\n"+
		"merged 3 files (2.0 kB) into out: 6 functions; 4 files in all\nended: 4 files merged\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// watchLogTo returns the log of a watch that is no terminal's.
func watchLogTo() (*watchLog, *bytes.Buffer) {
	out := new(bytes.Buffer)
	env := &cli.Env{Stdout: out, Stderr: out, Getenv: os.Getenv}
	return newWatchLog(env, "in", &merging.Options{Output: "out"}), out
}
