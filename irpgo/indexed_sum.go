package irpgo

import (
	"slices"
	"sort"
	"strings"

	"github.com/profuse-pgo/profuse/internal/ondisk"
	"github.com/profuse-pgo/profuse/internal/tally"
)

// sumTable is the table of a sum of indexed profiles of one shape. It has the
// keys of those, and so their buckets, one after the other in memory: neither
// are the names sorted nor is anything built of them. Only in what order the
// items of one bucket stand has to be found out, for the inputs may have been
// written by another release, or have been less when they were written.
type sumTable struct {
	x     *indexedWriter
	shape *shape
	sum   *shapeSum
	sites []ValueSite
	order []int32 // items as they are written; those of a bucket lie where they lay
}

// newSumTable returns the table of a sum, nil if it is none of its own keys in
// their places, or one that the writer has something to leave out of.
func newSumTable(x *indexedWriter, sum *shapeSum, compat bool) *sumTable {
	s := sum.shape
	switch {
	case !x.rel.sortedKeys, x.opt.Sparse:
		return nil
	case len(s.indexed.items) < fewKeys, ondisk.NumBuckets(len(s.indexed.items)) != s.key.buckets:
		return nil
	case x.opt.Version < 11 && s.bitmap > 0:
		return nil
	}
	for _, i := range s.valued {
		for _, n := range s.functions[i].sites[x.kinds:] {
			if n > 0 {
				return nil
			}
		}
	}
	t := &sumTable{x: x, shape: s, sum: sum}
	if !t.arrange() {
		return nil
	}
	t.sites = sum.finishedSites(compat)
	sortValues(t.sites)
	return t
}

// fewKeys is below which tables are not worth a way of their own.
const fewKeys = 256

// arrange finds the order of the items. It reports false if the buckets are
// out of order.
func (t *sumTable) arrange() bool {
	items := t.shape.indexed.items
	t.order = make([]int32, len(items))
	for i := range items {
		t.order[i] = int32(i)
	}
	byName := func(a, b int32) int { return strings.Compare(t.name(a), t.name(b)) }
	var turned []uint8
	last := -1
	for i := 0; i < len(items); i += int(items[i].bucket) {
		if b := t.bucket(i); b <= last {
			return false
		} else {
			last = b
		}
		n := int(items[i].bucket)
		if n == 1 {
			continue
		}
		if turned == nil {
			turned = t.turns()
		}
		mates := t.order[i : i+n]
		slices.SortFunc(mates, byName)
		ondisk.Chain(mates, func(item int32) int { return int(turned[item]) })
	}
	return true
}

// turns returns, by item, how often the table is resized after it was inserted.
func (t *sumTable) turns() []uint8 {
	keys := make([]nameKey, len(t.shape.indexed.items))
	for i := range keys {
		keys[i].index = int32(i)
	}
	growth := ondisk.Growth(len(keys))
	// Names are inserted in their order: what has come first counts.
	splitNames(keys, growth, func(i int) string { return t.name(int32(i)) }, 0)
	turned := make([]uint8, len(keys))
	for i, n := range growth {
		from := 0
		if i > 0 {
			from = growth[i-1]
		}
		for _, k := range keys[from:n] {
			turned[k.index] = uint8(len(growth) - i)
		}
	}
	return turned
}

func (t *sumTable) first(item int32) *shapeFunction {
	return &t.shape.functions[t.shape.indexed.items[item].first]
}

func (t *sumTable) name(item int32) string { return t.first(item).name }

// bucket returns the bucket that an item is in.
func (t *sumTable) bucket(i int) int {
	return int(t.first(int32(i)).nameRef & uint64(t.shape.key.buckets-1))
}

func (t *sumTable) numKeys() int    { return len(t.order) }
func (t *sumTable) numBuckets() int { return t.shape.key.buckets }

func (t *sumTable) bucketSizes(sizes []uint64) {
	for i := range t.order {
		sizes[t.bucket(i)] += uint64(ondisk.ItemSize(len(t.name(int32(i))), t.size(int32(i))))
	}
}

// size returns the bytes that the records of an item take.
func (t *sumTable) size(item int32) (size int) {
	it := &t.shape.indexed.items[item]
	for i := it.first; i < it.first+it.functions; i++ {
		f := &t.shape.functions[i]
		size += 16 + 8*int(f.count)
		if t.x.opt.Version >= 11 {
			size += 8 + 8*int(f.bits)
		}
		if !f.valued() {
			size += valueDataHeader
		} else {
			v := f.values(t.sites[f.site:])
			size += valueDataSize(&v)
		}
	}
	return size
}

func (t *sumTable) summarize(sum, cs *SummaryBuilder) {
	large := 0
	for _, c := range t.sum.counts {
		if !tally.IsSmall(c) {
			large++
		}
	}
	sum.counts.Expect(large)
	for i := range t.shape.functions {
		f := &t.shape.functions[i]
		counts := t.sum.counts[f.counters : f.counters+f.count]
		if f.hash&csHashBit != 0 {
			cs.Add(counts)
		} else {
			sum.Add(counts)
		}
	}
}

func (t *sumTable) appendBuckets(dst []byte, from, to int) []byte {
	items := t.shape.indexed.items
	i := sort.Search(len(items), func(i int) bool { return t.bucket(i) >= from })
	for i < len(items) && t.bucket(i) < to {
		n := int(items[i].bucket)
		dst = le.AppendUint16(dst, uint16(n))
		for _, item := range t.order[i : i+n] {
			dst = t.appendItem(dst, item)
		}
		i += n
	}
	return dst
}

func (t *sumTable) appendItem(dst []byte, item int32) []byte {
	it, f := &t.shape.indexed.items[item], t.first(item)
	dst = appendItemHead(dst, f.nameRef, f.name, t.size(item))
	if it.functions == 1 {
		r := t.sum.record(f, t.sites[f.site:])
		return t.x.appendRecord(dst, &r)
	}
	records := make([]*Record, it.functions)
	for i := range records {
		f := &t.shape.functions[int(it.first)+i]
		r := t.sum.record(f, t.sites[f.site:])
		records[i] = &r
	}
	for _, r := range recordOrder(records, t.x.rel) {
		dst = t.x.appendRecord(dst, r)
	}
	return dst
}
