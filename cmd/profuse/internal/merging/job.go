package merging

import (
	"context"
	"errors"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// A Job is what an Adder adds up at once, and what it tells of that. The zero
// value is that of no inputs.
type Job struct {
	*Run
	// Base is the file, an earlier result, that the inputs are added to; "" for
	// none.
	Base     string
	Inputs   []inputs.Input // without Base
	Accounts merge.Accounts
	Printer

	// What a family has to say of a profile that is left out: Unused takes note
	// of its functions, Cause says in words what the likely cause is. Both may be
	// nil.
	Unused func(file string, data []byte)
	Cause  func(e *profile.FormatError, data []byte) string

	budget     merge.Budget
	exceeded   *merge.OverBudget // nil if it is not
	report     *reportFile       // nil without one
	quarantine *merge.Quarantine // nil without one
	progress   *cli.Progress     // nil without one
	watched    func(in inputs.Input, a *merge.Account, cause string)

	// Of the groups of a Splitter.
	group  *Group // nil without them
	before int    // inputs of groups before
}

// Watched reports whether the inputs are files as they land in a folder.
func (j *Job) Watched() bool { return j.watched != nil }

// Add has the adders, one for each worker, add the profiles of inputs up, in
// order if that shows in the result.
func (j *Job) Add(ctx context.Context, ins []inputs.Input, adders []merge.Adder, ordered bool) error {
	opt := merge.Options{
		Ordered: ordered,
		Ended:   func(a *merge.Account) { j.ended(ins[a.Input], a) },
		InputEnded: func(input, profiles int) {
			if j.report != nil {
				j.report.endInput(j.before+input, profiles)
			}
		},
	}
	if g := j.group; g != nil {
		opt.Only = func(input, member int) bool {
			_, ok := g.Members[g.Inputs[input]][member]
			return ok
		}
	}
	if j.progress != nil {
		j.progress.Expect(int64(len(ins)))
	}
	return merge.Run(ctx, ins, adders, opt)
}

// Adders returns what adds n inputs up where each worker has a sum of its own.
// fork is called once for each.
func (j *Job) Adders(n int, fork func() merge.Adder) []merge.Adder {
	// The number of inputs for which another worker is worth its memory, that
	// of a sum.
	const minPerWorker = 8
	adders := []merge.Adder{fork()}
	for len(adders) < min(NumWorkers(j.Workers), n/minPerWorker) {
		adders = append(adders, fork())
	}
	return adders
}

// ended keeps the account of a profile of an input.
func (j *Job) ended(in inputs.Input, a *merge.Account) {
	j.Accounts.Add(a)
	cause := ""
	if a.Err != nil {
		cause = j.likelyCause(a.Err, a.Data)
		if j.Unused != nil {
			j.Unused(a.File, a.Data)
		}
	}
	j.Printer.account(a, j.position(a.Input), cause)
	if j.progress != nil {
		if a.Member > 0 {
			j.progress.Expect(1)
		}
		size := 0
		if a.Err == nil {
			size = a.Size
		}
		j.progress.Done(1, int64(size))
	}
	if j.quarantine != nil {
		j.quarantine.Add(a)
	}
	if j.report != nil {
		j.report.add(j.before+a.Input, a.Member, j.entryJSON(a, "    "))
	}
	if j.watched != nil {
		j.watched(in, a, cause)
	}
}

// position returns an input's position among all.
func (j *Job) position(input int) int {
	if j.group != nil {
		return j.group.Inputs[input]
	}
	return input
}

// start opens the report and the quarantine that the options ask for.
func (j *Job) start(command string) (err error) {
	o := &j.Loss
	if j.budget, err = o.budget(); err != nil {
		return err
	}
	if o.quarantine != "" {
		if j.quarantine, err = merge.OpenQuarantine(o.quarantine); err != nil {
			return err
		}
		j.quarantine.Move = o.move
		j.quarantine.Reason = func(a *merge.Account) []byte { return j.entryJSON(a, "") }
	}
	if o.report == "" {
		return nil
	}
	if o.report == j.Output && j.Output != "-" {
		return cli.Usagef("the report and the result cannot both be %s", j.Output)
	}
	j.report, err = openReportFile(o.report, command, j.Output)
	return err
}

// refuseQuarantined refuses inputs that lie in the quarantine.
func (j *Job) refuseQuarantined(ins []inputs.Input) error {
	if j.quarantine == nil {
		return nil
	}
	for _, in := range ins {
		if in.Name != inputs.Stdin && j.quarantine.Holds(in.Name) {
			return cli.Usagef("%s is in the quarantine; it would be merged again and again", in.Name)
		}
	}
	return nil
}

// finish completes the report and the quarantine of a job that ended with
// cause, and returns what the command is to end with.
func (j *Job) finish(cause error) error {
	var exit *cli.ExitError
	decided := cause == nil || errors.As(cause, &exit)
	written := cause == nil
	if j.quarantine != nil && decided {
		cause = joinErrors(cause, j.quarantine.Finish(written))
	}
	if j.report == nil {
		return cause
	}
	if !decided { // the command line, the system, or an interruption: nothing was merged
		j.report.discard()
		return cause
	}
	if err := j.report.commit(j.summary(written, cause)); err != nil {
		return joinErrors(cause, NotWritten("the report", err))
	}
	return cause
}

// joinErrors is [errors.Join], but one error alone stays what it is.
func joinErrors(a, b error) error {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return errors.Join(a, b)
}

// likelyCause says in words what usually leads to such an error; "" if there
// is nothing to say.
func (j *Job) likelyCause(err error, data []byte) string {
	var fe *profile.FormatError
	if !errors.As(err, &fe) {
		return ""
	}
	if cause := generalCause(fe, data); cause != "" {
		return cause
	}
	if j.Cause != nil {
		if cause := j.Cause(fe, data); cause != "" {
			return cause
		}
	}
	if fe.Class() == profile.ErrTruncated {
		return "its end is missing: the writer was killed or its disk was full"
	}
	return ""
}

// formatOf names the format of a profile; "" if it is not known.
func formatOf(data []byte) string {
	if f, ok := formats.Detect(data); ok {
		return f.String()
	}
	return ""
}
