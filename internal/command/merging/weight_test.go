package merging

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/inputs"
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
