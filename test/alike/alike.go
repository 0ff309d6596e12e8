// Package alike compares values in tests. It is not part of package oracle, which other modules import without go-cmp.
//
// Only tests import this package.
package alike

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values reports an error with the differences of two values, if there are any.
func Values(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}
