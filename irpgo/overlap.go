package irpgo

import (
	"cmp"
	"slices"
	"sort"
)

// CountSums are the sums that the shares of an [Overlap] refer to, or shares
// of such sums: LLVM's CountSumOrPercent.
type CountSums struct {
	Entries uint64                 // functions, or counters of one function
	Counts  float64                // of edge counters
	Values  [NumValueKinds]float64 // of the counts of profiled values
}

// add adds what a record counts.
func (s *CountSums) add(rec *Record) {
	var sum uint64
	for _, c := range rec.Counts {
		sum += c // wraps as LLVM's does
	}
	s.Counts += float64(sum)
	for kind, sites := range rec.Values {
		var sum uint64
		for _, site := range sites {
			for _, d := range site {
				sum += d.Count
			}
		}
		s.Values[kind] += float64(sum)
	}
}

// addShare adds one entry whose counts are a share of whole.
func (s *CountSums) addShare(part, whole *CountSums) {
	s.Entries++
	s.Counts += part.Counts / whole.Counts
	for kind, sum := range whole.Values {
		if sum >= 1 {
			s.Values[kind] += part.Values[kind] / sum
		}
	}
}

// SumCounts sums up the records of a profile: of an IR profile those that are
// context-sensitive if cs, else the others. Records after the first one that
// cannot be read are left out.
func SumCounts(r *Reader, cs bool) CountSums {
	var s CountSums
	for rec, err := range r.Records() {
		if err != nil {
			break
		}
		if r.Info().Variant.Has(IRLevel) && rec.IsCS() != cs {
			continue
		}
		s.add(rec)
		s.Entries++
	}
	return s
}

// OverlapStats say how alike a base and a test profile are, as llvm-profdata
// overlap does: the weight that both give to the same things, between 0
// (nothing in common) and 1 (the same distribution). Overlap, Mismatch and
// Unique hold shares; Mismatch and Unique are of the test profile.
type OverlapStats struct {
	Base, Test CountSums
	Overlap    CountSums // by the smaller share of either
	Mismatch   CountSums // functions of another hash, or number of counters or value sites
	Unique     CountSums // functions that only the test profile has
}

// An Overlap compares the records of a test profile, one after the other, with
// a base profile.
type Overlap struct {
	OverlapStats
	base *Profile
}

// NewOverlap returns a comparison with base. The sums are those of both whole
// profiles, see [SumCounts]; no share is counted of a sum below one.
func NewOverlap(base *Profile, baseSums, testSums CountSums) *Overlap {
	return &Overlap{OverlapStats: OverlapStats{Base: baseSums, Test: testSums}, base: base}
}

// Add compares a record of the test profile. With function it returns how
// alike the records of this function are; nil if they are not comparable or
// the test never ran it.
func (o *Overlap) Add(test *Record, function bool) *OverlapStats {
	var f OverlapStats
	f.Test.Entries = uint64(len(test.Counts))
	f.Test.add(test)
	records := o.find(test.Name)
	if records == nil {
		o.Unique.addShare(&f.Test, &o.Test)
		return nil
	}
	if f.Test.Counts < 1 {
		o.Overlap.Entries++
		return nil
	}
	i := slices.IndexFunc(records, func(r *Record) bool { return r.Hash == test.Hash })
	if i < 0 || !sameLayout(records[i], test) {
		o.Mismatch.addShare(&f.Test, &o.Test)
		return nil
	}
	base := records[i]
	f.Base.Entries = uint64(len(base.Counts))
	f.Base.add(base)
	for kind := range base.Values {
		for s := range base.Values[kind] {
			whole, own := siteOverlap(base.Values[kind][s], test.Values[kind][s],
				o.Base.Values[kind], o.Test.Values[kind], f.Base.Values[kind], f.Test.Values[kind])
			o.Overlap.Values[kind] += whole
			f.Overlap.Values[kind] += own
		}
	}
	var whole, own float64
	for i, c := range base.Counts {
		whole += overlapScore(c, test.Counts[i], o.Base.Counts, o.Test.Counts)
		own += overlapScore(c, test.Counts[i], f.Base.Counts, f.Test.Counts)
	}
	o.Overlap.Counts += whole
	o.Overlap.Entries++
	if !function {
		return nil
	}
	f.Overlap.Counts, f.Overlap.Entries = own, uint64(len(test.Counts))
	return &f
}

func (o *Overlap) find(name string) []*Record {
	fs := o.base.Functions
	i := sort.Search(len(fs), func(i int) bool { return fs[i].Name >= name })
	if i == len(fs) || fs[i].Name != name {
		return nil
	}
	return fs[i].Records
}

// sameLayout reports whether two records have as many counters and sites.
func sameLayout(a, b *Record) bool {
	if len(a.Counts) != len(b.Counts) {
		return false
	}
	for kind := range a.Values {
		if len(a.Values[kind]) != len(b.Values[kind]) {
			return false
		}
	}
	return true
}

// siteOverlap compares the values of one site by their shares of two pairs of
// sums: of the profiles and of the function.
func siteOverlap(base, test ValueSite, baseSum, testSum, baseOwn, testOwn float64) (whole, own float64) {
	base, test = sortedByValue(base), sortedByValue(test)
	for len(base) > 0 && len(test) > 0 {
		switch cmp.Compare(base[0].Value, test[0].Value) {
		case -1:
			base = base[1:]
			continue
		case 0:
			whole += overlapScore(base[0].Count, test[0].Count, baseSum, testSum)
			own += overlapScore(base[0].Count, test[0].Count, baseOwn, testOwn)
			base = base[1:]
		}
		test = test[1:]
	}
	return whole, own
}

func sortedByValue(site ValueSite) ValueSite {
	byValue := func(a, b ValueData) int { return cmp.Compare(a.Value, b.Value) }
	if slices.IsSortedFunc(site, byValue) {
		return site
	}
	site = slices.Clone(site)
	slices.SortStableFunc(site, byValue)
	return site
}

// overlapScore is the share that two counts have in common of their sums.
func overlapScore(a, b uint64, sumA, sumB float64) float64 {
	if sumA < 1 || sumB < 1 {
		return 0
	}
	return min(float64(a)/sumA, float64(b)/sumB)
}
