package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	maxRejectsListed  = 10
	maxWarningsListed = 5 // of each kind
)

// A mergeReport keeps what is to be said about a merge, in bounded memory, and
// says the same whatever the number of workers. Its methods may be called from
// several goroutines.
type mergeReport struct {
	progress *cli.Progress

	mu       sync.Mutex
	taken    int
	rejects  []reject       // the worst ones
	rejected map[string]int // number by class
	sources  map[sourceKind]int
	warnings map[string]*warningKind

	// See merge_account.go and merge_budget.go.
	budget     budget
	exceeded   []string // limits
	rescueMode irpgo.Rescue
	rescued    []partly // the first ones
	numRescued int
	partly     int               // inputs of which something was not used as it is
	byName     bool              // functions are known by name reference
	lost       map[uint64]string // functions, by reference, that nothing in the result has
	functions  int               // in the result
	file       *reportFile       // nil without one
	programs   programs

	// Of a merge of some of the inputs, see regroup.
	base       int                          // inputs of groups before
	origin     []int                        // positions of the inputs among all; nil if they are all
	wanted     func(input, member int) bool // nil if all are
	quarantine *quarantine                  // nil without one
	each       []inputOutcome               // by input; nil unless asked for
}

// An inputOutcome is what became of one input.
type inputOutcome struct {
	taken int // profiles that are in the result
	name  string
	err   error  // why one is not: the first by name
	cause string // as for reject
}

// A sourceKind is what the choice of an indexed version goes by; a merge has
// few of them. The value in mergeReport.sources is the first place.
type sourceKind struct {
	format  irpgo.Format
	version uint32
	variant irpgo.Variant
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

func newMergeReport(p *cli.Progress) *mergeReport {
	return &mergeReport{
		progress: p, rejected: make(map[string]int),
		sources: make(map[sourceKind]int), warnings: make(map[string]*warningKind),
	}
}

// took counts a profile of an input, of the given size, that is in the result.
func (m *mergeReport) took(input, size int) {
	m.progress.Done(1, int64(size))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken++
	if m.each != nil {
		m.each[input].taken++
	}
}

// merged takes note of what kind a profile in the result is of.
func (m *mergeReport) merged(place int, in *irpgo.Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := sourceKind{in.Format, in.Version, in.Variant}
	if at, ok := m.sources[k]; !ok || place < at {
		m.sources[k] = place
	}
}

// infos returns the kinds of profiles that were merged, by first appearance.
func (m *mergeReport) infos() []*irpgo.Info {
	kinds := slices.SortedFunc(maps.Keys(m.sources), func(a, b sourceKind) int {
		return cmp.Compare(m.sources[a], m.sources[b])
	})
	infos := make([]*irpgo.Info, len(kinds))
	for i, k := range kinds {
		infos[i] = &irpgo.Info{Format: k.format, Version: k.version, Variant: k.variant}
	}
	return infos
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
func (m *mergeReport) reject(input int, name string, err error, cause string) {
	m.progress.Done(1, 0)
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
	m.rejects = insertBounded(m.rejects, reject{input, name, err, cause, severity}, maxRejectsListed, func(a, b reject) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.input, b.input), cmp.Compare(a.name, b.name))
	})
}

// insertBounded inserts into a sorted list that holds no more than limit.
func insertBounded[E any](list []E, e E, limit int, order func(a, b E) int) []E {
	i, _ := slices.BinarySearchFunc(list, e, order)
	if i == limit {
		return list
	}
	list = slices.Insert(list, i, e)
	return list[:min(len(list), limit)]
}

func (m *mergeReport) numRejected() int {
	n := 0
	for _, k := range m.rejected {
		n += k
	}
	return n
}

// readerWarning takes note of what a reader noticed.
func (m *mergeReport) readerWarning(place int, w irpgo.Warning) {
	m.warn(place, w, w.File)
}

// mergeWarning takes note of what the merger or a writer noticed.
func (m *mergeReport) mergeWarning(w irpgo.Warning) {
	file := w.File
	if ie := (*irpgo.InstrError)(nil); errors.As(w.Err, &ie) && ie.Code == irpgo.CodeCounterOverflow {
		// Which input a sum first overflowed at depends on how the inputs are
		// shared out among the workers; that it overflowed does not.
		file = ""
	}
	m.warn(0, w, file)
}

// skipped takes note of something found in a folder or archive that is no
// input. Files that hide are left out in silence.
func (m *mergeReport) skipped(name string, why inputs.Reason) {
	if why != inputs.DotFile {
		m.add(string(why), 0, name+": passed over: "+string(why), "")
	}
}

var warningHints = map[irpgo.Code]string{
	irpgo.CodeCountMismatch:          "The profiles are from different sources or options; of such a function the first input's counts are kept.",
	irpgo.CodeBitmapMismatch:         "The profiles are from different sources or options; of such a function the first input's bitmap is kept.",
	irpgo.CodeValueSiteCountMismatch: "The profiles are from different sources or options; of such a function the first input's values are kept.",
	irpgo.CodeCounterOverflow:        "Such counters stay at the greatest count there is. Smaller weights may help.",
}

func (m *mergeReport) warn(place int, w irpgo.Warning, file string) {
	kind, hint := profile.Class(w.Err).Error(), ""
	if ie := (*irpgo.InstrError)(nil); errors.As(w.Err, &ie) {
		kind, hint = fmt.Sprint("code ", ie.Code), warningHints[ie.Code]
	}
	text := warningText(w)
	if file != "" {
		text = file + ": " + text
	}
	m.add(kind, place, text, hint)
}

func (m *mergeReport) add(kind string, place int, text, hint string) {
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
	k.first = insertBounded(k.first, placedWarning{place, text}, maxWarningsListed, func(a, b placedWarning) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.text, b.text))
	})
}

// printWarnings prints the first warnings of each kind.
func (m *mergeReport) printWarnings(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(m.warnings)) {
		k := m.warnings[name]
		for _, f := range k.first {
			fmt.Fprintf(w, "warning: %s\n", printable(f.text))
		}
		if more := k.n - len(k.first); more > 0 {
			fmt.Fprintf(w, "warning: … and %s more of this kind\n", cli.Count(uint64(more)))
		}
		if k.hint != "" {
			fmt.Fprintf(w, "         %s\n", k.hint)
		}
	}
}

// printRejects prints the worst of what was left out.
func (m *mergeReport) printRejects(w io.Writer) {
	for _, r := range m.rejects {
		text := cli.Message(r.err)
		if !strings.HasPrefix(text, r.name) {
			text = r.name + ": " + text
		}
		fmt.Fprintf(w, "not merged: %s\n", printable(text))
		if r.cause != "" {
			fmt.Fprintf(w, "            %s\n", printable(r.cause))
		}
	}
	if more := m.numRejected() - len(m.rejects); more > 0 {
		fmt.Fprintf(w, "not merged: … and %s more\n", cli.Count(uint64(more)))
	}
}

// inputsLine says how many inputs were merged and what the others were.
func (m *mergeReport) inputsLine() string {
	out := m.numRejected()
	s := fmt.Sprintf("%s of %s", cli.Count(uint64(m.taken)), cli.Quantity(uint64(m.taken+out), "input", "inputs"))
	if out == 0 {
		return s
	}
	return s + " (left out: " + m.rejectedLine() + ")"
}

// rejectedLine counts what was left out by kind, the worst first.
func (m *mergeReport) rejectedLine() string {
	var parts []string
	part := func(word string) {
		if n := m.rejected[word]; n > 0 {
			parts = append(parts, cli.Count(uint64(n))+" "+word)
		}
	}
	part("unreadable")
	for _, s := range severities {
		part(s.word)
	}
	return strings.Join(parts, ", ")
}
