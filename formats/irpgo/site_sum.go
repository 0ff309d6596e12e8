package irpgo

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// siteSum adds up the values of one value site.
//
// Usually all values of a site differ. They are then kept in order of appearance, each with its latest address,
// because resolving an address to a function is the most expensive step. A site in which a value repeats (every
// unknown callee is 0) is merged by [mergeSite].
type siteSum struct {
	values []ValueData
	homes  []valueHome      // parallel to values; nil if values may repeat
	index  map[uint64]int32 // value to index in values, if there are many
	merged bool             // the sum of several records: sort the values at the end
	repeat bool             // values may repeat
}

// valueHome is the latest address of a value.
type valueHome struct {
	address uint64 // the value itself if values are no addresses
	visit   uint32 // the latest visit in which the value occurred
}

// A site of more than maxScanned values is searched by an index. A site of more
// than maxDistinct is merged by mergeSite.
const (
	maxScanned  = 16
	maxDistinct = 1 << 16
)

// siteValues are values to be added to a site.
type siteValues struct {
	list []ValueData // may be overwritten
	kind int
	// from resolves the values if they are addresses and is nil otherwise. All addresses
	// of a site are resolved by one map.
	from *addressMap
}

// addSite adds weight·src to a site and reports whether a count saturated. A site that is
// not merged yet gets the values of its first record.
func (a *accumulator) addSite(t *siteSum, src siteValues, weight uint64) (overflow bool) {
	if len(src.list) == 0 {
		return false
	}
	if !t.repeat {
		overflow, ok := a.addDistinct(t, src, weight)
		if ok && a.policy.llvm && len(t.values) > maxValuesPerSite {
			// LLVM sorts and cuts a site after every step. That can wait until
			// the end while distinct values need no cut.
			sortSite(t.values)
			t.values = byCount(t.values)
			t.mayRepeat()
		}
		if ok {
			return overflow
		}
		t.mayRepeat()
		a.repeats = true
	}
	src.from.resolve(src.kind, src.list)
	if t.merged {
		t.values, overflow = mergeSite(t.values, src.list, weight, a.policy)
	} else {
		t.values = slices.Clone(src.list)
		for i := range t.values {
			var cut bool
			t.values[i].Count, cut = saturate.Mul(src.list[i].Count, weight)
			overflow = overflow || cut
		}
	}
	if a.policy.llvm {
		t.values = byCount(t.values)
	}
	return overflow
}

// mayRepeat makes the site one whose values mergeSite adds.
func (t *siteSum) mayRepeat() { t.homes, t.index, t.repeat = nil, nil, true }

// addDistinct is addSite for a site and a src each of distinct values. If a
// value of src repeats, it adds nothing and ok is false.
func (a *accumulator) addDistinct(t *siteSum, src siteValues, weight uint64) (overflow, ok bool) {
	a.visits++
	before := len(t.values)
	positions := a.positions[:0]
	for i, s := range src.list {
		at := i // values mostly come in the order of the site
		if at >= before || t.homes[at].address != s.Value {
			at = t.findAddress(s.Value, src)
		}
		if t.homes[at].visit == a.visits {
			t.truncate(before)
			return false, false
		}
		t.homes[at].visit = a.visits
		positions = append(positions, int32(at))
	}
	a.positions = positions
	if len(t.values) > maxDistinct {
		t.truncate(before)
		return false, false
	}
	for i, at := range positions {
		w := weight
		if int(at) >= before && a.policy.llvm && t.merged {
			w = 1
		}
		v := &t.values[at]
		var cut bool
		v.Count, cut = saturate.AddScaled(v.Count, src.list[i].Count, w)
		overflow = overflow || cut
	}
	return overflow, true
}

// findAddress returns the index of a value, which it appends with a count of 0 if it is
// missing. An empty site gets room for all values of src.
func (t *siteSum) findAddress(address uint64, src siteValues) int {
	if src.from != nil {
		for i := range t.homes[:min(len(t.homes), maxScanned)] {
			if t.homes[i].address == address {
				return i
			}
		}
	}
	value := src.from.valueAt(src.kind, address)
	at := t.findValue(value)
	if at < len(t.values) {
		t.homes[at].address = address
		return at
	}
	if t.index != nil {
		t.index[value] = int32(at)
	}
	if cap(t.values) == 0 {
		t.values, t.homes = make([]ValueData, 0, len(src.list)), make([]valueHome, 0, len(src.list))
	}
	t.values = append(t.values, ValueData{Value: value})
	t.homes = append(t.homes, valueHome{address: address})
	return at
}

// findValue returns the index of a value that is resolved, or len(t.values) if it is missing.
func (t *siteSum) findValue(value uint64) int {
	if len(t.values) > maxScanned {
		if t.index == nil {
			t.index = make(map[uint64]int32, len(t.values))
			for i := range t.values {
				t.index[t.values[i].Value] = int32(i)
			}
		}
		if i, ok := t.index[value]; ok {
			return int(i)
		}
		return len(t.values)
	}
	for i := range t.values {
		if t.values[i].Value == value {
			return i
		}
	}
	return len(t.values)
}

func (t *siteSum) truncate(n int) { t.values, t.homes, t.index = t.values[:n], t.homes[:n], nil }

// forget forgets the addresses of the values, which are then added as they are.
func (t *siteSum) forget() {
	for i := range t.homes {
		t.homes[i].address = t.values[i].Value
	}
}

// finished returns the values as a file holds them: by descending count and cut
// to maxValuesPerSite (InstrProfRecord::sortValueData). Equal counts stand in
// the order of the values, or of the input if there was only one record.
func (t *siteSum) finished() []ValueData {
	if len(t.values) > 1 {
		if t.merged {
			sortSite(t.values)
		}
		t.values = byCount(t.values)
		t.mayRepeat() // the values have moved
	}
	return t.values
}

// byRank orders values by value, equal ones by descending count. A value may repeat within a site; the k-th
// occurrences in two sites are added to each other, which makes merging associative.
func byRank(a, b ValueData) int {
	if c := cmp.Compare(a.Value, b.Value); c != 0 {
		return c
	}
	return cmp.Compare(b.Count, a.Count)
}

// mergeSite adds weight·src to dst value by value; the result is ordered by value and both arguments are consumed.
// Values that dst did not have are weighted unless the rules are LLVM's.
func mergeSite(dst, src []ValueData, weight uint64, policy mergePolicy) (out []ValueData, overflow bool) {
	if policy.llvm { // as LLVM since release 19; before, equal values kept their order
		byTarget := func(a, b ValueData) bool { return a.Value < b.Value }
		llvmorder.Sort(dst, byTarget)
		llvmorder.Sort(src, byTarget)
	} else {
		sortSite(dst)
		sortSite(src)
	}
	if fresh := countNew(dst, src); fresh == 0 {
		out = dst[:0]
	} else {
		out = make([]ValueData, 0, len(dst)+fresh)
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
		case !policy.llvm:
			sum, cut = saturate.Mul(s.Count, weight)
		}
		overflow = overflow || cut
		out = append(out, ValueData{s.Value, sum})
	}
	return append(out, dst[i:]...), overflow
}

func sortSite(s []ValueData) {
	if !slices.IsSortedFunc(s, byRank) {
		slices.SortFunc(s, byRank)
	}
}

// countNew returns how many values of src have no partner in dst; both are ordered by value.
func countNew(dst, src []ValueData) int {
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

// byCount sorts a site by descending count, stably, and cuts it to maxValuesPerSite.
func byCount(s []ValueData) []ValueData {
	if len(s) > 1 {
		slices.SortStableFunc(s, func(a, b ValueData) int { return cmp.Compare(b.Count, a.Count) })
	}
	return s[:min(len(s), maxValuesPerSite)]
}
