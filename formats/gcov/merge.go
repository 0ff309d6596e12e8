package gcov

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A Merger adds up the counts of one object file. The zero value is an empty sum.
//
// The sum of arcs and of most other counters does not depend on the order of the inputs. Lists of values keep all
// values until [Merger.Counts], which cuts each list once: to the 32 most frequent values, of equally frequent ones to the
// values that came first. Lists of sums that were cut before have lost values, so for lists one merge of all inputs is
// better than a merge of sums. gcov-tool cuts with every input, and its sums depend on the order as soon as a list is full.
type Merger struct {
	// Saturated: a sum was too large for its counter and stays at the maximum.
	Saturated bool
	// Cut is how many lists [Merger.Counts] has cut.
	Cut int

	sum   *Counts
	index map[functionKey]int
	max   uint64
}

// A functionKey identifies a function in a file. Idents are hashes of names, so two functions may have the same.
type functionKey struct {
	ident, line, flow uint32
	nth               int
}

// keysOf yields the keys of the functions, in their order.
func keysOf(c *Counts) []functionKey {
	keys, seen := make([]functionKey, len(c.Functions)), make(map[functionKey]int)
	for i := range c.Functions {
		f := &c.Functions[i]
		key := functionKey{f.Ident, f.LineChecksum, f.FlowChecksum, 0}
		keys[i] = key
		keys[i].nth = seen[key]
		seen[key]++
	}
	return keys
}

// Add adds counts, each multiplied by the weight. Runs are not multiplied. If the counts are of another build than the
// sum, it returns an error and changes nothing.
func (m *Merger) Add(c *Counts, weight uint64) error {
	keys := keysOf(c)
	if m.sum == nil {
		m.sum, m.index = &Counts{Header: c.Header, summary: c.summary, ends: c.ends}, make(map[functionKey]int)
	}
	if err := m.accepts(c, keys); err != nil {
		return err
	}
	m.sum.Runs += c.Runs
	m.max = saturate.Add(m.max, multiplied(uint64(c.Max), weight))
	m.sum.programs = max(m.sum.programs, c.programs)
	for i := range c.Functions {
		f := &c.Functions[i]
		at, known := m.index[keys[i]]
		switch {
		case f.Placeholder && i < len(m.sum.Functions):
			continue
		case f.Placeholder:
			m.sum.Functions = append(m.sum.Functions, *f)
			continue
		case !known && i < len(m.sum.Functions) && m.sum.Functions[i].Placeholder:
			at = i
		case !known:
			at = len(m.sum.Functions)
			m.sum.Functions = append(m.sum.Functions, FunctionCounts{})
		}
		m.index[keys[i]] = at
		into := &m.sum.Functions[at]
		into.Ident, into.LineChecksum, into.FlowChecksum, into.Placeholder = f.Ident, f.LineChecksum, f.FlowChecksum, false
		for k := range f.Counters {
			m.addCounters(into, &f.Counters[k], weight)
		}
	}
	return nil
}

func multiplied(n, weight uint64) uint64 {
	n, _ = saturate.Mul(n, weight)
	return n
}

// accepts returns an error if the counts are of another build than the sum.
func (m *Merger) accepts(c *Counts, keys []functionKey) error {
	at := flaw.At("header", 8)
	switch s := m.sum; {
	case s.release/100 != c.release/100 || s.unit != c.unit:
		return flaw.At("header", 4).Field("version").Got(flaw.Quote(c.Version.String())).Wantf("%q, as in the first counts of the object", s.Version.String()).Mismatch()
	case s.Stamp != c.Stamp:
		return at.Field("stamp").Gotf("%08x", c.Stamp).Wantf("%08x, as in the first counts of the object", s.Stamp).
			Hint("the counts are of different compilations").Mismatch()
	case s.Checksum != c.Checksum:
		return flaw.At("header", 12).Field("checksum").Gotf("%08x", c.Checksum).Wantf("%08x, as in the first counts of the object", s.Checksum).
			Hint("the counts are of different builds").Mismatch()
	}
	for i := range c.Functions {
		at, ok := m.index[keys[i]]
		if !ok {
			continue
		}
		for k := range c.Functions[i].Counters {
			set := &c.Functions[i].Counters[k]
			old := m.sum.Functions[at].of(set.Kind)
			if n := set.sites(); old != nil && n > 0 && old.sites() > 0 && n != old.sites() {
				return flaw.In("counters").InRecord(i).Field("number of "+set.Kind.String()+" counters").Got(n).
					Wantf("%d, as in the first counts of the function", old.sites()).Mismatch()
			}
		}
	}
	return nil
}

// of returns the counters of a kind; nil if there are none.
func (f *FunctionCounts) of(kind Kind) *Counters {
	for i := range f.Counters {
		if f.Counters[i].Kind == kind {
			return &f.Counters[i]
		}
	}
	return nil
}

// sites returns the number of counters, or of lists.
func (c *Counters) sites() int { return len(c.Values) + len(c.Lists) }

// addCounters adds the counters of one kind to a function of the sum.
func (m *Merger) addCounters(f *FunctionCounts, add *Counters, weight uint64) {
	into := f.of(add.Kind)
	if into == nil {
		at, _ := slices.BinarySearchFunc(f.Counters, add.Kind, func(c Counters, k Kind) int {
			return cmp.Compare(tagOf(c.Kind, m.sum.release), tagOf(k, m.sum.release))
		})
		f.Counters = slices.Insert(f.Counters, at, Counters{Kind: add.Kind})
		into = &f.Counters[at]
	}
	if into.sites() == 0 {
		into.Values, into.Lists = make([]int64, len(add.Values)), make([]List, len(add.Lists))
		if !add.Kind.adds() {
			copy(into.Values, add.Values)
			return
		}
	}
	for i := range add.Lists {
		m.addList(&into.Lists[i], &add.Lists[i], weight)
	}
	for i, v := range add.Values {
		old := &into.Values[i]
		switch {
		case !add.Kind.adds():
			if *old != v { // the rules of old kinds are not known
				m.sum.unadded = add.Kind.String()
			}
		case add.Kind == kindOr, add.Kind == kindConditions, add.Kind == kindPaths:
			*old |= v
		case add.Kind == kindTime:
			if v != 0 && (*old == 0 || v < *old) {
				*old = v
			}
		default:
			*old = m.add(*old, v, weight)
		}
	}
}

// adds reports whether counters of the kind can be added up.
func (k Kind) adds() bool { return k <= kindPaths }

func (m *Merger) add(sum, n int64, weight uint64) int64 {
	if weight != 1 {
		size, cut := saturate.Mul(magnitude(n), weight)
		if cut || size > math.MaxInt64 {
			size, m.Saturated = math.MaxInt64, true
		}
		if n = signed(size, n < 0); n == 0 {
			return sum
		}
	}
	sum, cut := saturate.AddSigned(sum, n)
	m.Saturated = m.Saturated || cut
	return sum
}

// magnitude returns n without its sign.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func signed(n uint64, negative bool) int64 {
	if negative {
		return -int64(n)
	}
	return int64(n)
}

// addList adds a list. Values that are new stand behind the others, in their order.
func (m *Merger) addList(into, list *List, weight uint64) {
	dropped := into.Total < 0 || list.Total < 0
	into.Total = m.add(int64(magnitude(into.Total)), signed(magnitude(list.Total), false), weight)
	if dropped {
		into.Total = -into.Total
	}
	find := into.finder(len(list.Values))
	for _, v := range list.Values {
		i := find(v.Value)
		if i < 0 {
			i = len(into.Values)
			into.Values = append(into.Values, ListValue{Value: v.Value})
		}
		old := &into.Values[i]
		old.Count = m.add(old.Count, v.Count, weight)
	}
}

// finder returns a function that returns the index of a value in the list, or -1, while up to more values are appended.
// Released tools write short lists; longer ones have an index, because a search for each value would take n² steps.
func (l *List) finder(more int) func(value int64) int {
	if len(l.Values)+more <= 4*maxListed {
		return func(value int64) int {
			return slices.IndexFunc(l.Values, func(v ListValue) bool { return v.Value == value })
		}
	}
	index, indexed := make(map[int64]int, len(l.Values)+more), 0
	return func(value int64) int {
		for ; indexed < len(l.Values); indexed++ {
			index[l.Values[indexed].Value] = indexed
		}
		if i, ok := index[value]; ok {
			return i
		}
		return -1
	}
}

// Counts returns the sum, divided by unit and rounded; nil if nothing was added. The merger must not be used afterwards.
func (m *Merger) Counts(unit uint64) *Counts {
	if m.sum == nil {
		return nil
	}
	unit = max(unit, 1)
	m.sum.Max = uint32(saturate.Div(m.max, unit)) // GCC's runtime wraps
	for i := range m.sum.Functions {
		for k := range m.sum.Functions[i].Counters {
			set := &m.sum.Functions[i].Counters[k]
			if unit > 1 && set.Kind.isScaled() {
				for j, v := range set.Values {
					set.Values[j] = signed(saturate.Div(magnitude(v), unit), v < 0)
				}
			}
			for j := range set.Lists {
				m.finishList(&set.Lists[j], unit)
			}
		}
	}
	return m.sum
}

// isScaled reports whether a weight changes counters of the kind.
func (k Kind) isScaled() bool { return k <= kindAverage }

// finishList divides the counts of a list, and cuts it to the most frequent values, which keep their order.
func (m *Merger) finishList(l *List, unit uint64) {
	l.Total = signed(saturate.Div(magnitude(l.Total), unit), l.Total < 0)
	for i := range l.Values {
		v := &l.Values[i]
		v.Count = signed(saturate.Div(magnitude(v.Count), unit), v.Count < 0)
	}
	if len(l.Values) <= maxListed {
		return
	}
	m.Cut++
	order := make([]int, len(l.Values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(l.Values[k].Count, l.Values[i].Count) })
	order = order[:maxListed]
	slices.Sort(order)
	kept := make([]ListValue, 0, maxListed)
	for _, i := range order {
		kept = append(kept, l.Values[i])
	}
	l.Values = kept
	if l.Total > 0 {
		l.Total = -l.Total
	}
}
