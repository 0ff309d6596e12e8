package oracle

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// gcPercent is GOGC for tests.
const gcPercent = 400

// Main is the TestMain of packages whose tests allocate much and keep little. With the default GOGC the collector
// runs all the time; with gcPercent the tests take a third less processor time. Main leaves GOGC alone for
// benchmarks, and if the environment sets it.
func Main(m *testing.M) {
	flag.Parse()
	if _, set := os.LookupEnv("GOGC"); !set && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(m.Run())
}
