package memprof_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Read what a process measured, and find its functions in the program's debug
// information.
func Example() {
	const name = "../../testdata/memprof/raw/clang22-pie"
	data, err := os.ReadFile(name + ".memprofraw")
	if err != nil {
		log.Fatal(err)
	}
	raw, err := memprof.ReadRaw(name+".memprofraw", data, memprof.RawOptions{})
	if err != nil {
		log.Fatal(err)
	}
	programs, err := symbolize.OpenPrograms([]string{name + ".debug"}, symbolize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer programs.Close()
	p, _, err := raw.Symbolize(memprof.NewBinaries(programs), memprof.SymbolizeOptions{KeepNames: true})
	if err != nil {
		log.Fatal(err)
	}
	for c := range p.Contexts() {
		if c.MIB.TotalSize < 1000 {
			continue
		}
		fmt.Println(c.MIB.TotalSize, "bytes,", memprof.DefaultThresholds.Classify(c.MIB))
		for f := range p.Stacks.Walk(c.Stack) {
			fmt.Printf("  %s, line %d\n", p.Names[f.GUID], p.Sources[f.GUID].Line+f.LineOffset)
		}
	}
	// Output:
	// 1440 bytes, notcold
	//   _ZL4pushP4Node, line 4
	//   _Z4makei, line 11
	//   main, line 51
}
