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
	mu       sync.Mutex
	contexts int
	dropped  int            // contexts
	outside  map[string]int // number of addresses by build id of the missing program
}

// NewReader returns a reader for profiles of the programs.
func NewReader(programs *symbolize.Programs) *Reader {
	return &Reader{binaries: memprof.NewBinaries(programs), outside: make(map[string]int)}
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
	h.contexts += added.Contexts
	h.dropped += added.Dropped
	for _, m := range added.Missing {
		h.outside[hex.EncodeToString(m.BuildID)] += m.PCs
	}
	return irpgo.RawMemProfInfo(raw.Version), nil
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

// PrintLosses prints how many contexts of the raw profiles were dropped, and which programs were
// missing, the programs with the most addresses first.
func (h *Reader) PrintLosses(w io.Writer) {
	if h.dropped > 0 {
		fmt.Fprintf(w, "note: dropped %s of %s of raw heap profiles, without a call in a known function of the given programs\n",
			cli.Count(h.dropped), cli.Quantity(h.contexts, "context", "contexts"))
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
		names = append(names, fmt.Sprintf("%s (%s)", id, cli.Count(h.outside[id])))
	}
	if more := len(ids) - len(names); more > 0 {
		names = append(names, cli.Count(more)+" more")
	}
	fmt.Fprintf(w, "note: call stacks lack %s in programs and libraries that were not given: %s\n",
		cli.Quantity(total, "address", "addresses"), strings.Join(names, ", "))
}
