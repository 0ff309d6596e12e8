package covmap_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/covmap"
	"github.com/profuse-pgo/profuse/irpgo"
)

// A profile says nothing about the sources without the program that it is of.
func Example() {
	data, err := os.ReadFile("../testdata/covmap/shapes-22.proftext")
	if err != nil {
		log.Fatal(err)
	}
	profile, err := irpgo.Read("shapes-22.proftext", data, irpgo.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	program, err := os.ReadFile("../testdata/covmap/shapes-22.o")
	if err != nil {
		log.Fatal(err)
	}
	maps, err := covmap.Read("shapes-22.o", program, covmap.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cov, err := covmap.Evaluate(maps, profile, covmap.EvaluateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range cov.Files() {
		sum := cov.File(name).Total
		fmt.Printf("%s: %d of %d lines, %d of %d branches\n", name,
			sum.Lines.Covered, sum.Lines.Total, sum.Branches.Covered, sum.Branches.Total)
	}
	// Output:
	// shapes.cpp: 49 of 55 lines, 35 of 51 branches
	// shapes.h: 1 of 2 lines, 1 of 2 branches
}
