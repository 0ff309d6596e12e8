package irpgocmd

import (
	"context"
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/watch"
)

// watching is one run of "profuse watch" that adds IRPGO and heap profiles up.
type watching struct{ adding }

func (c *watching) Declare(f *cli.Flags) {
	c.adding.declare(f, "`N` version of the indexed format, as for \"profuse merge\"",
		"`PROGRAM` that raw profiles without functions and names are of; may be given again")
}

func (c *watching) Asked() bool { return false }

func (c *watching) Ignored() []string { return nil }

// Adder returns what adds profiles up: a merge of the output and the new files,
// into the output.
func (c *watching) Adder(r *merging.Run, warn func(text string), done func(*merging.Report)) (watch.Merge, error) {
	from, err := c.openReading(merging.NumWorkers(r.Workers), func(w irpgo.Warning) {
		text := warningText(w)
		if w.File != "" {
			text = w.File + ": " + text
		}
		warn(text)
	})
	if err != nil {
		return nil, err
	}
	opt := irpgo.MergeOptions{AllowMixed: c.mixed, KeepVTableNames: c.keepVTables}
	return func(ctx context.Context, base string, files []string) (*watch.Sum, error) {
		ins, common := merging.WatchInputs(base, files)
		report := newReport(common)
		merged, err := mergeInputs(ctx, ins, merging.NumWorkers(r.Workers), from, opt, report)
		if err != nil {
			return nil, err
		}
		outcomes, err := merging.WatchOutcomes(base, common)
		if err != nil {
			return nil, err
		}
		done(common)
		return &watch.Sum{
			Files: outcomes, Contents: c.contents(merged),
			Write: func(w io.Writer) error {
				_, err := c.encode(w, merged, report)
				return err
			},
		}, nil
	}, nil
}
