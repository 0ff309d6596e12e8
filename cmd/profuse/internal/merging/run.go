package merging

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/responsefile"
)

// A Run holds the options of a merge that do not depend on the format.
type Run struct {
	Output   string
	Into     io.Writer // takes the result in place of Output, for a command that goes on with it; nil for none
	Checksum console.Checksum
	Update   bool   // add to the profile in Output
	Format   string // of the output, from option --format; "" if not given
	Weighted cli.List
	Workers  int // 0 for one per CPU
	Loss     LossOptions
	Empty    bool // an empty result is allowed
	Quiet    bool
	Programs sources.Programs // the programs that wrote the inputs
	Open     inputs.Options   // how to open inputs, and an earlier result; set by Check

	Family  formats.Family // family of the inputs
	Weights []string       // of the inputs, as given: integers from 1, or fractions such as 0.5
}

// Check returns what is wrong with the command line itself; text reports whether
// the output is a text format, which may go to a terminal.
func (r *Run) Check(env *cli.Env, args []string, text bool) error {
	r.Open = sources.Options(env)
	switch {
	case r.Output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0 && len(r.Weighted) == 0:
		return cli.Usagef("no inputs")
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
func (r *Run) expand(env *cli.Env, args []string, skipped func(name, why string)) ([]inputs.Input, error) {
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
		return nil, fmt.Errorf("no files in %s", strings.Join(args, ", "))
	}
	return ins, nil
}

// maxWeightDigits limits the length of a fraction.
const maxWeightDigits = 18

// parseWeight parses a weight greater than 0. For a fraction it returns 1, because
// only some families take fractions; see CheckWeights.
func parseWeight(s string) (weight uint64, ok bool) {
	if weight, err := strconv.ParseUint(s, 10, 64); err == nil {
		return weight, weight > 0
	}
	whole, part, ok := strings.Cut(s, ".")
	digits := whole + part
	ok = ok && part != "" && len(digits) <= maxWeightDigits && strings.Trim(digits, "0123456789") == ""
	return 1, ok && strings.Trim(digits, "0") != ""
}

// CheckWeights refuses fractions.
func (r *Run) CheckWeights() error {
	for _, w := range r.Weighted {
		if number, _, _ := strings.Cut(w, ","); strings.Contains(number, ".") {
			return badWeight(w)
		}
	}
	return nil
}

func badWeight(w string) error {
	return cli.Usagef("option --weighted-input takes W,INPUT with a whole number W from 1 up (iprof: also a fraction), not %q", w)
}

// CheckName refuses an output whose name means another family.
func (r *Run) CheckName() error {
	if f, ok := formats.BySuffix(r.Output); ok && f.Family() != r.Family {
		return cli.Usagef("output name %s means %v, but the inputs are %s profiles", r.Output, f, r.Family)
	}
	return nil
}

// InputFamily returns the family of the first input whose format identifies one.
func InputFamily(ins []inputs.Input) formats.Family {
	for _, compressed := range []bool{false, true} {
		for _, in := range ins {
			// Any text is taken for an IRPGO profile.
			if f := sources.PeekFormat(in, compressed); f != 0 && f != formats.IRPGOText {
				return f.Family()
			}
		}
	}
	return formats.IRPGO
}
