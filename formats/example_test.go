package formats_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats"
)

// Tell what a file is, and look at it as at a profile of any format.
func Example() {
	const name = "../testdata/irpgo/clang19/ir.profraw"
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	f, _ := formats.Detect(data)
	read := f.Describe().Read
	fmt.Printf("%v of %s, versions read: %s\n", f, f.Family(), read)
	v, err := formats.View(name, data, formats.ViewOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for fn := range v.Functions() {
		if fn.Name == "main" {
			fmt.Printf("%s: %d of %d blocks ran\n", fn.Name, fn.CoveredBlocks(), len(fn.Blocks))
		}
	}
	// Output:
	// IRPGO raw profile of IRPGO, versions read: 1 to 11
	// main: 14 of 14 blocks ran
}
