package sampleprof

import (
	"cmp"
	"maps"
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
	return to.add(f, weight, Callsite.before)
}

// add adds weight·o (FunctionSamples::merge). A function with another checksum is left out whole,
// unless callsites are told apart by checksum.
func (f *Function) add(o *Function, weight uint64, before func(a, b Callsite) bool) (r result) {
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
	f.Callsites = withLocations(f.Callsites, o.Callsites, emptyCallsite, before)
	for i, j := 0, 0; j < len(o.Callsites); i++ {
		if c := &f.Callsites[i]; !before(*c, o.Callsites[j]) {
			r |= c.Callee.add(o.Callsites[j].Callee, weight, before)
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

func (c Callsite) before(o Callsite) bool { return c.compare(&o) < 0 }

// ofBuildBefore orders callsites by checksum, too.
func (c Callsite) ofBuildBefore(o Callsite) bool {
	return cmp.Or(c.compare(&o), cmp.Compare(c.Callee.Checksum, o.Callee.Checksum)) < 0
}

func emptyCallsite(c *Callsite) Callsite {
	return Callsite{c.Location, &Function{Name: c.Callee.Name, Checksum: c.Callee.Checksum, Attributes: c.Callee.Attributes}}
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
	*to = withLocations(*to, targets, func(t *Target) Target { return Target{Name: t.Name} }, Target.before)
	for i, j := 0, 0; j < len(targets); i++ {
		if t := &(*to)[i]; t.Name == targets[j].Name {
			if add(&t.Count, targets[j].Count, weight) {
				r |= overflowed
			}
			j++
		}
	}
	return r
}

func (t Target) before(o Target) bool { return t.compare(&o) < 0 }

// A Merger adds profiles up. It does no I/O, and its memory does not depend on the number of
// profiles. Make one with [NewMerger]. It is not safe for concurrent use: give each worker one,
// and [Merger.Merge] them.
type Merger struct {
	opt     MergeOptions
	sum     functionMap         // under LLVM's rules
	builds  map[build]*Function // otherwise
	kind    Kind
	any     bool // a profile was added
	symbols []string
	left    int
}

// A build is a function in one of several builds of a program, which have different checksums.
type build struct{ key, checksum uint64 }

// MergeOptions adjust a [Merger]. The zero value merges exactly: the result does not depend on the
// order of the profiles, nor on their grouping.
type MergeOptions struct {
	// LLVMCompat merges as llvm-profdata 22 does: of functions with different checksums the first
	// stands, and the result says of itself what the last profile said.
	LLVMCompat bool
	// Rename gives functions other names before they meet; nil leaves them theirs. A profile
	// whose functions are renamed loses contexts, checksums, attributes and virtual tables, as in LLVM.
	Rename func(name string) string
	// Warn is told of every function that is not added, or whose counts saturated; nil
	// drops the warnings.
	Warn func(profile.Warning)
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger {
	return &Merger{opt: opt, builds: make(map[build]*Function)}
}

// Added says what one profile brought.
type Added struct {
	Functions int    // that were added
	Skipped   int    // left out because their checksums contradict earlier ones, as in LLVM
	Count     uint64 // sum of their totals, unweighted, saturating
}

// AddProfile adds a profile with a weight of at least 1. The profile must not be used afterwards: the
// first one becomes the sum. Profiles of different kinds cannot meet: contexts with none, probes with lines; the cause of the error
// is a *[KindError].
func (m *Merger) AddProfile(name string, p *Profile, weight uint64) (added Added, err error) {
	if err := m.Accepts(name, p); err != nil {
		return added, err
	}
	m.note(p)
	functions := p.Functions
	if m.opt.LLVMCompat {
		functions = p.InMapOrder()
	}
	first := m.empty() && weight == 1 && m.opt.Rename == nil // which may give two functions one name
	for _, f := range functions {
		if m.opt.Rename != nil {
			f = f.renamed(m.opt.Rename)
		}
		if first {
			m.take(f)
			added.Functions++
			add(&added.Count, f.Total, 1)
			continue
		}
		r := m.addFunction(f, weight)
		if r&mismatched != 0 {
			added.Skipped++
			m.warn(name, f, llvmerr.SampleHash)
			continue
		}
		added.Functions++
		add(&added.Count, f.Total, 1)
		if r&overflowed != 0 {
			m.warn(name, f, llvmerr.SampleOverflow)
		}
	}
	m.addSymbols(p.Symbols)
	return added, nil
}

func (m *Merger) empty() bool { return m.sum.order.Len() == 0 && len(m.builds) == 0 }

// take makes a function of the first profile one of the sum. Those of later ones are copied: they
// lie among others that would stay in memory with them.
func (m *Merger) take(f *Function) {
	if m.opt.LLVMCompat {
		m.sum.get(f)
	} else {
		m.builds[build{f.key(), f.Checksum}] = f
	}
}

// addFunction adds weight·f. It does not keep f, but for its names and context.
func (m *Merger) addFunction(f *Function, weight uint64) result {
	if m.opt.LLVMCompat {
		return m.sum.add(f, weight)
	}
	key := build{f.key(), f.Checksum}
	to := m.builds[key]
	if to == nil {
		to = &Function{Name: f.Name, Context: f.Context}
		m.builds[key] = to
	}
	if to.Name.text == "" { // of a profile with GUIDs
		to.Name, to.Context = f.Name, f.Context
	}
	to.Attributes |= f.Attributes
	return to.add(f, weight, Callsite.ofBuildBefore)
}

func (m *Merger) addSymbols(names []string) {
	if len(names) > 0 {
		m.symbols = append(m.symbols, names...)
		slices.Sort(m.symbols)
		m.symbols = slices.Compact(m.symbols)
	}
}

// Merge adds what another Merger has added. Neither may be of LLVM's rules, and the other may not be
// used after.
func (m *Merger) Merge(o *Merger) error {
	if !o.any {
		return nil
	}
	p := &Profile{Kind: o.kind}
	if err := m.Accepts("", p); err != nil {
		return err
	}
	m.note(p)
	for _, f := range o.builds {
		if m.addFunction(f, 1)&overflowed != 0 {
			m.warn("", f, llvmerr.SampleOverflow)
		}
	}
	m.addSymbols(o.symbols)
	return nil
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
		to := Sample{Location: s.Location, Count: s.Count}
		for _, t := range s.Targets {
			to.Targets = append(to.Targets, Target{name(t.Name), t.Count})
		}
		c.Body = append(c.Body, to)
	}
	for _, site := range f.Callsites {
		c.Callsites = append(c.Callsites, Callsite{site.Location, site.Callee.renamed(rename)})
	}
	c.tidy()
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

// Accepts returns the error of [Merger.AddProfile] about a profile of a kind that cannot be added.
func (m *Merger) Accepts(name string, p *Profile) error {
	differ := (m.kind ^ p.Kind) & (ContextSensitive | ProbeBased)
	if !m.any || differ == 0 {
		return nil
	}
	return flaw.InFile(flaw.In("header").Field("kind").Got(p.Kind.String()).
		Want("a profile that can be merged with one that is "+m.kind.String()).Because(&KindError{differ}), name)
}

// note notes the kind of a profile. That of the result is without [Partial]. Under LLVM's rules a
// text profile decides anew whether it is of the others of noted.
func (m *Merger) note(p *Profile) {
	const noted = PreInlined | FlowDiscriminators
	kind := p.Kind
	if !p.text || !m.opt.LLVMCompat {
		kind |= m.kind & noted
	}
	m.any, m.kind = true, kind&^Partial
}

// Profile returns the sum. Nothing may be added afterwards.
func (m *Merger) Profile() *Profile {
	p := &Profile{Kind: m.kind, Symbols: m.symbols}
	if !m.opt.LLVMCompat {
		m.settle()
	}
	p.setFunctions(&m.sum)
	return p
}

// Left returns how many functions of other builds [Merger.Profile] left out, inlined ones
// included.
func (m *Merger) Left() int { return m.left }

// settle keeps of each function the build with the most samples.
func (m *Merger) settle() {
	functions := slices.Collect(maps.Values(m.builds))
	slices.SortFunc(functions, func(a, b *Function) int {
		return cmp.Or(compareContexts(a, b), byWeight(a, b))
	})
	for _, f := range functions {
		m.left += f.settle()
		if _, added := m.sum.get(f); !added {
			m.left++
		}
	}
	m.builds = nil
}

// byWeight orders builds of a function: that with the most samples first.
func byWeight(a, b *Function) int {
	return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Checksum, b.Checksum))
}

// settle keeps of each inlined function the build with the most samples.
func (f *Function) settle() (left int) {
	kept := f.Callsites[:0]
	for _, c := range f.Callsites {
		left += c.Callee.settle()
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].before(c):
			kept = append(kept, c)
			continue
		case byWeight(c.Callee, kept[last].Callee) < 0:
			kept[last] = c
		}
		left++
	}
	f.Callsites = kept
	return left
}
