package irpgo

import (
	"math"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A form holds the numbers of counters, bitmap bytes and value sites of a
// record. Records of one name, hash and form can be added counter by counter
// and site by site.
type form struct {
	counters int32
	bits     int32 // bytes of bitmap
	sites    siteCounts
	pseudo   bool // the counters are a verdict, see [Record.Pseudo]
}

func formOf(r *Record) (f form) {
	f.counters, f.bits, f.pseudo = int32(len(r.Counts)), int32(len(r.Bitmap)), r.Pseudo() != 0
	for k := range r.Values {
		f.sites[k] = int32(len(r.Values[k]))
	}
	return f
}

// siteCounts is how many value sites of each kind a record has.
type siteCounts [NumValueKinds]int32

func (s *siteCounts) any() bool { return s[0]|s[1]|s[2] != 0 }
func (s *siteCounts) all() int  { return int(s[0]) + int(s[1]) + int(s[2]) }

// An entry identifies a record and locates its numbers. In an accumulator the
// offsets index the accumulator's slices, in a catalog the sections of a file.
type entry struct {
	// The fields compared for every profile come first, in one cache line.
	hash uint64
	form
	ref                  uint64 // NameRef(name)
	name                 string
	counts, bitmap, site int // where its counters, bitmap and sites begin

	seq  uint64 // first appearance: number of the input and of the record in it
	next int32  // next entry with the same reference and hash; 0 if there is none
}

// entryID is the key of the accumulator's index.
type entryID struct{ ref, hash uint64 }

// An accumulator holds the sums of all records added. When merging exactly it
// cuts no value site before the end; as LLVM, after every step.
type accumulator struct {
	policy  mergePolicy
	entries []entry
	index   map[entryID]int32 // first entry of each; nil until it is needed
	last    int               // entry that was found or made last

	counts []uint64
	bitmap []byte
	sites  []siteSum
	limit  uint64 // upper bound of all counters; maxCount if some may have saturated

	rows map[*catalog]*row
	// alone, unless nil, is the only catalog of all profiles added. entries then
	// is the catalog's slice, which must be copied before it changes.
	alone *catalog
	base  uint64 // offset of the seq of alone's entries

	visits  uint32      // of sites, see addDistinct
	places  []int32     // memory of addDistinct
	decoded []ValueData // memory of addValues
}

// mergePolicy selects exact merging or merging as LLVM does. They differ so:
//
//	                            exactly                  as LLVM
//	records of another form     each form has its own    what fits is added at
//	                            sum until the end        once, the rest is lost
//	values new to a record      weighted                 not weighted
//	pseudo counts               not weighted             weighted
//	equal values of one site    pair up by count         pair up as they stand
//	more than 255 values        cut at the end           cut after each step
type mergePolicy struct{ llvm bool }

func newAccumulator(compat bool) accumulator {
	return accumulator{policy: mergePolicy{compat}, rows: make(map[*catalog]*row)}
}

// own copies the entries out of the catalog alone and indexes them.
func (a *accumulator) own() {
	if a.index != nil {
		return
	}
	if a.alone != nil {
		a.entries = slices.Clone(a.entries)
		for i := range a.entries {
			a.entries[i].seq += a.base
		}
		a.alone, a.base = nil, 0
	}
	a.index = make(map[entryID]int32, len(a.entries))
	for i := range a.entries {
		a.index[entryID{a.entries[i].ref, a.entries[i].hash}] = int32(i)
	}
}

// link returns the index of the entry with e's name, hash and form. If there is
// none it indexes e as the next entry, which the caller must append.
func (a *accumulator) link(e *entry) int {
	id := entryID{e.ref, e.hash}
	at, ok := a.index[id]
	if !ok {
		a.index[id] = int32(len(a.entries))
		return len(a.entries)
	}
	for {
		o := &a.entries[at]
		switch {
		case o.name == e.name && o.form == e.form:
			return int(at)
		case o.next == 0:
			o.next = int32(len(a.entries))
			return len(a.entries)
		}
		at = o.next
	}
}

// lookAhead is the number of entries after the last one that find compares
// before it consults the index: programs built from one source tree share
// functions, mostly in the same order.
const lookAhead = 8

// find returns the index of the entry with the given name, hash and form. If
// only the form differs, it returns the last entry of that name and hash and
// fits is false. It returns -1 if there is neither.
func (a *accumulator) find(name string, ref, hash uint64, f *form) (at int, fits bool) {
	for i := a.last + 1; i < min(a.last+1+lookAhead, len(a.entries)); i++ {
		if e := &a.entries[i]; e.ref == ref && e.hash == hash && e.form == *f && e.name == name {
			a.last = i
			return i, true
		}
	}
	i, ok := a.index[entryID{ref, hash}]
	if !ok {
		return -1, false
	}
	at = -1
	for {
		e := &a.entries[i]
		if e.name == name {
			if at = int(i); e.form == *f {
				a.last = at
				return at, true
			}
		}
		if i = e.next; i == 0 {
			return at, false
		}
	}
}

// refOf returns NameRef(name), without hashing if the next entry has the name.
func (a *accumulator) refOf(name string) uint64 {
	if i := a.last + 1; i < len(a.entries) && a.entries[i].name == name {
		return a.entries[i].ref
	}
	return NameRef(name)
}

// add returns the index of the entry like e; a new one has only zeros.
func (a *accumulator) add(e entry) int {
	i := a.link(&e)
	if i < len(a.entries) {
		return i
	}
	e.counts, e.bitmap, e.site = len(a.counts), len(a.bitmap), len(a.sites)
	a.counts = append(a.counts, make([]uint64, e.counters)...)
	a.bitmap = append(a.bitmap, make([]byte, e.bits)...)
	a.sites = append(a.sites, make([]siteSum, e.sites.all())...)
	a.entries = append(a.entries, e)
	a.last = i
	return i
}

func (a *accumulator) countsOf(e *entry) []uint64 {
	return a.counts[e.counts : e.counts+int(e.counters) : e.counts+int(e.counters)]
}

func (a *accumulator) bitmapOf(e *entry) []byte {
	if e.bits == 0 {
		return nil
	}
	return a.bitmap[e.bitmap : e.bitmap+int(e.bits) : e.bitmap+int(e.bits)]
}

func (a *accumulator) sitesOf(e *entry) []siteSum { return a.sites[e.site : e.site+e.sites.all()] }

// touch notes that an entry is the sum of several records.
func (a *accumulator) touch(e *entry) {
	sites := a.sitesOf(e)
	for i := range sites {
		sites[i].merged = true
	}
}

// addRecord adds src. ref is the reference of its name, 0 if not known.
func (a *accumulator) addRecord(src *Record, ref, weight, seq uint64, warn func(Code)) {
	a.own()
	if ref == 0 {
		ref = a.refOf(src.Name)
	}
	f := formOf(src)
	at, fits := a.find(src.Name, ref, src.Hash, &f)
	if at < 0 || !fits && !a.policy.llvm {
		at = a.add(entry{name: src.Name, ref: ref, hash: src.Hash, form: f, seq: seq})
		a.setRecord(&a.entries[at], src, weight, warn)
		return
	}
	e := &a.entries[at]
	e.seq = min(e.seq, seq)
	a.mergeRecord(e, src, weight, warn)
}

// setRecord gives a new entry the numbers of src (InstrProfRecord::scale).
func (a *accumulator) setRecord(e *entry, src *Record, weight uint64, warn func(Code)) {
	if !a.policy.llvm && e.pseudo {
		weight = 1
	}
	counts, most := a.countsOf(e), uint64(0)
	for i, c := range src.Counts {
		most |= c
		if counts[i] = c; weight == 1 {
			continue // copied exactly, even above maxCount
		}
		counts[i] = 0
		if addCount(&counts[i], c, weight) {
			warn(CodeCounterOverflow)
		}
	}
	a.raiseLimit(most, weight)
	e.pseudo = pseudoKind(counts) != 0 // LLVM's weights turn pseudo counts into counts
	copy(a.bitmapOf(e), src.Bitmap)
	sites := a.sitesOf(e)
	for k := range src.Values {
		for i, site := range src.Values[k] {
			if a.addSite(&sites[i], site, nil, 0, weight, true) {
				warn(CodeCounterOverflow)
			}
		}
		sites = sites[len(src.Values[k]):]
	}
}

// mergeRecord adds weight·src to an entry of its name and hash, as
// InstrProfRecord::merge does. Where the forms differ it adds what it can and
// warns of the rest.
func (a *accumulator) mergeRecord(e *entry, src *Record, weight uint64, warn func(Code)) {
	counts := a.countsOf(e)
	verdict := src.Pseudo()
	switch {
	case len(counts) != len(src.Counts), e.pseudo != (verdict != 0):
		warn(CodeCountMismatch)
		return
	case e.pseudo:
		counts[0] = max(counts[0], verdict) // hot beats warm
		return
	}
	most := uint64(0)
	for i, c := range src.Counts {
		most |= c
		if addCount(&counts[i], c, weight) {
			warn(CodeCounterOverflow)
		}
	}
	a.raiseLimit(most, weight)
	bitmap := a.bitmapOf(e)
	if len(bitmap) != len(src.Bitmap) {
		warn(CodeBitmapMismatch)
		return
	}
	orBytes(bitmap, src.Bitmap)
	sites := a.sitesOf(e)
	for k, have := range e.sites {
		own := sites[:have]
		sites = sites[have:]
		if len(own) != len(src.Values[k]) {
			warn(CodeValueSiteCountMismatch)
			continue
		}
		for i := range own {
			own[i].merged = true
			if a.addSite(&own[i], src.Values[k][i], nil, 0, weight, false) {
				warn(CodeCounterOverflow)
			}
		}
	}
}

// record sets r to the record of an entry, in the accumulator's memory. sites
// holds the finished sites of all entries.
func (a *accumulator) record(r *Record, e *entry, sites []ValueSite) {
	r.Name, r.Hash, r.Counts, r.Bitmap, r.Values = e.name, e.hash, a.countsOf(e), a.bitmapOf(e), Values{}
	if !e.sites.any() {
		return
	}
	sites = sites[e.site:]
	for k, n := range e.sites {
		if n > 0 {
			r.Values[k], sites = sites[:n:n], sites[n:]
		}
	}
}

// raiseLimit raises a.limit for the addition of weight times counters that are
// at most most. It reports false if a sum may now exceed maxCount.
func (a *accumulator) raiseLimit(most, weight uint64) (fits bool) {
	high, product := bits.Mul64(most, weight)
	limit, carry := bits.Add64(a.limit, product, 0)
	if high != 0 || carry != 0 || limit > maxCount {
		a.limit = maxCount
		return false
	}
	a.limit = limit
	return true
}

// addCount adds weight·c to a counter, which saturates at 2^64−3, and reports
// whether it did.
func addCount(dst *uint64, c, weight uint64) bool {
	sum, cut := saturate.AddScaled(*dst, c, weight)
	if cut || sum > maxCount {
		*dst = maxCount
		return true
	}
	*dst = sum
	return false
}

// orBytes sets dst to its bitwise or with src, of the same length.
func orBytes(dst, src []byte) {
	for len(dst) >= 8 && len(src) >= 8 {
		le.PutUint64(dst, le.Uint64(dst)|le.Uint64(src))
		dst, src = dst[8:], src[8:]
	}
	for i := range dst {
		dst[i] |= src[i]
	}
}

// A row maps the entries of a catalog to those of an accumulator.
type row struct {
	entries  []int32
	counts   []int  // index of the first counter of each entry
	sites    []int  // index of the first site of each valued entry
	spans    []span // raw: runs of counters contiguous in the file and the accumulator
	profiles int    // profiles of the catalog added so far
}

// span is a run of n counters at index from in the file, to in the accumulator.
type span struct{ from, to, n int }

// bind returns the row of a catalog and creates the missing entries; input is
// the index of the profile. It returns nil if a record differs in form from an
// entry of its name and hash and LLVM's rules apply: they decide per record.
func (a *accumulator) bind(c *catalog, input int) *row {
	if r := a.rows[c]; r != nil {
		return r
	}
	if c.distinct && c.kept && len(a.entries) == 0 {
		return a.adopt(c, input)
	}
	a.own()
	r := &row{entries: make([]int32, len(c.entries)), counts: make([]int, len(c.entries))}
	if !a.match(c, r) {
		return nil
	}
	base := uint64(input) << 32
	for i := range c.entries {
		at := int(r.entries[i])
		if at < 0 {
			e := c.entries[i]
			e.seq, e.next = base+uint64(i), 0
			at = a.add(e)
		}
		e := &a.entries[at]
		if e.seq != base+uint64(i) {
			a.touch(e)
		}
		r.entries[i], r.counts[i] = int32(at), e.counts
	}
	r.bound(a, c)
	if c.kept {
		a.rows[c] = r
	}
	return r
}

// match sets the row's existing entries, and those that are missing to -1. It
// reports false if LLVM's rules must decide about a record, see bind.
func (a *accumulator) match(c *catalog, r *row) bool {
	var missing map[entryID]bool
	room := len(a.entries)
	for i := range c.entries {
		e := &c.entries[i]
		at, fits := a.find(e.name, e.ref, e.hash, &e.form)
		switch {
		case fits:
			r.entries[i] = int32(at)
			continue
		case !a.policy.llvm:
		case at >= 0 || missing[entryID{e.ref, e.hash}]:
			return false
		default:
			if missing == nil {
				missing = make(map[entryID]bool)
			}
			missing[entryID{e.ref, e.hash}] = true
		}
		r.entries[i] = -1
		room++
	}
	if len(a.index) == 0 {
		a.index = make(map[entryID]int32, room)
	}
	a.entries = slices.Grow(a.entries, room-len(a.entries))
	return room < math.MaxInt32
}

// adopt makes the entries of the first catalog those of an empty accumulator.
func (a *accumulator) adopt(c *catalog, input int) *row {
	a.entries, a.alone, a.base = c.entries, c, uint64(input)<<32
	a.counts = make([]uint64, c.counters)
	a.bitmap = make([]byte, c.bitmapSize)
	a.sites = make([]siteSum, c.sites)
	r := &row{entries: make([]int32, len(c.entries)), counts: make([]int, len(c.entries))}
	for i := range c.entries {
		r.entries[i], r.counts[i] = int32(i), c.entries[i].counts
	}
	r.bound(a, c)
	a.rows[c] = r
	return r
}

// bound sets the fields of r that follow from its entries: sites and spans.
func (r *row) bound(a *accumulator, c *catalog) {
	r.sites = make([]int, len(c.valued))
	for i := range c.valued {
		r.sites[i] = a.entries[r.entries[c.valued[i].entry]].site
	}
	if c.raw == nil {
		return
	}
	for i := range c.entries {
		e := &c.entries[i]
		n := int(e.counters)
		if k := len(r.spans) - 1; k >= 0 && r.spans[k].from+r.spans[k].n == e.counts && r.spans[k].to+r.spans[k].n == r.counts[i] {
			r.spans[k].n += n
		} else {
			r.spans = append(r.spans, span{e.counts, r.counts[i], n})
		}
	}
}
