package instrument

import (
	"math/rand/v2"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// TestFitCoverage: where a profile lacks a block or two, or has one more, no block that
// ran is taken for cold, and most cold blocks are found.
func TestFitCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cold, found := 0, 0
	for range 300 {
		n := 8 + r.IntN(60)
		fn := &asm.Function{Blocks: make([]asm.Block, n)}
		instructions, truth := make([]int, n), make([]bool, n)
		p := &mip.Function{MergeCount: 1, CallCount: 1}
		offset := 0
		for b := range n {
			truth[b] = b == 0 || b%6 < 3
			if b > 0 {
				p.Blocks = append(p.Blocks, mip.Block{Offset: uint32(offset), Covered: truth[b]})
			}
			instructions[b] = 1 + r.IntN(20)
			offset += blockProbeSize
			for range instructions[b] {
				offset += 2 + r.IntN(5)
			}
		}
		p.Size = uint32(offset)
		for range r.IntN(3) {
			at := r.IntN(len(p.Blocks))
			p.Blocks = append(p.Blocks[:at:at], p.Blocks[at+1:]...)
		}
		covered := fitCoverage(fn, instructions, p)
		for b := range covered {
			switch {
			case truth[b] && !covered[b]:
				t.Fatalf("block %d of %d ran", b, n)
			case !truth[b]:
				cold++
				if !covered[b] {
					found++
				}
			}
		}
	}
	if found < cold/2 || cold < 3000 {
		t.Errorf("found %d of %d cold blocks", found, cold)
	}
	// Of functions that have little in common nothing is known.
	fn := &asm.Function{Blocks: make([]asm.Block, 8)}
	p := &mip.Function{Size: 8000, MergeCount: 1, Blocks: make([]mip.Block, 7)}
	for b := range p.Blocks {
		p.Blocks[b].Offset = uint32(b*b*100 + 100)
	}
	if got := fitCoverage(fn, []int{1, 90, 1, 80, 2, 1, 1, 1}, p); got != nil {
		t.Errorf("unlike: %v", got)
	}
}
