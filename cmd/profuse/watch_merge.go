package main

import (
	"context"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/watch"
)

// addIRPGO returns what adds IRPGO profiles up: a merge of the output and the
// new files, into the output.
func (c *watchRun) addIRPGO(version uint32, log *watchLog) (watch.Merge, error) {
	programs, err := c.openPrograms(log.irpgoWarning)
	if err != nil {
		return nil, err
	}
	opt := irpgo.MergeOptions{AllowMixed: c.mixed, KeepVTableNames: c.keepVTables}
	return func(ctx context.Context, base string, files []string) (*watch.Sum, error) {
		ins, report := watchInputs(base, files)
		merged, err := mergeInputs(ctx, ins, numWorkers(c.workers), programs, opt, report)
		if err != nil {
			return nil, err
		}
		outcomes, err := watchOutcomes(base, report)
		if err != nil {
			return nil, err
		}
		log.warnings(report)
		return &watch.Sum{
			Files: outcomes, Contents: c.contents(merged),
			Write: func(w io.Writer) error {
				_, err := c.write(&output{w, func() error { return nil }, func() {}}, merged, version, report)
				return err
			},
		}, nil
	}, nil
}

// addMIP returns what adds MIP profiles up, on the functions of the output or,
// before there is one, of the program.
func (c *watchRun) addMIP(log *watchLog) watch.Merge {
	return func(ctx context.Context, base string, files []string) (*watch.Sum, error) {
		var in inputs.Input
		var err error
		switch {
		case base != "":
			in = inputs.File(base)
		case c.program != "":
			in, err = mipPath(c.program)
		default:
			err = fmt.Errorf("%s does not exist, and raw profiles do not say which functions there are: add --program, with %s",
				c.output, mipWanted)
		}
		if err != nil {
			return nil, err
		}
		ins, report := watchInputs("", files)
		functions, err := readMIP(in, c.arch, report.mipWarning)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", watch.ErrOutput, err)
		}
		m, err := mergeMIP(ctx, functions, ins, numWorkers(c.workers), report)
		if err != nil {
			return nil, err
		}
		outcomes, err := watchOutcomes("", report)
		if err != nil {
			return nil, err
		}
		log.warnings(report)
		return &watch.Sum{
			Files: outcomes, Contents: mipContents(m.profile),
			Write: func(w io.Writer) error {
				if base == "" {
					if err := keepBuildID(c.output, functions.binary.BuildID, false); err != nil {
						return err
					}
				}
				if functions.format == formats.MIPYAML || base == "" && isYAML(c.output) {
					return mip.WriteYAML(w, m.profile, mip.YAMLOptions{})
				}
				return mip.WriteMIP(w, m.profile, mip.MIPOptions{DocumentLayout: functions.info.Layout.NamesByLength})
			},
		}, nil
	}
}

// watchInputs returns what is to be merged, the base first if there is one,
// and a report that tells of each.
func watchInputs(base string, files []string) ([]inputs.Input, *mergeReport) {
	if base != "" {
		files = append([]string{base}, files...)
	}
	ins := make([]inputs.Input, len(files))
	for i, name := range files {
		ins[i] = inputs.File(name)
	}
	report := newMergeReport(&cli.Progress{})
	report.each = make([]inputOutcome, len(ins))
	return ins, report
}

// watchOutcomes returns what became of the files. Without the base there is no
// sum.
func watchOutcomes(base string, report *mergeReport) ([]watch.Outcome, error) {
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
			outcomes[i].Err = &causedError{o.err, o.cause}
		}
	}
	return outcomes, nil
}

// A causedError is an error with its likely cause, which is told apart.
type causedError struct {
	error
	cause string
}

func (e *causedError) Unwrap() error { return e.error }
