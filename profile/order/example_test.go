package order_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/profile/order"
)

// Write the order of a profile for ld.lld. The program was built again since,
// so that one function has another suffix, and one is gone.
func Example() {
	program := []string{"main", "parse", "emit.llvm.2222", "helper"}
	ran := []string{"main", "emit.llvm.1111", "removed", "parse"} // by first call
	m := order.MatchSymbols(ran, program, order.SymbolOptions{})
	if _, err := order.Write(os.Stdout, "lld", m.Symbols); err != nil {
		log.Fatal(err)
	}
	fmt.Println("not in the program:", m.Missing)
	// Output:
	// main
	// emit.llvm.2222
	// parse
	// not in the program: [removed]
}

// Say how many pages of code a start touches, before and after.
func ExampleImage_Evaluate() {
	im := order.NewImage([]order.Function{
		{Name: "main", Addr: 0x1000, Size: 0x100},
		{Name: "unused", Addr: 0x1100, Size: 0x5000},
		{Name: "work", Addr: 0x6100, Size: 0x100},
	}, order.SymbolOptions{})
	ordered, _ := im.Arrange([]string{"main", "work"})
	trace := []order.Trace{{Functions: []string{"main", "work"}}}
	for _, im := range []*order.Image{im, ordered} {
		scores, err := im.Evaluate(trace, order.EvalOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(scores[0].Pages, "pages of", scores[0].PageSize, "bytes")
	}
	// Output:
	// 2 pages of 4096 bytes
	// 1 pages of 4096 bytes
}
