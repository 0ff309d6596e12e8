package profgen

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// External is the address that stands for all addresses outside the program.
const External = 1

// Counts are sums over samples, in addresses as the program was linked.
type Counts struct {
	Ranges   map[Span]uint64 // how often runs of instructions ran, from the first to the last instruction
	Branches map[Span]uint64 // how often branches were taken, from the branch to its target
}

// NewCounts returns counts without samples.
func NewCounts() *Counts {
	return &Counts{make(map[Span]uint64), make(map[Span]uint64)}
}

// AddTo adds the counts, multiplied by weight, to a sum.
func (c *Counts) AddTo(sum *Counts, weight uint64) {
	for s, n := range c.Ranges {
		sum.Ranges[s], _ = saturate.AddScaled(sum.Ranges[s], n, weight)
	}
	for s, n := range c.Branches {
		sum.Branches[s], _ = saturate.AddScaled(sum.Branches[s], n, weight)
	}
}

// A Span is a pair of addresses of instructions.
type Span struct{ From, To uint64 }

func (s Span) compare(o Span) int {
	return cmp.Or(cmp.Compare(s.From, o.From), cmp.Compare(s.To, o.To))
}

// A piece is a run of bytes, ends included, with one count.
type piece struct {
	Span
	count uint64
}

// sorted returns the counts in the order of addresses.
func sorted(counts map[Span]uint64) []piece {
	list := make([]piece, 0, len(counts))
	for s, n := range counts {
		list = append(list, piece{s, n})
	}
	slices.SortFunc(list, func(a, b piece) int { return a.compare(b.Span) })
	return list
}

// disjoint divides ranges that overlap into pieces that do not, each with the sum of the counts of the ranges around
// it. Gaps between ranges are pieces only within a range of count 0. An address that both begins and ends a range is
// a piece of its own. Ranges whose end is before their start are left out.
func disjoint(ranges []piece) []piece {
	type bound struct {
		addr       uint64
		end        bool
		count      uint64
		zero, some bool
	}
	bounds := make([]bound, 0, 2*len(ranges))
	for _, r := range ranges {
		if r.From <= r.To {
			zero := r.count == 0
			bounds = append(bounds, bound{r.From, false, r.count, zero, true}, bound{r.To, true, r.count, zero, true})
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int { return cmp.Compare(a.addr, b.addr) })
	var out []piece
	var start, count uint64
	open, depth := false, 0
	for i := 0; i < len(bounds); {
		addr := bounds[i].addr
		var begin, end bound
		for ; i < len(bounds) && bounds[i].addr == addr; i++ {
			to := &begin
			if bounds[i].end {
				to = &end
			}
			to.some = true
			to.count += bounds[i].count
			to.zero = to.zero || bounds[i].zero
		}
		if begin.some {
			if open && start < addr {
				out = append(out, piece{Span{start, addr - 1}, count})
			}
			count += begin.count
			start, open = addr, true
			if begin.zero {
				depth++
			}
		}
		if end.some {
			if open {
				out = append(out, piece{Span{start, addr}, count})
			}
			count -= end.count
			start = addr + 1
			if end.zero {
				depth--
			}
			// depth counts places where ranges of count 0 begin and end, not these ranges, so it may be negative.
			open = count > 0 || depth != 0
		}
	}
	return out
}
