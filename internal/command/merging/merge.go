package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// Merge merges the inputs that the arguments name into o.Output. choose returns the adder of the inputs' family.
func (o *Options) Merge(ctx context.Context, env *cli.Env, args []string, choose func(ins []inputs.Input) (FamilyAdder, error)) error {
	j := &Job{Options: o, progress: env.StartProgress("inputs read", o.Quiet)}
	defer j.progress.Stop()
	if err := j.openSideFiles(); err != nil {
		return err
	}
	return j.finishSideFiles(j.merge(ctx, env, args, choose))
}

// merge expands the inputs, chooses the family, and writes one result, or one for each group of a Splitter.
func (j *Job) merge(ctx context.Context, env *cli.Env, args []string, choose func(ins []inputs.Input) (FamilyAdder, error)) error {
	ins, err := j.expand(args, j.Skipped)
	if err != nil {
		return err
	}
	if err := j.refuseQuarantined(ins); err != nil {
		return err
	}
	a, err := choose(ins)
	if err != nil {
		return err
	}
	defer j.Programs.Close()
	if err := a.Open(j.Options, func(text string) { j.Warn("programs", 0, text, "") }); err != nil {
		return err
	}
	if s, ok := a.(Splitter); ok {
		groups, err := s.Split(ctx, j.Options, ins)
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

func (j *Job) mergeAll(ctx context.Context, env *cli.Env, a FamilyAdder) error {
	var lock *filelock.Lock
	defer func() { lock.Release() }()
	var err error
	if j.Update {
		j.Base = j.Output
		if lock, err = Lock(ctx, env, j.Output, j.progress); err != nil {
			return err
		}
	}
	var out *console.Output
	if j.Into == nil {
		// The output is opened before the work: a folder without write permission fails at once.
		if out, err = console.OpenOutput(env, j.Output, j.Inputs, j.Checksum); err != nil {
			return err
		}
		defer out.Discard()
	}
	sum, err := a.Add(ctx, j)
	j.progress.Stop()
	if err != nil {
		return err
	}
	if err := j.checkLimits(env); err != nil {
		return err
	}
	if err := j.refuseEmpty(sum.Empty); err != nil {
		return err
	}
	// An update has locked the output before it read the base. Any other merge locks it only
	// while it replaces the file. If the folder is missing, committing gives the better error.
	if sum.Locks && !j.Update && j.Into == nil && j.Output != "-" {
		if lock, err = Lock(ctx, env, j.Output, j.progress); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	format := ""
	if j.Into != nil {
		err = j.Into(sum)
	} else if format, err = sum.Write(out); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return console.NotWritten(j.Output, err)
	}
	if sum.Written != nil && j.Into == nil {
		if err := sum.Written(); err != nil {
			return err
		}
	}
	if j.Quiet {
		return nil
	}
	j.printMerged(env, sum, format)
	return nil
}

// printMerged prints the warnings and notes of a merge, and what it has written in a format.
func (j *Job) printMerged(env *cli.Env, sum *Sum, format string) {
	j.PrintWarnings(env.Stderr)
	if sum.Notes != nil && j.Into == nil { // the notes advise on the output file
		sum.Notes(env.Stderr)
	}
	l := j.loss()
	fmt.Fprintf(env.Stderr, "%smerged %s: %s", j.lossLine(l, &j.budget), InputsLine(l), sum.Contents())
	if j.Into == nil {
		fmt.Fprintf(env.Stderr, " → %s (%s)", console.OutputName(j.Output), format)
	}
	fmt.Fprintln(env.Stderr)
}

// refuseEmpty returns an error if the sum is not worth writing, for the reason empty, unless the
// options allow empty results.
func (j *Job) refuseEmpty(empty string) error {
	if empty == "" || j.Empty || j.budget.NoInput {
		return nil
	}
	return fmt.Errorf("%s; nothing is written (--allow-empty writes an empty profile)", empty)
}

// mergeGroups writes one profile for each group into a folder, all or none.
func (j *Job) mergeGroups(ctx context.Context, env *cli.Env, a FamilyAdder, ins []inputs.Input, groups []*Group) error {
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
			for i, input := range g.Inputs {
				j.Inputs[i] = ins[input]
			}
			// The accounts cover all groups, so the difference is this group's.
			sum, err = a.Add(ctx, j)
			j.before += len(g.Inputs)
			return sum, j.Accounts.Loss().Used - before, err
		}}
	}
	return j.writeAll(env, ins, results)
}

type result struct {
	path string
	// addInputs returns the sum of the result's inputs and the number of profiles in it.
	addInputs func() (sum *Sum, profiles int, err error)
}

// maxLines limits the lines about results of one merge: a program may have thousands of objects.
const maxLines = 20

// writeAll writes several results, all or none.
func (j *Job) writeAll(env *cli.Env, ins []inputs.Input, results []result) error {
	var outs []*console.Output
	defer func() {
		for _, out := range outs {
			out.Discard()
		}
	}()
	var lines []string
	folder, empty := j.Output, "" // addInputs may replace j.Options
	for _, r := range results {
		sum, used, err := r.addInputs()
		if err != nil {
			j.progress.Stop()
			return err
		}
		// Without a usable profile there is no result; the loss says so.
		if used == 0 {
			continue
		}
		if folder := filepath.Dir(r.path); !store.IsURL(r.path) && folder != filepath.Clean(j.Output) {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return err
			}
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
		lines = append(lines, fmt.Sprintf("merged %s: %s → %s (%s)", cli.Quantity(used, "profile", "profiles"), sum.Contents(), store.Shown(r.path), format))
	}
	j.progress.Stop()
	// All results are in temporary files before the first is renamed.
	if err := cmp.Or(j.checkLimits(env), j.refuseEmpty(empty)); err != nil {
		return err
	}
	for _, out := range outs {
		// Earlier renames cannot be undone, so the error says that some profiles were written.
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
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(env.Stderr, "… and %s more\n", cli.Count(len(lines)-i))
			break
		}
		fmt.Fprintln(env.Stderr, console.Printable(line))
	}
	// For a single result at the output's own path this line would repeat the one above.
	if len(lines) != 1 || results[0].path != folder {
		fmt.Fprintf(env.Stderr, "merged %s into %s in %s\n", InputsLine(l), cli.Quantity(len(lines), "profile", "profiles"), store.Shown(folder))
	}
	return nil
}

// checkLimits prints which inputs were left out. It returns an error if the loss exceeds the
// budget, or if one input contributes more than --max-share.
func (j *Job) checkLimits(env *cli.Env) error {
	l := j.loss()
	j.PrintLeftOut(env.Stderr, l)
	// j.exceeded goes into the accounts file.
	if errors.As(j.budget.Judge(l), &j.exceeded) {
		return overBudget(j.exceeded)
	}
	if text := j.shares.flippedBit(); text != "" {
		j.Warn("count of an input", 0, text, "")
	}
	err := j.shares.checkLimit(j.MaxShare, j.Family)
	j.tooHeavy = errors.As(err, new(*cli.ExitError))
	return err
}

// Lock keeps other processes from updating the output while it is replaced. If it must wait, it
// stops the progress, which may be nil, and says so on standard error.
func Lock(ctx context.Context, env *cli.Env, output string, progress *cli.Progress) (*filelock.Lock, error) {
	return filelock.Acquire(ctx, output, func() {
		progress.Stop()
		fmt.Fprintf(env.Stderr, "waiting for another process that updates %s\n", output)
	})
}
