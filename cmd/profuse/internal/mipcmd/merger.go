package mipcmd

import (
	"context"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
)

// A mipMerge merges inputs into the functions and counts of a profile.
type mipMerge struct {
	base    *mipFile
	report  *merging.Report
	profile *mip.Profile // the sum, in the end

	raw, merged atomic.Int64 // profiles that are in the sum
}

// mergeMIP merges all inputs with several workers. The error is one that
// leaves no result.
func mergeMIP(ctx context.Context, base *mipFile, ins []inputs.Input, workers int, report *merging.Report) (*mipMerge, error) {
	m := &mipMerge{base: base, report: report}
	merger, err := mip.NewMerger(base.profile, mip.MergeOptions{Warn: mipWarnings(report)})
	if err != nil {
		return nil, err
	}
	mergers := []*mip.Merger{merger}
	for len(mergers) < min(workers, len(ins)/merging.MinPerWorker) {
		mergers = append(mergers, merger.Fork())
	}
	forks := make([]merging.Fork, len(mergers))
	for i := range forks {
		forks[i] = mipFork{m, mergers[i]}
	}
	if err := merging.Unordered(ctx, ins, forks, report); err != nil {
		return nil, err
	}
	for _, f := range mergers[1:] {
		if err := merger.Merge(f); err != nil {
			return nil, err
		}
	}
	m.profile = merger.Profile()
	return m, nil
}

// A mipFork is what one worker merges into.
type mipFork struct {
	*mipMerge
	merger *mip.Merger
}

func (m mipFork) Add(name string, data []byte, weight uint64) error {
	switch f, _ := formats.Detect(data); f {
	case formats.MIPRaw:
		if _, err := m.merger.AddRaw(name, data, weight); err != nil {
			return err
		}
		m.raw.Add(1)
		return nil
	case formats.MIPRet:
		r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: mipWarnings(m.report)})
		if err == nil {
			_, err = m.merger.Add(r, weight)
		}
		return err
	case formats.MIPProfile, formats.MIPYAML, formats.MIPMap:
		r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: mipWarnings(m.report)})
		if err == nil {
			_, err = m.merger.Add(r, weight)
		}
		if err != nil {
			return err
		}
		m.merged.Add(1)
		return nil
	}
	return sources.WrongFormat(name, data, "a MIP profile, as all that are merged here")
}

// added says what was merged.
func (m *mipMerge) added() string {
	s := cli.Quantity(uint64(m.raw.Load()), "raw profile", "raw profiles")
	if n := m.merged.Load(); n > 0 {
		s += " and " + cli.Quantity(uint64(n), "merged one", "merged ones")
	}
	return s
}
