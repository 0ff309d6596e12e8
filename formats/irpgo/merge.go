package irpgo

import (
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/mt19937"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// MergeOptions adjust a [Merger]. The zero value merges exactly.
type MergeOptions struct {
	// LLVMCompat merges as llvm-profdata 22 does, with its dependence on the order of inputs: a value first seen in
	// a later input is not weighted, each site is cut to 255 values after every step, what precedes the damage in a
	// broken input stays merged, and front-end and IR profiles mix. Without it the result is the same for any
	// grouping of the inputs.
	LLVMCompat bool
	// AllowMixed lets profiles of different kinds merge (front end with IR, single-byte coverage with counts,
	// entry-first with others), as LLVM does. See [Variant.Kind].
	AllowMixed bool
	// KeepVTableNames keeps the names of virtual tables in the result.
	KeepVTableNames bool
	// KeepSymbols keeps every name the inputs know, so that the text writer
	// can print value targets that have no record of their own.
	KeepSymbols bool
	// TraceReservoir is the number of temporal traces kept; 0 means 100, negative none. Of more traces an exact
	// merge keeps a sample that the ids of the inputs and the traces decide, see [Merger.AddAt].
	TraceReservoir int
	// MaxTraceLength is the number of functions kept of a trace; 0 means 10000, negative drops all traces.
	MaxTraceLength int
	// Rename gives functions other names before they meet; nil leaves them theirs. The
	// targets of calls and the functions of traces keep their names.
	Rename func(name string) string
	// Like is a Merger that has read, or is reading, profiles of the same
	// binaries. Both share the names and the catalogs of profiles. It may be nil.
	Like *Merger
	// Warn gets a warning for every record that could not be merged whole; nil drops
	// the warnings. A Merger calls it from the goroutine that calls Add.
	Warn func(profile.Warning)
}

// Added says what one input contributed.
type Added struct {
	Records int    // records merged
	Skipped int    // records left out because they contradict an earlier one
	Count   uint64 // sum of the counters merged, unweighted, saturating
	// Layout is a number that profiles with the same functions in the same order have in
	// common; 0 if it is not known whether others have them.
	Layout int
}

// Merger adds profiles up (InstrProfWriter). It does no I/O and keeps one
// accumulator, however many inputs there are.
//
// Mergers are not safe for concurrent use. For parallel merging give each worker a [Merger.Fork], add with
// [Merger.AddAt], and [Merger.Merge] the forks into the first.
type Merger struct {
	opt       MergeOptions
	variant   Variant
	sums      accumulator
	binaryIDs map[string]struct{}
	vtables   map[string]struct{}
	symbols   Symtab
	sampler   traceSampler
	next      int             // index of the next input of Add: the greatest so far, plus 1
	memprof   *memprof.Merger // nil until an input has a heap profile
	names     *nameCache      // shared by all forks
	catalogs  *catalogCache   // shared by all forks; nil makes no use of catalogs

	numbers numbers // memory for the numbers of an input
	spare   catalog // memory for a catalog that is not kept
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger {
	orDefault := func(n, def int) int {
		if n == 0 {
			return def
		}
		return max(n, 0)
	}
	m := &Merger{
		opt:       opt,
		sums:      accumulator{policy: mergePolicy{opt.LLVMCompat}},
		binaryIDs: make(map[string]struct{}),
		vtables:   make(map[string]struct{}),
	}
	limits := traceLimits{orDefault(opt.TraceReservoir, 100), orDefault(opt.MaxTraceLength, 10000)}
	if opt.LLVMCompat {
		m.sampler = &reservoir{traceLimits: limits, rng: mt19937.New(mt19937.DefaultSeed)}
	} else {
		m.sampler = &ranking{traceLimits: limits}
	}
	if opt.Like != nil {
		m.names, m.catalogs = opt.Like.names, opt.Like.catalogs
		m.catalogs.shared.Store(true)
	} else {
		m.names, m.catalogs = newNameCache(), newCatalogCache()
	}
	return m
}

// Add merges r with the given weight, at least 1. Unless merging is
// LLVM-compatible, an input that turns out to be broken leaves no trace.
func (m *Merger) Add(r *Reader, weight uint64) (Added, error) {
	return m.AddAt(m.next, uint64(m.next), r, weight)
}

// AddAt is [Merger.Add] for the input with the given index, from 0 up, in the order of
// inputs. The index must be unique across forks. id identifies the input for the sample of
// temporal traces; it must not depend on how the merge is split.
func (m *Merger) AddAt(index int, id uint64, r *Reader, weight uint64) (added Added, err error) {
	m.next = max(m.next, index+1)
	variant := m.variant
	if !r.onlyMemProf() {
		if variant, err = m.mergeVariant(r.Info.Variant); err != nil {
			return added, flaw.InFile(err, r.Name)
		}
	}
	if raw, ok := r.dec.(*rawReader); ok {
		raw.cache = m.names
		if spare := m.spare.raw; spare != nil { // the profile before is added, so its map is free
			raw.addrs, spare.addrs = spare.addrs, addressMap{}
		}
	}
	var heap *memprof.Profile
	var heapErr error
	part, partial := r.dec.(*partialReader)
	x := &addition{weight: weight, seq: uint64(index) << 32, warn: m.warner(r.Name)}
	added, ok := m.addByCatalog(r, x)
	if !ok {
		if !m.opt.LLVMCompat && !partial {
			if err = r.readable(); err != nil {
				return added, err
			}
		}
		if heap, heapErr = r.memProf(); heapErr != nil && !m.opt.LLVMCompat {
			return added, heapErr
		}
		added, err = m.addRecords(r, x)
		m.addNames(r, false)
	}
	m.variant = variant
	if partial {
		m.next = max(m.next, index+part.inputs)
		m.sampler.merge(part.ranking(index, weight))
	} else if traces, stream := r.weightedTraces(weight); len(traces) > 0 {
		m.sampler.add(index, id, traces, stream, r.Info.Format == FormatRaw)
	}
	if err != nil {
		return added, err
	}
	m.checkTotal(r, added)
	for _, id := range r.Info.BinaryIDs {
		if _, ok := m.binaryIDs[string(id)]; !ok { // the lookup makes no string
			m.binaryIDs[string(id)] = struct{}{}
		}
	}
	if heap != nil {
		return added, m.AddMemProf(r.Name, heap, weight)
	}
	return added, heapErr
}

// weightedTraces is [Reader.Traces] of a profile that is added with a weight. Only the
// traces of raw profiles get the weight; other traces have weights of their own.
func (r *Reader) weightedTraces(weight uint64) ([]Trace, uint64) {
	if !r.Info.Variant.Has(HasTemporal) {
		return nil, 0
	}
	traces, stream := r.Traces()
	if r.Info.Format == FormatRaw {
		for i := range traces {
			traces[i].Weight = weight
		}
	}
	return traces, stream
}

// addByCatalog adds a profile that has a catalog and reports whether it did; if not, nothing has happened.
func (m *Merger) addByCatalog(r *Reader, x *addition) (added Added, ok bool) {
	from, ok := r.dec.(catalogSource)
	n := &m.numbers
	if !ok || m.catalogs == nil || m.opt.Rename != nil || !m.catalogs.find(from, n, &m.spare) {
		return added, false
	}
	added, got := m.sums.addProfile(n, x)
	if got == refused {
		return added, false
	}
	if raw, ok := r.dec.(*rawReader); ok {
		raw.stamps = n.stampsOf() // as reading the records leaves them
		if raw.opt.Warn != nil && !raw.opt.Lenient {
			raw.remarkOnEarlierRuns(n.earlierTargets())
		}
	}
	added.Layout, r.Info.NameRefs = n.catalog.number, n.catalog.nameRefs
	m.addNames(r, got == known)
	return added, true
}

// addRecords adds all records, up to the first that cannot be read.
func (m *Merger) addRecords(r *Reader, x *addition) (added Added, err error) {
	part, partial := r.dec.(*partialReader)
	first := x.seq
	for rec, err := range r.ReusedRecords() {
		if err != nil {
			return added, err
		}
		x.Record, x.ref, x.device = rec, r.dec.nameRef(), r.dec.uniformCounters()
		if m.opt.Rename != nil {
			rec.Name, x.ref = m.opt.Rename(rec.Name), 0
		}
		if partial {
			x.seq, x.merged = first+part.record.seq, part.record.merged
		}
		if m.sums.addRecord(x) {
			added.Records++
			for _, c := range rec.Counts {
				added.Count = saturate.Add(added.Count, c)
			}
		} else {
			added.Skipped++
		}
		x.seq++
	}
	return added, nil
}

func (m *Merger) empty() bool { return m.sums.empty() }

// addNames keeps the names that the caller asked for. known says that another profile of
// the binary has named the functions already.
func (m *Merger) addNames(r *Reader, known bool) {
	if m.opt.KeepSymbols && !known {
		for ref, n := range r.Symbols().index() {
			m.symbols.add(ref, n)
		}
	}
	// A known binary lists no further vtables. The names of a raw profile that has
	// its catalog from another one are not even decompressed yet.
	if !m.opt.KeepVTableNames && !m.opt.KeepSymbols || known && r.Info.Format == FormatRaw {
		return
	}
	for _, n := range r.dec.vtableNames() {
		if m.opt.KeepVTableNames {
			m.vtables[n] = struct{}{}
		}
		if m.opt.KeepSymbols {
			m.symbols.learn(n)
		}
	}
}

// mergeVariant returns the variant of the profile after an input with variant v, or an
// error if the variants must not be mixed (InstrProfWriter::mergeProfileKind).
func (m *Merger) mergeVariant(v Variant) (Variant, error) {
	v &^= DebugInfo | HasMemProf
	have := m.variant
	if have == 0 && (m.opt.LLVMCompat || m.empty()) {
		return v, nil
	}
	conflict := !m.opt.AllowMixed && have.Kind() != v.Kind()
	if m.opt.LLVMCompat {
		const blocks = EntryFirst | LoopEntries
		conflict = (have^v)&FrontEnd != 0 || have.Has(EntryOnly) && v&blocks != 0 || v.Has(EntryOnly) && have&blocks != 0
	}
	if conflict {
		return 0, flaw.In("header").Field("profile variant").Got(v.String()).
			Want("what can be merged with " + have.String()).Because(&llvmerr.Error{Code: llvmerr.MixedKinds})
	}
	return have | v, nil
}

// warner returns the function that warns of records of a file.
func (m *Merger) warner(file string) warner {
	return func(function string, code llvmerr.Code) {
		if m.opt.Warn != nil {
			m.opt.Warn(profile.Warning{File: file, Function: function, Err: &llvmerr.Error{Code: code}})
		}
	}
}

// Fork returns an empty Merger for another worker, with the options of m. Only exact merging may be forked.
func (m *Merger) Fork() *Merger {
	opt := m.opt
	opt.Like = m
	return NewMerger(opt)
}

// Merge folds another Merger into m and leaves the other unusable. Under LLVMCompat it does what llvm-profdata does
// when it joins the results of two threads.
func (m *Merger) Merge(o *Merger) error {
	if o.variant != 0 || !o.empty() { // else a fork that got no input
		variant, err := m.mergeVariant(o.variant)
		if err != nil {
			return err
		}
		m.variant = variant
	}
	m.next = max(m.next, o.next)
	m.sampler.merge(o.sampler)
	if m.opt.LLVMCompat {
		m.sums.mergeContext(&o.sums, uint64(m.next)<<32, m.warner(""))
		m.next++
	} else {
		m.sums.mergeFork(&o.sums, m.warner(""))
	}
	if err := m.mergeMemProf(o); err != nil {
		return err
	}
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
