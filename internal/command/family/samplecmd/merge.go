package samplecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/profile"
)

// The values of --format.
const (
	formatExtended = "extbinary" // LLVM's extensible binary format
	formatBinary   = "binary"    // the older one, without contexts and probes
	formatText     = "text"
	formatPartial  = "partial" // extbinary with what only later merges need

	// AutoFDO's own format, for one compiler each.
	formatGCC11 = "afdo-gcc11" // GCC 5 to 11
	formatGCC12 = "afdo-gcc12" // GCC 12 to 15
	formatLLVM  = "afdo-llvm"  // AutoFDO's default, which LLVM reads
)

type adder struct {
	write               sampleprof.WriteOptions
	mergeCold, trimCold bool
	frames              int // innermost frames that mergeCold keeps
	flatten, nest       bool
	partial             bool // set LLVM's flag for a profile of a part of the program
	sum                 bool // write a partial sum
}

// Declare declares the options. --md5-names is llvm-profdata's --use-md5, --partial its
// --gen-partial-profile, --merge-cold-contexts its --sample-merge-cold-context.
func (c *adder) Declare(f *cli.Flags, watching bool) {
	f.Group("sample profiles")
	f.BoolVar(&c.write.MD5, "md5-names", false, "write GUIDs instead of names")
	f.BoolVar(&c.write.Compress, "compress", false, "compress the sections of extbinary")
	f.BoolVar(&c.write.Split, "split-layout", false, "write functions without inlined functions into a section of their own")
	f.BoolVar(&c.partial, "partial", false, "mark the profile as covering only a part of the program")
	if !watching { // watching adds to the result later
		f.BoolVar(&c.mergeCold, "merge-cold-contexts", false, "merge cold contexts into the contexts of their last frames")
		f.BoolVar(&c.trimCold, "trim-cold-contexts", false, "drop cold contexts")
		f.IntVar(&c.frames, "cold-frames", 1, "`N` frames that a merged cold context keeps")
		f.BoolVar(&c.flatten, "flatten", false, "drop contexts, and turn inlined functions into functions of their own")
		f.BoolVar(&c.nest, "nest", false, "inline the functions of contexts into their callers")
		f.Uint64Var(&c.write.SizeLimit, "size-limit", 0, "`BYTES` drop functions with few samples until the result is no larger")
	}
}

// Results returns the values of --format.
func (c *adder) Results() []merging.Result {
	return []merging.Result{
		{Name: formatExtended, Family: formats.Sample},
		{Name: formatBinary, Family: formats.Sample},
		{Name: formatText, Family: formats.Sample, Text: true},
		{Name: formatPartial, Family: formats.Sample, Exact: ".afdo"},
		{Name: formatGCC11, Family: formats.Sample},
		{Name: formatGCC12, Family: formats.Sample},
		{Name: formatLLVM, Family: formats.Sample},
	}
}

// Refuses returns --arch: profiles are made of ELF files, which have one architecture.
func (c *adder) Refuses() []string { return []string{"arch"} }

// Check refuses options that exclude each other.
func (c *adder) Check(r *merging.Options) error {
	c.write.Lossless, c.sum = true, r.Format == formatPartial
	if err := r.CheckPartial(c.sum, map[string]bool{
		"md5-names": c.write.MD5, "split-layout": c.write.Split, "partial": c.partial, "merge-cold-contexts": c.mergeCold,
		"trim-cold-contexts": c.trimCold, "flatten": c.flatten, "nest": c.nest, "size-limit": c.write.SizeLimit > 0,
	}); err != nil {
		return err
	}
	switch r.Format {
	case formatText:
		c.write.Format = sampleprof.FormatText
	case formatBinary:
		c.write.Format = sampleprof.FormatBinary
	case formatGCC11, formatGCC12, formatLLVM:
		c.write.Format = sampleprof.FormatGCov
		c.write.GCC = map[string]int{formatGCC11: 11, formatGCC12: 12}[r.Format]
	default:
		c.write.Format = sampleprof.FormatExtended
	}
	if c.write.Format != sampleprof.FormatExtended && (c.write.MD5 || c.write.Compress || c.partial) {
		return cli.Usagef("options --md5-names, --compress and --partial need --format %s", formatExtended)
	}
	if c.flatten && c.nest {
		return cli.Usagef("options --flatten and --nest exclude each other")
	}
	return nil
}

// Open makes the weights whole; Add divides the sum by r.Unit. A partial sum cannot be divided,
// because rounding would change the sum of partial sums.
func (c *adder) Open(r *merging.Options, _ func(string)) error {
	return cmp.Or(r.CheckName(), r.FixWeights(c.sum))
}

// reshapes reports whether the options change the sum between merging and writing.
func (c *adder) reshapes() bool { return c.mergeCold || c.trimCold || c.flatten || c.nest }

// Add adds up the base, if any, and the inputs. The sum does not depend on their order.
func (c *adder) Add(ctx context.Context, j *merging.Job) (*merging.Sum, error) {
	ins := j.Inputs
	if j.Base != "" {
		ins = append(slices.Clone(ins), inputs.File(j.Base, j.Open))
	}
	defer memlimit.CollectOften(50)()
	m := sampleprof.NewMerger(sampleprof.MergeOptions{Warn: func(w profile.Warning) { j.WarnOf("sample", 0, w) }})
	// One worker, because the first usable input decides the kind of the sum.
	g := generator{job: j, sum: profgen.NewCounts()}
	adders := []merge.Adder{func(p *merge.Profile) (*merge.Contribution, error) {
		if f, _ := formats.Detect(p.Data); f == formats.SampleSums || f.IsRecording() {
			return g.add(p, f)
		}
		return addProfile(m, p)
	}}
	if err := j.Add(ctx, ins, adders, false); err != nil {
		return nil, err
	}
	if err := g.finish(m); err != nil {
		return nil, err
	}
	r := m.Finish()
	if r.Left > 0 && !c.sum {
		j.Warn("sample builds", 0, fmt.Sprintf("%s of other builds, by their checksums, left out: of each function the build with the most samples stays",
			cli.Quantity(r.Left, "function", "functions")), "")
	}
	if r.Nameless > 0 && c.write.Format != sampleprof.FormatExtended {
		j.Warn("sample names", 0, fmt.Sprintf("of %s only the GUID is known, which is written as a number: compilers take it for a name and find nothing; "+
			"--format %s holds GUIDs", cli.Quantity(r.Nameless, "function", "functions"), formatExtended), "")
	}
	if c.partial {
		r.Kind.Partial = true
	}
	// Only dividing and reshaping need a profile in memory.
	var all result = r
	functions := r.Functions
	if j.Unit > 1 || c.reshapes() {
		p := r.Profile()
		p.Convert(sampleprof.ConvertOptions{
			Divisor: j.Unit, MergeCold: c.mergeCold, ColdFrames: c.frames, TrimCold: c.trimCold, Flatten: c.flatten, Nest: c.nest,
		})
		all, functions = p, len(p.Functions)
	}
	sum := &merging.Sum{
		Contents: func() string { return contents(all, functions) },
		Write: func(w io.Writer) (string, error) {
			defer memlimit.CollectOften(50)()
			if c.sum {
				return "partial sum, " + string(c.write.Format), r.Write(w, sampleprof.WriteOptions{Partial: true, Compress: c.write.Compress})
			}
			return string(c.write.Format), all.Write(w, c.write)
		},
	}
	// "profuse watch" adds to the sum later, so it keeps the lossless form.
	if j.Watched() && r.Exceeds() {
		sum.State = func(w io.Writer) error { return r.Write(w, sampleprof.WriteOptions{Partial: true}) }
	}
	if functions == 0 {
		sum.Empty = "no input has any function"
	}
	return sum, nil
}

// A result is a profile, or the sum of a merger, which takes less time and memory.
type result interface {
	Summarize() *sampleprof.Summary
	Write(io.Writer, sampleprof.WriteOptions) error
}

func addProfile(m *sampleprof.Merger, in *merge.Profile) (*merge.Contribution, error) {
	if f, _ := formats.Detect(in.Data); f.Family() != formats.Sample {
		return nil, merging.WrongFormat(in.Name, in.Data, "a sample profile")
	}
	added, err := m.AddFile(in.Name, in.Data, sampleprof.ReaderOptions{}, in.Weight)
	if err != nil {
		return nil, err
	}
	return &merge.Contribution{Functions: added.Functions, Unmergable: added.Skipped, Count: added.Count}, nil
}

// contents describes a result with a number of functions in words.
func contents(r result, functions int) string {
	s := r.Summarize()
	return fmt.Sprintf("%s, %s at %s", cli.Quantity(functions, "function", "functions"),
		cli.Quantity(s.Total, "sample", "samples"), cli.Quantity(s.NumCounts, "location", "locations"))
}
