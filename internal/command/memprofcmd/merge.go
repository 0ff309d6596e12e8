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
	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/memory"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A Reader adds heap profiles for the workers of a merge, at the same time.
type Reader struct {
	binaries *memprof.Binaries

	mu       sync.Mutex
	contexts int // of raw profiles
	dropped  int
	// The losses of all profiles, which PrintLosses prints at the end; mu guards them.
	outside map[string]int // addresses by build id of the program that was not found
}

// NewReader returns a reader for profiles of the programs.
func NewReader(programs *symbolize.Programs) *Reader {
	return &Reader{binaries: memprof.NewBinaries(programs), outside: make(map[string]int)}
}

// Add adds a raw heap profile or one in YAML to a merger. It passes warnings to warn, one of them
// about sums that no longer fit the fields of their contexts. info describes the writer of a raw
// profile, for the choice of an indexed version; it is nil for YAML, which does not name its
// writer.
func (h *Reader) Add(to *irpgo.Merger, in *merge.Profile, format formats.Format, warn func(profile.Warning)) (info *irpgo.Info, err error) {
	if format == formats.MemProfYAML {
		p, err := memprof.ReadYAML(in.Name, in.Data)
		if err == nil {
			err = to.AddMemProf(in.Name, p, in.Weight)
		}
		return nil, err
	}
	memory.HeapProfile(len(in.Data))
	cut := 0
	raw, err := memprof.ReadRaw(in.Name, in.Data, memprof.RawOptions{Overflow: func(uint64) { cut++ }})
	if err != nil {
		return nil, err
	}
	about, err := to.AddRawMemProf(raw, h.binaries, memprof.SymbolizeOptions{
		Warn:     warn,
		Overflow: func(memprof.MIBIndex) { cut++ },
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
	h.contexts += about.Contexts
	h.dropped += about.Dropped
	for _, m := range about.Missing {
		h.outside[hex.EncodeToString(m.BuildID)] += m.PCs
	}
	return irpgo.RawMemProfInfo(raw.Version()), nil
}

// Contents sums up a heap profile in words; "" if it is empty.
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
			cli.Quantity(uint64(len(p.Records)), "function", "functions"), cli.Quantity(bytes, "byte", "bytes")))
	}
	if d := p.DataAccess; !d.Empty() {
		parts = append(parts, fmt.Sprintf("accesses to %s", cli.Quantity(uint64(len(d.Records)), "symbol or string", "symbols and strings")))
	}
	return strings.Join(parts, ", ")
}

// maxOutsideListed limits the missing programs that are named.
const maxOutsideListed = 3

// PrintLosses prints what the result lacks of the raw profiles: contexts, and the programs that
// --program should also name, those with the most addresses first.
func (h *Reader) PrintLosses(w io.Writer) {
	if h.dropped > 0 {
		fmt.Fprintf(w, "note: dropped %s of %s of raw heap profiles, without a call in a known function of the given programs\n",
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
	fmt.Fprintf(w, "note: call stacks lack %s in programs and libraries that were not given: %s\n",
		cli.Quantity(uint64(total), "address", "addresses"), strings.Join(names, ", "))
}
