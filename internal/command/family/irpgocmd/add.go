package irpgocmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// Add adds up the profiles with a fork of the merger for each worker. The result
// depends on the order of the profiles; see [irpgo.Merger.AddAt].
func (c *adder) Add(ctx context.Context, shared *merging.Job) (*merging.Sum, error) {
	j := newJob(shared)
	merger, err := c.addUp(ctx, j)
	if err != nil {
		return nil, err
	}
	if c.partial {
		return c.partialSum(j, merger), nil
	}
	// Finish loses what only the partial form holds, so watching needs that form now.
	var state bytes.Buffer
	if j.Watched() && merger.Exceeds() {
		if err := merger.WritePartial(&state, j.kinds()); err != nil {
			return nil, err
		}
	}
	merged := merger.Finish()
	if j.Unit > 1 {
		if !merged.Head.MemProf.Empty() {
			return nil, cli.Usagef("option --decay and fractions in --weighted-input do not apply to heap profiles")
		}
		divide(merged.Profile(), j.Unit)
	}
	sum := c.sum(j, merged)
	// A heap profile loses fields when it is written, and its view shows what is written.
	if merged.Head.MemProf.Empty() {
		sum.View = func(name string, opt formats.ViewOptions) (profile.View, error) {
			// Unlike a file of an old version, the Info has the build ids, by which programs are found.
			version, _ := merged.ChooseVersion(j.kinds())
			info := &irpgo.Info{
				Format: irpgo.FormatIndexed, Version: version, Variant: merged.Head.Variant, BinaryIDs: merged.Head.BinaryIDs,
			}
			return formats.ViewMerged(name, merged, info, opt)
		}
	}
	if state.Len() > 0 {
		sum.State = func(w io.Writer) error {
			_, err := state.WriteTo(w)
			return err
		}
	}
	// PROFUSE_DEBUG=catalogs explains slow merges: how many inputs had each record layout.
	if notes := sum.Notes; os.Getenv("PROFUSE_DEBUG") == "catalogs" {
		sum.Notes = func(w io.Writer) {
			notes(w)
			io.WriteString(w, strings.Join(merged.Catalogs, ""))
		}
	}
	return sum, nil
}

// sum returns the sum ready to be written. Options about single functions, and the list of lost
// functions, need the profile in memory; wholeSum does without.
func (c *adder) sum(j *job, merged *irpgo.Merged) *merging.Sum {
	if c.heapYAML(j.Options) {
		return c.heapSum(j, merged.Profile())
	}
	if c.keep == nil && !c.sparse && !c.text && j.Unit <= 1 && len(j.Accounts.Lost()) == 0 {
		return c.wholeSum(j, merged)
	}
	p := merged.Profile()
	j.removeFound(p)
	sum := &merging.Sum{
		Empty:    emptiness(len(p.Functions), p),
		Contents: func() string { return c.contents(p) },
		Write:    func(w io.Writer) (string, error) { return c.encode(w, merged, j) },
		Notes: func(w io.Writer) {
			j.printPrograms(w, functionsOf(p))
			c.heapReader.PrintLosses(w)
		},
	}
	if c.keep != nil {
		p.Functions = slices.DeleteFunc(p.Functions, func(f irpgo.Function) bool { return !c.keep(f.Name) })
	}
	return sum
}

func functionsOf(p *irpgo.Profile) iter.Seq[*irpgo.Function] {
	return func(yield func(*irpgo.Function) bool) {
		for i := range p.Functions {
			if !yield(&p.Functions[i]) {
				return
			}
		}
	}
}

// partialSum returns the lossless form of the sum. Its summary has no counts, because counting
// takes as long as finishing the sum.
func (c *adder) partialSum(j *job, merger *irpgo.Merger) *merging.Sum {
	return &merging.Sum{
		Contents: func() string { return "a part of the whole" },
		Write: func(w io.Writer) (string, error) {
			return formats.IRPGOPartial.String(), merger.WritePartial(w, j.kinds())
		},
		Notes: c.heapReader.PrintLosses,
	}
}

// wholeSum returns the sum if no option looks at single functions: it is written without a profile in memory.
func (c *adder) wholeSum(j *job, merged *irpgo.Merged) *merging.Sum {
	functions, counters, total := merged.Contents()
	j.Accounts.Found(functions, nil)
	return &merging.Sum{
		Empty: emptiness(functions, merged.Head),
		Contents: func() string {
			return contentsLine(uint64(functions), 0, uint64(counters), total, merged.Head)
		},
		Write: func(w io.Writer) (string, error) { return c.encode(w, merged, j) },
		Notes: func(w io.Writer) {
			j.printPrograms(w, merged.ReusedFunctions())
			c.heapReader.PrintLosses(w)
		},
	}
}

// heapSum returns the heap profile of the sum, to be written as YAML. It leaves out the counters, with a warning.
func (c *adder) heapSum(j *job, p *irpgo.Profile) *merging.Sum {
	j.removeFound(p)
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
			cli.Quantity(len(p.Functions), "function", "functions")), "")
		p.Functions = nil
	}
	sum.Contents = func() string { return c.contents(p) }
	sum.Write = func(w io.Writer) (string, error) { return "MemProf YAML", memprof.WriteYAML(w, heap) }
	sum.Notes = c.heapReader.PrintLosses
	return sum
}

// emptiness says why a profile is not worth writing; "" if it has functions or a heap profile.
func emptiness(functions int, p *irpgo.Profile) string {
	if functions == 0 && p.MemProf.Empty() {
		return "no input has any function"
	}
	return ""
}

// addUp adds up the base, if any, and the inputs, with one fork of the merger for each worker.
// The base comes first: where records of one function contradict each other, the first wins.
func (c *adder) addUp(ctx context.Context, j *job) (*irpgo.Merger, error) {
	// Most of the heap is the sum: below 48 MiB there is hardly any garbage to collect.
	memlimit.CollectLate(48 << 20)
	ins := j.Inputs
	if j.Base != "" {
		ins = append([]inputs.Input{inputs.File(j.Base, j.Open)}, ins...)
	}
	merger := irpgo.NewMerger(irpgo.MergeOptions{
		AllowMixed:      true, // the gate decides
		KeepVTableNames: c.keepVTables || c.partial, KeepSymbols: c.text || c.partial, Rename: c.rename, Warn: j.warnOfSum,
	})
	gate := newKindGate(c.mixed)
	forks := make([]*irpgo.Merger, merging.NumWorkers(j.Workers))
	adders := make([]merge.Adder, len(forks))
	for i := range forks {
		forks[i] = merger.Fork()
		adders[i] = (&worker{adder: c, gate: gate, job: j, merger: forks[i]}).addProfile
	}
	if err := j.Add(ctx, ins, adders, true); err != nil {
		return nil, err
	}
	if err := joinForks(forks); err != nil {
		return nil, err
	}
	return merger, merger.Merge(forks[0])
}

// joinForks merges all forks into the first. It merges the upper half into the lower half in
// parallel, and repeats that until one fork is left.
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
	job    *job
	merger *irpgo.Merger
}

// addProfile adds one profile to the worker's fork. With an error it returns a contribution if
// records before the error are in the sum.
func (w *worker) addProfile(p *merge.Profile) (contributed *merge.Contribution, err error) {
	var settled irpgo.Variant
	// Other workers wait for the decision, so it must come in any case.
	defer func() { w.gate.settle(p.Index, irpgo.NumInputs(p.Data), settled) }()
	switch format, _ := formats.Detect(p.Data); format.Family() {
	case formats.IRPGO:
		memlimit.Profile(len(p.Data))
	case formats.MemProf:
		if err := w.expected.checkHeap(p, format); err != nil {
			return nil, err
		}
		return nil, w.addHeap(p, format)
	default:
		return nil, merging.WrongFormat(p.Name, p.Data, "an IRPGO profile")
	}
	r, err := irpgo.NewReader(p.Name, p.Data, irpgo.ReaderOptions{
		Warn:      func(warning profile.Warning) { w.job.warnOf(p.Index, warning, warning.File) },
		Correlate: w.correlations.forProfile,
		Rescue:    w.rescueMode.Value != rescueOff, Clamp: w.rescueMode.Value == rescueClamp,
		Rescued: func(r profile.Rescued) { w.job.addRescued(p, r) },
	})
	if err == nil {
		if err = w.expected.check(p.Name, hexIDs(r.Info.BinaryIDs)); err == nil {
			err = w.checkKind(p, r)
		}
	}
	if err != nil {
		return nil, err
	}
	added, err := w.merger.AddAt(p.Index, w.job.ID(p), r, p.Weight)
	if err != nil && added.Records == 0 {
		return nil, err
	}
	contributed = &merge.Contribution{
		Functions: added.Records, Unmergable: added.Skipped, Count: added.Count, BinaryIDs: hexIDs(r.Info.BinaryIDs),
	}
	if err != nil {
		return contributed, err
	}
	if kind := r.Info.Variant.Kind(); kind != irpgo.FrontEnd || added.Records > 0 {
		settled = kind
	}
	w.job.addKind(p.Index, r.Info)
	if w.job.Quiet {
		return contributed, nil
	}
	// Readers of raw profiles have the name references at hand.
	refs := r.Info.NameRefs
	if refs == nil {
		refs = nameRefs(p.Name, p.Data)
	}
	w.job.programs.addProfile(mergedProfile{p.Index, p.Name, r.Info.BinaryIDs, added.Layout, refs})
	return contributed, nil
}

// addHeap adds a raw heap profile or one in YAML.
func (w *worker) addHeap(p *merge.Profile, format formats.Format) error {
	info, err := w.heapReader.Add(w.merger, p, format, func(warning profile.Warning) {
		w.job.WarnOf("memprof", p.Index, profile.Warning{Err: warning.Err})
	})
	if err == nil && info != nil {
		w.job.addKind(p.Index, info)
	}
	return err
}

// checkKind returns an error if the profile's kind differs from the kind of the profiles before it, or if the
// file holds profiles of several kinds.
func (w *worker) checkKind(p *merge.Profile, r *irpgo.Reader) error {
	kind := r.Info.Variant.Kind()
	wrong := flaw.In("header").InFile(p.Name).Field("kind of profile")
	have, ok := w.gate.admits(p.Index, kind)
	if !ok && (kind != irpgo.FrontEnd || hasRecords(r)) {
		return wrong.Got(kind.String()).Wantf("%s like the inputs before it (or --allow-mixed)", have.String()).Because(errMixedKinds)
	}
	if !w.mixed && severalKinds(r, p.Data) {
		return wrong.Gotf("%s, and %s further on in the file", kind, r.Info.Kinds[1]).Want("one kind (or --allow-mixed)").Because(errMixedKinds)
	}
	return nil
}

// severalKinds reports whether a raw file holds profiles of several kinds.
func severalKinds(r *irpgo.Reader, data []byte) bool {
	const magic = 8 // bytes
	if r.Info.Format != irpgo.FormatRaw || !bytes.Contains(data[magic:], data[:magic]) {
		return false
	}
	for range r.ReusedRecords() {
		if len(r.Info.Kinds) > 1 {
			return true
		}
	}
	return false
}

// errMixedKinds marks the error of a profile that the gate refuses, for likelyCause.
var errMixedKinds = fmt.Errorf("another kind of instrumentation: %w", profile.ErrMismatch)

// hasRecords reports whether the profile has any record. A program that is linked for profiling
// without instrumented code writes no records, and no variant bits.
func hasRecords(r *irpgo.Reader) bool {
	for range r.ReusedRecords() {
		return true
	}
	return false
}
