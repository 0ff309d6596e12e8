package merging

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	maxRejectsListed  = 10
	maxWarningsListed = 5 // of each kind
)

// A Printer collects the messages of a merge in bounded memory. The printed text does not depend on the number of
// workers. The zero value is ready to use. Several goroutines may call Warn and WarnOf.
type Printer struct {
	mu         sync.Mutex
	rejects    [][]reject // by class, at most maxRejectsListed each
	rescued    *rescue    // the first in the order of the inputs
	numRescued int        // damaged functions in all inputs
	warnings   map[string]*warningKind
}

// A reject is a profile that was left out, or the unreadable part of an archive.
type reject struct {
	input int
	name  string
	err   error
	cause string // in words; may be empty
}

// A rescue is a line about the first damaged function of an input, left out or clamped.
type rescue struct {
	input, member int
	text          string
}

type warningKind struct {
	n     int
	first []warning       // at most maxWarningsListed
	seen  map[string]bool // texts so far, if equal texts count once
	hint  string
}

type warning struct {
	position int // of the profile in the order of the inputs; 0 for the sum
	text     string
}

// addAccount records what the merge did with a profile. cause is the likely cause of the
// profile's error; "" if unknown.
func (p *Printer) addAccount(a *merge.Account, input int, cause string) {
	if a.Err == nil && len(a.Rescued) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Err != nil {
		p.addReject(reject{input, a.File, a.Err, cause}, profile.ClassOf(a.Err))
	}
	p.numRescued += len(a.Rescued) + a.RescuedOmitted
	if len(a.Rescued) > 0 {
		p.addRescue(rescue{input, a.Member, a.File + ": " + newRescued(a.Rescued[0]).line()})
	}
}

func (p *Printer) addEntry(e *entry) {
	if e.Reason != nil {
		p.addReject(reject{e.Input, e.File, errors.New(e.Reason.Message), e.Reason.Cause}, e.Reason.Class)
	}
	p.numRescued += len(e.Rescued) + e.RescuedOmitted
	if len(e.Rescued) > 0 {
		p.addRescue(rescue{e.Input, 0, e.File + ": " + e.Rescued[0].line()})
	}
}

// addReject keeps the first rejects of each class in the order of the inputs.
func (p *Printer) addReject(r reject, class profile.Class) {
	if p.rejects == nil {
		p.rejects = make([][]reject, len(profile.Classes()))
	}
	list := &p.rejects[slices.Index(profile.Classes(), class)]
	*list = console.InsertBounded(*list, r, maxRejectsListed, func(a, b reject) int {
		return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.name, b.name))
	})
}

// addRescue keeps the first rescue in the order of the inputs: workers finish in any order.
func (p *Printer) addRescue(r rescue) {
	if f := p.rescued; f == nil || cmp.Or(cmp.Compare(r.input, f.input), cmp.Compare(r.member, f.member)) < 0 {
		p.rescued = &r
	}
}

// rejectsToList returns at most maxRejectsListed rejects, the worst class first. It takes them
// from all classes in turn, so that one class does not hide the others.
func (p *Printer) rejectsToList() (list []reject) {
	taken := make([]int, len(p.rejects))
	for left, progress := maxRejectsListed, true; left > 0 && progress; {
		progress = false
		for class, all := range p.rejects {
			if left > 0 && taken[class] < len(all) {
				taken[class]++
				left, progress = left-1, true
			}
		}
	}
	for class, n := range taken {
		list = append(list, p.rejects[class][:n]...)
	}
	return list
}

// Skipped records an entry of a folder or archive that is not an input.
func (p *Printer) Skipped(name, why string) { p.Warn(why, 0, name+": passed over: "+why, "") }

// Warn records a warning about the profile at a position in the order of the inputs, or about the sum (position 0).
// kind groups warnings in the output. hint says what to do; with a hint, equal texts count once.
func (p *Printer) Warn(kind string, position int, text, hint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warnings == nil {
		p.warnings = make(map[string]*warningKind)
	}
	k := p.warnings[kind]
	if k == nil {
		k = &warningKind{seen: make(map[string]bool), hint: hint}
		p.warnings[kind] = k
	}
	if hint != "" {
		if k.seen[text] {
			return
		}
		k.seen[text] = true
	}
	k.n++
	k.first = console.InsertBounded(k.first, warning{position, text}, maxWarningsListed, func(a, b warning) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.text, b.text))
	})
}

// WarnOf records a warning of a family's reader, merger or writer.
func (p *Printer) WarnOf(family string, position int, w profile.Warning) {
	e := console.NewWarning(w)
	p.Warn(family+" "+e.Field, position, e.String(), "")
}

// EachWarning returns the first warnings of each kind.
func (p *Printer) EachWarning() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.warnings)) {
			for _, w := range p.warnings[name].first {
				if !yield(w.text) {
					return
				}
			}
		}
	}
}

// PrintWarnings prints the first warnings of each kind.
func (p *Printer) PrintWarnings(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(p.warnings)) {
		k := p.warnings[name]
		for _, f := range k.first {
			fmt.Fprintf(w, "warning: %s\n", console.Printable(f.text))
		}
		if more := k.n - len(k.first); more > 0 {
			fmt.Fprintf(w, "warning: … and %s more of this kind\n", cli.Count(more))
		}
		if k.hint != "" {
			fmt.Fprintf(w, "         %s\n", k.hint)
		}
	}
}

// PrintLeftOut prints the worst rejects, and how many functions of used inputs are damaged.
func (p *Printer) PrintLeftOut(w io.Writer, l merge.Loss) {
	list := p.rejectsToList()
	for _, r := range list {
		text := cli.Message(r.err)
		if !strings.HasPrefix(text, r.name) {
			text = r.name + ": " + text
		}
		fmt.Fprintf(w, "not merged: %s\n", console.Printable(text))
		if r.cause != "" {
			fmt.Fprintf(w, "            %s\n", console.Printable(r.cause))
		}
	}
	if more := l.Lost - uint64(len(list)); more > 0 {
		fmt.Fprintf(w, "not merged: … and %s more\n", cli.Count(more))
	}
	if p.rescued == nil {
		return
	}
	count := ""
	if p.numRescued > 1 {
		count = fmt.Sprintf("%s damaged functions in %s; the first: ", cli.Count(p.numRescued), cli.Quantity(l.Partly, "input", "inputs"))
	}
	fmt.Fprintf(w, "partly merged: %s%s\n", count, console.Printable(p.rescued.text))
}

// InputsLine says how many inputs were merged and why the others were not.
func InputsLine(l merge.Loss) string {
	s := fmt.Sprintf("%s of %s", cli.Count(l.Used), cli.Quantity(l.Inputs, "input", "inputs"))
	if l.Lost == 0 {
		return s
	}
	return s + " (left out: " + leftOutLine(l) + ")"
}

func leftOutLine(l merge.Loss) string {
	var parts []cli.Part
	for _, class := range profile.Classes() {
		parts = append(parts, cli.Part{N: l.LeftOut[class], What: string(class)})
	}
	return strings.Join(cli.Parts(parts...), ", ")
}

// lossLine compares a loss within the budget with the budget; "" if nothing was lost.
func (p *Printer) lossLine(l merge.Loss, b *merge.Budget) string {
	if l.Lost == 0 && l.LostFunctions == 0 && p.rescued == nil {
		return ""
	}
	s := fmt.Sprintf("lost: %s of %s (%s, allowed %s)", cli.Count(l.Lost), cli.Quantity(l.Inputs, "input", "inputs"),
		cli.Percent(l.Lost, l.Inputs), allowed(b.Inputs))
	if l.Functions > l.LostFunctions {
		s += fmt.Sprintf(", %s of %s (%s, allowed %s)", cli.Count(l.LostFunctions), cli.Quantity(l.Functions, "function", "functions"),
			cli.Percent(l.LostFunctions, l.Functions), allowed(b.Functions))
	}
	return s + "\n"
}

func overBudget(e *merge.OverBudget) error {
	var parts []string
	switch l := e.Loss; {
	case e.Nothing:
		parts = append(parts, fmt.Sprintf("no input can be merged (%s)", leftOutLine(l)))
	case e.Inputs:
		parts = append(parts, fmt.Sprintf("%s of %s cannot be merged (%s), %s, and --max-lost-inputs allows %s", cli.Count(l.Lost),
			cli.Quantity(l.Inputs, "input", "inputs"), leftOutLine(l), cli.Percent(l.Lost, l.Inputs), allowed(e.Budget.Inputs)))
	}
	if l := e.Loss; e.Functions {
		parts = append(parts, fmt.Sprintf("%s of %s would be missing, %s, and --max-lost-functions allows %s", cli.Count(l.LostFunctions),
			cli.Quantity(l.Functions, "function", "functions"), cli.Percent(l.LostFunctions, l.Functions), allowed(e.Budget.Functions)))
	}
	return &cli.ExitError{Code: ExitOverBudget, Err: fmt.Errorf("%s; nothing is written", strings.Join(parts, "; "))}
}

func allowed(l merge.Limit) string {
	if share, ok := strings.CutSuffix(l.String(), "%"); ok {
		return share + " %"
	}
	return l.String()
}
