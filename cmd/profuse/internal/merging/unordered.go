package merging

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/profile"
)

// A Fork is what one worker merges into.
type Fork interface {
	// Add merges one profile, or refuses it without a trace. The data may
	// change afterwards.
	Add(name string, data []byte, weight uint64) error
}

// MinPerWorker is the number of inputs for which another worker is worth its
// memory, that of a sum.
const MinPerWorker = 8

// An unorderedMerge merges inputs with one worker per fork. It is for formats
// whose sums are the same in any order, so that nothing has to be put in order.
type unorderedMerge struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	inputs []inputs.Input
	report *Report
	next   atomic.Int64 // input to be taken next
}

// Unordered merges all inputs into the forks. What each input brought, or
// why it was left out, is in the report. The error is one that leaves no
// result: the run was cancelled, or an input changed while it was being merged.
func Unordered(ctx context.Context, ins []inputs.Input, forks []Fork, report *Report) error {
	m := &unorderedMerge{inputs: ins, report: report}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	defer m.cancel(nil)
	report.Progress.Expect(int64(len(ins)))
	return RunWorkers(m.ctx, len(forks), func(i int) { m.work(forks[i]) })
}

// RunWorkers runs as many workers at once and returns when all have ended, or
// when ctx is done, and why: a worker may hang on an input that never comes,
// and then nothing is waiting for it any more.
func RunWorkers(ctx context.Context, n int, work func(i int)) error {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { work(i) })
	}
	finished := make(chan struct{})
	go func() {
		group.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// work merges inputs until there are no more.
func (m *unorderedMerge) work(fork Fork) {
	var reader inputs.Reader
	defer reader.Close()
	for m.ctx.Err() == nil {
		i := int(m.next.Add(1)) - 1
		if i >= len(m.inputs) {
			return
		}
		m.read(i, fork, &reader)
	}
}

// read merges the profiles of one input.
func (m *unorderedMerge) read(i int, fork Fork, reader *inputs.Reader) {
	in := m.inputs[i]
	members := 0
	inSum := false // the last profile is, and may be in a file that others change
	err := in.Each(reader, func(d *inputs.Data) error {
		if err := context.Cause(m.ctx); err != nil {
			return err
		}
		account := m.report.Account(i, members, d.Name(), d.Bytes())
		if members++; members > 1 {
			m.report.Progress.Expect(1)
		}
		inSum = d.Name() == in.Name
		if err := fork.Add(d.Name(), d.Bytes(), max(in.Weight, 1)); err != nil {
			inSum = false
			account.LeftOut(err)
			return nil
		}
		account.Used(nil)
		return nil
	})
	if err == nil && members == 0 {
		err = EmptyArchive(in.Name)
	}
	switch {
	case err == nil || m.ctx.Err() != nil:
	case inSum:
		m.cancel(fmt.Errorf("%w; part of it is merged already, nothing is written", err))
	default:
		m.report.Account(i, members, in.Name, nil).LeftOut(err)
		members++
	}
	m.report.EndInput(i, members)
}

// EmptyArchive is the error of an archive without files.
func EmptyArchive(name string) error {
	return &profile.FormatError{
		File: name, Offset: -1, Record: -1, Field: "archive", Found: "without files", Err: profile.ErrEmpty,
	}
}
