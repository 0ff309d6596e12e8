package irpgo

import (
	"math"
	"strings"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/ondisk"
)

// indexedShape is what the indexed profiles of one shape have in common: the
// order of their hash table. Its hashes and keys are those of the shape's
// functions.
type indexedShape struct {
	items []indexedItem
}

// indexedItem is one key with its records.
type indexedItem struct {
	functions int32 // records
	bucket    int32 // items in the bucket that begins here, 0 if none does
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
// not one for the fast way: without counters, or too old.
func newIndexedShape(key shapeKey, r *indexedReader) *shape {
	if r.about.Version < 4 || len(r.data) > math.MaxInt32 {
		return nil
	}
	x := &indexedShape{items: make([]indexedItem, 0, r.table.Len())}
	s := &shape{key: key, indexed: x, functions: make([]shapeFunction, 0, r.table.Len())}
	var keys strings.Builder
	ends := make([]int32, 0, r.table.Len()) // of each key in keys
	bucket, bucketAt := uint64(0), -1       // the current one, and its first item
	sound := true
	err := r.table.Items(true, func(it ondisk.Item) bool {
		if b := it.Hash & uint64(r.table.NumBuckets()-1); b != bucket || bucketAt < 0 {
			bucket, bucketAt = b, len(x.items)
		}
		keys.Write(it.Key)
		ends = append(ends, int32(keys.Len()))
		x.items = append(x.items, indexedItem{})
		x.items[bucketAt].bucket++
		c := cursor.New("", it.DataOff, it.Data, le)
		sound = c.Len() > 0
		for first := true; c.Len() > 0; first = false {
			if r.readRecord(c, "", first) != nil || len(r.rec.Counts) == 0 {
				sound = false
				return false
			}
			s.addFunction(it.Hash, &r.rec)
			x.items[len(x.items)-1].functions++
		}
		return sound
	})
	if err != nil || !sound {
		return nil
	}
	x.name(s, keys.String(), ends)
	if !s.sameRefs() {
		return nil
	}
	s.unique = x.unique(s)
	return s.finish()
}

// sameRefs reports whether all references are those of the names.
func (s *shape) sameRefs() bool {
	var wrong atomic.Bool
	inParts(len(s.functions), func(from, to int) {
		for i := from; i < to; i++ {
			if f := &s.functions[i]; (i == from || f.name != s.functions[i-1].name) && NameRef(f.name) != f.nameRef {
				wrong.Store(true)
				return
			}
		}
	})
	return !wrong.Load()
}

// unique reports whether no two functions have name and hash in common. Those
// of one name are in one bucket.
func (x *indexedShape) unique(s *shape) bool {
	start, at := 0, 0 // first function of the bucket, of the item
	for _, it := range x.items {
		if it.bucket > 0 {
			start = at
		}
		for range it.functions {
			f := &s.functions[at]
			for i := start; i < at; i++ {
				if o := &s.functions[i]; o.hash == f.hash && o.nameRef == f.nameRef {
					return false
				}
			}
			at++
		}
	}
	return true
}

// addFunction adds a function whose counters, bitmap and sites follow those of
// the ones before it. It has no name yet.
func (s *shape) addFunction(ref uint64, r *Record) {
	f := shapeFunction{
		nameRef: ref, hash: r.Hash,
		counters: int32(s.counters), count: int32(len(r.Counts)),
		bitmap: int32(s.bitmap), bits: int32(len(r.Bitmap)),
	}
	for k, sites := range r.Values {
		f.sites[k] = int32(len(sites))
	}
	s.counters += len(r.Counts)
	s.bitmap += len(r.Bitmap)
	s.functions = append(s.functions, f)
}

// name gives the functions their names, which are parts of one string.
func (x *indexedShape) name(s *shape, keys string, ends []int32) {
	at, start := 0, int32(0)
	for i, it := range x.items {
		for range it.functions {
			s.functions[at].name = keys[start:ends[i]]
			at++
		}
		start = ends[i]
	}
}

// matchIndexed reports whether the reader's profile, whose key is that of the
// shape, has the shape: a hash
// table of the same keys in the same order, where lookups would find them,
// with the same records.
func (s *shape) matchIndexed(r *indexedReader, to *shapedProfile) bool {
	start, end := r.table.Payload()
	to.data, to.order, to.slide, to.mask = r.data, le, 0, 1<<64-1
	to.counters, to.bitmap = nil, nil
	to.records, to.blobs = to.records[:0], to.blobs[:0]
	at, valued := 0, s.valued
	pos := int(start)
	for i := range s.indexed.items {
		it := &s.indexed.items[i]
		b := r.data[pos:end]
		ref, name := s.functions[at].nameRef, s.functions[at].name
		if it.bucket > 0 {
			if len(b) < ondisk.BucketHeaderSize || int32(le.Uint16(b)) != it.bucket ||
				r.table.BucketOffset(ref&uint64(s.key.buckets-1)) != uint64(pos) {
				return false
			}
			b = b[ondisk.BucketHeaderSize:]
			pos += ondisk.BucketHeaderSize
		}
		head := ondisk.ItemSize(len(name), 0)
		if len(b) < head || le.Uint64(b) != ref || le.Uint64(b[8:]) != uint64(len(name)) || string(b[24:head]) != name {
			return false
		}
		size := le.Uint64(b[16:])
		if size > uint64(len(b)-head) {
			return false
		}
		pos += head
		b = b[head : head+int(size)]
		for range it.functions {
			hasValues := len(valued) > 0 && int(valued[0]) == at
			if hasValues {
				valued = valued[1:]
			}
			n := s.matchIndexedRecord(at, b, pos, hasValues, to)
			if n == 0 {
				return false
			}
			at++
			pos += n
			b = b[n:]
		}
		if len(b) != 0 {
			return false
		}
	}
	return int(end)-pos < 8
}

// matchIndexedRecord returns the size of the record of function i at the
// beginning of b, which lies at offset pos of the file, 0 if it has another
// shape.
func (s *shape) matchIndexedRecord(i int, b []byte, pos int, hasValues bool, to *shapedProfile) (size int) {
	f := &s.functions[i]
	size = 16 + 8*int(f.count)
	if len(b) < size || le.Uint64(b) != f.hash || le.Uint64(b[8:]) != uint64(f.count) {
		return 0
	}
	to.records = append(to.records, pos+16)
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
	if hasValues {
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
