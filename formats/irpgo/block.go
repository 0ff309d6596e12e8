package irpgo

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A block holds sums of profiles of one catalog, in the order of its entries: all of them
// or, if the entries are in the table, those of counters and bitmaps that are not there yet.
type block struct {
	sums
	catalog  *catalog
	first    int // smallest index of a profile
	profiles int
	// at holds the index in the table of each entry and siteAt that of the first site of each
	// extra; nil as long as the table is empty.
	at, siteAt []int32
}

// known returns the block of a catalog, or nil.
func (a *accumulator) known(c *catalog) *block {
	for _, b := range a.blocks {
		if b.catalog == c {
			return b
		}
	}
	return nil
}

// reset makes the counters and bitmaps of s zeros, as many as a catalog has.
func (s *sums) reset(c *catalog) {
	if s.counts == nil {
		s.counts = make([][]uint64, 1)
	}
	s.counts[0] = slices.Grow(s.counts[0][:0], c.counters)[:c.counters]
	s.bitmap = slices.Grow(s.bitmap[:0], c.bitmapSize)[:c.bitmapSize]
	clear(s.counts[0])
	clear(s.bitmap)
}

// addProfile adds a profile to the block of its catalog, or to the table. If ok is false,
// it has added nothing and the caller must add the profile record by record. first reports
// whether the names of the catalog may be new.
func (a *accumulator) addProfile(n *numbers, index int, weight uint64, warn warner) (added Added, first, ok bool) {
	c := n.catalog
	b := a.known(c)
	if first = b == nil; first && (!c.kept || !c.distinct || a.recordsOnly || !a.empty()) {
		added, ok = a.addToTable(n, index, weight, warn)
		return added, true, ok
	}
	if first {
		b = &block{catalog: c, first: index}
		b.reset(c)
		b.sites = make([]siteSum, c.sites)
		clear(b.sites) // see table.expect
	}
	if added, ok = a.addToBlock(b, n, weight, warn); ok && first {
		a.blocks = append(a.blocks, b)
	}
	return added, first, ok
}

// addToTable is addProfile for the table. If the catalog is kept, further profiles have a
// block.
func (a *accumulator) addToTable(n *numbers, index int, weight uint64, warn warner) (added Added, ok bool) {
	c, s := n.catalog, &a.scratch
	s.reset(c)
	most, total := n.add(s.counts[0], 1)
	if n.large(most) {
		return added, false
	}
	fits := a.raiseLimit(most, weight, warn)
	a.enterBlocks(warn)
	a.expect(len(c.entries))
	b := &block{catalog: c, first: index}
	keep := c.kept && !a.recordsOnly
	if keep {
		b.at = make([]int32, 0, len(c.entries))
	}
	x, extra := extras{accumulator: a, numbers: n, bitmaps: n.bitmaps, blobs: n.blobs}, 0
	for i := range c.entries {
		e, seq := &c.entries[i], uint64(index)<<32+uint64(i)
		at, same := a.find(e.name, e.ref, e.hash, &e.form)
		if hasExtra := extra < len(c.extras) && int(c.extras[extra].entry) == i; same && fits && !hasExtra {
			t := a.entries.at(at)
			t.seq = min(t.seq, seq)
			addCounts(a.countsOf(&t.entry), s.countsOf(e), weight, true)
		} else {
			r := Record{Name: e.name, Hash: e.hash, Counts: s.countsOf(e)}
			if hasExtra {
				x.decode(&r, &c.extras[extra])
				extra++
			}
			if !a.addFound(at, same, &r, &e.form, e.ref, weight, seq, fits, warn) {
				keep = false
				added.Skipped++
				for _, c := range r.Counts {
					total -= c
				}
			}
		}
		if keep {
			b.at = append(b.at, int32(a.last))
		}
	}
	if keep {
		b.enter(a)
		a.blocks = append(a.blocks, b)
	}
	added.Records, added.Count = len(c.entries)-added.Skipped, total
	return added, true
}

// addToBlock adds a profile to a block of its catalog unless a sum might saturate
// or the profile needs the checks of adding record by record.
//
// Counters are added without a check for overflow. The limit of the sums bounds
// each; if an addition may exceed the limit, it is undone modulo 2^64.
func (a *accumulator) addToBlock(b *block, n *numbers, weight uint64, warn warner) (added Added, ok bool) {
	most, total := n.add(b.counts[0], weight)
	if _, fits := a.limitWith(most, weight); n.large(most) || !fits {
		n.add(b.counts[0], -weight)
		return added, !n.large(most) && a.raiseLimit(most, weight, warn)
	}
	a.raiseLimit(most, weight, warn)
	b.profiles++
	x := extras{accumulator: a, numbers: n, bitmaps: n.bitmaps, blobs: n.blobs}
	bitmap, sites := b.bitmap, b.sites
	for i := range n.catalog.extras {
		e := &n.catalog.extras[i]
		if b.at != nil {
			sites = a.sites[b.siteAt[i]:]
		}
		own := sites[:e.sites.all()]
		x.addBitmap(bitmap[:e.bits])
		if x.addSites(own, &e.sites, weight, b.profiles == 1, b.at == nil) {
			warn(n.catalog.entries[e.entry].name, llvmerr.CounterOverflow)
		}
		bitmap, sites = bitmap[e.bits:], sites[len(own):]
	}
	return Added{Records: len(n.catalog.entries), Count: total}, true
}

// extras walks over the bitmaps and values of a profile, in the order of its catalog.
type extras struct {
	*accumulator
	*numbers
	bitmaps []int32
	blobs   []int
}

// addBitmap adds the next bitmap, unless dst is empty.
func (x *extras) addBitmap(dst []byte) {
	if len(dst) > 0 {
		x.orBitmap(dst, x.bitmaps[0])
		x.bitmaps = x.bitmaps[1:]
	}
}

// eachSite yields the values of the next entry's sites, undecoded.
func (x *extras) eachSite(counts *siteCounts, yield func(kind ValueKind, pairs []byte)) {
	if !counts.any() {
		return
	}
	data := x.data[x.blobs[0]+valueDataHeader:]
	x.blobs = x.blobs[1:]
	for k, count := range counts {
		if count == 0 {
			continue
		}
		lengths, pairs, rest := valuesOfKind(data, int(count))
		data = rest
		for _, l := range lengths {
			yield(ValueKind(k), pairs[:int(l)*valueDataPair])
			pairs = pairs[int(l)*valueDataPair:]
		}
	}
}

// decodePairs returns values and their counts.
func (x *extras) decodePairs(values []ValueData, pairs []byte, address bool) []ValueData {
	for ; len(pairs) > 0; pairs = pairs[valueDataPair:] {
		values = append(values, x.pair(pairs, address))
	}
	return values
}

// addSites adds the values of the next entry to sites. first says that it is the block's
// first profile, alone that all profiles of the sites are those of the block.
func (x *extras) addSites(sites []siteSum, counts *siteCounts, weight uint64, first, alone bool) (overflow bool) {
	x.eachSite(counts, func(kind ValueKind, pairs []byte) {
		t, from := &sites[0], x.catalog.addresses(kind)
		sites = sites[1:]
		if first && !alone {
			t.merged = true
		}
		if from == nil || alone {
			if cut, ok := x.addSame(t, pairs, from != nil, weight); ok {
				overflow = overflow || cut
				return
			}
		}
		x.decoded = x.decodePairs(x.decoded[:0], pairs, from != nil)
		if !alone {
			from.resolve(kind, x.decoded)
			from = nil
		}
		overflow = x.addSite(t, x.decoded, from, kind, weight, first && alone) || overflow
	})
	return overflow
}

// addSame adds values that are the first ones of a site, in their order, as those of most
// runs are. Otherwise it adds nothing and ok is false.
func (x *extras) addSame(t *siteSum, pairs []byte, address bool, weight uint64) (overflow, ok bool) {
	n := len(pairs) / valueDataPair
	if t.repeat || n > len(t.values) {
		return false, false
	}
	for i, h := range t.homes[:n] {
		if h.address != x.pair(pairs[i*valueDataPair:], address).Value {
			return false, false
		}
	}
	for i := range t.values[:n] {
		v, cut := &t.values[i], false
		v.Count, cut = saturate.AddScaled(v.Count, x.pair(pairs[i*valueDataPair:], false).Count, weight)
		overflow = overflow || cut
	}
	return overflow, true
}

// decode sets the bitmap and the values of a record to the next ones.
func (x *extras) decode(r *Record, e *extra) {
	if e.bits > 0 {
		r.Bitmap = x.scratch.bitmap[:e.bits:e.bits]
		clear(r.Bitmap)
		x.addBitmap(r.Bitmap)
	}
	x.accumulator.decoded, x.values = x.accumulator.decoded[:0], x.values[:0]
	x.eachSite(&e.sites, func(kind ValueKind, pairs []byte) {
		from, start := x.catalog.addresses(kind), len(x.decoded)
		x.decoded = x.decodePairs(x.decoded, pairs, from != nil)
		site := x.decoded[start:len(x.decoded):len(x.decoded)]
		from.resolve(kind, site)
		x.values = append(x.values, site)
	})
	e.sites.split(&r.Values, x.values)
}

// single returns the block that holds all sums, or nil.
func (a *accumulator) single() *block {
	if len(a.blocks) == 1 && a.entries.len == 0 {
		return a.blocks[0]
	}
	return nil
}

// alone returns the block of an arranged catalog that holds all sums, or nil.
func (a *accumulator) alone() *block {
	if b := a.single(); b != nil && b.catalog.arranged {
		return b
	}
	return nil
}

// settle makes the sites of b independent of the addresses of its profiles.
func (b *block) settle() {
	for i := range b.sites {
		b.sites[i].forget()
	}
	if b.profiles > 1 {
		touch(b.sites)
	}
}

// enterBlocks moves what a block has alone to the table.
func (a *accumulator) enterBlocks(warn warner) {
	if len(a.blocks) == 0 || a.blocks[0].at != nil {
		return
	}
	b := a.blocks[0]
	b.settle()
	a.expect(len(b.catalog.entries))
	b.at = make([]int32, 0, len(b.catalog.entries))
	for i := range b.catalog.entries {
		a.fold(&b.sums, &b.catalog.entries[i], uint64(b.first)<<32+uint64(i), true, warn)
		b.at = append(b.at, int32(a.last))
	}
	b.enter(a)
}

// enter begins a block whose entries are in the table.
func (b *block) enter(a *accumulator) {
	b.reset(b.catalog)
	b.sites, b.profiles = nil, 0
	b.siteAt = make([]int32, len(b.catalog.extras))
	for i, x := range b.catalog.extras {
		b.siteAt[i] = int32(a.entries.at(int(b.at[x.entry])).site)
	}
}

// foldBlocks moves the sums of all blocks to the table.
func (a *accumulator) foldBlocks(warn warner) {
	a.enterBlocks(warn)
	for _, b := range a.blocks {
		if b.profiles == 0 {
			continue
		}
		for i := range b.catalog.entries {
			from, to := &b.catalog.entries[i], &a.entries.at(int(b.at[i])).entry
			addCounts(a.countsOf(to), b.countsOf(from), 1, true)
			orBytes(a.bitmapOf(to), b.bitmapOf(from))
		}
	}
	a.blocks = nil
}

// fold adds an entry of other sums to the table. It is addToEntry for the entry.
func (a *accumulator) fold(o *sums, e *entry, seq uint64, fits bool, warn warner) {
	var r Record
	a.take(&r, o, e)
	if taken := a.addToEntry(&r, &e.form, e.ref, 1, seq, fits, warn); taken && e.sites.any() {
		to := a.sitesOf(&a.entries.at(a.last).entry)
		for i, t := range o.sitesOf(e) {
			to[i].merged = to[i].merged || t.merged
		}
	}
}

// take sets r to an entry of other sums, until it is called again. The values are
// not finished, and adding the record changes them.
func (a *accumulator) take(r *Record, o *sums, e *entry) {
	a.values = a.values[:0]
	for _, t := range o.sitesOf(e) {
		a.values = append(a.values, t.values)
	}
	o.record(r, e, a.values)
}

// mergeFork adds the sums of another accumulator, which must not be used after.
func (a *accumulator) mergeFork(o *accumulator, warn warner) {
	switch {
	case o.empty(): // a worker that got no input
		return
	case a.empty():
		a.blocks, a.table, a.recordsOnly, a.repeats, a.limit = o.blocks, o.table, o.recordsOnly, o.repeats, o.limit
		return
	}
	a.repeats = a.repeats || o.repeats
	fits := a.raiseLimit(o.limit, 1, warn)
	if b, other := a.single(), o.single(); b != nil && other != nil && b.catalog == other.catalog {
		a.mergeBlock(b, other, warn)
		return
	}
	o.foldBlocks(warn)
	a.enterBlocks(warn)
	a.expect(o.entries.len)
	for i := range o.entries.len {
		e := o.entries.at(i)
		a.fold(&o.sums, &e.entry, e.seq, fits, warn)
	}
}

// mergeContext is InstrProfWriter::mergeRecordsFromWriter: it adds the records of another
// accumulator as they would be written.
func (a *accumulator) mergeContext(o *accumulator, seq uint64, warn warner) {
	if b, other := a.single(), o.single(); b != nil && other != nil && b.catalog == other.catalog {
		other.finish()
		a.mergeFork(o, warn)
		return
	}
	o.foldBlocks(warn)
	for i := range o.sites {
		o.sites[i].finished()
	}
	a.repeats = a.repeats || o.repeats
	fits := a.raiseLimit(o.limit, 1, warn)
	a.enterBlocks(warn)
	a.expect(o.entries.len)
	type problem struct {
		name string
		code llvmerr.Code
	}
	var problems []problem // to be told of by name
	fold := func(i int32) {
		a.fold(&o.sums, &o.entries.at(int(i)).entry, seq, fits, func(name string, code llvmerr.Code) {
			problems = append(problems, problem{name, code})
		})
	}
	mayRepeat := o.repeatedRefs()
	var several []nameKey // entries that may have the name of another
	for i := range int32(o.entries.len) {
		if mayRepeat(o.entries.at(int(i)).ref) {
			several = append(several, nameKey{index: i})
		} else {
			fold(i)
		}
	}
	slices.SortFunc(several, o.compareEntries)
	for len(several) > 0 {
		var hashes []uint64
		for _, x := range several {
			e := o.entries.at(int(x.index))
			if len(hashes) > 0 && e.name != o.entries.at(int(several[0].index)).name {
				break
			}
			hashes = append(hashes, e.hash)
		}
		for _, i := range llvmorder.DenseMap(hashes, 4, releaseOf(22).hash) {
			fold(several[i].index)
		}
		several = several[len(hashes):]
	}
	slices.SortStableFunc(problems, func(x, y problem) int { return strings.Compare(x.name, y.name) })
	for _, p := range problems {
		warn(p.name, p.code)
	}
}

// repeatedRefs returns a function that reports for a reference of the table whether
// several entries may have it; a few others are among those.
func (t *table) repeatedRefs() func(ref uint64) bool {
	mask := uint64(1)<<bits.Len(uint(16*t.entries.len)) - 1
	once, twice := make([]uint64, mask/64+1), make([]uint64, mask/64+1)
	for i := range t.entries.len {
		ref := t.entries.at(i).ref & mask
		twice[ref/64] |= once[ref/64] & (1 << (ref % 64))
		once[ref/64] |= 1 << (ref % 64)
	}
	return func(ref uint64) bool { return twice[ref&mask/64]&(1<<(ref&mask%64)) != 0 }
}

// mergeBlock adds a block that is alone in another accumulator to one that is alone in a.
func (a *accumulator) mergeBlock(b, o *block, warn warner) {
	b.settle()
	o.settle()
	touch(b.sites)
	addCounts(b.counts[0], o.counts[0], 1, true)
	orBytes(b.bitmap, o.bitmap)
	at := 0
	for _, x := range b.catalog.extras {
		for range x.sites.all() {
			if a.addSite(&b.sites[at], o.sites[at].values, nil, 0, 1, false) {
				warn(b.catalog.entries[x.entry].name, llvmerr.CounterOverflow)
			}
			at++
		}
	}
	b.first, b.profiles = min(b.first, o.first), b.profiles+o.profiles
}
