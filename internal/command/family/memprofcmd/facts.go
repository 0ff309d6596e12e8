// Package memprofcmd shows, checks and reads heap profiles (MemProf). Package irpgocmd merges them,
// because they share the indexed format with IRPGO profiles.
package memprofcmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// fileFacts are the facts that "profuse show" prints about a raw heap profile or one in YAML. The
// JSON names are a stable interface.
type fileFacts struct {
	family.Head
	WrittenBy string   `json:"written_by"` // LLVM releases; "" if unknown
	Dumps     int      `json:"dumps"`      // in a raw file
	BuildIDs  []string `json:"build_ids"`  // the program first, then its libraries

	RecordedContexts int           `json:"recorded_contexts"` // in a raw file
	Coverage         *heapCoverage `json:"coverage"`          // null if no programs are given
	Heap             *Facts        `json:"heap"`              // null if nothing could be read
	family.Problems
}

// heapCoverage counts the addresses of a raw profile that the programs explain.
type heapCoverage struct {
	DroppedContexts  int           `json:"dropped_contexts"` // without a call in a known function
	Addresses        int           `json:"addresses"`        // distinct
	OutsideAddresses int           `json:"outside_addresses"`
	UnknownAddresses int           `json:"unknown_addresses"` // in given programs, without debug information
	Programs         []heapProgram `json:"programs"`
	Missing          []heapProgram `json:"missing_programs"`
	Bytes            uint64        `json:"bytes"` // of all contexts, dropped ones included; saturating
	DroppedBytes     uint64        `json:"dropped_bytes"`
	Losses           []heapLoss    `json:"losses"` // the loss of most bytes first
}

// heapLoss is what call stacks lack in one program or library, for one cause.
type heapLoss struct {
	File      string    `json:"file,omitempty"`     // "" if not given
	BuildID   string    `json:"build_id,omitempty"` // "" if unknown
	Cause     string    `json:"cause"`
	Addresses int       `json:"addresses"` // distinct
	Functions []string  `json:"functions"` // linkage names of the first few, from the symbol table
	Places    heapShare `json:"places"`    // contexts that allocate there
	Callers   heapShare `json:"callers"`   // contexts that lack a caller there
	Cure      string    `json:"cure"`      // in words
}

// heapShare is a part of the contexts of a profile.
type heapShare struct {
	Contexts    int    `json:"contexts"`
	Allocations uint64 `json:"allocations"` // saturating
	Bytes       uint64 `json:"bytes"`       // saturating
}

type heapProgram struct {
	File      string `json:"file,omitempty"` // "" if not given
	BuildID   string `json:"build_id"`
	Addresses int    `json:"addresses"` // distinct addresses of the profile in it
}

// Facts describes a heap profile in any kind of file.
type Facts struct {
	Version int      `json:"section_version,omitempty"` // of an indexed profile
	Fields  []string `json:"fields"`                    // that all contexts have
	// Contexts counts an allocation context once, even if several functions have a record of it.
	Contexts    int    `json:"contexts"`
	Functions   int    `json:"functions"` // that have records
	CallSites   int    `json:"call_sites"`
	Frames      int    `json:"frames"` // distinct
	Bytes       uint64 `json:"bytes"`  // allocated; saturating
	Allocations uint64 `json:"allocations"`
	Accesses    uint64 `json:"accesses"`

	// Temperatures are cold, not cold and hot, in this order. Contexts are classified with
	// -memprof-use-hot-hints: clang 17 to 19 always have hot contexts.
	Temperatures []heapTemperature `json:"temperatures"`
	// Places counts calls that allocate by the temperature of their contexts; "ambiguous" if the contexts differ.
	Places     map[string]int   `json:"places"`
	Rankings   []heapRanking    `json:"rankings"`             // all rankings, whatever --by says
	DataAccess *dataAccessFacts `json:"data_access,omitzero"` // null if there are none

	by string // ranking to print, or ByAll
}

// heapTemperature sums up the contexts of a temperature.
type heapTemperature struct {
	Temperature string `json:"temperature"`
	Contexts    int    `json:"contexts"`
	Bytes       uint64 `json:"bytes"` // saturating
	Allocations uint64 `json:"allocations"`
}

// heapRanking lists the contexts with the greatest values of one kind.
type heapRanking struct {
	By       string        `json:"by"`
	Contexts []heapContext `json:"contexts"`
}

// heapContext is an allocation context. Averages are over the allocations of the context, or 0 without allocations.
type heapContext struct {
	Bytes       uint64  `json:"bytes"`
	Allocations uint64  `json:"allocations"`
	Accesses    *uint64 `json:"accesses"` // null if unknown
	AverageSize float64 `json:"average_size"`
	AverageLife float64 `json:"average_lifetime_ms"`
	Density     float64 `json:"access_density"` // average, per byte and second of life
	// Temperature is the compiler's word at its default thresholds: "cold" or "notcold".
	Temperature string      `json:"temperature"`
	Functions   int         `json:"functions"`         // with a record of the context
	Differs     bool        `json:"differs,omitempty"` // the records differ
	Stack       []heapFrame `json:"stack"`
}

// heapFrame is a frame of a context. Only the program knows line and file.
type heapFrame struct {
	// ID is the GUID of the function, in hexadecimal.
	ID        string `json:"id"`
	Function  string `json:"function"` // linkage name; "" if unknown
	Demangled string `json:"demangled"`
	File      string `json:"file,omitempty"`
	Line      int64  `json:"line,omitempty"`
	// LineOffset is the line relative to the first line of the function.
	LineOffset uint32 `json:"line_offset"`
	Column     uint32 `json:"column"`
	Inlined    bool   `json:"inlined"`
}

// dataAccessFacts counts the records of accesses to static data. Cold symbols and strings were never accessed.
type dataAccessFacts struct {
	Symbols     int    `json:"symbols"`
	Strings     int    `json:"strings"`
	Accesses    uint64 `json:"accesses"`
	ColdSymbols int    `json:"cold_symbols"`
	ColdStrings int    `json:"cold_strings"`
}

// The values of --by.
const (
	ByBytes    = "bytes"
	byCount    = "count"
	byLifetime = "lifetime"
	byDensity  = "density"
	ByAll      = "all"
)

// Rankings are the values of --by except ByAll, in the order of printing.
var Rankings = []string{ByBytes, byCount, byLifetime, byDensity}

// average returns a total divided by the number of allocations; 0 without allocations.
func average(m *memprof.MIB, total uint64) float64 {
	if m.AllocCount == 0 {
		return 0
	}
	return float64(total) / float64(m.AllocCount)
}

// averageDensity returns the average number of accesses per byte and second of lifetime. Profiles store hundredths.
func averageDensity(m *memprof.MIB) float64 { return average(m, m.TotalLifetimeAccessDensity) / 100 }

// rankValue returns the value that ranks a context: bytes, allocations, average lifetime in
// milliseconds, or average accesses per byte and second.
func rankValue(by string, m *memprof.MIB) float64 {
	switch by {
	case byCount:
		return float64(m.AllocCount)
	case byLifetime:
		return average(m, m.TotalLifetime)
	case byDensity:
		return averageDensity(m)
	}
	return float64(m.TotalSize)
}

// FactsOptions adjust what [CollectFileFacts] and [CollectFacts] collect.
type FactsOptions struct {
	Top      int               // contexts to list in each ranking
	Choose   *regexp.Regexp    // lists only contexts with a matching function on the stack; nil lists all
	Binaries *memprof.Binaries // nil if no programs are given
	By       string            // ranking to print; JSON has all
}

// CollectFileFacts returns the facts of a heap profile up to its end or the first error, which it also returns.
func CollectFileFacts(name string, data []byte, format formats.Format, opt FactsOptions) (*fileFacts, error) {
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), BuildIDs: []string{}, Problems: family.NewProblems(),
	}
	var err error
	if format == formats.MemProfYAML {
		var p *memprof.Profile
		if p, err = memprof.ReadYAML(name, data); err == nil {
			if err = opt.NameFunctions(p); err == nil {
				f.Heap = CollectFacts(p, opt)
			}
		}
	} else {
		err = f.collectRaw(name, data, opt)
	}
	return f, f.End(err)
}

// NameFunctions names the functions of a profile, which identifies functions by a hash.
func (o *FactsOptions) NameFunctions(p *memprof.Profile) error {
	if o.Binaries == nil {
		return nil
	}
	return o.Binaries.NameFunctions(p)
}

// collectRaw collects the facts of a raw profile; without its program, only the facts that do not depend on addresses.
func (f *fileFacts) collectRaw(name string, data []byte, opt FactsOptions) error {
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{})
	if err != nil {
		return err
	}
	f.Version, f.Dumps, f.RecordedContexts = raw.Version, raw.NumDumps, raw.NumContexts
	f.WrittenBy, _ = irpgo.RawMemProfInfo(raw.Version).Releases()
	for _, id := range raw.BuildIDs {
		f.BuildIDs = append(f.BuildIDs, hex.EncodeToString(id))
	}
	if opt.Binaries == nil {
		wanted := "the program"
		if len(f.BuildIDs) > 0 && f.BuildIDs[0] != "" {
			wanted += " with build id " + f.BuildIDs[0]
		}
		f.WarnText(profile.Unreadable, "functions and lines are unknown: --program must name "+wanted)
		f.Heap = heapOfAddresses(raw)
		return nil
	}
	p, info, err := raw.Symbolize(opt.Binaries, memprof.SymbolizeOptions{KeepNames: true, Warn: f.Warn})
	if err != nil {
		f.Heap = heapOfAddresses(raw)
		return err
	}
	f.Coverage = &heapCoverage{
		DroppedContexts: info.Dropped, Addresses: info.PCs, OutsideAddresses: info.Outside, UnknownAddresses: info.Unknown,
		Programs: heapPrograms(info.Programs), Missing: heapPrograms(info.Missing),
		Bytes: info.Bytes, DroppedBytes: info.DroppedBytes, Losses: make([]heapLoss, len(info.Losses)),
	}
	for i, l := range info.Losses {
		f.Coverage.Losses[i] = heapLoss{
			l.File, hex.EncodeToString(l.BuildID), l.Cause, l.PCs, append([]string{}, l.Functions...),
			heapShare(l.Places), heapShare(l.Callers), l.Cure,
		}
	}
	f.Heap = CollectFacts(p, opt)
	return nil
}

func heapPrograms(uses []memprof.ProgramUse) []heapProgram {
	list := make([]heapProgram, len(uses))
	for i, u := range uses {
		list[i] = heapProgram{u.File, hex.EncodeToString(u.BuildID), u.PCs}
	}
	return list
}

func newHeapFacts(known memprof.Schema) *Facts {
	h := &Facts{Fields: known.Fields(), Places: make(map[string]int), Rankings: []heapRanking{}}
	for _, word := range []string{"cold", "notcold", "hot"} {
		h.Temperatures = append(h.Temperatures, heapTemperature{Temperature: word})
	}
	return h
}

// addContext counts a context. The sum of a value means nothing if Fields lacks the field.
func (h *Facts) addContext(m *memprof.MIB) {
	h.Contexts++
	h.Bytes = saturate.Add(h.Bytes, m.TotalSize)
	h.Allocations += uint64(m.AllocCount)
	h.Accesses = saturate.Add(h.Accesses, m.TotalAccessCount)
	thresholds := memprof.DefaultThresholds
	thresholds.UseHot = true
	word := thresholds.Classify(m)
	i := slices.IndexFunc(h.Temperatures, func(t heapTemperature) bool { return t.Temperature == word })
	t := &h.Temperatures[i]
	t.Contexts++
	t.Bytes = saturate.Add(t.Bytes, m.TotalSize)
	t.Allocations += uint64(m.AllocCount)
}

// heapOfAddresses returns the facts of a raw profile without its program: functions, frames, places
// and rankings are empty.
func heapOfAddresses(raw *memprof.RawProfile) *Facts {
	known := memprof.FullSchema
	h := newHeapFacts(0)
	for m := range raw.MIBs() {
		known &= m.Fields
		h.addContext(m)
	}
	h.Fields = newHeapFacts(known).Fields
	return h
}

// CollectFacts returns the facts of a heap profile. opt.Choose only restricts the rankings.
func CollectFacts(p *memprof.Profile, opt FactsOptions) *Facts {
	h := newHeapFacts(p.KnownFields())
	h.by = opt.By
	h.Functions, h.Frames = len(p.Records), len(p.Stacks.Frames)
	for i := range p.Records {
		h.CallSites += len(p.Records[i].CallSites)
	}
	var all []memprof.Context
	calls := make(map[memprof.Frame]string) // temperature of each call that allocates
	for c := range p.Contexts() {
		h.addContext(c.MIB)
		if c.Stack != 0 {
			call := topFrame(&p.Stacks, c.Stack)
			call.Inline = false // inlined or not, it is one call in the source
			word := memprof.DefaultThresholds.Classify(c.MIB)
			if have, ok := calls[call]; ok && have != word {
				word = "ambiguous"
			}
			calls[call] = word
		}
		if opt.Choose == nil || onStack(p, c.Stack, opt.Choose) {
			all = append(all, c)
		}
	}
	for _, word := range calls {
		h.Places[word]++
	}
	for _, by := range Rankings {
		h.Rankings = append(h.Rankings, rankHeap(p, all, by, opt.Top))
	}
	if d := p.DataAccess; hasDataAccess(d) {
		f := &dataAccessFacts{ColdSymbols: len(d.ColdSymbols), ColdStrings: len(d.ColdHashes)}
		for i := range d.Records {
			if d.Records[i].Symbol != "" {
				f.Symbols++
			} else {
				f.Strings++
			}
			f.Accesses = saturate.Add(f.Accesses, d.Records[i].AccessCount)
		}
		h.DataAccess = f
	}
	return h
}

func hasDataAccess(d *memprof.DataAccess) bool {
	return d != nil && len(d.Records)+len(d.ColdSymbols)+len(d.ColdHashes) > 0
}

func topFrame(s *memprof.Stacks, i memprof.StackIndex) (top memprof.Frame) {
	for top = range s.Walk(i) {
		break
	}
	return top
}

func onStack(p *memprof.Profile, stack memprof.StackIndex, choose *regexp.Regexp) bool {
	for f := range p.Stacks.Walk(stack) {
		if name, ok := p.Names[f.GUID]; ok && console.MatchesFunction(choose, name) || choose.MatchString(guidName(f.GUID)) {
			return true
		}
	}
	return false
}

func guidName(guid uint64) string { return fmt.Sprintf("0x%016x", guid) }

// rankHeap returns the n contexts with the greatest values above 0. Contexts of equal value are in
// the order of their bytes, then in the order of the profile.
func rankHeap(p *memprof.Profile, all []memprof.Context, by string, n int) heapRanking {
	r := heapRanking{By: by, Contexts: []heapContext{}}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b memprof.Context) int {
		return cmp.Or(
			cmp.Compare(rankValue(by, b.MIB), rankValue(by, a.MIB)),
			cmp.Compare(b.MIB.TotalSize, a.MIB.TotalSize),
		)
	})
	for _, c := range ranked[:min(n, len(ranked))] {
		if rankValue(by, c.MIB) == 0 {
			break
		}
		r.Contexts = append(r.Contexts, describeContext(p, c))
	}
	return r
}

// describeContext describes a context and its stack, the call that allocates first. Names, files and
// absolute lines come from the program's debug information.
func describeContext(p *memprof.Profile, c memprof.Context) heapContext {
	m := c.MIB
	out := heapContext{
		Bytes: m.TotalSize, Allocations: uint64(m.AllocCount), AverageSize: average(m, m.TotalSize),
		AverageLife: average(m, m.TotalLifetime), Density: averageDensity(m),
		Temperature: memprof.DefaultThresholds.Classify(m), Functions: c.Functions, Differs: c.Differs,
	}
	if slices.Contains(m.Fields.Fields(), "TotalAccessCount") {
		out.Accesses = &m.TotalAccessCount
	}
	for src := range p.Stacks.Walk(c.Stack) {
		f := heapFrame{
			ID: guidName(src.GUID), Function: p.Names[src.GUID], LineOffset: src.LineOffset, Column: src.Column, Inlined: src.Inline,
		}
		f.Demangled = symbols.Demangle(f.Function)
		if function, ok := p.Sources[src.GUID]; ok {
			f.File, f.Line = function.File, int64(function.Line+src.LineOffset)
		}
		out.Stack = append(out.Stack, f)
	}
	return out
}
