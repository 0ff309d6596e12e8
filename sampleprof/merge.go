package sampleprof

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// A result says what became of a function that was added.
type result uint8

const (
	overflowed result = 1 << iota // some count saturated
	mismatched                    // its checksum, or that of a function inlined into it, is another one
)

// add adds weight·f to the function of its key. It does not keep f, but for its names and
// context.
func (m *functionMap) add(f *Function, weight uint64) result {
	to := m.find(f.key())
	if to == nil {
		to, _ = m.get(&Function{Name: f.Name, Context: f.Context, Attributes: f.Attributes})
	}
	return to.add(f, weight)
}

// add adds weight·o (FunctionSamples::merge). A function with another checksum is left out whole.
func (f *Function) add(o *Function, weight uint64) (r result) {
	if f.Checksum == 0 {
		f.Checksum = o.Checksum
	} else if f.Checksum != o.Checksum {
		return mismatched
	}
	count := func(to *uint64, n uint64) {
		if add(to, n, weight) {
			r |= overflowed
		}
	}
	count(&f.Total, o.Total)
	count(&f.Head, o.Head)
	r |= f.addBody(o, weight)
	f.Callsites = withLocations(f.Callsites, o.Callsites, emptyCallsite, Callsite.before)
	for i, j := 0, 0; j < len(o.Callsites); i++ {
		if c := &f.Callsites[i]; !c.before(o.Callsites[j]) {
			r |= c.Callee.add(o.Callsites[j].Callee, weight)
			j++
		}
	}
	f.VTables = withLocations(f.VTables, o.VTables, func(v *VTableUses) VTableUses { return VTableUses{Location: v.Location} }, VTableUses.before)
	for i, j := 0, 0; j < len(o.VTables); i++ {
		if v := &f.VTables[i]; v.Location == o.VTables[j].Location {
			r |= addTargets(&v.VTables, o.VTables[j].VTables, weight)
			j++
		}
	}
	return r &^ mismatched // of what is inlined: left out in silence, as in LLVM
}

// addBody adds the samples of weight·o but for those of inlined functions.
func (f *Function) addBody(o *Function, weight uint64) (r result) {
	f.Body = withLocations(f.Body, o.Body, func(s *Sample) Sample { return Sample{Location: s.Location} }, Sample.before)
	for i, j := 0, 0; j < len(o.Body); i++ {
		if s := &f.Body[i]; s.Location == o.Body[j].Location {
			if add(&s.Count, o.Body[j].Count, weight) {
				r |= overflowed
			}
			r |= addTargets(&s.Targets, o.Body[j].Targets, weight)
			j++
		}
	}
	return r
}

func (s Sample) before(o Sample) bool         { return s.Compare(o.Location) < 0 }
func (v VTableUses) before(o VTableUses) bool { return v.Compare(o.Location) < 0 }

func (c Callsite) before(o Callsite) bool {
	if d := c.Compare(o.Location); d != 0 {
		return d < 0
	}
	return c.Callee.Name.Compare(o.Callee.Name) < 0
}

func emptyCallsite(c *Callsite) Callsite {
	return Callsite{c.Location, &Function{Name: c.Callee.Name, Attributes: c.Callee.Attributes}}
}

// withLocations returns dst with an empty element for each of src that it does not have. Both are
// in order.
func withLocations[T any](dst, src []T, empty func(*T) T, before func(a, b T) bool) []T {
	missing := 0
	i := 0
	for j := range src {
		for i < len(dst) && before(dst[i], src[j]) {
			i++
		}
		if i == len(dst) || before(src[j], dst[i]) {
			missing++
		}
	}
	if missing == 0 {
		return dst
	}
	all := slices.Grow(dst, missing)[:len(dst)+missing]
	i = len(dst) - 1
	for to, j := len(all)-1, len(src)-1; j >= 0; to-- { // from the end, in place
		switch {
		case i >= 0 && before(src[j], all[i]):
			all[to] = all[i]
			i--
		case i >= 0 && !before(all[i], src[j]):
			all[to] = all[i]
			i--
			j--
		default:
			all[to] = empty(&src[j])
			j--
		}
	}
	return all
}

// addTargets adds weight times the counts of targets.
func addTargets(to *[]Target, targets []Target, weight uint64) (r result) {
	for _, t := range targets {
		var overflow bool
		if *to, overflow = addTarget(*to, t.Name, t.Count, weight); overflow {
			r |= overflowed
		}
	}
	return r
}

// A Merger adds profiles up. It does no I/O, and its memory does not depend on the number of profiles.
// The zero value is not ready; see [NewMerger].
type Merger struct {
	opt     MergeOptions
	sum     functionMap
	kind    Kind
	any     bool // a profile was added
	symbols []string
}

// MergeOptions adjust a [Merger].
type MergeOptions struct {
	// Rename gives functions other names before they meet; nil leaves them theirs. A profile
	// whose functions are renamed loses contexts, checksums, attributes and virtual tables, as in LLVM.
	Rename func(name string) string
	// Warn is told of every function that is not added, or whose counts saturated; nil
	// drops the warnings.
	Warn func(profile.Warning)
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger { return &Merger{opt: opt} }

// Added says what one profile brought.
type Added struct {
	Functions int    // that were added
	Skipped   int    // left out because their checksums contradict earlier ones
	Count     uint64 // sum of their totals, unweighted, modulo 2^64
}

// Add adds a profile with a weight of at least 1. Profiles of different kinds
// cannot meet: contexts with none, probes with lines. A function whose checksum is another one than
// that of the profiles before is left out: it is of another build.
func (m *Merger) Add(name string, p *Profile, weight uint64) (added Added, err error) {
	if err := m.admit(name, p); err != nil {
		return added, err
	}
	for _, f := range p.InMapOrder() {
		if m.opt.Rename != nil {
			f = f.renamed(m.opt.Rename)
		}
		r := m.sum.add(f, weight)
		if r&mismatched != 0 {
			added.Skipped++
			m.warn(name, f, llvmerr.SampleHash)
			continue
		}
		added.Functions++
		added.Count += f.Total
		if r&overflowed != 0 {
			m.warn(name, f, llvmerr.SampleOverflow)
		}
	}
	if len(p.Symbols) > 0 {
		m.symbols = append(m.symbols, p.Symbols...)
		slices.Sort(m.symbols)
		m.symbols = slices.Compact(m.symbols)
	}
	return added, nil
}

// renamed returns a copy with other names.
func (f *Function) renamed(rename func(string) string) *Function {
	name := func(n Name) Name {
		if text, ok := n.Text(); ok {
			return NameOf(rename(text))
		}
		return n
	}
	c := &Function{Name: name(f.Name), Total: f.Total, Head: f.Head}
	for _, s := range f.Body {
		to := c.sampleAt(s.Location)
		add(&to.Count, s.Count, 1)
		for _, t := range s.Targets {
			to.Targets, _ = addTarget(to.Targets, name(t.Name), t.Count, 1)
		}
	}
	for _, site := range f.Callsites {
		callee := site.Callee.renamed(rename)
		c.calleeAt(site.Location, callee.Name, newFunction).add(callee, 1)
	}
	return c
}

func (m *Merger) warn(file string, f *Function, why error) {
	if m.opt.Warn != nil {
		m.opt.Warn(profile.Warning{File: file, Function: f.Label(), Err: why})
	}
}

// A KindError is the cause of an error about profiles of kinds that cannot meet.
type KindError struct{ Differ Kind }

// Error says in which kinds the profiles differ.
func (e *KindError) Error() string {
	return "one profile is " + e.Differ.String() + ", the other is not"
}

// Unwrap returns [profile.ErrMismatch].
func (e *KindError) Unwrap() error { return profile.ErrMismatch }

// admit returns an error if a profile cannot be added for its kind. The kind of the result is
// without [Partial], as in LLVM; a text profile decides anew whether it is of the others of noted.
func (m *Merger) admit(name string, p *Profile) error {
	const noted = PreInlined | FlowDiscriminators
	kind := p.Kind
	if differ := (m.kind ^ kind) & (ContextSensitive | ProbeBased); m.any && differ != 0 {
		return flaw.InFile(flaw.In("header").Field("kind").Got(kind.String()).
			Want("a profile that can be merged with one that is "+m.kind.String()).Because(&KindError{differ}), name)
	}
	if !p.text {
		kind |= m.kind & noted
	}
	m.any, m.kind = true, kind&^Partial
	return nil
}

// Profile returns the sum. Nothing may be added afterwards.
func (m *Merger) Profile() *Profile {
	p := &Profile{Kind: m.kind, Symbols: m.symbols}
	p.setFunctions(&m.sum)
	return p
}
