package mipdata

import (
	"bufio"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/mip"
)

// order runs the order command. It always writes to standard output and ignores --regex.
// Functions that never ran are left out.
func (t *tool) order() error {
	ordered := 0
	err := t.showProfile(func(w *bufio.Writer, p *mip.Profile, _ *debugInfo) error {
		for _, f := range p.Order() {
			fmt.Fprintf(w, "%s\n", f.Name)
			ordered++
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.msg.Remark(fmt.Sprintf("Ordered %d functions", ordered))
	return nil
}

// info runs the info command. The number of raw profiles is the greatest MergeCount of a function.
func (t *tool) info() error {
	return t.showProfile(func(w *bufio.Writer, p *mip.Profile, _ *debugInfo) error {
		var raw uint32
		covered, blocks, coveredBlocks, edges := 0, 0, 0, 0
		for i := range p.Functions {
			f := &p.Functions[i]
			raw = max(raw, f.MergeCount)
			if f.Covered() {
				covered++
			}
			blocks += 1 + len(f.Blocks) // Blocks lacks the entry block
			edges += len(f.CallEdges)
			if f.EntryCovered() {
				coveredBlocks++
			}
			for _, b := range f.Blocks {
				if b.Covered {
					coveredBlocks++
				}
			}
		}
		fmt.Fprintf(w, "Total Raw Profile Count: %d\n", raw)
		fmt.Fprintf(w, "Total Machine Functions: %d\n", len(p.Functions))
		fmt.Fprintf(w, "Profiled Machine Functions: %d\n", covered)
		fmt.Fprintf(w, "Total Machine Basic Blocks: %d\n", blocks)
		fmt.Fprintf(w, "Covered Machine Basic Blocks: %d\n", coveredBlocks)
		fmt.Fprintf(w, "Total Call Edges: %d\n", edges)
		return nil
	})
}
