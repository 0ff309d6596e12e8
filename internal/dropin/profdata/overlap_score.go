package profdata

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// countSums (CountSumOrPercent) are the sums of a profile or function, or shares of such sums.
type countSums struct {
	Entries uint64                       // functions, or counters of one function
	Counts  float64                      // of edge counters
	Values  [irpgo.NumValueKinds]float64 // of the counts of profiled values
}

func (s *countSums) addRecord(rec *irpgo.Record) {
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
func (s *countSums) addShare(part, whole *countSums) {
	s.Entries++
	s.Counts += part.Counts / whole.Counts
	for kind, sum := range whole.Values {
		if sum >= 1 {
			s.Values[kind] += part.Values[kind] / sum
		}
	}
}

// sumCounts sums up the records of a profile up to the first record that cannot be read. Of an
// IR profile it counts the context-sensitive records if cs is set, else the other records.
func sumCounts(r *irpgo.Reader, cs bool) countSums {
	var s countSums
	for rec, err := range r.ReusedRecords() {
		if err != nil {
			break
		}
		if r.Info.Variant.Has(irpgo.IRLevel) && rec.IsCS() != cs {
			continue
		}
		s.addRecord(rec)
		s.Entries++
	}
	return s
}

// overlapStats say how alike a base and a test profile are: the weight that both give to the
// same counters, from 0 (nothing in common) to 1 (the same distribution). Overlap, Mismatch and
// Unique hold shares; Mismatch and Unique are shares of the test profile.
type overlapStats struct {
	Base, Test countSums
	Overlap    countSums // by the smaller share of either
	Mismatch   countSums // functions of another hash, or number of counters or value sites
	Unique     countSums // functions that only the test profile has
}

// An overlap compares the records of a test profile one by one with a base profile. Base and
// Test are the sums of both whole profiles, see sumCounts. Sums below one give no shares.
type overlap struct {
	overlapStats
	base *irpgo.Profile
}

// addRecord compares a record of the test profile. With function it returns how alike the records of
// this function are; nil if they are not comparable or the function never ran in the test.
func (o *overlap) addRecord(test *irpgo.Record, function bool) *overlapStats {
	var f overlapStats
	f.Test.Entries = uint64(len(test.Counts))
	f.Test.addRecord(test)
	records := o.baseRecords(test.Name)
	if records == nil {
		o.Unique.addShare(&f.Test, &o.Test)
		return nil
	}
	// A function that never ran in the test profile overlaps with a share of 0.
	if f.Test.Counts < 1 {
		o.Overlap.Entries++
		return nil
	}
	i := slices.IndexFunc(records, func(r *irpgo.Record) bool { return r.Hash == test.Hash })
	if i < 0 || !sameLayout(records[i], test) {
		o.Mismatch.addShare(&f.Test, &o.Test)
		return nil
	}
	base := records[i]
	f.Base.Entries = uint64(len(base.Counts))
	f.Base.addRecord(base)
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

// baseRecords returns the records of a function of the base profile, nil if there are none.
func (o *overlap) baseRecords(name string) []*irpgo.Record {
	fs := o.base.Functions
	i, ok := slices.BinarySearchFunc(fs, name, func(f irpgo.Function, name string) int { return cmp.Compare(f.Name, name) })
	if !ok {
		return nil
	}
	return fs[i].Records
}

// sameLayout reports whether two records have as many counters and sites.
func sameLayout(a, b *irpgo.Record) bool {
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

// siteOverlap compares the values of one site by their shares of the sums of the profiles, and
// of the sums of the function (own). Values that only one profile has add nothing.
func siteOverlap(base, test []irpgo.ValueData, baseSum, testSum, baseOwn, testOwn float64) (whole, own float64) {
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

// sortedByValue returns the values in ascending order and does not change the site.
func sortedByValue(site []irpgo.ValueData) []irpgo.ValueData {
	byValue := func(a, b irpgo.ValueData) int { return cmp.Compare(a.Value, b.Value) }
	if slices.IsSortedFunc(site, byValue) {
		return site
	}
	site = slices.Clone(site)
	slices.SortStableFunc(site, byValue)
	return site
}

// overlapScore returns the smaller of the shares a/sumA and b/sumB; 0 if a sum is below one.
func overlapScore(a, b uint64, sumA, sumB float64) float64 {
	if sumA < 1 || sumB < 1 {
		return 0
	}
	return min(float64(a)/sumA, float64(b)/sumB)
}
