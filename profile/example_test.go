package profile_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/profile"
)

// Walk over the stacks of a profile, whatever its format is.
func Example() {
	const name = "../testdata/iprof/fib.iprof"
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	p, err := iprof.Read(name, data, iprof.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	v := p.View("fib.iprof", iprof.ViewOptions{}) // a profile.View
	for _, set := range v.Stacks() {
		if set.Name != "calls" {
			continue
		}
		for s := range set.Stacks() {
			fmt.Println(s.Values[0], set.Values[0].Unit, s.Frames[0].String())
		}
	}
	// Output:
	// 1 count Fib.fibonacci
	// 10 count java.io.PrintStream.print
}

// Tell failures apart by their class, and say where a file is damaged.
func ExampleFormatError() {
	const name = "truncated.iprof"
	data, err := os.ReadFile("../testdata/iprof/" + name)
	if err != nil {
		log.Fatal(err)
	}
	_, err = iprof.Read(name, data, iprof.ReaderOptions{})
	var where *profile.FormatError
	if errors.Is(err, profile.ErrTruncated) && errors.As(err, &where) {
		fmt.Println(where.Section, where.Line, where.Column, where.Offset)
	}
	// Output:
	// callCountProfiles 1 1025 1024
}
