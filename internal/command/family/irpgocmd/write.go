package irpgocmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A writer holds the options for writing IRPGO profiles.
type writer struct {
	text    bool
	version uint32 // indexed; 0 for what suits the inputs
	sparse  bool   // without functions that never ran
	heaps   memprof.WriteOptions
}

// encode writes a profile to out. It returns the name of the format, with the reason for an automatic version.
func (w *writer) encode(out io.Writer, m *irpgo.Merged, j *job) (what string, err error) {
	if w.text {
		return "text", irpgo.WriteText(out, m.Profile(), irpgo.TextOptions{Sparse: w.sparse, Warn: j.warnOfSum})
	}
	version := w.version
	what = fmt.Sprintf("indexed version %d", version)
	if version == 0 {
		var reason string
		version, reason = m.ChooseVersion(j.kinds())
		what = fmt.Sprintf("indexed version %d, %s", version, reason)
	}
	return what, m.WriteIndexed(out, irpgo.IndexedOptions{
		Version: version, Sparse: w.sparse, Warn: j.warnOfSum, MemProf: w.heaps,
	})
}

// contents summarizes the written profile. The total saturates and contains no pseudo counts.
func (w *writer) contents(p *irpgo.Profile) string {
	var functions, dropped, counters, total uint64
	for i := range p.Functions {
		f := &p.Functions[i]
		if w.sparse && !ran(f) {
			dropped++
			continue
		}
		functions++
		for _, r := range f.Records {
			counters += uint64(len(r.Counts))
			if r.Pseudo() == 0 {
				sum, _, _ := sumCounts(r.Counts)
				total = saturate.Add(total, sum)
			}
		}
	}
	return contentsLine(functions, dropped, counters, total, p)
}

func contentsLine(functions, dropped, counters, total uint64, p *irpgo.Profile) string {
	heap := memprofcmd.Contents(p.MemProf)
	if heap != "" && functions == 0 && dropped == 0 {
		return heap
	}
	s := fmt.Sprintf("%s, %s, total count %s", cli.Quantity(functions, "function", "functions"),
		cli.Quantity(counters, "counter", "counters"), cli.Count(total))
	if dropped > 0 {
		s += fmt.Sprintf(", %s that never ran left out", cli.Count(dropped))
	}
	if heap != "" {
		s += ", " + heap
	}
	return s
}

// ran reports whether a sparse profile keeps a function: any counter, also a pseudo count, or any
// bit of a bitmap is set.
func ran(f *irpgo.Function) bool {
	return slices.ContainsFunc(f.Records, func(r *irpgo.Record) bool {
		return slices.Max(append([]uint64{0}, r.Counts...)) > 0 || slices.Max(append([]byte{0}, r.Bitmap...)) > 0
	})
}

type heapOptions struct {
	version    string // "auto" or a number
	fullSchema bool
}

// declare declares the options, with llvm-profdata's names.
func (o *heapOptions) declare(f *cli.Flags) {
	f.Group("heap profiles")
	f.StringVar(&o.version, "memprof-version", "auto", fmt.Sprintf("`N` version of the memprof section, 0 to %d, or auto: "+
		"the newest that compilers of the indexed version can read", memprof.SectionVersionMax))
	f.BoolVar(&o.fullSchema, "memprof-full-schema", false, "write all fields of allocations, not only the fields that compilers need")
}

// options checks and converts the options. In memprof.WriteOptions 0 means the default and -1 version 0.
func (o *heapOptions) options() (opt memprof.WriteOptions, err error) {
	if o.version != "auto" {
		n, err := strconv.ParseUint(o.version, 10, 8)
		if err != nil || n > memprof.SectionVersionMax {
			return opt, cli.Usagef("option --memprof-version takes auto or 0 to %d, not %q", memprof.SectionVersionMax, o.version)
		}
		if opt.Version = int(n); n == 0 {
			opt.Version = -1
		}
	}
	// The zero Schema is the part that compilers need.
	if o.fullSchema {
		opt.Schema = memprof.FullSchema
	}
	return opt, nil
}

// heapYAML reports whether --format, or else the name of the output, asks for MemProf YAML.
func (c *adder) heapYAML(r *merging.Options) bool {
	switch r.Format {
	case formatMemProfYAML, formatHeapYAML:
		return true
	case "":
		return console.IsYAML(r.Output)
	}
	return false
}
