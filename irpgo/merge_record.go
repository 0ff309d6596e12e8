package irpgo

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// addRecord merges src, whose name has the given reference unless that is 0,
// and reports whether it was taken.
func (m *Merger) addRecord(src *Record, ref, weight, seq uint64, file string) bool {
	f := m.functions.get(src.Name, ref, seq)
	f.seq = min(f.seq, seq) // sums of a shape come late
	taken, reported := true, false
	// At most one warning per function and input.
	warn := func(code Code) {
		if !reported {
			m.warn(file, src.Name, code)
		}
		reported = true
		taken = taken && code == CodeCounterOverflow
	}
	dst := f.find(src.Hash)
	switch {
	case dst == nil:
		dst = m.newRecord(src, weight, seq, warn)
		f.records = append(f.records, dst)
	case m.opt.LLVMCompat:
		dst.merge(src, weight, true, warn)
	default:
		if r := dst.rival(src); r != nil {
			r.seq = min(r.seq, seq)
			r.merge(src, weight, false, warn)
		} else {
			dst.rivals = append(dst.rivals, m.newRecord(src, weight, seq, warn))
		}
	}
	if m.opt.LLVMCompat {
		dst.sortValues()
	}
	return taken
}

// newRecord copies src, scaled (InstrProfRecord::scale).
func (m *Merger) newRecord(src *Record, weight, seq uint64, warn func(Code)) *accRecord {
	r := m.functions.newRecord()
	r.Name, r.Hash, r.seq = src.Name, src.Hash, seq
	r.Counts = m.functions.counts.copy(src.Counts)
	if src.Bitmap != nil {
		r.Bitmap = slices.Clone(src.Bitmap)
	}
	r.Values = src.Values.clone()
	if weight == 1 || !m.opt.LLVMCompat && r.Pseudo() != 0 {
		return r
	}
	for i := range r.Counts {
		c := uint64(0)
		if addCount(&c, r.Counts[i], weight) {
			warn(CodeCounterOverflow)
		}
		r.Counts[i] = c
	}
	for _, sites := range r.Values {
		for _, site := range sites {
			for i := range site {
				var cut bool
				if site[i].Count, cut = saturate.Mul(site[i].Count, weight); cut {
					warn(CodeCounterOverflow)
				}
			}
		}
	}
	return r
}

// clone copies the sites of v into one block of memory.
func (v *Values) clone() Values {
	var out Values
	if v.empty() {
		return out
	}
	sites, values := 0, 0
	for _, k := range v {
		sites += len(k)
		for _, s := range k {
			values += len(s)
		}
	}
	siteBlock := make([]ValueSite, 0, sites)
	valueBlock := make([]ValueData, 0, values)
	for k, in := range v {
		if len(in) == 0 {
			continue
		}
		start := len(siteBlock)
		for _, s := range in {
			at := len(valueBlock)
			valueBlock = append(valueBlock, s...)
			siteBlock = append(siteBlock, valueBlock[at:len(valueBlock):len(valueBlock)])
		}
		out[k] = siteBlock[start:len(siteBlock):len(siteBlock)]
	}
	return out
}

// sameShape reports whether two records of one (name, hash) can be added
// counter by counter and site by site.
func (r *accRecord) sameShape(o *Record) bool {
	if len(r.Counts) != len(o.Counts) || len(r.Bitmap) != len(o.Bitmap) ||
		(r.Pseudo() != 0) != (o.Pseudo() != 0) {
		return false
	}
	for k := range r.Values {
		if len(r.Values[k]) != len(o.Values[k]) {
			return false
		}
	}
	return true
}

// rival returns which of r and its rivals has o's shape, nil if none.
func (r *accRecord) rival(o *Record) *accRecord {
	if r.sameShape(o) {
		return r
	}
	for _, x := range r.rivals {
		if x.sameShape(o) {
			return x
		}
	}
	return nil
}

// merge adds weight·o to r by the rules of InstrProfRecord::merge, which say
// what can still be added when the shapes differ. compat selects LLVM's
// treatment of values, see [mergeSite].
func (r *accRecord) merge(o *Record, weight uint64, compat bool, warn func(Code)) {
	if len(r.Counts) != len(o.Counts) {
		warn(CodeCountMismatch)
		return
	}
	if a, b := r.Pseudo(), o.Pseudo(); a != 0 || b != 0 {
		if a == 0 || b == 0 {
			warn(CodeCountMismatch)
			return
		}
		r.Counts[0] = max(a, b) // hot beats warm
		return
	}
	if addCounts(r.Counts, o.Counts, weight) {
		warn(CodeCounterOverflow)
	}
	if len(r.Bitmap) != len(o.Bitmap) {
		warn(CodeBitmapMismatch)
		return
	}
	for i, b := range o.Bitmap {
		r.Bitmap[i] |= b
	}
	for k := range r.Values {
		if len(r.Values[k]) != len(o.Values[k]) {
			warn(CodeValueSiteCountMismatch)
			continue
		}
		for i, site := range o.Values[k] {
			var overflow bool
			r.Values[k][i], overflow = mergeSite(r.Values[k][i], site, weight, compat)
			if overflow {
				warn(CodeCounterOverflow)
			}
		}
	}
}

// addCounts adds weight·src to dst, saturating at 2^64−3, and reports whether
// any counter saturated.
func addCounts(dst, src []uint64, weight uint64) (overflow bool) {
	dst = dst[:len(src)]
	for i, c := range src {
		overflow = addCount(&dst[i], c, weight) || overflow
	}
	return overflow
}

// addCount adds weight·c to a counter, which saturates at 2^64−3, and reports
// whether it did.
func addCount(dst *uint64, c, weight uint64) bool {
	sum, cut := saturate.AddScaled(*dst, c, weight)
	if cut || sum > maxCount {
		*dst = maxCount
		return true
	}
	*dst = sum
	return false
}

// A site may hold a value several times (unknown callees are all 0). Equal
// values pair up in the order in which they stand when two sites are merged.

// byRank orders values by value, equal ones by descending count, so that
// they pair up by rank: that makes merging associative.
func byRank(a, b ValueData) int {
	if c := cmp.Compare(a.Value, b.Value); c != 0 {
		return c
	}
	return cmp.Compare(b.Count, a.Count)
}

// byValue leaves equal values in the order of the input, as LLVM does.
func byValue(a, b ValueData) int { return cmp.Compare(a.Value, b.Value) }

// mergeSite adds weight·src to dst value by value; the result is ordered by
// value and both arguments are consumed. compat does as LLVM: equal values
// pair up in input order, and values that dst did not have are added without
// the weight.
func mergeSite(dst, src ValueSite, weight uint64, compat bool) (out ValueSite, overflow bool) {
	order := byRank
	if compat {
		order = byValue
	}
	sortSite(dst, order)
	if len(src) == 0 {
		return dst, false
	}
	sortSite(src, order)
	if fresh := countNew(dst, src); fresh == 0 {
		out = dst[:0]
	} else {
		out = make(ValueSite, 0, len(dst)+fresh)
	}
	i := 0
	for _, s := range src {
		for i < len(dst) && dst[i].Value < s.Value {
			out = append(out, dst[i])
			i++
		}
		sum, cut := s.Count, false
		switch {
		case i < len(dst) && dst[i].Value == s.Value:
			sum, cut = saturate.AddScaled(dst[i].Count, s.Count, weight)
			i++
		case !compat:
			sum, cut = saturate.Mul(s.Count, weight)
		}
		overflow = overflow || cut
		out = append(out, ValueData{s.Value, sum})
	}
	return append(out, dst[i:]...), overflow
}

func sortSite(s ValueSite, order func(a, b ValueData) int) {
	if !slices.IsSortedFunc(s, order) {
		slices.SortStableFunc(s, order)
	}
}

// countNew returns how many entries of src have no partner in dst; both are
// sorted by value.
func countNew(dst, src ValueSite) int {
	n, i := 0, 0
	for _, s := range src {
		for i < len(dst) && dst[i].Value < s.Value {
			i++
		}
		if i < len(dst) && dst[i].Value == s.Value {
			i++
		} else {
			n++
		}
	}
	return n
}

// sortValues orders every site by descending count and cuts it to what a file
// can hold (InstrProfRecord::sortValueData). Equal counts keep their order:
// that of the values after a merge, that of the input otherwise.
func (r *accRecord) sortValues() {
	for _, sites := range r.Values {
		sortValues(sites)
	}
}

func sortValues(sites []ValueSite) {
	for i, s := range sites {
		if len(s) > 1 {
			sites[i] = byCount(s)
		}
	}
}

func byCount(s ValueSite) ValueSite {
	slices.SortStableFunc(s, func(a, b ValueData) int { return cmp.Compare(b.Count, a.Count) })
	return s[:min(len(s), maxValuesPerSite)]
}
