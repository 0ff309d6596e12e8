package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/atomicfile"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

// The outcomes of an input, as the report has them.
const (
	outcomeUsed    = "used"
	outcomePartly  = "partly used"
	outcomeLeftOut = "left out"
)

const (
	maxRescuedPerInput = 100     // functions listed in the report
	maxRescuedListed   = 10      // lines printed
	maxLost            = 1 << 20 // functions remembered as lost
	maxLostListed      = 100     // of them in the report
	maxIDsListed       = 16      // of an input
)

// An inputAccount is what became of one profile. It is also the entry of the
// report, whose names docs/report.schema.json describes.
type inputAccount struct {
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

	input   int // position among those merged
	member  int // position in the input
	data    []byte
	report  *mergeReport
	dropped int // functions left out
}

// A reason says why something is not in the result.
type reason struct {
	finding
	Cause string `json:"cause,omitempty"` // the likely one, in words
}

type rescuedFunction struct {
	Function string  `json:"function,omitempty"`
	NameRef  string  `json:"name_ref"`
	Action   string  `json:"action"` // "left out" or "clamped"
	Reason   finding `json:"reason"`
}

// account begins the account of a profile: the member-th of an input.
func (m *mergeReport) account(input, member int, name string, data []byte) *inputAccount {
	a := &inputAccount{Input: input, File: name, Size: len(data), input: input, member: member, data: data, report: m}
	if m.origin != nil {
		a.Input = m.origin[input]
	}
	if f, ok := formats.Detect(data); ok {
		a.Format = f.String()
	}
	return a
}

// rescue takes note of a damaged function.
func (a *inputAccount) rescue(r irpgo.Rescued) {
	action := "left out"
	if r.Clamped {
		action = "clamped"
	} else {
		a.dropped++
	}
	if len(a.Rescued) < maxRescuedPerInput {
		a.Rescued = append(a.Rescued, rescuedFunction{r.Function, fmt.Sprintf("%#016x", r.NameRef), action, newFinding(r.Err)})
	} else {
		a.RescuedOmitted++
	}
	if !r.Clamped && r.Function != "" {
		a.report.mayBeLost(r.NameRef, r.Function)
	}
}

// used ends the account of a profile that is in the result; place is its place
// in the order of all.
func (a *inputAccount) used(place int, in *irpgo.Info, added irpgo.Added) {
	for _, id := range in.BinaryIDs[:min(len(in.BinaryIDs), maxIDsListed)] {
		a.BinaryIDs = append(a.BinaryIDs, hex.EncodeToString(id))
	}
	a.report.programs.add(place, a.File, in.BinaryIDs, a.data)
	a.Outcome, a.Functions, a.Count = outcomeUsed, &added.Records, &added.Count
	a.Unmergable = added.Skipped
	a.report.took(a.input, a.Size)
	if len(a.Rescued) > 0 {
		a.Outcome = outcomePartly
		a.report.notePartly(a)
	}
	a.end()
}

// usedWhole ends the account of a profile in the result of which no more is
// known.
func (a *inputAccount) usedWhole() {
	a.report.took(a.input, a.Size)
	a.Outcome = outcomeUsed
	a.end()
}

// leftOut ends the account of a profile that is not in the result.
func (a *inputAccount) leftOut(err error) {
	a.Outcome = outcomeLeftOut
	a.Rescued, a.RescuedOmitted = nil, 0
	a.Reason = &reason{newFinding(err), likelyCause(err, a.data)}
	a.report.reject(a.input, a.File, err, a.Reason.Cause)
	if a.report.byName {
		irpgo.NameRefs(a.File, a.data, func(ref uint64) bool { return a.report.mayBeLost(ref, "") })
	}
	a.report.quarantine.add(a)
	a.end()
}

func (a *inputAccount) end() {
	if r := a.report; r.file != nil {
		var b bytes.Buffer
		writeJSON(&b, a, "    ")
		r.file.add(r.base+a.input, a.member, bytes.TrimSpace(b.Bytes()))
	}
	a.data = nil
}

// endInput says of how many profiles an input's account consists.
func (m *mergeReport) endInput(input, members int) {
	if m.file != nil {
		m.file.endInput(m.base+input, members)
	}
}

// mayBeLost takes note of a function that is in an input but not used from
// there. It reports whether more can be remembered.
func (m *mergeReport) mayBeLost(ref uint64, name string) bool {
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

// found takes the functions of the result off the list of lost ones.
func (m *mergeReport) found(p *irpgo.Profile) {
	m.functions += len(p.Functions)
	if len(m.lost) == 0 {
		return
	}
	for i := range p.Functions {
		delete(m.lost, irpgo.NameRef(p.Functions[i].Name))
	}
}

// asksNoFunction reports whether there is nothing to be looked for among the
// functions of the result, neither by found nor by printPrograms.
func (m *mergeReport) asksNoFunction() bool {
	return len(m.lost) == 0 && len(m.programs.all) <= 1
}

// A partly is a line about a function of an input that is not used as it is.
type partly struct {
	input, member, index int
	text                 string
}

// notePartly takes note of what was not used of a profile.
func (m *mergeReport) notePartly(a *inputAccount) {
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
		m.rescued = insertBounded(m.rescued, p, maxRescuedListed, func(a, b partly) int {
			return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.member, b.member), cmp.Compare(a.index, b.index))
		})
	}
}

// printRescued prints what was not used of inputs that were.
func (m *mergeReport) printRescued(w io.Writer) {
	for _, r := range m.rescued {
		fmt.Fprintf(w, "partly merged: %s\n", printable(r.text))
	}
	if more := m.numRescued - len(m.rescued); more > 0 {
		fmt.Fprintf(w, "partly merged: … and %s more functions\n", cli.Count(uint64(more)))
	}
}

// start opens the report and the quarantine that the options ask for.
func (m *mergeReport) start(o *lossOptions, command, output string) (err error) {
	if m.budget, err = o.budget(); err != nil {
		return err
	}
	m.rescueMode = o.rescueMode()
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

// apart refuses inputs that lie in the quarantine.
func (m *mergeReport) apart(ins []inputs.Input) error {
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

// finish completes the report of a run that ended with cause, and returns what
// the run is to end with.
func (m *mergeReport) finish(cause error) error {
	var exit *cli.ExitError
	decided := cause == nil || errors.As(cause, &exit)
	if m.quarantine != nil && decided {
		if err := m.quarantine.finish(cause == nil); err != nil && cause == nil {
			cause = err
		}
	}
	if m.file == nil {
		return cause
	}
	if !decided { // the command line, the system, or an interruption: nothing was merged
		m.file.discard()
		return cause
	}
	if err := m.file.commit(m.summaryJSON(cause)); err != nil {
		err = fmt.Errorf("the report is not written: %w", err)
		if cause == nil {
			return err
		}
		return errors.Join(cause, err)
	}
	return cause
}

// reportSummary is the end of a report.
type reportSummary struct {
	Written       bool              `json:"written"` // the result
	Message       string            `json:"message,omitempty"`
	Inputs        uint64            `json:"inputs"`
	Used          int               `json:"used"`   // wholly or partly
	Partly        int               `json:"partly"` // of them
	LeftOut       uint64            `json:"left_out"`
	Classes       map[string]int    `json:"left_out_by_class"`
	Functions     int               `json:"functions"` // of the result, by name
	LostFunctions uint64            `json:"lost_functions"`
	Lost          []lostFunction    `json:"lost"` // the first of them
	Budget        map[string]string `json:"budget"`
	Exceeded      []string          `json:"exceeded"` // limits
}

type lostFunction struct {
	NameRef  string `json:"name_ref"`
	Function string `json:"function,omitempty"`
}

func (m *mergeReport) summaryJSON(cause error) reportSummary {
	l := m.loss()
	s := reportSummary{
		Written: cause == nil, Inputs: l.inputs, Used: m.taken, Partly: m.partly, LeftOut: l.lostInputs, Classes: m.rejected,
		Functions: m.functions, LostFunctions: l.lostFunctions, Lost: []lostFunction{}, Exceeded: append([]string{}, m.exceeded...),
		Budget: map[string]string{"max-lost-inputs": m.budget.inputs.text, "max-lost-functions": m.budget.functions.text},
	}
	if cause != nil {
		s.Message = cli.Message(cause)
	}
	refs := make([]uint64, 0, len(m.lost))
	for ref := range m.lost {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	for _, ref := range refs[:min(len(refs), maxLostListed)] {
		s.Lost = append(s.Lost, lostFunction{fmt.Sprintf("%#016x", ref), m.lost[ref]})
	}
	return s
}

// A reportFile writes the accounts of inputs in their order, whatever the order
// in which they end. Those that are early wait, up to maxWaiting of them; then
// their workers do.
type reportFile struct {
	out *atomicfile.File
	w   *bufio.Writer

	mu            sync.Mutex
	moved         sync.Cond
	input, member int         // the next
	members       map[int]int // of inputs that have ended
	waiting       map[[2]int][]byte
	any, stopped  bool
	err           error
}

const maxWaiting = 1 << 14

func openReportFile(path, command, output string) (*reportFile, error) {
	out, err := atomicfile.Create(path, atomicfile.Options{})
	if err != nil {
		return nil, err
	}
	f := &reportFile{out: out, w: bufio.NewWriter(out), members: make(map[int]int), waiting: make(map[[2]int][]byte)}
	f.moved.L = &f.mu
	var head bytes.Buffer
	writeJSON(&head, struct {
		Schema  string `json:"schema"`
		Version int    `json:"version"`
		Command string `json:"command"`
		Output  string `json:"output"`
	}{"profuse-merge-report", 1, command, output}, "")
	fmt.Fprintf(f.w, "%s,\n  \"inputs\": [", strings.TrimSuffix(head.String(), "\n}\n"))
	return f, nil
}

// add writes an account, or keeps it until it is its turn.
func (f *reportFile) add(input, member int, entry []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) >= maxWaiting && !f.stopped && (input != f.input || member != f.member) {
		f.moved.Wait()
	}
	f.waiting[[2]int{input, member}] = entry
	f.advance()
}

// endInput says that there will be no more of an input.
func (f *reportFile) endInput(input, members int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[input] = members
	f.advance()
}

func (f *reportFile) advance() {
	for {
		next := [2]int{f.input, f.member}
		if entry, ok := f.waiting[next]; ok {
			delete(f.waiting, next)
			f.write(entry)
			f.member++
			continue
		}
		if n, ok := f.members[f.input]; ok && f.member >= n {
			delete(f.members, f.input)
			f.input++
			f.member = 0
			continue
		}
		break
	}
	f.moved.Broadcast()
}

func (f *reportFile) write(entry []byte) {
	separator := ",\n    "
	if !f.any {
		separator, f.any = "\n    ", true
	}
	_, err := f.w.WriteString(separator)
	if err == nil {
		_, err = f.w.Write(entry)
	}
	if f.err == nil {
		f.err = err
	}
}

// commit ends the report.
func (f *reportFile) commit(s reportSummary) error {
	f.stop()
	var b bytes.Buffer
	writeJSON(&b, s, "  ")
	fmt.Fprintf(f.w, "\n  ],\n  \"summary\": %s\n}\n", bytes.TrimSpace(b.Bytes()))
	if err := cmp.Or(f.err, f.w.Flush()); err != nil {
		f.out.Close()
		return err
	}
	return f.out.Commit()
}

func (f *reportFile) discard() {
	f.stop()
	f.out.Close()
}

// stop lets workers that wait go on: what they have will not be written.
func (f *reportFile) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	f.moved.Broadcast()
}

// likelyCause says in words what usually leads to such an error; "" if there
// is nothing to say.
func likelyCause(err error, data []byte) string {
	var fe *profile.FormatError
	if !errors.As(err, &fe) {
		return ""
	}
	kind, isKind := knownContents(data)
	switch {
	case fe.Class() == profile.ErrEmpty && fe.Field == "archive":
		return "nothing was packed into it"
	case fe.Class() == profile.ErrEmpty:
		return "the process was killed before it wrote its profile, or its disk was full"
	case isKind:
		return "it is " + kind
	case errors.Is(err, errMixedKinds):
		return "it was built with other instrumentation options"
	case len(data) > 0 && len(bytes.Trim(data, "\x00")) == 0:
		return "it is all zeros: room was reserved, and the system stopped before the data was on disk"
	case fe.Class() == profile.ErrTruncated:
		if n := irpgo.MissingBytes(data); n > 0 {
			return fmt.Sprintf("its body is %s short: the writer was killed or its disk was full", cli.Quantity(n, "byte", "bytes"))
		}
		return "its end is missing: the writer was killed or its disk was full"
	case fe.Section == "value data":
		return "the writer was killed in the value profile, or the file was changed"
	case fe.Field == "data after the profile", fe.Field == "magic of the next profile", fe.Field == "offset of the next header":
		return "several processes wrote to it at once: LLVM_PROFILE_FILE needs %p or %m"
	case fe.Field == "raw profile version", fe.Field == "indexed profile version":
		return "a compiler wrote it that is newer than this tool, or a bit flipped"
	case fe.Class() == profile.ErrCorrupt && isBinaryProfile(data):
		return "its bytes were changed after it was written, or two processes wrote to it at once"
	}
	return ""
}

// isBinaryProfile reports whether data is an IRPGO profile other than text.
func isBinaryProfile(data []byte) bool {
	f, _ := irpgo.Detect(data)
	return f == irpgo.FormatRaw || f == irpgo.FormatIndexed
}

// knownContents recognizes what is no profile but often among them.
func knownContents(data []byte) (string, bool) {
	for _, k := range []struct{ magic, what string }{
		{"version https://git-lfs", "a pointer of Git LFS, not the file itself"},
		{"<!DOCTYPE", "a web page: the download failed"},
		{"<html", "a web page: the download failed"},
		{"<?xml", "XML: the download failed"},
		{"PERFILE2", "data of perf record"},
		{"adcg", "a profile of gcc (.gcda)"},
		{"oncg", "notes of gcc (.gcno)"},
		{"BC\xc0\xde", "LLVM bitcode"},
		{"!<arch>", "a library"},
	} {
		if bytes.HasPrefix(data, []byte(k.magic)) {
			return k.what, true
		}
	}
	if f, _ := formats.Detect(data); f == formats.Binary {
		return "a program, not its profile", true
	}
	return "", false
}
