package ctxprofcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/ctxprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// The values of --format. Without it, the suffix of the output chooses YAML.
const (
	formatBinary = "ctxprof"
	formatYAML   = "ctxprof-yaml"
)

type adder struct{ yaml bool }

func (*adder) Declare(*cli.Flags, bool) {}

// Results returns the values of --format.
func (*adder) Results() []merging.Result {
	return []merging.Result{
		{Name: formatBinary, Family: formats.CtxProf, Exact: ".ctxprof"},
		{Name: formatYAML, Family: formats.CtxProf, Text: true},
	}
}

// Refuses returns the options that name programs: a sum has no names.
func (*adder) Refuses() []string { return []string{"program", "arch"} }

func (*adder) Check(*merging.Options) error { return nil }

// Open makes the weights whole; Add divides the sum by r.Unit.
func (c *adder) Open(r *merging.Options, _ func(string)) error {
	c.yaml = r.Format == formatYAML || r.Format == "" && console.IsYAML(r.Output)
	return cmp.Or(r.CheckName(), r.FixWeights(false))
}

// Add adds up the base, if any, and the inputs. The sum does not depend on their order.
func (c *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	ins := j.Inputs
	if j.Base != "" {
		ins = append(slices.Clone(ins), inputs.File(j.Base, j.Open))
	}
	var m ctxprof.Merger
	add := func(p *merge.Profile) (*merge.Contribution, error) { return addProfile(&m, p, j) }
	if err := j.Add(ctx, ins, []merge.Adder{add}, false); err != nil {
		return nil, err
	}
	p := m.Profile(j.Unit)
	if m.Left > 0 {
		j.Warn("ctxprof builds", 0, fmt.Sprintf("%s of other builds, by their number of counters, left out: of each the build that was entered most often stays",
			cli.Quantity(m.Left, "context", "contexts")), "")
	}
	if m.Saturated {
		j.Warn("ctxprof overflow", 0, "some counts are too large for 64 bits: 2^64-1 is written; smaller weights may help", "")
	}
	sum := &merging.Sum{
		Contents: func() string { return contents(p) },
		Write: func(w io.Writer) (string, error) {
			format := "binary"
			if c.yaml {
				format = "YAML"
			}
			return format, p.Write(w, c.yaml)
		},
	}
	if len(p.Roots) == 0 && len(p.Flat) == 0 {
		sum.Empty = "no input has any function"
	}
	return sum, nil
}

func addProfile(m *ctxprof.Merger, in *merge.Profile, j *merging.Job) (*merge.Contribution, error) {
	if f, _ := formats.Detect(in.Data); f.Family() != formats.CtxProf {
		return nil, merging.WrongFormat(in.Name, in.Data, "a contextual profile")
	}
	p, err := ctxprof.Read(in.Name, in.Data, func(err error) {
		j.WarnOf("ctxprof", in.Input+1, profile.Warning{File: in.Name, Err: err})
	})
	if err != nil {
		return nil, err
	}
	m.Add(p, in.Weight)
	added := &merge.Contribution{}
	for f := range p.All() {
		added.Functions++
		for _, n := range f.Counters {
			added.Count = saturate.Add(added.Count, n)
		}
	}
	return added, nil
}

// contents describes a profile in words.
func contents(p *ctxprof.Profile) string {
	t := totalsOf(p)
	return fmt.Sprintf("%s, %s, %s", cli.Quantity(len(p.Roots), "root", "roots"), cli.Quantity(t.Contexts, "context", "contexts"),
		cli.Quantity(len(p.Flat), "function outside of roots", "functions outside of roots"))
}
