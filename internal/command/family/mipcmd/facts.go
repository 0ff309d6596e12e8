package mipcmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// fileFacts is what "profuse show" prints about a MIP file. The JSON names are part of
// the interface.
type fileFacts struct {
	family.Head
	// Generation tells the two forms of version 8 apart: see package mip.
	Generation  string   `json:"generation"`   // "A", "B", or "" for YAML
	ProfileType []string `json:"profile_type"` // as YAML spells them
	ModuleHash  string   `json:"module_hash"`  // hexadecimal
	PointerSize int      `json:"pointer_size"` // 0 if unknown
	BinaryArch  string   `json:"binary_arch"`  // of a program, else ""
	BinaryType  string   `json:"binary_type"`
	BuildID     string   `json:"build_id"` // of the program, or from the file beside a profile; hexadecimal
	// Of private coverage: how many profiles, the probability that a function's is false, and epsilon.
	Privacy *privacyFacts `json:"privacy,omitzero"`

	totals

	// Selected are in the order of the profile, which is that of linking; null without --function
	// or --edges.
	MostCalled []functionFacts `json:"most_called"` // with call counts only
	Selected   []functionFacts `json:"function_records,omitzero"`
	Edges      []edgeFacts     `json:"call_edges,omitzero"` // on request, the most frequent first
	family.Problems

	// The rest is for printing alone.
	profileType mip.ProfileType
	hasCounts   bool // false for maps and raw profiles
	selecting   bool
}

// privacyFacts is the noise of private coverage.
type privacyFacts struct {
	Profiles    uint64  `json:"raw_profiles"`
	Probability float64 `json:"flip_probability"` // of false coverage of a function
	Epsilon     float64 `json:"epsilon"`
}

// functionFacts is one function.
type functionFacts struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled"`
	// Address is the start of the function minus the start of the raw section, usually negative.
	Address     int64  `json:"address"`      // relative to the raw section
	Size        uint32 `json:"size"`         // bytes
	CFG         string `json:"cfg"`          // signature, hexadecimal
	RawProfiles uint32 `json:"raw_profiles"` // as collected, also with privacy
	// With privacy, an estimate of how many of the profiles it ran in, and the standard error.
	Estimate      *float64 `json:"estimated_profiles,omitzero"`
	StandardError float64  `json:"standard_error,omitzero"`
	// OrderSum adds up the rank of the function's first call in each of RawProfiles profiles
	// (mip.Function.TimestampSum); MeanOrder is its mean.
	Calls         uint64       `json:"calls"`
	OrderSum      uint64       `json:"order_sum"`
	MeanOrder     float64      `json:"mean_order"` // 0 if unknown
	Blocks        int          `json:"blocks"`     // the entry included
	BlocksCovered int          `json:"blocks_covered"`
	BlockRecords  []blockFacts `json:"block_records,omitzero"` // on request
	Source        *sourceFacts `json:"source"`                 // where the function begins; null if unknown
}

// blockFacts is one block; the entry comes first.
type blockFacts struct {
	Offset  uint32       `json:"offset"` // bytes from the start of the function
	Probe   bool         `json:"probe"`  // false if nothing recorded whether it ran
	Covered bool         `json:"covered"`
	Source  *sourceFacts `json:"source"`
}

// sourceFacts is a place in the source, by the debug information of the program.
type sourceFacts struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// factsOptions adjust collectFacts.
type factsOptions struct {
	*family.ShowOptions
	// programs are those that --program names; each profile picks its own among them.
	edges    bool // list the calls from and to the chosen functions
	programs *sources.Programs
}

// collectFacts reads a MIP file up to its end or the first error, which it also
// records in the facts.
func collectFacts(name string, data []byte, opt factsOptions) (*fileFacts, error) {
	format, _ := formats.Detect(data)
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(),
		ProfileType: []string{}, MostCalled: []functionFacts{},
	}
	if f.selecting = opt.Choose != nil; f.selecting {
		f.Selected = []functionFacts{}
	}
	return f, f.End(f.collect(name, data, format, opt))
}

// collect is collectFacts without recording the error. Raw profiles have a header alone: only their
// map says what the other bytes mean. A binary without a map is no profile at all, so its error
// does not speak of maps.
func (f *fileFacts) collect(name string, data []byte, format formats.Format, opt factsOptions) error {
	if format == formats.MIPRaw || format == formats.MIPRet {
		r, err := mip.NewReader(name, data, f.Warn)
		if err != nil {
			return err
		}
		f.header(r.Info)
		return nil
	}
	m, err := parse(name, data, opt.programs.Arch, f.Warn)
	if m.format == formats.Binary && isMapless(err) {
		return formats.WrongFormat(name, data, "a profile")
	}
	f.header(&m.info)
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
	return f.functions(m.profile, program, opt)
}

// header takes over what the header of a file says. The epsilon of private coverage follows from
// the probability p of a flip: p = 1/(1+e^epsilon), see [mip.Randomize].
func (f *fileFacts) header(in *mip.Info) {
	f.Version, f.Generation, f.PointerSize = in.Version, in.Generation, in.PointerSize
	f.profileType = in.Type
	f.ProfileType = append(f.ProfileType, in.Type.Names()...)
	if in.Flip > 0 {
		f.Privacy = &privacyFacts{max(in.Files, 1), in.Flip, math.Log(1/in.Flip - 1)}
	}
	if in.Format != 0 {
		f.ModuleHash = fmt.Sprintf("%#08x", in.ModuleHash)
	}
}

// functions collects the facts of functions. program is nil if unknown; with it, blocks without a
// probe get the coverage that follows from others. Totals are of the estimate if coverage is
// private, records of functions show what was collected next to it.
func (f *fileFacts) functions(p *mip.Profile, program *debuginfo.Program, opt factsOptions) (err error) {
	if program != nil {
		if p, err = program.Expand(p); err != nil {
			return err
		}
	}
	// Without privacy, estimated is p itself and files is nil.
	estimated, files, standardError := p.Estimate()
	f.totals = totalsOf(estimated)

	if p.Type.Has(mip.FunctionCallCount) {
		// Private coverage has no call counts, so the numbers that were collected are exact here.
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
			if files != nil {
				facts.Estimate, facts.StandardError = &files[i], standardError
			}
			if opt.Blocks {
				facts.BlockRecords = blocksOf(fn)
			}
			f.Selected = append(f.Selected, facts)
			chosen = append(chosen, fn)
		}
	}
	if opt.edges {
		f.edges(p, opt.Choose)
	}
	if program == nil {
		return nil
	}
	if opt.edges {
		f.edgeSources(program)
	}
	f.sources(program, chosen)
	return nil
}

// matches reports whether either form of a name matches, as --function means it.
func matches(choose *regexp.Regexp, name, demangled string) bool {
	return choose.MatchString(name) || choose.MatchString(demangled)
}

// sources adds source lines to the selected functions and their blocks.
func (f *fileFacts) sources(program *debuginfo.Program, chosen []*mip.Function) {
	var at []int64
	var to []**sourceFacts
	for i, fn := range chosen {
		at, to = append(at, fn.Address), append(to, &f.Selected[i].Source)
		for b := range f.Selected[i].BlockRecords {
			if block := &f.Selected[i].BlockRecords[b]; block.Probe {
				at, to = append(at, fn.Address+int64(block.Offset)), append(to, &block.Source)
			}
		}
	}
	f.lookUp(program, at, to)
}

// lookUp sets *to[i] to the source of address at[i], relative to the raw section, where it is
// known. Damaged or missing debug information is a warning, since all other facts stand without it.
func (f *fileFacts) lookUp(program *debuginfo.Program, at []int64, to []**sourceFacts) {
	err := program.Frames(at, f.Warn, func(i int, frames []symbolize.Frame) {
		if s := sourceFacts(debuginfo.Innermost(frames)); s.File != "" && s.Line > 0 {
			*to[i] = &s
		}
	})
	if err != nil {
		f.Warn(profile.Warning{Err: err})
	}
}

// functionOf describes a function without its blocks and source.
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

// blocksOf lists the entry, which ran if the function was called, and the other blocks. Their
// offset 0 marks one without a probe.
func blocksOf(fn *mip.Function) []blockFacts {
	blocks := []blockFacts{{Probe: true, Covered: fn.EntryCovered()}}
	for _, b := range fn.Blocks {
		blocks = append(blocks, blockFacts{Offset: b.Offset, Probe: b.Offset != 0, Covered: b.Covered})
	}
	return blocks
}
