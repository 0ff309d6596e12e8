package export_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/profile/export"
)

// Write the stacks of a profile for a flame graph, and say what it lacks.
func Example() {
	data, err := os.ReadFile("../../testdata/iprof/fib.iprof")
	if err != nil {
		log.Fatal(err)
	}
	p, err := iprof.Read("fib.iprof", data, iprof.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	v := p.View("fib.iprof", iprof.ViewOptions{})
	losses, err := export.Write(os.Stdout, "folded", v, export.Options{Table: "calls"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("left out:", losses[0])
	// Output:
	// Fib.fibonacci 1
	// Fib.fibonacci;java.io.PrintStream.print 10
	// left out: stacks: samples: another table is written
}
