package mipcmd

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// The values of --format. Without it, the suffix of the output chooses YAML.
const (
	formatMIP  = "mip"
	formatYAML = "yaml"
)

type adder struct {
	update bool // add to an existing output
}

// Declare declares --update. llvm-mipdata merge and watching always update the output.
func (c *adder) Declare(f *cli.Flags, watching bool) {
	if !watching {
		f.Group("MIP profiles")
		f.BoolVar(&c.update, "update", false, "add to an existing OUTPUT, in its format; several merges may update one OUTPUT at the same time")
	}
}

// Results returns the values of --format.
func (c *adder) Results() []merging.Result {
	return []merging.Result{{Name: formatMIP, Family: formats.MIP, Exact: ".mip"}, {Name: formatYAML, Family: formats.MIP, Text: true}}
}

// Refuses returns --decay, because MIP counts need whole weights, and --allow-empty, because the
// result has the functions of the program even if no input is usable.
func (c *adder) Refuses() []string { return []string{"decay", "allow-empty"} }

// Check sets r.Update and refuses options that an existing output contradicts.
func (c *adder) Check(r *merging.Options) error {
	r.Update = c.update
	switch {
	case c.update && r.Output == "-":
		return cli.Usagef("option --update needs a file as the output")
	case c.update && (r.Format != "" || len(r.Programs.Paths) > 0):
		return cli.Usagef("options --format and --program do not apply with --update: the output decides")
	}
	return nil
}

// Open checks the weights, the program and the name of the output. There may be one program, but
// no folder or archive of programs: raw profiles have no build id.
func (c *adder) Open(r *merging.Options, _ func(string)) error {
	if slices.ContainsFunc(r.Weights, func(w string) bool { return strings.Contains(w, ".") }) {
		return cli.Usagef("option --weighted-input takes whole numbers for MIP profiles")
	}
	if n := len(r.Programs.Paths); n > 1 {
		return cli.Usagef("a MIP merge takes one program; --program names %d", n)
	}
	for _, path := range r.Programs.Paths {
		if object.IsFolder(path) {
			return cli.Usagef("option --program: %s is a folder or an archive, but raw MIP profiles hold no build id to search for: name the program", path)
		}
	}
	return r.CheckName()
}

// Add adds the inputs to the functions of the base, of the named program, or of a program among the
// inputs.
func (c *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	in, rest, err := c.findFunctions(j)
	if err != nil {
		return nil, err
	}
	base, err := readFile(in, j.Programs.Arch, warnings(j))
	if err == nil && j.Base != "" && !base.merged() {
		err = flaw.File(j.Base).Field("format").Got("a program, or a map").Want("a merged MIP profile").
			Hint("\"profuse mip create\" makes one").Mismatch()
	}
	if err != nil {
		return nil, &merging.BaseError{Err: err}
	}
	s := &sum{job: j, base: base, buildID: hex.EncodeToString(base.buildID(warnings(j)))}
	if err := s.addInputs(ctx, rest); err != nil {
		return nil, err
	}
	return &merging.Sum{
		Contents: func() string { return contents(s.profile) },
		Write:    s.write,
		Written: func() error {
			if j.Base != "" { // all added profiles are of the same program, so its build id stays
				return nil
			}
			return keepBuildID(j.Output, base.binary.BuildID, false)
		},
		Locks: true,
	}, nil
}

// findFunctions returns the input that lists the functions, and the other inputs.
func (c *adder) findFunctions(j *merging.Job) (in inputs.Input, rest []inputs.Input, err error) {
	switch {
	case j.Base != "":
		return inputs.File(j.Base, j.Open), j.Inputs, nil
	case len(j.Programs.Paths) > 0:
		in, err = sources.BinaryPath(j.Programs.Paths[0], j.Open)
		return in, j.Inputs, err
	case j.Watched():
		return in, nil, fmt.Errorf("%s does not exist, and raw profiles do not list functions: --program must name %s",
			j.Output, wanted)
	}
	i, err := findBase(j.Inputs)
	if err != nil {
		return in, nil, err
	}
	return j.Inputs[i], slices.Concat(j.Inputs[:i], j.Inputs[i+1:]), nil
}

// A sum adds inputs to the functions and counts of a profile.
type sum struct {
	job     *merging.Job
	base    *mipFile     // lists the functions; its counts are part of the sum
	profile *mip.Profile // the sum; nil until addInputs returns

	raw, merged atomic.Int64 // number of raw and merged profiles in the sum
	buildID     string       // of the program, in hexadecimal; "" if unknown
	builds      sync.Map     // if buildID is unknown: build ids of raw profiles, from their packs
}

// addInputs adds up the inputs, with one fork of the merger for each worker.
func (s *sum) addInputs(ctx context.Context, ins []inputs.Input) error {
	merger, err := mip.NewMerger(s.base.profile, mip.MergeOptions{Warn: warnings(s.job)})
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
		return func(p *merge.Profile) (*merge.Contribution, error) { return nil, s.addProfile(m, p) }
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
	return s.checkBuilds()
}

// checkBuilds returns an error if the raw profiles come from several builds, according to their
// packs: the functions belong to an unknown one of these builds.
func (s *sum) checkBuilds() error {
	var ids []string
	for id := range s.builds.Range {
		ids = append(ids, id.(string))
	}
	if len(ids) < 2 {
		return nil
	}
	slices.Sort(ids)
	return flaw.File(s.base.name).Field("builds of the program in the packs").
		Gotf("%d: build ids %s and %s", len(ids), ids[0], ids[1]).Want("1").
		Hint("--program names the program of one; the profiles of others are left out").Mismatch()
}

// checkBuild returns an error if a raw profile comes from another build than the functions,
// according to its pack.
func (s *sum) checkBuild(p *merge.Profile) error {
	switch {
	case p.BuildID == "":
	case s.buildID == "":
		s.builds.Store(p.BuildID, true)
	case s.buildID != p.BuildID:
		return flaw.File(p.Name).Field("build id in the pack").Got(p.BuildID).Wantf("%s, the build id of %s", s.buildID, s.base.name).
			Hint("merge the profiles of each build with its own program").Mismatch()
	}
	return nil
}

// addProfile adds a profile to the sum of a worker. A file of return addresses (MIPRet) belongs to a
// raw profile and is not counted.
func (s *sum) addProfile(m *mip.Merger, p *merge.Profile) error {
	f, _ := formats.Detect(p.Data)
	switch f {
	case formats.MIPRaw:
		if err := s.checkBuild(p); err != nil {
			return err
		}
		err := m.AddRaw(p.Name, p.Data, p.Weight)
		if err == nil {
			s.raw.Add(1)
		}
		return err
	case formats.MIPRet, formats.MIPProfile, formats.MIPYAML, formats.MIPMap:
		r, err := mip.NewReader(p.Name, p.Data, warnings(s.job))
		if err == nil {
			err = m.Add(r, p.Weight)
		}
		if err == nil && f != formats.MIPRet {
			s.merged.Add(1)
		}
		return err
	}
	// The program that lists the functions is not among these inputs.
	return merging.WrongFormat(p.Name, p.Data, "a MIP profile")
}

// write writes the sum, in the format and layout of the base if there is one. It returns a
// description of what was added.
func (s *sum) write(w io.Writer) (what string, err error) {
	j := s.job
	yaml := j.Format == formatYAML || j.Format == "" && console.IsYAML(j.Output)
	what = s.added() + " on the functions of " + s.base.name
	var opt mip.WriteOptions
	if j.Base != "" {
		yaml, what = s.base.format == formats.MIPYAML, s.added()+" added"
		opt.DocumentLayout = s.base.info.DocumentLayout
	}
	if yaml {
		return what, mip.WriteYAML(w, s.profile, mip.WriteOptions{})
	}
	return what, mip.WriteMIP(w, s.profile, opt)
}

// added counts the merged profiles in words.
func (s *sum) added() string {
	text := cli.Quantity(uint64(s.raw.Load()), "raw profile", "raw profiles")
	if n := s.merged.Load(); n > 0 {
		text += " and " + cli.Quantity(uint64(n), "merged one", "merged ones")
	}
	return text
}

// contents describes a profile in words.
func contents(p *mip.Profile) string {
	t := totalsOf(p)
	s := fmt.Sprintf("%s, %s covered (%s)", cli.Quantity(uint64(t.Functions), "function", "functions"),
		cli.Count(uint64(t.FunctionsCovered)), cli.Percent(uint64(t.FunctionsCovered), uint64(t.Functions)))
	if p.Type.Has(mip.BlockCoverage) {
		s += fmt.Sprintf(", %s of %s covered (%s)", cli.Count(uint64(t.BlocksCovered)),
			cli.Quantity(uint64(t.Blocks), "block", "blocks"), cli.Percent(uint64(t.BlocksCovered), uint64(t.Blocks)))
	}
	if p.Type.Has(mip.FunctionCallCount) {
		s += ", " + cli.Quantity(t.Calls, "call", "calls")
	}
	return s
}

// totals are sums over the functions of a profile. The JSON names are a stable interface.
type totals struct {
	Functions        int    `json:"functions"`
	FunctionsCovered int    `json:"functions_covered"`
	Blocks           int    `json:"blocks"` // entries included
	BlocksCovered    int    `json:"blocks_covered"`
	CodeSize         uint64 `json:"code_size"` // bytes
	CodeSizeCovered  uint64 `json:"code_size_covered"`
	Calls            uint64 `json:"calls"`        // saturating; under function coverage, the number of covered functions
	RawProfiles      uint32 `json:"raw_profiles"` // lower bound of the number of merged profiles: the greatest number that ran one function
}

func totalsOf(p *mip.Profile) (t totals) {
	t.Functions = len(p.Functions)
	for i := range p.Functions {
		f := &p.Functions[i]
		t.CodeSize += uint64(f.Size)
		if f.Covered() {
			t.FunctionsCovered++
			t.CodeSizeCovered += uint64(f.Size)
		}
		t.Blocks += 1 + len(f.Blocks)
		t.BlocksCovered += coveredBlocks(f)
		t.Calls = saturate.Add(t.Calls, f.CallCount)
		t.RawProfiles = max(t.RawProfiles, f.MergeCount)
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

// warnings returns the function that records warnings of readers and mergers.
func warnings(j *merging.Job) func(profile.Warning) {
	return func(w profile.Warning) { j.WarnOf("mip", 0, w) }
}
