package irpgo

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// An accumulator adds profiles up in one table, see [Merger]. A profile that has a catalog
// is added by addProfile, any other record by record, by addRecord. When merging exactly an
// accumulator cuts no value site before the end; as LLVM, after every step.
type accumulator struct {
	table
	policy mergePolicy
	limit  uint64 // upper bound of all counters; maxCount if some may have saturated
	// repeats: a site may list a value twice.
	repeats bool
	// only is the catalog of all profiles so far; nil if anything else was added. While it is
	// set, the table has the entries of the catalog, in order, and the sites of a raw catalog
	// know their values by the addresses in the profiles, see [valueHome].
	only    *catalog
	located map[*catalog]*catalogSums

	visits    uint32        // of sites, see addDistinct
	positions []int32       // memory of addDistinct
	decoded   []ValueData   // memory of profileWalk
	values    [][]ValueData // memory of take and profileWalk
	scratch   sums          // memory of enterProfile
}

func (a *accumulator) empty() bool { return len(a.located)+a.entries.len == 0 }

// raiseLimit raises the limit for the addition of weight times counters that are at most
// most, and reports whether no sum can exceed maxCount then.
func (a *accumulator) raiseLimit(most, weight uint64) (fits bool) {
	high, product := bits.Mul64(most, weight)
	limit, carry := bits.Add64(a.limit, product, 0)
	if fits = high|carry == 0 && limit <= maxCount; !fits {
		limit = maxCount
	}
	a.limit = limit
	return fits
}

// mergePolicy selects exact merging or merging as LLVM does. They differ so:
//
//	                            exactly                  as LLVM
//	records of another form     each form has its own    what fits is added at
//	                            sum until the end        once, the rest is lost
//	values new to a record      weighted                 not weighted
//	pseudo counts               not weighted             weighted
//	equal values of one site    pair up by count         pair up as std::sort leaves them
//	more than 255 values        cut at the end           cut after each step
//
// Counters and bitmaps of records of one form have the same sums in any order.
type mergePolicy struct{ llvm bool }

// A warner prints that a record was not added whole, or that its counts saturated.
type warner func(name string, code llvmerr.Code)

// A mergeOutcome says how much of a record was added.
type mergeOutcome uint8

const (
	whole     mergeOutcome = iota
	saturated              // whole, but some counts are at their greatest
	partly
)

// An addition adds weight times a record to the sums, one record of an input after the other.
type addition struct {
	*Record
	ref     uint64 // of its name; 0 if not known
	weight  uint64
	seq     uint64 // number of the input and of the record in it
	warn    warner
	fits    bool       // no counter can saturate
	tellAll bool       // warn of every problem of the record, not of the first alone
	merged  []bool     // of each site: the record has the sum of several; nil for none
	device  *deviceSum // of the record; nil but for programs for GPUs
	result  mergeOutcome
}

// fail warns of a problem of the record.
func (x *addition) fail(code llvmerr.Code) {
	if x.result == whole || x.tellAll {
		x.warn(x.Name, code)
	}
	if code == llvmerr.CounterOverflow {
		x.result = max(x.result, saturated)
	} else {
		x.result = partly
	}
}

// addRecord adds a record and reports whether the record was added whole but for counts that saturated.
func (a *accumulator) addRecord(x *addition) (taken bool) {
	a.leaveCatalog()
	if x.ref == 0 {
		x.ref = a.refOf(x.Name)
	}
	x.fits = a.raiseLimit(mostOf(x.Counts), x.weight)
	return a.addTo(x, &entry{name: x.Name, ref: x.ref, hash: x.Hash, form: formOf(x.Record)})
}

// mostOf returns the bitwise or of counters, an upper bound of each.
func mostOf(counts []uint64) (most uint64) {
	for _, c := range counts {
		most |= c
	}
	return most
}

// leaveCatalog makes the sites independent of the addresses of one catalog's profiles,
// before anything else is added.
func (a *accumulator) leaveCatalog() {
	if a.only == nil {
		return
	}
	a.only = nil
	for i := range a.sites {
		a.sites[i].forget()
	}
}

// addTo is addRecord to the entry that key identifies.
func (a *accumulator) addTo(x *addition, key *entry) (taken bool) {
	at, found := a.find(key)
	fresh := found == noEntry || found == otherForm && !a.policy.llvm
	verdict := uint64(0) // of pseudo counts so far
	var e *entry
	if fresh {
		e = a.add(key, x.seq)
	} else if e = a.entries.at(at); x.seq < a.seqs[at] {
		if a.seqs[at] = x.seq; e.pseudo { // the other numbers of the first record stand
			verdict, fresh = a.countsOf(e)[0], true
			clear(a.bitmapOf(e))
			clear(a.sitesOf(e))
		}
	}
	x.result = whole
	a.mergeRecord(x, e, fresh)
	if verdict != 0 {
		first := &a.countsOf(e)[0]
		*first = max(*first, verdict)
	}
	if x.result == partly {
		return false
	}
	sites := a.sitesOf(e)
	for i, merged := range x.merged[:min(len(x.merged), len(sites))] {
		sites[i].merged = sites[i].merged || merged
	}
	return true
}

// mergeRecord adds a record to an entry with its name and hash, as InstrProfRecord::merge does or, if the entry is
// fresh and all its numbers are zero, InstrProfRecord::scale. Where the forms differ it adds what it can and warns
// of the rest.
func (a *accumulator) mergeRecord(x *addition, e *entry, fresh bool) {
	counts, verdict, weight := a.countsOf(e), x.Pseudo(), x.weight
	switch {
	case fresh && (weight == 1 || e.pseudo && !a.policy.llvm):
		weight = 1
		copy(counts, x.Counts) // even above maxCount
	case !fresh && (len(counts) != len(x.Counts) || e.pseudo != (verdict != 0)):
		x.fail(llvmerr.CountMismatch)
		return
	case !fresh && e.pseudo:
		counts[0] = max(counts[0], verdict) // hot beats warm
		return
	case addCounts(counts, x.Counts, weight, x.fits):
		x.fail(llvmerr.CounterOverflow)
	}
	a.addDevice(e, x.device, weight)
	if fresh {
		e.pseudo = pseudoKind(counts) != 0 // LLVM's weights turn pseudo counts into counts
	}
	bitmap := a.bitmapOf(e)
	if len(bitmap) != len(x.Bitmap) {
		x.fail(llvmerr.BitmapMismatch)
		return
	}
	orBytes(bitmap, x.Bitmap)
	sites := a.sitesOf(e)
	for k, have := range e.sites {
		own := sites[:have]
		sites = sites[have:]
		if len(own) != len(x.Values[k]) {
			x.fail(llvmerr.ValueSiteCountMismatch)
			continue
		}
		for i := range own {
			own[i].merged = !fresh
			if a.addSite(&own[i], siteValues{list: x.Values[k][i]}, weight) {
				x.fail(llvmerr.CounterOverflow)
			}
		}
	}
}

// addCounts adds weight times counters and reports whether a sum saturated. fits says that none can.
func addCounts(dst, src []uint64, weight uint64, fits bool) (overflow bool) {
	if fits {
		for i, c := range src {
			dst[i] += c * weight
		}
		return false
	}
	for i, c := range src {
		overflow = addCount(&dst[i], c, weight) || overflow
	}
	return overflow
}

// addCount adds weight·c to a counter, which saturates at 2^64−3, and reports whether it did.
func addCount(dst *uint64, c, weight uint64) bool {
	sum, cut := saturate.AddScaled(*dst, c, weight)
	if cut || sum > maxCount {
		*dst = maxCount
		return true
	}
	*dst = sum
	return false
}

// orBytes sets dst to its bitwise or with src, of the same length.
func orBytes(dst, src []byte) {
	for i := range dst {
		dst[i] |= src[i]
	}
}

// addEntry adds an entry of another table. x holds the weight and the sequence number.
func (a *accumulator) addEntry(x *addition, o *table, i int) {
	e := o.entries.at(i)
	a.take(x.Record, &o.sums, e)
	x.merged = x.merged[:0]
	for _, t := range o.sitesOf(e) {
		x.merged = append(x.merged, t.merged)
	}
	x.device = o.deviceOf(e)
	a.addTo(x, e)
}

// take sets r to an entry of other sums. The next call overwrites the values of r. They are
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
		*a = *o
		return
	}
	a.repeats = a.repeats || o.repeats
	fits := a.raiseLimit(o.limit, 1)
	if fits && a.only != nil && a.only == o.only {
		a.mergeSameTable(o, warn)
		return
	}
	a.leaveCatalog()
	a.expect(o.entries.len)
	x := addition{Record: new(Record), weight: 1, fits: fits, warn: warn}
	for i := range o.entries.len {
		x.seq = o.seqs[i]
		a.addEntry(&x, &o.table, i)
	}
}

// mergeSameTable adds a table with the same entries, none of whose counters can saturate.
func (a *accumulator) mergeSameTable(o *accumulator, warn warner) {
	addCounts(a.counts[0], o.counts[0], 1, true)
	orBytes(a.bitmap, o.bitmap)
	for i := range a.seqs {
		a.seqs[i] = min(a.seqs[i], o.seqs[i])
	}
	at := 0
	for _, x := range a.only.extras {
		for range x.sites.all() {
			t := &a.sites[at]
			t.merged = true
			t.forget()
			if a.addSite(t, siteValues{list: o.sites[at].values}, 1) {
				warn(a.only.entries[x.entry].name, llvmerr.CounterOverflow)
			}
			at++
		}
	}
}

// mergeContext is InstrProfWriter::mergeRecordsFromWriter: it adds the records of another
// accumulator as they would be written.
func (a *accumulator) mergeContext(o *accumulator, seq uint64, warn warner) {
	for i := range o.sites {
		o.sites[i].finished()
	}
	if a.only != nil && a.only == o.only {
		a.mergeFork(o, warn)
		return
	}
	a.leaveCatalog()
	a.repeats = a.repeats || o.repeats
	type problem struct {
		name string
		code llvmerr.Code
	}
	var problems []problem // to be warned of by name
	x := addition{Record: new(Record), weight: 1, seq: seq, fits: a.raiseLimit(o.limit, 1), warn: func(name string, code llvmerr.Code) {
		problems = append(problems, problem{name, code})
	}}
	a.expect(o.entries.len)
	mayRepeat := o.repeatedRefs()
	var several []nameKey // entries that may have the name of another
	for i := range o.entries.len {
		if mayRepeat(o.entries.at(i).ref) {
			several = append(several, nameKey{index: int32(i)})
		} else {
			a.addEntry(&x, &o.table, i)
		}
	}
	slices.SortFunc(several, o.compareEntries)
	for len(several) > 0 {
		var hashes []uint64
		for _, s := range several {
			e := o.entries.at(int(s.index))
			if len(hashes) > 0 && e.name != o.entries.at(int(several[0].index)).name {
				break
			}
			hashes = append(hashes, e.hash)
		}
		for _, i := range llvmorder.DenseMap(hashes, 4, releaseOf(22).hash) {
			a.addEntry(&x, &o.table, int(several[i].index))
		}
		several = several[len(hashes):]
	}
	slices.SortStableFunc(problems, func(x, y problem) int { return strings.Compare(x.name, y.name) })
	for _, p := range problems {
		warn(p.name, p.code)
	}
}

// repeatedRefs returns a function that reports whether several entries of the table may
// have a reference. The answer may be a false yes, never a false no.
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
