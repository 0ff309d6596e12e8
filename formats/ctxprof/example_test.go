package ctxprof_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/ctxprof"
)

// Print how often each kind of request was handled.
func Example() {
	data, err := os.ReadFile("../../testdata/ctxprof/server.ctxprof")
	if err != nil {
		log.Fatal(err)
	}
	p, err := ctxprof.Read("server.ctxprof", data, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, root := range p.Roots {
		fmt.Printf("root %d was entered %d times and collected %d times\n", root.GUID, root.Total, root.Counters[0])
	}
	// Output:
	// root 3915389061434755994 was entered 4 times and collected 4 times
	// root 11791883140647835408 was entered 16 times and collected 16 times
}
