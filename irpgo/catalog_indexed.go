package irpgo

import (
	"crypto/md5"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/ondisk"
)

// indexedCatalog is what the indexed profiles of one binary have in common: the
// order of their hash table. The entries are its records in that order.
type indexedCatalog struct {
	items []indexedItem
}

// indexedItem is an item of the hash table: a name and its records.
type indexedItem struct {
	// head is what precedes the counters of the first record: the number of
	// items if a bucket begins here, hash, lengths and name, and hash and number
	// of counters of the record.
	head    string
	first   int32 // entry
	records int32
	bucket  int32 // items in the bucket that begins here, 0 if none does
	valued  bool  // values make the records longer or shorter
	simple  bool  // one record of nothing but counters
}

// recordHead is the size of hash and number of counters.
const recordHead = 16

// sizeAt returns the offset in head of the size of the records.
func (it *indexedItem) sizeAt() int {
	if it.bucket > 0 {
		return ondisk.BucketHeaderSize + 16
	}
	return 16
}

func (r *indexedReader) catalogKey() (key catalogKey, ok bool) {
	if r.memprof != nil || r.about.Version < 4 || len(r.data) > math.MaxInt32 {
		return key, false
	}
	sample := uint64(0)
	for b := range min(r.table.NumBuckets(), 512) {
		if sample *= 3; r.table.BucketOffset(uint64(b)) != 0 {
			sample++
		}
	}
	return catalogKey{
		format: FormatIndexed, word: r.about.VersionWord, sample: sample,
		records: r.table.Len(), buckets: r.table.NumBuckets(),
	}, true
}

// locate resets n to the file; the caller adds the places and blobs.
func (r *indexedReader) locate(n *numbers) {
	n.data, n.order, n.slide, n.mask = r.data, le, 0, 1<<64-1
	n.counters, n.bitmap = nil, nil
	n.places, n.blobs = n.places[:0], n.blobs[:0]
}

// catalogue implements [catalogSource]. A profile has no catalog if it is
// damaged, if a name or hash repeats, or if its value data is laid out
// otherwise than LLVM lays it out.
func (r *indexedReader) catalogue(c *catalog, n *numbers) bool {
	r.locate(n)
	c.indexed = &indexedCatalog{items: make([]indexedItem, 0, r.table.Len())}
	c.entries = slices.Grow(c.entries, r.table.Len())
	start, end := r.table.Payload()
	b := itemWalker{r: r, pos: int(start), end: int(end)}
	for range r.table.Len() {
		it, name, ref, records, ok := b.next()
		if !ok {
			return false
		}
		it.first = int32(len(c.entries))
		for pos := b.pos - len(records); len(records) > 0; it.records++ {
			size := r.recordSize(records)
			if size == 0 || !r.addEntry(c, name, ref, records[:size], pos, n) {
				return false
			}
			e := &c.entries[len(c.entries)-1]
			it.valued = it.valued || e.sites.any()
			it.simple = it.records == 0 && !e.sites.any() && e.bits == 0
			records, pos = records[size:], pos+size
		}
		c.indexed.items = append(c.indexed.items, it)
	}
	c.distinct = true
	return b.left == 0 && b.end-b.pos < 8 && c.keysDiffer() && c.sameRefs()
}

// An itemWalker walks over the items of a hash table and copies their heads.
type itemWalker struct {
	r        *indexedReader
	pos, end int
	left     int32 // items of the bucket
	bucketAt int
	heads    strings.Builder
}

// headBlock is how many bytes of heads share a block of memory.
const headBlock = 1 << 20

// next returns the next item and the undecoded bytes of its records. It reports
// false if the item is not within the table or not in the bucket that its
// reference selects.
func (w *itemWalker) next() (it indexedItem, name string, ref uint64, records []byte, ok bool) {
	data, at := w.r.data, w.pos
	if w.left == 0 {
		if w.end-w.pos < ondisk.BucketHeaderSize {
			return it, "", 0, nil, false
		}
		w.left = int32(le.Uint16(data[w.pos:]))
		it.bucket, w.bucketAt = w.left, w.pos
		w.pos += ondisk.BucketHeaderSize
	}
	w.left--
	fixed := ondisk.ItemSize(0, 0)
	if w.left < 0 || w.end-w.pos < fixed {
		return it, "", 0, nil, false
	}
	ref, length, size := le.Uint64(data[w.pos:]), le.Uint64(data[w.pos+8:]), le.Uint64(data[w.pos+16:])
	w.pos += fixed
	if length > uint64(w.end-w.pos) || size > uint64(w.end-w.pos)-length || size < recordHead ||
		w.r.table.BucketOffset(ref&uint64(w.r.table.NumBuckets()-1)) != uint64(w.bucketAt) {
		return it, "", 0, nil, false
	}
	w.pos += int(length)
	head := data[at : w.pos+recordHead]
	if w.heads.Cap()-w.heads.Len() < len(head) {
		w.heads = strings.Builder{}
		w.heads.Grow(max(len(head), min(headBlock, w.end-at)))
	}
	before := w.heads.Len()
	w.heads.Write(head)
	it.head = w.heads.String()[before:]
	records = data[w.pos : w.pos+int(size)]
	w.pos += int(size)
	return it, it.head[len(it.head)-recordHead-int(length) : len(it.head)-recordHead], ref, records, true
}

// addEntry adds a valid record at offset pos of the file. It reports false if
// its value data is laid out otherwise than LLVM lays it out.
func (r *indexedReader) addEntry(c *catalog, name string, ref uint64, record []byte, pos int, n *numbers) bool {
	e := c.next()
	e.name, e.ref, e.hash, e.counts, e.bitmap = name, ref, le.Uint64(record), c.counters, c.bitmapSize
	e.counters = int32(le.Uint64(record[8:]))
	n.places = append(n.places, place{int32(pos + recordHead), e.counters})
	size := recordHead + 8*int(e.counters)
	if r.about.Version >= 11 {
		e.bits = int32(le.Uint64(record[size:]))
		size += 8 + 8*int(e.bits)
	}
	values := record[size:]
	if le.Uint64(values) != valueDataHeader { // there are kinds
		e.sites.set(values)
		if length, ok := e.sites.match(le, values); !ok || length != len(values) || !e.sites.any() {
			return false
		}
		n.blobs = append(n.blobs, pos+size)
	}
	c.count(e)
	return true
}

// set reads the numbers of sites from valid value data.
func (s *siteCounts) set(values []byte) {
	kinds := le.Uint32(values[4:])
	values = values[valueDataHeader:]
	for range kinds {
		kind, sites := le.Uint32(values), le.Uint32(values[4:])
		s[kind] = int32(sites)
		size := valueKindHeader + (int(sites)+7)&^7
		for _, n := range values[valueKindHeader : valueKindHeader+sites] {
			size += int(n) * valueDataPair
		}
		values = values[size:]
	}
}

// keysDiffer reports whether all items differ in their references and all
// records of an item in their hashes.
func (c *catalog) keysDiffer() bool {
	items, start := c.indexed.items, 0
	for at := range items {
		it := &items[at]
		if it.bucket > 0 {
			start = at
		}
		own := c.entries[it.first : it.first+it.records]
		if it.records > 1 && !allDiffer(len(own), func(i int) uint64 { return own[i].hash }) {
			return false
		}
		// Items with equal references are in one bucket.
		if mates := items[start : at+1]; at+1 == len(items) || items[at+1].bucket > 0 {
			if len(mates) > 1 && !allDiffer(len(mates), func(i int) uint64 { return c.entries[mates[i].first].ref }) {
				return false
			}
		}
	}
	return true
}

func allDiffer(n int, number func(i int) uint64) bool {
	if n > 32 { // only a hostile file has such a bucket; avoid quadratic time
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

// sameRefs reports whether each entry's reference is that of its name.
func (c *catalog) sameRefs() bool {
	var wrong atomic.Bool
	inParts(len(c.entries), func(from, to int) {
		var name []byte // one buffer, because md5 takes bytes and a conversion would allocate
		for i := from; i < to; i++ {
			e := &c.entries[i]
			if i > from && e.name == c.entries[i-1].name && e.ref == c.entries[i-1].ref {
				continue
			}
			name = append(name[:0], e.name...)
			if sum := md5.Sum(name); le.Uint64(sum[:]) != e.ref {
				wrong.Store(true)
				return
			}
		}
	})
	return !wrong.Load()
}

// matches reports whether the profile's hash table holds the same keys in the
// same order, in the buckets where lookups find them, with records of the same
// hashes and shapes.
func (r *indexedReader) matches(c *catalog, n *numbers) bool {
	start, end := r.table.Payload()
	r.locate(n)
	n.places = slices.Grow(n.places, len(c.entries))
	data, mask := r.data[:end], uint64(c.key.buckets-1)
	pos := int(start)
	// What follows the counters of a simple item: since version 11 a bitmap
	// size of 0, then the header of empty value data.
	var simple [2 * 8]byte
	rest := simple[:]
	if uint32(c.key.word) < 11 {
		rest = simple[8:]
	}
	simple[8] = valueDataHeader
	for i := range c.indexed.items {
		it := &c.indexed.items[i]
		b := data[pos:]
		if len(b) < len(it.head) {
			return false
		}
		b = b[:len(it.head)]
		if it.bucket > 0 && r.table.BucketOffset(le.Uint64(b[ondisk.BucketHeaderSize:])&mask) != uint64(pos) {
			return false
		}
		at := it.sizeAt()
		if it.valued {
			if string(b[:at]) != it.head[:at] || string(b[at+8:]) != it.head[at+8:] {
				return false
			}
		} else if string(b) != it.head {
			return false
		}
		if it.simple {
			at, count := pos+len(b), int(le.Uint64(b[len(b)-8:]))
			pos = at + 8*count + len(rest)
			if pos > len(data) || string(data[pos-len(rest):pos]) != string(rest) {
				return false
			}
			n.places = append(n.places, place{int32(at), int32(count)})
			continue
		}
		pos += len(b) - recordHead
		recordsAt, size := pos, le.Uint64(b[at:])
		for f := range it.records {
			length := r.matchRecord(&c.entries[it.first+f], data[pos:], pos, n)
			if length == 0 {
				return false
			}
			pos += length
		}
		if uint64(pos-recordsAt) != size {
			return false
		}
	}
	return int(end)-pos < 8
}

// matchRecord returns the size in bytes of the record at the start of b, which
// lies at offset pos of the file, or 0 if the record does not have the hash and
// form of e.
func (r *indexedReader) matchRecord(e *entry, b []byte, pos int, n *numbers) (size int) {
	size = recordHead + 8*int(e.counters)
	if len(b) < size || le.Uint64(b) != e.hash || le.Uint64(b[8:]) != uint64(e.counters) {
		return 0
	}
	n.places = append(n.places, place{int32(pos + recordHead), e.counters})
	if r.about.Version >= 11 {
		if len(b) < size+8+8*int(e.bits) || le.Uint64(b[size:]) != uint64(e.bits) {
			return 0
		}
		size += 8
		for range e.bits {
			if le.Uint64(b[size:]) > 0xff {
				return 0
			}
			size += 8
		}
	}
	if e.sites.any() {
		length, ok := e.sites.match(le, b[size:])
		if !ok {
			return 0
		}
		n.blobs = append(n.blobs, pos+size)
		return size + length
	}
	if len(b) < size+valueDataHeader || le.Uint64(b[size:]) != valueDataHeader { // no kinds
		return 0
	}
	return size + valueDataHeader
}
