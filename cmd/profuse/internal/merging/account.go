package merging

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
)

// The outcomes of an input, as the report has them.
const (
	outcomeUsed    = "used"
	outcomePartly  = "partly used"
	outcomeLeftOut = "left out"
)

const (
	maxRescuedPerInput = 100     // Functions listed in the report
	maxRescuedListed   = 10      // lines printed
	maxLost            = 1 << 20 // Functions remembered as lost
	maxLostListed      = 100     // of them in the report
	maxIDsListed       = 16      // of an input
)

// An Account is what became of one profile. It is also the entry of the
// report, whose names docs/report.schema.json describes.
type Account struct {
	Input      int    `json:"input"` // position on the command line, archives and folders expanded
	File       string `json:"file"`
	Size       int    `json:"size"` // bytes, uncompressed
	Format     string `json:"format,omitempty"`
	Outcome    string `json:"outcome"`
	Functions  *int   `json:"functions,omitempty"`  // records contributed
	Unmergable int    `json:"unmergable,omitempty"` // records that contradict those of earlier inputs
	// Count is the sum of the counters contributed, unweighted; 2^64-1 if it is
	// more.
	Count          *uint64           `json:"count,omitempty"`
	BinaryIDs      []string          `json:"binary_ids,omitempty"` // of the binaries that ran
	Reason         *reason           `json:"reason,omitempty"`
	Rescued        []rescuedFunction `json:"rescued,omitempty"`
	RescuedOmitted int               `json:"rescued_omitted,omitempty"`

	input  int // position among those merged
	member int // position in the input
	data   []byte
	report *Report
}

// A reason says why something is not in the result.
type reason struct {
	console.Finding
	Cause string `json:"cause,omitempty"` // the likely one, in words
}

type rescuedFunction struct {
	Function string          `json:"function,omitempty"`
	NameRef  string          `json:"name_ref"`
	Action   string          `json:"action"` // "left out" or "clamped"
	Reason   console.Finding `json:"reason"`
}

// Account begins the account of a profile: the member-th of an input.
func (m *Report) Account(input, member int, name string, data []byte) *Account {
	a := &Account{Input: input, File: name, Size: len(data), input: input, member: member, data: data, report: m}
	if m.origin != nil {
		a.Input = m.origin[input]
	}
	if f, ok := formats.Detect(data); ok {
		a.Format = f.String()
	}
	return a
}

// Contents returns the profile; nil when the account has ended.
func (a *Account) Contents() []byte { return a.data }

// Rescue takes note of a damaged function, which is left out, or whose absurd
// counters are clamped.
func (a *Account) Rescue(function string, nameRef uint64, clamped bool, err error) {
	action := "left out"
	if clamped {
		action = "clamped"
	}
	if len(a.Rescued) < maxRescuedPerInput {
		a.Rescued = append(a.Rescued, rescuedFunction{function, fmt.Sprintf("%#016x", nameRef), action, console.NewFinding(err)})
	} else {
		a.RescuedOmitted++
	}
}

// Brought is what a profile brought into the result.
type Brought struct {
	Functions, Unmergable int // records
	Count                 uint64
	BinaryIDs             []string
}

// Used ends the account of a profile that is in the result; b is nil if no more
// is known.
func (a *Account) Used(b *Brought) {
	a.Outcome = outcomeUsed
	if b != nil {
		a.Functions, a.Count, a.Unmergable = &b.Functions, &b.Count, b.Unmergable
		a.BinaryIDs = b.BinaryIDs[:min(len(b.BinaryIDs), maxIDsListed)]
	}
	a.report.took(a.input, a.Size)
	if len(a.Rescued) > 0 {
		a.Outcome = outcomePartly
		a.report.notePartly(a)
	}
	a.end()
}

// LeftOut ends the account of a profile that is not in the result.
func (a *Account) LeftOut(err error) {
	a.Outcome = outcomeLeftOut
	a.Rescued, a.RescuedOmitted = nil, 0
	a.Reason = &reason{console.NewFinding(err), a.report.likelyCause(err, a.data)}
	a.report.reject(a.input, a.File, err, a.Reason.Cause)
	if a.report.Unused != nil {
		a.report.Unused(a.File, a.data)
	}
	a.report.quarantine.add(a)
	a.end()
}

func (a *Account) end() {
	if r := a.report; r.file != nil {
		var b bytes.Buffer
		console.WriteJSON(&b, a, "    ")
		r.file.add(r.base+a.input, a.member, bytes.TrimSpace(b.Bytes()))
	}
	a.data = nil
}

// EndInput says of how many profiles an input's account consists.
func (m *Report) EndInput(input, members int) {
	if m.file != nil {
		m.file.endInput(m.base+input, members)
	}
}

// MayBeLost takes note of a function that is in an input but not used from
// there. It reports whether more can be remembered.
func (m *Report) MayBeLost(ref uint64, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost == nil {
		m.lost = make(map[uint64]string)
	}
	if _, ok := m.lost[ref]; ok || len(m.lost) < maxLost {
		m.lost[ref] = max(m.lost[ref], name)
		return true
	}
	return false
}

// AnyLost reports whether the result may lack a function of an input.
func (m *Report) AnyLost() bool { return len(m.lost) > 0 }

// Found counts functions of the result and takes them, by their references, off
// the list of lost ones.
func (m *Report) Found(functions int, refs iter.Seq[uint64]) {
	m.functions += functions
	if !m.AnyLost() {
		return
	}
	for ref := range refs {
		delete(m.lost, ref)
	}
}

// A partly is a line about a function of an input that is not used as it is.
type partly struct {
	input, member, index int
	text                 string
}

// notePartly takes note of what was not used of a profile.
func (m *Report) notePartly(a *Account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.partly++
	m.numRescued += len(a.Rescued) + a.RescuedOmitted
	for i, r := range a.Rescued[:min(len(a.Rescued), maxRescuedListed)] {
		name := r.Function
		if name == "" {
			name = r.NameRef
		}
		p := partly{a.Input, a.member, i, fmt.Sprintf("%s: %s %s: %s", a.File, name, r.Action, r.Reason.Message)}
		m.rescued = console.InsertBounded(m.rescued, p, maxRescuedListed, func(a, b partly) int {
			return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.member, b.member), cmp.Compare(a.index, b.index))
		})
	}
}

// printRescued prints what was not used of inputs that were.
func (m *Report) printRescued(w io.Writer) {
	for _, r := range m.rescued {
		fmt.Fprintf(w, "partly merged: %s\n", console.Printable(r.text))
	}
	if more := m.numRescued - len(m.rescued); more > 0 {
		fmt.Fprintf(w, "partly merged: … and %s more functions\n", cli.Count(uint64(more)))
	}
}

// Start opens the report and the quarantine that the options ask for.
func (m *Report) Start(o *LossOptions, command, output string) (err error) {
	if m.budget, err = o.budget(); err != nil {
		return err
	}
	if o.quarantine != "" {
		if m.quarantine, err = openQuarantine(o.quarantine, o.move); err != nil {
			return err
		}
	}
	if o.report == "" {
		return nil
	}
	if o.report == output && output != "-" {
		return cli.Usagef("the report and the result cannot both be %s", output)
	}
	m.file, err = openReportFile(o.report, command, output)
	return err
}

// Apart refuses inputs that lie in the quarantine.
func (m *Report) Apart(ins []inputs.Input) error {
	if m.quarantine == nil {
		return nil
	}
	for _, in := range ins {
		if in.Name != inputs.Stdin && m.quarantine.holds(in.Name) {
			return cli.Usagef("%s is in the quarantine; it would be merged again and again", in.Name)
		}
	}
	return nil
}

// Finish completes the report of a run that ended with cause, and returns what
// the run is to end with.
func (m *Report) Finish(cause error) error {
	var exit *cli.ExitError
	decided := cause == nil || errors.As(cause, &exit)
	written := cause == nil
	if m.quarantine != nil && decided {
		cause = also(cause, m.quarantine.finish(written))
	}
	if m.file == nil {
		return cause
	}
	if !decided { // the command line, the system, or an interruption: nothing was merged
		m.file.discard()
		return cause
	}
	if err := m.file.commit(m.summaryJSON(written, cause)); err != nil {
		return also(cause, fmt.Errorf("the report is not written: %w", err))
	}
	return cause
}

// also adds an error to what a run is to end with.
func also(cause, err error) error {
	if cause == nil || err == nil {
		return cmp.Or(cause, err)
	}
	return errors.Join(cause, err)
}

// Regroup says that the next inputs merged are some of all, by their positions
// there, and of archives those members that are wanted.
func (m *Report) Regroup(origin []int, wanted func(input, member int) bool) {
	m.base += len(m.origin)
	m.origin, m.wanted = origin, wanted
}

// Wants reports whether a member of an input is among those that are merged now.
func (m *Report) Wants(input, member int) bool {
	return m.wanted == nil || m.wanted(input, member)
}
