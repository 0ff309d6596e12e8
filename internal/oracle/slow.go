package oracle

import (
	"os"
	"testing"
)

// SlowEnv is the environment variable that lets slow tests run when it is "1".
// make test sets it.
const SlowEnv = "PROFUSE_SLOW_TESTS"

// LeftOut begins the reason of every skip for slowness.
const LeftOut = "slow test: "

// Slow skips the rest of a test that takes long for what it adds, unless
// [Everything] is to run. What the test proves should have a part that is fast,
// and runs always.
func Slow(t testing.TB) {
	t.Helper()
	if !Everything() {
		t.Skip(LeftOut + "runs with make test, which sets " + SlowEnv + "=1")
	}
}

// Step is how far loops over every bit or byte go at a time: 1 where everything
// is to run, else n. Divided by it, numbers of random rounds become smaller.
func Step(n int) int {
	if Everything() {
		return 1
	}
	return n
}

// Everything reports whether slow tests run, too. It is for loops whose rounds
// are no tests of their own; others use [Slow], which leaves a trace. As always
// go test -short asks for less.
func Everything() bool {
	return os.Getenv(SlowEnv) == "1" && !testing.Short()
}
