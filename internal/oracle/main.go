package oracle

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// collections is GOGC for tests.
const collections = 400

// Main is the TestMain of a package whose tests compute much. They keep little,
// so that by default the collector runs all the time: with its heap four times as
// large a third of the processor time is left for others. Benchmarks run as users
// do, and GOGC in the environment has its say.
func Main(m *testing.M) {
	flag.Parse()
	if _, set := os.LookupEnv("GOGC"); !set && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(collections)
	}
	os.Exit(m.Run())
}
