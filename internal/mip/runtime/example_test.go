package runtime_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/internal/mip/runtime"
)

// Write the runtime for a build that compiles it itself, and print how: for a
// program whose profile is function coverage, and that writes it on a signal, too.
func Example() {
	dir, err := os.MkdirTemp("", "profuse-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "runtime.c"), runtime.Source(), 0o666); err != nil {
		log.Fatal(err)
	}
	fmt.Println("cc -Os -fPIC", runtime.Options{Coverage: true, Signals: true}.Args(), "-c runtime.c")
	// Output:
	// cc -Os -fPIC [-DPROFUSE_MIP_COVERAGE -DPROFUSE_MIP_SIGNALS] -c runtime.c
}
