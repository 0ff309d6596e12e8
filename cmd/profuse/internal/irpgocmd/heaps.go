package irpgocmd

import (
	"fmt"
	"strconv"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/profile"
)

// heapOptions say how the memprof section of the result is written.
type heapOptions struct {
	version    string // "auto" or a number
	fullSchema bool
}

func (o *heapOptions) declare(f *cli.Flags) {
	f.Group("heap profiles")
	f.StringVar(&o.version, "memprof-version", "auto", fmt.Sprintf("`N` version of the memprof section, 0 to %d, or auto: "+
		"what the compilers read that read the indexed version", memprof.IndexedVersionMax))
	f.BoolVar(&o.fullSchema, "memprof-full-schema", false, "write everything that is known of allocations, not only what compilers need")
}

func (o *heapOptions) options() (opt memprof.WriteOptions, err error) {
	if o.version != "auto" {
		n, err := strconv.ParseUint(o.version, 10, 8)
		if err != nil || n > memprof.IndexedVersionMax {
			return opt, cli.Usagef("option --memprof-version takes auto or 0 to %d, not %q", memprof.IndexedVersionMax, o.version)
		}
		if opt.Version = int(n); n == 0 {
			opt.Version = memprof.Version0
		}
	}
	if o.fullSchema {
		opt.Schema = memprof.FullSchema
	}
	return opt, nil
}

// mergeHeap merges a heap profile that is a file of its own. info is as of
// memprofcmd.Reader.Read.
func (w *mergeWorker) mergeHeap(j mergeJob, format formats.Format) (info *irpgo.Info, err error) {
	p, info, err := w.heaps.Read(j.name, j.data, format, func(kind string, err error) {
		w.report.Add(kind, j.place, console.DescribeError(profile.InFile(err, j.name)).Message, "")
	})
	if err == nil {
		err = w.merger.AddMemProf(j.name, p, max(j.weight, 1))
	}
	return info, err
}

// heapYAML reports whether the result is to be MemProf YAML.
func (c *merge) heapYAML(r *merging.Run) bool {
	switch r.Format {
	case formatMemProfYAML, formatHeapYAML:
		return true
	case "":
		return console.IsYAML(r.Output)
	}
	return false
}

// writeHeapYAML writes the heap profile alone.
func writeHeapYAML(r *merging.Run, out *console.Output, p *irpgo.Profile, report *mergeReport) (what string, err error) {
	heap := p.MemProf
	if heap.Empty() && !r.Empty {
		return "", fmt.Errorf("no input has a heap profile; nothing is written")
	}
	if heap == nil {
		heap = new(memprof.Profile)
	}
	if len(p.Functions) > 0 {
		report.Add("memprof yaml", 0, fmt.Sprintf("the counters of %s are left out: MemProf YAML has no place for them",
			cli.Quantity(uint64(len(p.Functions)), "function", "functions")), "")
		p.Functions = nil
	}
	if err = memprof.WriteYAML(out, heap); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return "", fmt.Errorf("%s is not written: %w", console.OutputName(r.Output), err)
	}
	return "MemProf YAML", nil
}
