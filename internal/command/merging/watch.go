package merging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/watch"
	"github.com/profuse-pgo/profuse/merge"
)

// Watched returns the function that adds files of a watched folder to the output. It passes warnings to warn.
func (o *Options) Watched(a FamilyAdder, warn func(text string)) watch.Merge {
	return func(ctx context.Context, base string, files []string) (*watch.Sum, error) {
		outcomes := newOutcomes()
		j := &Job{Options: o, Base: base, watched: outcomes.addAccount}
		for _, name := range files {
			j.Inputs = append(j.Inputs, inputs.File(name, o.Open))
		}
		sum, err := a.Add(ctx, j)
		if failed := (*BaseError)(nil); errors.As(err, &failed) {
			err = fmt.Errorf("%w: %w", watch.ErrOutput, failed.Err)
		}
		if err != nil {
			return nil, err
		}
		// An output that cannot be read must not be replaced.
		if err := outcomes.of(base).Err; err != nil {
			return nil, fmt.Errorf("%w: %w", watch.ErrOutput, err)
		}
		for text := range j.EachWarning() {
			warn(text)
		}
		s := &watch.Sum{Contents: sum.Contents(), State: sum.State, Write: func(w io.Writer) error {
			_, err := sum.Write(w)
			if err == nil && sum.Written != nil {
				err = sum.Written()
			}
			return err
		}}
		for _, name := range files {
			s.Files = append(s.Files, outcomes.of(name))
		}
		return s, nil
	}
}

type outcomes struct {
	mu    sync.Mutex
	files map[string]*outcome
}

// An outcome says what the merge did with a file, which may be an archive of many profiles.
type outcome struct {
	watch.Outcome
	name string // of the profile that Err is about
}

func newOutcomes() *outcomes { return &outcomes{files: make(map[string]*outcome)} }

func (o *outcomes) addAccount(in inputs.Input, a *merge.Account, cause string) {
	err := a.Err
	if err == nil && len(a.Rescued) > 0 {
		err = &rescuedError{a.File + ": " + newRescued(a.Rescued[0]).line(), a.Rescued[0].Err}
	}
	if cause != "" {
		err = &CausedError{err, cause}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.files[in.Name]
	if f == nil {
		f = new(outcome)
		o.files[in.Name] = f
	}
	if a.Err == nil {
		f.Profiles++
	}
	// The error of the first profile by name stays, whatever the order of the workers.
	if err != nil && (f.Err == nil || a.File < f.name) {
		f.name, f.Err = a.File, err
	}
}

func (o *outcomes) of(name string) watch.Outcome {
	if f := o.files[name]; f != nil {
		return f.Outcome
	}
	return watch.Outcome{}
}

// A rescuedError says which function of a profile was left out or clamped.
type rescuedError struct {
	text string
	err  error
}

func (e *rescuedError) Error() string { return e.text }

func (e *rescuedError) Unwrap() error { return e.err }

// A CausedError is an error with its likely cause, which is printed separately.
type CausedError struct {
	error
	Cause string
}

func (e *CausedError) Unwrap() error { return e.error }

// ExplainMoved writes the reason beside a file that was moved into quarantine, in the form of
// "profuse merge". partly says that the rest of the file is in the sum.
func ExplainMoved(to, file string, err error, partly bool) error {
	e := entry{File: file, Outcome: outcomeLeftOut, Reason: &reason{Error: console.NewError(err)}}
	if partly {
		e.Outcome = outcomePartly
	}
	if caused := (*CausedError)(nil); errors.As(err, &caused) {
		e.Reason.Cause = caused.Cause
	}
	if info, err := os.Stat(to); err == nil {
		e.Size = int(info.Size())
	}
	if f := sources.PeekFormat(inputs.File(to, inputs.Options{}), false); f != 0 {
		e.setFormat(f)
	}
	return atomicfile.WriteFile(to+reasonSuffix, bytes.NewReader(e.json("")))
}
