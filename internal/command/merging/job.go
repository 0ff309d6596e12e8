package merging

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// A Job is the work of one call of [Adder].Add: its inputs, and the accounts and
// warnings of their profiles. The zero value has no inputs.
type Job struct {
	*Run
	// Base is the file of an earlier result that the inputs are added to; "" for
	// none.
	Base     string
	Inputs   []inputs.Input // without Base
	Accounts merge.Accounts
	Printer

	// Places is that of [merge.Options].
	Places func(data []byte) int
	// The family sets these for profiles that are left out: Unused records the
	// functions of one, Cause returns the likely cause in words. Both may be nil.
	Unused func(file string, data []byte)
	Cause  func(e *profile.FormatError, data []byte) string

	budget     merge.Budget
	exceeded   *merge.OverBudget // nil if the loss is within the budget
	report     *reportFile       // nil without one
	quarantine *merge.Quarantine // nil without one
	shares     shares            // of the total count
	tooHeavy   bool              // one of them exceeds its limit
	progress   *cli.Progress     // nil without one
	watched    func(in inputs.Input, a *merge.Account, cause string)
	part       *Part                 // nil unless it is one
	totals     *merge.Loss           // of the parts that are the inputs; nil if these are profiles
	broken     atomic.Pointer[error] // of the parts

	// Of the groups of a Splitter.
	group  *Group // nil without them
	before int    // inputs of groups before
}

// Watched reports whether the inputs come from a watched folder.
func (j *Job) Watched() bool { return j.watched != nil }

// Add has the adders, one for each worker, add up the profiles of the inputs.
// Ordered asks for the order of the inputs, for sums that depend on it.
func (j *Job) Add(ctx context.Context, ins []inputs.Input, adders []merge.Adder, ordered bool) error {
	opt := merge.Options{
		Ordered: ordered,
		Places:  j.Places,
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

// Adders returns the adders for n inputs if each worker has a sum of its own. It
// calls fork once for each worker.
func (j *Job) Adders(n int, fork func() merge.Adder) []merge.Adder {
	// With fewer inputs per worker another worker is not worth the memory of
	// its sum.
	const minPerWorker = 8
	adders := []merge.Adder{fork()}
	for len(adders) < min(NumWorkers(j.Workers), n/minPerWorker) {
		adders = append(adders, fork())
	}
	return adders
}

// ended records the account of a profile.
func (j *Job) ended(in inputs.Input, a *merge.Account) {
	j.Accounts.Add(a)
	cause := ""
	if a.Err != nil {
		cause = j.likelyCause(a.Err, a.Data)
		if j.Unused != nil && !errors.Is(a.Err, ErrOtherProgram) {
			j.Unused(a.File, a.Data)
		}
	}
	j.Printer.account(a, j.position(a.Input), cause)
	j.shares.add(a, j.position(a.Input), in.Weight)
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
	if j.part != nil {
		j.part.add(j, a)
	}
	if j.totals != nil && a.Err != nil {
		j.broken.CompareAndSwap(nil, &a.Err)
	}
}

// loss returns the totals of the accounts.
func (j *Job) loss() merge.Loss {
	l := j.Accounts.Loss()
	if j.totals == nil {
		return l
	}
	all := *j.totals
	all.Functions, all.LostFunctions = l.Functions, l.LostFunctions
	return all
}

// ID returns a number that tells a profile apart from all others of the merge, and is
// the same however the merge is divided: the position of its input, and its own in that.
// Watching does not know the positions, and counts the profiles.
func (j *Job) ID(p *merge.Profile) uint64 {
	if j.Watched() {
		return uint64(p.Place)
	}
	return uint64(p.Number)<<32 | uint64(j.position(p.Input))
}

// position returns an input's position among all.
func (j *Job) position(input int) int {
	if j.group != nil {
		return j.group.Inputs[input]
	}
	return input
}

// start opens the report and the quarantine if the options ask for them.
func (j *Job) start() (err error) {
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
		return cli.Usagef("the report and the output cannot both be %s", j.Output)
	}
	j.report, err = openReportFile(o.report, "merge", j.Output)
	return err
}

// refuseQuarantined refuses inputs that lie in the quarantine.
func (j *Job) refuseQuarantined(ins []inputs.Input) error {
	if j.quarantine == nil {
		return nil
	}
	for _, in := range ins {
		if in.Name != inputs.Stdin && j.quarantine.Holds(in.Name) {
			return cli.Usagef("%s lies in the quarantine folder, which cannot be an input", in.Name)
		}
	}
	return nil
}

// finish completes the report and the quarantine of a job that ended with the
// error cause, and returns the error of the command.
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
	if !decided { // a usage error, a system error or an interrupt: nothing was merged
		j.report.discard()
		return cause
	}
	if err := j.report.commit(j.summary(written, cause)); err != nil {
		return joinErrors(cause, console.NotWritten("the report", err))
	}
	return cause
}

// joinErrors is [errors.Join] but returns a single error unchanged.
func joinErrors(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return errors.Join(a, b)
}

// likelyCause returns the usual cause of such an error in words, or "" if none is
// known.
func (j *Job) likelyCause(err error, data []byte) string {
	var fe *profile.FormatError
	if !errors.As(err, &fe) {
		return ""
	}
	if cause := generalCause(fe); cause != "" {
		return cause
	}
	if j.Cause != nil {
		if cause := j.Cause(fe, data); cause != "" {
			return cause
		}
	}
	if profile.ClassOf(fe) == profile.ErrTruncated {
		return "its end is missing: the writer was killed or its disk was full"
	}
	return ""
}
