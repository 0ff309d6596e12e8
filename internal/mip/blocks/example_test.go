package blocks_test

import (
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
)

// Fill in the block behind an if and an else, which ran if one of these did and
// therefore has no probe. Read finds such a table in a linked program.
func Example() {
	table := blocks.Table{Functions: []blocks.Function{{
		RawOffset: 32,
		Blocks:    []blocks.Block{{}, {Offset: 8}, {Offset: 16}, {Offset: 24, Sources: []uint32{1, 2}}},
	}}}
	profile := mip.Profile{
		Type: mip.FunctionCoverage | mip.BlockCoverage,
		Functions: []mip.Function{{
			Name: "choose", RawOffset: 32, CallCount: 1,
			Blocks: []mip.Block{{Offset: 8, Covered: true}, {Offset: 16}},
		}},
	}
	all, err := table.Expand(&profile)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range all.Functions[0].Blocks {
		fmt.Printf("choose+%d: %t\n", b.Offset, b.Covered)
	}
	// Output:
	// choose+8: true
	// choose+16: false
	// choose+24: true
}
