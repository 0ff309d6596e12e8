package merging

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
)

// ExitOverBudget is the exit code of a merge that would lose more than it may.
const ExitOverBudget = 4

// The failure modes: older names of budgets.
const (
	failAny  = "any"
	failAll  = "all"
	failWarn = "warn"
)

// LossOptions are the options of commands that merge about what is lost: what
// may be, and where it is told.
type LossOptions struct {
	inputs, functions limit
	mode              cli.Choice
	report            string // file
	quarantine        string // folder
	move              bool   // into it

	flags *cli.Flags
}

// defaultLoss is what may be lost unless something else is said: in a merge of
// thousands a crashed process now and then, in one of few inputs none.
const defaultLoss = "1%"

// Declare declares them.
func (o *LossOptions) Declare(f *cli.Flags) {
	o.flags = f
	_ = o.inputs.Set(defaultLoss)
	_ = o.functions.Set(defaultLoss)
	f.Var(&o.inputs, "max-lost-inputs", "`N|P%` how many inputs, or P % of them, may be left out because they cannot be used")
	f.Var(&o.functions, "max-lost-functions", "`P%` how many functions that only unusable inputs know may be missing from the result")
	o.mode.Allowed = []string{failAny, failAll, failWarn}
	f.Var(&o.mode, "failure-mode", "`MODE` in place of the limits --max-lost-…: any is 0 and 0%, all is 100% of both as long as there are other inputs, "+
		"warn even if there are none")
	f.StringVar(&o.report, "report", "", "`FILE` tell of every input as JSON: used or not, why, and what it brought")
	f.StringVar(&o.quarantine, "quarantine", "", "`DIR` link what is left out into DIR, with a file beside each that says why")
	f.BoolVar(&o.move, "quarantine-move", false, "move it there instead, if the result is written")
}

// budget returns what may be lost.
func (o *LossOptions) budget() (budget, error) {
	b := budget{inputs: o.inputs, functions: o.functions}
	var clash string
	o.flags.Visit(func(f *flag.Flag) {
		if f.Name == "max-lost-inputs" || f.Name == "max-lost-functions" {
			clash = f.Name
		}
	})
	if o.mode.Value != "" && clash != "" {
		return b, cli.Usagef("options --failure-mode and --%s exclude each other", clash)
	}
	if o.move && o.quarantine == "" {
		return b, cli.Usagef("option --quarantine-move needs --quarantine")
	}
	all := limit{text: "100%", percent: 100, relative: true}
	switch o.mode.Value {
	case failAny:
		b.inputs, b.functions = limit{text: "0"}, limit{text: "0%", relative: true}
	case failAll:
		b.inputs, b.functions = all, all
	case failWarn:
		b = budget{all, all, true}
	}
	return b, nil
}

// A budget is what a merge may lose.
type budget struct {
	inputs, functions limit
	everything        bool // there need not be any input that can be used
}

// NeedsNoInput reports whether there is to be a result even of no input.
func (m *Report) NeedsNoInput() bool { return m.budget.everything }

// A limit is a number, or a share in percent.
type limit struct {
	text     string
	number   uint64
	percent  float64
	relative bool
}

func (l *limit) String() string { return l.text }

// Set takes "7" or "0.5%".
func (l *limit) Set(s string) error {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		p, err := strconv.ParseFloat(share, 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return errors.New("it takes a number, or a percentage from 0% to 100%")
		}
		*l = limit{text: s, percent: p, relative: true}
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("it takes a number, or a percentage from 0% to 100%")
	}
	*l = limit{text: s, number: n}
	return nil
}

// allows reports whether as many may be lost of all.
func (l *limit) allows(lost, all uint64) bool {
	if l.relative {
		return float64(lost)*100 <= l.percent*float64(all)
	}
	return lost <= l.number
}

// lossFacts are what is lost of a merge, for whoever decides and for the report.
type lossFacts struct {
	inputs, lostInputs       uint64
	functions, lostFunctions uint64
}

// Judge decides by the budget whether there is a result, and prints what was
// left out.
func (m *Report) Judge(w io.Writer) error {
	m.PrintRejects(w)
	m.printRescued(w)
	l := m.loss()
	b := &m.budget
	var exceeded string
	switch {
	case l.lostInputs > 0 && m.Taken == 0 && !b.everything:
		m.exceeded = append(m.exceeded, "max-lost-inputs")
		return over("no input can be merged (%s); nothing is written", m.rejectedLine())
	case !b.inputs.allows(l.lostInputs, l.inputs):
		m.exceeded = append(m.exceeded, "max-lost-inputs")
		exceeded = fmt.Sprintf("%s of %s cannot be merged (%s), %s, and --max-lost-inputs allows %s", cli.Count(l.lostInputs),
			cli.Quantity(l.inputs, "input", "inputs"), m.rejectedLine(), cli.Percent(l.lostInputs, l.inputs), b.inputs.allowed())
	}
	if !b.functions.allows(l.lostFunctions, l.functions) {
		m.exceeded = append(m.exceeded, "max-lost-functions")
		text := fmt.Sprintf("%s of %s would be missing, %s, and --max-lost-functions allows %s", cli.Count(l.lostFunctions),
			cli.Quantity(l.functions, "function", "functions"), cli.Percent(l.lostFunctions, l.functions), b.functions.allowed())
		if exceeded != "" {
			text = exceeded + "; " + text
		}
		exceeded = text
	}
	if exceeded != "" {
		return over("%s; nothing is written", exceeded)
	}
	return nil
}

func over(format string, args ...any) error {
	return &cli.ExitError{Code: ExitOverBudget, Err: fmt.Errorf(format, args...)}
}

// allowed prints a limit in a sentence.
func (l *limit) allowed() string {
	if l.relative {
		return strings.TrimSuffix(l.text, "%") + " %"
	}
	return l.text
}

// loss sums up what is lost.
func (m *Report) loss() lossFacts {
	out := uint64(m.numRejected())
	return lossFacts{
		inputs: uint64(m.Taken) + out, lostInputs: out,
		functions: uint64(m.functions + len(m.lost)), lostFunctions: uint64(len(m.lost)),
	}
}

// PrintLoss says that what is missing is within the budget.
func (m *Report) PrintLoss(w io.Writer) {
	l := m.loss()
	if l.lostInputs == 0 && l.lostFunctions == 0 && len(m.rescued) == 0 {
		return
	}
	s := fmt.Sprintf("lost: %s of %s (%s, allowed %s)", cli.Count(l.lostInputs), cli.Quantity(l.inputs, "input", "inputs"),
		cli.Percent(l.lostInputs, l.inputs), m.budget.inputs.allowed())
	if m.functions > 0 {
		s += fmt.Sprintf(", %s of %s (%s, allowed %s)", cli.Count(l.lostFunctions), cli.Quantity(l.functions, "function", "functions"),
			cli.Percent(l.lostFunctions, l.functions), m.budget.functions.allowed())
	}
	fmt.Fprintln(w, s)
}
