package merging

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	maxLostListed = 100 // functions
	maxIDsListed  = 16  // of an input
)

// An entry is the account of one profile as JSON. docs/schema/merge-report.schema.json describes it.
type entry struct {
	Input      int    `json:"input"` // position on the command line, archives and folders expanded
	File       string `json:"file"`
	Size       int    `json:"size"` // bytes, uncompressed
	Family     string `json:"family,omitempty"`
	Format     string `json:"format,omitempty"`
	Outcome    string `json:"outcome"`
	Functions  *int   `json:"functions,omitempty"`  // records contributed
	Unmergable int    `json:"unmergable,omitempty"` // records that contradict those of earlier inputs
	// Count is the sum of the counters contributed, unweighted, saturating at 2^64-1.
	Count          *uint64           `json:"count,omitempty"`
	BinaryIDs      []string          `json:"binary_ids,omitempty"` // of the binaries that ran
	Reason         *reason           `json:"reason,omitempty"`
	Rescued        []rescuedFunction `json:"rescued,omitempty"`
	RescuedOmitted int               `json:"rescued_omitted,omitempty"`
}

// The outcomes of an input.
const (
	outcomeUsed    = "used"
	outcomePartly  = "partly_used"
	outcomeLeftOut = "left_out"
)

// A reason says why an input is not in the result.
type reason struct {
	*console.Error
	Cause string `json:"cause,omitempty"` // the likely cause, in words
}

// A rescuedFunction is a damaged function that was left out or clamped.
type rescuedFunction struct {
	Function string         `json:"function,omitempty"`
	NameRef  string         `json:"name_ref"`
	Action   string         `json:"action"`
	Reason   *console.Error `json:"reason"`
}

func newRescued(r profile.Rescued) rescuedFunction {
	return rescuedFunction{r.Function, nameRef(r.NameRef), actionOf(r), console.NewError(r.Err)}
}

func (r rescuedFunction) line() string {
	return fmt.Sprintf("%s %s: %s", cmp.Or(r.Function, r.NameRef), strings.ReplaceAll(r.Action, "_", " "), r.Reason.Message)
}

func actionOf(r profile.Rescued) string {
	if r.Clamped {
		return "clamped"
	}
	return "left_out"
}

// nameRef returns a name reference as text for JSON: readers with floating-point numbers would lose digits of a number.
func nameRef(ref uint64) string { return fmt.Sprintf("%#016x", ref) }

// entryJSON returns the account of a profile as JSON, its lines indented.
func (j *Job) entryJSON(a *merge.Account, indent string) []byte {
	e := entry{
		Input: j.position(a.Input), File: a.File, Size: a.Size, Outcome: outcomeUsed, RescuedOmitted: a.RescuedOmitted,
	}
	// A file that is no profile has neither family nor format.
	if f, ok := formats.Detect(a.Data); ok {
		e.setFormat(f)
	}
	if b := a.Contribution; b != nil {
		e.Functions, e.Count, e.Unmergable = &b.Functions, &b.Count, b.Unmergable
		e.BinaryIDs = b.BinaryIDs[:min(len(b.BinaryIDs), maxIDsListed)]
	}
	for _, r := range a.Rescued {
		e.Outcome = outcomePartly
		e.Rescued = append(e.Rescued, newRescued(r))
	}
	if a.Err != nil {
		e.Outcome, e.Reason = outcomeLeftOut, &reason{console.NewError(a.Err), j.likelyCause(a.Err, a.Data)}
	}
	return e.json(indent)
}

// setFormat sets the family and format, in the words of docs/schema/format.schema.json.
func (e *entry) setFormat(f formats.Format) {
	e.Family, e.Format = strings.ToLower(string(f.Family())), f.Describe().Word
}

// json returns the entry as JSON: without an indent as a document that ends with a line break,
// else as an element of a list, without one.
func (e *entry) json(indent string) []byte {
	var b bytes.Buffer
	console.WriteJSON(&b, e, indent)
	if indent == "" {
		return b.Bytes()
	}
	return bytes.TrimSpace(b.Bytes())
}

// accountsSummary is the end of an accounts file.
type accountsSummary struct {
	Written       bool                  `json:"written"` // the result was written
	Message       string                `json:"message,omitempty"`
	Inputs        uint64                `json:"inputs"`
	Used          int                   `json:"used"`   // inputs in the result, wholly or partly
	Partly        int                   `json:"partly"` // used inputs with damaged functions
	LeftOut       uint64                `json:"left_out"`
	Classes       map[profile.Class]int `json:"left_out_by_class"`
	Functions     int                   `json:"functions"` // distinct names in the result
	LostFunctions uint64                `json:"lost_functions"`
	Lost          []lostFunction        `json:"lost"` // at most maxLostListed
	Budget        map[string]string     `json:"budget"`
	Exceeded      []string              `json:"exceeded"` // names of the limits exceeded
}

// A lostFunction occurs only in inputs that were left out. Its name is "" if they do not tell it.
type lostFunction struct {
	NameRef  string `json:"name_ref"`
	Function string `json:"function,omitempty"`
}

// summary returns the end of the accounts file. cause is the error that kept the result from being written.
func (j *Job) summary(written bool, cause error) accountsSummary {
	l := j.loss()
	s := accountsSummary{
		Written: written, Inputs: l.Inputs, Used: l.Used, Partly: l.Partly, LeftOut: l.Lost, Classes: maps.Collect(maps.All(l.LeftOut)),
		Functions: int(l.Functions - l.LostFunctions), LostFunctions: l.LostFunctions, Lost: []lostFunction{}, Exceeded: []string{},
		Budget: map[string]string{maxLostInputs: j.budget.Inputs.String(), maxLostFunctions: j.budget.Functions.String()},
	}
	if cause != nil {
		s.Message = cli.Message(cause)
	}
	if over := j.exceeded; over != nil && over.Inputs {
		s.Exceeded = append(s.Exceeded, maxLostInputs)
	}
	if over := j.exceeded; over != nil && over.Functions {
		s.Exceeded = append(s.Exceeded, maxLostFunctions)
	}
	if j.MaxShare.text != "" {
		s.Budget[maxShare] = j.MaxShare.text
	}
	if j.tooHeavy {
		s.Exceeded = append(s.Exceeded, maxShare)
	}
	lost := j.Accounts.Lost()
	// Sorted, so that equal merges have equal accounts files.
	refs := slices.Sorted(maps.Keys(lost))
	for _, ref := range refs[:min(len(refs), maxLostListed)] {
		s.Lost = append(s.Lost, lostFunction{nameRef(ref), lost[ref]})
	}
	return s
}

// An accountsFile is the JSON file of --report. It has the accounts in the order of the inputs, although workers finish
// in any order. It buffers up to maxWaiting accounts that come early; beyond that, the workers wait.
type accountsFile struct {
	out *atomicfile.File
	w   *bufio.Writer

	mu            sync.Mutex
	moved         sync.Cond
	input, member int               // of the account to write next
	members       map[int]int       // by input that has ended: its number of members
	waiting       map[[2]int][]byte // accounts that came early, by input and member
	any, stopped  bool
	err           error
}

const maxWaiting = 1 << 14

func createAccountsFile(path, command, output string) (*accountsFile, error) {
	out, err := atomicfile.Create(path, atomicfile.Options{})
	if err != nil {
		return nil, err
	}
	f := &accountsFile{out: out, w: bufio.NewWriter(out), members: make(map[int]int), waiting: make(map[[2]int][]byte)}
	f.moved.L = &f.mu
	var head bytes.Buffer
	console.WriteJSON(&head, struct {
		schema.Head
		Command string `json:"command"`
		Output  string `json:"output"`
	}{schema.For("merge-report"), command, output}, "")
	// The list stays open: accounts of millions of inputs are written as they come.
	fmt.Fprintf(f.w, "%s,\n  \"inputs\": [", strings.TrimSuffix(head.String(), "\n}\n"))
	return f, nil
}

// add writes an account, or buffers it until its turn comes.
func (f *accountsFile) add(input, member int, entry []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) >= maxWaiting && !f.stopped && (input != f.input || member != f.member) {
		f.moved.Wait()
	}
	f.waiting[[2]int{input, member}] = entry
	f.advance()
}

// endInput records how many members an input has.
func (f *accountsFile) endInput(input, members int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[input] = members
	f.advance()
}

// advance writes the accounts that are next, and wakes the workers that wait.
func (f *accountsFile) advance() {
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

// write keeps the first error, for commit.
func (f *accountsFile) write(entry []byte) {
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

// commit writes the summary and renames the file to its path.
func (f *accountsFile) commit(s accountsSummary) error {
	f.stop()
	var b bytes.Buffer
	console.WriteJSON(&b, s, "  ")
	fmt.Fprintf(f.w, "\n  ],\n  \"summary\": %s\n}\n", bytes.TrimSpace(b.Bytes()))
	if err := cmp.Or(f.err, f.w.Flush()); err != nil {
		f.out.Close()
		return err
	}
	return f.out.Commit()
}

// discard removes the unfinished file. An earlier file at the path stays.
func (f *accountsFile) discard() {
	f.stop()
	f.out.Close()
}

// stop releases waiting workers without writing their accounts.
func (f *accountsFile) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	f.moved.Broadcast()
}
