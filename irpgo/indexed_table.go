package irpgo

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/ondisk"
)

// An indexedTable is what the hash table of an indexed file is made of. It may
// be encoded by several goroutines.
type indexedTable interface {
	numKeys() int
	numBuckets() int
	// bucketSizes sets the bytes that each bucket's items take; those of empty
	// ones are 0 already.
	bucketSizes(sizes []uint64)
	// appendBuckets appends the buckets from one up to before another.
	appendBuckets(dst []byte, from, to int) []byte
	// summarize adds the counters of all records, those of context-sensitive
	// ones to cs.
	summarize(sum, cs *SummaryBuilder)
}

// profileTable is the table of a [Profile].
type profileTable struct {
	x         *indexedWriter
	functions []*Function // in order of insertion
	hashes    []uint64    // name references of functions
	sizes     []int       // bytes that their records take
	chains    *ondisk.Chains
}

// newProfileTable chooses the functions and their places.
func newProfileTable(x *indexedWriter) *profileTable {
	all := make([]*Function, len(x.p.Functions))
	for i := range x.p.Functions {
		all[i] = &x.p.Functions[i]
	}
	t := &profileTable{x: x, functions: keyOrder(all, x.rel)}
	if x.opt.Sparse {
		t.functions = slices.DeleteFunc(slices.Clone(t.functions), func(f *Function) bool { return !f.ran() })
	}
	t.hashes = make([]uint64, len(t.functions))
	t.sizes = make([]int, len(t.functions))
	for i, f := range t.functions {
		t.hashes[i] = f.nameRef()
		for _, r := range f.Records {
			t.sizes[i] += x.recordSize(r)
		}
	}
	t.chains = ondisk.Arrange(t.hashes)
	return t
}

func (t *profileTable) numKeys() int    { return len(t.functions) }
func (t *profileTable) numBuckets() int { return t.chains.NumBuckets() }

func (t *profileTable) bucketSizes(sizes []uint64) {
	mask := uint64(len(sizes) - 1)
	for i, f := range t.functions {
		sizes[t.hashes[i]&mask] += uint64(ondisk.ItemSize(len(f.Name), t.sizes[i]))
	}
}

func (t *profileTable) summarize(sum, cs *SummaryBuilder) {
	for _, f := range t.functions {
		for _, r := range f.Records {
			if r.IsCS() {
				cs.Add(r.Counts)
			} else {
				sum.Add(r.Counts)
			}
		}
	}
}

func (t *profileTable) appendBuckets(dst []byte, from, to int) []byte {
	for b := from; b < to; b++ {
		head, n := len(dst), uint16(0)
		for i := range t.chains.Bucket(b) {
			if n == 0 {
				dst = le.AppendUint16(dst, 0)
			}
			f := t.functions[i]
			dst = appendItemHead(dst, t.hashes[i], f.Name, t.sizes[i])
			for _, r := range recordOrder(f.Records, t.x.rel) {
				dst = t.x.appendRecord(dst, r)
			}
			n++
		}
		if n > 0 {
			le.PutUint16(dst[head:], n)
		}
	}
	return dst
}

// appendItemHead appends what precedes the records of a name, which take size
// bytes.
func appendItemHead(dst []byte, ref uint64, name string, size int) []byte {
	dst = le.AppendUint64(dst, ref)
	dst = le.AppendUint64(dst, uint64(len(name)))
	dst = le.AppendUint64(dst, uint64(size))
	return append(dst, name...)
}
