package irpgo

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A catalog lists the records of a profile and where the counters, bitmap and
// values of each lie. One pass makes it and validates the whole profile.
// Profiles of one binary share a catalog: they differ only in counts, values
// and, if raw, in the address at which the program was loaded. A profile uses
// an existing catalog only after every byte that decides where its numbers
// belong has been compared.
//
// A profile without a catalog, such as a damaged one, is read record by record;
// that path also reports what is wrong.
type catalog struct {
	key      catalogKey
	kept     bool // in the cache, for later profiles
	reuses   atomic.Int64
	entries  []entry
	distinct bool // no two entries have the same name and hash
	valued   []valuedEntry
	raw      *rawCatalog
	indexed  *indexedCatalog

	// Totals over all entries: counters, bytes of bitmap, value sites.
	counters, bitmapSize, sites int
}

// valuedEntry is an entry with value sites.
type valuedEntry struct {
	entry int32
	sites siteCounts
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

// numbers locates the counters, bitmaps and values of a catalog's records in
// one profile.
type numbers struct {
	catalog *catalog
	data    []byte // the file
	order   binary.ByteOrder
	// Values that are addresses are modulo mask+1. They exceed those of the
	// profile that the catalog was made from by slide.
	slide, mask uint64

	counters, bitmap []byte  // sections of a raw profile
	places           []place // counters of each record of an indexed profile
	blobs            []int   // file offsets of the value data, by index in catalog.valued
}

// place is the file offset of a record's counters and their number.
type place struct{ at, count int32 }

// next appends an entry for the caller to fill in; count must follow.
func (c *catalog) next() *entry {
	c.entries = append(c.entries, entry{seq: uint64(len(c.entries)), site: c.sites})
	return &c.entries[len(c.entries)-1]
}

// count adds the entry that next returned, now filled in, to the totals.
func (c *catalog) count(e *entry) {
	if e.sites.any() {
		c.valued = append(c.valued, valuedEntry{int32(len(c.entries) - 1), e.sites})
		c.sites += e.sites.all()
	}
	c.counters += int(e.counters)
	c.bitmapSize += int(e.bits)
}

// reset empties c but keeps its memory.
func (c *catalog) reset(key catalogKey, keep bool) {
	*c = catalog{key: key, kept: keep, entries: c.entries[:0], valued: c.valued[:0]}
}

const (
	maxCatalogs    = 256     // catalogs that a cache keeps
	maxCatalogKeys = 1 << 16 // keys that a cache remembers
	maxFailures    = 3       // failures after which a cache keeps no further catalog of a key
)

// A catalogCache keeps catalogs for later profiles. Several workers share it.
// It keeps the very first catalog, because usually all profiles come from one
// binary. It keeps another only when its key occurs a second time, because most
// binaries of a large mixture occur once.
type catalogCache struct {
	mu   sync.Mutex
	keys map[catalogKey]*cachedCatalogs
	kept atomic.Int64
}

// cachedCatalogs are the catalogs of one key.
type cachedCatalogs struct {
	mu       sync.Mutex // held while a catalog to be kept is made, so that other workers wait for it
	catalogs []*catalog
	again    bool // the key has occurred before, or is the first: keep the next catalog
	failures int
}

func newCatalogCache() *catalogCache {
	return &catalogCache{keys: make(map[catalogKey]*cachedCatalogs)}
}

// A catalogSource is a reader whose profile may have a catalog.
type catalogSource interface {
	catalogKey() (key catalogKey, ok bool)
	// matches reports whether c, which has the profile's key, is its catalog,
	// and sets n if so.
	matches(c *catalog, n *numbers) bool
	// catalogue fills in c and n. It reports false if the profile has no catalog.
	catalogue(c *catalog, n *numbers) bool
}

// find sets n to the catalog and the numbers of a profile and reports whether
// it has a catalog. spare is memory for a catalog that is not kept.
func (cc *catalogCache) find(from catalogSource, n *numbers, spare *catalog) bool {
	key, ok := from.catalogKey()
	if !ok {
		return false
	}
	k := cc.of(key)
	if k == nil {
		return spare.make(from, key, false, n)
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
				c.reuses.Add(1)
				return true
			}
		}
	}
	if !k.again || k.failures >= maxFailures || cc.kept.Load() >= maxCatalogs {
		k.again = true
		k.mu.Unlock()
		return spare.make(from, key, false, n)
	}
	defer k.mu.Unlock() // also if reading a mapped file faults
	c := &catalog{}
	if !c.make(from, key, true, n) {
		k.failures++
		return false
	}
	k.catalogs = append(slices.Clone(k.catalogs), c)
	cc.kept.Add(1)
	return true
}

// of returns the catalogs of a key, or nil if the cache cannot remember more
// keys.
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

func (c *catalog) make(from catalogSource, key catalogKey, keep bool, n *numbers) bool {
	c.reset(key, keep)
	n.catalog = c
	return from.catalogue(c, n)
}

// numbersOf finds the catalog of a profile and locates the numbers of its
// records. It returns nil if the profile must be read record by record.
func (m *Merger) numbersOf(r *Reader) *numbers {
	from, ok := r.dec.(catalogSource)
	if !ok || m.catalogs == nil || m.opt.Rename != nil || !m.catalogs.find(from, &m.numbers, &m.spare) {
		return nil
	}
	return &m.numbers
}

// addNumbers adds a profile that has a catalog. If ok is false, a holds the same
// sums as before and the caller must add the profile record by record.
func (a *accumulator) addNumbers(n *numbers, input int, weight uint64, overflowed func(*entry)) (r *row, added Added, ok bool) {
	if a.rows[n.catalog] == nil && n.most() >= largeCounter {
		return nil, added, false // before entries are made for it
	}
	if r = a.bind(n.catalog, input); r == nil {
		return nil, added, false
	}
	var over map[int]bool // entries of the catalog with a number at its limit
	if added.Count, over, ok = a.addCounters(r, n, weight); !ok {
		return nil, Added{}, false
	}
	added.Records = len(r.entries)
	if r.profiles++; r.profiles == 2 {
		for _, v := range n.catalog.valued {
			a.touch(&a.entries[r.entries[v.entry]])
		}
	}
	a.addBitmap(r, n)
	over = a.addValues(r, n, uint64(input)<<32-a.base, weight, over)
	for _, i := range slices.Sorted(maps.Keys(over)) {
		overflowed(&n.catalog.entries[i])
	}
	return r, added, true
}

// addCounters adds the counters of a profile; total is their unweighted sum. It
// adds nothing if a counter is at least largeCounter, because such a counter
// may deserve a warning or be a pseudo count.
//
// The fast loop does not check for overflow. a.limit bounds every sum in
// advance; if an addition may exceed the bound, it is undone modulo 2^64 and
// repeated with saturation.
func (a *accumulator) addCounters(r *row, n *numbers, weight uint64) (total uint64, over map[int]bool, ok bool) {
	limit := a.limit
	most, total := a.addWords(r, n, weight)
	fits := a.raiseLimit(most, weight)
	if most >= largeCounter || !fits {
		a.addWords(r, n, -weight)
		if most >= largeCounter {
			a.limit = limit
			return 0, nil, false
		}
		for i := range n.catalog.entries {
			dst := a.countsOf(&a.entries[r.entries[i]])
			for j := range dst {
				if addCount(&dst[j], n.counter(i, j), weight) {
					over = mark(over, i)
				}
			}
		}
	}
	if high, _ := bits.Mul64(most, uint64(n.catalog.counters)); high != 0 {
		total = 0
		for i := range n.catalog.entries {
			for j := range n.catalog.entries[i].counters {
				total = saturate.Add(total, n.counter(i, int(j)))
			}
		}
	}
	return total, over, true
}

// counter returns counter j of entry i.
func (n *numbers) counter(i, j int) uint64 {
	c := n.catalog
	switch at := c.entries[i].counts + j; {
	case c.raw == nil:
		return le.Uint64(n.data[int(n.places[i].at)+8*j:])
	case !c.raw.singleByte:
		return n.order.Uint64(n.counters[8*at:])
	case n.counters[at] == 0: // executed
		return 1
	}
	return 0
}

// most returns the bitwise or of all counters, an upper bound of each within a
// factor of two.
func (n *numbers) most() (most uint64) {
	c := n.catalog
	for _, p := range n.places {
		most |= orWords(n.order, n.data[p.at:int(p.at)+8*int(p.count)])
	}
	switch {
	case c.raw == nil || c.raw.singleByte:
	case !c.raw.temporal:
		most = orWords(n.order, n.counters)
	default:
		for i := range c.entries {
			e := &c.entries[i]
			most |= orWords(n.order, n.counters[8*e.counts:8*(e.counts+int(e.counters))])
		}
	}
	return most
}

func orWords(order binary.ByteOrder, b []byte) (most uint64) {
	if order == binary.ByteOrder(le) {
		for ; len(b) >= 8; b = b[8:] {
			most |= le.Uint64(b)
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		most |= order.Uint64(b)
	}
	return most
}

// addWords adds weight times the counters of a profile, modulo 2^64. It returns
// their bitwise or, and their unweighted sum modulo 2^64.
func (a *accumulator) addWords(r *row, n *numbers, weight uint64) (most, total uint64) {
	for i, p := range n.places {
		o, t := addWords(a.counts[r.counts[i]:][:p.count], n.data[p.at:int(p.at)+8*int(p.count)], weight)
		most |= o
		total += t
	}
	for _, s := range r.spans {
		var o, t uint64
		dst := a.counts[s.to:][:s.n]
		switch {
		case n.catalog.raw.singleByte:
			o, t = addBytes(dst, n.counters[s.from:s.from+s.n], weight)
		case n.order == binary.ByteOrder(le):
			o, t = addWords(dst, n.counters[8*s.from:8*(s.from+s.n)], weight)
		default:
			o, t = addSwapped(dst, n.counters[8*s.from:8*(s.from+s.n)], weight)
		}
		most |= o
		total += t
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
	for i := range dst {
		c := le.Uint64(raw[8*i:])
		dst[i] += c * weight
		most |= c
		total += c
	}
	return most, total
}

// addSwapped adds big-endian counters.
func addSwapped(dst []uint64, raw []byte, weight uint64) (most, total uint64) {
	for i := range dst {
		c := binary.BigEndian.Uint64(raw[8*i:])
		dst[i] += c * weight
		most |= c
		total += c
	}
	return most, total
}

// addBytes adds counters of single-byte coverage, where 0 means executed.
func addBytes(dst []uint64, raw []byte, weight uint64) (most, total uint64) {
	for i := range dst {
		if raw[i] == 0 {
			dst[i] += weight
			most = 1
			total++
		}
	}
	return most, total
}

func (a *accumulator) addBitmap(r *row, n *numbers) {
	if n.catalog.bitmapSize == 0 {
		return
	}
	for i := range n.catalog.entries {
		e := &n.catalog.entries[i]
		if e.bits == 0 {
			continue
		}
		dst := a.bitmapOf(&a.entries[r.entries[i]])
		if n.catalog.raw != nil {
			orBytes(dst, n.bitmap[e.bitmap:e.bitmap+int(e.bits)])
			continue
		}
		// The number of bitmap bytes, then each byte as a 64-bit word.
		raw := n.data[int(n.places[i].at)+8*int(e.counters)+8:]
		for j := range dst {
			dst[j] |= raw[8*j]
		}
	}
}

// addValues adds the values of a profile site by site. first is the seq of the
// profile's first record. It marks in over the entries in which a count
// saturated.
func (a *accumulator) addValues(r *row, n *numbers, first, weight uint64, over map[int]bool) map[int]bool {
	c := n.catalog
	for i := range c.valued {
		v := &c.valued[i]
		fresh := r.profiles == 1 && a.entries[r.entries[v.entry]].seq == first+uint64(v.entry)
		sites := a.sites[r.sites[i]:]
		b := n.data[n.blobs[i]+valueDataHeader:]
		for k, count := range v.sites {
			if count == 0 {
				continue
			}
			kind := ValueKind(k)
			from := c.addresses(kind)
			lengths := b[valueKindHeader : valueKindHeader+count]
			b = b[valueKindHeader+(count+7)&^7:]
			for j, l := range lengths {
				if l > 0 {
					if a.addSite(&sites[j], a.decode(n, b[:int(l)*valueDataPair], from), from, kind, weight, fresh) {
						over = mark(over, int(v.entry))
					}
					b = b[int(l)*valueDataPair:]
				}
			}
			sites = sites[count:]
		}
	}
	return over
}

func mark(over map[int]bool, i int) map[int]bool {
	if over == nil {
		over = make(map[int]bool)
	}
	over[i] = true
	return over
}

// addresses returns the map that resolves values of a kind, or nil if values of
// that kind are not addresses.
func (c *catalog) addresses(kind ValueKind) *addressMap {
	if c.raw == nil || kind == MemOPSize {
		return nil
	}
	return &c.raw.addrs
}

// decode decodes pairs of value and count into memory that the next call
// reuses. It moves addresses back to where they were in the profile that the
// catalog was made from. An address wider than the target's stays as it is; it
// resolves to nothing.
func (a *accumulator) decode(n *numbers, pairs []byte, from *addressMap) ValueSite {
	out := a.decoded[:0]
	for ; len(pairs) >= valueDataPair; pairs = pairs[valueDataPair:] {
		v := ValueData{n.order.Uint64(pairs), n.order.Uint64(pairs[8:])}
		if from != nil && v.Value <= n.mask {
			v.Value = (v.Value - n.slide) & n.mask
		}
		out = append(out, v)
	}
	a.decoded = out
	return out
}
