package sampleprof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/profile"
)

// A Profile is the content of a sample profile, independent of its encoding.
type Profile struct {
	Kind Kind
	// Functions are sorted as in files: by descending total, then by name or context. No two
	// functions have the same name and context. Callers may remove and append functions.
	Functions []*Function
	// Symbols are the sorted names of all functions of the program, with and without samples;
	// nil if the profile does not list them.
	Symbols []string
	// SymbolIDs are sorted GUIDs of functions of the program whose names the profile does not list.
	SymbolIDs []uint64
	// Summary is the summary that the file holds; nil for formats without one, such as text.
	Summary *Summary
	// Blocks says what blocks the functions of a composite file have, by type, inlined functions included: how many,
	// and their bytes. Type 0 holds samples; other types, which LLVM plans for counts of other events, are left out.
	Blocks []struct {
		Type  uint64
		Count int
		Size  uint64
	}

	known    *functionMap // Functions in LLVM's map order; nil if their own order determines it
	odd      []error      // signs of damage in the file
	extra    partialExtra // of a partial sum
	format   Format       // of the file; "" if the profile was not read from one
	version  uint64       // of the file; 0 for text
	numbered bool         // the file has names that are numbers, which are read as GUIDs
}

// A Kind says what the samples of a profile are attached to.
type Kind struct {
	ContextSensitive   bool // functions have calling contexts
	ProbeBased         bool // locations are pseudo probes, not lines
	PreInlined         bool // the producer decided what is inlined into contexts
	FlowDiscriminators bool // discriminators are flow-sensitive (FS-AFDO)
	Partial            bool // the profile covers a part of the program
}

// String lists what is set, separated by commas: "context-sensitive, probe-based".
func (k Kind) String() string {
	if k == (Kind{}) {
		return "line-based"
	}
	return strings.Join(k.words(), ", ")
}

func (k Kind) words() (set []string) {
	for _, w := range []struct {
		set  bool
		word string
	}{
		{k.ContextSensitive, "context-sensitive"},
		{k.ProbeBased, "probe-based"},
		{k.PreInlined, "pre-inlined"},
		{k.FlowDiscriminators, "flow-sensitive discriminators"},
		{k.Partial, "partial"},
	} {
		if w.set {
			set = append(set, w.word)
		}
	}
	return set
}

// mixes reports whether profiles of kinds k and o can be merged.
func (k Kind) mixes(o Kind) bool {
	return k.ContextSensitive == o.ContextSensitive && k.ProbeBased == o.ProbeBased
}

// hasAttributes reports whether LLVM writes the attributes of functions in profiles of the kind.
func (k Kind) hasAttributes() bool { return k.ContextSensitive || k.PreInlined }

// A Name is the name of a function or virtual table. The zero Name is no name.
type Name struct {
	Text string // "" if the profile has only the GUID, as with MD5 names
	ID   uint64 // the GUID: the low half of the MD5 of Text
}

// emptyID is the GUID of the empty name, which text profiles may have.
var emptyID = guid.Of("")

// NameOf returns the Name with the given text and its GUID.
func NameOf(text string) Name { return Name{text, guid.Of(text)} }

// nameIn returns the Name for which a text stands in a profile. A number is a GUID: text has no other form for
// a GUID without a name, and no compiler gives a function such a name. For lenient readers, as for
// LLVM, it is a name made of digits.
func nameIn(text string, lenient bool) Name {
	if !lenient && text != "" && '1' <= text[0] && text[0] <= '9' {
		if id, err := strconv.ParseUint(text, 10, 64); err == nil && id != emptyID {
			return Name{ID: id}
		}
	}
	return NameOf(text)
}

func (n *Name) isID() bool { return n.Text == "" && n.ID != emptyID }

// String returns the text or, in decimal, the bare GUID.
func (n Name) String() string {
	if n.isID() {
		return strconv.FormatUint(n.ID, 10)
	}
	return n.Text
}

// compare orders bare GUIDs, by value, before names, by their bytes.
func (n Name) compare(o Name) int {
	if c := strings.Compare(n.Text, o.Text); c != 0 {
		return c
	}
	return cmp.Compare(n.ID, o.ID)
}

// byID orders names by GUID, which is faster than by text; for sorting whose order does not show.
func (n Name) byID(o Name) int {
	if c := cmp.Compare(n.ID, o.ID); c != 0 {
		return c
	}
	return strings.Compare(n.Text, o.Text)
}

// A Location is a source line, counted from the first line of the function, and the discriminator of
// the code on that line. In probe-based profiles, Line is the number of a probe.
type Location struct{ Line, Discriminator uint32 }

func (l Location) compare(o Location) int { return cmp.Compare(l.word(), o.word()) }

func (l Location) word() uint64 { return uint64(l.Line)<<32 | uint64(l.Discriminator) }

// String returns "LINE", or "LINE.DISCRIMINATOR" if there is one, as text profiles do.
func (l Location) String() string { return string(appendLocation(nil, l)) }

// A Frame is a function in a calling context and the location of its call to the next frame.
type Frame struct {
	Name Name
	Location
}

// The known bits of [Function.Attributes] (SampleContext::ContextAttributeMask).
const (
	wasInlined = 1 << iota
	shouldBeInlined
	duplicated
)

// A Function holds the samples of a function, or of one inlined copy of a function.
type Function struct {
	Name Name
	// Context is the calling context, outermost frame first; the last frame is the function
	// itself, at location 0. nil unless the profile is context-sensitive.
	Context []Frame
	Total   uint64 // samples of the function and of everything inlined into it
	Head    uint64 // samples of the function's entry; 0 if inlined

	Body      []Sample   // sorted by location, each location once
	Callsites []Callsite // inlined functions, sorted by location, then by name
	// VTables has the virtual tables of the objects whose methods were called, in place of targets, and
	// no counts. It is sorted by location, each location once.
	VTables []Sample

	Checksum uint64 // of the control flow graph; 0 unless probe-based
	// Attributes are bits that say how the producer treated the function in its context: 1 the program
	// had it inlined, 2 the pre-inliner wants it inlined, 4 a base profile also has its samples.
	Attributes uint32
}

// A Sample is a location and how often it ran.
type Sample struct {
	Location
	Count   uint64
	Targets []Target // functions called there, each once, by descending count, then by name; virtual tables by name
}

// A Target is a called function or a used virtual table, and how often.
type Target struct {
	Name  Name
	Count uint64
}

// A Callsite is a function that was inlined at a location.
type Callsite struct {
	Location
	Callee *Function
}

// key returns the GUID of the name or the hash of the context, which identify a function in LLVM's maps.
func (f *Function) key() uint64 { return keyOf(f.Name, f.Context) }

func keyOf(name Name, context []Frame) uint64 {
	if context == nil {
		return name.ID
	}
	words := make([]uint64, len(context))
	for i, frame := range context {
		words[i] = frame.hash()
	}
	return llvmorder.Combine(words)
}

// hash is SampleContextFrame::getHashCode.
func (f Frame) hash() uint64 {
	at := uint64(f.Discriminator)<<32 | uint64(f.Line)
	return f.Name.ID + at<<5 + at
}

// Label returns the name of the function, or its context in the notation of text profiles,
// without brackets: "main:3 @ foo:1.2 @ bar".
func (f *Function) Label() string {
	if f.Context == nil {
		return f.Name.String()
	}
	return string(appendContext(nil, f.Context))
}

func appendContext(dst []byte, context []Frame) []byte {
	for i, frame := range context {
		dst = append(dst, frame.Name.String()...)
		if i < len(context)-1 {
			dst = append(appendLocation(append(dst, ':'), frame.Location), frameSeparator...)
		}
	}
	return dst
}

func appendLocation(dst []byte, l Location) []byte {
	dst = strconv.AppendUint(dst, uint64(l.Line), 10)
	if l.Discriminator != 0 {
		dst = strconv.AppendUint(append(dst, '.'), uint64(l.Discriminator), 10)
	}
	return dst
}

// compareSubjects orders functions without a context, by name, before functions with a context, by frame.
func compareSubjects(a Name, in []Frame, b Name, of []Frame) int {
	if in == nil || of == nil {
		if in == nil && of == nil {
			return a.compare(b)
		}
		return cmp.Compare(len(in), len(of))
	}
	return slices.CompareFunc(in, of, func(x, y Frame) int {
		if c := x.Name.compare(y.Name); c != 0 {
			return c
		}
		return x.Location.compare(y.Location)
	})
}

// inFileOrder orders functions by descending total, then by name or context.
func inFileOrder(a, b *Function) int {
	if a.Total != b.Total {
		return cmp.Compare(b.Total, a.Total)
	}
	return compareSubjects(a.Name, a.Context, b.Name, b.Context)
}

func (p *Profile) sorted() []*Function {
	if slices.IsSortedFunc(p.Functions, inFileOrder) {
		return p.Functions
	}
	fs := slices.Clone(p.Functions)
	slices.SortFunc(fs, inFileOrder)
	return fs
}

// InMapOrder returns the functions in the order of LLVM's hash map. LLVM's tools show this
// order wherever they break no ties.
func (p *Profile) InMapOrder() []*Function { return p.toMap().slice() }

func (p *Profile) toMap() *functionMap {
	if p.known == nil {
		return mapOf(p.Functions)
	}
	if p.known.order.Len() != len(p.Functions) {
		now := mapOf(p.Functions)
		for f := range p.known.all() {
			if key := f.key(); now.find(key) == nil {
				p.known.remove(key)
			}
		}
		for _, f := range p.Functions {
			p.known.get(f)
		}
	}
	return p.known
}

func (p *Profile) setFunctions(m *functionMap) {
	p.known = m
	p.Functions = m.slice()
	slices.SortFunc(p.Functions, inFileOrder)
}

// walk calls fn for the function and, if it returns true, for what is inlined into it, outer functions first.
func (f *Function) walk(fn func(*Function) bool) {
	if !fn(f) {
		return
	}
	for i := range f.Callsites {
		f.Callsites[i].Callee.walk(fn)
	}
}

// maxCount returns the greatest count of the function and everything inlined into it.
func (f *Function) maxCount() (most uint64) {
	f.walk(func(g *Function) bool {
		for i := range g.Body {
			most = max(most, g.Body[i].Count)
		}
		return true
	})
	return most
}

func (p *Profile) addSymbols(names ...string) {
	if len(names) > 0 {
		p.Symbols = append(p.Symbols, names...)
		slices.Sort(p.Symbols)
		p.Symbols = slices.Compact(p.Symbols)
	}
}

func (p *Profile) addSymbolIDs(ids ...uint64) {
	if len(ids) > 0 {
		p.SymbolIDs = append(p.SymbolIDs, ids...)
		slices.Sort(p.SymbolIDs)
		p.SymbolIDs = slices.Compact(p.SymbolIDs)
	}
}

// EntryCount returns an estimate of how often the function was entered: Head if the function
// has a context; otherwise the count of the first location, or the sum over the functions
// inlined there; at least 1 if there are samples (FunctionSamples::getHeadSamplesEstimate).
func (f *Function) EntryCount() uint64 {
	if f.Context != nil && f.Head > 0 {
		return f.Head
	}
	count := uint64(0)
	switch {
	case len(f.Body) > 0 && (len(f.Callsites) == 0 || f.Body[0].compare(f.Callsites[0].Location) < 0):
		count = f.Body[0].Count
	case len(f.Callsites) > 0:
		for _, c := range f.Callsites {
			if c.Location != f.Callsites[0].Location {
				break
			}
			count += c.Callee.EntryCount()
		}
	}
	if count == 0 && f.Total > 0 {
		return 1
	}
	return count
}

// Summary describes the distribution of the counts. Compilers use it to decide what is hot and what is cold.
type Summary struct {
	Total        uint64 // sum of all body counts, modulo 2^64 as in LLVM
	MaxCount     uint64
	MaxHead      uint64
	NumCounts    uint64
	NumFunctions uint64
	Cutoffs      profile.Cutoffs
}
