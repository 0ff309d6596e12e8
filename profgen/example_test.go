package profgen_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Make a profile of the sums that llvm-profgen --skip-symbolization has written.
func Example() {
	file, err := symbolize.Open("../testdata/profgen/clang", symbolize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	program, err := profgen.Open(file, profgen.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile("../testdata/profgen/clang.unsym")
	if err != nil {
		log.Fatal(err)
	}
	counts, err := profgen.ReadUnsymbolized("clang.unsym", data, program.Base)
	if err != nil {
		log.Fatal(err)
	}
	p, err := program.Lines(counts, profgen.LineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range p.Functions[:2] {
		fmt.Printf("%s: total %d, entered %d times\n", f.Name, f.Total, f.Head)
	}
	// Output:
	// _ZL3fibm: total 89474, entered 1792 times
	// _ZL4fillPjj: total 27295, entered 58 times
}
