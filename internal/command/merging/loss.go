package merging

import (
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/merge"
)

// ExitOverBudget is the exit code of a merge that would lose more than its budget.
const ExitOverBudget = 4

// The names of the limits, in options and in accounts files.
const (
	maxLostInputs    = "max-lost-inputs"
	maxLostFunctions = "max-lost-functions"
)

// The values of --failure-mode.
const (
	failAny  = "any"
	failAll  = "all"
	failWarn = "warn"
)

// LossOptions are the options about lost profiles: how many may be lost, and which files list or receive them.
type LossOptions struct {
	inputs, functions merge.Limit
	mode              cli.Choice
	accounts          string // file of --report
	quarantine        string // folder
	move              bool   // move inputs into the quarantine instead of linking them

	flags *cli.Flags
}

// defaultLoss is the default budget: a few of thousands of inputs may be lost, such as profiles of
// crashed processes, but none of less than a hundred.
const defaultLoss = "1%"

// Declare declares the options; for a merge of parts, without --quarantine and --quarantine-move.
func (o *LossOptions) Declare(f *cli.Flags, parts bool) {
	o.flags = f
	_ = o.inputs.Set(defaultLoss)
	_ = o.functions.Set(defaultLoss)
	f.Var(&o.inputs, maxLostInputs, "`N|P%` fail if more than N inputs, or P % of them, are unusable")
	f.Var(&o.functions, maxLostFunctions, "`P%` fail if more than P % of the functions are lost because only unusable inputs have them")
	o.mode.Allowed = []string{failAny, failAll, failWarn}
	f.Var(&o.mode, "failure-mode", "`MODE` sets both limits: any fails if anything is lost; all fails only if no input is usable; "+
		"warn never fails because of losses")
	if parts {
		f.StringVar(&o.accounts, "report", "", "`FILE` write a JSON report of every input that is lost, wholly or in part, with the reason")
		return
	}
	f.StringVar(&o.accounts, "report", "", "`FILE` write a JSON report of every input: whether and why it was used, and its counts")
	f.StringVar(&o.quarantine, "quarantine", "", "`DIR` link unusable inputs into DIR, each with a file that gives the reason")
	f.BoolVar(&o.move, "quarantine-move", false, "move them instead, once OUTPUT is written")
}

// Given reports whether any of the options is given.
func (o *LossOptions) Given() (given bool) {
	o.flags.Given(func(name string) {
		switch name {
		case maxLostInputs, maxLostFunctions, "failure-mode", "report", "quarantine", "quarantine-move":
			given = true
		}
	})
	return given
}

func (o *LossOptions) budget() (merge.Budget, error) {
	b := merge.Budget{Inputs: o.inputs, Functions: o.functions}
	var clash string
	o.flags.Given(func(name string) {
		if name == maxLostInputs || name == maxLostFunctions {
			clash = name
		}
	})
	if o.mode.Value != "" && clash != "" {
		return b, cli.Usagef("options --failure-mode and --%s exclude each other", clash)
	}
	if o.move && o.quarantine == "" {
		return b, cli.Usagef("option --quarantine-move needs --quarantine")
	}
	// As for llvm-profdata's -failure-mode, "any" fails the merge if any input is lost.
	share := "0%"
	switch o.mode.Value {
	case "":
		return b, nil
	case failAll, failWarn:
		share = "100%"
	}
	b = merge.Budget{NoInput: o.mode.Value == failWarn}
	_ = b.Functions.Set(share)
	if b.Inputs = b.Functions; o.mode.Value == failAny {
		_ = b.Inputs.Set("0")
	}
	return b, nil
}
