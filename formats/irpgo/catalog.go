package irpgo

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// A catalog lists the records of a profile and where the counters, bitmap and values of each lie. One pass makes it
// and validates the whole profile. Profiles of one binary share a catalog: they differ only in counts, values and,
// if raw, in the address at which the program was loaded. A profile uses an existing catalog only after every byte
// that decides where its numbers belong has been compared.
//
// A profile without a catalog, such as a damaged one, is read record by record;
// that path also reports what is wrong.
type catalog struct {
	key     catalogKey
	kept    bool         // in the cache, for later profiles
	number  int          // in the cache, from 1 up; 0 if it is not kept
	uses    atomic.Int64 // profiles
	entries []entry      // with their positions in the table that newTable makes
	extras  []extra
	raw     *rawCatalog

	// distinct: kept, and all entries differ in name or hash.
	distinct bool
	// arranged: indexed, in the order in which LLVM 17 and later write names.
	arranged bool

	// Totals over all entries: counters, bytes of bitmap, value sites.
	counters, bitmapSize, sites int
}

// An extra is the bitmap and the value sites of an entry that has any.
type extra struct {
	entry, bits int32
	sites       siteCounts
}

// catalogKey holds the properties of a profile that are cheap to compare.
// Profiles with different keys never share a catalog.
type catalogKey struct {
	format                                          Format
	word, countersDelta, bitmapDelta                uint64
	ptr                                             int
	bigEndian                                       bool
	records, counters, bitmap, names, vtables, vnum int    // sizes of sections
	buckets                                         int    // of the hash table
	sample                                          uint64 // hash of the identity of some records
}

// mix adds a word to a hash. The hash only has to tell most catalogs apart,
// because a profile is compared with every catalog of its key.
func mix(hash, word uint64) uint64 {
	hash = (hash ^ word) * 0x9e3779b97f4a7c15
	return hash ^ hash>>32
}

// next appends an entry for the caller to fill in; count must follow.
func (c *catalog) next() *entry {
	n := len(c.entries)
	c.entries = slices.Grow(c.entries, 1)[:n+1]
	c.entries[n] = entry{counts: position{index: int32(c.counters)}, bitmap: c.bitmapSize, site: c.sites}
	return &c.entries[n]
}

// count adds the entry that next returned, now filled in, to the totals.
func (c *catalog) count(e *entry) {
	if e.bits > 0 || e.sites.any() {
		c.extras = append(c.extras, extra{int32(len(c.entries) - 1), e.bits, e.sites})
	}
	c.counters += int(e.counters)
	c.bitmapSize += int(e.bits)
	c.sites += e.sites.all()
}

// nameRefs yields the references of the names: of each record or, if indexed, of each item.
func (c *catalog) nameRefs(yield func(ref uint64) bool) {
	for i := range c.entries {
		again := c.raw == nil && i > 0 && c.entries[i].ref == c.entries[i-1].ref
		if !again && !yield(c.entries[i].ref) {
			return
		}
	}
}

// allDiffer reports whether n numbers differ.
func allDiffer(n int, number func(i int) uint64) bool {
	if n > 32 {
		seen := make(map[uint64]bool, n)
		for i := range n {
			seen[number(i)] = true
		}
		return len(seen) == n
	}
	for i := range n {
		for j := range i {
			if number(i) == number(j) {
				return false
			}
		}
	}
	return true
}

// addresses returns the map that resolves values of a kind, or nil if values of that kind are not addresses.
func (c *catalog) addresses(kind int) *addressMap {
	if c.raw == nil || kind == MemOPSize {
		return nil
	}
	return &c.raw.addrs
}

const (
	maxCatalogs    = 256     // catalogs that a cache keeps
	maxCatalogKeys = 1 << 16 // keys that a cache remembers
)

// A catalogCache keeps catalogs for later profiles. Several workers share it. It keeps the very first catalog,
// because usually all profiles come from one binary. It keeps another only when its key occurs a second time,
// because most binaries of a large mixture occur once.
type catalogCache struct {
	shared atomic.Bool // by forks of a Merger
	mu     sync.Mutex
	keys   map[catalogKey]*cachedCatalogs
	kept   []*catalog
}

// cachedCatalogs are the catalogs of one key.
type cachedCatalogs struct {
	mu       sync.Mutex // held while a catalog to be kept is made, so that other workers wait for it
	catalogs []*catalog
	again    bool // keep the next catalog
}

func newCatalogCache() *catalogCache {
	return &catalogCache{keys: make(map[catalogKey]*cachedCatalogs)}
}

// A catalogSource is a reader whose profile may have a catalog.
type catalogSource interface {
	catalogKey() (key catalogKey, ok bool)
	// matches reports whether c, which has the profile's key, is its catalog, and sets n if so.
	matches(c *catalog, n *numbers) bool
	// scan fills in c and n. It reports false if the profile has no catalog.
	scan(c *catalog, n *numbers) bool
}

// find sets n to the catalog and the numbers of a profile and reports whether
// it has a catalog. spare is memory for a catalog that is not kept.
func (cc *catalogCache) find(from catalogSource, n *numbers, spare *catalog) bool {
	key, ok := from.catalogKey()
	if !ok {
		return false
	}
	*spare = catalog{key: key, entries: spare.entries[:0], extras: spare.extras[:0]}
	n.catalog = spare
	k := cc.of(key)
	if k == nil {
		return from.scan(spare, n)
	}
	for tried := 0; ; {
		k.mu.Lock()
		catalogs := k.catalogs
		if tried == len(catalogs) {
			break
		}
		k.mu.Unlock()
		for ; tried < len(catalogs); tried++ {
			if c := catalogs[tried]; from.matches(c, n) {
				n.catalog = c
				c.uses.Add(1)
				return true
			}
		}
	}
	if !k.again || cc.full() {
		k.again = true
		k.mu.Unlock()
		return from.scan(spare, n)
	}
	defer k.mu.Unlock()
	k.again = false // a profile that has no catalog may come again and again
	c := &catalog{key: key, kept: true}
	n.catalog = c
	if !from.scan(c, n) {
		return false
	}
	k.again = true
	if c.kept {
		k.catalogs = append(slices.Clone(k.catalogs), c)
		cc.keep(c)
	}
	return true
}

// of returns the catalogs of a key, or nil if the cache cannot remember more keys.
func (cc *catalogCache) of(key catalogKey) *cachedCatalogs {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	k := cc.keys[key]
	if k == nil && len(cc.keys) < maxCatalogKeys {
		k = &cachedCatalogs{again: len(cc.keys) == 0}
		cc.keys[key] = k
	}
	return k
}

func (cc *catalogCache) full() bool {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return len(cc.kept) >= maxCatalogs
}

func (cc *catalogCache) keep(c *catalog) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	c.uses.Add(1)
	cc.kept = append(cc.kept, c)
	c.number = len(cc.kept)
}

// numbers locates the counters, bitmaps and values of a catalog's records in one profile.
type numbers struct {
	catalog *catalog
	data    []byte // the file
	// bigEndian is the byte order of all numbers.
	bigEndian bool
	// Values that are addresses are modulo mask+1. They exceed the addresses in the
	// profile that the catalog was made from by slide.
	slide, mask uint64

	counters []byte    // what the offsets of runs refer to: the file or a section
	width    int       // bytes of a counter, 8 or 1
	runs     []fileRun // counters of all entries, one after the other
	bitmap   []byte    // what the offsets of bitmaps refer to: the file or a section
	bitmaps  []int32   // offset of the bitmap of each entry that has one
	blobs    []int     // file offset of the value data of each entry that has some
}

// addBlob adds value data at an offset of the file for an entry with the given
// sites and returns its size in bytes, 0 if it is not for these sites.
func (n *numbers) addBlob(at int, want *siteCounts) (size int) {
	var sites siteCounts
	if size = sites.read(n.bigEndian, n.data[at:]); sites != *want {
		return 0
	}
	n.blobs = append(n.blobs, at)
	return size
}

// A fileRun is a byte offset and the number of counters that begin there.
type fileRun struct{ at, count int32 }

// large reports whether counters whose bitwise or is most, or their sum, need the checks
// that Merger.addRecords makes.
func (n *numbers) large(most uint64) bool {
	high, _ := bits.Mul64(most, uint64(n.catalog.counters))
	return most >= largeCounter || high != 0
}

// bound returns an upper bound of what a profile adds to one counter. If entries of the
// catalog may be alike, a counter may get the counts of several.
func (n *numbers) bound(most, total uint64) uint64 {
	if n.catalog.distinct {
		return most
	}
	return total
}

// add adds weight times all counters to the counters of s that to locates, modulo 2^64. It
// returns their bitwise or, and their unweighted sum modulo 2^64.
func (n *numbers) add(s *sums, to []counterRun, weight uint64) (most, total uint64) {
	words := n.width == 8 && !n.bigEndian
	var dst []uint64
	for _, from := range n.runs {
		raw := n.counters[from.at:]
		for left := int(from.count); left > 0; {
			for len(dst) == 0 {
				dst, to = s.countersAt(to[0].position, to[0].n), to[1:]
			}
			k := min(left, len(dst))
			var o, t uint64
			if words {
				o, t = addWords(dst[:k], raw[:8*k], weight)
			} else {
				o, t = n.addOthers(dst[:k], raw, weight)
			}
			dst, raw, left = dst[k:], raw[k*n.width:], left-k
			most |= o
			total += t
		}
	}
	return most, total
}

// addOthers adds big-endian counters or counters of single-byte coverage.
func (n *numbers) addOthers(dst []uint64, raw []byte, weight uint64) (most, total uint64) {
	for i := range dst {
		c := uint64(0)
		if n.width == 8 {
			c = u64(raw[8*i:], n.bigEndian)
		} else if raw[i] == 0 { // executed
			c = 1
		}
		dst[i] += c * weight
		most |= c
		total += c
	}
	return most, total
}

// addWords adds little-endian counters, four per step.
func addWords(dst []uint64, raw []byte, weight uint64) (most, total uint64) {
	for len(dst) >= 4 && len(raw) >= 32 {
		d, r := (*[4]uint64)(dst), (*[32]byte)(raw)
		a, b, c, e := le.Uint64(r[0:]), le.Uint64(r[8:]), le.Uint64(r[16:]), le.Uint64(r[24:])
		d[0] += a * weight
		d[1] += b * weight
		d[2] += c * weight
		d[3] += e * weight
		most |= a | b | c | e
		total += a + b + c + e
		dst, raw = dst[4:], raw[32:]
	}
	for ; len(dst) > 0 && len(raw) >= 8; dst, raw = dst[1:], raw[8:] {
		c := le.Uint64(raw)
		dst[0] += c * weight
		most |= c
		total += c
	}
	return most, total
}

// orBitmap sets dst to its bitwise or with the bitmap at an offset. In an
// indexed profile before version 14 each byte is a 64-bit word.
func (n *numbers) orBitmap(dst []byte, at int32) {
	stride := 1
	if n.catalog.raw == nil && uint32(n.catalog.key.word) < packedBitmaps {
		stride = 8
	}
	for i := range dst {
		dst[i] |= n.bitmap[int(at)+stride*i]
	}
}

// pair decodes a value and its count. It moves an address back to where it was in the profile that the catalog was
// made from. An address wider than the target's stays as it is; it resolves to nothing.
func (n *numbers) pair(b []byte, address bool) ValueData {
	v := ValueData{u64(b, n.bigEndian), u64(b[8:], n.bigEndian)}
	if address && v.Value <= n.mask {
		v.Value = (v.Value - n.slide) & n.mask
	}
	return v
}
