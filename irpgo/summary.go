package irpgo

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// Summary describes how the counts of a profile are spread. Compilers decide
// from it what is hot and what is cold.
type Summary struct {
	NumFunctions     uint64 // records with counts; pseudo counts are left out
	NumCounts        uint64 // counters of all of them; LLVM says blocks
	MaxFunctionCount uint64 // greatest first counter, which need not be an entry count
	MaxCount         uint64
	MaxInternalCount uint64 // greatest counter that is not a first one
	TotalCount       uint64 // sum of all counters, modulo 2^64 as in LLVM
	Detailed         []CutoffEntry
}

// CutoffEntry says that the NumCounts greatest counters, all of MinCount or
// more, make up Cutoff millionths of the total count.
type CutoffEntry struct {
	Cutoff    uint64 // in millionths
	MinCount  uint64
	NumCounts uint64
}

// cutoffScale is the cutoff that stands for the whole.
const cutoffScale = 1_000_000

// The cutoffs, in millionths, at which counts become hot and stop being cold.
const (
	hotCutoff  = 990_000
	coldCutoff = 999_999
)

// DefaultCutoffs are the cutoffs, in millionths, of the summaries in indexed
// profiles: the same in all versions of LLVM. Do not change them.
var DefaultCutoffs = []uint64{
	10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000,
	800_000, 900_000, 950_000, 990_000, 999_000, 999_900, 999_990, 999_999,
}

// At returns the entry of the lowest cutoff, in millionths, that is not below
// the given one. It reports false if there is none.
func (s *Summary) At(cutoff uint64) (CutoffEntry, bool) {
	for _, e := range s.Detailed {
		if e.Cutoff >= cutoff {
			return e, true
		}
	}
	return CutoffEntry{}, false
}

// HotThreshold returns the least count that is hot: the counters from there up
// make up 99 % of the total. It reports false if the summary does not go that
// far.
func (s *Summary) HotThreshold() (uint64, bool) {
	e, ok := s.At(hotCutoff)
	return e.MinCount, ok
}

// ColdThreshold returns the greatest count that is cold: the counters from
// there up make up 99.9999 % of the total. It reports false if the summary
// does not go that far.
func (s *Summary) ColdThreshold() (uint64, bool) {
	e, ok := s.At(coldCutoff)
	return e.MinCount, ok
}

const (
	// smallCounts is below which counts, mostly zeros, are tallied in a table.
	smallCounts = 2048
	// pendingCounts is how many of the others are gathered, at least, before
	// they are sorted into the tally.
	pendingCounts = 1 << 16
	// maxExpected is for how many of them room is made beforehand.
	maxExpected = 1 << 21
)

// SummaryBuilder computes a [Summary] from counters given in any order. The
// zero value is empty. Parts of a profile may be added to builders of their
// own and merged. Memory grows with the number of distinct counts.
type SummaryBuilder struct {
	sum     Summary
	small   [smallCounts]uint64 // number of counters by count
	pending []uint64            // counts not yet in large
	room    int                 // for how many of these there is room anyway
	large   []frequency         // ascending by count
}

// frequency is how many counters have a count.
type frequency struct {
	count uint64
	n     uint64
}

// Add takes in the counters of one record. Records with pseudo counts, and
// those without counters, do not matter to the summary.
func (b *SummaryBuilder) Add(counts []uint64) {
	if len(counts) == 0 || pseudoKind(counts) != 0 {
		return
	}
	var total, internal uint64
	for i, c := range counts {
		total += c
		if i > 0 {
			internal = max(internal, c)
		}
		if c < smallCounts {
			b.small[c]++
		} else {
			b.pending = append(b.pending, c)
		}
	}
	b.sum.NumFunctions++
	b.sum.NumCounts += uint64(len(counts))
	b.sum.MaxFunctionCount = max(b.sum.MaxFunctionCount, counts[0])
	b.sum.MaxInternalCount = max(b.sum.MaxInternalCount, internal)
	b.sum.MaxCount = max(b.sum.MaxCount, counts[0], internal)
	b.sum.TotalCount += total
	// Sorting in at least as much as there is keeps the cost per count
	// logarithmic. Against a map this is twice as fast on typical counts and
	// three times when all are distinct.
	if len(b.pending) >= max(pendingCounts, len(b.large), b.room) {
		b.settle()
	}
}

// expect makes room for counts that are not small, to be sorted all at once.
func (b *SummaryBuilder) expect(counts int) {
	if counts > pendingCounts {
		b.room = min(counts+1, maxExpected) // settled not before there is one more
		b.pending = make([]uint64, 0, b.room)
	}
}

// Merge takes in what was added to o, which stays valid.
func (b *SummaryBuilder) Merge(o *SummaryBuilder) {
	o.settle()
	b.sum.NumFunctions += o.sum.NumFunctions
	b.sum.NumCounts += o.sum.NumCounts
	b.sum.MaxFunctionCount = max(b.sum.MaxFunctionCount, o.sum.MaxFunctionCount)
	b.sum.MaxInternalCount = max(b.sum.MaxInternalCount, o.sum.MaxInternalCount)
	b.sum.MaxCount = max(b.sum.MaxCount, o.sum.MaxCount)
	b.sum.TotalCount += o.sum.TotalCount
	for c, n := range o.small {
		b.small[c] += n
	}
	b.large = mergeFrequencies(b.large, o.large)
}

// settle moves the pending counts into the tally.
func (b *SummaryBuilder) settle() {
	sortCounts(b.pending)
	distinct := 0
	for i, c := range b.pending {
		if i == 0 || c != b.pending[i-1] {
			distinct++
		}
	}
	tally := make([]frequency, 0, distinct)
	for i, c := range b.pending {
		if i > 0 && c == b.pending[i-1] {
			tally[len(tally)-1].n++
		} else {
			tally = append(tally, frequency{c, 1})
		}
	}
	b.pending = b.pending[:0]
	if len(b.large) == 0 {
		b.large = tally
		return
	}
	b.large = mergeFrequencies(b.large, tally)
}

// sortCounts sorts byte by byte from the lowest up, but for bytes that are the
// same in all counts: most are far below what there is room for.
func sortCounts(counts []uint64) {
	if len(counts) < 256 {
		slices.Sort(counts)
		return
	}
	differ := uint64(0)
	for _, c := range counts {
		differ |= c ^ counts[0]
	}
	from, to := counts, make([]uint64, len(counts))
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var starts [257]int
		for _, c := range from {
			starts[c>>shift&0xff+1]++
		}
		for i := range 256 {
			starts[i+1] += starts[i]
		}
		for _, c := range from {
			b := c >> shift & 0xff
			to[starts[b]] = c
			starts[b]++
		}
		from, to = to, from
	}
	if &from[0] != &counts[0] {
		copy(counts, from)
	}
}

// mergeFrequencies adds src to dst, both ascending, in dst's memory as far as
// it goes.
func mergeFrequencies(dst, src []frequency) []frequency {
	fresh, i := 0, 0
	for _, f := range src {
		for i < len(dst) && dst[i].count < f.count {
			i++
		}
		if i == len(dst) || dst[i].count != f.count {
			fresh++
		}
	}
	i = len(dst) - 1
	dst = slices.Grow(dst, fresh)[:len(dst)+fresh]
	// From the back, so that nothing is overwritten before it was moved: to
	// is ahead of i by the number of fresh counts still to come.
	to := len(dst) - 1
	for _, f := range slices.Backward(src) {
		for ; i >= 0 && dst[i].count > f.count; i-- {
			dst[to] = dst[i]
			to--
		}
		if i >= 0 && dst[i].count == f.count {
			f.n += dst[i].n
			i--
		}
		dst[to] = f
		to--
	}
	return dst
}

// Summary returns the summary of what was added so far, with an entry for each
// cutoff, given in millionths, in ascending order.
func (b *SummaryBuilder) Summary(cutoffs []uint64) Summary {
	b.settle()
	s := b.sum
	s.Detailed = make([]CutoffEntry, 0, len(cutoffs))
	next := b.descending()
	var f frequency
	var sum, seen uint64
	for _, cutoff := range slices.Sorted(slices.Values(cutoffs)) {
		want := portion(s.TotalCount, cutoff)
		for sum < want {
			g, ok := next()
			if !ok {
				break
			}
			f = g
			sum += f.count * f.n // wraps as the total does
			seen += f.n
		}
		s.Detailed = append(s.Detailed, CutoffEntry{Cutoff: cutoff, MinCount: f.count, NumCounts: seen})
	}
	return s
}

// descending returns a function that walks the distinct counts from the
// greatest down.
func (b *SummaryBuilder) descending() func() (frequency, bool) {
	large, small := len(b.large), len(b.small)
	return func() (frequency, bool) {
		if large > 0 {
			large--
			return b.large[large], true
		}
		for small > 0 {
			small--
			if n := b.small[small]; n > 0 {
				return frequency{uint64(small), n}, true
			}
		}
		return frequency{}, false
	}
}

// portion returns total·cutoff/10⁶, rounded down, modulo 2^64.
func portion(total, cutoff uint64) uint64 {
	hi, lo := bits.Mul64(total, cutoff)
	q, _ := bits.Div64(hi%cutoffScale, lo, cutoffScale)
	return q
}

// A summary in an indexed profile, all u64:
//
//	number of fields | number of cutoffs | fields | { cutoff, min count, number of counts }
//
// Fields: number of functions, number of counts, maximum function count,
// maximum count, maximum internal count, total count.
const (
	summaryFields     = 6
	cutoffEntrySize   = 3 * 8
	summaryHeaderSize = 2 * 8
)

func appendSummary(dst []byte, s *Summary) []byte {
	dst = slices.Grow(dst, summarySize(len(s.Detailed)))
	for _, v := range []uint64{
		summaryFields, uint64(len(s.Detailed)),
		s.NumFunctions, s.NumCounts, s.MaxFunctionCount, s.MaxCount, s.MaxInternalCount, s.TotalCount,
	} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	for _, e := range s.Detailed {
		dst = binary.LittleEndian.AppendUint64(dst, e.Cutoff)
		dst = binary.LittleEndian.AppendUint64(dst, e.MinCount)
		dst = binary.LittleEndian.AppendUint64(dst, e.NumCounts)
	}
	return dst
}

// summarySize returns the bytes that a summary takes.
func summarySize(cutoffs int) int {
	return summaryHeaderSize + 8*summaryFields + cutoffEntrySize*cutoffs
}

// readSummary honours the numbers of fields and cutoffs in the file: early
// LLVM versions wrote others. Fields it does not know are skipped, missing
// ones are zero.
func readSummary(c *cursor.Cursor) (*Summary, error) {
	numFields := c.U64("number of summary fields")
	numCutoffs := c.U64("number of summary cutoffs")
	var fields [summaryFields]uint64
	for i := range c.Count(numFields, 8, "number of summary fields") {
		v := c.U64("summary field")
		if i < summaryFields {
			fields[i] = v
		}
	}
	s := &Summary{
		NumFunctions: fields[0], NumCounts: fields[1],
		MaxFunctionCount: fields[2], MaxCount: fields[3], MaxInternalCount: fields[4],
		TotalCount: fields[5],
	}
	n := c.Count(numCutoffs, cutoffEntrySize, "number of summary cutoffs")
	s.Detailed = make([]CutoffEntry, n)
	for i := range s.Detailed {
		s.Detailed[i] = CutoffEntry{
			Cutoff: c.U64("summary cutoff"), MinCount: c.U64("minimum count"), NumCounts: c.U64("number of counts"),
		}
	}
	return s, c.Err()
}
