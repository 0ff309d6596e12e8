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

// A Profile is the content of a sample profile, free of encodings.
type Profile struct {
	Kind Kind
	// Functions are in the order in which files have them: by descending total, then by name or
	// context. These differ. Some may be removed, or
	// appended.
	Functions []*Function
	// Symbols are the names of all functions of the program, sorted, whether they
	// have samples or not; nil if the profile does not list them.
	Symbols []string
	// Summary is that of the file; nil if it has none, as text.
	Summary *Summary

	known  *functionMap // of Functions; nil if it follows from their order
	odd    []error      // what is doubtful in the file
	rest   rest         // of a sum
	format Format       // of the file; "" for none
}

// A Kind says what the samples of a profile are attached to. It is a set of bits.
type Kind uint8

// The bits of a Kind.
const (
	ContextSensitive   Kind = 1 << iota // functions have calling contexts
	ProbeBased                          // locations are pseudo probes, not lines
	PreInlined                          // contexts were inlined by the producer's decision
	FlowDiscriminators                  // discriminators are flow-sensitive (FS-AFDO)
	Partial                             // the profile covers a part of the program
)

// Has reports whether all bits of want are set.
func (k Kind) Has(want Kind) bool { return k&want == want }

// String lists the bits, separated by commas: "context-sensitive, probe-based".
func (k Kind) String() string {
	if k == 0 {
		return "line-based"
	}
	return strings.Join(k.words(), ", ")
}

func (k Kind) words() (set []string) {
	for i, word := range []string{"context-sensitive", "probe-based", "pre-inlined", "flow-sensitive discriminators", "partial"} {
		if k&(1<<i) != 0 {
			set = append(set, word)
		}
	}
	return set
}

// A Name is the name of a function or virtual table, or its GUID alone, which is what
// profiles with MD5 names hold. The zero Name is none.
type Name struct {
	text string
	id   uint64
}

// emptyID is the GUID of the empty name, which text profiles may have.
var emptyID = guid.Of("")

// NameOf returns the Name with a text.
func NameOf(text string) Name { return Name{text, guid.Of(text)} }

// ID returns the GUID of the name.
func (n Name) ID() uint64 { return n.id }

// Text returns the name; ok is false if only its GUID is known.
func (n Name) Text() (text string, ok bool) { return n.text, n.text != "" || n.id == emptyID }

// String returns the name or, in decimal, its GUID.
func (n Name) String() string {
	if text, ok := n.Text(); ok {
		return text
	}
	return strconv.FormatUint(n.id, 10)
}

// Compare orders GUIDs before names; GUIDs by value, names by their bytes.
func (n Name) Compare(o Name) int {
	switch {
	case n.text != "" && o.text != "":
		return strings.Compare(n.text, o.text)
	case n.text == "" && o.text == "":
		return cmp.Compare(n.id, o.id)
	case n.text == "":
		return -1
	}
	return 1
}

// byID orders names by GUID, which is faster than by text.
func (n Name) byID(o Name) int {
	if c := cmp.Compare(n.id, o.id); c != 0 {
		return c
	}
	return strings.Compare(n.text, o.text)
}

// A Location is a place in a function: the line relative to that of the function's
// beginning, and the discriminator of the code on it. In probe-based profiles Line is
// the number of a probe.
type Location struct{ Line, Discriminator uint32 }

// Compare orders locations by line, then by discriminator.
func (l Location) Compare(o Location) int { return cmp.Compare(l.word(), o.word()) }

func (l Location) word() uint64 { return uint64(l.Line)<<32 | uint64(l.Discriminator) }

// String returns "LINE", or "LINE.DISCRIMINATOR" if there is one, as text profiles do.
func (l Location) String() string {
	return string(appendLocation(nil, l))
}

// A Frame is a function of a calling context, and the place in it from which the next
// one was called.
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

// A Function holds the samples of a function, or of a function inlined at one place.
type Function struct {
	Name Name
	// Context is nil unless the profile is context-sensitive. The outermost frame is
	// first. The last is the function itself, at location 0.
	Context []Frame
	Total   uint64 // samples of the function and what was inlined into it
	Head    uint64 // samples of its entry; 0 if inlined

	Body      []Sample     // in the order of locations, which differ
	Callsites []Callsite   // what was inlined, in the order of locations, then of names
	VTables   []VTableUses // in the order of locations, which differ

	Checksum uint64 // of its control flow graph; 0 unless probe-based
	// Attributes are how the producer treated the function in its context, a set of bits: 1 the
	// program had it inlined, 2 the pre-inliner wants it inlined, 4 its samples are in a base
	// profile, too.
	Attributes uint32
}

// A Sample counts how often a location ran.
type Sample struct {
	Location
	Count   uint64
	Targets []Target // of a call there, each once, by descending count, then by name
}

// A Target is a function that was called, or a virtual table that was used, and how
// often.
type Target struct {
	Name  Name
	Count uint64
}

// A Callsite is a function that was inlined at a location.
type Callsite struct {
	Location
	Callee *Function
}

// VTableUses are the virtual tables of objects whose methods were called at a location.
type VTableUses struct {
	Location
	VTables []Target // each once, in the order of their names
}

// key is the number by which LLVM knows a function of a profile: the GUID of its name,
// or the hash of its context. Two functions of one key are one.
func (f *Function) key() uint64 { return keyOf(f.Name, f.Context) }

func keyOf(name Name, context []Frame) uint64 {
	if context == nil {
		return name.id
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
	return f.Name.id + at<<5 + at
}

// Label returns the name of the function, or its context as text profiles have it but
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

// compareContexts orders functions without a context, by name, before those with one,
// by frame.
func compareContexts(a, b *Function) int {
	return compareSubjects(a.Name, a.Context, b.Name, b.Context)
}

func compareSubjects(a Name, in []Frame, b Name, of []Frame) int {
	if in == nil || of == nil {
		if in == nil && of == nil {
			return a.Compare(b)
		}
		return cmp.Compare(len(in), len(of))
	}
	return slices.CompareFunc(in, of, func(x, y Frame) int {
		if c := x.Name.Compare(y.Name); c != 0 {
			return c
		}
		return x.Location.Compare(y.Location)
	})
}

// inFileOrder orders functions as files have them: by descending total, then by name or
// context.
func inFileOrder(a, b *Function) int {
	if a.Total != b.Total {
		return cmp.Compare(b.Total, a.Total)
	}
	return compareContexts(a, b)
}

// sorted returns the functions in the order in which files have them.
func (p *Profile) sorted() []*Function {
	if slices.IsSortedFunc(p.Functions, inFileOrder) {
		return p.Functions
	}
	fs := slices.Clone(p.Functions)
	slices.SortFunc(fs, inFileOrder)
	return fs
}

// InMapOrder returns the functions in the order in which LLVM walks them, where it breaks no
// ties.
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

// setFunctions sets the functions of a profile, in the order in which files have them.
func (p *Profile) setFunctions(m *functionMap) {
	p.known = m
	p.Functions = m.slice()
	slices.SortFunc(p.Functions, inFileOrder)
}

// walk calls fn with the function and all that is inlined into it, outer ones first,
// unless fn returns false for the outer one.
func (f *Function) walk(fn func(*Function) bool) {
	if !fn(f) {
		return
	}
	for i := range f.Callsites {
		f.Callsites[i].Callee.walk(fn)
	}
}

// maxCount returns the greatest count of the function and what is inlined into it.
func (f *Function) maxCount() (most uint64) {
	f.walk(func(g *Function) bool {
		for i := range g.Body {
			most = max(most, g.Body[i].Count)
		}
		return true
	})
	return most
}

// addSymbols adds names to p.Symbols.
func (p *Profile) addSymbols(names ...string) {
	if len(names) > 0 {
		p.Symbols = append(p.Symbols, names...)
		slices.Sort(p.Symbols)
		p.Symbols = slices.Compact(p.Symbols)
	}
}

// EntryCount estimates how often the function was entered: Head, if it is known and the
// profile context-sensitive; otherwise the count of the first location, or those of the
// functions inlined there; at least 1 if there are samples
// (FunctionSamples::getHeadSamplesEstimate).
func (f *Function) EntryCount() uint64 {
	if f.Context != nil && f.Head > 0 {
		return f.Head
	}
	count := uint64(0)
	switch {
	case len(f.Body) > 0 && (len(f.Callsites) == 0 || f.Body[0].Compare(f.Callsites[0].Location) < 0):
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

// Summary describes how the counts of a profile are spread. Compilers decide from it
// what is hot and what is cold.
type Summary struct {
	Total        uint64 // of all body counts, modulo 2^64 as in LLVM
	MaxCount     uint64
	MaxHead      uint64
	NumCounts    uint64
	NumFunctions uint64
	Cutoffs      profile.Cutoffs
}
