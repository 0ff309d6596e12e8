package oracle

import (
	"os"
	"testing"
)

// SlowEnv is the environment variable that enables slow tests when it is "1", as make test sets it, and exhaustive
// tests, too, when it is "all", as make test-all sets it.
const SlowEnv = "PROFUSE_SLOW_TESTS"

// LeftOut begins the reason of every skip for slowness.
const LeftOut = "slow test: "

// Slow skips the rest of a test that takes long for what it proves, unless
// [SlowTests] is true. A fast part of the same proof should always run.
func Slow(t testing.TB) {
	t.Helper()
	if !SlowTests() {
		t.Skip(LeftOut + "runs with make test, which sets " + SlowEnv + "=1")
	}
}

// Exhaustive skips the rest of a test that repeats a slow test with further compilers, options or inputs,
// unless [Everything] is true.
func Exhaustive(t testing.TB) {
	t.Helper()
	if !Everything() {
		t.Skip("exhaustive test: runs with make test-all, which sets " + SlowEnv + "=all")
	}
}

// Step returns the stride for loops over every bit or byte: 1 if [Everything] is
// true, else n. Tests divide their number of random rounds by it.
func Step(n int) int {
	if Everything() {
		return 1
	}
	return n
}

// SlowTests reports whether slow tests run. It is false with -short,
// as for the race detector.
func SlowTests() bool {
	return Everything() || os.Getenv(SlowEnv) == "1" && !testing.Short()
}

// Everything reports whether exhaustive tests run, too.
func Everything() bool {
	return os.Getenv(SlowEnv) == "all" && !testing.Short()
}
