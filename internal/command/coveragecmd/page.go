package coveragecmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/profile/report"
)

// pagePath returns the file that --html writes: index.html in a folder, which it creates if the name ends with a slash.
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

func (r *result) writePages(ctx context.Context, env *cli.Env, args []string) error {
	c := r.command
	path, err := pagePath(c.html)
	if err != nil {
		return err
	}
	status := env.StatusLine(c.quiet)
	// The error of Progress ends the work when the user interrupts it.
	opt := report.Options{Mangled: c.mangled, ReadSource: sources.ReadSource, Progress: func(label, page string) error {
		status.Set(fmt.Sprintf("%s: %s", label, page))
		return ctx.Err()
	}}
	source := report.Source{Coverage: r.Coverage, Label: c.label(args), Change: r.change()}
	return console.Write(env, path, nil, false, func(w io.Writer) error {
		defer status.Clear()
		return report.Write(w, []report.Source{source}, opt)
	})
}

func (c *command) label(args []string) string {
	if len(c.argv) > 0 {
		return strings.Join(c.argv, " ")
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

// change returns what the pages compare the coverage with: the sums of each file in the baseline, and
// the lines that a patch adds.
func (r *result) change() *report.CoverageChange {
	change := new(report.CoverageChange)
	if w := r.baseline; w != nil {
		change.Before, change.Total = make(map[string]coverage.Summary), w.before
		// Pages show the change of every file, worse or not.
		for _, f := range w.base.Files {
			change.Before[f.Path] = f.Total
		}
		change.Stopped = make(map[string][]string)
		for _, f := range w.functions {
			change.Stopped[f.Path] = append(change.Stopped[f.Path], f.Name)
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
