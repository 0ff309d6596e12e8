// Package summary computes the summary of counters by which compilers decide what is hot and what is cold
// (LLVM's InstrProfSummaryBuilder).
package summary

import (
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile"
)

// Summary has the fields of [irpgo.Summary], which says what they are.
//
// [irpgo.Summary]: https://pkg.go.dev/github.com/profuse-pgo/profuse/formats/irpgo#Summary
type Summary struct {
	NumFunctions     uint64
	NumCounts        uint64
	MaxFunctionCount uint64
	MaxCount         uint64
	MaxInternalCount uint64
	TotalCount       uint64
	Cutoffs          profile.Cutoffs
}

// pseudoCounts is the least first counter of a record that has the verdict of a sample profile instead of counts.
const pseudoCounts = 1<<64 - 2

// A Builder computes a [Summary] from counters given in any order. The zero value is empty. Parts of a profile
// may be added to builders of their own and merged. Memory grows with the number of distinct counts.
type Builder struct {
	functions   uint64
	maxFirst    uint64
	maxInternal uint64
	counts      tally.Tally
}

// Add takes in the counters of one record. Records with pseudo counts, and
// those without counters, do not matter to the summary.
func (b *Builder) Add(counts []uint64) {
	if len(counts) == 0 || counts[0] >= pseudoCounts {
		return
	}
	b.functions++
	b.maxFirst = max(b.maxFirst, counts[0])
	b.maxInternal = max(b.maxInternal, b.counts.AddAll(counts[1:]))
	b.counts.Add(counts[0])
}

// Merge takes in what was added to o, which stays valid.
func (b *Builder) Merge(o *Builder) {
	b.functions += o.functions
	b.maxFirst = max(b.maxFirst, o.maxFirst)
	b.maxInternal = max(b.maxInternal, o.maxInternal)
	b.counts.Merge(&o.counts)
}

// Expect allocates memory for n counters that are not small, see [tally.IsSmall].
func (b *Builder) Expect(n int) { b.counts.Expect(n) }

// Summary returns the summary of what was added so far, with an entry for each
// cutoff, given in millionths, in ascending order.
func (b *Builder) Summary(cutoffs []uint64) Summary {
	d := b.counts.Distribution(cutoffs, true)
	s := Summary{
		NumFunctions: b.functions, NumCounts: d.Values,
		MaxFunctionCount: b.maxFirst, MaxCount: d.Max, MaxInternalCount: b.maxInternal,
		TotalCount: d.Low, Cutoffs: make(profile.Cutoffs, len(d.Cutoffs)),
	}
	for i, c := range d.Cutoffs {
		s.Cutoffs[i] = profile.Cutoff(c)
	}
	return s
}
