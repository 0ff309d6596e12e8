package merging

import (
	"fmt"
	"maps"
	"math/big"
	"runtime"
	"slices"
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

// Options are the options of a merge that do not depend on the format.
type Options struct {
	Output   string
	Into     func(*Sum) error // receives the sum, which is then not written to Output; nil for none
	Checksum console.Checksum
	Update   bool     // add to the profile in Output
	Format   string   // of the output, from option --format; "" if not given
	Weighted cli.List // from option --weighted-input: WEIGHT,INPUT
	Decay    string   // weight of an input relative to the next, from option --decay; "" for 1
	Workers  int      // 0 for one per CPU
	Loss     LossOptions
	MaxShare Share // greatest share of the total count that one input may contribute
	Empty    bool  // an empty result is allowed
	Quiet    bool
	Partial  bool             // the output is one part of a fleet's merge, so options about the result do not apply to it
	Programs sources.Programs // the programs that wrote the inputs
	Open     inputs.Options   // how to open the inputs and the base; set by Check

	Family  formats.Family // of the inputs
	Weights []string       // of the inputs, as given: integers from 1, or fractions such as 0.5
	Unit    uint64         // FixWeights multiplied all weights by it, so the sums must be divided by it

	inputs []inputs.Input
}

// Check returns what is wrong with the command line. text says that the output is text, which may go to a terminal.
func (o *Options) Check(env *cli.Env, args []string, text bool) error {
	o.Open = sources.Options(env)
	o.Programs.Inputs = o.Open
	switch {
	case o.Output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0 && len(o.Weighted) == 0:
		return cli.Usagef("no inputs")
	case o.Decay != "" && len(o.Weighted) > 0:
		return cli.Usagef("options --decay and --weighted-input exclude each other")
	case o.Decay != "" && !isDecay(o.Decay):
		return cli.Usagef("option --decay takes a fraction above 0 and below 1, such as 0.8, not %q", o.Decay)
	case o.Workers < 0:
		return cli.Usagef("option -j takes a number from 1 up")
	case !text:
		return console.RefuseTerminal(env, o.Output, "a binary profile", " or --format text, yaml or iprof")
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

// expand returns the inputs that the arguments name. Weighted inputs come last, as in
// llvm-profdata: the order of the inputs determines the order of records.
func (o *Options) expand(args []string, skipped func(name, why string)) ([]inputs.Input, error) {
	// Lines of @files may be patterns and folders.
	opt := o.Open
	opt.Skipped = skipped
	args, err := responsefile.Expand(args)
	if err != nil {
		return nil, err
	}
	ins, err := inputs.Expand(sources.BundleFiles(args), opt)
	if err != nil {
		return nil, err
	}
	o.Weights = slices.Repeat([]string{"1"}, len(ins))
	if o.Decay != "" {
		ins = o.decay(ins, skipped)
	}
	for _, w := range o.Weighted {
		number, name, _ := strings.Cut(w, ",")
		weight, ok := parseWeight(number)
		if !ok || name == "" {
			return nil, cli.Usagef("option --weighted-input takes W,INPUT with a number W above 0, such as 3 or 0.5, not %q", w)
		}
		more, err := inputs.Expand([]string{name}, opt)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].Weight = weight
			o.Weights = append(o.Weights, number)
		}
		ins = append(ins, more...)
	}
	if len(ins) == 0 {
		return nil, fmt.Errorf("no profiles in %s", strings.Join(args, ", "))
	}
	o.inputs = ins
	return ins, nil
}

// decayDigits is the number of decimal places in weights of --decay. Each takes a factor of ten
// from the greatest possible sum: see [Options.FixWeights].
const decayDigits = 4

func isDecay(s string) bool {
	_, ok := parseWeight(s)
	whole, _, fraction := strings.Cut(s, ".")
	return ok && fraction && strings.Trim(whole, "0") == ""
}

// decay sets the weight of each input to o.Decay to the power of the number of inputs after it, computed to
// decayPrecision decimal places and rounded half up to decayDigits. It leaves out inputs whose weight rounds to 0.
func (o *Options) decay(ins []inputs.Input, skipped func(name, why string)) []inputs.Input {
	const decayPrecision = 60
	ten := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
	_, part, _ := strings.Cut(o.Decay, ".")
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
			o.Weights = o.Weights[i+1:]
			return ins[i+1:]
		}
		o.Weights[i] = new(big.Rat).SetFrac(rounded, ten(decayDigits)).FloatString(decayDigits)
		weight.Quo(weight.Mul(weight, factor), shift)
	}
	return ins
}

// CheckPartial returns an error if the output is a partial sum and an option is given that changes what is written of
// a sum, by the names of such options. A task of a fleet may have them: they are for the reduce.
func (o *Options) CheckPartial(partial bool, given map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if partial && !o.Partial && given[name] {
			return cli.Usagef("--%s does not apply to --format partial; use it when you merge the partial sums", name)
		}
	}
	return nil
}

// FixWeights is for families with whole weights. It sets o.Unit to the least power of ten that makes all weights whole,
// and multiplies the weights by it; the family must divide its sums by it, which it cannot do with a partial sum,
// because rounding would change the sum of partial sums. Sums saturate at 2^64-1 before the division.
func (o *Options) FixWeights(partial bool) error {
	digits := 0
	for _, w := range o.Weights {
		_, part, _ := strings.Cut(w, ".")
		digits = max(digits, len(strings.TrimRight(part, "0")))
	}
	if digits > maxFixedDigits {
		return cli.Usagef("option --weighted-input takes fractions of up to %d digits for %s profiles", maxFixedDigits, o.Family)
	}
	o.Unit = 1
	for range digits {
		o.Unit *= 10
	}
	for i, w := range o.Weights {
		whole, part, _ := strings.Cut(w, ".")
		part = strings.TrimRight(part, "0")
		n, err := strconv.ParseUint(whole+part+strings.Repeat("0", digits-len(part)), 10, 64)
		if err != nil {
			return cli.Usagef("option --weighted-input takes weights below 2^64/%d beside those with %d digits, not %q", o.Unit, digits, w)
		}
		o.inputs[i].Weight = n
	}
	if partial && o.Unit > 1 {
		return cli.Usagef("--decay and fractions in --weighted-input do not apply to --format partial; use them when you merge the partial sums")
	}
	return nil
}

// maxFixedDigits leaves room for sums up to 1.8·10^13.
const maxFixedDigits = 6

// maxWeightDigits limits the length of a fraction.
const maxWeightDigits = 18

// parseWeight parses a weight greater than 0. For a fraction it returns 1; see [Options.FixWeights].
func parseWeight(s string) (weight uint64, ok bool) {
	if weight, err := strconv.ParseUint(s, 10, 64); err == nil {
		return weight, weight > 0
	}
	whole, part, ok := strings.Cut(s, ".")
	digits := whole + part
	ok = ok && part != "" && len(digits) <= maxWeightDigits && strings.Trim(digits, "0123456789") == ""
	return 1, ok && strings.Trim(digits, "0") != ""
}

// IsWeight reports whether s is a valid weight: a number above 0.
func IsWeight(s string) bool {
	_, ok := parseWeight(s)
	return ok
}

// CheckName returns an error if the name of the output belongs to another family.
func (o *Options) CheckName() error {
	if f, ok := formats.BySuffix(store.Shown(o.Output)); ok && f.Family() != o.Family {
		return cli.Usagef("output name %s means %v, but the inputs are %s profiles", o.Output, f, o.Family)
	}
	return nil
}

// InputFamily returns the family of the first input of a known format.
func InputFamily(ins []inputs.Input) formats.Family {
	// Looking into compressed files takes longer and is seldom needed, so it comes second.
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
func (o *Options) SetInputs(ins []inputs.Input) {
	o.inputs, o.Weights = ins, slices.Repeat([]string{"1"}, len(ins))
}
