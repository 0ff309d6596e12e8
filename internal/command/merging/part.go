package merging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/merge"
)

// A Part is the sum of some inputs of a merge, with what the merge of all parts must know about these inputs.
type Part struct {
	Sum      *Sum
	Loss     merge.Loss
	Lost     map[uint64]string // names of the functions that only unused inputs have, by reference
	Warnings []string          // about profiles in the sum

	mu   sync.Mutex
	left []leftOut
}

type leftOut struct {
	input, member int
	json          []byte
}

// Part adds up the profiles of a group, whose Inputs are positions among all inputs of the
// merge. MergeParts checks the limits.
func (o *Options) Part(ctx context.Context, a FamilyAdder, ins []inputs.Input, g *Group) (*Part, error) {
	p := new(Part)
	j := &Job{Options: o, Inputs: ins, group: g, part: p}
	if err := a.Open(o, func(text string) { j.Warn("programs", 0, text, "") }); err != nil {
		return nil, err
	}
	defer o.Programs.Close()
	var err error
	if p.Sum, err = a.Add(ctx, j); err != nil {
		return nil, err
	}
	p.Loss, p.Lost = j.Accounts.Loss(), j.Accounts.Lost()
	for text := range j.EachWarning() {
		p.Warnings = append(p.Warnings, text)
	}
	return p, nil
}

// LostPart returns the part of a group that cannot be merged, for a reason: it counts all its profiles as lost.
func (o *Options) LostPart(ctx context.Context, ins []inputs.Input, g *Group, reason error) (*Part, error) {
	p := &Part{Sum: &Sum{Empty: reason.Error()}}
	j := &Job{Options: o, Inputs: ins, group: g, part: p}
	lose := func(p *merge.Profile) (*merge.Contribution, error) { return nil, flaw.InFile(reason, p.Name) }
	err := j.Add(ctx, ins, []merge.Adder{lose}, false)
	p.Loss = j.Accounts.Loss()
	return p, err
}

// addAccount keeps the account of a profile that is not wholly in the sum.
func (p *Part) addAccount(j *Job, a *merge.Account) {
	if a.Err == nil && len(a.Rescued) == 0 {
		return
	}
	text := j.entryJSON(a, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, leftOut{j.position(a.Input), a.Member, text})
}

// Left returns the accounts of the inputs that are not wholly in the sum, as JSON, in the order of the inputs.
func (p *Part) Left() []json.RawMessage {
	slices.SortFunc(p.left, func(a, b leftOut) int {
		return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.member, b.member))
	})
	var all []json.RawMessage
	for _, l := range p.left {
		all = append(all, l.json)
	}
	return all
}

// A Whole describes a merge of parts.
type Whole struct {
	Command string // for the accounts file
	Loss    merge.Loss
	Lost    map[uint64]string
	Left    []json.RawMessage // see [Part.Left]
	Results []WholeResult
}

// A WholeResult is one of the results of a merge of parts.
type WholeResult struct {
	Path     string
	Adder    FamilyAdder
	Options  *Options
	Inputs   []inputs.Input // the parts
	Profiles int            // number of profiles in the parts
}

// MergeParts merges parts, checks the loss of all inputs against the limits, and writes all results or none.
func (o *Options) MergeParts(ctx context.Context, env *cli.Env, w *Whole) error {
	j := &Job{Options: o, totals: &w.Loss, progress: env.StartProgress("parts read", o.Quiet)}
	defer j.progress.Stop()
	var err error
	if j.budget, err = o.Loss.budget(); err != nil {
		return err
	}
	if o.Loss.accounts != "" {
		if j.accountsFile, err = createAccountsFile(o.Loss.accounts, w.Command, o.Output); err != nil {
			return err
		}
	}
	for i, account := range w.Left {
		// Another process wrote the entry, perhaps of another version of this program.
		e := new(entry)
		if err := json.Unmarshal(account, e); err != nil {
			return fmt.Errorf("the account of an input that is not in a part: %w", err)
		}
		j.addEntry(e)
		if j.accountsFile != nil {
			j.accountsFile.add(i, 0, e.json("    "))
			j.accountsFile.endInput(i, 1)
		}
	}
	for ref, name := range w.Lost {
		j.Accounts.MayBeLost(ref, name)
	}
	// Without a usable input nothing is written, even if the budget allows the loss.
	if len(w.Results) == 0 {
		j.progress.Stop()
		return j.finishSideFiles(cmp.Or(j.checkLimits(env), errors.New("no input can be merged; nothing is written")))
	}
	return j.finishSideFiles(j.mergeParts(ctx, env, w))
}

// mergeParts adds up the parts of each result. An unreadable part ends the merge, whatever the
// budget: a part stands for many inputs.
func (j *Job) mergeParts(ctx context.Context, env *cli.Env, w *Whole) error {
	accounts := j.accountsFile
	var results []result
	for i := range w.Results {
		res := &w.Results[i]
		results = append(results, result{res.Path, func() (*Sum, int, error) {
			// The accounts file is about the inputs of the parts, not about the parts.
			j.Options, j.Inputs, j.accountsFile = res.Options, res.Inputs, nil
			defer func() { j.accountsFile = accounts }()
			if err := res.Adder.Open(j.Options, func(text string) { j.Warn("programs", 0, text, "") }); err != nil {
				return nil, 0, err
			}
			defer j.Programs.Close()
			sum, err := res.Adder.Add(ctx, j)
			if broken := j.broken.Load(); err == nil && broken != nil {
				err = fmt.Errorf("a part of the merge cannot be used: %w", *broken)
			}
			return sum, res.Profiles, err
		}})
	}
	whole := j.Options
	defer func() { j.Options = whole }()
	return j.writeAll(env, nil, results)
}
