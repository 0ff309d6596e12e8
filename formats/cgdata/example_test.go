package cgdata_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/cgdata"
)

// Print which functions of two objects can be merged.
func Example() {
	var m cgdata.Merger
	for _, name := range []string{"shapes1.o", "shapes2.o"} {
		data, err := os.ReadFile("../../testdata/cgdata/" + name)
		if err != nil {
			log.Fatal(err)
		}
		err = cgdata.ReadObjects(name, data, "", func(o *cgdata.Object) error {
			m.Add(o.Data)
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	for _, f := range m.Data().Functions {
		fmt.Printf("%s of %s: %d instructions, operands that differ: %d\n", f.Name, f.Module, f.Instructions, len(f.Operands))
	}
	// Output:
	// first of shapes1.c: 20 instructions, operands that differ: 1
	// second of shapes1.c: 20 instructions, operands that differ: 1
	// third of shapes2.c: 20 instructions, operands that differ: 1
}
