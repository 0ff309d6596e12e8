package memprofcmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A Reader adds heap profiles to mergers. Several goroutines may call Add.
type Reader struct {
	binaries *memprof.Binaries

	// What the raw profiles had and lost.
	mu      sync.Mutex
	all     memprof.Share
	dropped memprof.Share
	missing map[string]*missing // programs and libraries by build id
}

// missing is what profiles have in a program or library that was not given.
type missing struct {
	addresses int
	places    memprof.Share // contexts that allocate there
}

// NewReader returns a reader for profiles of the programs.
func NewReader(programs *symbolize.Programs) *Reader {
	return &Reader{binaries: memprof.NewBinaries(programs), missing: make(map[string]*missing)}
}

// Add adds a raw heap profile or one in YAML to a merger. info describes the writer of a raw profile, for the choice of
// an indexed version; it is nil for YAML, which does not name its writer.
func (h *Reader) Add(to *irpgo.Merger, in *merge.Profile, format formats.Format, warn func(profile.Warning)) (info *irpgo.Info, err error) {
	if format == formats.MemProfYAML {
		p, err := memprof.ReadYAML(in.Name, in.Data)
		if err == nil {
			err = to.AddMemProf(in.Name, p, in.Weight)
		}
		return nil, err
	}
	memlimit.HeapProfile(len(in.Data))
	cut := 0
	raw, err := memprof.ReadRaw(in.Name, in.Data, memprof.RawOptions{Overflow: func(uint64) { cut++ }})
	if err != nil {
		return nil, err
	}
	added, err := to.AddRawMemProf(raw, h.binaries, memprof.SymbolizeOptions{
		Warn:     warn,
		Overflow: func(uint32) { cut++ },
	}, in.Weight)
	if err != nil {
		return nil, err
	}
	if cut > 0 {
		warn(profile.Warning{File: in.Name, Err: flaw.File(in.Name).
			Field("number of contexts with a sum too large for its field").Got(cut).Want("0").
			Mismatch()})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count(added)
	return irpgo.RawMemProfInfo(raw.Version), nil
}

// count adds what a profile had and lost.
func (h *Reader) count(c *memprof.Coverage) {
	h.all.Add(memprof.Share{Contexts: c.Contexts, Bytes: c.Bytes})
	h.dropped.Add(memprof.Share{Contexts: c.Dropped, Bytes: c.DroppedBytes})
	of := func(id []byte) *missing {
		key := hex.EncodeToString(id)
		if h.missing[key] == nil {
			h.missing[key] = new(missing)
		}
		return h.missing[key]
	}
	for _, m := range c.Missing {
		of(m.BuildID).addresses += m.PCs
	}
	for _, l := range c.Losses {
		if l.Cause == "not_given" {
			of(l.BuildID).places.Add(l.Places)
		}
	}
}

// Contents describes a heap profile in words; "" if it is empty.
func Contents(p *memprof.Profile) string {
	if p.Empty() {
		return ""
	}
	var parts []string
	var contexts, bytes uint64
	for c := range p.Contexts() {
		contexts++
		bytes = saturate.Add(bytes, c.MIB.TotalSize)
	}
	if len(p.Records) > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s that allocated %s", cli.Quantity(contexts, "context", "contexts"),
			cli.Quantity(len(p.Records), "function", "functions"), cli.Quantity(bytes, "byte", "bytes")))
	}
	if d := p.DataAccess; hasDataAccess(d) {
		parts = append(parts, fmt.Sprintf("accesses to %s", cli.Quantity(len(d.Records), "symbol or string", "symbols and strings")))
	}
	return strings.Join(parts, ", ")
}

// maxOutsideListed limits the missing programs that are named.
const maxOutsideListed = 3

// PrintLosses prints how much of the raw profiles was dropped, and which programs were missing, the
// programs with the most addresses first. Warnings tell the other losses.
func (h *Reader) PrintLosses(w io.Writer) {
	if h.dropped.Contexts > 0 {
		fmt.Fprintf(w, "note: dropped %s of %s of raw heap profiles (%s of the bytes), without a call in a known function of the given programs\n",
			cli.Count(h.dropped.Contexts), cli.Quantity(h.all.Contexts, "context", "contexts"), cli.Percent(h.dropped.Bytes, h.all.Bytes))
	}
	if len(h.missing) == 0 {
		return
	}
	ids := slices.SortedFunc(maps.Keys(h.missing), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.missing[b].addresses, h.missing[a].addresses), cmp.Compare(a, b))
	})
	var total missing
	for _, m := range h.missing {
		total.addresses += m.addresses
		total.places.Add(m.places)
	}
	var names []string
	for _, id := range ids[:min(len(ids), maxOutsideListed)] {
		names = append(names, fmt.Sprintf("%s (%s)", cmp.Or(id, "without build id"), cli.Count(h.missing[id].addresses)))
	}
	if more := len(ids) - len(names); more > 0 {
		names = append(names, cli.Count(more)+" more")
	}
	fmt.Fprintf(w, "note: call stacks lack %s in programs and libraries that were not given: %s\n",
		cli.Quantity(total.addresses, "address", "addresses"), strings.Join(names, ", "))
	if p := total.places; p.Contexts > 0 {
		fmt.Fprintf(w, "      %s with %s of the bytes allocate there and count for the caller, if it is known\n",
			cli.Quantity(p.Contexts, "context", "contexts"), cli.Percent(p.Bytes, h.all.Bytes))
	}
}
