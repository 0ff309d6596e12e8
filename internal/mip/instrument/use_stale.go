package instrument

import (
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// Coverage of a function whose control flow has changed since the profile. The offsets of the blocks
// with probes in the profile give the lengths of these blocks. The sequence of lengths is aligned with
// the lengths of the function's blocks so that the two differ least.
const (
	// blockProbeSize is the size in bytes of the longest block probe of x86_64, the only target whose
	// blocks can be moved.
	blockProbeSize = 7
	// costUnlike is the cost of aligning two blocks without any similarity, costGap the cost of
	// leaving a block out, costLimit the largest average cost of an alignment that is good enough.
	costUnlike, costGap, costLimit = 64, 20, 24
	// doubt is how many blocks beside a gap may be aligned with the wrong one.
	doubt = 2
	// maxCells bounds the memory of an alignment, in elements.
	maxCells = 1 << 22
)

// fitCoverage returns the coverage of the blocks of a function, which have the given numbers of
// instructions, from the profile of another version of the function. Blocks that the other version lacks,
// and the blocks beside them, count as covered. It returns nil if the versions have too little in common.
func fitCoverage(fn *asm.Function, instructions []int, p *mip.Function) []bool {
	var probed []int // blocks, the entry first
	for b := range fn.Blocks {
		if fn.Probed(b) {
			probed = append(probed, b)
		}
	}
	before := lengthsBefore(p)
	more := len(probed) - len(before)
	if n := len(probed); n < 2 || max(more, -more) > 1+n/8 || n*len(before) > maxCells {
		return nil
	}
	now := make([]int, len(probed))
	scale, all := 0, 0
	for i, b := range probed {
		end := len(fn.Blocks)
		if i+1 < len(probed) {
			end = probed[i+1]
		}
		for ; b < end; b++ {
			now[i] += instructions[b]
		}
		all += now[i]
	}
	for _, n := range before {
		scale += n
	}
	for i := range now { // bytes
		now[i] = now[i] * scale / max(all, 1)
	}
	aligned, cost := alignLengths(now, before)
	if cost > costLimit*len(now) {
		return nil
	}
	covered := make([]bool, len(fn.Blocks))
	covered[0] = p.Covered()
	sure := false
	for i, b := range probed[1:] {
		unsure := doubtful(aligned, i+1, len(before))
		covered[b] = unsure || p.Blocks[aligned[i+1]-1].Covered
		sure = sure || !unsure
	}
	if !sure {
		return nil
	}
	inferCoverage(fn, covered)
	return covered
}

// lengthsBefore returns the bytes from each block with a probe in the profile to the next
// one, the entry first, without the probes.
func lengthsBefore(p *mip.Function) []int {
	lengths := make([]int, 0, len(p.Blocks)+1)
	from := uint32(0)
	for i := 0; i <= len(p.Blocks); i++ {
		to := p.Size
		if i < len(p.Blocks) {
			to = p.Blocks[i].Offset
		}
		lengths = append(lengths, int(max(to, from)-from))
		if i > 0 {
			lengths[i] = max(lengths[i]-blockProbeSize, 0)
		}
		from = to
	}
	return lengths
}

// doubtful reports whether a block is left out of the alignment or near a gap of it.
func doubtful(aligned []int, i, others int) bool {
	for k := max(i-doubt, 1); k <= min(i+doubt, len(aligned)-1); k++ {
		if aligned[k] != aligned[k-1]+1 {
			return true
		}
	}
	return i+doubt >= len(aligned) && aligned[len(aligned)-1] != others-1
}

// alignLengths aligns two sequences whose first elements belong together. aligned has for each
// element of a the index of the aligned element of b, or -1.
func alignLengths(a, b []int) (aligned []int, cost int) {
	rest, cost := align(len(a)-1, len(b)-1, costGap, func(i, k int) int32 {
		less, more := min(a[i+1], b[k+1]), max(a[i+1], b[k+1])
		return int32(costUnlike * (more - less) / (more + less + 16))
	})
	aligned = make([]int, len(a))
	for i, k := range rest {
		aligned[i+1] = -1
		if k >= 0 {
			aligned[i+1] = k + 1
		}
	}
	return aligned, cost
}

// align aligns sequences of n and m elements at the least cost. An element that has none in the other
// sequence costs gap; match is the cost of a pair. aligned has for each of the n elements the index of
// the other, or -1. Of alignments that cost the same it takes the one that pairs later elements.
func align(n, m int, gap int32, match func(i, k int) int32) (aligned []int, cost int) {
	width := m + 1
	// costs[i*width+k] is the cost of aligning a[i:] with b[k:].
	costs := make([]int32, (n+1)*width)
	for i := n; i >= 0; i-- {
		for k := m; k >= 0; k-- {
			at := i*width + k
			switch {
			case i == n:
				costs[at] = int32(m-k) * gap
			case k == m:
				costs[at] = int32(n-i) * gap
			default:
				costs[at] = min(costs[at+width+1]+match(i, k), costs[at+width]+gap, costs[at+1]+gap)
			}
		}
	}
	aligned = make([]int, n)
	for i, k := 0, 0; i < n; {
		at := i*width + k
		switch {
		case k == m || costs[at] == costs[at+width]+gap:
			aligned[i] = -1
			i++
		case costs[at] == costs[at+1]+gap:
			k++
		default:
			aligned[i] = k
			i, k = i+1, k+1
		}
	}
	return aligned, int(costs[0])
}
