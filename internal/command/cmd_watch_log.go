package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/watch"
)

const (
	// maxRefusedTold limits the files that cannot be merged and are named.
	maxRefusedTold = 20
	// maxWarningsTold limits the warnings of a run.
	maxWarningsTold = 50
	// writtenInterval is the time between two lines in a log about merged
	// profiles.
	writtenInterval = time.Minute
)

// A watchLog prints what a watch does, for a terminal or a log. A terminal gets a status line that
// always has the present numbers; a log gets a line about merged profiles each writtenInterval at
// most. Failures are told at once, but not without limit: a folder may hold a million damaged
// files.
type watchLog struct {
	line *cli.StatusLine
	dir  string // that is watched
	run  *merging.Options

	done watch.Written // since the last line about it
	told time.Time     // when that was
	// refused counts the files that could not be merged, whether they were named or not.
	refused int
	warned  map[string]bool // warnings that were printed
}

// newWatchLog returns the log of a run, which prints through the status line so that both do not
// mix.
func newWatchLog(env *cli.Env, dir string, run *merging.Options) *watchLog {
	return &watchLog{line: env.StatusLine(run.Quiet), dir: dir, run: run, warned: make(map[string]bool)}
}

// event prints what the watch reports, of written outputs and refused files only as much as a log
// can bear.
func (l *watchLog) event(e watch.Event) {
	switch e := e.(type) {
	case watch.Started:
		l.started(e)
	case watch.Written:
		l.written(e)
	case watch.Refused:
		l.refuse(e)
	case watch.Trouble:
		l.line.Urgentf("warning: %s", console.Printable(cli.Message(e.Err)))
	case watch.Locked:
		l.line.Printf("waiting for another \"profuse watch\" that adds to %s", l.run.Output)
	case watch.Replaced:
		what := "was replaced; further profiles are added to the new one"
		if e.Gone {
			what = "is gone; counting starts again"
		}
		l.line.Printf("%s %s", l.run.Output, what)
	// The status line is for terminals; nothing of it goes to a log.
	case watch.Status:
		l.line.Set(l.status(e))
	case watch.Stopped:
		l.stopped(e)
	}
}

// started says what there was at the start: files, the output with what it holds, and whether the
// last run ended early.
func (l *watchLog) started(e watch.Started) {
	found := cli.Quantity(uint64(e.Files), "file", "files")
	if e.Files > 0 {
		found += fmt.Sprintf(" (%s)", cli.Size(uint64(e.Bytes)))
	}
	if e.Known > 0 {
		found += fmt.Sprintf(", %s of them merged before", cli.Count(uint64(e.Known)))
	}
	l.line.Printf("watching %s: found %s", l.dir, found)
	switch {
	case e.Contents == "":
		text := "does not exist yet"
		if e.Restarted {
			text = "is gone; counting starts again"
		}
		l.line.Printf("%s %s", l.run.Output, text)
	case e.Adopted:
		l.line.Printf("%s has %s; further profiles are added to it", l.run.Output, e.Contents)
	default:
		l.line.Printf("%s has %s, of %s", l.run.Output, e.Contents, l.total(e.Total))
	}
	if e.Interrupted {
		text := "the last run was interrupted"
		if e.Rolled > 0 {
			text += fmt.Sprintf("; adding %s that it did not finish", cli.Quantity(uint64(e.Rolled), "file", "files"))
		}
		l.line.Printf("%s", text)
	}
	if e.Why != "" {
		l.line.Printf("looking through %s every %v: %s", l.dir, e.Polling, e.Why)
	}
}

// total returns the number of files merged in all runs, in words.
func (l *watchLog) total(t watch.Total) string {
	s := cli.Quantity(uint64(t.Files), "file", "files")
	if t.Profiles != t.Files {
		s += fmt.Sprintf(" with %s", cli.Quantity(uint64(t.Profiles), "profile", "profiles"))
	}
	return s
}

// written reports the first files at once and later ones at intervals; on a
// terminal the status line reports them all.
func (l *watchLog) written(e watch.Written) {
	e.Files += l.done.Files
	e.Bytes += l.done.Bytes
	l.done = e
	if !l.line.Shown() && time.Since(l.told) >= writtenInterval {
		l.tellWritten()
	}
}

// tellWritten prints what was merged since it did so last.
func (l *watchLog) tellWritten() {
	if l.done.Files == 0 {
		return
	}
	l.line.Printf("merged %s (%s) into %s: %s; %s in all", cli.Quantity(uint64(l.done.Files), "file", "files"),
		cli.Size(uint64(l.done.Bytes)), l.run.Output, l.done.Contents, l.total(l.done.Total))
	l.done, l.told = watch.Written{}, time.Now()
}

// refuse reports a file that cannot be merged, or only in part, where it is now and the likely
// cause; of many, only the first ones.
func (l *watchLog) refuse(e watch.Refused) {
	if e.Moved != "" {
		if err := merging.ExplainMoved(e.Moved, e.File, e.Err, e.Partly); err != nil {
			l.line.Urgentf("warning: %s", console.Printable(cli.Message(err)))
		}
	}
	// The line about more such files is printed once.
	if l.refused++; l.refused > maxRefusedTold {
		if l.refused == maxRefusedTold+1 {
			l.line.Urgentf("not merged: more such files follow, which are only counted")
		}
		return
	}
	// Errors of formats name the file already.
	text := cli.Message(e.Err)
	if !strings.HasPrefix(text, e.File) {
		text = e.File + ": " + text
	}
	head, where := "not merged", "left in place"
	if e.Partly {
		head = "partly merged"
	}
	if e.Moved != "" {
		where = "moved to " + filepath.Dir(e.Moved)
		if filepath.Base(e.Moved) != filepath.Base(e.File) {
			where = "moved to " + e.Moved
		}
	}
	l.line.Urgentf("%s: %s; %s", head, console.Printable(text), console.Printable(where))
	if caused := (*merging.CausedError)(nil); errors.As(e.Err, &caused) {
		l.line.Urgentf("            %s", console.Printable(caused.Cause))
	}
}

// status returns the text of the status line on a terminal.
func (l *watchLog) status(s watch.Status) string {
	parts := []string{l.total(s.Total) + " merged"}
	parts = append(parts, cli.Parts(
		cli.Part{N: s.Waiting, What: "waiting"}, cli.Part{N: s.Settling, What: "being written"}, cli.Part{N: s.Refused, What: "not merged"},
	)...)
	text := l.dir + " → " + l.run.Output + ": " + strings.Join(parts, ", ")
	if s.Merging {
		text += "; merging"
	}
	return text
}

// stopped says how the watch ended and what it leaves for the next run.
func (l *watchLog) stopped(e watch.Stopped) {
	l.tellWritten()
	l.line.Clear()
	text := "nothing was merged"
	if e.Merged > 0 {
		text = cli.Quantity(uint64(e.Merged), "file", "files") + " merged"
	}
	if e.Refused > 0 {
		text += fmt.Sprintf(", %s not", cli.Count(uint64(e.Refused)))
	}
	if n := e.Settling + e.Busy; n > 0 {
		text += fmt.Sprintf("; left for the next run: %s that may still change", cli.Quantity(uint64(n), "file", "files"))
	}
	l.line.Printf("ended: %s", text)
}

// warn prints a warning unless an earlier merge had it. Every merge of a watch would repeat it.
func (l *watchLog) warn(text string) {
	switch {
	case l.warned[text] || len(l.warned) > maxWarningsTold:
		return
	case len(l.warned) == maxWarningsTold:
		text = "more warnings follow, which are not printed"
	}
	l.warned[text] = true
	l.line.Printf("warning: %s", console.Printable(text))
}
