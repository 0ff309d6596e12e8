package mipcmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// fileFacts are the facts that "profuse show" prints about a MIP file. The JSON names are a stable
// interface.
type fileFacts struct {
	family.Head
	// Generation is the form of version 8, see package mip: "A", "B", or "" for YAML.
	Generation  string   `json:"generation"`
	ProfileType []string `json:"profile_type"` // as YAML spells them
	ModuleHash  string   `json:"module_hash"`  // hexadecimal
	PointerSize int      `json:"pointer_size"` // 0 if unknown
	BinaryArch  string   `json:"binary_arch"`  // of a program, else ""
	BinaryType  string   `json:"binary_type"`
	BuildID     string   `json:"build_id"` // of the program, or from the file beside a profile; hexadecimal

	Privacy *privacyFacts `json:"privacy,omitzero"` // null unless coverage is private

	totals

	MostCalled []functionFacts `json:"most_called"` // empty without call counts
	// Selected are the functions that --function or --edges select, in link order; null without
	// these options.
	Selected []functionFacts `json:"function_records,omitzero"`
	Edges    []edgeFacts     `json:"call_edges,omitzero"` // with --edges; the most frequent first
	family.Problems

	profileType mip.ProfileType
	hasCounts   bool // false for maps and raw profiles
	selecting   bool
}

// privacyFacts describe the noise of private coverage.
type privacyFacts struct {
	Profiles    uint64  `json:"raw_profiles"`
	Probability float64 `json:"flip_probability"` // that the coverage of a function in a profile is false
	Epsilon     float64 `json:"epsilon"`
}

type functionFacts struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled"`
	// Address is the start of the function relative to the start of the raw section; it is usually
	// negative.
	Address     int64  `json:"address"`
	Size        uint32 `json:"size"`         // bytes
	CFG         string `json:"cfg"`          // signature, hexadecimal
	RawProfiles uint32 `json:"raw_profiles"` // as collected, also for private coverage
	// For private coverage: the estimated number of profiles in which the function ran.
	Estimate      *float64 `json:"estimated_profiles,omitzero"`
	StandardError float64  `json:"standard_error,omitzero"`
	// OrderSum is the sum over RawProfiles profiles of the rank of the function's first call
	// (mip.Function.TimestampSum), MeanOrder the mean.
	Calls         uint64       `json:"calls"`
	OrderSum      uint64       `json:"order_sum"`
	MeanOrder     float64      `json:"mean_order"` // 0 if unknown
	Blocks        int          `json:"blocks"`     // the entry included
	BlocksCovered int          `json:"blocks_covered"`
	BlockRecords  []blockFacts `json:"block_records,omitzero"` // on request
	Source        *sourceFacts `json:"source"`                 // where the function begins; null if unknown
}

type blockFacts struct {
	Offset  uint32       `json:"offset"` // bytes from the start of the function
	Probe   bool         `json:"probe"`  // false if nothing recorded whether it ran
	Covered bool         `json:"covered"`
	Source  *sourceFacts `json:"source"`
}

// sourceFacts are a source line, from the debug information of the program.
type sourceFacts struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// factsOptions adjust collectFacts.
type factsOptions struct {
	*family.ShowOptions
	edges    bool              // list the calls from and to the chosen functions
	programs *sources.Programs // of --program
}

// collectFacts returns the facts of a MIP file up to its end or the first error, which it also returns.
func collectFacts(name string, data []byte, opt factsOptions) (*fileFacts, error) {
	format, _ := formats.Detect(data)
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(),
		ProfileType: []string{}, MostCalled: []functionFacts{},
	}
	if opt.Choose != nil {
		f.selecting, f.Selected = true, []functionFacts{}
	}
	return f, f.End(f.collect(name, data, format, opt))
}

// collect fills the facts and returns the first error. Only the header of a raw profile can be read
// without its map. The error about a program without a map does not mention maps: the program may
// have nothing to do with MIP.
func (f *fileFacts) collect(name string, data []byte, format formats.Format, opt factsOptions) error {
	if format == formats.MIPRaw || format == formats.MIPRet {
		r, err := mip.NewReader(name, data, f.Warn)
		if err != nil {
			return err
		}
		f.setHeader(r.Info)
		return nil
	}
	m, err := parse(name, data, opt.programs.Arch, f.Warn)
	if m.format == formats.Binary && isMapless(err) {
		return formats.WrongFormat(name, data, "a profile")
	}
	f.setHeader(&m.info)
	if m.format == formats.Binary {
		f.BinaryArch, f.BinaryType = m.binary.Arch, cmp.Or(m.binary.Type, "unknown")
	}
	id := m.buildID(f.Warn)
	f.BuildID = hex.EncodeToString(id)
	if err != nil {
		return err
	}
	f.hasCounts = m.merged()
	program, err := openProgram(opt.programs, m, id, f.Warn)
	if err != nil {
		return err
	}
	return f.collectFunctions(m.profile, program, opt)
}

// setHeader sets the facts of a file's header. The epsilon of private coverage follows from the
// probability p of a flip: p = 1/(1+e^epsilon), see [mip.Randomize].
func (f *fileFacts) setHeader(in *mip.Info) {
	f.Version, f.Generation, f.PointerSize = in.Version, in.Generation, in.PointerSize
	f.profileType = in.Type
	f.ProfileType = append(f.ProfileType, strings.Split(in.Type.String(), ", ")...)
	if in.Flip > 0 {
		f.Privacy = &privacyFacts{max(in.Files, 1), in.Flip, math.Log(1/in.Flip - 1)}
	}
	if in.Format != "" {
		f.ModuleHash = fmt.Sprintf("%#08x", in.ModuleHash)
	}
}

// collectFunctions collects the facts of functions. program may be nil; with it, blocks without a probe
// get the coverage that follows from other blocks. The totals of private coverage are estimates.
func (f *fileFacts) collectFunctions(p *mip.Profile, program *debuginfo.Program, opt factsOptions) (err error) {
	if program != nil {
		if p, err = program.Expand(p); err != nil {
			return err
		}
	}
	estimated, ranIn, standardError := p.Estimate() // p and nil unless coverage is private
	f.totals = totalsOf(estimated)
	if p.Type.Has(mip.FunctionCallCount) {
		var called []*mip.Function
		for i := range p.Functions {
			if p.Functions[i].CallCount > 0 {
				called = append(called, &p.Functions[i])
			}
		}
		slices.SortStableFunc(called, func(a, b *mip.Function) int { return cmp.Compare(b.CallCount, a.CallCount) })
		for _, fn := range called[:min(max(opt.Top, 0), len(called))] {
			f.MostCalled = append(f.MostCalled, functionOf(fn))
		}
	}
	if opt.Choose == nil {
		return nil
	}
	var chosen []*mip.Function
	for i := range p.Functions {
		fn := &p.Functions[i]
		if facts := functionOf(fn); matches(opt.Choose, facts.Name, facts.Demangled) {
			if ranIn != nil {
				facts.Estimate, facts.StandardError = &ranIn[i], standardError
			}
			if opt.Blocks {
				facts.BlockRecords = blocksOf(fn)
			}
			f.Selected = append(f.Selected, facts)
			chosen = append(chosen, fn)
		}
	}
	if opt.edges {
		f.collectEdges(p, opt.Choose)
	}
	if program == nil {
		return nil
	}
	if opt.edges {
		f.addEdgeSources(program)
	}
	f.addSources(program, chosen)
	return nil
}

func matches(choose *regexp.Regexp, name, demangled string) bool {
	return choose.MatchString(name) || choose.MatchString(demangled)
}

// addSources adds source lines to the selected functions and their blocks.
func (f *fileFacts) addSources(program *debuginfo.Program, chosen []*mip.Function) {
	var lines lookups
	for i, fn := range chosen {
		lines.add(fn.Address, &f.Selected[i].Source)
		for b := range f.Selected[i].BlockRecords {
			if block := &f.Selected[i].BlockRecords[b]; block.Probe {
				lines.add(fn.Address+int64(block.Offset), &block.Source)
			}
		}
	}
	f.lookUp(program, &lines)
}

// lookups are addresses, relative to the raw section, and where their source lines go.
type lookups struct {
	addresses []int64
	sources   []**sourceFacts
}

func (l *lookups) add(address int64, source **sourceFacts) {
	l.addresses, l.sources = append(l.addresses, address), append(l.sources, source)
}

// lookUp sets the known source lines. Damaged or missing debug information is only a warning,
// because the other facts do not need it.
func (f *fileFacts) lookUp(program *debuginfo.Program, lines *lookups) {
	err := program.Frames(lines.addresses, f.Warn, func(i int, frames []symbolize.Frame) {
		if s := debuginfo.Innermost(frames); s.File != "" && s.Line > 0 {
			*lines.sources[i] = &sourceFacts{s.File, s.Line}
		}
	})
	if err != nil {
		f.Warn(profile.Warning{Err: err})
	}
}

func functionOf(fn *mip.Function) functionFacts {
	facts := functionFacts{
		Name: fn.Name, Demangled: symbols.Demangle(fn.Name), Address: fn.Address, Size: fn.Size,
		CFG: fmt.Sprintf("%#08x", fn.CFG), RawProfiles: fn.MergeCount, Calls: fn.CallCount, OrderSum: fn.TimestampSum,
		Blocks: 1 + len(fn.Blocks), BlocksCovered: coveredBlocks(fn),
	}
	if fn.MergeCount > 0 {
		facts.MeanOrder = float64(fn.TimestampSum) / float64(fn.MergeCount)
	}
	return facts
}

// blocksOf returns the entry and the other blocks. A block other than the entry with offset 0 has
// no probe.
func blocksOf(fn *mip.Function) []blockFacts {
	blocks := []blockFacts{{Probe: true, Covered: fn.EntryCovered()}}
	for _, b := range fn.Blocks {
		blocks = append(blocks, blockFacts{Offset: b.Offset, Probe: b.Offset != 0, Covered: b.Covered})
	}
	return blocks
}
