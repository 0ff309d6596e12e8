package irpgocmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/memory"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// Add adds up the profiles with a fork of the merger for each worker. The result
// depends on the order of the profiles; see [irpgo.Merger.AddAt].
func (c *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	report := newReport(j)
	merger, err := c.addUp(ctx, j, report)
	if err != nil {
		return nil, err
	}
	if c.partial {
		return c.partialSum(merger, report), nil
	}
	// What watching adds to later must be written before the merger is finished.
	var state bytes.Buffer
	if j.Watched() && merger.Exceeds() {
		if err := merger.WritePartial(&state, report.infos()); err != nil {
			return nil, err
		}
	}
	merged := merger.Finish()
	if j.Unit > 1 {
		if !merged.Head().MemProf.Empty() {
			return nil, cli.Usagef("option --decay and fractions in --weighted-input do not apply to heap profiles")
		}
		merged.Profile().Divide(j.Unit)
	}
	sum := c.sum(j, merged, report)
	if state.Len() > 0 {
		sum.State = func(w io.Writer) error {
			_, err := state.WriteTo(w)
			return err
		}
	}
	// For whoever looks for the reason of a slow merge: how many inputs had each layout.
	if notes := sum.Notes; os.Getenv("PROFUSE_DEBUG") == "catalogs" {
		sum.Notes = func(w io.Writer) {
			notes(w)
			merged.WriteCatalogs(w)
		}
	}
	return sum, nil
}

// sum returns the sum ready to be written. Anything that looks at single functions, also a list of
// lost ones from which those of the result must be removed, needs the profile in memory: wholeSum
// does without.
func (c *adder) sum(j *merging.Job, merged *irpgo.Merged, report *mergeReport) *merging.Sum {
	if c.heapYAML(j.Run) {
		return c.heapSum(j, merged.Profile(), report)
	}
	if c.keep == nil && !c.sparse && !c.text && j.Unit <= 1 && len(report.Accounts.Lost()) == 0 {
		return c.wholeSum(merged, report)
	}
	p := merged.Profile()
	report.foundIn(p)
	sum := &merging.Sum{
		Empty:    emptiness(len(p.Functions), p),
		Contents: func() string { return c.contents(p) },
		Write:    func(w io.Writer) (string, error) { return c.encode(w, merged, report) },
		Notes: func(w io.Writer) {
			report.printPrograms(w, func(yield func(*irpgo.Function) bool) {
				for i := range p.Functions {
					if !yield(&p.Functions[i]) {
						return
					}
				}
			})
			c.heapReader.PrintLosses(w)
		},
	}
	if c.keep != nil {
		p.Functions = slices.DeleteFunc(p.Functions, func(f irpgo.Function) bool { return !c.keep(f.Name) })
	}
	return sum
}

// partialSum returns the sum in the form that can be added to others without loss. What it holds is
// not counted: that would take as long as finishing it.
func (c *adder) partialSum(merger *irpgo.Merger, report *mergeReport) *merging.Sum {
	return &merging.Sum{
		Contents: func() string { return "a part of the whole" },
		Write: func(w io.Writer) (string, error) {
			return formats.IRPGOPartial.String(), merger.WritePartial(w, report.infos())
		},
		Notes: c.heapReader.PrintLosses,
	}
}

// wholeSum returns the sum if no option looks at single functions, so that it is
// written without building a profile in memory.
func (c *adder) wholeSum(merged *irpgo.Merged, report *mergeReport) *merging.Sum {
	found := merged.Contents()
	report.Accounts.Found(found.Functions, nil)
	return &merging.Sum{
		Empty: emptiness(found.Functions, merged.Head()),
		Contents: func() string {
			return contentsLine(uint64(found.Functions), 0, uint64(found.Counters), found.Total, merged.Head())
		},
		Write: func(w io.Writer) (string, error) { return c.encode(w, merged, report) },
		Notes: func(w io.Writer) {
			report.printPrograms(w, merged.ReusedFunctions())
			c.heapReader.PrintLosses(w)
		},
	}
}

// heapSum returns the sum of which only the heap profile is written, as YAML. Counters are left out
// with a warning.
func (c *adder) heapSum(j *merging.Job, p *irpgo.Profile, report *mergeReport) *merging.Sum {
	report.foundIn(p)
	sum := new(merging.Sum)
	heap := p.MemProf
	if heap.Empty() {
		sum.Empty = "no input has a heap profile"
	}
	if heap == nil {
		heap = new(memprof.Profile)
	}
	if len(p.Functions) > 0 {
		j.Warn("memprof yaml", 0, fmt.Sprintf("the counters of %s are left out: MemProf YAML has no place for them",
			cli.Quantity(uint64(len(p.Functions)), "function", "functions")), "")
		p.Functions = nil
	}
	sum.Contents = func() string { return c.contents(p) }
	sum.Write = func(w io.Writer) (string, error) { return "MemProf YAML", memprof.WriteYAML(w, heap) }
	sum.Notes = c.heapReader.PrintLosses
	return sum
}

// emptiness says why a profile is not worth writing; "" if it is worth writing. A heap profile
// alone is.
func emptiness(functions int, p *irpgo.Profile) string {
	if functions == 0 && p.MemProf.Empty() {
		return "no input has any function"
	}
	return ""
}

// addUp adds up the base, if there is one, and then the inputs, with one fork of the merger for
// each worker. The base comes first, so that its records win where records of one function do not
// match.
func (c *adder) addUp(ctx context.Context, j *merging.Job, report *mergeReport) (*irpgo.Merger, error) {
	// Most of the heap is the sum, which stays: collecting garbage before 48 MiB finds hardly any.
	memory.CollectLate(48 << 20)
	ins := j.Inputs
	if j.Base != "" {
		ins = append([]inputs.Input{inputs.File(j.Base, j.Open)}, ins...)
	}
	merger := irpgo.NewMerger(irpgo.MergeOptions{
		AllowMixed:      true, // the gate decides
		KeepVTableNames: c.keepVTables || c.partial, KeepSymbols: c.text || c.partial, Rename: c.rename, Warn: report.mergeWarning,
	})
	gate := newKindGate(c.mixed)
	forks := make([]*irpgo.Merger, merging.NumWorkers(j.Workers))
	adders := make([]merge.Adder, len(forks))
	for i := range forks {
		forks[i] = merger.Fork()
		w := &worker{adder: c, gate: gate, report: report, merger: forks[i]}
		adders[i] = w.add
	}
	if err := j.Add(ctx, ins, adders, true); err != nil {
		return nil, err
	}
	if err := joinForks(forks); err != nil {
		return nil, err
	}
	if err := merger.Merge(forks[0]); err != nil {
		return nil, err
	}
	return merger, nil
}

// joinForks merges all forks into the first: it merges the upper half into the
// lower half in parallel and repeats that until one is left.
func joinForks(forks []*irpgo.Merger) error {
	for n := len(forks); n > 1; n = (n + 1) / 2 {
		half := (n + 1) / 2
		errs := make([]error, n-half)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() {
				errs[i] = forks[i].Merge(forks[half+i])
				forks[half+i] = nil
			})
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// A worker adds profiles to its own fork of the merger.
type worker struct {
	*adder
	gate   *kindGate
	report *mergeReport
	merger *irpgo.Merger
}

// add adds one profile to the worker's fork. The contribution is set with an error, too, if records
// before the error are in the sum: the input is partly used then.
func (w *worker) add(p *merge.Profile) (contributed *merge.Contribution, err error) {
	var kind irpgo.Variant
	counts := false
	// Settle the place in any case: other workers wait for it.
	defer func() { w.gate.settle(p.Place, irpgo.NumInputs(p.Data), kind, counts) }()
	switch format, _ := formats.Detect(p.Data); format.Family() {
	case formats.IRPGO:
		memory.Profile(len(p.Data))
	case formats.MemProf:
		if err := w.expected.admitHeap(p, format); err != nil {
			return nil, err
		}
		return nil, w.addHeap(p, format)
	default:
		return nil, merging.WrongFormat(p.Name, p.Data, "an IRPGO profile")
	}
	r, err := irpgo.NewReader(p.Name, p.Data, irpgo.ReaderOptions{
		Warn:      func(warning profile.Warning) { w.report.warn(p.Place, warning, warning.File) },
		Correlate: w.correlations.forProfile,
		Rescue:    w.rescue(), Rescued: func(r profile.Rescued) { w.report.rescued(p, r) },
	})
	if err == nil {
		kind = r.Info().Variant & kindBits
		if err = w.expected.admit(p.Name, hexIDs(r.Info().BinaryIDs)); err == nil {
			err = w.admit(p, r)
		}
	}
	if err != nil {
		return nil, err
	}
	added, err := w.merger.AddAt(p.Place, w.report.ID(p), r, p.Weight)
	if err != nil && added.Records == 0 {
		return nil, err
	}
	contributed = &merge.Contribution{
		Functions: added.Records, Unmergable: added.Skipped, Count: added.Count, BinaryIDs: hexIDs(r.Info().BinaryIDs),
	}
	if err != nil {
		return contributed, err
	}
	counts = kind != 0 || added.Records > 0
	w.report.merged(p.Place, r.Info())
	if w.report.Quiet {
		return contributed, nil
	}
	// The notes about programs need the functions of each; raw profiles have their references at
	// hand.
	refs := r.Info().NameRefs
	if refs == nil {
		refs = nameRefs(p.Name, p.Data)
	}
	w.report.programs.add(p.Place, p.Name, r.Info().BinaryIDs, added.Layout, refs)
	return contributed, nil
}

// addHeap adds a heap profile that is a file of its own.
func (w *worker) addHeap(p *merge.Profile, format formats.Format) error {
	info, err := w.heapReader.Add(w.merger, p, format, func(warning profile.Warning) {
		w.report.WarnOf("memprof", p.Place, profile.Warning{Err: warning.Err})
	})
	if err == nil && info != nil {
		w.report.merged(p.Place, info)
	}
	return err
}

// admit asks the gate whether the profile is compatible with those before it.
func (w *worker) admit(p *merge.Profile, r *irpgo.Reader) error {
	v := r.Info().Variant
	have, ok := w.gate.admit(p.Place, v&kindBits)
	if ok || v&kindBits == 0 && !hasRecords(r) {
		return nil
	}
	return flaw.In("header").InFile(p.Name).Field("kind of profile").Got(kindName(v)).
		Wantf("%s like the inputs before it (or --allow-mixed)", kindName(have)).Because(errMixedKinds)
}

// errMixedKinds marks the error of a profile that the gate refuses, for likelyCause.
var errMixedKinds = fmt.Errorf("another kind of instrumentation: %w", profile.ErrMismatch)

// hasRecords reports whether the profile has any record. Programs that are
// linked for profiling but contain nothing instrumented write profiles without
// records, and without the marks of the kind they would have been.
func hasRecords(r *irpgo.Reader) bool {
	for range r.ReusedRecords() {
		return true
	}
	return false
}
