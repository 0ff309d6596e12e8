package iprof

import (
	"testing"

	"github.com/profuse-pgo/profuse/test/alike"
)

func TestExecuted(t *testing.T) {
	want := map[Frame]int64{
		{1, 0}:  1,
		{1, 3}:  4,                      // calls loop
		{2, 0}:  4,                      //
		{2, 5}:  11,                     // a branch
		{2, 9}:  1 << 40,                // calls pick
		{2, 17}: 4,                      // a virtual call
		{2, 20}: 10,                     // where the branch led to
		{2, 53}: 1,                      //
		{3, 0}:  7,                      //
		{4, 0}:  1<<40 + 24491824436273, // in two contexts
		{4, 3}:  1,                      // sampled
		{4, 12}: 94, {4, 204}: 94, {8, 4}: 60,
	}
	alike.Values(t, "(-want +got)", want, readFixture(t, "small.iprof").executed())
}
