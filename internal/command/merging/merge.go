package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// Merge merges the inputs that the arguments name into r.Output. choose returns
// the adder for the inputs.
func (r *Run) Merge(ctx context.Context, env *cli.Env, args []string, choose func(ins []inputs.Input) (Adder, error)) error {
	j := &Job{Run: r, progress: env.StartProgress("inputs read", r.Quiet)}
	defer j.progress.Stop()
	if err := j.start(); err != nil {
		return err
	}
	return j.finish(j.merge(ctx, env, args, choose))
}

// merge expands the inputs, chooses the family by them, and merges: one result, or one for each group
// of a Splitter.
func (j *Job) merge(ctx context.Context, env *cli.Env, args []string, choose func(ins []inputs.Input) (Adder, error)) error {
	ins, err := j.expand(args, j.Skipped)
	if err != nil {
		return err
	}
	// What lies in the quarantine was lost before, and would be lost again.
	if err := j.refuseQuarantined(ins); err != nil {
		return err
	}
	a, err := choose(ins)
	if err != nil {
		return err
	}
	defer j.Programs.Close()
	if err := a.Open(j.Run, func(text string) { j.Warn("programs", 0, text, "") }); err != nil {
		return err
	}
	if s, ok := a.(Splitter); ok {
		groups, err := s.Split(ctx, j.Run, ins)
		if err != nil {
			return err
		}
		if groups != nil {
			return j.mergeGroups(ctx, env, a, ins, groups)
		}
	}
	j.Inputs = ins
	return j.mergeAll(ctx, env, a)
}

// mergeAll merges all inputs into one result.
func (j *Job) mergeAll(ctx context.Context, env *cli.Env, a Adder) error {
	var lock *filelock.Lock
	defer func() { lock.Release() }()
	var err error
	if j.Update {
		j.Base = j.Output
		if lock, err = Lock(ctx, env, j.Output, j.progress); err != nil {
			return err
		}
	}
	// Into belongs to the caller, who ends it.
	out := &console.Output{Writer: j.Into, Commit: func() error { return nil }, Discard: func() {}}
	if j.Into == nil {
		if out, err = console.OpenOutput(env, j.Output, j.Inputs, j.Checksum); err != nil {
			return err
		}
	}
	defer out.Discard()
	// The output is opened first: a folder without rights is found before hours of work.
	sum, err := a.Add(ctx, j)
	j.progress.Stop()
	if err != nil {
		return err
	}
	if err := j.judge(env); err != nil {
		return err
	}
	if err := j.refuseEmpty(sum.Empty); err != nil {
		return err
	}
	// An update holds the lock since before it has read the base; another merge needs it only while the
	// file is replaced. A missing folder is an error of the output, not of the lock.
	if sum.Locks && !j.Update && j.Into == nil && j.Output != "-" {
		if lock, err = Lock(ctx, env, j.Output, j.progress); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	format, err := sum.Write(out)
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return console.NotWritten(j.Output, err)
	}
	// Files beside the output follow it, when it has its name.
	if sum.Written != nil && j.Into == nil {
		if err := sum.Written(); err != nil {
			return err
		}
	}
	if j.Quiet {
		return nil
	}
	j.PrintWarnings(env.Stderr)
	if sum.Notes != nil && j.Into == nil { // they are about what to do with the output
		sum.Notes(env.Stderr)
	}
	l := j.loss()
	fmt.Fprintf(env.Stderr, "%smerged %s: %s", j.lossLine(l, &j.budget), InputsLine(l), sum.Contents())
	if j.Into == nil {
		fmt.Fprintf(env.Stderr, " → %s (%s)", console.OutputName(j.Output), format)
	}
	fmt.Fprintln(env.Stderr)
	return nil
}

// refuseEmpty refuses a sum for what makes it not worth writing, unless that is "".
func (j *Job) refuseEmpty(empty string) error {
	if empty == "" || j.Empty || j.budget.NoInput {
		return nil
	}
	return fmt.Errorf("%s; nothing is written (--allow-empty writes an empty profile)", empty)
}

// mergeGroups writes one profile for each group into a folder, all or none.
func (j *Job) mergeGroups(ctx context.Context, env *cli.Env, a Adder, ins []inputs.Input, groups []*Group) error {
	if !store.IsURL(j.Output) {
		if err := os.MkdirAll(j.Output, 0o777); err != nil {
			return err
		}
	}
	results := make([]result, len(groups))
	for i, g := range groups {
		results[i] = result{store.Below(j.Output, g.Name), func() (sum *Sum, profiles int, err error) {
			before := j.Accounts.Loss().Used
			j.group, j.Inputs = g, make([]inputs.Input, len(g.Inputs))
			for i, at := range g.Inputs {
				j.Inputs[i] = ins[at]
			}
			// The accounts are those of all groups; this group's profiles are the difference.
			sum, err = a.Add(ctx, j)
			j.before += len(g.Inputs)
			return sum, j.Accounts.Loss().Used - before, err
		}}
	}
	return j.writeAll(env, ins, results)
}

// A result is one of several outputs of a merge.
type result struct {
	path string
	// add adds its inputs up and returns the number of profiles that were used.
	add func() (sum *Sum, profiles int, err error)
}

// writeAll writes several results, all or none.
func (j *Job) writeAll(env *cli.Env, ins []inputs.Input, results []result) error {
	var outs []*console.Output
	defer func() {
		for _, out := range outs {
			out.Discard()
		}
	}()
	var lines []string
	folder, empty := j.Output, "" // parts have options, and outputs, of their own
	for _, r := range results {
		sum, used, err := r.add()
		if err != nil {
			j.progress.Stop()
			return err
		}
		// A program none of whose profiles can be used has no result; the loss says so.
		if used == 0 {
			continue
		}
		out, err := console.OpenOutput(env, r.path, ins, j.Checksum)
		if err != nil {
			return err
		}
		outs = append(outs, out)
		if r.path == folder {
			empty = sum.Empty
		}
		format, err := sum.Write(out)
		if err != nil {
			return console.NotWritten(r.path, err)
		}
		lines = append(lines, fmt.Sprintf("merged %s: %s → %s (%s)", cli.Quantity(uint64(used), "profile", "profiles"), sum.Contents(), store.Shown(r.path), format))
	}
	j.progress.Stop()
	// All results are written to temporary files before the first gets its name.
	if err := cmp.Or(j.judge(env), j.refuseEmpty(empty)); err != nil {
		return err
	}
	for _, out := range outs {
		// A rename that fails after others cannot be undone: the error says that some are there.
		if err := out.Commit(); err != nil {
			return fmt.Errorf("not all profiles were written: %w", err)
		}
	}
	if j.Quiet {
		return nil
	}
	j.PrintWarnings(env.Stderr)
	l := j.loss()
	fmt.Fprint(env.Stderr, j.lossLine(l, &j.budget))
	for _, line := range lines {
		fmt.Fprintln(env.Stderr, console.Printable(line))
	}
	// One result into the output itself has its line already.
	if len(lines) != 1 || results[0].path != folder {
		fmt.Fprintf(env.Stderr, "merged %s into %s in %s\n", InputsLine(l), cli.Quantity(uint64(len(lines)), "profile", "profiles"), store.Shown(folder))
	}
	return nil
}

// judge prints what was left out and returns an error if the loss exceeds the
// budget.
func (j *Job) judge(env *cli.Env) error {
	l := j.loss()
	j.PrintLeftOut(env.Stderr, l)
	// What exceeds the budget is kept for the report.
	if errors.As(j.budget.Judge(l), &j.exceeded) {
		return overBudget(j.exceeded)
	}
	if text := j.shares.doubt(); text != "" {
		j.Warn("count of an input", 0, text, "")
	}
	err := j.shares.judge(j.MaxShare, j.Family)
	j.tooHeavy = errors.As(err, new(*cli.ExitError))
	return err
}

// Lock keeps other processes from updating the output while it is replaced. A process
// that waits ends the progress, which may be nil, and prints that it waits.
func Lock(ctx context.Context, env *cli.Env, output string, progress *cli.Progress) (*filelock.Lock, error) {
	return filelock.Acquire(ctx, output, func() {
		progress.Stop()
		fmt.Fprintf(env.Stderr, "waiting for another process that updates %s\n", output)
	})
}
