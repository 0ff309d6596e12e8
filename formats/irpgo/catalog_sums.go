package irpgo

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// catalogSums locates the sums of a catalog's records in the table.
type catalogSums struct {
	counters []counterRun // of all entries of the catalog, in order
	extras   []extraSums  // of all extras of the catalog, in order
}

// A counterRun locates n counters that lie one after the other in the table.
type counterRun struct {
	position
	n int32
}

// extraSums holds the indexes of the first byte of bitmap and of the first value site.
type extraSums struct{ bitmap, site int }

// addEntry adds the position of the next entry's counters.
func (s *catalogSums) addEntry(e *entry) {
	if last := len(s.counters) - 1; last >= 0 && s.counters[last].end() == e.counts {
		s.counters[last].n += e.counters
	} else {
		s.counters = append(s.counters, counterRun{e.counts, e.counters})
	}
}

// end returns the position after the counters.
func (r counterRun) end() position { return position{r.piece, r.index + r.n} }

// An acceptance says what became of a profile that has a catalog.
type acceptance uint8

const (
	refused acceptance = iota // nothing is added; the records are to be added one by one
	entered                   // added; the names of the records may be new
	known                     // added; another profile of the catalog was added before
)

// addProfile adds a profile that has a catalog. The first profile of a catalog enters its records into the table.
// If the catalog is kept, later profiles add to the sums of these records without a search.
func (a *accumulator) addProfile(n *numbers, x *addition) (Added, acceptance) {
	c, got := n.catalog, known
	s := a.located[c]
	if s == nil {
		got = entered
		if c.kept && c.distinct && a.empty() && a.limit < maxCount {
			s = a.enterCatalog(c, x.seq)
		}
	}
	if s == nil || a.limit == maxCount {
		return a.enterProfile(n, x, got)
	}
	// Counters are added without a check for overflow. The limit of the sums bounds
	// each; if the addition may exceed the limit, it is undone modulo 2^64.
	most, total := n.add(&a.sums, s.counters, x.weight)
	if n.large(most) || !a.raiseLimit(n.bound(most, total), x.weight) {
		n.add(&a.sums, s.counters, -x.weight)
		if got == entered {
			a.table, a.only = table{}, nil
		}
		return Added{}, refused
	}
	if got == entered {
		a.locate(c, s)
	}
	w := profileWalk{accumulator: a, numbers: n, bitmaps: n.bitmaps, blobs: n.blobs}
	for i := range c.extras {
		e, to := &c.extras[i], s.extras[i]
		w.addBitmap(a.bitmap[to.bitmap:][:e.bits])
		sites := a.sites[to.site:][:e.sites.all()]
		if got == known {
			for i := range sites {
				sites[i].merged = true
			}
		}
		if w.addSites(sites, &e.sites, x.weight) {
			x.warn(c.entries[e.entry].name, llvmerr.CounterOverflow)
		}
	}
	return Added{Records: len(c.entries), Count: total}, got
}

// locate remembers the sums of a catalog for later profiles.
func (a *accumulator) locate(c *catalog, s *catalogSums) {
	if a.located == nil {
		a.located = make(map[*catalog]*catalogSums)
	}
	a.located[c] = s
}

// enterCatalog makes the entries of a catalog the entries of the table, which is empty.
func (a *accumulator) enterCatalog(c *catalog, seq uint64) *catalogSums {
	a.table, a.only = newTable(c, seq), c
	s := &catalogSums{counters: []counterRun{{n: int32(c.counters)}}, extras: make([]extraSums, len(c.extras))}
	for i := range c.extras {
		e := &c.entries[c.extras[i].entry]
		s.extras[i] = extraSums{e.bitmap, e.site}
	}
	return s
}

// enterProfile adds a profile record by record. If the catalog is kept, it locates the sums for later profiles.
func (a *accumulator) enterProfile(n *numbers, x *addition, got acceptance) (Added, acceptance) {
	c, counts := n.catalog, &a.scratch
	counts.reset(c)
	most, total := n.add(counts, []counterRun{{n: int32(c.counters)}}, 1)
	if n.large(most) {
		return Added{}, refused
	}
	a.leaveCatalog()
	a.expect(len(c.entries))
	x.Record, x.fits = new(Record), a.raiseLimit(n.bound(most, total), x.weight)
	var s *catalogSums
	if c.kept && a.limit < maxCount {
		s = &catalogSums{extras: make([]extraSums, 0, len(c.extras))}
	}
	w, extras := profileWalk{accumulator: a, numbers: n, bitmaps: n.bitmaps, blobs: n.blobs}, c.extras
	added := Added{Records: len(c.entries)}
	for i := range c.entries {
		e := &c.entries[i]
		*x.Record = Record{Name: e.name, Hash: e.hash, Counts: counts.countsOf(e)}
		hasExtra := len(extras) > 0 && int(extras[0].entry) == i
		if hasExtra {
			w.decode(x.Record, &extras[0])
			extras = extras[1:]
		}
		if !a.addTo(x, e) {
			s = nil
			added.Skipped++
			for _, c := range x.Counts {
				total -= c
			}
		}
		if s != nil {
			to := a.entries.at(a.last)
			if s.addEntry(to); hasExtra {
				s.extras = append(s.extras, extraSums{to.bitmap, to.site})
			}
		}
		x.seq++
	}
	if s != nil {
		a.locate(c, s)
	}
	added.Records -= added.Skipped
	added.Count = total
	return added, got
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

// A profileWalk goes over the bitmaps and values of a profile, in the order of its catalog.
type profileWalk struct {
	*accumulator
	*numbers
	bitmaps []int32
	blobs   []int
}

// addBitmap adds the next bitmap, unless dst is empty.
func (w *profileWalk) addBitmap(dst []byte) {
	if len(dst) > 0 {
		w.orBitmap(dst, w.bitmaps[0])
		w.bitmaps = w.bitmaps[1:]
	}
}

// eachSite yields the values of the next entry's sites, undecoded.
func (w *profileWalk) eachSite(counts *siteCounts, yield func(kind int, pairs []byte)) {
	if !counts.any() {
		return
	}
	data := w.data[w.blobs[0]+valueDataHeader:]
	w.blobs = w.blobs[1:]
	for k, count := range counts {
		if count == 0 {
			continue
		}
		lengths, pairs, rest := valuesOfKind(data, int(count))
		data = rest
		for _, l := range lengths {
			yield(k, pairs[:int(l)*valueDataPair])
			pairs = pairs[int(l)*valueDataPair:]
		}
	}
}

// decodePairs returns values and their counts.
func (w *profileWalk) decodePairs(values []ValueData, pairs []byte, address bool) []ValueData {
	for ; len(pairs) > 0; pairs = pairs[valueDataPair:] {
		values = append(values, w.pair(pairs, address))
	}
	return values
}

// addSites adds the values of the next entry to its sites.
func (w *profileWalk) addSites(sites []siteSum, counts *siteCounts, weight uint64) (overflow bool) {
	w.eachSite(counts, func(kind int, pairs []byte) {
		t, from := &sites[0], w.catalog.addresses(kind)
		sites = sites[1:]
		resolve := from != nil && w.only == nil
		if !resolve {
			if cut, ok := w.addSame(t, pairs, from != nil, weight); ok {
				overflow = overflow || cut
				return
			}
		}
		w.decoded = w.decodePairs(w.decoded[:0], pairs, from != nil)
		if resolve {
			from.resolve(kind, w.decoded)
			from = nil
		}
		overflow = w.addSite(t, siteValues{w.decoded, kind, from}, weight) || overflow
	})
	return overflow
}

// addSame adds values that are the first ones of a site, in their order, as the values of
// most runs are. Otherwise it adds nothing and ok is false.
func (w *profileWalk) addSame(t *siteSum, pairs []byte, address bool, weight uint64) (overflow, ok bool) {
	n := len(pairs) / valueDataPair
	if t.repeat || n > len(t.values) {
		return false, false
	}
	for i, h := range t.homes[:n] {
		if h.address != w.pair(pairs[i*valueDataPair:], address).Value {
			return false, false
		}
	}
	for i := range t.values[:n] {
		v, cut := &t.values[i], false
		v.Count, cut = saturate.AddScaled(v.Count, w.pair(pairs[i*valueDataPair:], false).Count, weight)
		overflow = overflow || cut
	}
	return overflow, true
}

// decode sets the bitmap and the values of a record to the next ones.
func (w *profileWalk) decode(r *Record, e *extra) {
	if e.bits > 0 {
		r.Bitmap = w.scratch.bitmap[:e.bits:e.bits]
		clear(r.Bitmap)
		w.addBitmap(r.Bitmap)
	}
	w.decoded, w.values = w.decoded[:0], w.values[:0]
	w.eachSite(&e.sites, func(kind int, pairs []byte) {
		from, start := w.catalog.addresses(kind), len(w.decoded)
		w.decoded = w.decodePairs(w.decoded, pairs, from != nil)
		site := w.decoded[start:len(w.decoded):len(w.decoded)]
		from.resolve(kind, site)
		w.values = append(w.values, site)
	})
	e.sites.split(&r.Values, w.values)
}
