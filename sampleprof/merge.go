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
	mismatched                    // its checksum is another one
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
	f.Callsites = merged(f.Callsites, o.Callsites, before, emptyCallsite, func(to, c *Callsite) {
		r |= to.Callee.add(c.Callee, weight, before)
	})
	f.VTables = merged(f.VTables, o.VTables, VTableUses.before, emptyUses, func(to, v *VTableUses) {
		r |= addTargets(&to.VTables, v.VTables, weight)
	})
	return r &^ mismatched // of what is inlined: left out in silence, as in LLVM
}

// addBody adds the samples of weight·o but for those of inlined functions.
func (f *Function) addBody(o *Function, weight uint64) (r result) {
	f.Body = merged(f.Body, o.Body, Sample.before, emptySample, func(to, s *Sample) {
		if add(&to.Count, s.Count, weight) {
			r |= overflowed
		}
		r |= addTargets(&to.Targets, s.Targets, weight)
	})
	return r
}

// addTargets adds weight times the counts of targets.
func addTargets(to *[]Target, targets []Target, weight uint64) (r result) {
	*to = merged(*to, targets, Target.before, emptyTarget, func(to, t *Target) {
		if add(&to.Count, t.Count, weight) {
			r |= overflowed
		}
	})
	return r
}

func (s Sample) before(o Sample) bool         { return s.Compare(o.Location) < 0 }
func (v VTableUses) before(o VTableUses) bool { return v.Compare(o.Location) < 0 }
func (t Target) before(o Target) bool         { return t.compare(&o) < 0 }
func (c Callsite) before(o Callsite) bool     { return c.compare(&o) < 0 }

// ofBuildBefore orders callsites by checksum, too.
func (c Callsite) ofBuildBefore(o Callsite) bool {
	return cmp.Or(c.compare(&o), cmp.Compare(c.Callee.Checksum, o.Callee.Checksum)) < 0
}

// The places of a profile, without its counts.

func emptySample(s *Sample) Sample       { return Sample{Location: s.Location} }
func emptyUses(v *VTableUses) VTableUses { return VTableUses{Location: v.Location} }
func emptyTarget(t *Target) Target       { return Target{Name: t.Name} }
func emptyCallsite(c *Callsite) Callsite {
	return Callsite{c.Location, &Function{Name: c.Callee.Name, Checksum: c.Callee.Checksum, Attributes: c.Callee.Attributes}}
}

// merged adds each element of src to the one of its place in dst, and returns dst. Where dst has
// none, it gets an empty one. Both are in order.
func merged[T any](dst, src []T, before func(a, b T) bool, empty func(*T) T, add func(to, from *T)) []T {
	dst = withPlaces(dst, src, before, empty)
	for i, j := 0, 0; j < len(src); i++ {
		if !before(dst[i], src[j]) {
			add(&dst[i], &src[j])
			j++
		}
	}
	return dst
}

// withPlaces returns dst with an empty element for each of src that it does not have.
func withPlaces[T any](dst, src []T, before func(a, b T) bool, empty func(*T) T) []T {
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

// A Merger adds profiles up. It does no I/O, and its memory does not depend on the number
// of profiles. Make one with [NewMerger]. It is not safe for concurrent use: give each worker one,
// and [Merger.Merge] them.
type Merger struct {
	opt    MergeOptions
	sum    functionMap         // under LLVM's rules
	builds map[build]*Function // otherwise
	head   Profile             // kind and symbols of the sum
	any    bool                // a profile was added
	left   int
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

// AddProfile adds a profile with a weight of at least 1. The profile must not be used
// afterwards: the first one becomes the sum. Profiles of different kinds cannot meet:
// contexts with none, probes with lines. The cause of that error is a *[KindError].
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
	m.head.AddSymbols(p.Symbols...)
	return added, nil
}

func (m *Merger) empty() bool { return m.sum.order.Len() == 0 && len(m.builds) == 0 }

// take makes a function of the first profile one of the sum. Functions of later ones are
// copied: each lies in memory among others, which would stay with it.
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

// Merge adds what another Merger has added. Neither may be of LLVM's rules, and the other may not be
// used after.
func (m *Merger) Merge(o *Merger) error {
	if !o.any {
		return nil
	}
	if err := m.Accepts("", &o.head); err != nil {
		return err
	}
	m.note(&o.head)
	for _, f := range o.builds {
		if m.addFunction(f, 1)&overflowed != 0 {
			m.warn("", f, llvmerr.SampleOverflow)
		}
	}
	m.head.AddSymbols(o.head.Symbols...)
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
	differ := (m.head.Kind ^ p.Kind) & (ContextSensitive | ProbeBased)
	if !m.any || differ == 0 {
		return nil
	}
	return flaw.InFile(flaw.In("header").Field("kind").Got(p.Kind.String()).
		Want("a profile that can be merged with one that is "+m.head.Kind.String()).Because(&KindError{differ}), name)
}

// note notes the kind of a profile. That of the result is without [Partial]. Under LLVM's rules a
// text profile decides anew whether it is of the others of noted.
func (m *Merger) note(p *Profile) {
	const noted = PreInlined | FlowDiscriminators
	kind := p.Kind
	if !p.text || !m.opt.LLVMCompat {
		kind |= m.head.Kind & noted
	}
	m.any, m.head.Kind = true, kind&^Partial
}

// Profile returns the sum. Nothing may be added afterwards.
func (m *Merger) Profile() *Profile {
	if !m.opt.LLVMCompat {
		m.settle()
	}
	p := m.head
	p.setFunctions(&m.sum)
	return &p
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
