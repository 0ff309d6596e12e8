package irpgo

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/profile"
)

// MergeOptions adjust a [Merger]. The zero value merges exactly.
type MergeOptions struct {
	// LLVMCompat merges as llvm-profdata 22 does, with its dependence on the
	// order of inputs: a value first seen in a later input is not weighted,
	// each site is cut to 255 values after every step, what precedes the
	// damage in a broken input stays merged, and front-end and IR profiles
	// mix. Without it the result is the same for any grouping of the inputs.
	LLVMCompat bool
	// AllowMixed lets profiles of different levels merge (front end with IR,
	// single-byte coverage with counts), as LLVM does.
	AllowMixed bool
	// KeepVTableNames keeps the names of virtual tables in the result.
	KeepVTableNames bool
	// KeepSymbols keeps every name the inputs know, so that the text writer
	// can print value targets that have no record of their own.
	KeepSymbols bool
	// TraceReservoir is the number of temporal traces kept; 0 means 100,
	// negative none.
	TraceReservoir int
	// MaxTraceLength is the number of functions kept of a trace; 0 means
	// 10000, negative drops all traces.
	MaxTraceLength int
	// Rename gives functions other names before they meet, see [Remapping];
	// nil leaves them theirs. The targets of calls and the functions of traces
	// keep their names.
	Rename func(name string) string
	// Warn is told of every record that could not be merged whole; nil drops
	// the warnings. A Merger calls it from the goroutine that calls Add.
	Warn func(Warning)
}

// Added says what one input brought.
type Added struct {
	Records int    // records merged
	Skipped int    // records left out because they contradict an earlier one
	Count   uint64 // sum of the counters merged, unweighted, saturating
}

// Merger adds profiles up (InstrProfWriter). It does no I/O and keeps one
// accumulator, however many inputs there are.
//
// Mergers are not safe for concurrent use. For parallel merging give each
// worker a [Merger.Fork], add with [Merger.AddAt], and [Merger.Merge] the
// forks into the first.
type Merger struct {
	opt       MergeOptions
	variant   Variant
	functions accFunctions
	binaryIDs map[string]struct{}
	vtables   map[string]struct{}
	symbols   Symtab
	sampler   *traceSampler
	next      int             // index of the next input of Add
	names     *nameCache      // shared by all forks
	memprof   *memprof.Merger // nil until an input has a heap profile

	// The fast way, see shape.go.
	shapes *shapeRegistry // shared by all forks
	sums   map[*shape]*shapeSum
	shaped shapedProfile // of the input that is being added
	plain  bool          // only the general way from here on
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger {
	orDefault := func(n, def int) int {
		if n == 0 {
			return def
		}
		return max(n, 0)
	}
	return newMerger(opt, newTraceSampler(orDefault(opt.TraceReservoir, 100), orDefault(opt.MaxTraceLength, 10000)), newShapeRegistry(), newNameCache())
}

func newMerger(opt MergeOptions, sampler *traceSampler, shapes *shapeRegistry, names *nameCache) *Merger {
	return &Merger{
		opt:       opt,
		functions: newAccFunctions(),
		binaryIDs: make(map[string]struct{}),
		vtables:   make(map[string]struct{}),
		sampler:   sampler,
		shapes:    shapes,
		names:     names,
		sums:      make(map[*shape]*shapeSum),
	}
}

// Fork returns an empty Merger for another worker. Its options are those of
// m; the temporal traces of all forks go into one sample. Only exact merging
// may be forked.
func (m *Merger) Fork() *Merger { return newMerger(m.opt, m.sampler, m.shapes, m.names) }

// Add merges r with the given weight, at least 1. Unless merging is
// LLVM-compatible, an input that turns out to be broken leaves no trace.
func (m *Merger) Add(r *Reader, weight uint64) (Added, error) {
	m.next++
	return m.AddAt(m.next-1, r, weight)
}

// AddAt is [Merger.Add] for the input with the given index in the order of
// inputs. Over all forks, every index from 0 up must be added or skipped
// ([Merger.Skip]) once, in ascending order within each fork.
func (m *Merger) AddAt(index int, r *Reader, weight uint64) (added Added, err error) {
	var traces []Trace
	var stream uint64
	raw, _ := r.dec.(*rawReader)
	if raw != nil {
		raw.cache = m.names
	}
	defer func() { m.sampler.admit(index, traces, stream) }()
	variant := m.variant
	if !r.onlyMemProf() {
		if variant, err = m.mergeVariant(r.Info().Variant); err != nil {
			return added, profile.InFile(err, r.Name())
		}
	}
	if fast, trace, ok := m.addShaped(index, r, weight); ok {
		m.variant = variant
		if r.Info().Format == FormatIndexed {
			traces, stream = r.Traces()
		} else {
			for i := range trace {
				trace[i].Weight = weight
			}
			traces, stream = trace, uint64(len(trace))
		}
		m.addBinaryIDs(r)
		m.checkTotal(r, fast)
		return fast, nil
	}
	binary, _ := r.dec.(binaryDecoder)
	sound := false
	if m.opt.LLVMCompat {
		// LLVM's result depends on the order in which records meet, so sums of
		// a shape and other records must not be built up side by side.
		m.plain = true
		m.flush()
	} else if sound = binary != nil && binary.sound(m.functions.knows()); !sound {
		for _, err := range r.Records() {
			if err != nil {
				return added, err
			}
		}
	}
	heap, heapErr := r.memProf()
	if heapErr != nil && !m.opt.LLVMCompat {
		return added, heapErr
	}
	m.variant = variant
	n := uint64(0)
	if binary != nil {
		binary.intern(m.functions.guess)
	}
	if sound && raw != nil && !m.plain {
		raw.direct = m.directly(r, raw, index, weight, &added, &n)
		defer func() { raw.direct = nil }()
	}
	for rec, recErr := range r.Records() {
		if recErr != nil {
			err = recErr
			break
		}
		ref := uint64(0)
		if binary != nil {
			ref = binary.nameRef()
		}
		if m.opt.Rename != nil {
			rec.Name, ref = m.opt.Rename(rec.Name), 0
		}
		if m.addRecord(rec, ref, weight, uint64(index)<<32|n, r.Name()) {
			added.Records++
			for _, c := range rec.Counts {
				added.Count = addSaturating(added.Count, c)
			}
		} else {
			added.Skipped++
		}
		n++
	}
	m.addNames(r)
	if r.Info().Variant.Has(HasTemporal) {
		traces, stream = r.Traces()
		if r.Info().Format == FormatRaw {
			for i := range traces {
				traces[i].Weight = weight
			}
		}
	}
	if err == nil {
		m.checkTotal(r, added)
		m.addBinaryIDs(r)
		if err = heapErr; heap != nil {
			err = m.AddMemProf(r.Name(), heap, weight)
		}
	}
	return added, err
}

func (m *Merger) addBinaryIDs(r *Reader) {
	for _, id := range r.Info().BinaryIDs {
		if _, ok := m.binaryIDs[string(id)]; !ok {
			m.binaryIDs[string(id)] = struct{}{}
		}
	}
}

// empty reports whether no record was merged yet.
func (m *Merger) empty() bool { return len(m.functions.order) == 0 && len(m.sums) == 0 }

// Skip says that the input with this index will not be added.
func (m *Merger) Skip(index int) { m.sampler.admit(index, nil, 0) }

func (m *Merger) addNames(r *Reader) {
	if m.opt.KeepVTableNames {
		for _, n := range r.VTableNames() {
			m.vtables[n] = struct{}{}
		}
	}
	if m.opt.KeepSymbols {
		for ref, n := range r.Symbols().index() {
			m.symbols.add(ref, n)
		}
	}
}

// mergeVariant returns the variant of the profile after an input with variant
// v, or an error if they must not meet (InstrProfWriter::mergeProfileKind).
func (m *Merger) mergeVariant(v Variant) (Variant, error) {
	v &^= DebugInfo | HasMemProf
	have := m.variant
	if have == 0 && (m.opt.LLVMCompat || m.empty()) {
		return v, nil
	}
	conflict := !m.opt.AllowMixed && have.Conflicts(v)
	if m.opt.LLVMCompat {
		conflict = (have^v)&FrontEnd != 0 || have.entryOnlyConflict(v)
	}
	if conflict {
		return 0, fail("header", -1, -1, CodeMixedKinds, "", "profile variant", v.String(),
			"what can be merged with "+have.String())
	}
	return have | v, nil
}

// addRecord merges src, whose name has the given reference unless that is 0,
// and reports whether it was taken.
func (m *Merger) addRecord(src *Record, ref, weight, seq uint64, file string) bool {
	f := m.functions.get(src.Name, ref, seq)
	f.seq = min(f.seq, seq) // sums of a shape come late
	taken, reported := true, false
	// At most one warning per function and input.
	warn := func(code Code) {
		if !reported && m.opt.Warn != nil {
			m.opt.Warn(Warning{File: file, Function: src.Name, Err: &InstrError{Code: code}})
		}
		reported = true
		taken = taken && code == CodeCounterOverflow
	}
	dst := f.find(src.Hash)
	switch {
	case dst == nil:
		dst = m.newRecord(src, weight, seq, warn)
		f.records = append(f.records, dst)
	case m.opt.LLVMCompat:
		dst.merge(src, weight, true, warn)
	default:
		if r := dst.rival(src); r != nil {
			r.seq = min(r.seq, seq)
			r.merge(src, weight, false, warn)
		} else {
			dst.rivals = append(dst.rivals, m.newRecord(src, weight, seq, warn))
		}
	}
	if m.opt.LLVMCompat {
		dst.sortValues()
	}
	return taken
}

// newRecord copies src, scaled (InstrProfRecord::scale).
func (m *Merger) newRecord(src *Record, weight, seq uint64, warn func(Code)) *accRecord {
	r := m.functions.newRecord()
	r.Name, r.Hash, r.seq = src.Name, src.Hash, seq
	r.Counts = m.functions.counts.copy(src.Counts)
	if src.Bitmap != nil {
		r.Bitmap = slices.Clone(src.Bitmap)
	}
	r.Values = src.Values.clone()
	if weight == 1 || !m.opt.LLVMCompat && r.Pseudo() != 0 {
		return r
	}
	for i, c := range r.Counts {
		hi, lo := bits.Mul64(c, weight)
		if hi != 0 || lo > maxCount {
			lo = maxCount
			warn(CodeCounterOverflow)
		}
		r.Counts[i] = lo
	}
	for _, sites := range r.Values {
		for _, site := range sites {
			for i := range site {
				hi, lo := bits.Mul64(site[i].Count, weight)
				if hi != 0 {
					lo = 1<<64 - 1
					warn(CodeCounterOverflow)
				}
				site[i].Count = lo
			}
		}
	}
	return r
}

// clone copies the sites of v into one block of memory.
func (v *Values) clone() Values {
	var out Values
	if v.Empty() {
		return out
	}
	sites, values := 0, 0
	for _, k := range v {
		sites += len(k)
		for _, s := range k {
			values += len(s)
		}
	}
	siteBlock := make([]ValueSite, 0, sites)
	valueBlock := make([]ValueData, 0, values)
	for k, in := range v {
		if len(in) == 0 {
			continue
		}
		start := len(siteBlock)
		for _, s := range in {
			at := len(valueBlock)
			valueBlock = append(valueBlock, s...)
			siteBlock = append(siteBlock, valueBlock[at:len(valueBlock):len(valueBlock)])
		}
		out[k] = siteBlock[start:len(siteBlock):len(siteBlock)]
	}
	return out
}

// Merge folds another Merger into m and leaves the other unusable. Under
// LLVMCompat it does what llvm-profdata does when it joins the results of two
// threads.
func (m *Merger) Merge(o *Merger) error {
	if o.variant != 0 || !o.empty() { // else a fork that got no input
		variant, err := m.mergeVariant(o.variant)
		if err != nil {
			return err
		}
		m.variant = variant
	}
	if m.opt.LLVMCompat {
		m.flush()
		o.flush()
		m.mergeContext(o)
	} else {
		m.mergeFork(o)
	}
	m.mergeMemProf(o)
	for id := range o.binaryIDs {
		m.binaryIDs[id] = struct{}{}
	}
	for n := range o.vtables {
		m.vtables[n] = struct{}{}
	}
	for ref, n := range o.symbols.index() {
		m.symbols.add(ref, n)
	}
	return nil
}

// mergeContext is InstrProfWriter::mergeRecordsFromWriter.
func (m *Merger) mergeContext(o *Merger) {
	for _, f := range o.sorted() {
		records := make([]*Record, len(f.records))
		for i, r := range f.records {
			records[i] = &r.Record
		}
		for _, r := range recordOrder(records, releaseOf(22)) {
			m.addRecord(r, f.ref, 1, uint64(m.next)<<32|f.seq, "")
		}
	}
	m.next++
	m.sampler.add(o.sampler.traces, o.sampler.stream)
}

// mergeFork folds the accumulators of a fork in without copying them.
func (m *Merger) mergeFork(o *Merger) {
	for s, from := range o.sums {
		if to := m.sums[s]; to != nil {
			to.join(from, m)
		} else {
			m.sums[s] = from
		}
	}
	if len(m.functions.order) == 0 {
		m.functions = o.functions
		return
	}
	for _, from := range o.functions.order {
		to, found := m.functions.adopt(from)
		if !found {
			continue
		}
		to.seq = min(to.seq, from.seq)
		for _, r := range from.records {
			dst := to.find(r.Hash)
			if dst == nil {
				to.records = append(to.records, r)
				continue
			}
			for _, in := range append([]*accRecord{r}, r.rivals...) {
				if same := dst.rival(&in.Record); same != nil {
					if in.seq < same.seq {
						// Of pseudo counts the first record's values stand.
						same.Record, in.Record = in.Record, same.Record
						same.seq = in.seq
					}
					same.merge(&in.Record, 1, false, func(code Code) {
						if m.opt.Warn != nil {
							m.opt.Warn(Warning{Function: in.Name, Err: &InstrError{Code: code}})
						}
					})
				} else {
					in.rivals = nil
					dst.rivals = append(dst.rivals, in)
				}
			}
		}
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

// Profile returns the merged profile, which takes over the Merger's memory:
// nothing may be added afterwards. See [Merger.Finish] for when it is only to
// be written.
func (m *Merger) Profile() *Profile { return m.Finish().Profile() }

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
		first.merge(&o.Record, 1, false, func(code Code) {
			if m.opt.Warn != nil {
				m.opt.Warn(Warning{Function: o.Name, Err: &InstrError{Code: code}})
			}
		})
	}
	return first
}

func addSaturating(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return 1<<64 - 1
	}
	return sum
}
