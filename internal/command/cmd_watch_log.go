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
	maxRefusedFiles = 20          // files named in messages that they cannot be merged
	maxWarnings     = 50          // of a run
	writtenInterval = time.Minute // between two lines about merged profiles in a log
)

// A watchLog prints what a watch does. A terminal has a status line with the current numbers; a log gets at
// most one line about merged profiles per writtenInterval. The number of messages about failures is limited:
// a folder may hold a million damaged files.
type watchLog struct {
	line   *cli.StatusLine
	dir    string // the watched folder
	output string

	done    watch.Written   // merged since the last line about it
	printed time.Time       // time of that line
	refused int             // files that could not be merged
	warned  map[string]bool // warnings that were printed
}

// newWatchLog returns the log of a run. All its lines go through the status line, so that they do not mix.
func newWatchLog(env *cli.Env, dir string, options *merging.Options) *watchLog {
	return &watchLog{line: env.StatusLine(options.Quiet), dir: dir, output: options.Output, warned: make(map[string]bool)}
}

func (l *watchLog) event(e watch.Event) {
	switch e := e.(type) {
	case watch.Started:
		l.printStarted(e)
	case watch.Written:
		l.addWritten(e)
	case watch.Refused:
		l.printRefused(e)
	case watch.Trouble:
		l.line.Urgentf("warning: %s", console.Printable(cli.Message(e.Err)))
	case watch.Locked:
		l.line.Printf("waiting for another \"profuse watch\" that adds to %s", l.output)
	case watch.Replaced:
		what := "was replaced; further profiles are added to the new one"
		if e.Gone {
			what = "is gone; counting starts again"
		}
		l.line.Printf("%s %s", l.output, what)
	case watch.Status:
		l.line.Set(l.status(e))
	case watch.Stopped:
		l.printStopped(e)
	}
}

// printStarted prints the files and the output at the start, and whether the last run ended early.
func (l *watchLog) printStarted(e watch.Started) {
	found := cli.Quantity(e.Files, "file", "files")
	if e.Files > 0 {
		found += fmt.Sprintf(" (%s)", cli.Size(e.Bytes))
	}
	if e.Known > 0 {
		found += fmt.Sprintf(", %s of them merged before", cli.Count(e.Known))
	}
	l.line.Printf("watching %s: found %s", l.dir, found)
	switch {
	case e.Contents == "":
		text := "does not exist yet"
		if e.Restarted {
			text = "is gone; counting starts again"
		}
		l.line.Printf("%s %s", l.output, text)
	case e.Adopted:
		l.line.Printf("%s has %s; further profiles are added to it", l.output, e.Contents)
	default:
		l.line.Printf("%s has %s, of %s", l.output, e.Contents, l.total(e.Total))
	}
	if e.Interrupted {
		text := "the last run was interrupted"
		if e.Rolled > 0 {
			text += fmt.Sprintf("; adding %s that it did not finish", cli.Quantity(e.Rolled, "file", "files"))
		}
		l.line.Printf("%s", text)
	}
	if e.Why != "" {
		l.line.Printf("looking through %s every %v: %s", l.dir, e.Polling, e.Why)
	}
}

// total returns a text about the number of files merged in all runs.
func (l *watchLog) total(t watch.Total) string {
	s := cli.Quantity(t.Files, "file", "files")
	if t.Profiles != t.Files {
		s += fmt.Sprintf(" with %s", cli.Quantity(t.Profiles, "profile", "profiles"))
	}
	return s
}

// addWritten adds merged files to the next line about them. Without a status line it prints the line for the
// first files at once, and later lines at intervals.
func (l *watchLog) addWritten(e watch.Written) {
	e.Files += l.done.Files
	e.Bytes += l.done.Bytes
	l.done = e
	if !l.line.Shown() && time.Since(l.printed) >= writtenInterval {
		l.printWritten()
	}
}

func (l *watchLog) printWritten() {
	if l.done.Files == 0 {
		return
	}
	l.line.Printf("merged %s (%s) into %s: %s; %s in all", cli.Quantity(l.done.Files, "file", "files"),
		cli.Size(l.done.Bytes), l.output, l.done.Contents, l.total(l.done.Total))
	l.done, l.printed = watch.Written{}, time.Now()
}

// printRefused reports a file that cannot be merged, or only in part: its new path and the likely cause.
func (l *watchLog) printRefused(e watch.Refused) {
	if e.Moved != "" {
		if err := merging.ExplainMoved(e.Moved, e.File, e.Err, e.Partly); err != nil {
			l.line.Urgentf("warning: %s", console.Printable(cli.Message(err)))
		}
	}
	l.refused++
	if l.refused > maxRefusedFiles {
		if l.refused == maxRefusedFiles+1 {
			l.line.Urgentf("not merged: more such files follow, which are only counted")
		}
		return
	}
	// Most errors name the file.
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

func (l *watchLog) status(s watch.Status) string {
	parts := []string{l.total(s.Total) + " merged"}
	parts = append(parts, cli.Parts(
		cli.Part{N: s.Waiting, What: "waiting"}, cli.Part{N: s.Settling, What: "being written"}, cli.Part{N: s.Refused, What: "not merged"},
	)...)
	text := l.dir + " → " + l.output + ": " + strings.Join(parts, ", ")
	if s.Merging {
		text += "; merging"
	}
	return text
}

func (l *watchLog) printStopped(e watch.Stopped) {
	l.printWritten()
	l.line.Clear()
	text := "nothing was merged"
	if e.Merged > 0 {
		text = cli.Quantity(e.Merged, "file", "files") + " merged"
	}
	if e.Refused > 0 {
		text += fmt.Sprintf(", %s not", cli.Count(e.Refused))
	}
	if n := e.Settling + e.Busy; n > 0 {
		text += fmt.Sprintf("; left for the next run: %s that may still change", cli.Quantity(n, "file", "files"))
	}
	l.line.Printf("ended: %s", text)
}

// warn prints a warning once, which every merge of a watch repeats.
func (l *watchLog) warn(text string) {
	switch {
	case l.warned[text] || len(l.warned) > maxWarnings:
		return
	case len(l.warned) == maxWarnings:
		text = "more warnings follow, which are not printed"
	}
	l.warned[text] = true
	l.line.Printf("warning: %s", console.Printable(text))
}
