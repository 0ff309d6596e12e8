package sampleprof

import (
	"io"
	"iter"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// A result says how adding a function ended. It is a set of bits; 0 is success.
type result uint8

const (
	overflowed result = 1 << iota // some count saturated
	mismatched                    // not added: its checksum differs
)

// addFunction adds f to the function with its key. It retains the names and the context of f.
func (m *functionMap) addFunction(f *Function) {
	to := m.find(f.key())
	if to == nil {
		to, _ = m.get(&Function{Name: f.Name, Context: f.Context})
		to.Attributes = f.Attributes
	}
	to.addSamples(f)
}

// addSamples adds o to f, unless their checksums differ.
func (f *Function) addSamples(o *Function) {
	p := newPacker()
	m := bodyMerger{weight: 1}
	sum, ok := m.merge(nil, p.pack(nil, f), p.pack(nil, o), false)
	if !ok {
		return
	}
	head := f.Head
	addCount(&head, o.Head, 1)
	to := packedFunction{p.number(f.Name), f.Context, head, sum}
	e := expander{names: p.names}
	*f = *e.function(&to)
}

// A Merger adds profiles up. It does no I/O, and its memory does not depend on the number of
// profiles. It is not safe for concurrent use.
type Merger struct {
	opt    MergeOptions
	sums   packedSums
	head   Profile // kind and symbols of the sum
	any    bool    // a profile was added
	memory []byte  // reused for the bodies of each file
}

// MergeOptions adjust a [Merger]. The zero value merges exactly: the result does not depend on the
// order of the profiles, nor on their grouping.
type MergeOptions struct {
	// LLVMCompat merges by the rules of llvm-profdata 22: of functions with one name but different
	// checksums, the first one stays; some flags of the kind come from the last profile.
	LLVMCompat bool
	// Rename returns the name under which a function is added; nil changes no names. As in LLVM,
	// renaming drops contexts, checksums, attributes and virtual tables.
	Rename func(name string) string
	// Warn receives a warning for each function that is not added or whose counts saturate, and
	// for each sign of damage in a file; nil drops the warnings.
	Warn func(profile.Warning)
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger {
	m := &Merger{opt: opt}
	m.sums.packer, m.sums.ofBuild = newPacker(), !opt.LLVMCompat
	m.sums.joins = !opt.LLVMCompat
	return m
}

// Added says what one profile contributed.
type Added struct {
	Functions int    // functions added
	Skipped   int    // functions left out because earlier ones have other checksums, with LLVMCompat
	Count     uint64 // sum of the counts of the profile, unweighted, modulo 2^64
}

// AddProfile adds a profile, its counts multiplied by weight, at least 1. It refuses to mix profiles
// with and without contexts, or with probes and lines.
func (m *Merger) AddProfile(name string, p *Profile, weight uint64) (added Added, err error) {
	if added, err = m.addModel(name, p, weight); err != nil {
		return added, err
	}
	added.Count = p.totals().samples
	if !m.opt.LLVMCompat {
		p.extra.addTo(m, &added, name, weight)
	}
	return added, nil
}

func (m *Merger) addModel(name string, p *Profile, weight uint64) (Added, error) {
	functions := p.Functions
	if m.opt.LLVMCompat {
		functions = p.InMapOrder()
	}
	m.sums.byLine = !m.opt.LLVMCompat && !p.Kind.ProbeBased
	return m.addFunctions(&input{name: name, profile: p, weight: weight, functions: func(yield func(*packedFunction) bool) {
		var packed packedFunction
		for _, f := range functions {
			if m.opt.Rename != nil {
				f = f.renamed(m.opt.Rename)
			}
			packed = m.sums.function(packed.body[:0], f)
			if !yield(&packed) {
				return
			}
		}
	}})
}

// AddFile is [Read] and [Merger.AddProfile] in a fraction of the time and memory.
func (m *Merger) AddFile(name string, data []byte, opt ReaderOptions, weight uint64) (Added, error) {
	if m.opt.Rename == nil {
		known, named := len(m.sums.names), len(m.sums.named)
		if p, f := readPlain(data, &opt, m.sums.nameTable, m.memory); p != nil {
			added, err := m.addPlain(name, p, f, weight)
			if err == nil {
				added.Count = f.totals.samples
				m.warnOfDoubts(name, p, &f.totals)
			} else {
				m.sums.truncate(known, named)
			}
			return added, err
		}
	}
	p, err := Read(name, data, opt)
	if err != nil {
		return Added{}, err
	}
	added, err := m.AddProfile(name, p, weight)
	if err == nil {
		t := p.totals()
		m.warnOfDoubts(name, p, &t)
	}
	return added, err
}

// addPlain adds the functions of a plain file. The sum takes over the memory of the first file.
func (m *Merger) addPlain(name string, p *Profile, f *filePacker, weight uint64) (Added, error) {
	m.memory = f.out
	if weight == 1 && len(m.sums.functions) == 0 {
		m.memory, m.sums.adopts = nil, true
		m.sums.functions = make([]packedFunction, 0, len(f.functions))
	}
	defer func() { m.sums.adopts = false }()
	return m.addFunctions(&input{name: name, profile: p, weight: weight, mapped: true, functions: func(yield func(*packedFunction) bool) {
		var packed packedFunction
		for i := range f.functions {
			packed = f.function(i)
			if !yield(&packed) {
				return
			}
		}
	}})
}

// warnOfDoubts warns of signs of damage in a file. totals are the totals of its functions.
func (m *Merger) warnOfDoubts(name string, p *Profile, totals *totals) {
	if m.opt.LLVMCompat || m.opt.Warn == nil || p.format == FormatText {
		return
	}
	if !p.Kind.ContextSensitive { // the summary would be about merged contexts
		if err := totals.compare(p.Summary); err != nil {
			p.odd = append(p.odd, err)
		}
	}
	for _, err := range p.odd {
		m.opt.Warn(profile.Warning{File: name, Err: err})
	}
}

type input struct {
	name      string
	profile   *Profile
	weight    uint64
	functions iter.Seq[*packedFunction] // each valid until the next
	mapped    bool                      // LLVM would add the functions in hash-map order; else as given
}

// addFunctions adds the functions of an input. With mapped, it also warns in hash-map order.
func (m *Merger) addFunctions(in *input) (added Added, err error) {
	if err := m.accepts(in.name, in.profile); err != nil {
		return added, err
	}
	m.addKind(in.profile)
	known := len(m.sums.functions)
	var order []uint32                           // indexes of sums, for the batch
	warnings := make(map[uint32]profile.Warning) // by index of the sum
	for f := range in.functions {
		i, fresh := m.sums.get(f)
		result := m.sums.addFunction(i, f, in.weight, fresh)
		if m.opt.LLVMCompat && (in.mapped || int(i) == known+len(order)) {
			order = append(order, i)
		}
		var why error
		if result&overflowed != 0 {
			why = llvmerr.SampleOverflow
		}
		if result&mismatched != 0 {
			added.Skipped++
			why = llvmerr.SampleHash
		} else {
			added.Functions++
		}
		if why == nil || m.opt.Warn == nil {
			continue
		}
		w := profile.Warning{File: in.name, Function: m.sums.label(f), Err: why}
		if m.opt.LLVMCompat && in.mapped {
			warnings[i] = w
		} else {
			m.opt.Warn(w)
		}
	}
	if len(warnings) > 0 {
		for i := range m.sums.mapped(order).all() {
			if w, ok := warnings[i]; ok {
				m.opt.Warn(w)
			}
		}
	}
	if m.opt.LLVMCompat && len(m.sums.functions) > known {
		m.sums.addBatch(batch{order, in.mapped})
	}
	m.head.addSymbols(in.profile.Symbols...)
	m.head.addSymbolIDs(in.profile.SymbolIDs...)
	return added, nil
}

func (f *Function) renamed(rename func(string) string) *Function {
	name := func(n Name) Name {
		if n.isID() {
			return n
		}
		return NameOf(rename(n.Text))
	}
	c := &Function{Name: name(f.Name), Total: f.Total, Head: f.Head}
	if f.Context != nil { // LLVM writes contexts without frames, which no reader accepts
		c.Context = []Frame{{Name: c.Name}}
	}
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

// accepts returns an error if the kind of the profile does not go with the profiles added before.
func (m *Merger) accepts(name string, p *Profile) error {
	if !m.any || m.head.Kind.mixes(p.Kind) {
		return nil
	}
	why := llvmerr.SampleContexts
	if m.head.Kind.ProbeBased != p.Kind.ProbeBased {
		why = llvmerr.SampleProbes
	}
	return flaw.InFile(flaw.In("header").Field("kind").Got(p.Kind.String()).
		Want("a profile that can be merged with one that is "+m.head.Kind.String()).Because(why), name)
}

// addKind updates the kind of the sum, which is never partial. In LLVM mode, a text profile resets
// PreInlined and FlowDiscriminators, and a profile in the first binary format resets FlowDiscriminators.
func (m *Merger) addKind(p *Profile) {
	kind, before := p.Kind, m.head.Kind
	kind.Partial = false
	if text := m.opt.LLVMCompat && p.format == FormatText; !text {
		kind.PreInlined = kind.PreInlined || before.PreInlined
		if !m.opt.LLVMCompat || p.format != FormatBinary {
			kind.FlowDiscriminators = kind.FlowDiscriminators || before.FlowDiscriminators
		}
	}
	m.any, m.head.Kind = true, kind
}

// Merged is the sum of a [Merger] in the Merger's own form. Writing and summarizing it takes less time
// and memory than making a [Profile] first.
type Merged struct {
	// Kind, Symbols and SymbolIDs of the sum. Callers may change them before writing.
	Kind      Kind
	Symbols   []string
	SymbolIDs []uint64
	// Functions is the number of functions; each context counts.
	Functions int
	// Left is the number of functions left out, inlined functions included. If a function has several
	// builds, which differ in their checksums, the build with the most samples stays.
	Left int
	// Nameless is the number of functions that have a GUID and no name. Compilers find them in extensible binary
	// files alone: in text and binary files, they take the number for a name.
	Nameless int

	sums   *packedSums
	left   []packedFunction
	packed *packedProfile // kind and symbols are set by writable
}

// Finish returns the sum. Nothing may be added afterwards.
func (m *Merger) Finish() *Merged {
	r := &Merged{Kind: m.head.Kind, Symbols: m.head.Symbols, SymbolIDs: m.head.SymbolIDs, sums: &m.sums}
	if s := &m.sums; s.ofBuild {
		s.nameContexts()
		s.functions, r.left, r.Left = s.splitBuilds(s.functions, r.Kind)
		order := batch{functions: make([]uint32, len(s.functions))}
		for i := range order.functions {
			order.functions[i] = uint32(i)
		}
		s.addBatch(order)
	}
	m.memory, m.sums.plain, m.sums.builds = nil, nil, nil
	r.Functions = len(m.sums.functions)
	for i := range m.sums.functions {
		if name := m.sums.names[m.sums.functions[i].name]; name.isID() {
			r.Nameless++
		}
	}
	r.packed = &packedProfile{names: m.sums.nameTable, functions: m.sums.functions, order: m.sums.inMapOrder}
	return r
}

// Profile returns the sum as a profile.
func (r *Merged) Profile() *Profile {
	order := r.sums.inMapOrder()
	known := &functionMap{order: order.keys.Clone(), functions: make([]*Function, 1+len(order.functions))}
	e := expander{names: r.sums.names}
	for i, index := range order.functions {
		known.functions[1+i] = e.function(&r.sums.functions[index])
	}
	p := &Profile{Kind: r.Kind, Symbols: r.Symbols, SymbolIDs: r.SymbolIDs}
	p.setFunctions(known)
	return p
}

// Summarize returns the summary, like [Profile.Summarize].
func (r *Merged) Summarize() *Summary { return r.writable().summarize() }

func (r *Merged) writable() *packedProfile {
	if r.packed.kind.ContextSensitive != r.Kind.ContextSensitive {
		r.packed.summary = nil
	}
	r.packed.kind, r.packed.symbols, r.packed.symbolIDs = r.Kind, r.Symbols, r.SymbolIDs
	return r.packed
}

// Write writes the sum, like [Profile.Write].
func (r *Merged) Write(w io.Writer, opt WriteOptions) error {
	if opt.Partial {
		if err := r.completePartial(&opt); err != nil {
			return err
		}
	}
	if opt.SizeLimit > 0 || opt.Format == FormatText || opt.Format == FormatGCov {
		return r.Profile().Write(w, opt)
	}
	return r.writable().write(w, &opt)
}
