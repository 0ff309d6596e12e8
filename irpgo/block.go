package irpgo

import (
	"slices"
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
	return c.kept && !a.recordsOnly && (!a.policy.llvm || len(a.blocks)+len(a.entries) == 0 && c.differ())
}

// reset empties a block for the profiles of a catalog, the first of which has an
// index. It uses the memory again that the block has.
func (b *block) reset(c *catalog, index int) {
	b.catalog, b.first, b.profiles, b.limit = c, index, 0, 0
	b.counts = slices.Grow(b.counts[:0], c.counters)[:c.counters]
	b.bitmap = slices.Grow(b.bitmap[:0], c.bitmapSize)[:c.bitmapSize]
	b.sites = slices.Grow(b.sites[:0], c.sites)[:c.sites]
	clear(b.counts)
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
func (a *accumulator) addProfile(n *numbers, index int, weight uint64, overflowed func(name string)) (added Added, first, ok bool) {
	c := n.catalog
	b := a.known(c)
	if first = b == nil; first {
		if !a.mayKeep(c) {
			added, ok = a.addToTable(n, index, weight, overflowed)
			return added, true, ok
		}
		b = new(block)
		b.reset(c, index)
	}
	added, ok = a.addToBlock(b, n, weight, overflowed)
	switch {
	case ok && first:
		a.blocks = append(a.blocks, b)
	case !ok && b.limit == maxCount: // so that the input that exceeds the limit is the one warned of
		a.recordsOnly = true
		a.foldBlocks(overflowed)
	}
	return added, first, ok
}

// addToTable is addProfile for the table.
func (a *accumulator) addToTable(n *numbers, index int, weight uint64, overflowed func(name string)) (added Added, ok bool) {
	if a.policy.llvm {
		a.foldBlocks(overflowed)
		if weight != 1 || !a.allFit(n.catalog) {
			return added, false
		}
	}
	if a.spare == nil {
		a.spare = &accumulator{blocks: []*block{new(block)}}
	}
	b := a.spare.blocks[0]
	b.reset(n.catalog, index)
	if added, ok = a.spare.addToBlock(b, n, weight, overflowed); ok {
		a.foldBlock(b, overflowed)
	}
	return added, ok
}

// addToBlock adds a profile to a block of its catalog unless a sum might saturate
// or the profile needs the checks of adding record by record.
//
// Counters are added without a check for overflow. The limit of the sums bounds
// each; if an addition may exceed the limit, it is undone modulo 2^64.
func (a *accumulator) addToBlock(b *block, n *numbers, weight uint64, overflowed func(name string)) (added Added, ok bool) {
	most, total := n.add(b.counts, weight)
	if n.large(most) || !b.raiseLimit(most, weight) {
		n.add(b.counts, -weight)
		return added, false
	}
	b.profiles++
	at, bitmap, sites := extraAt{n.bitmaps, n.blobs}, b.bitmap, b.sites
	for i := range n.catalog.extras {
		x := &n.catalog.extras[i]
		if a.addExtra(bitmap[:x.bits], sites, n, &x.sites, &at, weight, b.profiles == 1) {
			overflowed(n.catalog.entries[x.entry].name)
		}
		bitmap, sites = bitmap[x.bits:], sites[x.sites.all():]
	}
	return Added{Records: len(n.catalog.entries), Count: total}, true
}

// allFit reports whether LLVM's rules add the profiles of a catalog without loss.
func (a *accumulator) allFit(c *catalog) bool {
	if !c.kept || !c.differ() {
		return false
	}
	for i := range c.entries {
		e := &c.entries[i]
		if at, fits, _ := a.find(e.name, e.ref, e.hash, &e.form); at >= 0 && !fits {
			return false
		}
	}
	return true
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
			if over, ok := sites[i].addInOrder(n, own, from != nil, weight); ok {
				overflow = over || overflow
				continue
			}
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
	if len(a.blocks) == 1 && len(a.entries) == 0 && a.blocks[0].catalog.arranged {
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
func (a *accumulator) foldBlocks(overflowed func(name string)) {
	for _, b := range a.blocks {
		a.foldBlock(b, overflowed)
	}
	a.blocks = nil
}

// foldBlock moves the sums of a block to the table.
func (a *accumulator) foldBlock(b *block, overflowed func(name string)) {
	b.settle()
	a.expect(len(b.catalog.entries))
	fits := a.raiseLimit(b.limit, 1)
	for i := range b.catalog.entries {
		e := &b.catalog.entries[i]
		if a.fold(&b.sums, e, uint64(b.first)<<32+uint64(i), fits) {
			overflowed(e.name)
		}
	}
}

// fold adds an entry of other sums, which must not be used after, to the table
// and reports whether a number saturated. fits says that no counter can.
func (a *accumulator) fold(o *sums, from *entry, seq uint64, fits bool) (overflow bool) {
	e, fresh := a.entry(from, seq)
	switch {
	case fresh:
		a.replace(&e.entry, o, from)
	case e.pseudo:
		verdict := max(a.counts[e.counts], o.counts[from.counts])
		if seq == e.seq { // the other numbers of the first record stand
			a.replace(&e.entry, o, from)
		}
		a.counts[e.counts] = verdict
	default:
		return a.join(&a.sums, &e.entry, o, from, fits)
	}
	return false
}

// replace moves the numbers of an entry of other sums to an entry of the table.
func (a *accumulator) replace(e *entry, o *sums, from *entry) {
	copy(a.countsOf(e), o.countsOf(from))
	copy(a.bitmapOf(e), o.bitmapOf(from))
	sites := a.sitesOf(e)
	copy(sites, o.sitesOf(from))
	clear(o.sitesOf(from))
	for i := range sites {
		if t := &sites[i]; t.repeat && a.policy.llvm {
			t.values = byCount(t.values)
		}
	}
}

// join adds an entry of other sums to one of s with the same form and reports
// whether a number saturated. fits says that no counter can.
func (a *accumulator) join(s *sums, e *entry, o *sums, from *entry, fits bool) (overflow bool) {
	overflow = addCounts(s.countsOf(e), o.countsOf(from), 1, fits)
	orBytes(s.bitmapOf(e), o.bitmapOf(from))
	sites, others := s.sitesOf(e), o.sitesOf(from)
	for i := range sites {
		overflow = a.joinSite(&sites[i], &others[i]) || overflow
	}
	return overflow
}

// mergeFork adds the sums of another accumulator, which must not be used after.
func (a *accumulator) mergeFork(o *accumulator, overflowed func(name string)) {
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
			if e := &b.catalog.entries[i]; a.join(&b.sums, e, &other.sums, e, fits) {
				overflowed(e.name)
			}
		}
		b.first, b.profiles = min(b.first, other.first), b.profiles+other.profiles
	}
	if a.recordsOnly {
		a.foldBlocks(overflowed)
	}
	a.expect(len(o.entries))
	fits := a.raiseLimit(o.limit, 1)
	for i := range o.entries {
		if e := &o.entries[i]; a.fold(&o.sums, &e.entry, e.seq, fits) {
			overflowed(e.name)
		}
	}
}
