package merging

import (
	"fmt"
	"io"
	"math/big"
	"runtime"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// A Run holds the options of a merge that do not depend on the format.
type Run struct {
	Output   string
	Into     io.Writer // takes the result in place of Output, for a command that goes on with it; nil for none
	Checksum console.Checksum
	Update   bool   // add to the profile in Output
	Format   string // of the output, from option --format; "" if not given
	Weighted cli.List
	Decay    string // weight of an input relative to the next, from option --decay; "" for 1
	Workers  int    // 0 for one per CPU
	Loss     LossOptions
	MaxShare Share // of the total count that one input may contribute
	Empty    bool  // an empty result is allowed
	Quiet    bool
	Partial  bool             // the output is a part of a fleet's: options about the result are for the merge of the parts
	Programs sources.Programs // the programs that wrote the inputs
	Open     inputs.Options   // how to open inputs, and an earlier result; set by Check

	Family  formats.Family // family of the inputs
	Weights []string       // of the inputs, as given: integers from 1, or fractions such as 0.5
	Unit    uint64         // what the sums are to be divided by, from FixWeights

	inputs []inputs.Input
}

// Check returns what is wrong with the command line itself; text reports whether
// the output is a text format, which may go to a terminal.
func (r *Run) Check(env *cli.Env, args []string, text bool) error {
	r.Open = sources.Options(env)
	r.Programs.Inputs = r.Open
	switch {
	case r.Output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0 && len(r.Weighted) == 0:
		return cli.Usagef("no inputs")
	case r.Decay != "" && len(r.Weighted) > 0:
		return cli.Usagef("options --decay and --weighted-input exclude each other")
	case r.Decay != "" && !isDecay(r.Decay):
		return cli.Usagef("option --decay takes a fraction above 0 and below 1, such as 0.8, not %q", r.Decay)
	case r.Workers < 0:
		return cli.Usagef("option -j takes a number from 1 up")
	case !text:
		return console.RefuseTerminal(env, r.Output, "a binary profile", " or --format text, yaml or iprof")
	}
	return nil
}

// NumWorkers returns the number of workers that option -j asks for.
func NumWorkers(option int) int {
	if option == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return option
}

// expand returns the inputs that the arguments name. Weighted inputs come last,
// as in llvm-profdata, because the order of the inputs determines the order of
// records.
func (r *Run) expand(args []string, skipped func(name, why string)) ([]inputs.Input, error) {
	// Lines of @files may be patterns and folders.
	opt := r.Open
	opt.Skipped = skipped
	args, err := responsefile.Expand(args)
	if err != nil {
		return nil, err
	}
	ins, err := inputs.Expand(sources.BundleFiles(args), opt)
	if err != nil {
		return nil, err
	}
	r.Weights = make([]string, len(ins))
	for i := range r.Weights {
		r.Weights[i] = "1"
	}
	if r.Decay != "" {
		ins = r.decay(ins, skipped)
	}
	for _, w := range r.Weighted {
		number, name, _ := strings.Cut(w, ",")
		weight, ok := parseWeight(number)
		if !ok || name == "" {
			return nil, badWeight(w)
		}
		more, err := inputs.Expand([]string{name}, opt)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].Weight = weight
			r.Weights = append(r.Weights, number)
		}
		ins = append(ins, more...)
	}
	if len(ins) == 0 {
		return nil, fmt.Errorf("no profiles in %s", strings.Join(args, ", "))
	}
	r.inputs = ins
	return ins, nil
}

// decayDigits are the decimal places of the weights of --decay. More would leave less room for
// sums: see [Run.FixWeights].
const decayDigits = 4

func isDecay(s string) bool {
	_, ok := parseWeight(s)
	whole, _, fraction := strings.Cut(s, ".")
	return ok && fraction && strings.Trim(whole, "0") == ""
}

// decay sets the weights of inputs of which the last is the newest: r.Decay to the power of the
// number of inputs after it, computed to decayPrecision places and rounded to decayDigits, halves up. It
// leaves out the inputs whose weight is then 0.
func (r *Run) decay(ins []inputs.Input, skipped func(name, why string)) []inputs.Input {
	const decayPrecision = 60
	ten := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
	_, part, _ := strings.Cut(r.Decay, ".")
	factor, _ := new(big.Int).SetString(part, 10) // isDecay
	shift, step := ten(int64(len(part))), ten(decayPrecision-decayDigits)
	half := new(big.Int).Rsh(step, 1)
	weight, rounded := ten(decayPrecision), new(big.Int)
	for i := len(ins) - 1; i >= 0; i-- {
		rounded.Quo(rounded.Add(weight, half), step)
		if rounded.Sign() == 0 {
			for _, in := range ins[:i+1] {
				skipped(in.Name, "its weight by --decay rounds to 0")
			}
			r.Weights = r.Weights[i+1:]
			return ins[i+1:]
		}
		r.Weights[i] = new(big.Rat).SetFrac(rounded, ten(decayDigits)).FloatString(decayDigits)
		weight.Quo(weight.Mul(weight, factor), shift)
	}
	return ins
}

// FixWeights sets the weights of the inputs, for families whose weights are whole numbers, in units of
// 1/Unit, where Unit is the least power of ten that makes all of them whole. The sums of weighted
// counts, which end at 2^64, have to be divided by it.
func (r *Run) FixWeights() error {
	digits := 0
	for _, w := range r.Weights {
		_, part, _ := strings.Cut(w, ".")
		digits = max(digits, len(strings.TrimRight(part, "0")))
	}
	// Each digit takes a factor of ten from what counts may add up to.
	if digits > maxFixedDigits {
		return cli.Usagef("option --weighted-input takes fractions of up to %d digits for %s profiles", maxFixedDigits, r.Family)
	}
	r.Unit = 1
	for range digits {
		r.Unit *= 10
	}
	for i, w := range r.Weights {
		whole, part, _ := strings.Cut(w, ".")
		part = strings.TrimRight(part, "0")
		n, err := strconv.ParseUint(whole+part+strings.Repeat("0", digits-len(part)), 10, 64)
		if err != nil {
			return cli.Usagef("option --weighted-input takes weights below 2^64/%d beside those with %d digits, not %q", r.Unit, digits, w)
		}
		r.inputs[i].Weight = n
	}
	return nil
}

// maxFixedDigits leaves room for sums of 1.8·10^13.
const maxFixedDigits = 6

// maxWeightDigits limits the length of a fraction.
const maxWeightDigits = 18

// parseWeight parses a weight greater than 0. For a fraction it returns 1; see [Run.FixWeights].
func parseWeight(s string) (weight uint64, ok bool) {
	if weight, err := strconv.ParseUint(s, 10, 64); err == nil {
		return weight, weight > 0
	}
	whole, part, ok := strings.Cut(s, ".")
	digits := whole + part
	ok = ok && part != "" && len(digits) <= maxWeightDigits && strings.Trim(digits, "0123456789") == ""
	return 1, ok && strings.Trim(digits, "0") != ""
}

// IsWeight reports whether s is the weight of an input: a number above 0.
func IsWeight(s string) bool {
	_, ok := parseWeight(s)
	return ok
}

func badWeight(w string) error {
	return cli.Usagef("option --weighted-input takes W,INPUT with a number W above 0, such as 3 or 0.5, not %q", w)
}

// CheckName refuses an output whose name means another family.
func (r *Run) CheckName() error {
	if f, ok := formats.BySuffix(store.Shown(r.Output)); ok && f.Family() != r.Family {
		return cli.Usagef("output name %s means %v, but the inputs are %s profiles", r.Output, f, r.Family)
	}
	return nil
}

// InputFamily returns the family of the first input whose format identifies one.
func InputFamily(ins []inputs.Input) formats.Family {
	// Looking into compressed files takes longer, and is seldom needed.
	for _, compressed := range []bool{false, true} {
		for _, in := range ins {
			if f := sources.PeekFormat(in, compressed); f != 0 {
				return f.Family()
			}
		}
	}
	return formats.IRPGO
}

// SetInputs sets the inputs, each of weight 1, for a part of a merge.
func (r *Run) SetInputs(ins []inputs.Input) {
	r.inputs, r.Weights = ins, make([]string, len(ins))
	for i := range r.Weights {
		r.Weights[i] = "1"
	}
}
