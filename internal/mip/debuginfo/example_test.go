package debuginfo_test

import (
	"fmt"
	"log"
	"os"
	"path"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Say where in the sources the functions of a program begin.
func Example() {
	const name = "../../command/testdata/mip/shapes.elf"
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	functions, _, err := mip.FindMap(name, data, "")
	if err != nil {
		log.Fatal(err)
	}
	p, err := mip.Read(name, functions, nil) // or a merged profile
	if err != nil {
		log.Fatal(err)
	}
	file, err := symbolize.Open(name, symbolize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	program, err := debuginfo.New(file)
	if err != nil {
		log.Fatal(err)
	}
	full, err := program.Expand(p)
	if err != nil {
		log.Fatal(err)
	}
	sources, err := program.Sources(full, nil)
	if err != nil {
		log.Fatal(err)
	}
	view := full.View(name, mip.ViewOptions{Sources: sources})
	for f := range view.Functions() {
		fmt.Printf("%s at %s:%d, %d blocks\n", f.Name, path.Base(f.File), f.StartLine, len(f.Blocks))
	}
	// Output:
	// _ZN6shapes4areaEi at shapes.cpp:10, 4 blocks
	// _ZN6shapes6volumeEi at shapes.cpp:16, 4 blocks
	// _ZN6shapes6unusedEi at shapes.cpp:23, 1 blocks
	// main at shapes.cpp:29, 7 blocks
	// _ZN6shapes8negativeEi at shapes.h:8, 4 blocks
}
