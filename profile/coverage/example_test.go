package coverage_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Lines of an iprof profile are in the classes of the program.
func Example() {
	classes := classfile.NewIndex(classfile.Options{})
	if err := classes.Add("../../testdata/iprof/app/classes"); err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile("../../testdata/iprof/app.iprof")
	if err != nil {
		log.Fatal(err)
	}
	view, err := formats.View("app.iprof", data, formats.ViewOptions{Classes: classes})
	if err != nil {
		log.Fatal(err)
	}
	c := coverage.Collect(view, nil)
	for _, row := range coverage.Tree(c.Files) {
		sum := row.Total
		fmt.Printf("%-12s%d of %d functions, %d of %d lines, %d of %d branches\n", strings.Repeat("  ", row.Depth)+row.Label,
			sum.Functions.Covered, sum.Functions.Total, sum.Lines.Covered, sum.Lines.Total, sum.Branches.Covered, sum.Branches.Total)
	}
	// Output:
	// app/        8 of 9 functions, 17 of 18 lines, 7 of 8 branches
	//   Main.java 2 of 3 functions, 6 of 7 lines, 3 of 4 branches
	//   Zoo.java  6 of 6 functions, 11 of 11 lines, 4 of 4 branches
}

// A front-end profile of LLVM says nothing about the sources without the program that it is of.
func ExampleCollect() {
	const name = "../../testdata/covmap/shapes-22.proftext"
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	view, err := formats.View(name, data, formats.ViewOptions{Programs: []string{"../../testdata/covmap/shapes-22.o"}, Coverage: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range coverage.Collect(view, nil).Files {
		sum := file.Total
		fmt.Printf("%s: %d of %d lines, %d of %d branches\n", file.Path,
			sum.Lines.Covered, sum.Lines.Total, sum.Branches.Covered, sum.Branches.Total)
	}
	// Output:
	// shapes.cpp: 49 of 54 lines, 27 of 38 branches
	// shapes.h: 8 of 9 lines, 7 of 9 branches
}
