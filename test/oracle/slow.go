package oracle

import (
	"os"
	"testing"
)

// SlowEnv is the environment variable that enables slow tests when it is "1". make test sets it.
const SlowEnv = "PROFUSE_SLOW_TESTS"

// LeftOut begins the reason of every skip for slowness.
const LeftOut = "slow test: "

// Slow skips the rest of a test that takes long for what it proves, unless
// [Everything] is true. A fast part of the same proof should always run.
func Slow(t testing.TB) {
	t.Helper()
	if !Everything() {
		t.Skip(LeftOut + "runs with make test, which sets " + SlowEnv + "=1")
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

// Everything reports whether slow tests run: SlowEnv is "1" and -short is not set.
// It is for loops within a test; whole tests call [Slow], which records the skip.
func Everything() bool {
	return os.Getenv(SlowEnv) == "1" && !testing.Short()
}
