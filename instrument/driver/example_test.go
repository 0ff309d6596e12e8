package driver_test

import (
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/instrument/driver"
)

// Take a compiler's command line apart as the driver does: what is asked of it,
// and what is left for the compiler.
func Example() {
	job, err := driver.ParseJob([]string{
		"--", "clang", "-O2", "-fmachine-profile-generate", "-fmachine-profile-function-coverage", "-c", "x.c",
	})
	if err != nil {
		log.Fatal(err)
	}
	flags, rest, err := driver.ParseFlags(job.Command[1:])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(flags.Generate, flags.Profile())
	fmt.Println(job.Command[0], rest)
	// Output:
	// true Function Coverage
	// clang [-O2 -c x.c]
}
