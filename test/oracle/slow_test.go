package oracle

import (
	"strings"
	"testing"
)

// TestSlow: slow tests run with the variable, and with it alone.
func TestSlow(t *testing.T) {
	for value, runs := range map[string]bool{"": false, "0": false, "1": !testing.Short()} {
		t.Setenv(SlowEnv, value)
		p := ends(t, func(t testing.TB) { Slow(t) })
		if p.failed != "" || (p.skipped == "") != runs || Everything() != runs {
			t.Errorf("%s=%s: skipped %q, failed %q, everything %t; want it to run: %t", SlowEnv, value, p.skipped, p.failed, Everything(), runs)
		}
		if got, want := Step(7), map[bool]int{true: 1, false: 7}[runs]; got != want {
			t.Errorf("%s=%s: Step(7) is %d, want %d", SlowEnv, value, got, want)
		}
		if !runs && (!strings.HasPrefix(p.skipped, LeftOut) || !strings.Contains(p.skipped, "make test")) {
			t.Errorf("the reason %q does not say how it runs", p.skipped)
		}
	}
}
