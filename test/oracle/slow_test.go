package oracle

import (
	"strings"
	"testing"
)

// TestSlow: slow tests run with the variable, and with it alone.
func TestSlow(t *testing.T) {
	levels := map[string]int{"": 0, "0": 0, "1": 1, "all": 2} // 1: slow tests run; 2: exhaustive ones, too
	for value, level := range levels {
		if testing.Short() {
			level = 0
		}
		t.Setenv(SlowEnv, value)
		for need, skip := range map[int]func(testing.TB){1: Slow, 2: Exhaustive} {
			p := ends(t, skip)
			if p.failed != "" || (p.skipped == "") != (level >= need) {
				t.Errorf("%s=%s: level %d skipped %q, failed %q", SlowEnv, value, need, p.skipped, p.failed)
			}
			if p.skipped != "" && (strings.HasPrefix(p.skipped, LeftOut) != (need == 1) || !strings.Contains(p.skipped, "make test")) {
				t.Errorf("the reason %q does not say how it runs", p.skipped)
			}
		}
		if SlowTests() != (level >= 1) || Everything() != (level == 2) {
			t.Errorf("%s=%s: slow %t, everything %t", SlowEnv, value, SlowTests(), Everything())
		}
		if got, want := Step(7), map[bool]int{true: 1, false: 7}[level == 2]; got != want {
			t.Errorf("%s=%s: Step(7) is %d, want %d", SlowEnv, value, got, want)
		}
	}
}
