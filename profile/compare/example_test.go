package compare_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

func read(name string) profile.View {
	data, err := os.ReadFile("../../testdata/irpgo/clang22/" + name)
	if err != nil {
		log.Fatal(err)
	}
	p, err := irpgo.Read(name, data, irpgo.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return p.View(name, nil)
}

// Say how far two runs of a program agree, and what moved most.
func Example() {
	r, err := compare.Views(read("ir-run1.profraw"), read("ir-run3.profraw"), compare.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f %% in common, %d functions became hot\n", 100*r.Overlap, len(r.BecameHot))
	for _, c := range r.Movers[:2] {
		fmt.Printf("%s: %+.1f %%, %v before, now %v\n", c.Symbol.Name, 100*c.Delta, c.Before, c.After)
	}
	// Output:
	// 97.5 % in common, 0 functions became hot
	// main: -1.1 %, hot before, now hot
	// never_less: +0.9 %, hot before, now hot
}
