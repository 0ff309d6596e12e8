package memprof

import (
	"iter"
	"sync"

	"github.com/profuse-pgo/profuse/profile"
)

// allocationSet is the name of the stacks of a profile's view.
const allocationSet = "allocations"

// ViewOptions adjust [Profile.View]. The zero value is right for most uses.
type ViewOptions struct {
	// Identity describes the file; View sets File, Family and Omits.
	Identity profile.Identity
	// Thresholds classify contexts; the zero value means [DefaultThresholds].
	Thresholds Thresholds
	// Name, if not nil, returns the linkage name of a function without a name in the profile, or "".
	Name func(guid uint64) string
}

// View returns the format-neutral view of the profile. name is the file's; "" for none.
//
// Stacks are the allocation contexts, innermost function first. They have the following
// values, if known of all contexts, and a label with the compiler's word for the
// temperature: "notcold", "cold" or "hot". Functions are the functions that have records;
// their IDs are GUIDs. Lines are lines of the source files if the sources of all functions
// are known, and otherwise relative to the function's first line.
//
//	alloc_space              TotalSize
//	alloc_objects            AllocCount
//	access_count             TotalAccessCount
//	lifetime                 TotalLifetime
//	lifetime_access_density  TotalLifetimeAccessDensity
//	min_size, max_size       MinSize, MaxSize
//	min_lifetime, …          MinLifetime, MaxLifetime
//	min_access_count, …      MinAccessCount, MaxAccessCount
func (p *Profile) View(name string, opt ViewOptions) profile.View {
	if opt.Thresholds == (Thresholds{}) {
		opt.Thresholds = DefaultThresholds
	}
	opt.Identity.File, opt.Identity.Family = name, "MemProf"
	omits := &opt.Identity.Omits
	if !p.DataAccess.empty() {
		*omits = append(*omits, "the data-access profile")
	}
	if p.hasCallees() {
		*omits = append(*omits, "callees of call sites")
	}
	if p.hasHistograms() {
		*omits = append(*omits, "access histograms")
	}
	v := &view{p: p, opt: opt}
	v.frames = sync.OnceValue(v.resolve)
	return v
}

type view struct {
	p      *Profile
	opt    ViewOptions
	frames func() []profile.Frame // by frameIndex
}

// hasSources reports whether the profile has the sources of all its functions.
func (v *view) hasSources() bool {
	for i := range v.p.Stacks.Frames {
		if _, ok := v.p.Sources[v.p.Stacks.Frames[i].GUID]; !ok {
			return false
		}
	}
	return len(v.p.Stacks.Frames) > 0
}

func (v *view) symbol(guid uint64) profile.Symbol {
	s := profile.Symbol{Name: v.p.Names[guid], ID: guid}
	if s.Name == "" && v.opt.Name != nil {
		s.Name = v.opt.Name(guid)
	}
	if at, ok := v.p.Sources[guid]; ok {
		s.File, s.StartLine = at.File, int32(at.Line)
	}
	return s
}

func (v *view) resolve() []profile.Frame {
	lines := v.hasSources()
	symbols := make(map[uint64]profile.Symbol)
	frames := make([]profile.Frame, len(v.p.Stacks.Frames))
	for i := range frames {
		src := &v.p.Stacks.Frames[i]
		s, ok := symbols[src.GUID]
		if !ok {
			s = v.symbol(src.GUID)
			symbols[src.GUID] = s
		}
		frames[i] = profile.Frame{Symbol: s, Line: int32(src.LineOffset), Column: int32(src.Column), Inlined: src.Inline}
		if lines {
			frames[i].Line += s.StartLine
		}
	}
	return frames
}

func (v *view) Identity() profile.Identity { return v.opt.Identity }

func (v *view) Features() profile.Features {
	lines := v.hasSources()
	return profile.Features{Lines: lines, LineOffsets: !lines}
}

func (v *view) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for i := range v.p.Records {
			if !yield(&profile.Function{Symbol: v.symbol(v.p.Records[i].GUID), Covered: true}) {
				return
			}
		}
	}
}

func (v *view) Stacks() []profile.StackSet { return []profile.StackSet{v.allocations()} }

// viewValues are the values of a context.
var viewValues = [...]struct {
	profile.ValueType
	field field
}{
	{profile.ValueType{Name: "alloc_space", Unit: profile.Bytes}, totalSize},
	{profile.ValueType{Name: "alloc_objects", Unit: profile.Count}, allocCount},
	{profile.ValueType{Name: "access_count", Unit: profile.Count}, totalAccessCount},
	{profile.ValueType{Name: "lifetime", Unit: profile.Milliseconds}, totalLifetime},
	{profile.ValueType{Name: "lifetime_access_density", Unit: profile.Count}, totalLifetimeAccessDensity},
	{profile.ValueType{Name: "min_size", Unit: profile.Bytes, Combine: profile.Min}, minSize},
	{profile.ValueType{Name: "max_size", Unit: profile.Bytes, Combine: profile.Max}, maxSize},
	{profile.ValueType{Name: "min_lifetime", Unit: profile.Milliseconds, Combine: profile.Min}, minLifetime},
	{profile.ValueType{Name: "max_lifetime", Unit: profile.Milliseconds, Combine: profile.Max}, maxLifetime},
	{profile.ValueType{Name: "min_access_count", Unit: profile.Count, Combine: profile.Min}, minAccessCount},
	{profile.ValueType{Name: "max_access_count", Unit: profile.Count, Combine: profile.Max}, maxAccessCount},
}

func (v *view) allocations() profile.StackSet {
	limits := v.opt.Thresholds
	set := profile.StackSet{
		Name: allocationSet, Description: "a call stack that allocates on the heap, and the blocks allocated by it",
		Temperatures: &profile.TemperatureLimits{
			Default: limits == DefaultThresholds, ColdLifetime: limits.ColdLifetime, ColdAccessDensity: limits.ColdAccessDensity,
			HotAccessDensity: limits.HotAccessDensity, HasHot: limits.UseHot,
		},
	}
	known := v.p.KnownFields()
	var fields []field
	for i := range viewValues {
		if known.has(viewValues[i].field) || viewValues[i].field == totalSize {
			set.Values = append(set.Values, viewValues[i].ValueType)
			fields = append(fields, viewValues[i].field)
		}
	}
	set.ReusedStacks = func(yield func(*profile.Stack) bool) {
		frames := v.frames()
		var s profile.Stack
		for c := range v.p.Contexts() {
			s.Frames, s.Values = s.Frames[:0], s.Values[:0]
			for f := range v.p.Stacks.walk(c.Stack) {
				s.Frames = append(s.Frames, frames[f])
			}
			for _, f := range fields {
				s.Values = append(s.Values, c.MIB.get(f))
			}
			s.Labels = append(s.Labels[:0], profile.Label{
				Key: profile.LabelTemperature, Value: limits.Classify(c.MIB),
			})
			if !yield(&s) {
				return
			}
		}
	}
	return set
}

func (v *view) Edges() iter.Seq[*profile.Edge] { return func(func(*profile.Edge) bool) {} }

func (v *view) Traces() iter.Seq[*profile.Trace] { return func(func(*profile.Trace) bool) {} }
