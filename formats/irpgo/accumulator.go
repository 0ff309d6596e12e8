package irpgo

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
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

// An entry identifies a record and locates its numbers in sums.
type entry struct {
	hash uint64
	form
	ref          uint64 // NameRef(name)
	name         string
	counts       spot // of its first counter
	bitmap, site int  // index of its first byte of bitmap, value site
}

// A spot is the place of a counter: a piece of memory and an index in it.
type spot struct{ piece, at int32 }

// sums holds the numbers of entries. A table gets its counters in pieces, which
// never move: counters are most of its memory, and growing would copy them and
// touch twice as much. A block has one piece.
type sums struct {
	counts [][]uint64
	bitmap []byte
	sites  []siteSum
}

func (s *sums) countsOf(e *entry) []uint64 {
	piece, at := s.counts[e.counts.piece], int(e.counts.at)
	return piece[at : at+int(e.counters) : at+int(e.counters)]
}

// addCounters appends n counters, which are zero.
func (s *sums) addCounters(n int) spot {
	const smallest, largest = 1 << 9, 1 << 15
	last := len(s.counts) - 1
	if last < 0 || len(s.counts[last])+n > cap(s.counts[last]) {
		size := smallest
		if last >= 0 {
			size = min(2*cap(s.counts[last]), largest)
		}
		s.counts = append(s.counts, make([]uint64, 0, max(n, size)))
		last++
	}
	at := len(s.counts[last])
	s.counts[last] = s.counts[last][:at+n]
	return spot{int32(last), int32(at)}
}

func (s *sums) bitmapOf(e *entry) []byte {
	if e.bits == 0 {
		return nil
	}
	return s.bitmap[e.bitmap : e.bitmap+int(e.bits) : e.bitmap+int(e.bits)]
}

func (s *sums) sitesOf(e *entry) []siteSum { return s.sites[e.site : e.site+e.sites.all()] }

// record sets r to the record of an entry, in the memory of s. sites begins with
// the finished sites of the entry.
func (s *sums) record(r *Record, e *entry, sites []ValueSite) {
	r.Name, r.Hash, r.Counts, r.Bitmap, r.Values = e.name, e.hash, s.countsOf(e), s.bitmapOf(e), Values{}
	if e.sites.any() {
		e.sites.split(&r.Values, sites)
	}
}

// addCounts adds weight times counters and reports whether a sum saturated. fits
// says that none can.
func addCounts(dst, src []uint64, weight uint64, fits bool) (overflow bool) {
	if fits {
		for i, c := range src {
			dst[i] += c * weight
		}
		return false
	}
	for i, c := range src {
		overflow = addCount(&dst[i], c, weight) || overflow
	}
	return overflow
}

// mostOf returns the bitwise or of counters, an upper bound of each.
func mostOf(counts []uint64) (most uint64) {
	for _, c := range counts {
		most |= c
	}
	return most
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
	for i := range dst {
		dst[i] |= src[i]
	}
}

// An accumulator holds the sums of all records added. Those of the first profile are in
// a block as long as all others have its catalog. Otherwise all entries are in the table,
// and a block holds only what was added to the counters and bitmaps of the entries of its
// catalog since. When merging exactly an accumulator cuts no value site before the end; as
// LLVM, after every step.
type accumulator struct {
	policy      mergePolicy
	blocks      []*block
	recordsOnly bool   // make no further blocks
	repeats     bool   // a site may list a value twice
	limit       uint64 // upper bound of all counters; maxCount if some may have saturated
	table

	visits  uint32      // of sites, see addDistinct
	places  []int32     // memory of addDistinct
	decoded []ValueData // memory of addExtra and decode
	values  []ValueSite // memory of take and decode
	scratch sums        // memory of addToTable
}

// empty reports whether a holds no sums.
func (a *accumulator) empty() bool { return len(a.blocks)+a.entries.len == 0 }

// limitWith returns the limit after the addition of weight times counters that are at most
// most, or false if a sum may then exceed maxCount.
func (a *accumulator) limitWith(most, weight uint64) (limit uint64, fits bool) {
	high, product := bits.Mul64(most, weight)
	limit, carry := bits.Add64(a.limit, product, 0)
	return limit, high == 0 && carry == 0 && limit <= maxCount
}

// raiseLimit raises the limit for that addition. If a sum may then exceed maxCount, it
// reports false, and a has no blocks from then on: so the input that exceeds the limit is
// the one warned of.
func (a *accumulator) raiseLimit(most, weight uint64, warn warner) (fits bool) {
	limit, fits := a.limitWith(most, weight)
	if !fits {
		a.foldBlocks(warn)
		a.recordsOnly, limit = true, maxCount
	}
	a.limit = limit
	return fits
}

// mergePolicy selects exact merging or merging as LLVM does. They differ so:
//
//	                            exactly                  as LLVM
//	records of another form     each form has its own    what fits is added at
//	                            sum until the end        once, the rest is lost
//	values new to a record      weighted                 not weighted
//	pseudo counts               not weighted             weighted
//	equal values of one site    pair up by count         pair up as std::sort leaves them
//	more than 255 values        cut at the end           cut after each step
//
// None of it concerns the counters and bitmaps of records of one form, whose sums are the
// same in any order: blocks hold these for both. Values and new records go to the table at
// once and in order.
type mergePolicy struct{ llvm bool }

// A table finds sums by name, hash and form.
type table struct {
	sums
	entries tableEntries
	// index is a hash table of 2^n slots with linear probing. A slot holds half
	// of a reference and, in the lower half, the number of an entry, from 1 up.
	// Entries with one reference and hash lie in the order of entries.
	index []uint64
	last  int // entry that was found or made last
}

type tableEntry struct {
	entry
	seq uint64 // first appearance: number of the input and of the record in it
}

// tableEntries holds entries in pieces of equal length, which never move.
type tableEntries struct {
	pieces [][]tableEntry
	len    int
}

const entriesPerPiece = 256

func (t *tableEntries) at(i int) *tableEntry {
	return &t.pieces[i/entriesPerPiece][i%entriesPerPiece]
}

func (t *tableEntries) add(e tableEntry) *tableEntry {
	if t.len%entriesPerPiece == 0 {
		t.pieces = append(t.pieces, make([]tableEntry, entriesPerPiece))
	}
	t.len++
	last := t.at(t.len - 1)
	*last = e
	return last
}

// indexFactors make the places of references and hashes in an index unpredictable, so
// that no file can make them collide.
var indexFactors = [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}

// slot returns the index of the slot where the search for a reference and a hash begins.
func (t *table) slot(ref, hash uint64) int {
	high, _ := bits.Mul64(ref*indexFactors[0]+hash*indexFactors[1], uint64(len(t.index)))
	return int(high)
}

// expect makes room in the index for n entries more.
func (t *table) expect(n int) {
	n += t.entries.len
	if 4*n <= 3*len(t.index) {
		return
	}
	t.index = make([]uint64, 1<<bits.Len(uint(max(4*n/3, 2*len(t.index)-1))))
	clear(t.index) // a new page that is read before it is written costs two page faults
	for i := range t.entries.len {
		e := t.entries.at(i)
		t.enter(e.ref, e.hash, i)
	}
}

// enter adds an entry to the index.
func (t *table) enter(ref, hash uint64, at int) {
	i := t.slot(ref, hash)
	for t.index[i] != 0 {
		i = (i + 1) & (len(t.index) - 1)
	}
	t.index[i] = ref&^math.MaxUint32 | uint64(at+1)
}

// lookAhead is the number of entries after the last one that find compares
// before it consults the index: programs built from one source tree share
// functions, mostly in the same order.
const lookAhead = 8

// find returns the index of the entry with the given name, hash and form. If
// only the form differs, it returns the last entry of that name and hash and
// fits is false. It returns -1 if there is neither.
func (t *table) find(name string, ref, hash uint64, f *form) (at int, fits bool) {
	for i := t.last + 1; i < min(t.last+1+lookAhead, t.entries.len); i++ {
		if e := t.entries.at(i); e.ref == ref && e.hash == hash && e.form == *f && e.name == name {
			t.last = i
			return i, true
		}
	}
	if len(t.index) == 0 {
		return -1, false
	}
	at = -1
	for i := t.slot(ref, hash); t.index[i] != 0; i = (i + 1) & (len(t.index) - 1) {
		if t.index[i]>>32 != ref>>32 {
			continue
		}
		x := int(uint32(t.index[i])) - 1
		if e := t.entries.at(x); e.ref == ref && e.hash == hash && e.name == name {
			if at = x; e.form == *f {
				t.last = at
				return at, true
			}
		}
	}
	return at, false
}

// refOf returns NameRef(name), without hashing if the next entry has the name.
func (t *table) refOf(name string) uint64 {
	if i := t.last + 1; i < t.entries.len {
		if e := t.entries.at(i); e.name == name {
			return e.ref
		}
	}
	return NameRef(name)
}

// add appends an entry that find did not find, with only zeros.
func (t *table) add(e entry, seq uint64) *tableEntry {
	t.expect(1)
	t.last = t.entries.len
	t.enter(e.ref, e.hash, t.last)
	e.counts, e.bitmap, e.site = t.addCounters(int(e.counters)), len(t.bitmap), len(t.sites)
	t.bitmap = extend(t.bitmap, int(e.bits))
	t.sites = extend(t.sites, e.sites.all())
	return t.entries.add(tableEntry{entry: e, seq: seq})
}

// extend appends n zeros. It doubles the memory if need be: append would copy a
// long slice five times on its way.
func extend[T any](s []T, n int) []T {
	if len(s)+n > cap(s) {
		s = slices.Grow(s, len(s)+n)
	}
	return s[:len(s)+n]
}

// addRecord adds src to the table and reports whether it took the record whole
// but for counts that saturated. ref is the reference of its name, 0 if not known.
// It warns once at most.
func (a *accumulator) addRecord(src *Record, ref, weight, seq uint64, warn warner) (taken bool) {
	a.enterBlocks(warn)
	if ref == 0 {
		ref = a.refOf(src.Name)
	}
	f := formOf(src)
	return a.addToEntry(src, &f, ref, weight, seq, a.raiseLimit(mostOf(src.Counts), weight, warn), warn)
}

// A warner is told of a record that is not added whole, or whose counts saturated.
type warner func(name string, code llvmerr.Code)

// A mergeOutcome warns of the first problem of a record.
type mergeOutcome struct {
	warn       warner
	name       string
	told, lost bool // lost: part of the record
}

func (o *mergeOutcome) fail(code llvmerr.Code) {
	if !o.told {
		o.warn(o.name, code)
	}
	o.told, o.lost = true, o.lost || code != llvmerr.CounterOverflow
}

// addToEntry is addRecord for a record of a known form and reference. fits says that no
// counter can saturate.
func (a *accumulator) addToEntry(src *Record, f *form, ref, weight, seq uint64, fits bool, warn warner) (taken bool) {
	at, same := a.find(src.Name, ref, src.Hash, f)
	return a.addFound(at, same, src, f, ref, weight, seq, fits, warn)
}

// addFound is addToEntry for a record that find has found or not.
func (a *accumulator) addFound(at int, same bool, src *Record, f *form, ref, weight, seq uint64, fits bool, warn warner) (taken bool) {
	fresh := at < 0 || !same && !a.policy.llvm
	var e *tableEntry
	verdict := uint64(0) // of pseudo counts so far
	if fresh {
		e = a.add(entry{name: src.Name, ref: ref, hash: src.Hash, form: *f}, seq)
	} else if e = a.entries.at(at); seq < e.seq {
		if e.seq = seq; e.pseudo { // the other numbers of the first record stand
			verdict, fresh = a.countsOf(&e.entry)[0], true
			clear(a.bitmapOf(&e.entry))
			clear(a.sitesOf(&e.entry))
		}
	}
	o := mergeOutcome{warn: warn, name: src.Name}
	a.mergeRecord(&a.sums, &e.entry, src, weight, fresh, fits, o.fail)
	if verdict != 0 {
		first := &a.countsOf(&e.entry)[0]
		*first = max(*first, verdict)
	}
	return !o.lost
}

// mergeRecord adds weight·src to an entry of s with its name and hash, as
// InstrProfRecord::merge does or, if the entry is fresh and all its numbers are
// zero, InstrProfRecord::scale. Where the forms differ it adds what it can and
// tells fail of the rest. fits says that no counter can saturate.
func (a *accumulator) mergeRecord(s *sums, e *entry, src *Record, weight uint64, fresh, fits bool, fail func(llvmerr.Code)) {
	counts, verdict := s.countsOf(e), src.Pseudo()
	switch {
	case fresh && (weight == 1 || e.pseudo && !a.policy.llvm):
		weight = 1
		copy(counts, src.Counts) // even above maxCount
	case !fresh && (len(counts) != len(src.Counts) || e.pseudo != (verdict != 0)):
		fail(llvmerr.CountMismatch)
		return
	case !fresh && e.pseudo:
		counts[0] = max(counts[0], verdict) // hot beats warm
		return
	case addCounts(counts, src.Counts, weight, fits):
		fail(llvmerr.CounterOverflow)
	}
	if fresh {
		e.pseudo = pseudoKind(counts) != 0 // LLVM's weights turn pseudo counts into counts
	}
	bitmap := s.bitmapOf(e)
	if len(bitmap) != len(src.Bitmap) {
		fail(llvmerr.BitmapMismatch)
		return
	}
	orBytes(bitmap, src.Bitmap)
	sites := s.sitesOf(e)
	for k, have := range e.sites {
		own := sites[:have]
		sites = sites[have:]
		if len(own) != len(src.Values[k]) {
			fail(llvmerr.ValueSiteCountMismatch)
			continue
		}
		for i := range own {
			own[i].merged = !fresh
			if a.addSite(&own[i], src.Values[k][i], nil, 0, weight, fresh) {
				fail(llvmerr.CounterOverflow)
			}
		}
	}
}
