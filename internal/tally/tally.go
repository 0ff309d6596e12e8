// Package tally computes how the counts of a profile are distributed: how many of
// the greatest counts make up which share of their sum.
package tally

import (
	"math/bits"
	"slices"
)

const (
	// Values below smallValues, most of them zero, have an entry each in a table.
	smallValues = 2048
	// pendingValues is the least number of other values to collect before they are sorted.
	pendingValues = 1 << 16
	// maxExpected bounds the number of values that Expect allocates memory for.
	maxExpected = 1 << 21
	// whole is the share of 100 %, in millionths.
	whole = 1_000_000
)

// Share returns a part as a share of a whole, or 0 if the whole is nothing.
func Share[N int | uint64](part, whole N) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// A Tally counts how often each value was added. The zero value is empty. Memory grows with the number of distinct values.
type Tally struct {
	small   [smallValues]uint64 // how often each value below smallValues was added
	pending []uint64            // values not yet in large
	room    int                 // capacity that Expect gave pending
	large   []frequency         // ascending by value
}

// A frequency is how many times a value was added.
type frequency struct{ value, times uint64 }

// Add adds a value.
func (t *Tally) Add(v uint64) {
	if v < smallValues {
		t.small[v]++
	} else {
		t.addLarge(v)
	}
}

// AddAll adds several values, faster than [Tally.Add] one by one, and returns the greatest.
func (t *Tally) AddAll(values []uint64) (greatest uint64) {
	for _, v := range values {
		greatest = max(greatest, v)
		if v < smallValues {
			t.small[v]++
		} else {
			t.pending = append(t.pending, v)
		}
	}
	t.flushMany()
	return greatest
}

func (t *Tally) addLarge(v uint64) {
	t.pending = append(t.pending, v)
	t.flushMany()
}

// flushMany flushes the pending values if there are many: at least as many as
// there are sorted ones, which keeps the cost per value logarithmic. This is twice
// as fast as a map on typical counts and three times when all are distinct.
func (t *Tally) flushMany() {
	if len(t.pending) >= max(pendingValues, len(t.large), t.room) {
		t.flush()
	}
}

// IsSmall reports whether a value needs no memory of its own, see [Tally.Expect].
func IsSmall(v uint64) bool { return v < smallValues }

// Expect allocates memory for n values that are not small, so that they are sorted all at once.
func (t *Tally) Expect(n int) {
	if n > pendingValues {
		t.room = min(n+1, maxExpected) // one more, so that n values do not flush
		t.pending = make([]uint64, 0, t.room)
	}
}

// Merge adds the values of o, which stays valid.
func (t *Tally) Merge(o *Tally) {
	o.flush()
	for v, n := range o.small {
		t.small[v] += n
	}
	t.large = merge(t.large, o.large)
}

// flush sorts the pending values and merges them into large.
func (t *Tally) flush() {
	sortBytes(t.pending)
	distinct := 0
	for i, v := range t.pending {
		if i == 0 || v != t.pending[i-1] {
			distinct++
		}
	}
	sorted := make([]frequency, 0, distinct)
	for i, v := range t.pending {
		if i > 0 && v == t.pending[i-1] {
			sorted[len(sorted)-1].times++
		} else {
			sorted = append(sorted, frequency{v, 1})
		}
	}
	t.pending = t.pending[:0]
	if len(t.large) == 0 {
		t.large = sorted
		return
	}
	t.large = merge(t.large, sorted)
}

// sortBytes is a radix sort, byte by byte from the lowest up. It skips bytes that
// are equal in all values: counts are mostly far below 2^64.
func sortBytes(values []uint64) {
	if len(values) < 256 {
		slices.Sort(values)
		return
	}
	differ := uint64(0)
	for _, v := range values {
		differ |= v ^ values[0]
	}
	from, to := values, make([]uint64, len(values))
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var starts [257]int
		for _, v := range from {
			starts[v>>shift&0xff+1]++
		}
		for i := range 256 {
			starts[i+1] += starts[i]
		}
		for _, v := range from {
			b := v >> shift & 0xff
			to[starts[b]] = v
			starts[b]++
		}
		from, to = to, from
	}
	if &from[0] != &values[0] {
		copy(values, from)
	}
}

// merge merges src into dst, both ascending, in dst's memory if it is large enough.
func merge(dst, src []frequency) []frequency {
	fresh, i := 0, 0
	for _, f := range src {
		for i < len(dst) && dst[i].value < f.value {
			i++
		}
		if i == len(dst) || dst[i].value != f.value {
			fresh++
		}
	}
	i = len(dst) - 1
	dst = slices.Grow(dst, fresh)[:len(dst)+fresh]
	// Going backwards overwrites nothing that has not been moved: to is ahead of i by the number of fresh values still to come.
	to := len(dst) - 1
	for _, f := range slices.Backward(src) {
		for ; i >= 0 && dst[i].value > f.value; i-- {
			dst[to] = dst[i]
			to--
		}
		if i >= 0 && dst[i].value == f.value {
			f.times += dst[i].times
			i--
		}
		dst[to] = f
		to--
	}
	return dst
}

// A Distribution describes how the values of a tally are distributed.
type Distribution struct {
	Values    uint64 // number of values, zeros included
	Max       uint64
	High, Low uint64 // their sum, of 128 bits
	Cutoffs   []Cutoff
}

// A Cutoff says that the greatest Values values, each Min or more, make up Share millionths of the sum.
type Cutoff struct{ Share, Min, Values uint64 }

// Distribution describes the values added so far, with a cutoff for each share, given in millionths, in ascending
// order. With modulo all sums are modulo 2^64, as in LLVM: there the cutoffs of a sum that wraps mean little.
// Without, no share may be above a million.
func (t *Tally) Distribution(shares []uint64, modulo bool) Distribution {
	t.flush()
	d := Distribution{Cutoffs: make([]Cutoff, 0, len(shares))}
	next := t.descending()
	for f, ok := next(); ok; f, ok = next() {
		d.Values += f.times
		d.Max = max(d.Max, f.value)
		d.High, d.Low = f.addTo(d.High, d.Low)
	}
	if modulo {
		d.High = 0
	}
	next = t.descending()
	var c Cutoff
	var high, low uint64 // sum of the values passed
	for _, c.Share = range slices.Sorted(slices.Values(shares)) {
		wantHigh, wantLow := portion(d.High, d.Low, c.Share)
		if modulo {
			wantHigh = 0
		}
		for high < wantHigh || high == wantHigh && low < wantLow {
			f, ok := next()
			if !ok {
				break
			}
			c.Min = f.value
			c.Values += f.times
			if high, low = f.addTo(high, low); modulo {
				high = 0
			}
		}
		d.Cutoffs = append(d.Cutoffs, c)
	}
	return d
}

// addTo adds value·times to a sum of 128 bits.
func (f frequency) addTo(high, low uint64) (sumHigh, sumLow uint64) {
	productHigh, productLow := bits.Mul64(f.value, f.times)
	low, carry := bits.Add64(low, productLow, 0)
	high, _ = bits.Add64(high, productHigh, carry)
	return high, low
}

// descending returns a function that walks the distinct values from the greatest down.
func (t *Tally) descending() func() (frequency, bool) {
	large, small := len(t.large), len(t.small)
	return func() (frequency, bool) {
		if large > 0 {
			large--
			return t.large[large], true
		}
		for small > 0 {
			small--
			if n := t.small[small]; n > 0 {
				return frequency{uint64(small), n}, true
			}
		}
		return frequency{}, false
	}
}

// portion returns sum·share/10⁶, rounded down. The share may be above a million if the sum is below 2^64; otherwise
// the sum is less than 2^64 times the number of its values, and sumHigh·share fits.
func portion(sumHigh, sumLow, share uint64) (high, low uint64) {
	carry, product := bits.Mul64(sumLow, share)
	highProduct := sumHigh*share + carry
	high, rest := highProduct/whole, highProduct%whole
	low, _ = bits.Div64(rest, product, whole)
	return high, low
}
