package mip

import (
	"fmt"
	"iter"

	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile"
)

// ViewOptions adjust [Profile.View]. The zero value is right for a profile without a file.
type ViewOptions struct {
	// Info is the header of the file, see [Reader.Info].
	Info *Info
	// BuildID is the build id of the program, from the file beside a .mip; nil if it is not known.
	BuildID []byte
	// Sources are the source lines of the profile's functions, by index; nil if they are
	// not known. With Sources, a view of block coverage is a [profile.LineView].
	Sources []FunctionSource
}

// A FunctionSource is the source lines of a function and its blocks. Package formats finds them in the
// program.
type FunctionSource struct {
	Declared Source // of the declaration, or else of the first instruction
	Entry    Source
	// Blocks are by index of the function's block; nil without block coverage.
	Blocks []Source
}

// A Source is the source line of an instruction, which may be inlined from another file. Numbers are 0 if
// they are not known.
type Source struct {
	File string
	Line uint32
	// LineInFunction is the line in the function itself: for an inlined instruction, the line of the call.
	LineInFunction uint32
}

// View returns the format-neutral view of the profile. name is the file's; "" for none.
//
// Functions are in link order, the order in memory. Their blocks are the entry, which ran
// if the function did, and the blocks with a probe. Hashes are control flow graph signatures,
// IDs are the function signatures. With timestamps there is one trace, see
// [Profile.Order]. Edges are estimates, see [CallEdge].
func (p *Profile) View(name string, opt ViewOptions) profile.View {
	p, _, _ = p.Estimate()
	v := &view{p: p, sources: opt.Sources}
	v.identity = profile.Identity{File: name, Family: "MIP", Variant: p.Type.names()}
	if len(opt.BuildID) > 0 {
		v.identity.BuildIDs = [][]byte{opt.BuildID}
	}
	if info := opt.Info; info != nil {
		v.identity.Format = string(info.Format)
		if info.Version != 0 {
			v.identity.Version = fmt.Sprintf("%d%v", info.Version, info.Generation)
		}
	}
	v.features = profile.Features{Calls: true, Hashes: true, Sizes: true, Runs: true}
	if !p.Type.Has(FunctionCallCount) {
		v.features.CallsAreCoverage = true
	}
	if p.Type.Has(BlockCoverage) {
		v.features.Blocks, v.features.BlocksAreCoverage, v.features.Offsets = true, true, true
	}
	if p.Type.Has(FunctionTimestamp) {
		v.features.FirstCalls, v.features.Traces = true, true
	}
	if p.Type.Has(ReturnAddress) {
		v.features.Edges = true
	}
	if opt.Sources != nil && p.Type.Has(BlockCoverage) {
		v.features.BlockLines = true
		return &lineView{v}
	}
	return v
}

type view struct {
	p        *Profile
	sources  []FunctionSource // nil if they are not known
	identity profile.Identity
	features profile.Features
}

func (v *view) Identity() profile.Identity { return v.identity }

func (v *view) Features() profile.Features { return v.features }

func (v *view) symbol(i int) profile.Symbol {
	f := &v.p.Functions[i]
	s := profile.Symbol{Name: f.Name, ID: f.signature()}
	if v.sources != nil {
		if at := v.sources[i].Declared; at.Line > 0 {
			s.File, s.StartLine = at.File, int32(at.Line)
		}
	}
	return s
}

func (v *view) Functions() iter.Seq[*profile.Function] {
	var blocks slab.Slab[profile.Block]
	return v.functions(slab.New[profile.Function], blocks.Make)
}

// ReusedFunctions is for [profile.ReusedFunctions].
func (v *view) ReusedFunctions() iter.Seq[*profile.Function] {
	return v.functions(slab.Reused[profile.Function](), slab.ReusedMake[profile.Block]())
}

// functions yields the functions that newFunction and newBlocks make.
func (v *view) functions(newFunction func() *profile.Function, newBlocks func(n int) []profile.Block) iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for i := range v.p.Functions {
			src := &v.p.Functions[i]
			f := newFunction()
			*f = profile.Function{
				Symbol: v.symbol(i), Hash: uint64(src.CFG),
				Calls: src.CallCount, Covered: src.Covered(), Runs: uint64(src.MergeCount),
				Address: src.Address, Size: uint64(src.Size),
			}
			if v.features.CallsAreCoverage {
				f.Calls = 0
				if f.Covered {
					f.Calls = 1
				}
			}
			if v.features.FirstCalls && f.Covered {
				f.FirstCall = float64(src.TimestampSum) / float64(src.MergeCount)
			}
			if v.features.Blocks {
				var at FunctionSource
				if v.sources != nil {
					at = v.sources[i]
				}
				f.Blocks = appendBlocks(newBlocks(1 + len(src.Blocks))[:0], src, &at)
			}
			if !yield(f) {
				return
			}
		}
	}
}

// appendBlocks appends the entry block and the blocks with a probe.
func appendBlocks(dst []profile.Block, f *Function, at *FunctionSource) []profile.Block {
	add := func(b Block, line uint32) {
		block := profile.Block{Offset: b.Offset, Line: line}
		if b.Covered {
			block.Count = 1
		}
		dst = append(dst, block)
	}
	add(Block{Covered: f.EntryCovered()}, at.Entry.LineInFunction)
	for i, b := range f.Blocks {
		if b.Offset == 0 {
			continue // no probe
		}
		line := uint32(0)
		if at.Blocks != nil {
			line = at.Blocks[i].LineInFunction
		}
		add(b, line)
	}
	return dst
}

// Stacks is empty: the format does not record stacks.
func (v *view) Stacks() []profile.StackSet { return nil }

// Edges iterates over the calls with a known caller.
func (v *view) Edges() iter.Seq[*profile.Edge] { return v.edges(slab.New[profile.Edge]) }

// ReusedEdges is for [profile.ReusedEdges].
func (v *view) ReusedEdges() iter.Seq[*profile.Edge] { return v.edges(slab.Reused[profile.Edge]()) }

func (v *view) Traces() iter.Seq[*profile.Trace] {
	return func(yield func(*profile.Trace) bool) {
		if !v.features.Traces {
			return
		}
		t := profile.Trace{Weight: 1}
		index := make(map[*Function]int, len(v.p.Functions))
		for i := range v.p.Functions {
			index[&v.p.Functions[i]] = i
		}
		for _, f := range v.p.Order() {
			t.Functions = append(t.Functions, v.symbol(index[f]))
			t.Mean = t.Mean || f.MergeCount > 1
		}
		if len(t.Functions) > 0 {
			yield(&t)
		}
	}
}

type lineView struct{ *view }

// Lines iterates over the lines on which a function or a block with a probe begins. The count of a
// function's first line is the number of calls; the count of a block is 1 if the block ran, else 0.
func (v *lineView) Lines() iter.Seq[profile.Line] {
	return func(yield func(profile.Line) bool) {
		for i := range v.p.Functions {
			f, source, symbol := &v.p.Functions[i], &v.sources[i], v.symbol(i)
			more := func(at Source, count uint64) bool {
				return at.Line == 0 || yield(profile.Line{Function: symbol, File: at.File, Number: at.Line, Count: count})
			}
			if !more(source.Entry, f.CallCount) {
				return
			}
			for b, at := range source.Blocks {
				count := uint64(0)
				if f.Blocks[b].Covered {
					count = 1
				}
				if f.Blocks[b].Offset != 0 && !more(at, count) { // 0: without a probe
					return
				}
			}
		}
	}
}
