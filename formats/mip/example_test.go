package mip_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/mip"
)

// Make a profile from a program and the raw profiles of two runs, and print
// the order in which its functions were first called.
func Example() {
	program, err := os.ReadFile("../../testdata/mip/all.elf")
	if err != nil {
		log.Fatal(err)
	}
	mapped, info, err := mip.FindMap("all.elf", program, "")
	if err != nil {
		log.Fatal(err)
	}
	empty, err := mip.Read("all.elf", mapped, nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := mip.NewMerger(empty, mip.MergeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"all-1.mipraw", "all-2.mipraw"} {
		data, err := os.ReadFile("../../testdata/mip/" + name)
		if err != nil {
			log.Fatal(err)
		}
		if err := m.AddRaw(name, data, 1); err != nil {
			log.Fatal(err)
		}
	}
	p := m.Profile()
	fmt.Printf("%s %s %v, %d functions\n", info.Format, info.Arch, info.Type, len(p.Functions))
	for _, f := range p.Order() {
		fmt.Printf("%s: %d calls in %d runs\n", f.Name, f.CallCount, f.MergeCount)
	}
	// Output:
	// ELF x86_64 PIE, 8 functions
	// main: 2 calls in 2 runs
	// pick: 4 calls in 2 runs
	// add: 1 calls in 1 runs
	// helper: 1 calls in 1 runs
	// table: 2 calls in 2 runs
	// helper: 3 calls in 2 runs
}

// Print a profile as YAML.
func ExampleWriteYAML() {
	data, err := os.ReadFile("../../testdata/mip/counts.mip")
	if err != nil {
		log.Fatal(err)
	}
	p, err := mip.Read("counts.mip", data, nil)
	if err != nil {
		log.Fatal(err)
	}
	p.Functions = p.Functions[:1]
	if err := mip.WriteYAML(os.Stdout, p, mip.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ---
	// Header:
	//   File Type:       [ .mip ]
	//   Profile Type:    [ Function Timestamp, Function Call Count ]
	//   Module Hash:     0xABFBAA4B
	// Profiles:
	//   - Function Name:   add
	//     Function Signature: 0x1EFB1FC9FC78EC34
	//     Raw Profile Data Address: 0x20
	//     Encoded Function Address: 0xFFFFFFFFFFFFD9E8
	//     Function Size:   0x28
	//     Control Flow Graph Signature: 0x0
	//     Raw Profile Count: 1
	//     Function Call Count: 1
	//     Function Order Sum: 3
	//     Basic Block Profiles:
	//       - Offset:          0x0
	//         Covered:         true
	//     Call Edges:      []
	// ...
}
