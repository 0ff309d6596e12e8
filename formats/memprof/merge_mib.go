package memprof

import (
	"math"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// follow merges a later MIB of the same context and process, by the rule for several dumps in one raw
// file (MemInfoBlock::Merge of the MemProf runtime). It replaces the later MIB's counts of overlaps and
// equal CPUs with a comparison of both MIBs. It reports whether a sum saturated.
func (m *MIB) follow(later *MIB) (overflow bool) {
	o := overflowing{}
	m.join(later, 1, total|least|greatest, &o)
	if later.AllocTimestamp < m.DeallocTimestamp {
		m.put(numLifetimeOverlaps, o.add(uint64(m.NumLifetimeOverlaps), 1, 1, math.MaxUint32))
	}
	if later.AllocCPUID == m.AllocCPUID {
		m.put(numSameAllocCPU, o.add(uint64(m.NumSameAllocCPU), 1, 1, math.MaxUint32))
	}
	if later.DeallocCPUID == m.DeallocCPUID {
		m.put(numSameDeallocCPU, o.add(uint64(m.NumSameDeallocCPU), 1, 1, math.MaxUint32))
	}
	m.AllocTimestamp, m.DeallocTimestamp = later.AllocTimestamp, later.DeallocTimestamp
	m.AllocCPUID, m.DeallocCPUID = later.AllocCPUID, later.DeallocCPUID
	m.joinHistogram(later, 1, &o)
	return o.happened
}

// unknownCPU is the CPU id that the runtime records before it can determine CPUs.
const unknownCPU = math.MaxUint32

// merge merges, weight times, a MIB of the same context: from another process, or from another stack of
// addresses in the same process. It adds sums (AllocCount, Total…, Num…, histogram buckets) and takes
// the least minimum, the greatest maximum and the latest timestamps. A CPU or data type that differs
// becomes unknown (2^32-1 and 0). A field that m or o lacks is unknown in the result, because a partial
// sum would be wrong. AccessHistogram becomes 0.
//
// The rule is associative and commutative, and merging with weight w equals merging w
// times. merge reports whether a sum saturated.
func (m *MIB) merge(o *MIB, weight uint64) (overflow bool) {
	c := *o
	c.keepFields(m.Fields)
	m.keepFields(o.Fields)
	of := overflowing{}
	m.join(&c, weight, total|coincidence|least|greatest, &of)
	m.AllocTimestamp = max(m.AllocTimestamp, c.AllocTimestamp)
	m.DeallocTimestamp = max(m.DeallocTimestamp, c.DeallocTimestamp)
	if m.AllocCPUID != c.AllocCPUID {
		m.AllocCPUID = unknownCPU
	}
	if m.DeallocCPUID != c.DeallocCPUID {
		m.DeallocCPUID = unknownCPU
	}
	if m.DataTypeID != c.DataTypeID {
		m.DataTypeID = 0
	}
	m.AccessHistogram = 0
	m.joinHistogram(&c, weight, &of)
	return of.happened
}

func (m *MIB) scale(weight uint64) (overflow bool) {
	if weight == 1 {
		return false
	}
	c := *m
	c.Histogram = append([]uint64(nil), m.Histogram...)
	overflow = c.merge(m, weight-1)
	*m = c
	return overflow
}

// keepFields marks the fields that are not in s as unknown.
func (m *MIB) keepFields(s Schema) {
	if m.Fields&^s == 0 {
		return
	}
	for f := range (m.Fields &^ s).all() {
		m.put(f, 0)
	}
	m.Fields &= s
	if !m.Fields.has(accessHistogramSize) {
		m.Histogram = nil
	}
}

// join merges, weight times, the fields with one of the rules. Both MIBs have the same fields.
func (m *MIB) join(n *MIB, weight uint64, rules rule, o *overflowing) {
	for f := range m.Fields.all() {
		switch v := n.get(f); fieldTraits[f].rule & rules {
		case total, coincidence:
			m.put(f, o.add(m.get(f), v, weight, f.largest()))
		case least:
			m.put(f, min(m.get(f), v))
		case greatest:
			m.put(f, max(m.get(f), v))
		}
	}
}

// joinHistogram adds histograms bucket by bucket; the result has the size of the longer
// histogram. If the buckets of m or n are unknown, the buckets of the result are unknown. The
// buckets of m may be changed; n is neither changed nor retained.
func (m *MIB) joinHistogram(n *MIB, weight uint64, o *overflowing) {
	known := int(m.AccessHistogramSize) == len(m.Histogram) && int(n.AccessHistogramSize) == len(n.Histogram)
	m.AccessHistogramSize = max(m.AccessHistogramSize, n.AccessHistogramSize)
	if !known {
		m.Histogram = nil
		return
	}
	if short := len(n.Histogram) - len(m.Histogram); short > 0 {
		m.Histogram = append(m.Histogram[:len(m.Histogram):len(m.Histogram)], make([]uint64, short)...)
	}
	for i, v := range n.Histogram {
		m.Histogram[i] = o.add(m.Histogram[i], v, weight, math.MaxUint64)
	}
}

// overflowing does saturating arithmetic and records whether a sum saturated.
type overflowing struct{ happened bool }

func (o *overflowing) mul(a, b uint64) uint64 {
	product, cut := saturate.Mul(a, b)
	o.happened = o.happened || cut
	return product
}

// add returns a plus n, weight times, at most the largest value.
func (o *overflowing) add(a, n, weight, largest uint64) uint64 {
	sum, cut := saturate.AddScaled(a, n, weight)
	o.happened = o.happened || cut || sum > largest
	return min(sum, largest)
}
