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

// A Part is the sum of some of the inputs of a merge, and what the merge of all parts
// needs to know of these inputs.
type Part struct {
	Sum  *Sum // its Empty says whether there is anything to write
	Loss merge.Loss
	Lost map[uint64]string // functions that only inputs left out have, by reference
	// Warnings are about profiles that are in the sum.
	Warnings []string

	mu   sync.Mutex
	left []leftOut
}

// A leftOut is the account of an input that is not in the sum, or not all of it.
type leftOut struct {
	input, member int
	json          []byte
}

// Part adds up the profiles of a group, whose Inputs are positions among all inputs of
// the merge. Nothing is judged: whoever merges the parts does that.
func (r *Run) Part(ctx context.Context, a Adder, ins []inputs.Input, g *Group) (*Part, error) {
	p := new(Part)
	j := &Job{Run: r, Inputs: ins, group: g, part: p}
	if err := a.Open(r, func(text string) { j.Warn("programs", 0, text, "") }); err != nil {
		return nil, err
	}
	defer r.Programs.Close()
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

// LostPart is [Run.Part] for profiles none of which can be used, for a reason.
func (r *Run) LostPart(ctx context.Context, ins []inputs.Input, g *Group, reason error) (*Part, error) {
	p := &Part{Sum: &Sum{Empty: reason.Error()}}
	j := &Job{Run: r, Inputs: ins, group: g, part: p}
	lose := func(p *merge.Profile) (*merge.Contribution, error) { return nil, flaw.InFile(reason, p.Name) }
	err := j.Add(ctx, ins, []merge.Adder{lose}, false)
	p.Loss = j.Accounts.Loss()
	return p, err
}

// add keeps the account of a profile unless all of it is in the sum.
func (p *Part) add(j *Job, a *merge.Account) {
	if a.Err == nil && len(a.Rescued) == 0 {
		return
	}
	text := j.entryJSON(a, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, leftOut{j.position(a.Input), a.Member, text})
}

// Left returns the accounts of the inputs that are not in the sum, or not all of them, as
// JSON in the order of the inputs.
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

// A Whole is what all parts of a merge have in common.
type Whole struct {
	Command string // for the report
	Loss    merge.Loss
	Lost    map[uint64]string
	Left    []json.RawMessage // see [Part.Left]
	Results []WholeResult
}

// A WholeResult is one of the results of a merge of parts.
type WholeResult struct {
	Path     string
	Adder    Adder
	Run      *Run // its options
	Inputs   []inputs.Input
	Profiles int // that are in the parts
}

// MergeParts merges parts, judges the loss over all inputs, and writes the results, all or
// none. r has the options of the merge.
func (r *Run) MergeParts(ctx context.Context, env *cli.Env, w *Whole) error {
	j := &Job{Run: r, totals: &w.Loss, progress: env.StartProgress("parts read", r.Quiet)}
	defer j.progress.Stop()
	var err error
	if j.budget, err = r.Loss.budget(); err != nil {
		return err
	}
	if r.Loss.report != "" {
		if j.report, err = openReportFile(r.Loss.report, w.Command, r.Output); err != nil {
			return err
		}
	}
	for i, account := range w.Left {
		// The entries come from other processes of this program, which may be of another version.
		e := new(entry)
		if err := json.Unmarshal(account, e); err != nil {
			return fmt.Errorf("the account of an input that is not in a part: %w", err)
		}
		j.left(e)
		if j.report != nil {
			j.report.add(i, 0, e.json("    "))
			j.report.endInput(i, 1)
		}
	}
	for ref, name := range w.Lost {
		j.Accounts.MayBeLost(ref, name)
	}
	// Without a usable input there is only a loss to judge; within the budget there is still nothing to
	// write.
	if len(w.Results) == 0 {
		j.progress.Stop()
		return j.finish(cmp.Or(j.judge(env), errors.New("no input can be merged; nothing is written")))
	}
	return j.finish(j.mergeParts(ctx, env, w))
}

// mergeParts adds up the parts of each result. A part that cannot be read is no lost input, which the
// budget might allow: it stands for many, so it ends the merge.
func (j *Job) mergeParts(ctx context.Context, env *cli.Env, w *Whole) error {
	report := j.report
	var results []result
	for i := range w.Results {
		res := &w.Results[i]
		results = append(results, result{res.Path, func() (*Sum, int, error) {
			// The report is about the inputs of the parts, not about the parts.
			j.Run, j.Inputs, j.report = res.Run, res.Inputs, nil
			defer func() { j.report = report }()
			if err := res.Adder.Open(j.Run, func(text string) { j.Warn("programs", 0, text, "") }); err != nil {
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
	whole := j.Run
	defer func() { j.Run = whole }()
	return j.writeAll(env, nil, results)
}
