package merging

import (
	"errors"
	"fmt"
	"os"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/watch"
)

// WatchInputs returns what is to be merged, the base first if there is one,
// and a report that tells of each.
func WatchInputs(base string, files []string) ([]inputs.Input, *Report) {
	if base != "" {
		files = append([]string{base}, files...)
	}
	ins := make([]inputs.Input, len(files))
	for i, name := range files {
		ins[i] = inputs.File(name)
	}
	report := NewReport(&cli.Progress{})
	report.each = make([]inputOutcome, len(ins))
	return ins, report
}

// WatchOutcomes returns what became of the files. Without the base there is no
// sum.
func WatchOutcomes(base string, report *Report) ([]watch.Outcome, error) {
	each := report.each
	if base != "" {
		if err := each[0].err; err != nil {
			return nil, fmt.Errorf("%w: %w", watch.ErrOutput, err)
		}
		each = each[1:]
	}
	outcomes := make([]watch.Outcome, len(each))
	for i, o := range each {
		outcomes[i] = watch.Outcome{Profiles: o.taken, Err: o.err}
		if o.cause != "" {
			outcomes[i].Err = &CausedError{o.err, o.cause}
		}
	}
	return outcomes, nil
}

// A CausedError is an error with its likely cause, which is told apart.
type CausedError struct {
	error
	Cause string
}

func (e *CausedError) Unwrap() error { return e.error }

// ExplainMoved writes beside a file in quarantine why it is there, as "profuse
// merge" does.
func ExplainMoved(to, file string, err error, partly bool) error {
	a := &Account{File: file, Outcome: outcomeLeftOut, Reason: &reason{Finding: console.NewFinding(err)}}
	if partly {
		a.Outcome = outcomePartly
	}
	if caused := (*CausedError)(nil); errors.As(err, &caused) {
		a.Reason.Cause = caused.Cause
	}
	if info, err := os.Stat(to); err == nil {
		a.Size = int(info.Size())
	}
	if f := sources.PeekFormat(inputs.File(to), false); f != 0 {
		a.Format = f.String()
	}
	return a.explain(to)
}
