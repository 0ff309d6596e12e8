package mipcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// The formats of the result.
const (
	formatMIP     = "mip"
	formatMIPYAML = "yaml"
)

// adder adds MIP profiles up.
type adder struct{}

func (*adder) Declare(*cli.Flags, bool) {}

func (c *adder) Results() []merging.Result {
	return []merging.Result{{Name: formatMIP, Family: formats.MIP, Text: false}, {Name: formatMIPYAML, Family: formats.MIP, Text: true}}
}

func (c *adder) Refuses() []string { return []string{"weighted-input", "allow-empty"} }

func (*adder) Check(*merging.Run) error { return nil }

// Open wants one program at most, by name: raw profiles do not tell which build id
// to look for in a folder.
func (c *adder) Open(r *merging.Run, _ func(string)) error {
	if n := len(r.Programs.Paths); n > 1 {
		return cli.Usagef("MIP profiles that are merged are of one program, and --program names %d", n)
	}
	for _, path := range r.Programs.Paths {
		if in, err := sources.BinaryPath(path); sources.IsFolder(path) && (err != nil || sources.IsFolder(in.Name)) {
			return cli.Usagef("option --program names a folder, %s, but raw MIP profiles do not say which build id to look for: name the program", path)
		}
	}
	return r.CheckName()
}

func (c *adder) Close() {}

// Add adds up on the functions of the base or, before there is one, of the
// program: that of the options, or the one among the inputs.
func (c *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	in, rest, err := c.functions(j)
	if err != nil {
		return nil, err
	}
	base, err := readMIP(in, j.Programs.Arch, mipWarnings(j))
	if err == nil && j.Base != "" && base.format != formats.MIPProfile && base.format != formats.MIPYAML {
		err = profile.File(j.Base).Field("format").Got(base.format.String()).
			Want("a merged MIP profile (to make one, profuse mip create)").Mismatch()
	}
	if err != nil {
		return nil, &merging.BaseError{Err: err}
	}
	s := &mipSum{job: j, base: base}
	if err := s.add(ctx, rest); err != nil {
		return nil, err
	}
	return &merging.Sum{
		Contents: func() string { return mipContents(s.profile) },
		Write:    s.write,
		Written: func() error {
			if j.Base != "" {
				return nil
			}
			return keepBuildID(j.Output, base.binary.BuildID, false)
		},
		Locks: true,
	}, nil
}

// functions returns the input that says which functions there are, and the
// others.
func (c *adder) functions(j *merging.Job) (in inputs.Input, rest []inputs.Input, err error) {
	switch {
	case j.Base != "":
		return inputs.File(j.Base), j.Inputs, nil
	case len(j.Programs.Paths) > 0:
		in, err = sources.BinaryPath(j.Programs.Paths[0])
		return in, j.Inputs, err
	case j.Watched():
		return in, nil, fmt.Errorf("%s does not exist, and raw profiles do not say which functions there are: add --program, with %s",
			j.Output, mipWanted)
	}
	i, err := findMIPBase(j.Inputs)
	if err != nil {
		return in, nil, err
	}
	return j.Inputs[i], slices.Concat(j.Inputs[:i], j.Inputs[i+1:]), nil
}

// A mipSum is inputs added to the functions and counts of a profile.
type mipSum struct {
	job     *merging.Job
	base    *mipFile
	profile *mip.Profile // the sum, in the end

	raw, merged atomic.Int64 // profiles that are in the sum
}

// add adds the inputs up. The error is one that leaves no result.
func (s *mipSum) add(ctx context.Context, ins []inputs.Input) error {
	merger, err := mip.NewMerger(s.base.profile, mip.MergeOptions{Warn: mipWarnings(s.job)})
	if err != nil {
		return err
	}
	var forks []*mip.Merger
	adders := s.job.Adders(len(ins), func() merge.Adder {
		m := merger
		if len(forks) > 0 {
			m = merger.Fork()
		}
		forks = append(forks, m)
		return func(p *merge.Profile) (*merge.Brought, error) { return nil, s.addTo(m, p) }
	})
	if err := s.job.Add(ctx, ins, adders, false); err != nil {
		return err
	}
	for _, m := range forks[1:] {
		if err := merger.Merge(m); err != nil {
			return err
		}
	}
	s.profile = merger.Profile()
	return nil
}

// addTo adds a profile to the sum of a worker.
func (s *mipSum) addTo(m *mip.Merger, p *merge.Profile) error {
	f, _ := formats.Detect(p.Data)
	switch f {
	case formats.MIPRaw:
		p.Adding()
		_, err := m.AddRaw(p.Name, p.Data, p.Weight)
		if err == nil {
			s.raw.Add(1)
		}
		return err
	case formats.MIPRet, formats.MIPProfile, formats.MIPYAML, formats.MIPMap:
		r, err := mip.NewReader(p.Name, p.Data, mip.ReaderOptions{Warn: mipWarnings(s.job)})
		if err == nil {
			p.Adding()
			_, err = m.Add(r, p.Weight)
		}
		if err == nil && f != formats.MIPRet {
			s.merged.Add(1)
		}
		return err
	}
	return sources.WrongFormat(p.Name, p.Data, "a MIP profile, as all that are merged here")
}

// write writes the sum in the form that the base had, if there is one.
func (s *mipSum) write(w io.Writer) (what string, err error) {
	j := s.job
	yaml := j.Format == formatMIPYAML || j.Format == "" && console.IsYAML(j.Output)
	what = s.added() + " on the functions of " + s.base.name
	var opt mip.MIPOptions
	if j.Base != "" {
		yaml, what = s.base.format == formats.MIPYAML, s.added()+" added"
		opt.DocumentLayout = s.base.info.Layout.NamesByLength
	}
	if yaml {
		return what, mip.WriteYAML(w, s.profile, mip.YAMLOptions{})
	}
	return what, mip.WriteMIP(w, s.profile, opt)
}

// added says what was merged.
func (s *mipSum) added() string {
	text := cli.Quantity(uint64(s.raw.Load()), "raw profile", "raw profiles")
	if n := s.merged.Load(); n > 0 {
		text += " and " + cli.Quantity(uint64(n), "merged one", "merged ones")
	}
	return text
}

// mipContents sums up a profile.
func mipContents(p *mip.Profile) string {
	t := totalsOf(p)
	s := fmt.Sprintf("%s, %s covered (%s)", cli.Quantity(uint64(t.functions), "function", "functions"),
		cli.Count(uint64(t.covered)), cli.Percent(uint64(t.covered), uint64(t.functions)))
	if p.Type.Has(mip.BlockCoverage) {
		s += fmt.Sprintf(", %s of %s covered (%s)", cli.Count(uint64(t.coveredBlocks)),
			cli.Quantity(uint64(t.blocks), "block", "blocks"), cli.Percent(uint64(t.coveredBlocks), uint64(t.blocks)))
	}
	if p.Type.Has(mip.FunctionCallCount) {
		s += ", " + cli.Quantity(t.calls, "call", "calls")
	}
	return s
}

// mipTotals are sums over the functions of a profile.
type mipTotals struct {
	functions, covered    int
	blocks, coveredBlocks int    // entries included
	calls                 uint64 // saturating
	mostMerged            uint32 // raw profiles of the function that is in most
	codeSize, coveredSize uint64 // bytes
}

func totalsOf(p *mip.Profile) (t mipTotals) {
	t.functions = len(p.Functions)
	for i := range p.Functions {
		f := &p.Functions[i]
		t.codeSize += uint64(f.Size)
		if f.Covered() {
			t.covered++
			t.coveredSize += uint64(f.Size)
		}
		t.blocks += 1 + len(f.Blocks)
		t.coveredBlocks += coveredBlocks(f)
		t.calls = saturate.Add(t.calls, f.CallCount)
		t.mostMerged = max(t.mostMerged, f.MergeCount)
	}
	return t
}

// coveredBlocks counts the blocks that ran, the entry included.
func coveredBlocks(f *mip.Function) (n int) {
	if f.EntryCovered() {
		n++
	}
	for _, b := range f.Blocks {
		if b.Covered {
			n++
		}
	}
	return n
}

// mipWarnings returns what takes note of what a reader or the merger noticed.
func mipWarnings(j *merging.Job) func(profile.Warning) {
	return func(w profile.Warning) { j.WarnError("mip", 0, w.File, w.Function, w.Err) }
}
