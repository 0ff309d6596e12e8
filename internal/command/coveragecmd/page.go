package coveragecmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/profile/report"
)

// pagePath returns the file that --html writes: index.html if a folder is named, which it creates
// if its name ends with a slash.
func pagePath(output string) (string, error) {
	folder := strings.HasSuffix(output, "/") || strings.HasSuffix(output, string(filepath.Separator))
	if info, err := os.Stat(output); err == nil && info.IsDir() {
		folder = true
	}
	if !folder {
		return output, nil
	}
	return filepath.Join(output, "index.html"), os.MkdirAll(output, 0o777)
}

// writePages writes the coverage as pages. args are the inputs.
func (r *coverageResult) writePages(ctx context.Context, env *cli.Env, args []string) error {
	c := r.run
	path, err := pagePath(c.html)
	if err != nil {
		return err
	}
	status := env.StatusLine(c.Quiet)
	// Progress also ends the work when the user interrupts it.
	opt := report.Options{Mangled: c.mangled, ReadSource: readSource, Progress: func(label, page string) error {
		status.Set(fmt.Sprintf("%s: %s", label, page))
		return ctx.Err()
	}}
	source := report.Source{Coverage: r.Coverage, Label: c.label(args), Change: r.change()}
	return console.Write(env, path, nil, false, func(w io.Writer) error {
		defer status.Clear()
		return report.Write(w, []report.Source{source}, opt)
	})
}

// label names what the coverage is of: the command, or the inputs.
func (c *coverageRun) label(args []string) string {
	if len(c.command) > 0 {
		return strings.Join(c.command, " ")
	}
	var names []string
	for i, arg := range args {
		if i == console.MaxListed {
			names = append(names, fmt.Sprintf("%d more", len(args)-i))
			break
		}
		names = append(names, filepath.Base(arg))
	}
	return strings.Join(names, ", ")
}

// change returns what the pages compare the coverage with: the baseline, of which each file shows
// its sums, and the lines that a patch adds.
func (r *coverageResult) change() *report.CoverageChange {
	change := new(report.CoverageChange)
	if w := r.worse; w != nil {
		change.Before, change.Total = make(map[string]coverage.Summary), w.before
		// Pages show the change of every file, not only of those that got worse.
		for _, f := range w.base.Files {
			change.Before[f.Path] = f.Total
		}
		// Functions that no longer run are marked in the list of their file.
		change.Stopped = make(map[string][]string)
		for _, f := range w.functions {
			change.Stopped[f.path] = append(change.Stopped[f.path], f.name)
		}
	}
	if r.changed != nil {
		change.Lines = make(map[string][]uint32)
		for _, f := range r.changed.files {
			change.Lines[f.path] = f.added
		}
	}
	return change
}
