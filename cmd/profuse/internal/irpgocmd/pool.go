package irpgocmd

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

// A mergePool merges inputs with several workers so that the result is the
// same for any number of them.
//
// Workers take the inputs in order, and every profile gets its place in the
// order of all profiles. How many profiles an input holds is known at once for
// a file and only at the end for an archive, so the place of an input's first
// profile is passed on from input to input. A worker that waits for it, or has
// run out of inputs, takes members from the archive that another is reading.
type mergePool struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	inputs []inputs.Input
	reading
	gate   *kindGate
	report *mergeReport
	merger *irpgo.Merger

	next   atomic.Int64 // input to be taken next
	mu     sync.Mutex
	first  map[int]chan int // place of an input's first profile, by input
	done   chan struct{}    // closed when the last input has been read
	offers chan *mergeWorker
}

// A mergeWorker merges into a fork of its own.
type mergeWorker struct {
	*mergePool
	merger *irpgo.Merger
	reader inputs.Reader
	inbox  chan mergeJob
	copied []byte // of a member read by another worker
	inSum  bool   // the last profile, or a part of it, is in the fork
}

// A mergeJob is one profile to merge.
type mergeJob struct {
	place  int // in the order of all profiles
	input  int // that it is or comes from
	member int // position in the input
	name   string
	data   []byte
	weight uint64
}

// collectLate puts the first garbage collection off until the heap has 32 MiB:
// what a merge allocates first it mostly keeps. From there on the collector
// works as ever. It is for the one merge that a process is started for.
var collectLate = sync.OnceFunc(func() {
	const percent = 800 // of the 4 MiB where the first collection would be
	usual := debug.SetGCPercent(percent)
	if usual < 0 {
		debug.SetGCPercent(usual) // it is off
		return
	}
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
})

// mergeInputs merges all inputs with the given number of workers. What each
// input brought, or why it was left out, is in the report. The error is one
// that leaves no result: the run was cancelled, or an input changed while it
// was being merged.
func mergeInputs(ctx context.Context, ins []inputs.Input, workers int, from reading, opt irpgo.MergeOptions, report *mergeReport) (*irpgo.Profile, error) {
	merged, err := addUp(ctx, ins, workers, from, opt, report)
	if err != nil {
		return nil, err
	}
	return merged.Profile(), nil
}

// addUp is mergeInputs for a result that may not be needed as a profile.
func addUp(ctx context.Context, ins []inputs.Input, workers int, from reading, opt irpgo.MergeOptions, report *mergeReport) (*irpgo.Merged, error) {
	p := &mergePool{
		inputs: ins, reading: from, report: report, gate: newKindGate(opt.AllowMixed),
		first: make(map[int]chan int), done: make(chan struct{}), offers: make(chan *mergeWorker),
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	collectLate()
	opt.AllowMixed = true // the gate decides
	opt.Warn = report.mergeWarning
	p.merger = irpgo.NewMerger(opt)
	p.pass(0, 0)

	forks := make([]*irpgo.Merger, workers)
	for i := range forks {
		forks[i] = p.merger.Fork()
	}
	err := merging.RunWorkers(p.ctx, workers, func(i int) {
		(&mergeWorker{mergePool: p, merger: forks[i], inbox: make(chan mergeJob)}).run()
	})
	if err != nil {
		return nil, err
	}
	if err := joinForks(forks); err != nil {
		return nil, err
	}
	if err := p.merger.Merge(forks[0]); err != nil {
		return nil, err
	}
	return p.merger.Finish(), nil
}

// joinForks merges all forks into the first: the upper half into the lower, at
// once, and again.
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

// pass says at which place the profiles of an input begin.
func (p *mergePool) pass(input, place int) {
	p.place(input) <- place
	if input == len(p.inputs) {
		close(p.done)
	}
}

// place returns where the place of an input's first profile arrives.
func (p *mergePool) place(input int) chan int {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.first[input]
	if c == nil {
		c = make(chan int, 1)
		p.first[input] = c
	}
	return c
}

func (w *mergeWorker) run() {
	defer w.reader.Close()
	for w.ctx.Err() == nil {
		i := int(w.next.Add(1)) - 1
		if i >= len(w.inputs) {
			break
		}
		w.read(i)
	}
	for {
		select {
		case <-w.done:
			return
		case <-w.ctx.Done():
			return
		case w.offers <- w:
			w.merge(<-w.inbox)
		}
	}
}

// await returns the place of an input's first profile. Until it is known the
// worker helps with an archive before it.
func (w *mergeWorker) await(input int) (int, error) {
	arrives := w.place(input)
	for {
		select {
		case place := <-arrives:
			w.mu.Lock()
			delete(w.first, input)
			w.mu.Unlock()
			return place, nil
		case <-w.ctx.Done():
			return 0, context.Cause(w.ctx)
		case w.offers <- w:
			w.merge(<-w.inbox)
		}
	}
}

// read merges the profiles of one input.
func (w *mergeWorker) read(input int) {
	in := w.inputs[input]
	const unknown = -1
	place, members, file := unknown, 0, false
	seen := -1
	err := in.Each(&w.reader, func(d *inputs.Data) error {
		if seen++; !w.report.Wants(input, seen) {
			return nil
		}
		if place == unknown {
			var err error
			if place, err = w.await(input); err != nil {
				return err
			}
		}
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		job := mergeJob{place: place, input: input, member: members, name: d.Name(), data: d.Bytes(), weight: in.Weight}
		place++
		if file = d.Name() == in.Name; file {
			w.pass(input+1, place)
			w.merge(job)
			members++
			return nil
		}
		if members++; members > 1 {
			w.report.Progress.Expect(1)
		}
		select {
		case idle := <-w.offers:
			idle.copied = append(idle.copied[:0], job.data...)
			job.data = idle.copied
			idle.inbox <- job
		default:
			w.merge(job)
		}
		return nil
	})
	switch {
	case w.ctx.Err() != nil:
		return
	case err != nil && file && w.inSum:
		w.spoiled(err)
		return
	case seen < 0 && err == nil:
		err = merging.EmptyArchive(in.Name)
	}
	if err != nil && !w.report.Wants(input, seen+1) {
		err = nil // it is for another group to tell
	}
	if err != nil {
		w.report.Account(input, members, in.Name, nil).LeftOut(err)
		members++
	}
	w.report.EndInput(input, members)
	if file {
		return
	}
	if place == unknown {
		if place, err = w.await(input); err != nil {
			return
		}
	}
	w.pass(input+1, place)
}

// spoiled ends the run: an input that changed while it was read has left a
// part of itself in the sum.
func (w *mergeWorker) spoiled(err error) {
	w.cancel(fmt.Errorf("%w; part of it is merged already, nothing is written", err))
}

// merge merges one profile into the worker's fork.
func (w *mergeWorker) merge(j mergeJob) {
	w.inSum = false
	var kind irpgo.Variant
	var added irpgo.Added
	entered, counts := false, false
	// Also when reading faults: the others wait for this place.
	defer func() {
		if !entered {
			w.merger.Skip(j.place)
		}
		w.gate.settle(j.place, kind, counts)
	}()
	account := w.report.Account(j.input, j.member, j.name, j.data)
	format, _ := formats.Detect(j.data)
	if format.Family() == formats.MemProf {
		info, err := w.mergeHeap(j, format)
		if err != nil {
			account.LeftOut(err)
			return
		}
		if info != nil {
			w.report.merged(j.place, info)
		}
		account.Used(nil)
		return
	}
	r, err := irpgo.NewReader(j.name, j.data, irpgo.ReaderOptions{
		Warn:      func(warning irpgo.Warning) { w.report.readerWarning(j.place, warning) },
		Correlate: w.forProfile,
		Rescue:    w.rescue, Rescued: func(r irpgo.Rescued) { w.report.rescued(account, r) },
	})
	if f := format.Family(); err != nil && f == formats.MIP || f == formats.Iprof {
		err = sources.WrongFormat(j.name, j.data, "an IRPGO profile, as all that are merged here")
	}
	if err == nil {
		kind = r.Info().Variant & kindBits
		err = w.admit(j, r)
	}
	if err == nil {
		entered, w.inSum = true, true
		added, err = w.merger.AddAt(j.place, r, j.weight)
	}
	switch {
	case err == nil:
		counts = kind != 0 || added.Records > 0
		w.report.merged(j.place, r.Info())
		w.report.used(account, j.place, r.Info(), added)
	case added.Records > 0:
		w.spoiled(err)
	default:
		w.inSum = false
		account.LeftOut(err)
	}
}

// admit asks whether the profile may meet the others.
func (w *mergeWorker) admit(j mergeJob, r *irpgo.Reader) error {
	v := r.Info().Variant
	have, ok := w.gate.admit(j.place, v&kindBits)
	if ok || v&kindBits == 0 && !hasRecords(r) {
		return nil
	}
	return &profile.FormatError{
		File: j.name, Section: "header", Offset: -1, Record: -1, Field: "kind of profile", Found: kindName(v),
		Want: fmt.Sprintf("%s as the inputs before it (or --allow-mixed)", kindName(have)),
		Err:  errMixedKinds,
	}
}

var errMixedKinds = fmt.Errorf("another kind of instrumentation: %w", profile.ErrMismatch)

// hasRecords reports whether the profile has any record. Programs that are
// linked for profiling but contain nothing instrumented write profiles without
// records, and without the marks of the kind they would have been.
func hasRecords(r *irpgo.Reader) bool {
	for range r.Records() {
		return true
	}
	return false
}
