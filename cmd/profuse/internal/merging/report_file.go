package merging

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/internal/atomicfile"
)

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

func (m *Report) summaryJSON(written bool, cause error) reportSummary {
	l := m.loss()
	s := reportSummary{
		Written: written, Inputs: l.inputs, Used: m.Taken, Partly: m.partly, LeftOut: l.lostInputs, Classes: m.rejected,
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
	console.WriteJSON(&head, struct {
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
	console.WriteJSON(&b, s, "  ")
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
