package irpgo

import (
	"crypto/md5"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
)

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

// scan implements [catalogSource]. A profile has no catalog if it is damaged, if a name or hash repeats, or if the
// layout of its value data is not LLVM's. The entries are in the order of the hash table.
func (r *indexedReader) scan(c *catalog, n *numbers) bool {
	c.entries = slices.Grow(c.entries, r.table.Len())
	const sorted = 10 // written since LLVM 17, which sorts names
	c.arranged = r.about.Version >= sorted && c.key.buckets == hashtable.NumBuckets(c.key.records)
	c.distinct = r.walk(c, n, false) && c.namesDiffer(r.table)
	return c.distinct && c.sameRefs()
}

// matches reports whether the profile's hash table holds the same keys in the
// same order, with records of the same hashes and forms.
func (r *indexedReader) matches(c *catalog, n *numbers) bool { return r.walk(c, n, true) }

// walk validates the hash table and locates the numbers of its records in n. It appends the records to c or, if
// they are known, compares them with c. An item must be in the bucket where a lookup of its reference finds it.
func (r *indexedReader) walk(c *catalog, n *numbers, known bool) bool {
	start, end := r.table.Payload()
	b, mask := r.data[start:end], uint64(r.table.NumBuckets()-1)
	n.data, n.bigEndian, n.counters, n.width, n.bitmap = r.data, false, r.data, 8, r.data
	n.runs, n.bitmaps, n.blobs = slices.Grow(n.runs[:0], r.table.Len()), n.bitmaps[:0], n.blobs[:0]
	items, bucket, at := uint16(0), uint64(0), 0 // items left in the bucket, its number, index of the next entry
	const fixed = 24                             // bytes of an item before its name
	var names nameBlock
	for range r.table.Len() {
		if items == 0 {
			if len(b) < hashtable.BucketHeaderSize+fixed {
				return false
			}
			last := bucket
			items, bucket = le.Uint16(b), le.Uint64(b[hashtable.BucketHeaderSize:])&mask
			if bucket <= last && at > 0 || r.table.BucketOffset(bucket) != uint64(int(end)-len(b)) {
				return false
			}
			b = b[hashtable.BucketHeaderSize:]
		}
		if items == 0 || len(b) < fixed {
			return false
		}
		items--
		ref, length, size := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])
		b = b[fixed:]
		if length > uint64(len(b)) || size > uint64(len(b))-length || size == 0 || ref&mask != bucket {
			return false
		}
		name, records := b[:length], b[length:length+size]
		b = b[length+size:]
		if known && (at == len(c.entries) || c.entries[at].name != string(name)) {
			return false
		}
		key := ""
		if !known {
			key = names.add(name, len(b))
		}
		for pos := int(end) - len(b) - len(records); len(records) > 0; at++ {
			var e entry
			used := r.walkRecord(&e, n, records, pos)
			switch {
			case used == 0, known && at == len(c.entries):
				return false
			case known:
				if was := &c.entries[at]; was.ref != ref || was.hash != e.hash || was.form != e.form {
					return false
				}
			default:
				to := c.next()
				to.name, to.ref, to.hash, to.form = key, ref, e.hash, e.form
				c.count(to)
			}
			records, pos = records[used:], pos+used
		}
	}
	return items == 0 && len(b) < 8 && at == len(c.entries)
}

// walkRecord reads the record that b begins with, at offset pos of the file. It sets the hash and form of e, adds
// the numbers to n, and returns the size of the record in bytes, or 0 if the record is damaged.
func (r *indexedReader) walkRecord(e *entry, n *numbers, b []byte, pos int) (size int) {
	if len(b) < 16 {
		return 0
	}
	e.hash = le.Uint64(b)
	count := le.Uint64(b[8:])
	if count == 0 || count > uint64(len(b)-16)/8 {
		return 0
	}
	e.counters = int32(count)
	n.runs = append(n.runs, fileRun{int32(pos + 16), e.counters})
	size = 16 + 8*int(count)
	if r.about.Version >= packedBitmaps {
		bits, ok := packedSize(b[size:])
		if !ok {
			return 0
		}
		if e.bits = int32(bits); bits > 0 {
			n.bitmaps = append(n.bitmaps, int32(pos+size+8))
		}
		size += 8 + int(bits+cursor.PadTo(bits, 8))
		if bits, ok = packedSize(b[size:]); !ok || bits > 0 { // of a GPU: read record by record
			return 0
		}
		size += 8
	} else if r.about.Version >= 11 {
		if len(b)-size < 8 || le.Uint64(b[size:]) > uint64(len(b)-size-8)/8 {
			return 0
		}
		e.bits = int32(le.Uint64(b[size:]))
		if size += 8; e.bits > 0 {
			n.bitmaps = append(n.bitmaps, int32(pos+size))
			for range e.bits {
				if le.Uint64(b[size:]) > 0xff {
					return 0
				}
				size += 8
			}
		}
	}
	if len(b)-size >= valueDataHeader && le.Uint64(b[size:]) == valueDataHeader { // no kinds
		return size + valueDataHeader
	}
	values := e.sites.read(false, b[size:])
	if values == 0 {
		return 0
	}
	n.blobs = append(n.blobs, pos+size)
	return size + values
}

// packedSize returns the number of bytes that b counts in its first word, if b holds them and their padding.
func packedSize(b []byte) (n uint64, ok bool) {
	if len(b) < 8 {
		return 0, false
	}
	n = le.Uint64(b)
	return n, n <= uint64(len(b)-8) && n+cursor.PadTo(n, 8) <= uint64(len(b)-8)
}

// A nameBlock holds the names of many entries in few allocations.
type nameBlock struct{ strings.Builder }

// add copies a name; at most left bytes of names follow.
func (b *nameBlock) add(name []byte, left int) string {
	const size = 1 << 20
	if b.Cap()-b.Len() < len(name) {
		b.Builder = strings.Builder{}
		b.Grow(max(len(name), min(size, left)))
	}
	start := b.Len()
	b.Write(name)
	return b.String()[start:]
}

// keys returns for each name the end of its entries, which are adjacent.
func (c *catalog) keys() (ends []int32) {
	ends = make([]int32, 0, len(c.entries))
	for i := range c.entries {
		if i+1 == len(c.entries) || c.entries[i].ref != c.entries[i+1].ref {
			ends = append(ends, int32(i+1))
		}
	}
	return ends
}

// namesDiffer reports whether all items differ in their references, and all records of an item in their hashes.
// Items with equal references are in one bucket; only in a hostile file has it more than a few items.
func (c *catalog) namesDiffer(r *hashtable.Table) bool {
	ends, mask := c.keys(), uint64(r.NumBuckets()-1)
	if len(ends) != r.Len() {
		return false
	}
	from, refs, bucket := int32(0), make([]uint64, 0, 8), uint64(0)
	for _, end := range ends {
		own := c.entries[from:end]
		if len(own) > 1 && !allDiffer(len(own), func(i int) uint64 { return own[i].hash }) {
			return false
		}
		if b := own[0].ref & mask; b != bucket || from == 0 {
			refs, bucket = refs[:0], b
		}
		if slices.Contains(refs, own[0].ref) || len(refs) == 64 {
			return false
		}
		refs = append(refs, own[0].ref)
		from = end
	}
	return true
}

// sameRefs reports whether each entry has the reference of its name.
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
