package irpgo

import (
	"crypto/md5"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/ondisk"
)

// indexedShape is what the indexed profiles of one shape have in common: the
// order of their hash table. Its hashes and keys are those of the shape's
// functions.
type indexedShape struct {
	items    []indexedItem
	distinct bool // no two items have a name in common
}

// indexedItem is one key with its records.
type indexedItem struct {
	// head is what precedes the counters of the first record: the number of
	// items if a bucket begins here, hash, lengths and name, and hash and number
	// of counters of the record.
	head      string
	first     int32 // function
	functions int32 // records
	bucket    int32 // items in the bucket that begins here, 0 if none does
	valued    bool  // values make the records longer or shorter
	simple    bool  // one record of nothing but counters
}

// recordHead is the size of hash and number of counters.
const recordHead = 16

// sizeAt returns where in the head the size of the records stands.
func (it *indexedItem) sizeAt() int {
	if it.bucket > 0 {
		return ondisk.BucketHeaderSize + 16
	}
	return 16
}

func indexedKey(r *indexedReader) shapeKey {
	sample := uint64(0)
	for b := range min(r.table.NumBuckets(), 512) {
		if sample *= 3; r.table.BucketOffset(uint64(b)) != 0 {
			sample++
		}
	}
	return shapeKey{
		sample: sample,
		format: FormatIndexed, word: r.about.VersionWord,
		records: r.table.Len(), buckets: r.table.NumBuckets(),
	}
}

// newIndexedShape works out the shape of a profile, nil if it is damaged or
// not one for the fast way: without counters, or too old. Where in the profile
// is what goes to p.
func newIndexedShape(key shapeKey, r *indexedReader, p *shapedProfile) *shape {
	if r.about.Version < 4 || len(r.data) > math.MaxInt32 {
		return nil
	}
	x := &indexedShape{items: make([]indexedItem, 0, r.table.Len())}
	s := &shape{key: key, indexed: x, functions: make([]shapeFunction, 0, r.table.Len())}
	p.begin(r)
	if !x.read(s, r, p) || !s.sameRefs() {
		return nil
	}
	s.unique = x.unique(s)
	if s.finish() == nil {
		return nil
	}
	p.of = s
	return s
}

// begin makes p that of another profile, of which nothing is known yet.
func (p *shapedProfile) begin(r *indexedReader) {
	p.data, p.order, p.slide, p.mask = r.data, le, 0, 1<<64-1
	p.counters, p.bitmap = nil, nil
	p.records, p.blobs = p.records[:0], p.blobs[:0]
}

// headBlock is how many bytes of heads share a block of memory.
const headBlock = 1 << 20

// read reads the items of a profile and their functions. It reports false if
// there is anything wrong with them.
func (x *indexedShape) read(s *shape, r *indexedReader, p *shapedProfile) bool {
	start, end64 := r.table.Payload()
	pos, end := int(start), int(end64)
	var heads strings.Builder
	left, bucketAt := int32(0), 0
	for range r.table.Len() {
		at, it := pos, indexedItem{first: int32(len(s.functions))}
		if left == 0 {
			if end-pos < ondisk.BucketHeaderSize {
				return false
			}
			left = int32(le.Uint16(r.data[pos:]))
			it.bucket, bucketAt = left, pos
			pos += ondisk.BucketHeaderSize
		}
		left--
		fixed := ondisk.ItemSize(0, 0)
		if left < 0 || end-pos < fixed {
			return false
		}
		ref, length, size := le.Uint64(r.data[pos:]), le.Uint64(r.data[pos+8:]), le.Uint64(r.data[pos+16:])
		pos += fixed
		if length > uint64(end-pos) || size > uint64(end-pos)-length || size < recordHead ||
			r.table.BucketOffset(ref&uint64(s.key.buckets-1)) != uint64(bucketAt) {
			return false
		}
		pos += int(length)
		head := r.data[at : pos+recordHead]
		if heads.Cap()-heads.Len() < len(head) {
			heads = strings.Builder{}
			heads.Grow(max(len(head), min(headBlock, end-at)))
		}
		before := heads.Len()
		heads.Write(head)
		it.head = heads.String()[before:]
		name := it.head[len(it.head)-recordHead-int(length) : len(it.head)-recordHead]
		for b := r.data[pos : pos+int(size)]; len(b) > 0; {
			n := r.recordSize(b)
			if n == 0 || !s.addFunction(name, ref, b[:n], pos, p) {
				return false
			}
			it.functions++
			it.valued = it.valued || s.functions[len(s.functions)-1].kinds() > 0
			b = b[n:]
			pos += n
		}
		it.simple = it.functions == 1 && !it.valued && s.functions[it.first].bits == 0
		x.items = append(x.items, it)
	}
	return left == 0 && end-pos < 8
}

// addFunction adds a function whose counters, bitmap and sites follow those of
// the ones before it. Its record, which is sound, is at offset pos of the file.
// It reports false if the record's values have another form than LLVM gives
// them.
func (s *shape) addFunction(name string, ref uint64, record []byte, pos int, p *shapedProfile) bool {
	count, size := int32(le.Uint64(record[8:])), recordHead
	f := shapeFunction{
		name: name, nameRef: ref, hash: le.Uint64(record),
		counters: int32(s.counters), count: count, bitmap: int32(s.bitmap),
	}
	p.records = append(p.records, recordPlace{int32(pos + recordHead), count})
	size += 8 * int(count)
	if uint32(s.key.word) >= 11 {
		f.bits = int32(le.Uint64(record[size:]))
		size += 8 + 8*int(f.bits)
	}
	values := record[size:]
	if le.Uint64(values) != valueDataHeader { // there are kinds
		f.setSites(values)
		if n, ok := f.matchBlob(le, values); !ok || n != len(values) || f.kinds() == 0 {
			return false
		}
		p.blobs = append(p.blobs, pos+size)
	}
	s.counters += int(f.count)
	s.bitmap += int(f.bits)
	s.functions = append(s.functions, f)
	return true
}

// setSites takes the numbers of sites from value data that is sound.
func (f *shapeFunction) setSites(values []byte) {
	kinds := le.Uint32(values[4:])
	values = values[valueDataHeader:]
	for range kinds {
		kind, sites := le.Uint32(values), le.Uint32(values[4:])
		f.sites[kind] = int32(sites)
		size := valueKindHeader + (int(sites)+7)&^7
		for _, n := range values[valueKindHeader : valueKindHeader+sites] {
			size += int(n) * valueDataPair
		}
		values = values[size:]
	}
}

// sameRefs reports whether all references are those of the names.
func (s *shape) sameRefs() bool {
	var wrong atomic.Bool
	inParts(len(s.functions), func(from, to int) {
		var name []byte // hashing a string would make a copy of it for each
		for i := from; i < to; i++ {
			f := &s.functions[i]
			if i > from && f.name == s.functions[i-1].name && f.nameRef == s.functions[i-1].nameRef {
				continue
			}
			name = append(name[:0], f.name...)
			if sum := md5.Sum(name); le.Uint64(sum[:]) != f.nameRef {
				wrong.Store(true)
				return
			}
		}
	})
	return !wrong.Load()
}

// unique reports whether no two functions have name and hash in common, and
// finds whether names are distinct. Those of one name are in one bucket.
func (x *indexedShape) unique(s *shape) bool {
	x.distinct = true
	unique := true
	start := 0 // first item of the bucket
	for at, it := range x.items {
		if it.bucket > 0 {
			start = at
		}
		own := s.functions[it.first : it.first+it.functions]
		for i := range own {
			for _, f := range own[:i] {
				unique = unique && f.hash != own[i].hash
			}
		}
		for _, other := range x.items[start:at] {
			if s.functions[other.first].nameRef != own[0].nameRef {
				continue
			}
			x.distinct = false
			for _, f := range s.functions[other.first : other.first+other.functions] {
				for i := range own {
					unique = unique && f.hash != own[i].hash
				}
			}
		}
	}
	return unique
}

// matchIndexed reports whether the reader's profile, whose key is that of the
// shape, has the shape: a hash table of the same keys in the same order, where
// lookups would find them, with the same records.
func (s *shape) matchIndexed(r *indexedReader, to *shapedProfile) bool {
	if to.of == s { // it was made from this profile
		return true
	}
	start, end := r.table.Payload()
	if len(r.data) > math.MaxInt32 {
		return false
	}
	to.begin(r)
	to.records = slices.Grow(to.records, len(s.functions))
	data, mask := r.data[:end], uint64(s.key.buckets-1)
	pos := int(start)
	var simple [2 * 8]byte // what follows the counters of simple items
	rest := simple[:]
	if uint32(s.key.word) < 11 {
		rest = simple[8:]
	}
	simple[8] = valueDataHeader
	for i := range s.indexed.items {
		it := &s.indexed.items[i]
		b := data[pos:]
		if len(b) < len(it.head) {
			return false
		}
		b = b[:len(it.head)]
		at := it.sizeAt()
		if it.bucket > 0 && r.table.BucketOffset(le.Uint64(b[ondisk.BucketHeaderSize:])&mask) != uint64(pos) {
			return false
		}
		if it.simple {
			if string(b) != it.head {
				return false
			}
			at, count := pos+len(b), int(le.Uint64(b[len(b)-8:]))
			pos = at + 8*count + len(rest)
			if pos > len(data) || string(data[pos-len(rest):pos]) != string(rest) {
				return false
			}
			to.records = append(to.records, recordPlace{int32(at), int32(count)})
			continue
		}
		if !it.valued {
			if string(b) != it.head {
				return false
			}
		} else if string(b[:at]) != it.head[:at] || string(b[at+8:]) != it.head[at+8:] {
			return false
		}
		pos += len(b) - recordHead
		recordsAt, size := pos, le.Uint64(b[at:])
		for f := range it.functions {
			n := s.matchIndexedRecord(int(it.first+f), data[pos:], pos, to)
			if n == 0 {
				return false
			}
			pos += n
		}
		if uint64(pos-recordsAt) != size {
			return false
		}
	}
	return int(end)-pos < 8
}

// addRecords adds the counters of an indexed profile as addWords does.
func (sum *shapeSum) addRecords(p *shapedProfile, weight uint64) (or, total uint64) {
	counts := sum.counts
	for _, r := range p.records {
		raw := p.data[r.at : int(r.at)+8*int(r.count)]
		o, t := addWords64(counts[:r.count], raw, weight)
		or |= o
		total += t
		counts = counts[r.count:]
	}
	return or, total
}

// matchIndexedRecord returns the size of the record of function i at the
// beginning of b, which lies at offset pos of the file, 0 if it has another
// shape.
func (s *shape) matchIndexedRecord(i int, b []byte, pos int, to *shapedProfile) (size int) {
	f := &s.functions[i]
	size = recordHead + 8*int(f.count)
	if len(b) < size || le.Uint64(b) != f.hash || le.Uint64(b[8:]) != uint64(f.count) {
		return 0
	}
	to.records = append(to.records, recordPlace{int32(pos + recordHead), f.count})
	if uint32(s.key.word) >= 11 {
		if len(b) < size+8+8*int(f.bits) || le.Uint64(b[size:]) != uint64(f.bits) {
			return 0
		}
		size += 8
		for range f.bits {
			if le.Uint64(b[size:]) > 0xff {
				return 0
			}
			size += 8
		}
	}
	if f.valued() {
		n, ok := f.matchBlob(le, b[size:])
		if !ok {
			return 0
		}
		to.blobs = append(to.blobs, pos+size)
		return size + n
	}
	if len(b) < size+valueDataHeader || le.Uint64(b[size:]) != valueDataHeader { // no kinds
		return 0
	}
	return size + valueDataHeader
}
