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

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	maxRejectsListed  = 10
	maxWarningsListed = 5 // of each kind
)

// A Report keeps what is to be said about a merge, in bounded memory, and
// says the same whatever the number of workers. Its methods may be called from
// several goroutines.
type Report struct {
	Progress *cli.Progress

	mu       sync.Mutex
	Taken    int
	rejects  []reject       // the worst ones
	rejected map[string]int // number by class
	warnings map[string]*warningKind

	// See account.go and budget.go.
	budget     budget
	exceeded   []string // limits
	rescued    []partly // the first ones
	numRescued int
	partly     int               // inputs of which something was not used as it is
	lost       map[uint64]string // functions, by reference, that nothing in the result has
	functions  int               // in the result
	file       *reportFile       // nil without one

	// Of a merge of some of the inputs, see regroup.
	base       int                          // inputs of groups before
	origin     []int                        // positions of the inputs among all; nil if they are all
	wanted     func(input, member int) bool // nil if all are
	quarantine *quarantine                  // nil without one
	each       []inputOutcome               // by input; nil unless asked for

	// What a family has to say of a profile that is left out.
	Unused func(file string, data []byte)                   // to take note of its functions; may be nil
	Cause  func(e *profile.FormatError, data []byte) string // the likely one, "" if not known; may be nil
}

// An inputOutcome is what became of one input.
type inputOutcome struct {
	taken int // profiles that are in the result
	name  string
	err   error  // why one is not: the first by name
	cause string // as for reject
}

// A reject is an input that was left out, or for an archive what could not be
// read of it.
type reject struct {
	input    int
	name     string
	err      error
	cause    string // in words; may be empty
	severity int
}

// A warningKind collects the warnings that differ in their place only.
type warningKind struct {
	n     int
	first []placedWarning
	seen  map[string]bool // functions, where one warning each is enough
	hint  string
}

type placedWarning struct {
	place int
	text  string
}

// NewReport returns a report of nothing yet.
func NewReport(p *cli.Progress) *Report {
	return &Report{
		Progress: p, rejected: make(map[string]int), warnings: make(map[string]*warningKind),
	}
}

// took counts a profile of an input, of the given size, that is in the result.
func (m *Report) took(input, size int) {
	m.Progress.Done(1, int64(size))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Taken++
	if m.each != nil {
		m.each[input].taken++
	}
}

// severities orders what can be wrong with an input from the worst down: what
// points to a fault, what points to a mistake, what happens every day.
var severities = []struct {
	class error
	word  string
}{
	{profile.ErrCorrupt, "corrupt"},
	{profile.ErrUnsupported, "unsupported"},
	{profile.ErrMismatch, "mismatching"},
	{profile.ErrUnrecognized, "not a profile"},
	{profile.ErrTruncated, "truncated"},
	{profile.ErrEmpty, "empty"},
}

// severityOf returns an error's place in severities, and -1 for what no
// profile is to blame for, such as an unreadable disk.
func severityOf(err error) int {
	for i, s := range severities {
		if errors.Is(err, s.class) {
			return i
		}
	}
	return -1
}

// reject takes note of an input, or a member of one, that is left out, and of
// what the likely cause is; "" if there is nothing to say.
func (m *Report) reject(input int, name string, err error, cause string) {
	m.Progress.Done(1, 0)
	severity := severityOf(err)
	word := "unreadable"
	if severity >= 0 {
		word = severities[severity].word
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.each != nil {
		if o := &m.each[input]; o.err == nil || name < o.name {
			o.name, o.err, o.cause = name, err, cause
		}
	}
	m.rejected[word]++
	m.rejects = console.InsertBounded(m.rejects, reject{input, name, err, cause, severity}, maxRejectsListed, func(a, b reject) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.input, b.input), cmp.Compare(a.name, b.name))
	})
}

func (m *Report) numRejected() int {
	n := 0
	for _, k := range m.rejected {
		n += k
	}
	return n
}

// Skipped takes note of something found in a folder or archive that is no
// input. Files that hide are left out in silence.
func (m *Report) Skipped(name, why string) {
	if why != inputs.Hidden {
		m.Add(why, 0, name+": passed over: "+why, "")
	}
}

// Add takes note of a warning about the profile at a place in the order of all,
// or of the sum. Those of one kind differ in their place only. With a hint, what
// to do about it, each text counts once.
func (m *Report) Add(kind string, place int, text, hint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.warnings[kind]
	if k == nil {
		k = &warningKind{seen: make(map[string]bool), hint: hint}
		m.warnings[kind] = k
	}
	if hint != "" {
		if k.seen[text] {
			return
		}
		k.seen[text] = true
	}
	k.n++
	k.first = console.InsertBounded(k.first, placedWarning{place, text}, maxWarningsListed, func(a, b placedWarning) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.text, b.text))
	})
}

// AddError takes note of what a reader, a merger or a writer of a family noticed;
// file and function are "" where they are not known.
func (m *Report) AddError(family string, place int, file, function string, err error) {
	text := console.DescribeError(err).Message
	for _, where := range []string{function, file} {
		if where != "" {
			text = where + ": " + text
		}
	}
	field := ""
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		field = fe.Field
	}
	m.Add(family+" "+field, place, text, "")
}

// EachWarning returns the first warnings of each kind.
func (m *Report) EachWarning() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range slices.Sorted(maps.Keys(m.warnings)) {
			for _, w := range m.warnings[name].first {
				if !yield(w.text) {
					return
				}
			}
		}
	}
}

// PrintWarnings prints the first warnings of each kind.
func (m *Report) PrintWarnings(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(m.warnings)) {
		k := m.warnings[name]
		for _, f := range k.first {
			fmt.Fprintf(w, "warning: %s\n", console.Printable(f.text))
		}
		if more := k.n - len(k.first); more > 0 {
			fmt.Fprintf(w, "warning: … and %s more of this kind\n", cli.Count(uint64(more)))
		}
		if k.hint != "" {
			fmt.Fprintf(w, "         %s\n", k.hint)
		}
	}
}

// PrintRejects prints the worst of what was left out.
func (m *Report) PrintRejects(w io.Writer) {
	for _, r := range m.rejects {
		text := cli.Message(r.err)
		if !strings.HasPrefix(text, r.name) {
			text = r.name + ": " + text
		}
		fmt.Fprintf(w, "not merged: %s\n", console.Printable(text))
		if r.cause != "" {
			fmt.Fprintf(w, "            %s\n", console.Printable(r.cause))
		}
	}
	if more := m.numRejected() - len(m.rejects); more > 0 {
		fmt.Fprintf(w, "not merged: … and %s more\n", cli.Count(uint64(more)))
	}
}

// InputsLine says how many inputs were merged and what the others were.
func (m *Report) InputsLine() string {
	out := m.numRejected()
	s := fmt.Sprintf("%s of %s", cli.Count(uint64(m.Taken)), cli.Quantity(uint64(m.Taken+out), "input", "inputs"))
	if out == 0 {
		return s
	}
	return s + " (left out: " + m.rejectedLine() + ")"
}

// rejectedLine counts what was left out by kind, the worst first.
func (m *Report) rejectedLine() string {
	parts := []cli.Part{{N: m.rejected["unreadable"], What: "unreadable"}}
	for _, s := range severities {
		parts = append(parts, cli.Part{N: m.rejected[s.word], What: s.word})
	}
	return strings.Join(cli.Parts(parts...), ", ")
}
