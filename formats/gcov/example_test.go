package gcov_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/gcov"
)

// Print how often the functions of an object were called.
func Example() {
	const stem = "../../testdata/gcov/sums-gcc12"
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		return data
	}
	notes, err := gcov.ReadNotes(stem+".gcno", read(stem+".gcno"))
	if err != nil {
		log.Fatal(err)
	}
	counts, err := gcov.ReadCounts(stem+".gcda", read(stem+".gcda"))
	if err != nil {
		log.Fatal(err)
	}
	unit, err := gcov.NewUnit(notes, counts)
	if err != nil {
		log.Fatal(err)
	}
	for f := range unit.Results() {
		fmt.Printf("%s, line %d: %d calls\n", f.Name, f.StartLine, f.Calls)
	}
	// Output:
	// main, line 29: 1 calls
	// MAIN__, line 28: 1 calls
	// __sums_MOD_factorial, line 4: 8 calls
	// __sums_MOD_fill, line 13: 1 calls
}
