package cgdatacmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/cgdata"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
)

// The values of --format.
const (
	formatIndexed = "cgdata"
	formatText    = "cgdata-text"
	formatPartial = "partial" // cgdata with the functions that later merges may need
)

type adder struct {
	text bool
	sum  cgdata.Merger
	arch string
	seen map[[sha256.Size]byte]string // names of objects, by their contents
}

// Declare declares --skip-trim, which is llvm-cgdata's.
func (c *adder) Declare(f *cli.Flags, watching bool) {
	if !watching { // watching adds to the result later
		f.Group("codegen data")
		f.BoolVar(&c.sum.SkipTrim, "skip-trim", false, "keep functions that are not worth merging, and operands that do not differ")
	}
}

// Results returns the values of --format.
func (*adder) Results() []merging.Result {
	return []merging.Result{
		{Name: formatIndexed, Family: formats.CGData},
		{Name: formatText, Family: formats.CGData, Text: true},
		{Name: formatPartial, Family: formats.CGData, Exact: ".cgdata"},
	}
}

// Refuses returns the options about programs and weights: codegen data has names, and no counts of runs.
func (*adder) Refuses() []string { return []string{"program", "weighted-input", "decay", "max-share"} }

func (c *adder) Check(r *merging.Options) error {
	c.sum.Partial = r.Format == formatPartial
	return r.CheckPartial(c.sum.Partial, map[string]bool{"skip-trim": c.sum.SkipTrim})
}

func (c *adder) Open(r *merging.Options, _ func(string)) error {
	c.text, c.arch = r.Format == formatText, r.Programs.Arch
	return r.CheckName()
}

// Add adds up the base, if any, and the inputs.
func (c *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	m, state := c.sum, cgdata.Merger{Partial: true}
	into := []*cgdata.Merger{&m}
	if j.Watched() {
		into = append(into, &state)
	}
	c.seen = make(map[[sha256.Size]byte]string)
	add := func(p *merge.Profile) (*merge.Contribution, error) { return c.addFile(into, p, j) }
	ins := j.Inputs
	if j.Base != "" { // its names come first
		ins = append([]inputs.Input{inputs.File(j.Base, j.Open)}, slices.Clone(ins)...)
	}
	if err := j.Add(ctx, ins, []merge.Adder{add}, false); err != nil {
		return nil, err
	}
	d := m.Data()
	if m.Contradicting > 0 {
		j.Warn("cgdata contradicting", 0, fmt.Sprintf("%s left out: others with the same hash have other instructions or operands",
			cli.Quantity(m.Contradicting, "function", "functions")), "")
	}
	if m.Saturated {
		j.Warn("cgdata overflow", 0, "some sequences were outlined too often for 32 bits: 2^32-1 is written", "")
	}
	sum := &merging.Sum{
		Contents: func() string { return contents(d, m.Unprofitable) },
		Write: func(w io.Writer) (string, error) {
			switch {
			case c.text:
				return "text", d.Write(w, true)
			case m.Partial:
				return "partial sum, indexed", d.Write(w, false)
			}
			return "indexed", d.Write(w, false)
		},
	}
	if j.Watched() && !m.Partial && m.Contradicting+m.Unprofitable > 0 {
		sum.State = func(w io.Writer) error { return state.Data().Write(w, false) }
	}
	if len(d.Tree) == 0 && len(d.Functions) == 0 && m.Unprofitable+m.Contradicting == 0 {
		sum.Empty = "no input has any codegen data"
	}
	return sum, nil
}

// addFile adds one file. Of objects with the same contents, once alone and once in a library, it adds one.
func (c *adder) addFile(into []*cgdata.Merger, in *merge.Profile, j *merging.Job) (*merge.Contribution, error) {
	f, _ := formats.Detect(in.Data)
	if f.Family() != formats.CGData {
		return nil, merging.WrongFormat(in.Name, in.Data, "codegen data")
	}
	var all []*cgdata.Data
	var err error
	if f == formats.CGDataObject {
		err = cgdata.ReadObjects(in.Name, in.Data, c.arch, func(o *cgdata.Object) error {
			sum := sha256.Sum256(o.Contents)
			if first, twice := c.seen[sum]; twice {
				j.Warn("cgdata twice", in.Input+1, fmt.Sprintf("%s is the same object as %s: counted once", o.Name, first), "")
				return nil
			}
			c.seen[sum] = o.Name
			all = append(all, o.Data)
			return nil
		})
		// An object with nothing to outline or to merge has none, whatever the options of the compiler.
		if profile.ClassOf(err) == profile.ErrMismatch {
			j.WarnOf("cgdata none", in.Input+1, profile.Warning{File: in.Name, Err: err})
			err = nil
		}
	} else {
		all, err = readAll(in.Name, in.Data, f, c.arch, func(err error) {
			j.WarnOf("cgdata", in.Input+1, profile.Warning{File: in.Name, Err: err})
		})
	}
	if err != nil {
		return nil, err
	}
	added := &merge.Contribution{}
	for _, d := range all {
		for _, m := range into {
			m.Add(d)
		}
		added.Functions += len(d.Functions)
		for _, n := range d.Sequences() {
			added.Count += uint64(n)
		}
	}
	return added, nil
}

// contents describes codegen data in words.
func contents(d *cgdata.Data, unprofitable int) string {
	sequences := 0
	for range d.Sequences() {
		sequences++
	}
	s := fmt.Sprintf("%s, %s to merge", cli.Quantity(sequences, "outlined sequence", "outlined sequences"),
		cli.Quantity(len(d.Functions), "function", "functions"))
	if unprofitable > 0 {
		s += fmt.Sprintf(", %s not worth it", cli.Count(unprofitable))
	}
	return s
}
