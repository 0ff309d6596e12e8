package irpgo

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// Merged is what a [Merger] has added up. Where all of it came from indexed
// profiles of one program it can be written, and counted, without being built
// as a [Profile] first, which would take more time and memory than all else.
type Merged struct {
	m       *Merger
	profile Profile   // without functions as long as sum has them
	sum     *shapeSum // nil if profile is complete
}

// Contents says how much a merged profile holds.
type Contents struct {
	Functions int    // names
	Counters  int    // of all records
	Total     uint64 // sum of the counters but for pseudo counts, saturating
}

// Finish ends the merging: nothing may be added afterwards.
func (m *Merger) Finish() *Merged {
	r := &Merged{m: m, profile: Profile{
		Variant:         m.variant,
		Traces:          m.sampler.traces,
		TraceStreamSize: m.sampler.stream,
	}}
	p := &r.profile
	for id := range m.binaryIDs {
		p.BinaryIDs = append(p.BinaryIDs, []byte(id))
	}
	slices.SortFunc(p.BinaryIDs, slices.Compare)
	p.VTableNames = slices.Sorted(maps.Keys(m.vtables))
	if m.opt.KeepSymbols {
		p.Symbols = &m.symbols
	}
	if m.memprof != nil {
		p.MemProf = m.memprof.Profile()
		p.Variant |= HasMemProf
	}
	r.sum = m.soleSum()
	if r.sum == nil || r.sum.shape.indexed == nil || !r.sum.shape.indexed.distinct {
		r.build()
	}
	return r
}

// Profile returns the merged profile, which takes over the Merger's memory:
// nothing may be added afterwards. See [Merger.Finish] for when it is only to
// be written.
func (m *Merger) Profile() *Profile { return m.Finish().Profile() }

// build makes the functions.
func (r *Merged) build() {
	if r.sum != nil {
		r.profile.Functions = r.sum.asFunctions(r.m.opt.LLVMCompat)
	} else {
		r.m.flush()
		r.profile.Functions = r.m.settled()
	}
	r.sum, r.m = nil, nil
}

// Profile returns the merged profile, always the same.
func (r *Merged) Profile() *Profile {
	if r.m != nil {
		r.build()
	}
	return &r.profile
}

// WriteIndexed writes the bytes that [WriteIndexed] writes of the profile. The
// profile is built only where that is needed.
func (r *Merged) WriteIndexed(w io.Writer, opt IndexedOptions) error {
	if r.m != nil {
		x, err := newIndexedWriter(&r.profile, opt)
		if err != nil {
			return err
		}
		if t := newSumTable(x, r.sum, r.m.opt.LLVMCompat); t != nil {
			x.table = t
			return x.writeTo(w)
		}
	}
	return WriteIndexed(w, r.Profile(), opt)
}

// ChooseVersion is [ChooseIndexedVersion] for the profile.
func (r *Merged) ChooseVersion(inputs []*Info) VersionChoice {
	if r.profile.Variant.Has(IRLevel) {
		return ChooseIndexedVersion(&r.profile, inputs) // whatever the functions
	}
	return ChooseIndexedVersion(r.Profile(), inputs)
}

// Head returns the profile without its functions, if they have not been built
// yet. It is not to be changed.
func (r *Merged) Head() *Profile { return &r.profile }

// Contents counts what the profile holds.
func (r *Merged) Contents() (c Contents) {
	if r.m == nil {
		c.Functions = len(r.profile.Functions)
		for i := range r.profile.Functions {
			for _, rec := range r.profile.Functions[i].Records {
				c.add(rec.Counts)
			}
		}
		return c
	}
	s := r.sum.shape
	c.Functions = len(s.indexed.items)
	for i := range s.functions {
		f := &s.functions[i]
		c.add(r.sum.counts[f.counters : f.counters+f.count])
	}
	return c
}

func (c *Contents) add(counts []uint64) {
	c.Counters += len(counts)
	if pseudoKind(counts) != 0 {
		return
	}
	for _, n := range counts {
		c.Total = saturate.Add(c.Total, n)
	}
}

func (m *Merger) sorted() []*accFunction {
	fs := m.functions.order
	out := make([]*accFunction, len(fs))
	for i, at := range nameOrder(len(fs), func(i int) string { return fs[i].name }) {
		out[i] = fs[at]
	}
	return out
}

// settled returns the functions of the accumulator.
func (m *Merger) settled() []Function {
	out := make([]Function, 0, len(m.functions.order))
	for _, f := range m.sorted() {
		fn := Function{Name: f.name, seq: f.seq, Records: make([]*Record, 0, len(f.records)), refOf: f.name, ref: f.ref}
		for i, r := range f.records {
			f.records[i] = m.settle(r)
		}
		if !m.opt.LLVMCompat && len(f.records) > 1 {
			slices.SortFunc(f.records, func(a, b *accRecord) int { return cmp.Compare(a.seq, b.seq) })
		}
		for _, r := range f.records {
			r.sortValues()
			fn.Records = append(fn.Records, &r.Record)
		}
		out = append(out, fn)
	}
	return out
}

// settle lets the rival that appeared first stand and merges into it what the
// others can give by LLVM's rules, in order of appearance.
func (m *Merger) settle(r *accRecord) *accRecord {
	if len(r.rivals) == 0 {
		return r
	}
	all := append([]*accRecord{r}, r.rivals...)
	slices.SortFunc(all, func(a, b *accRecord) int { return cmp.Compare(a.seq, b.seq) })
	first := all[0]
	first.rivals = nil
	for _, o := range all[1:] {
		first.merge(&o.Record, 1, false, func(code Code) { m.warn("", o.Name, code) })
	}
	return first
}
