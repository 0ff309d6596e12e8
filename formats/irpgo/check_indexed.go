package irpgo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
)

// indexed checks an indexed profile after its records.
func (c *checker) indexed(r *indexedReader) {
	if r.about.Version >= 4 && le.Uint64(r.data[16:]) != 0 {
		c.remark(flaw.At("header", 16).Field("unused word").Gotf("%#x", le.Uint64(r.data[16:])).Want("0").
			Corrupt())
	}
	c.variant(r.about.Variant, 8)
	c.table(r)
	c.sections(r)
	c.binaryIDs(r.about.BinaryIDs)
	c.traces(r)
}

// table checks the contents of the buckets, and that the index of the hash table points to all buckets
// and to nothing else. The reader checks that a lookup finds every item.
func (c *checker) table(r *indexedReader) {
	buckets := uint64(r.table.NumBuckets())
	seen := make([]bool, buckets)
	names, last := make(map[uint64]struct{}), uint64(0) // of one bucket
	n := 0
	err := r.table.Items(true, func(it hashtable.Item) bool {
		b := it.Hash & (buckets - 1)
		if seen[b] = true; b != last {
			clear(names)
			last = b
		}
		if _, again := names[it.Hash]; again {
			c.note(flaw.At("hash table", it.DataOff).InRecord(n).Field("key").Got(string(it.Key) + " again").
				Want("each name once").Corrupt())
		}
		names[it.Hash] = struct{}{}
		c.hashes(r, it, n)
		n++
		return true
	})
	if err != nil {
		return // the reader has reported it
	}
	for b := range buckets {
		at := r.header.hashOffset + hashtable.IndexHeaderSize + 8*b
		if !seen[b] && le.Uint64(r.data[at:]) != 0 {
			c.note(flaw.At("hash table", int64(at)).Field(fmt.Sprintf("offset of bucket %d", b)).
				Gotf("%#x", le.Uint64(r.data[at:])).Want("0, for the bucket is empty").Corrupt())
		}
	}
}

// hashes checks the hashes of single records, which reading does not need.
func (c *checker) hashes(r *indexedReader, it hashtable.Item, n int) {
	cur := cursor.New("function records", it.DataOff, it.Data, le)
	cur.Record = n
	for first := true; cur.Len() > 0; first = false {
		at := cur.Offset()
		if r.readRecord(cur, string(it.Key), first) != nil {
			return
		}
		if ir := r.about.Variant.Has(IRLevel) && r.about.Version >= 7; ir && (!hashOfIR(r.rec.Hash) || r.rec.IsCS() && !r.about.Variant.Has(ContextSens)) {
			// A sum of front-end and IR profiles has them, too.
			c.remark(flaw.At("function records", at).InRecord(n).Field("function hash").
				Gotf("%#x", r.rec.Hash).Want("one of " + r.about.Variant.String() + " instrumentation").Corrupt())
		}
		for _, sites := range r.rec.Values {
			for _, site := range sites {
				if !slices.IsSortedFunc(site, func(a, b ValueData) int { return cmp.Compare(b.Count, a.Count) }) {
					c.remark(flaw.At("function records", at).InRecord(n).Field("values of " + string(it.Key)).
						Got("not in descending order of their counts").Want("as LLVM sorts them").Corrupt())
				}
			}
		}
	}
}

// sections checks that the sections after the hash table follow each other and end with the file. The
// check of the memprof section tells where that section ends.
func (c *checker) sections(r *indexedReader) {
	h := &r.header
	type part struct {
		name       string
		start, end uint64
	}
	var parts []part
	sized := func(name string, off uint64) {
		size := le.Uint64(r.data[off:])
		parts = append(parts, part{name, off, off + 8 + size + cursor.PadTo(size, 8)})
	}
	if r.memprof != nil {
		end := uint64(len(r.data))
		if r.about.Version >= 9 {
			end = h.binaryIDs
		}
		parts = append(parts, part{"memprof section", h.memProf, end})
	}
	if r.about.Version >= 9 {
		sized("binary ids", h.binaryIDs)
	}
	if r.about.Version >= 12 {
		sized("vtable names", h.vtableNames)
	}
	if r.about.Version >= 10 && r.about.Variant.Has(HasTemporal) {
		size := uint64(16)
		for _, t := range r.traceList {
			size += 16 + 8*uint64(len(t.NameRefs))
		}
		parts = append(parts, part{"temporal traces", h.traces, h.traces + size})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.start, b.start) })
	end := uint64(r.table.End())
	for _, p := range parts {
		switch {
		case p.start > end:
			c.note(flaw.At(p.name, int64(end)).Field("data before the section").Gotf("%d bytes", p.start-end).
				Want("none").Corrupt())
		case p.start < end:
			c.note(flaw.At(p.name, int64(p.start)).Field("start of the section").Gotf("%#x", p.start).
				Wantf("%#x, after what is before it", end).Corrupt())
		}
		end = max(end, p.end)
	}
	if size := uint64(len(r.data)); end < size {
		c.note(flaw.At("", int64(end)).Field("data after the last section").Gotf("%d bytes", size-end).
			Want("none").Corrupt())
	}
}

// traces checks that all functions of the temporal traces are known.
func (c *checker) traces(r *indexedReader) {
	if r.stream < uint64(len(r.traceList)) {
		c.note(flaw.In("temporal traces").Field("trace stream size").Got(r.stream).
			Wantf("at least the %d traces", len(r.traceList)).Corrupt())
	}
	if len(r.traceList) == 0 {
		return
	}
	names := r.symbols()
	for i, t := range r.traceList {
		for _, ref := range t.NameRefs {
			if names.Name(ref) == "" {
				c.note(flaw.In("temporal traces").InRecord(i).Field("name reference").Gotf("%#x", ref).
					Want("the reference of a function of the profile").Corrupt())
			}
		}
	}
}
