package irpgo

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A form holds the numbers of counters, bitmap bytes and value sites of a record. Records of one name, hash and
// form can be added counter by counter and site by site.
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
	counts       position // of its first counter
	bitmap, site int      // index of its first byte of bitmap, of its first value site
}

// A position locates a counter: the index of a piece of memory and an index in the piece.
type position struct{ piece, index int32 }

// sums holds the numbers of entries. The counters lie in pieces, which never move:
// counters are most of the memory, and growing would copy them and touch twice as much.
type sums struct {
	counts [][]uint64
	bitmap []byte
	sites  []siteSum
	// devices holds what programs for GPUs have beside the counters, by the position of the counters; nil for hosts.
	devices map[position]*deviceSum
}

// countersAt returns n counters.
func (s *sums) countersAt(p position, n int32) []uint64 {
	return s.counts[p.piece][p.index : p.index+n : p.index+n]
}

func (s *sums) countsOf(e *entry) []uint64 { return s.countersAt(e.counts, e.counters) }

func (s *sums) bitmapOf(e *entry) []byte {
	if e.bits == 0 {
		return nil
	}
	return s.bitmap[e.bitmap : e.bitmap+int(e.bits) : e.bitmap+int(e.bits)]
}

func (s *sums) sitesOf(e *entry) []siteSum { return s.sites[e.site : e.site+e.sites.all()] }

// addCounters appends n counters, which are zero.
func (s *sums) addCounters(n int) position {
	const smallest, largest = 1 << 9, 1 << 15
	last := len(s.counts) - 1
	if last < 0 || len(s.counts[last])+n > cap(s.counts[last]) {
		size := smallest
		if last >= 0 {
			size = min(max(2*cap(s.counts[last]), smallest), largest)
		}
		s.counts = append(s.counts, make([]uint64, 0, max(n, size)))
		last++
	}
	at := len(s.counts[last])
	s.counts[last] = s.counts[last][:at+n]
	return position{int32(last), int32(at)}
}

// record sets r to the record of an entry, in the memory of s. sites begins with the finished sites of the entry.
func (s *sums) record(r *Record, e *entry, sites [][]ValueData) {
	r.Name, r.Hash, r.Counts, r.Bitmap, r.Values = e.name, e.hash, s.countsOf(e), s.bitmapOf(e), valueSites{}
	r.Uniformity = s.deviceOf(e).uniformity()
	if e.sites.any() {
		e.sites.split(&r.Values, sites)
	}
}

// A table holds the sums of records and finds them by name, hash and form.
type table struct {
	sums
	entries tableEntries
	seqs    []uint64 // first appearance of each entry: number of the input and of the record in it
	// index is a hash table of 2^n slots with linear probing. A slot holds half of a reference and, in the lower
	// half, the number of an entry, from 1 up. Entries with one reference and hash lie in the order of entries.
	index   []uint64
	indexed int // entries in the index: the first ones
	last    int // entry that was found or made last
}

// tableEntries holds entries in pieces of equal length, which never move.
type tableEntries struct {
	pieces [][]entry
	len    int
}

const entriesPerPiece = 256

func (t *tableEntries) at(i int) *entry {
	return &t.pieces[i/entriesPerPiece][i%entriesPerPiece]
}

func (t *tableEntries) add(e entry) *entry {
	if t.len%entriesPerPiece == 0 {
		t.pieces = append(t.pieces, make([]entry, entriesPerPiece))
	}
	t.len++
	last := t.at(t.len - 1)
	*last = e
	return last
}

// newTable returns a table with the entries of a distinct catalog and with only zeros. The table shares the entries
// with the catalog and does not change them. seq is the number of the first entry.
func newTable(c *catalog, seq uint64) (t table) {
	t.counts, t.bitmap, t.sites = [][]uint64{make([]uint64, c.counters)}, make([]byte, c.bitmapSize), make([]siteSum, c.sites)
	clear(t.sites) // a new page that is read before it is written costs two page faults
	t.seqs = make([]uint64, len(c.entries))
	for i := range t.seqs {
		t.seqs[i] = seq + uint64(i)
	}
	rest := c.entries
	for ; len(rest) >= entriesPerPiece; rest = rest[entriesPerPiece:] {
		t.entries.pieces = append(t.entries.pieces, rest[:entriesPerPiece])
	}
	t.entries.len = len(c.entries) - len(rest)
	for i := range rest {
		t.entries.add(rest[i])
	}
	t.last = len(c.entries) - 1
	return t
}

// indexFactors make the slots of references and hashes unpredictable, so that no file can make them collide.
var indexFactors = [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}

// slot returns the index of the slot where the search for a reference and a hash begins.
func (t *table) slot(ref, hash uint64) int {
	high, _ := bits.Mul64(ref*indexFactors[0]+hash*indexFactors[1], uint64(len(t.index)))
	return int(high)
}

// expect puts the entries that are not in the index yet into it, and makes room for n more.
func (t *table) expect(n int) {
	if n += t.entries.len; 4*n > 3*len(t.index) {
		t.index = make([]uint64, 1<<bits.Len(uint(max(4*n/3, 2*len(t.index)-1))))
		clear(t.index) // see newTable
		t.indexed = 0
	}
	for ; t.indexed < t.entries.len; t.indexed++ {
		e := t.entries.at(t.indexed)
		i := t.slot(e.ref, e.hash)
		for t.index[i] != 0 {
			i = (i + 1) & (len(t.index) - 1)
		}
		t.index[i] = e.ref&^math.MaxUint32 | uint64(t.indexed+1)
	}
}

// lookAhead is the number of entries after the last one that find compares before it consults the index: programs
// built from one source tree share functions, mostly in the same order.
const lookAhead = 8

// A match says what entry a table has for a record.
type match uint8

const (
	noEntry   match = iota // of the record's name and hash
	otherForm              // has the record's name and hash only
	sameForm
)

// find returns the index of the entry with the name, hash and form of key or, if only
// the form differs, of the last entry with that name and hash.
func (t *table) find(key *entry) (at int, found match) {
	for i := t.last + 1; i < min(t.last+1+lookAhead, t.entries.len); i++ {
		if e := t.entries.at(i); e.ref == key.ref && e.hash == key.hash && e.form == key.form && e.name == key.name {
			t.last = i
			return i, sameForm
		}
	}
	if t.expect(0); len(t.index) == 0 {
		return 0, noEntry
	}
	for i := t.slot(key.ref, key.hash); t.index[i] != 0; i = (i + 1) & (len(t.index) - 1) {
		if t.index[i]>>32 != key.ref>>32 {
			continue
		}
		x := int(uint32(t.index[i])) - 1
		if e := t.entries.at(x); e.ref == key.ref && e.hash == key.hash && e.name == key.name {
			if e.form == key.form {
				t.last = x
				return x, sameForm
			}
			at, found = x, otherForm
		}
	}
	return at, found
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
func (t *table) add(key *entry, seq uint64) *entry {
	t.last = t.entries.len
	e := t.entries.add(*key)
	e.counts, e.bitmap, e.site = t.addCounters(int(e.counters)), len(t.bitmap), len(t.sites)
	t.bitmap = extend(t.bitmap, int(e.bits))
	t.sites = extend(t.sites, e.sites.all())
	t.seqs = append(extend(t.seqs, 1)[:t.last], seq)
	return e
}

// extend appends n zeros. It doubles the memory if need be: append would copy a long slice five times on its way.
func extend[T any](s []T, n int) []T {
	if len(s)+n > cap(s) {
		s = slices.Grow(s, len(s)+n)
	}
	return s[:len(s)+n]
}
