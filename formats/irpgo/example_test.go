package irpgo_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// Merge the raw profiles of three runs and write the profile for the compiler.
func Example() {
	m := irpgo.NewMerger(irpgo.MergeOptions{})
	var inputs []*irpgo.Info
	for _, name := range []string{"ir-run1.profraw", "ir-run2.profraw", "ir-run3.profraw"} {
		data, err := os.ReadFile("../../testdata/irpgo/clang19/" + name)
		if err != nil {
			log.Fatal(err)
		}
		r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := m.Add(r, 1); err != nil {
			log.Fatal(err)
		}
		inputs = append(inputs, r.Info)
	}
	sum := m.Finish()
	version, reason := sum.ChooseVersion(inputs)
	var file bytes.Buffer
	if err := sum.WriteIndexed(&file, irpgo.IndexedOptions{Version: version}); err != nil {
		log.Fatal(err)
	}
	functions, _, _ := sum.Contents()
	fmt.Printf("%d functions, %v, indexed version %d, %d bytes\n", functions, sum.Head.Variant, version, file.Len())
	fmt.Println(reason)
	// Output:
	// 24 functions, ir, indexed version 12, 4464 bytes
	// because inputs may be of LLVM 19, which reads no newer one
}

// Print the counters of one function.
func ExampleReader_Records() {
	const name = "../../testdata/irpgo/clang22/ir.profraw"
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for rec, err := range r.Records() {
		if err != nil {
			log.Fatal(err)
		}
		if rec.Name == "main" {
			fmt.Printf("%s %#x %d\n", rec.Name, rec.Hash, rec.Counts)
		}
	}
	// Output:
	// main 0x9bc9c703871bb56 [50 400 50 134 80 50 100 100 50 50 50 1 1 1]
}
