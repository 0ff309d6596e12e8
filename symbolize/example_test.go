package symbolize_test

import (
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/symbolize"
)

func Example() {
	f, err := symbolize.Open("../testdata/symbolize/fixtures/cpp-dwarf5", symbolize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	frames, err := f.Frames(0x2011f0)
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range frames {
		fmt.Printf("%s at %s:%d:%d\n", x.Function, x.File, x.Line, x.Column)
	}
	// Output:
	// _ZN6shapes5clampEi at /src/./include/shapes.h:17:34
	// _ZNK12_GLOBAL__N_15Local3getEv at /src/main.cpp:12:28
	// _ZN12_GLOBAL__N_16helperEi at /src/main.cpp:16:12
	// _Z5callsi at /src/main.cpp:24:14
}

func ExampleFile_Batch() {
	f, err := symbolize.Open("../testdata/symbolize/fixtures/c-split", symbolize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text").Addr
	addrs := []uint64{text + 0x20, 0, text}
	lines := make([]uint32, len(addrs))
	err = f.Batch(addrs, func(i int, frames []symbolize.Frame) {
		if len(frames) > 0 {
			lines[i] = frames[0].Line
		}
	})
	fmt.Println(lines, err)
	// Output: [14 0 11] <nil>
}
