package merging

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/merge"
)

func TestParseWeight(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1, "18446744073709551615": 1<<64 - 1, "0.5": 1, "0.99999999999999999": 1} {
		if w, ok := parseWeight(text); !ok || w != want {
			t.Errorf("weight %q is %d, %v", text, w, ok)
		}
	}
	for _, bad := range []string{"", "0", "0.0", "-1", "1e3", ".", "1.", "+2", "18446744073709551616", "0.123456789012345678", "½"} {
		if w, ok := parseWeight(bad); ok {
			t.Errorf("weight %q is %d", bad, w)
		}
	}
}

// TestDecay: the weights are the powers, and inputs with the weight 0 are left out.
func TestDecay(t *testing.T) {
	for _, bad := range []string{"1", "0", "0.0", "1.0", "1.5", "x", "-0.5", "0.8.1", "."} {
		if isDecay(bad) {
			t.Errorf("%q is a decay", bad)
		}
	}
	for _, c := range []struct {
		decay string
		n     int
		want  []string // the last ones
		kept  int
	}{
		{"0.8", 4, []string{"0.5120", "0.6400", "0.8000", "1.0000"}, 4},
		{".5", 20, []string{"0.0001", "0.0001", "0.0002", "0.0005", "0.0010"}, 15},
		{"0.05", 5, []string{"0.0001", "0.0025", "0.0500", "1.0000"}, 4},
		{"0.999999999999999999", 3, []string{"1.0000", "1.0000", "1.0000"}, 3},
	} {
		r := &Options{Decay: c.decay, Weights: make([]string, c.n)}
		ins := make([]inputs.Input, c.n)
		for i := range ins {
			ins[i].Name = fmt.Sprint(i)
		}
		var skipped []string
		ins = r.decay(ins, func(name, _ string) { skipped = append(skipped, name) })
		if len(ins) != c.kept || len(r.Weights) != c.kept || len(skipped) != c.n-c.kept || ins[0].Name != fmt.Sprint(len(skipped)) {
			t.Errorf("%s: %d of %d left, %q skipped", c.decay, len(ins), c.n, skipped)
		}
		if got := r.Weights; !slices.Equal(got[:min(len(c.want), len(got))], c.want) && !slices.Equal(got[len(got)-len(c.want):], c.want) {
			t.Errorf("%s: %q", c.decay, got)
		}
		// By another way: exact powers.
		factor, _ := new(big.Rat).SetString(c.decay)
		exact := big.NewRat(1, 1)
		for i := len(r.Weights) - 1; i >= 0; i-- {
			if want := exact.FloatString(decayDigits); r.Weights[i] != want {
				t.Errorf("%s: weight of age %d is %s, want %s", c.decay, len(r.Weights)-1-i, r.Weights[i], want)
			}
			exact.Mul(exact, factor)
		}
	}
}

// TestFixWeights: weights as whole numbers of one unit.
func TestFixWeights(t *testing.T) {
	for _, c := range []struct {
		weights, want string
	}{
		{"[1 2]", "[1 2] 1"},
		{"[1 0.50 2.25]", "[100 50 225] 100"},
		{"[0.8000 1.0000]", "[8 10] 10"},
		{"[.000001 1]", "[1 1000000] 1000000"},
	} {
		r := &Options{Weights: strings.Fields(strings.Trim(c.weights, "[]"))}
		r.inputs = make([]inputs.Input, len(r.Weights))
		err := r.FixWeights(false)
		var w []uint64
		for _, in := range r.inputs {
			w = append(w, in.Weight)
		}
		if got := fmt.Sprint(w, r.Unit); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.weights, got, err, c.want)
		}
	}
	for _, bad := range []string{"0.0000001", "99999999999999999999.5"} {
		if err := (&Options{Weights: []string{bad, "0.1"}, inputs: make([]inputs.Input, 2)}).FixWeights(false); err == nil {
			t.Errorf("%s has a fixed form", bad)
		}
	}
}

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
