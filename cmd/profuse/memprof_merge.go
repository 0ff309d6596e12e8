package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/profile"
)

// memprofMergeOptions are the options of "profuse merge" for heap profiles,
// which are merged beside profiles of counters.
type memprofMergeOptions struct {
	profiledBinaries cli.List
	version          string // "auto" or a number
	fullSchema       bool

	writing memprof.WriteOptions // see check
}

func (o *memprofMergeOptions) declare(f *cli.Flags) {
	declareProfiledBinary(f, &o.profiledBinaries)
	f.StringVar(&o.version, "memprof-version", "auto", fmt.Sprintf("`N` version of the memprof section, 0 to %d, or auto: "+
		"what the compilers read that read the indexed version", memprof.IndexedVersionMax))
	f.BoolVar(&o.fullSchema, "memprof-full-schema", false, "write everything that is known of allocations, not only what compilers need")
}

// declareProfiledBinary declares the option that all commands have which read
// raw heap profiles.
func declareProfiledBinary(f *cli.Flags, list *cli.List) {
	f.Var(list, "profiled-binary", "`PATH` program or library that raw MemProf profiles are of, with debug information, "+
		"or a folder to find it in by build id; may be given again")
}

var onlyForMemProf = []string{"profiled-binary", "memprof-version", "memprof-full-schema"}

// check sets how the section is written.
func (o *memprofMergeOptions) check() error {
	if o.version != "auto" {
		n, err := strconv.ParseUint(o.version, 10, 8)
		if err != nil || n > memprof.IndexedVersionMax {
			return cli.Usagef("option --memprof-version takes auto or 0 to %d, not %q", memprof.IndexedVersionMax, o.version)
		}
		if o.writing.Version = int(n); n == 0 {
			o.writing.Version = memprof.Version0
		}
	}
	if o.fullSchema {
		o.writing.Schema = memprof.FullSchema
	}
	return nil
}

// mergePrograms are the programs that raw profiles are of, as far as reading
// them takes it.
type mergePrograms struct {
	correlations
	heaps *heapMerge
}

// openPrograms opens the programs that the options name.
func (c *mergeRun) openPrograms(warn func(irpgo.Warning)) (p mergePrograms, err error) {
	if p.correlations, err = openCorrelations(c.correlate, warn); err != nil {
		return p, err
	}
	p.heaps, err = openHeapMerge(c.memprof.profiledBinaries, numWorkers(c.workers))
	return p, err
}

// A heapMerge is what the workers of a merge share to read heap profiles.
type heapMerge struct {
	binaries *memprof.Binaries

	mu       sync.Mutex
	raw      int // profiles
	contexts int // of raw profiles
	dropped  int
	outside  map[string]int // addresses by build id of the program that was not found
}

// openHeapMerge opens the programs. Those in folders are looked for when they
// are needed.
func openHeapMerge(paths []string, workers int) (*heapMerge, error) {
	b, err := memprof.OpenBinaries(paths, memprof.BinaryOptions{Workers: workers})
	if err != nil {
		return nil, err
	}
	return &heapMerge{binaries: b, outside: make(map[string]int)}, nil
}

// read reads a heap profile that is a file of its own. It does not refer to
// data. warn is told of what is suspicious.
//
// info stands for a raw profile in the choice of an indexed version; nil for
// YAML, which says nothing of its writer.
func (h *heapMerge) read(name string, data []byte, format formats.Format, warn func(kind string, err error)) (p *memprof.Profile, info *irpgo.Info, err error) {
	if format == formats.MemProfYAML {
		p, err = memprof.ReadYAML(name, data)
		return p, nil, err
	}
	cut := 0
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{Overflow: func(uint64) { cut++ }})
	if err != nil {
		return nil, nil, err
	}
	p, about, err := raw.Symbolize(h.binaries, memprof.SymbolizeOptions{
		Warn:     func(err error) { warn("memprof program", err) },
		Overflow: func(memprof.MIBIndex) { cut++ },
	})
	if err != nil {
		return nil, nil, err
	}
	if cut > 0 {
		warn("memprof overflow", &profile.FormatError{
			File: name, Offset: -1, Record: -1, Field: "number of contexts with a sum that outgrew its field and was cut",
			Found: fmt.Sprint(cut), Want: "0", Err: profile.ErrMismatch,
		})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.raw++
	h.contexts += about.Contexts
	h.dropped += about.Dropped
	for _, m := range about.Missing {
		h.outside[hex.EncodeToString(m.BuildID)] += m.PCs
	}
	return p, irpgo.RawMemProfInfo(raw.Version()), nil
}

// close closes the programs.
func (h *heapMerge) close() { h.binaries.Close() }

// mergeHeap merges a heap profile that is a file of its own. info is as of
// heapMerge.read.
func (w *mergeWorker) mergeHeap(j mergeJob, format formats.Format) (info *irpgo.Info, err error) {
	p, info, err := w.programs.heaps.read(j.name, j.data, format, func(kind string, err error) {
		w.report.add(kind, j.place, describeError(profile.InFile(err, j.name)).Message, "")
	})
	if err == nil {
		err = w.merger.AddMemProf(j.name, p, max(j.weight, 1))
	}
	return info, err
}

// heapYAML reports whether the result is to be MemProf YAML.
func (c *mergeRun) heapYAML(family formats.Family) bool {
	switch c.format.Value {
	case formatMemProfYAML:
		return true
	case formatYAML:
		return family == formats.MemProf
	case "":
		return isYAML(c.output)
	}
	return false
}

// writeHeapYAML writes the heap profile alone.
func (c *mergeRun) writeHeapYAML(out *output, p *irpgo.Profile, report *mergeReport) (what string, err error) {
	heap := p.MemProf
	if heap.Empty() && !c.empty {
		return "", fmt.Errorf("no input has a heap profile; nothing is written")
	}
	if heap == nil {
		heap = new(memprof.Profile)
	}
	if len(p.Functions) > 0 {
		report.add("memprof yaml", 0, fmt.Sprintf("the counters of %s are left out: MemProf YAML has no place for them",
			cli.Quantity(uint64(len(p.Functions)), "function", "functions")), "")
		p.Functions = nil
	}
	if err = memprof.WriteYAML(out, heap); err == nil {
		err = out.commit()
	}
	if err != nil {
		return "", fmt.Errorf("%s is not written: %w", outputName(c.output), err)
	}
	return "MemProf YAML", nil
}

// heapContents sums up a heap profile; empty for none.
func heapContents(p *memprof.Profile) string {
	if p.Empty() {
		return ""
	}
	var parts []string
	var contexts, bytes uint64
	for c := range p.Contexts() {
		contexts++
		bytes = addSaturating(bytes, c.MIB.TotalSize)
	}
	if len(p.Records) > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s that allocated %s", cli.Quantity(contexts, "context", "contexts"),
			cli.Quantity(uint64(len(p.Records)), "function", "functions"), cli.Quantity(bytes, "byte", "bytes")))
	}
	if d := p.DataAccess; !d.Empty() {
		parts = append(parts, fmt.Sprintf("accesses to %s", cli.Quantity(uint64(len(d.Records)), "symbol or string", "symbols and strings")))
	}
	return strings.Join(parts, ", ")
}

// maxOutsideListed is how many programs are named that were not found.
const maxOutsideListed = 3

// printLosses says what of the raw profiles is not in the result.
func (h *heapMerge) printLosses(w io.Writer) {
	if h.dropped > 0 {
		fmt.Fprintf(w, "note: %s of %s of raw heap profiles are left out: no call in them is in a known function of the given programs\n",
			cli.Count(uint64(h.dropped)), cli.Quantity(uint64(h.contexts), "context", "contexts"))
	}
	if len(h.outside) == 0 {
		return
	}
	ids := slices.SortedFunc(maps.Keys(h.outside), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.outside[b], h.outside[a]), cmp.Compare(a, b))
	})
	total := 0
	for _, n := range h.outside {
		total += n
	}
	var names []string
	for _, id := range ids[:min(len(ids), maxOutsideListed)] {
		if id == "" {
			id = "without build id"
		}
		names = append(names, fmt.Sprintf("%s (%s)", id, cli.Count(uint64(h.outside[id]))))
	}
	if more := len(ids) - len(names); more > 0 {
		names = append(names, cli.Count(uint64(more))+" more")
	}
	fmt.Fprintf(w, "note: call stacks are without %s in programs and libraries that are not given: %s\n",
		cli.Quantity(uint64(total), "address", "addresses"), strings.Join(names, ", "))
}
