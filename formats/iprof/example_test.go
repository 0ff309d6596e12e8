package iprof_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/iprof"
)

func read(name string) *iprof.Profile {
	data, err := os.ReadFile("../../testdata/iprof/" + name)
	if err != nil {
		log.Fatal(err)
	}
	p, err := iprof.Read(name, data, iprof.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// Print what a recording says of one program.
func Example() {
	p := read("fib.iprof")
	for ctx, records := range p.Sections[iprof.CallCounts].All() { // one count
		fmt.Println(records[0], "calls:", p.MethodName(ctx[0].Method))
	}
	for ctx, records := range p.Sections[iprof.Conditionals].All() { // target, index and count of each outcome
		fmt.Printf("branch at %s:%d %d\n", p.MethodName(ctx[0].Method), ctx[0].BCI, records)
	}
	// Output:
	// 1 calls: Fib.fibonacci
	// 10 calls: java.io.PrintStream.print
	// branch at Fib.fibonacci:11 [20 0 10 53 1 1]
}

// Merge two recordings of one program, the second of which has other ids, and
// drop what nothing refers to.
func ExampleMerger() {
	m := iprof.NewMerger(iprof.MergeOptions{})
	for _, name := range []string{"small.iprof", "twin-x3.iprof"} {
		if _, err := m.AddProfile(name, read(name), iprof.Weights{}); err != nil {
			log.Fatal(err)
		}
	}
	sum := m.Profile()
	p, err := iprof.Prune(sum, iprof.PruneOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d types and %d methods dropped\n", len(sum.Types)-len(p.Types), len(sum.Methods)-len(p.Methods))
	calls := &p.Sections[iprof.CallCounts]
	for _, i := range calls.Largest(calls.Len())[2:] {
		fmt.Println(calls.Count(i), p.MethodName(calls.Context(i)[0].Method))
	}
	// Output:
	// 7 types and 2 methods dropped
	// 28 app.Zoo$Cat.<init>
	// 16 app.Main.loop
	// 4 app.Main.main
}

// Say what is wrong with a file.
func ExampleCheck() {
	data, err := os.ReadFile("../../testdata/iprof/truncated.iprof")
	if err != nil {
		log.Fatal(err)
	}
	_, findings := iprof.Check("truncated.iprof", data)
	for _, f := range findings {
		fmt.Printf("%s: %s: %s\n", f.Position.Where(), f.Severity, f.Message)
	}
	// Output:
	// callCountProfiles line 1, column 1025 (record 4): error: callCountProfiles is cut short in its ctx, last complete entry {"ctx":"4:0","records":[24491824436273]}, want a closing quote
}
