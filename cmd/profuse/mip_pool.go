package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/mip"
)

// A mipMerge merges inputs into a profile with several workers. Sums are the
// same in any order, so that nothing has to be put in order.
type mipMerge struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	base   *mipFile
	inputs []inputs.Input
	report *mergeReport
	next   atomic.Int64 // input to be taken next

	raw, merged atomic.Int64 // profiles that are in the sum
	profile     *mip.Profile // the sum, in the end
}

// minPerWorker is the number of inputs for which another worker is worth its
// memory, that of the sums over all functions.
const minPerWorker = 8

// mergeMIP merges all inputs into the functions and counts of base. What each
// input brought, or why it was left out, is in the report. The error is one
// that leaves no result.
func mergeMIP(ctx context.Context, base *mipFile, ins []inputs.Input, workers int, report *mergeReport) (*mipMerge, error) {
	m := &mipMerge{base: base, inputs: ins, report: report}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	defer m.cancel(nil)
	report.progress.Expect(int64(len(ins)))
	merger, err := mip.NewMerger(base.profile, mip.MergeOptions{Warn: report.mipWarning})
	if err != nil {
		return nil, err
	}
	forks := []*mip.Merger{merger}
	for len(forks) < min(workers, len(ins)/minPerWorker) {
		forks = append(forks, merger.Fork())
	}
	var group sync.WaitGroup
	for _, f := range forks {
		group.Go(func() { m.work(f) })
	}
	finished := make(chan struct{})
	go func() {
		group.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-m.ctx.Done():
		// A worker may hang on an input that never comes; nothing is waiting
		// for it any more.
	}
	if err := context.Cause(m.ctx); err != nil {
		return nil, err
	}
	for _, f := range forks[1:] {
		if err := merger.Merge(f); err != nil {
			return nil, err
		}
	}
	m.profile = merger.Profile()
	return m, nil
}

// work merges inputs until there are no more.
func (m *mipMerge) work(fork *mip.Merger) {
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
func (m *mipMerge) read(i int, fork *mip.Merger, reader *inputs.Reader) {
	in := m.inputs[i]
	members := 0
	inSum := false // the last profile is, and may be in a file that others change
	err := in.Each(reader, func(d *inputs.Data) error {
		if err := context.Cause(m.ctx); err != nil {
			return err
		}
		if members++; members > 1 {
			m.report.progress.Expect(1)
		}
		inSum = d.Name() == in.Name
		if err := m.add(fork, d.Name(), d.Bytes()); err != nil {
			inSum = false
			m.report.reject(i, d.Name(), err)
			return nil
		}
		m.report.took(len(d.Bytes()))
		return nil
	})
	switch {
	case err == nil && members == 0:
		m.report.reject(i, in.Name, emptyArchive(in.Name))
	case err == nil || m.ctx.Err() != nil:
	case inSum:
		m.cancel(fmt.Errorf("%w; part of it is merged already, nothing is written", err))
	default:
		m.report.reject(i, in.Name, err)
	}
}

// add merges one profile, or refuses it without a trace.
func (m *mipMerge) add(fork *mip.Merger, name string, data []byte) error {
	switch f, _ := formats.Detect(data); f {
	case formats.MIPRaw:
		if err := fork.AddRaw(name, data); err != nil {
			return err
		}
		m.raw.Add(1)
		return nil
	case formats.MIPProfile, formats.MIPYAML, formats.MIPMap:
		r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: m.report.mipWarning})
		if err == nil {
			_, err = fork.Add(r)
		}
		if err != nil {
			return err
		}
		m.merged.Add(1)
		return nil
	}
	return wrongFormat(name, data, "a MIP profile, as all that are merged here")
}

// added says what was merged.
func (m *mipMerge) added() string {
	s := cli.Quantity(uint64(m.raw.Load()), "raw profile", "raw profiles")
	if n := m.merged.Load(); n > 0 {
		s += " and " + cli.Quantity(uint64(n), "merged one", "merged ones")
	}
	return s
}
