package irpgo

import (
	"cmp"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/internal/tally"
)

// release says how the LLVM releases that write a version order things.
type release struct {
	sortedKeys bool // names sorted bytewise; before LLVM 17 in StringMap order
	hash       llvmorder.Hash
}

// releaseOf maps an LLVM major release to its ordering. Verified against 14,
// 16, 19 and 22; 17 and 18 follow from their sources.
func releaseOf(llvm int) release {
	r := release{sortedKeys: llvm >= 17, hash: llvmorder.Times37}
	if llvm >= 19 {
		r.hash = llvmorder.Mixed
	}
	return r
}

// recordOrder returns the records of one name in the order in which LLVM emits them: the
// order of a SmallDenseMap<uint64_t, …, 4> after the hashes were inserted one by one.
func recordOrder(records []*Record, rel release) []*Record {
	if len(records) < 2 {
		return records
	}
	hashes := make([]uint64, len(records))
	for i, r := range records {
		hashes[i] = r.Hash
	}
	ordered := make([]*Record, len(records))
	for i, at := range llvmorder.DenseMap(hashes, 4, rel.hash) {
		ordered[i] = records[at]
	}
	return ordered
}

// An indexedTable is the hash table of an indexed file.
type indexedTable struct {
	x       *indexedWriter
	keys    keySource
	buckets int
	order   []int32  // keys as they are written: bucket by bucket
	refs    []uint64 // by key
	sizes   []int    // by key, bytes that its records take; 0 if it is left out
}

// newTable arranges keys that are in the order of their names.
func (x *indexedWriter) newTable(keys keySource) *indexedTable {
	inserted := make([]int32, keys.len())
	for i := range inserted {
		inserted[i] = int32(i)
	}
	if !x.rel.sortedKeys {
		slices.SortStableFunc(inserted, func(a, b int32) int { return cmp.Compare(keys.seq(int(a)), keys.seq(int(b))) })
		bySeq := slices.Clone(inserted)
		for i, at := range llvmorder.StringMap(len(bySeq), func(i int) string { return keys.name(int(bySeq[i])) }, llvmorder.DJB) {
			inserted[i] = bySeq[at]
		}
	}
	if x.opt.Sparse {
		var memory keyRecords
		inserted = slices.DeleteFunc(inserted, func(key int32) bool {
			return !slices.ContainsFunc(keys.records(int(key), &memory), (*Record).ran)
		})
	}
	t := &indexedTable{x: x, keys: keys, order: make([]int32, 0, len(inserted))}
	t.measure(inserted)
	hashes := make([]uint64, len(inserted))
	for i, key := range inserted {
		hashes[i] = t.refs[key]
	}
	chains := hashtable.Arrange(hashes)
	t.buckets = chains.NumBuckets()
	for b := range t.buckets {
		for i := range chains.Bucket(b) {
			t.order = append(t.order, inserted[i])
		}
	}
	return t
}

// measure sets the references and sizes of keys.
func (t *indexedTable) measure(keys []int32) {
	t.refs, t.sizes = make([]uint64, t.keys.len()), make([]int, t.keys.len())
	var memory keyRecords
	for _, key := range keys {
		size := 0
		for _, r := range t.keys.records(int(key), &memory) {
			size += t.x.recordSize(r)
		}
		t.refs[key], t.sizes[key] = t.keys.ref(int(key)), size
	}
}

// arrangedTable returns the hash table of sums whose entries are in its order already. It
// returns nil if they are not, or if x wants another table.
func (x *indexedWriter) arrangedTable(a *accumulator) *indexedTable {
	c := a.arranged()
	if c == nil || !x.rel.sortedKeys || x.opt.Sparse {
		return nil
	}
	k := &sumKeys{sums: &a.sums, entries: c.entries, ends: c.keys()}
	k.finishSites()
	t := &indexedTable{x: x, keys: k, buckets: c.key.buckets, order: make([]int32, k.len())}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	t.measure(t.order)
	return t
}

// bucket returns the bucket of a key.
func (t *indexedTable) bucket(key int32) int {
	return int(t.refs[key] & uint64(t.buckets-1))
}

// bucketSizes adds up the bytes that each bucket's items take. All sizes are 0 before.
func (t *indexedTable) bucketSizes(sizes []uint64) {
	for key, size := range t.sizes {
		if size > 0 {
			sizes[t.bucket(int32(key))] += uint64(hashtable.ItemSize(len(t.keys.name(key)), size))
		}
	}
}

// summarize adds the counters of all records that are written: to cs if a record is
// context-sensitive, or else to sum.
func (t *indexedTable) summarize(sum, cs *summary.Builder) {
	if k, ok := t.keys.(*sumKeys); ok {
		large := 0
		for _, piece := range k.sums.counts {
			for _, c := range piece {
				if !tally.IsSmall(c) {
					large++
				}
			}
		}
		sum.Expect(large)
	}
	var memory keyRecords
	for key, size := range t.sizes {
		if size == 0 {
			continue
		}
		for _, r := range t.keys.records(key, &memory) {
			if r.IsCS() {
				cs.Add(r.Counts)
			} else {
				sum.Add(r.Counts)
			}
		}
	}
}

// appendBuckets appends the buckets from one up to before another. It may be called by several goroutines.
func (t *indexedTable) appendBuckets(dst []byte, from, to int) []byte {
	i := sort.Search(len(t.order), func(i int) bool { return t.bucket(t.order[i]) >= from })
	var memory keyRecords
	for head, last := 0, -1; i < len(t.order); i++ {
		key := int(t.order[i])
		b := t.bucket(t.order[i])
		if b >= to {
			break
		}
		if b != last {
			head, last = len(dst), b
			dst = le.AppendUint16(dst, 0)
		}
		le.PutUint16(dst[head:], le.Uint16(dst[head:])+1)
		name := t.keys.name(key)
		dst = le.AppendUint64(dst, t.refs[key])
		dst = le.AppendUint64(dst, uint64(len(name)))
		dst = le.AppendUint64(dst, uint64(t.sizes[key]))
		dst = append(dst, name...)
		for _, r := range recordOrder(t.keys.records(key, &memory), t.x.rel) {
			dst = t.x.appendRecord(dst, r)
		}
	}
	return dst
}

// profileKeys are the keys of a [Profile].
type profileKeys struct {
	functions []Function
	refs      []uint64
}

func newProfileKeys(p *Profile) *profileKeys {
	k := &profileKeys{p.Functions, make([]uint64, len(p.Functions))}
	for i := range p.Functions {
		k.refs[i] = p.Functions[i].nameRef()
	}
	return k
}

func (k *profileKeys) len() int                               { return len(k.functions) }
func (k *profileKeys) name(i int) string                      { return k.functions[i].Name }
func (k *profileKeys) ref(i int) uint64                       { return k.refs[i] }
func (k *profileKeys) seq(i int) uint64                       { return k.functions[i].seq }
func (k *profileKeys) records(i int, _ *keyRecords) []*Record { return k.functions[i].Records }
