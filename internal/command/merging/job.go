package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// A Job holds the inputs of one call of [FamilyAdder].Add, and the accounts and warnings of their
// profiles. The zero value has no inputs.
type Job struct {
	*Options
	// Base is the file of an earlier result, to which the inputs are added; "" for none.
	Base     string
	Inputs   []inputs.Input // without Base
	Accounts merge.Accounts
	Printer

	// NumInputs returns how many inputs a partial sum stands for; nil means 1 each.
	NumInputs func(data []byte) int
	// Unused records the functions of a profile that is left out; may be nil.
	Unused func(file string, data []byte)
	// Cause returns the likely cause of an error in words, "" if unknown; may be nil.
	Cause func(e *profile.FormatError, data []byte) string

	budget       merge.Budget
	exceeded     *merge.OverBudget // nil if the loss is within the budget
	accountsFile *accountsFile     // of --report; nil without the option
	quarantine   *quarantine       // nil without one
	shares       shares            // of the inputs in the total count
	tooHeavy     bool              // the share of an input exceeds --max-share
	progress     *cli.Progress     // nil without one
	watched      func(in inputs.Input, a *merge.Account, cause string)
	part         *Part                 // nil if the result is no part
	totals       *merge.Loss           // losses of the partial sums being merged; nil if the inputs are profiles
	broken       atomic.Pointer[error] // about the first partial sum that cannot be read

	group  *Group // of a Splitter; nil without groups
	before int    // number of inputs in earlier groups
}

// Watched reports whether the inputs come from a watched folder.
func (j *Job) Watched() bool { return j.watched != nil }

// Add adds up the profiles of the inputs, with one worker for each adder. ordered is for sums
// that depend on the order of the inputs.
func (j *Job) Add(ctx context.Context, ins []inputs.Input, adders []merge.Adder, ordered bool) error {
	opt := merge.Options{
		Ordered:   ordered,
		NumInputs: j.NumInputs,
		Ended:     func(a *merge.Account) { j.addAccount(ins[a.Input], a) },
		InputEnded: func(input, profiles int) {
			if j.accountsFile != nil {
				j.accountsFile.endInput(j.before+input, profiles)
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

// Adders returns one adder for each worker that n inputs keep busy. It calls fork for each of them.
func (j *Job) Adders(n int, fork func() merge.Adder) []merge.Adder {
	// A worker with fewer inputs is not worth the memory of its sum.
	const minPerWorker = 8
	adders := []merge.Adder{fork()}
	for len(adders) < min(NumWorkers(j.Workers), n/minPerWorker) {
		adders = append(adders, fork())
	}
	return adders
}

// addAccount records the account of a profile, in all places that the options ask for.
func (j *Job) addAccount(in inputs.Input, a *merge.Account) {
	j.Accounts.Add(a)
	cause := ""
	if a.Err != nil {
		cause = j.likelyCause(a.Err, a.Data)
		if j.Unused != nil && !errors.Is(a.Err, ErrOtherProgram) {
			j.Unused(a.File, a.Data)
		}
	}
	j.Printer.addAccount(a, j.position(a.Input), cause)
	j.shares.addInput(a, j.position(a.Input), in.Weight)
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
		j.quarantine.add(a)
	}
	if j.accountsFile != nil {
		j.accountsFile.add(j.before+a.Input, a.Member, j.entryJSON(a, "    "))
	}
	if j.watched != nil {
		j.watched(in, a, cause)
	}
	if j.part != nil {
		j.part.addAccount(j, a)
	}
	if j.totals != nil && a.Err != nil {
		j.broken.CompareAndSwap(nil, &a.Err)
	}
}

// loss returns the losses of all profiles, also of the profiles in partial sums.
func (j *Job) loss() merge.Loss {
	l := j.Accounts.Loss()
	if j.totals == nil {
		return l
	}
	all := *j.totals
	all.Functions, all.LostFunctions = l.Functions, l.LostFunctions
	return all
}

// ID returns a number that identifies a profile in the merge: the position of its input, and
// the profile's number in the input. It does not depend on how a fleet divides the merge.
// Watching does not know the positions; there it is the order of arrival.
func (j *Job) ID(p *merge.Profile) uint64 {
	if j.Watched() {
		return uint64(p.Index)
	}
	return uint64(p.Number)<<32 | uint64(j.position(p.Input))
}

// position returns the index among all inputs of an input of the job.
func (j *Job) position(input int) int {
	if j.group != nil {
		return j.group.Inputs[input]
	}
	return input
}

// openSideFiles opens the accounts file and the quarantine if the options ask for them.
func (j *Job) openSideFiles() (err error) {
	o := &j.Loss
	if j.budget, err = o.budget(); err != nil {
		return err
	}
	if o.quarantine != "" {
		if j.quarantine, err = openQuarantine(o.quarantine); err != nil {
			return err
		}
		j.quarantine.move = o.move
		j.quarantine.reason = func(a *merge.Account) []byte { return j.entryJSON(a, "") }
	}
	if o.accounts == "" {
		return nil
	}
	if o.accounts == j.Output && j.Output != "-" {
		return cli.Usagef("the report and the output cannot both be %s", j.Output)
	}
	j.accountsFile, err = createAccountsFile(o.accounts, "merge", j.Output)
	return err
}

// refuseQuarantined refuses inputs from the quarantine: they were lost before, and would be lost again.
func (j *Job) refuseQuarantined(ins []inputs.Input) error {
	if j.quarantine == nil {
		return nil
	}
	for _, in := range ins {
		if in.Name != inputs.Stdin && j.quarantine.holds(in.Name) {
			return cli.Usagef("%s lies in the quarantine folder, which cannot be an input", in.Name)
		}
	}
	return nil
}

// finishSideFiles completes the accounts file and the quarantine of a job that ended with the
// error cause. It returns the error of the command.
func (j *Job) finishSideFiles(cause error) error {
	var exit *cli.ExitError
	decided := cause == nil || errors.As(cause, &exit)
	written := cause == nil
	if j.quarantine != nil && decided {
		cause = joinErrors(cause, j.quarantine.finish(written))
	}
	if j.accountsFile == nil {
		return cause
	}
	if !decided { // after a usage error, a system error or an interrupt nothing was merged
		j.accountsFile.discard()
		return cause
	}
	if err := j.accountsFile.commit(j.summary(written, cause)); err != nil {
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

// likelyCause returns the usual cause of an error in words; "" if unknown.
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

// WrongFormat returns the error about an input of another format than the merge takes; want is
// the name of that format, such as "an IRPGO profile".
func WrongFormat(name string, data []byte, want string) error {
	if f, ok := formats.Detect(data); ok && !f.IsProgram() {
		return formats.WrongFormat(name, data, want+", which this merge takes")
	}
	return formats.WrongFormat(name, data, "a profile")
}

// ErrOtherProgram is the cause of an error about an input of another program than the options
// ask for. The functions of such an input do not count as lost.
var ErrOtherProgram = fmt.Errorf("another program: %w", profile.ErrMismatch)

// generalCause returns the likely cause of an error in any format; "" if unknown.
func generalCause(e *profile.FormatError) string {
	switch {
	case profile.ClassOf(e) == profile.ErrEmpty && e.Field == "archive":
		return "nothing was packed into it"
	case profile.ClassOf(e) == profile.ErrEmpty:
		return "the process was killed before it wrote its profile, or its disk was full"
	}
	return ""
}
