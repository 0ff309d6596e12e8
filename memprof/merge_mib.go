package memprof

import (
	"math"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// follow merges a later MIB of the same context and process, by the rule for several
// dumps in one raw file (MemInfoBlock::Merge of the MemProf runtime). It replaces the
// later MIB's counts of overlaps and equal CPUs with a comparison of both MIBs. It
// reports whether a sum saturated.
func (m *MIB) follow(later *MIB) (overflow bool) {
	o := overflowing{}
	m.addSums(later, 1, &o)
	m.joinExtremes(later)
	if later.AllocTimestamp < m.DeallocTimestamp {
		o.add32(&m.NumLifetimeOverlaps, 1, 1)
	}
	if later.AllocCPUID == m.AllocCPUID {
		o.add32(&m.NumSameAllocCPU, 1, 1)
	}
	if later.DeallocCPUID == m.DeallocCPUID {
		o.add32(&m.NumSameDeallocCPU, 1, 1)
	}
	m.AllocTimestamp, m.DeallocTimestamp = later.AllocTimestamp, later.DeallocTimestamp
	m.AllocCPUID, m.DeallocCPUID = later.AllocCPUID, later.DeallocCPUID
	m.joinHistogram(later, 1, &o)
	return o.happened
}

// unknownCPU is the CPU id that the runtime records before it can determine CPUs.
const unknownCPU = math.MaxUint32

// merge merges, weight times, the MIB of the same context in another process, or of
// another stack of addresses in this one. It adds sums (AllocCount, Total…, Num…,
// histogram buckets) and takes the least minimum, the greatest maximum and the latest
// timestamps. A CPU or data type that differs becomes unknown (2^32-1 and 0). A field
// that one of the two lacks is unknown in the result, because a partial sum would be
// wrong. AccessHistogram becomes 0.
//
// The rule is associative and commutative, and merging with weight w equals merging w
// times. merge reports whether a sum saturated.
func (m *MIB) merge(o *MIB, weight uint64) (overflow bool) {
	c := *o
	c.keep(m.Fields)
	m.keep(o.Fields)
	of := overflowing{}
	m.addSums(&c, weight, &of)
	m.joinExtremes(&c)
	m.addCoincidences(&c, weight, &of)
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

// scale multiplies the sums of m by weight.
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

// keep marks the fields that are not in s as unknown.
func (m *MIB) keep(s Schema) {
	if m.Fields&^s == 0 {
		return
	}
	for _, f := range (m.Fields &^ s).Fields() {
		m.set(f, 0)
	}
	m.Fields &= s
	if !m.Fields.Has(accessHistogramSize) {
		m.Histogram = nil
	}
}

func (m *MIB) addSums(n *MIB, weight uint64, o *overflowing) {
	o.add32(&m.AllocCount, n.AllocCount, weight)
	o.add64(&m.TotalAccessCount, n.TotalAccessCount, weight)
	o.add64(&m.TotalSize, n.TotalSize, weight)
	o.add64(&m.TotalLifetime, n.TotalLifetime, weight)
	o.add64(&m.TotalAccessDensity, n.TotalAccessDensity, weight)
	o.add64(&m.TotalLifetimeAccessDensity, n.TotalLifetimeAccessDensity, weight)
}

// addCoincidences adds how often a block overlapped its predecessor or shared a CPU with
// it (NumLifetimeOverlaps, NumSame…).
func (m *MIB) addCoincidences(n *MIB, weight uint64, o *overflowing) {
	o.add32(&m.NumMigratedCPU, n.NumMigratedCPU, weight)
	o.add32(&m.NumLifetimeOverlaps, n.NumLifetimeOverlaps, weight)
	o.add32(&m.NumSameAllocCPU, n.NumSameAllocCPU, weight)
	o.add32(&m.NumSameDeallocCPU, n.NumSameDeallocCPU, weight)
}

func (m *MIB) joinExtremes(n *MIB) {
	m.MinAccessCount = min(m.MinAccessCount, n.MinAccessCount)
	m.MaxAccessCount = max(m.MaxAccessCount, n.MaxAccessCount)
	m.MinSize = min(m.MinSize, n.MinSize)
	m.MaxSize = max(m.MaxSize, n.MaxSize)
	m.MinLifetime = min(m.MinLifetime, n.MinLifetime)
	m.MaxLifetime = max(m.MaxLifetime, n.MaxLifetime)
	m.MinAccessDensity = min(m.MinAccessDensity, n.MinAccessDensity)
	m.MaxAccessDensity = max(m.MaxAccessDensity, n.MaxAccessDensity)
	m.MinLifetimeAccessDensity = min(m.MinLifetimeAccessDensity, n.MinLifetimeAccessDensity)
	m.MaxLifetimeAccessDensity = max(m.MaxLifetimeAccessDensity, n.MaxLifetimeAccessDensity)
}

// joinHistogram adds histograms bucket by bucket; the result has the size of the longer
// one. If the buckets of one are unknown, so are those of the result. m's buckets are
// its own; n is neither changed nor retained.
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
		o.add64(&m.Histogram[i], v, weight)
	}
}

// overflowing does saturating arithmetic and records whether a sum saturated.
type overflowing struct{ happened bool }

func (o *overflowing) mul(a, b uint64) uint64 {
	product, cut := saturate.Mul(a, b)
	o.happened = o.happened || cut
	return product
}

// add64 adds n, weight times.
func (o *overflowing) add64(to *uint64, n, weight uint64) {
	sum, cut := saturate.AddScaled(*to, n, weight)
	o.happened = o.happened || cut
	*to = sum
}

// add32 adds n, weight times.
func (o *overflowing) add32(to *uint32, n uint32, weight uint64) {
	sum, _ := saturate.AddScaled(uint64(*to), uint64(n), weight)
	if sum > math.MaxUint32 {
		o.happened = true
		sum = math.MaxUint32
	}
	*to = uint32(sum)
}
