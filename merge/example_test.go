package merge_test

import (
	"context"
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/merge"
)

// Merge a folder with two workers. One input in twenty may be unusable.
func Example() {
	ins, err := inputs.Expand([]string{"../testdata/irpgo/clang22/ir-run[123].profraw"}, inputs.Options{})
	if err != nil {
		log.Fatal(err)
	}
	merger := irpgo.NewMerger(irpgo.MergeOptions{})
	forks := []*irpgo.Merger{merger.Fork(), merger.Fork()}
	var adders []merge.Adder
	for _, fork := range forks {
		adders = append(adders, func(p *merge.Profile) (*merge.Contribution, error) {
			r, err := irpgo.NewReader(p.Name, p.Data, irpgo.ReaderOptions{})
			if err != nil {
				return nil, err // it is left out
			}
			added, err := fork.AddAt(p.Index, uint64(p.Index), r, p.Weight)
			return &merge.Contribution{Functions: added.Records}, err // an error now ends the run
		})
	}
	var accounts merge.Accounts
	opt := merge.Options{Ordered: true, Ended: accounts.Add}
	if err := merge.Run(context.Background(), ins, adders, opt); err != nil {
		log.Fatal(err)
	}
	for _, fork := range forks {
		if err := merger.Merge(fork); err != nil {
			log.Fatal(err)
		}
	}
	var budget merge.Budget
	if err := budget.Inputs.Set("5%"); err != nil {
		log.Fatal(err)
	}
	if err := budget.Judge(accounts.Loss()); err != nil {
		log.Fatal(err) // too much is missing
	}
	fmt.Println(accounts.Loss().Used, "profiles,", len(merger.Finish().Profile().Functions), "functions")
	// Output:
	// 3 profiles, 24 functions
}
