package iprof

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile"
)

// ViewOptions adjust [Profile.View]. The zero value is right for most uses.
type ViewOptions struct {
	// Source returns the source of a method, which a profile does not contain; ok
	// is false if it is not known. nil keeps bytecode indexes.
	Source func(MethodRef) (source Source, ok bool)
}

// A Source is the source file and the lines of a method.
type Source struct {
	File      string // path below a source folder, "java/util/Map.java"
	StartLine int    // 0 if unknown
	// Line returns the line of a bytecode index, if there is one.
	Line func(bci int) (line int, ok bool)
}

// View returns the format-neutral view of the profile. name is the file's, "" if there is none.
//
// Functions are the methods of the table, in its order. Their calls are the sum of their
// call counts, inlined calls included; their signature is the descriptor. The view has
// the following stack sets, without empty ones. All but samples are partial: they end at
// the compiled method. Each branch, receiver type and checked type at a bytecode is a
// separate stack with a label. A lock is a stack of one frame, the type.
//
//	samples      Samples
//	calls        CallCounts
//	branches     Conditionals, label branch: "INDEX@TARGET"
//	receivers    VirtualInvokes, label type
//	type_checks  TypeChecks, label type
//	locks        Monitors
//
// Edges are the calls from the call counts, the receivers and the checked types. With a
// Source the view is a [profile.LineView].
func (p *Profile) View(name string, opt ViewOptions) profile.View {
	v := &view{p: p, opt: opt}
	v.identity = profile.Identity{File: name, Family: "iprof", Version: p.Version.String(), Producer: "GraalVM native-image"}
	has := func(kinds ...Kind) bool {
		return slices.ContainsFunc(kinds, func(k Kind) bool { return p.Sections[k].Len() > 0 })
	}
	v.features = profile.Features{
		Bytecodes: true, Calls: has(CallCounts), Edges: has(CallCounts, VirtualInvokes, TypeChecks), Lines: opt.Source != nil,
	}
	for k := range NumKinds {
		if k != Samples && p.Sections[k].Total() > 0 {
			v.identity.Variant = append(v.identity.Variant, "pgo-instrument")
			break
		}
	}
	if has(Samples) {
		v.identity.Variant = append(v.identity.Variant, "pgo-sampling")
	}
	for _, u := range p.Unknown {
		v.identity.Omits = append(v.identity.Omits, "section "+u.Key)
	}
	if len(p.Extra) > 0 {
		v.identity.Omits = append(v.identity.Omits, "unknown members of entries")
	}
	v.methods = sync.OnceValue(v.resolve)
	if opt.Source != nil {
		return &lineView{v}
	}
	return v
}

type view struct {
	p        *Profile
	opt      ViewOptions
	identity profile.Identity
	features profile.Features
	methods  func() []viewMethod // by index in the table
}

// A viewMethod is the data of a method that the view computes once.
type viewMethod struct {
	symbol profile.Symbol
	line   func(bci int) (int, bool) // nil if not known
}

func (v *view) resolve() []viewMethod {
	methods := make([]viewMethod, len(v.p.Methods))
	for i := range v.p.Methods {
		m := &v.p.Methods[i]
		to := &methods[i]
		ref, ok := v.p.refOf(m)
		if !ok {
			to.symbol.Name = v.p.MethodName(m.ID)
			continue
		}
		to.symbol.Name, to.symbol.Signature = ref.Class+"."+ref.Name, classfile.Descriptor(ref.Parameters, ref.Return)
		if v.opt.Source == nil {
			continue
		}
		if s, ok := v.opt.Source(ref); ok {
			to.symbol.File, to.symbol.StartLine, to.line = s.File, int32(s.StartLine), s.Line
		}
	}
	return methods
}

func (v *view) Identity() profile.Identity { return v.identity }

func (v *view) Features() profile.Features { return v.features }

// Traces is empty: the format does not record first calls.
func (v *view) Traces() iter.Seq[*profile.Trace] { return func(func(*profile.Trace) bool) {} }

// method returns the data of a method, which may be missing in the table.
func (v *view) method(id MethodID) viewMethod {
	if i := v.p.methIndex.find(int32(id)); i >= 0 && i < len(v.p.Methods) {
		return v.methods()[i]
	}
	return viewMethod{symbol: profile.Symbol{Name: v.p.MethodName(id)}}
}

func (m *viewMethod) lineAt(bci int32) int32 {
	if m.line == nil || bci < 0 {
		return 0
	}
	if line, ok := m.line(int(bci)); ok {
		return int32(line)
	}
	return 0
}

func (v *view) frame(f Frame) profile.Frame {
	m := v.method(f.Method)
	return profile.Frame{Symbol: m.symbol, Line: m.lineAt(f.BCI), BCI: int32(f.BCI)}
}

func (v *view) Functions() iter.Seq[*profile.Function] {
	return v.functions(slab.New[profile.Function])
}

// ReusedFunctions is for [profile.ReusedFunctions].
func (v *view) ReusedFunctions() iter.Seq[*profile.Function] {
	return v.functions(slab.Reused[profile.Function]())
}

func (v *view) functions(newFunction func() *profile.Function) iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		calls, covered := v.functionCounts()
		for i, m := range v.methods() {
			f := newFunction()
			*f = profile.Function{Symbol: m.symbol, Calls: calls[i], Covered: covered[i]}
			if !yield(f) {
				return
			}
		}
	}
}

// functionCounts returns the calls of each method, and whether it, or code inlined into it, has a count.
func (v *view) functionCounts() (calls []uint64, covered []bool) {
	p := v.p
	calls, covered = make([]uint64, len(p.Methods)), make([]bool, len(p.Methods))
	for k := range NumKinds {
		if k == Monitors {
			continue
		}
		for i := range p.Sections[k].Len() {
			ctx, n := p.Sections[k].Context(i), p.Sections[k].Count(i)
			if n <= 0 {
				continue
			}
			for at, f := range ctx {
				i := p.methIndex.find(int32(f.Method))
				if i < 0 {
					continue
				}
				covered[i] = true
				if k == CallCounts && at == 0 {
					sum, _ := saturate.AddSigned(int64(calls[i]), n)
					calls[i] = uint64(sum)
				}
			}
		}
	}
	return calls, covered
}

// viewSets describes the stack sets, in the order of the view.
var viewSets = [...]struct {
	kind        Kind
	description string
}{
	{Samples, "a sampled stack of a thread"},
	{CallCounts, "calls of a method, where it was compiled or inlined"},
	{Conditionals, "how often a branch went one way"},
	{VirtualInvokes, "calls on objects of one type"},
	{TypeChecks, "checks of objects of one type"},
	{Monitors, "locks taken of objects of one type, in the whole program"},
}

func (v *view) Stacks() []profile.StackSet {
	var sets []profile.StackSet
	for _, s := range viewSets {
		section := &v.p.Sections[s.kind]
		if len(section.records) == 0 {
			continue
		}
		sets = append(sets, profile.StackSet{
			Name: s.kind.String(), Description: s.description, Partial: s.kind != Samples && s.kind != Monitors,
			Values:       []profile.ValueType{{Name: s.kind.String(), Unit: profile.Count}},
			ReusedStacks: func(yield func(*profile.Stack) bool) { v.stacks(section, yield) },
		})
	}
	return sets
}

func (v *view) stacks(s *Section, yield func(*profile.Stack) bool) {
	stack := profile.Stack{Values: make([]uint64, 1)}
	if s.kind == Conditionals || s.kind == VirtualInvokes || s.kind == TypeChecks {
		stack.Labels = make([]profile.Label, 1)
	}
	for ctx, records := range s.All() {
		stack.Frames = stack.Frames[:0]
		if s.kind != Monitors {
			for i, f := range ctx {
				frame := v.frame(f)
				frame.Inlined = s.kind != Samples && i < len(ctx)-1
				stack.Frames = append(stack.Frames, frame)
			}
		}
		for arity := s.kind.Arity(); len(records) >= arity; records = records[arity:] {
			count := records[arity-1]
			switch s.kind {
			case Conditionals:
				if int32(records[0]) == unknownBCI && count == 0 {
					continue // another record has its count
				}
				stack.Labels[0] = profile.Label{Key: profile.LabelBranch, Value: fmt.Sprintf("%d@%d", records[1], records[0])}
			case VirtualInvokes, TypeChecks:
				stack.Labels[0] = profile.Label{Key: "type", Value: v.p.TypeName(TypeID(records[0]))}
			case Monitors:
				symbol := profile.Symbol{Name: v.p.TypeName(TypeID(records[0]))}
				stack.Frames = append(stack.Frames[:0], profile.Frame{Symbol: symbol})
			}
			stack.Values[0] = uint64(max(count, 0))
			if !yield(&stack) {
				return
			}
		}
	}
}

// A viewEdge is an edge with ids instead of names.
type viewEdge struct {
	kind   profile.EdgeKind
	caller Frame
	target int32 // id of a method, or of a type
}

func (v *view) Edges() iter.Seq[*profile.Edge] { return v.edges(slab.New[profile.Edge]) }

// ReusedEdges is for [profile.ReusedEdges].
func (v *view) ReusedEdges() iter.Seq[*profile.Edge] { return v.edges(slab.Reused[profile.Edge]()) }

func (v *view) edges(newEdge func() *profile.Edge) iter.Seq[*profile.Edge] {
	return func(yield func(*profile.Edge) bool) {
		counts := v.edgeCounts()
		for _, edge := range slices.SortedFunc(maps.Keys(counts), v.compareEdges) {
			m := v.method(edge.caller.Method)
			e := newEdge()
			*e = profile.Edge{
				Kind: edge.kind, Caller: m.symbol, Site: int32(edge.caller.BCI), Line: m.lineAt(edge.caller.BCI),
				Count: uint64(max(counts[edge], 0)),
			}
			if edge.kind == profile.Call {
				e.Target = v.method(MethodID(edge.target)).symbol
			} else {
				e.Target = profile.Symbol{Name: v.p.TypeName(TypeID(edge.target))}
			}
			if !yield(e) {
				return
			}
		}
	}
}

// edgeCounts returns the edges with their counts.
//
// Calls come from the first two frames of the contexts of call counts: they count inlined
// calls. The callers of methods that were not inlined are unknown.
func (v *view) edgeCounts() map[viewEdge]int64 {
	counts := make(map[viewEdge]int64)
	add := func(e viewEdge, n int64) { counts[e], _ = saturate.AddSigned(counts[e], n) }
	for ctx, records := range v.p.Sections[CallCounts].All() {
		if len(ctx) > 1 {
			add(viewEdge{profile.Call, ctx[1], int32(ctx[0].Method)}, records[0])
		}
	}
	for kind, edge := range map[Kind]profile.EdgeKind{VirtualInvokes: profile.Receiver, TypeChecks: profile.TypeCheck} {
		for ctx, records := range v.p.Sections[kind].All() {
			for t := range typeCountsIn(records) {
				add(viewEdge{edge, ctx[0], int32(t.Type)}, t.Count)
			}
		}
	}
	return counts
}

// compareEdges orders edges by caller, in the order of the table, then by bytecode and kind.
func (v *view) compareEdges(a, b viewEdge) int {
	return cmp.Or(cmp.Compare(v.p.methIndex.find(int32(a.caller.Method)), v.p.methIndex.find(int32(b.caller.Method))),
		compareFrames(a.caller, b.caller), cmp.Compare(a.kind, b.kind), cmp.Compare(a.target, b.target))
}
