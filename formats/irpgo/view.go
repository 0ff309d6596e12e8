package irpgo

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile"
)

// View shows the profile in the terms that all formats share. name is the file's; "" for none.
//
// A function is a record: records of one name differ in hash, and a context-sensitive record has a label. Blocks
// are the counters. Calls are known only where the first counter is at the entry: for front-end, [EntryFirst] and
// [EntryOnly] profiles. A function that is hot or warm without counts (see [Record.Pseudo]) has a label and no
// blocks. Names have their file taken off (see [SplitName]); IDs are name references.
//
// Of a profile with a heap profile (MemProf) the allocation contexts are stacks: see [memprof.Profile.View].
//
// Edges are value profiles. Their targets have names as far as the profile has records or Symbols of them, so merge
// with [MergeOptions].KeepSymbols, and KeepVTableNames.
func (p *Profile) View(name string, info *Info) profile.View {
	return newView(p, func(yield func(*Function) bool) {
		for i := range p.Functions {
			if !yield(&p.Functions[i]) {
				return
			}
		}
	}, name, info)
}

// newView returns the view of the functions that all yields, and of the rest of p.
func newView(p *Profile, all iter.Seq[*Function], name string, info *Info) profile.View {
	v := &view{p: p, all: all}
	v.identity = profile.Identity{
		File: name, Family: "IRPGO", Variant: p.Variant.names(), Kind: p.Variant.Kind().String(), BuildIDs: p.BinaryIDs,
	}
	if len(v.identity.Variant) == 0 {
		v.identity.Variant = []string{p.Variant.String()}
	}
	if info != nil {
		v.identity.Format = string(info.Format)
		if info.Version != 0 {
			v.identity.Version = fmt.Sprint(info.Version)
		}
		v.identity.Producer, v.identity.ReadableBy = info.Releases()
	}
	v.features = profile.Features{Hashes: true}
	if !p.Variant.Has(IRLevel) || p.Variant&(EntryFirst|EntryOnly) != 0 {
		v.features.Calls = true
		if p.Variant.Has(SingleByte) {
			v.features.CallsAreCoverage = true
		}
	}
	bitmaps, plain, sensitive := false, false, false
	for f := range all {
		for _, r := range f.Records {
			plain, sensitive = plain || !r.IsCS(), sensitive || r.IsCS()
			bitmaps = bitmaps || len(r.Bitmap) > 0
			if len(r.Counts) > 0 {
				v.features.Blocks = true
			}
			if !hasNone(&r.Values) {
				v.features.Edges = true
			}
		}
	}
	switch {
	case !p.Variant.Has(IRLevel):
		v.identity.Hashes = "front-end"
	case sensitive && !plain:
		v.identity.Hashes = "context-sensitive"
	default:
		v.identity.Hashes = "ir"
	}
	if v.features.Blocks && p.Variant.Has(SingleByte) {
		v.features.BlocksAreCoverage = true
	}
	if len(p.Traces) > 0 {
		v.features.Traces, v.features.FirstCalls = true, true
	}
	if bitmaps {
		v.identity.Omits = append(v.identity.Omits, "MC/DC bitmaps")
	}
	v.ranks = sync.OnceValue(p.firstCalls)
	if !p.MemProf.Empty() {
		heap := p.MemProf.View(name, memprof.ViewOptions{Name: v.heapName()})
		v.identity.Omits = append(v.identity.Omits, heap.Identity().Omits...)
		v.stacks = heap.Stacks()
		lines := heap.Features()
		v.features.Lines, v.features.LineOffsets = lines.Lines, lines.LineOffsets
	}
	return v
}

// view is the neutral view of a profile.
type view struct {
	p        *Profile            // perhaps without its functions
	all      iter.Seq[*Function] // may reuse them
	identity profile.Identity
	features profile.Features
	stacks   []profile.StackSet // of the heap profile
	ranks    func() map[uint64]rankSum
}

// A refName is a name with its reference.
type refName struct {
	ref  uint64
	name string
}

// readNames returns the names of functions and virtual tables by their references.
func (v *view) readNames() []refName {
	var names []refName
	for f := range v.all {
		names = append(names, refName{f.nameRef(), f.Name})
	}
	for _, n := range v.p.VTableNames {
		names = append(names, refName{NameRef(n), n})
	}
	slices.SortFunc(names, func(a, b refName) int { return cmp.Or(cmp.Compare(a.ref, b.ref), strings.Compare(a.name, b.name)) })
	return names
}

// findName returns the name with a reference; "" if there is none. References are hashes, so
// that its place follows from its size, nearly: the search goes on from there.
func findName(names []refName, ref uint64) string {
	if len(names) == 0 {
		return ""
	}
	guess, _ := bits.Mul64(ref, uint64(len(names)))
	low, high, step := int(guess), int(guess)+1, 1
	for ; low > 0 && names[low].ref > ref; step *= 2 {
		low, high = max(0, low-step), low+1
	}
	for step = 1; high < len(names) && names[high-1].ref < ref; step *= 2 {
		low, high = high, min(len(names), high+step)
	}
	i, ok := slices.BinarySearchFunc(names[low:high], ref, func(n refName, ref uint64) int { return cmp.Compare(n.ref, ref) })
	if !ok {
		return ""
	}
	return names[low+i].name
}

// rankSum adds up the ranks of a function's first calls over traces.
type rankSum struct{ sum, weight float64 }

// firstCalls returns the ranks by the references of the functions.
func (p *Profile) firstCalls() map[uint64]rankSum {
	ranks := make(map[uint64]rankSum)
	for _, t := range p.Traces {
		for i, ref := range t.NameRefs {
			r := ranks[ref]
			r.sum += float64(t.Weight) * float64(i+1)
			r.weight += float64(t.Weight)
			ranks[ref] = r
		}
	}
	return ranks
}

// viewSymbol names the function or table with a PGO name.
func viewSymbol(name string, ref uint64) profile.Symbol {
	file, symbol := SplitName(name)
	return profile.Symbol{Name: symbol, File: file, ID: ref}
}

// symbols returns what finds symbols by their references. It reads the names when it is first
// asked, and they are garbage after the walk that asks.
func (v *view) symbols() func(ref uint64) profile.Symbol {
	names := sync.OnceValue(v.readNames)
	return func(ref uint64) profile.Symbol {
		name := findName(names(), ref)
		if name == "" {
			name = v.p.Symbols.Name(ref)
		}
		return viewSymbol(name, ref)
	}
}

func (v *view) Identity() profile.Identity { return v.identity }

func (v *view) Features() profile.Features { return v.features }

var (
	csLabel   = profile.Label{Key: "instrumentation", Value: "context-sensitive"}
	hotLabel  = profile.Label{Key: profile.LabelTemperature, Value: "hot"}
	warmLabel = profile.Label{Key: profile.LabelTemperature, Value: "warm"}
)

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
		var ranks map[uint64]rankSum
		if v.features.FirstCalls {
			ranks = v.ranks()
		}
		for src := range v.all {
			symbol := viewSymbol(src.Name, src.nameRef())
			for _, r := range src.Records {
				f := newFunction()
				*f = profile.Function{Symbol: symbol, Hash: r.Hash}
				if r.IsCS() && v.p.Variant.Has(IRLevel) { // hashes of the front end may have the bit, too
					f.Labels = append(f.Labels, csLabel)
				}
				v.fillCounts(f, r, newBlocks)
				if rank, ok := ranks[symbol.ID]; ok {
					f.FirstCall = rank.sum / rank.weight
				}
				if !yield(f) {
					return
				}
			}
		}
	}
}

func (v *view) fillCounts(f *profile.Function, r *Record, newBlocks func(n int) []profile.Block) {
	switch r.Pseudo() {
	case PseudoHot:
		f.Labels = append(f.Labels, hotLabel)
		f.Covered = true
		return
	case PseudoWarm:
		f.Labels = append(f.Labels, warmLabel)
		f.Covered = true
		return
	}
	f.Blocks = newBlocks(len(r.Counts))
	for i, c := range r.Counts {
		f.Blocks[i].Count = c
		f.Covered = f.Covered || c > 0
	}
	if v.features.Calls && len(r.Counts) > 0 {
		f.Calls = r.Counts[0]
	}
}

// heapName returns what names the functions of the heap profile, as far as the profile has records of them. The
// heap profile knows functions that are local to their files without these.
func (v *view) heapName() func(guid uint64) string {
	names := sync.OnceValue(func() map[uint64]string {
		names := make(map[uint64]string)
		for f := range v.all {
			_, name := SplitName(f.Name)
			canonical := guid.Canonical(name)
			names[guid.Of(canonical)] = canonical
		}
		return names
	})
	return func(guid uint64) string { return names()[guid] }
}

// Stacks returns the stacks of the heap profile. Counters know no callers.
func (v *view) Stacks() []profile.StackSet { return v.stacks }

var edgeKinds = [NumValueKinds]profile.EdgeKind{
	IndirectCallTarget: profile.IndirectCall,
	MemOPSize:          profile.MemOpSize,
	VTableTarget:       profile.Receiver,
}

func (v *view) Edges() iter.Seq[*profile.Edge] { return v.edges(slab.New[profile.Edge]) }

// ReusedEdges is for [profile.ReusedEdges].
func (v *view) ReusedEdges() iter.Seq[*profile.Edge] { return v.edges(slab.Reused[profile.Edge]()) }

// edges yields the edges that newEdge makes.
func (v *view) edges(newEdge func() *profile.Edge) iter.Seq[*profile.Edge] {
	return func(yield func(*profile.Edge) bool) {
		symbol := v.symbols()
		for src := range v.all {
			caller := viewSymbol(src.Name, src.nameRef())
			for _, r := range src.Records {
				for kind, sites := range r.Values {
					for site, values := range sites {
						for _, d := range values {
							e := newEdge()
							*e = profile.Edge{Kind: edgeKinds[kind], Caller: caller, Hash: r.Hash, Site: int32(site), Count: d.Count}
							if kind == MemOPSize {
								e.Size = d.Value
							} else if d.Value != 0 {
								e.Target = symbol(d.Value)
							}
							if !yield(e) {
								return
							}
						}
					}
				}
			}
		}
	}
}

func (v *view) Traces() iter.Seq[*profile.Trace] {
	return func(yield func(*profile.Trace) bool) {
		symbol := v.symbols()
		for _, src := range v.p.Traces {
			t := &profile.Trace{Weight: src.Weight, Functions: make([]profile.Symbol, len(src.NameRefs))}
			for i, ref := range src.NameRefs {
				t.Functions[i] = symbol(ref)
			}
			if !yield(t) {
				return
			}
		}
	}
}
