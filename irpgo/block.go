package irpgo

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvmerr"
)

// A block holds the sums of all profiles of one catalog, in the order of its
// entries.
type block struct {
	sums
	catalog  *catalog
	first    int // smallest index of a profile
	profiles int
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

// mayKeep reports whether a may hold a block of a catalog.
func (a *accumulator) mayKeep(c *catalog) bool {
	return c.kept && !a.recordsOnly && (!a.policy.llvm || a.empty() && c.distinct)
}

// reset empties a block for the profiles of a catalog, the first of which has the
// given index. It reuses the block's memory.
func (b *block) reset(c *catalog, index int) {
	b.catalog, b.first, b.profiles, b.limit = c, index, 0, 0
	if b.counts == nil {
		b.counts = make([][]uint64, 1)
	}
	b.counts[0] = slices.Grow(b.counts[0][:0], c.counters)[:c.counters]
	b.bitmap = slices.Grow(b.bitmap[:0], c.bitmapSize)[:c.bitmapSize]
	b.sites = slices.Grow(b.sites[:0], c.sites)[:c.sites]
	clear(b.counts[0])
	clear(b.bitmap)
	for i := range b.sites {
		b.sites[i].truncate(0)
		b.sites[i].merged, b.sites[i].repeat = false, false
	}
}

// addProfile adds a profile to the block of its catalog or, if a is not to hold
// one, to a block of its own, which it moves to the table. If ok is false, it has
// added nothing and the caller must add the profile record by record. first
// reports whether the names of the catalog may be new.
func (a *accumulator) addProfile(n *numbers, index int, weight uint64, warn warner) (added Added, first, ok bool) {
	c := n.catalog
	b := a.known(c)
	if first = b == nil; first {
		if !a.mayKeep(c) {
			added, ok = a.addToTable(n, index, weight, warn)
			return added, true, ok
		}
		b = new(block)
		b.reset(c, index)
	}
	added, ok = a.addToBlock(b, n, weight, warn)
	switch {
	case ok && first:
		a.blocks = append(a.blocks, b)
	case !ok && b.limit == maxCount: // so that the input that exceeds the limit is the one warned of
		a.recordsOnly = true
		a.foldBlocks(warn)
	}
	return added, first, ok
}

// addToTable is addProfile for the table.
func (a *accumulator) addToTable(n *numbers, index int, weight uint64, warn warner) (added Added, ok bool) {
	if a.policy.llvm && weight != 1 { // which values are new to a record is not known in time
		return added, false
	}
	if a.spare == nil {
		a.spare = &accumulator{blocks: []*block{new(block)}}
	}
	b := a.spare.blocks[0]
	b.reset(n.catalog, index)
	if added, ok = a.spare.addToBlock(b, n, weight, warn); ok {
		if a.policy.llvm {
			a.foldBlocks(warn)
		}
		skipped, lost := a.foldBlock(b, warn)
		added.Records, added.Skipped, added.Count = added.Records-skipped, skipped, added.Count-lost
	}
	return added, ok
}

// addToBlock adds a profile to a block of its catalog unless a sum might saturate
// or the profile needs the checks of adding record by record.
//
// Counters are added without a check for overflow. The limit of the sums bounds
// each; if an addition may exceed the limit, it is undone modulo 2^64.
func (a *accumulator) addToBlock(b *block, n *numbers, weight uint64, warn warner) (added Added, ok bool) {
	most, total := n.add(b.counts[0], weight)
	if n.large(most) || !b.raiseLimit(most, weight) {
		n.add(b.counts[0], -weight)
		return added, false
	}
	b.profiles++
	at, bitmap, sites := extraAt{n.bitmaps, n.blobs}, b.bitmap, b.sites
	for i := range n.catalog.extras {
		x := &n.catalog.extras[i]
		if a.addExtra(bitmap[:x.bits], sites, n, &x.sites, &at, weight, b.profiles == 1) {
			warn(n.catalog.entries[x.entry].name, llvmerr.CounterOverflow)
		}
		bitmap, sites = bitmap[x.bits:], sites[x.sites.all():]
	}
	return Added{Records: len(n.catalog.entries), Count: total}, true
}

// extraAt locates the bitmaps and value data of the next entries of a profile.
type extraAt struct {
	bitmaps []int32
	blobs   []int
}

// addExtra adds the bitmap and the values of the next entry of a profile to a
// bitmap and to the first of sites. It reports whether a count saturated.
func (a *accumulator) addExtra(bitmap []byte, sites []siteSum, n *numbers, counts *siteCounts, at *extraAt, weight uint64, fresh bool) (overflow bool) {
	if len(bitmap) > 0 {
		n.orBitmap(bitmap, at.bitmaps[0])
		at.bitmaps = at.bitmaps[1:]
	}
	if !counts.any() {
		return false
	}
	data := n.data[at.blobs[0]+valueDataHeader:]
	at.blobs = at.blobs[1:]
	for k, count := range counts {
		if count == 0 {
			continue
		}
		lengths, pairs, rest := valuesOfKind(data, int(count))
		data = rest
		from := n.catalog.addresses(ValueKind(k))
		for i, l := range lengths {
			own := pairs[:int(l)*valueDataPair]
			pairs = pairs[len(own):]
			a.decoded = a.decoded[:0]
			for ; len(own) > 0; own = own[valueDataPair:] {
				a.decoded = append(a.decoded, n.pair(own, from != nil))
			}
			overflow = a.addSite(&sites[i], a.decoded, from, ValueKind(k), weight, fresh) || overflow
		}
		sites = sites[count:]
	}
	return overflow
}

// alone returns the block of an arranged catalog that holds all sums, or nil.
func (a *accumulator) alone() *block {
	if len(a.blocks) == 1 && a.entries.len == 0 && a.blocks[0].catalog.arranged {
		return a.blocks[0]
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

// foldBlocks moves the sums of all blocks to the table.
func (a *accumulator) foldBlocks(warn warner) {
	for _, b := range a.blocks {
		a.foldBlock(b, warn)
	}
	a.blocks = nil
}

// foldBlock moves the sums of a block to the table. It returns how many entries
// LLVM's rules leave out, and the sum of their counters modulo 2^64.
func (a *accumulator) foldBlock(b *block, warn warner) (skipped int, lost uint64) {
	b.settle()
	a.expect(len(b.catalog.entries))
	fits := a.raiseLimit(b.limit, 1)
	for i := range b.catalog.entries {
		e := &b.catalog.entries[i]
		if !a.fold(&b.sums, e, uint64(b.first)<<32+uint64(i), fits, warn) {
			skipped++
			for _, c := range b.countsOf(e) {
				lost += c
			}
		}
	}
	return skipped, lost
}

// fold adds an entry of other sums to the table. It is addToEntry for the entry.
func (a *accumulator) fold(o *sums, e *entry, seq uint64, fits bool, warn warner) (taken bool) {
	var r Record
	a.take(&r, o, e)
	taken = a.addToEntry(&r, e.ref, 1, seq, fits, warn)
	if taken && e.sites.any() {
		to := a.sitesOf(&a.entries.at(a.last).entry)
		for i, t := range o.sitesOf(e) {
			to[i].merged = to[i].merged || t.merged
		}
	}
	return taken
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
	a.repeats = a.repeats || o.repeats
	if a.empty() {
		a.blocks, a.table, a.recordsOnly = o.blocks, o.table, a.recordsOnly || o.recordsOnly
		return
	}
	for _, other := range o.blocks {
		b := a.known(other.catalog)
		if b == nil {
			a.blocks = append(a.blocks, other)
			continue
		}
		b.settle()
		other.settle()
		fits := b.raiseLimit(other.limit, 1)
		for i := range b.catalog.entries {
			e := &b.catalog.entries[i]
			var r Record
			a.take(&r, &other.sums, e)
			a.mergeRecord(&b.sums, e, &r, 1, false, fits, (&mergeOutcome{warn: warn, name: e.name}).fail)
		}
		b.first, b.profiles = min(b.first, other.first), b.profiles+other.profiles
	}
	if a.recordsOnly {
		a.foldBlocks(warn)
	}
	a.expect(o.entries.len)
	fits := a.raiseLimit(o.limit, 1)
	for i := range o.entries.len {
		e := o.entries.at(i)
		a.fold(&o.sums, &e.entry, e.seq, fits, warn)
	}
}
