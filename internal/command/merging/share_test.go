package merging

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/merge"
)

// sharesOf returns the shares of inputs with these counts, added in any order.
func sharesOf(r *rand.Rand, counts []uint64) *shares {
	s := new(shares)
	for _, i := range r.Perm(len(counts)) {
		s.addInput(&merge.Account{File: fmt.Sprint("run", i), Contribution: &merge.Contribution{Count: counts[i]}}, i, 1)
	}
	return s
}

// TestFlippedBit: 50 random training sets, with runs of a few calls beside runs of days, raise no
// warning. After a flip of one high bit of a count, the warning names the input.
func TestFlippedBit(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 4))
	for set := range 50 {
		counts := make([]uint64, 2+r.IntN(100))
		longest := 10 + 40*r.Float64() // binary logarithm
		for i := range counts {
			counts[i] = uint64(math.Exp2(longest * r.Float64()))
		}
		if text := sharesOf(r, counts).flippedBit(); text != "" {
			t.Errorf("set %d, %v: %s", set, counts, text)
		}
		bad, bit := r.IntN(len(counts)), int(longest)+18
		if bit < 40 || bit > 56 {
			continue
		}
		counts[bad] += 1 << bit
		if text := sharesOf(r, counts).flippedBit(); !strings.HasPrefix(text, fmt.Sprintf("run%d contributes nearly all", bad)) {
			t.Errorf("set %d, bit %d of run %d: %q", set, bit, bad, text)
		}
	}
	if text := sharesOf(r, []uint64{1<<52 + 100}).flippedBit(); !strings.Contains(text, "2^52 more than its other counts make; a bit") {
		t.Error(text)
	}
	for _, counts := range [][]uint64{{}, {0}, {1 << 52}, {1<<52 + 100, 1<<52 + 100}, {1<<39 + 100, 100}} {
		if text := sharesOf(r, counts).flippedBit(); text != "" {
			t.Errorf("%d: %s", counts, text)
		}
	}
}

func TestMaxShare(t *testing.T) {
	s := sharesOf(rand.New(rand.NewPCG(1, 1)), []uint64{10, 80, 10})
	for limit, want := range map[string]string{
		"": "", "80%": "", "100%": "", "79.9%": "run1 contributes 80.0 % of the total count, and --max-share allows 79.9 %; nothing is written",
	} {
		var share Share
		if limit != "" {
			if err := share.Set(limit); err != nil {
				t.Fatal(err)
			}
		}
		err := s.checkLimit(share, "IRPGO")
		exit := (*cli.ExitError)(nil)
		if want == "" && err != nil || want != "" && (!errors.As(err, &exit) || exit.Code != ExitOverBudget || err.Error() != want) {
			t.Errorf("%q: %v", limit, err)
		}
	}
	for _, bad := range []string{"", "50", "%", "-1%", "101%", "NaN%"} {
		if err := new(Share).Set(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
