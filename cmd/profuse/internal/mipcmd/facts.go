package mipcmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// mipFacts is what is told of one MIP file. The JSON names are part of the
// interface.
type mipFacts struct {
	File        string   `json:"file"`
	Size        int64    `json:"size"`         // bytes, decompressed
	Format      string   `json:"format"`       // as package formats calls it
	Version     int      `json:"version"`      // 0 for YAML
	Generation  string   `json:"generation"`   // "A", "B", or "" for YAML
	ProfileType []string `json:"profile_type"` // as YAML spells them
	ModuleHash  string   `json:"module_hash"`  // hexadecimal
	PointerSize int      `json:"pointer_size"` // 0 if not known
	BinaryArch  string   `json:"binary_arch"`  // of a program; else ""
	BinaryType  string   `json:"binary_type"`
	BuildID     string   `json:"build_id"` // of the program, or kept beside a profile; hexadecimal

	Functions        int    `json:"functions"`
	FunctionsCovered int    `json:"functions_covered"`
	Blocks           int    `json:"blocks"` // entries included
	BlocksCovered    int    `json:"blocks_covered"`
	CodeSize         uint64 `json:"code_size"` // bytes
	CodeSizeCovered  uint64 `json:"code_size_covered"`
	Calls            uint64 `json:"calls"`        // saturating; covered functions under function coverage
	RawProfiles      uint32 `json:"raw_profiles"` // at least so many were merged

	MostCalled []mipFunctionFacts `json:"most_called"` // with call counts only
	Selected   []mipFunctionFacts `json:"function_records,omitzero"`
	Edges      []mipEdgeFacts     `json:"call_edges,omitzero"` // on request, the heaviest first
	Warnings   []string           `json:"warnings"`
	Error      *console.Error     `json:"error"`

	profileType mip.ProfileType
	hasCounts   bool // not a map or raw profile
	selecting   bool
}

// mipFunctionFacts is one function.
type mipFunctionFacts struct {
	Name          string          `json:"name"`
	Demangled     string          `json:"demangled"`
	Address       int64           `json:"address"` // less that of the raw section
	Size          uint32          `json:"size"`    // bytes
	CFG           string          `json:"cfg"`     // signature, hexadecimal
	RawProfiles   uint32          `json:"raw_profiles"`
	Calls         uint64          `json:"calls"`
	OrderSum      uint64          `json:"order_sum"`
	MeanOrder     float64         `json:"mean_order"` // 0 if not known
	Blocks        int             `json:"blocks"`     // the entry included
	BlocksCovered int             `json:"blocks_covered"`
	BlockRecords  []mipBlockFacts `json:"block_records,omitzero"` // on request
	Source        *sourceFacts    `json:"source"`                 // where the function begins; null if not known
}

// mipBlockFacts is one block; the entry comes first.
type mipBlockFacts struct {
	Offset  uint32       `json:"offset"` // bytes from the start of the function
	Probe   bool         `json:"probe"`  // false: whether it ran was not watched
	Covered bool         `json:"covered"`
	Source  *sourceFacts `json:"source"`
}

type sourceFacts struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// mipFactsOptions adjust collectMIPFacts.
type mipFactsOptions struct {
	top    int            // functions called most often to list
	choose *regexp.Regexp // functions to list in full; nil lists none
	blocks bool           // with their blocks
	edges  bool           // and the calls that one of them makes or takes
	arch   string
	debug  *debuginfo.Program // where to look for source lines, or nil
}

// collectMIPFacts reads a MIP file as far as it can be read. The error is what
// stopped it; the facts hold it too.
func collectMIPFacts(name string, data []byte, opt mipFactsOptions) (*mipFacts, error) {
	f := &mipFacts{
		File: name, Size: int64(len(data)),
		ProfileType: []string{}, MostCalled: []mipFunctionFacts{}, Warnings: []string{},
	}
	if f.selecting = opt.choose != nil; f.selecting {
		f.Selected = []mipFunctionFacts{}
	}
	err := f.collect(name, data, opt)
	if err != nil {
		f.Error = console.DescribeError(err)
	}
	return f, err
}

func (f *mipFacts) collect(name string, data []byte, opt mipFactsOptions) error {
	warn := func(w profile.Warning) {
		text := console.DescribeError(w.Err).Message
		if w.Function != "" {
			text = w.Function + ": " + text
		}
		f.Warnings = append(f.Warnings, text)
	}
	format, _ := formats.Detect(data)
	f.Format = format.String()
	if format == formats.MIPRaw || format == formats.MIPRet {
		r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: warn})
		if err != nil {
			return err
		}
		f.header(r.Info())
		return nil
	}
	m, err := parseMIP(name, data, opt.arch, warn)
	f.header(&m.info)
	if m.format == formats.Binary {
		f.BinaryArch, f.BinaryType = m.binary.Arch, m.binary.Type.String()
		f.BuildID = hex.EncodeToString(m.binary.BuildID)
	}
	if err != nil {
		return err
	}
	f.hasCounts = format == formats.MIPProfile || format == formats.MIPYAML
	if f.hasCounts {
		id, err := mip.FindBuildID(name)
		if err != nil {
			f.Warnings = append(f.Warnings, err.Error())
		}
		f.BuildID = hex.EncodeToString(id)
	}
	return f.functions(m.profile, opt)
}

func (f *mipFacts) header(in *mip.Info) {
	f.Version, f.Generation, f.PointerSize = in.Version, in.Generation.String(), in.PointerSize
	f.profileType = in.Type
	f.ProfileType = append(f.ProfileType, in.Type.Names()...)
	if in.FileType != 0 {
		f.ModuleHash = fmt.Sprintf("%#08x", in.ModuleHash)
	}
}

func (f *mipFacts) functions(p *mip.Profile, opt mipFactsOptions) error {
	if opt.debug != nil {
		full, err := opt.debug.Expand(p)
		if err != nil {
			return err
		}
		p = full
	}
	t := totalsOf(p)
	f.Functions, f.FunctionsCovered = t.functions, t.covered
	f.Blocks, f.BlocksCovered = t.blocks, t.coveredBlocks
	f.CodeSize, f.CodeSizeCovered = t.codeSize, t.coveredSize
	f.Calls, f.RawProfiles = t.calls, t.mostMerged

	if p.Type.Has(mip.FunctionCallCount) {
		var called []*mip.Function
		for i := range p.Functions {
			if p.Functions[i].CallCount > 0 {
				called = append(called, &p.Functions[i])
			}
		}
		slices.SortStableFunc(called, func(a, b *mip.Function) int { return cmp.Compare(b.CallCount, a.CallCount) })
		for _, fn := range called[:min(max(opt.top, 0), len(called))] {
			f.MostCalled = append(f.MostCalled, mipFunction(fn))
		}
	}
	if opt.choose == nil {
		return nil
	}
	var chosen []*mip.Function
	for i := range p.Functions {
		fn := &p.Functions[i]
		if facts := mipFunction(fn); opt.choose.MatchString(fn.Name) || opt.choose.MatchString(facts.Demangled) {
			if opt.blocks {
				facts.BlockRecords = mipBlocks(fn)
			}
			f.Selected = append(f.Selected, facts)
			chosen = append(chosen, fn)
		}
	}
	if opt.edges {
		f.edges(p, opt.choose)
	}
	if opt.debug == nil {
		return nil
	}
	if opt.edges {
		if err := f.edgeSources(opt.debug); err != nil {
			return err
		}
	}
	return f.sources(opt.debug, chosen)
}

// sources adds source lines to the selected functions and their blocks.
func (f *mipFacts) sources(debug *debuginfo.Program, chosen []*mip.Function) error {
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
	warnings, err := debug.Frames(at, func(i int, frames []symbolize.Frame) {
		if s := innermost(frames); s.File != "" && s.Line > 0 {
			*to[i] = &s
		}
	})
	f.Warnings = append(f.Warnings, warnings...)
	return err
}

func mipFunction(fn *mip.Function) mipFunctionFacts {
	facts := mipFunctionFacts{
		Name: fn.Name, Demangled: symbols.Demangle(fn.Name), Address: fn.Address, Size: fn.Size,
		CFG: fmt.Sprintf("%#08x", fn.CFG), RawProfiles: fn.MergeCount, Calls: fn.CallCount, OrderSum: fn.TimestampSum,
		Blocks: 1 + len(fn.Blocks), BlocksCovered: coveredBlocks(fn),
	}
	if fn.MergeCount > 0 {
		facts.MeanOrder = float64(fn.TimestampSum) / float64(fn.MergeCount)
	}
	return facts
}

func mipBlocks(fn *mip.Function) []mipBlockFacts {
	blocks := []mipBlockFacts{{Probe: true, Covered: fn.EntryCovered()}}
	for _, b := range fn.Blocks {
		blocks = append(blocks, mipBlockFacts{Offset: b.Offset, Probe: b.Offset != 0, Covered: b.Covered})
	}
	return blocks
}
