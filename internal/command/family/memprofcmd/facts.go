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

// fileFacts is what "profuse show" prints about a raw heap profile or one in YAML. The
// JSON names are part of the interface.
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
}

// heapProgram is a program or library, with how many distinct addresses of the profile are in it.
// File is missing for one that was not given.
type heapProgram struct {
	File      string `json:"file,omitempty"`
	BuildID   string `json:"build_id"`
	Addresses int    `json:"addresses"`
}

// Facts describes a heap profile in any kind of file.
type Facts struct {
	Version int      `json:"section_version,omitempty"` // of an indexed profile
	Fields  []string `json:"fields"`                    // that all contexts have
	// Contexts counts allocation contexts once, however many functions have records of them.
	Contexts    int    `json:"contexts"`
	Functions   int    `json:"functions"` // that have records
	CallSites   int    `json:"call_sites"`
	Frames      int    `json:"frames"` // distinct
	Bytes       uint64 `json:"bytes"`  // allocated; saturating
	Allocations uint64 `json:"allocations"`
	Accesses    uint64 `json:"accesses"`

	// Temperatures are cold, not cold and hot, in this order, also those without contexts;
	// classified with -memprof-use-hot-hints, because clang 17 to 19 always tell hot contexts
	// apart.
	Temperatures []heapTemperature `json:"temperatures"`
	// Places counts calls that allocate by their temperature, "ambiguous" if
	// that of their contexts differs.
	Places map[string]int `json:"places"`
	// Rankings are all of them whatever --by says, which chooses only what is printed.
	Rankings   []heapRanking    `json:"rankings"`
	DataAccess *dataAccessFacts `json:"data_access,omitzero"` // null if there are none

	by string // ranking to print, or ByAll
}

// heapTemperature counts the contexts of a temperature. Bytes and Allocations are those of the
// contexts, the first saturating.
type heapTemperature struct {
	Temperature string `json:"temperature"`
	Contexts    int    `json:"contexts"`
	Bytes       uint64 `json:"bytes"`
	Allocations uint64 `json:"allocations"`
}

// heapRanking lists the contexts with the most of one value.
type heapRanking struct {
	By       string        `json:"by"`
	Contexts []heapContext `json:"contexts"`
}

// heapContext is an allocation context. The averages are over the allocations of the context; all
// are 0 if it has none.
type heapContext struct {
	Bytes       uint64  `json:"bytes"`
	Allocations uint64  `json:"allocations"`
	Accesses    *uint64 `json:"accesses"` // null if unknown
	AverageSize float64 `json:"average_size"`
	AverageLife float64 `json:"average_lifetime_ms"`
	Density     float64 `json:"access_density"` // average, per byte and second of life
	// Temperature is the compiler's word at its default thresholds, which know no hot contexts:
	// "cold" or "notcold".
	Temperature string      `json:"temperature"`
	Functions   int         `json:"functions"`         // with records of it
	Differs     bool        `json:"differs,omitempty"` // between them
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
	// LineOffset counts lines from the first one of the function, as the profile has it.
	LineOffset uint32 `json:"line_offset"`
	Column     uint32 `json:"column"`
	Inlined    bool   `json:"inlined"`
}

// dataAccessFacts counts the records of accesses to static data. Strings are known by a hash alone;
// the cold ones are those that were never accessed.
type dataAccessFacts struct {
	Symbols     int    `json:"symbols"`
	Strings     int    `json:"strings"`
	Accesses    uint64 `json:"accesses"`
	ColdSymbols int    `json:"cold_symbols"`
	ColdStrings int    `json:"cold_strings"`
}

// The rankings of contexts, and the option value for all of them.
const (
	ByBytes    = "bytes"
	byCount    = "count"
	byLifetime = "lifetime"
	byDensity  = "density"
	ByAll      = "all"
)

// Rankings are the values of option --by, but for ByAll, in the order in
// which they are printed.
var Rankings = []string{ByBytes, byCount, byLifetime, byDensity}

// average returns the share of a total that one allocation of the context has, 0
// without allocations.
func average(m *memprof.MIB, total uint64) float64 {
	if m.AllocCount == 0 {
		return 0
	}
	return float64(total) / float64(m.AllocCount)
}

// averageDensity returns the average number of accesses per byte and second of lifetime, which
// [memprof.Thresholds] apply to. Profiles store hundredths.
func averageDensity(m *memprof.MIB) float64 { return average(m, m.TotalLifetimeAccessDensity) / 100 }

// rankValue returns the value that ranks a context: bytes, allocations, milliseconds or accesses
// per byte and second. The last two are averages over the allocations, so that rare ones are not
// hidden by frequent ones.
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
	Top      int               // contexts to list of each ranking
	Choose   *regexp.Regexp    // functions of which one must be on the stack; nil for all
	Binaries *memprof.Binaries // nil if no programs are given
	By       string            // ranking to print; JSON has all
}

// CollectFileFacts reads a heap profile up to its end or the first error, which it
// returns and records in the facts.
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
		err = f.raw(name, data, opt)
	}
	return f, f.End(err)
}

// NameFunctions names the functions of a profile that identifies them by hash.
func (o *FactsOptions) NameFunctions(p *memprof.Profile) error {
	if o.Binaries == nil {
		return nil
	}
	return o.Binaries.NameFunctions(p)
}

// raw collects the facts of a raw profile; without its program, only those that do not
// depend on addresses.
func (f *fileFacts) raw(name string, data []byte, opt FactsOptions) error {
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
	p, about, err := raw.Symbolize(opt.Binaries, memprof.SymbolizeOptions{
		KeepNames: true, Warn: f.Warn,
	})
	if err != nil {
		f.Heap = heapOfAddresses(raw)
		return err
	}
	f.Coverage = &heapCoverage{
		DroppedContexts: about.Dropped, Addresses: about.PCs, OutsideAddresses: about.Outside, UnknownAddresses: about.Unknown,
		Programs: heapPrograms(about.Programs), Missing: heapPrograms(about.Missing),
	}
	f.Heap = CollectFacts(p, opt)
	return nil
}

// heapPrograms converts the programs of a symbolized profile, in their order.
func heapPrograms(uses []memprof.ProgramUse) []heapProgram {
	list := make([]heapProgram, len(uses))
	for i, u := range uses {
		list[i] = heapProgram{u.File, hex.EncodeToString(u.BuildID), u.PCs}
	}
	return list
}

// newHeapFacts returns empty facts that name the known fields and have all temperatures.
func newHeapFacts(known memprof.Schema) *Facts {
	h := &Facts{Fields: known.Fields(), Places: make(map[string]int), Rankings: []heapRanking{}}
	for _, word := range []string{"cold", "notcold", "hot"} {
		h.Temperatures = append(h.Temperatures, heapTemperature{Temperature: word})
	}
	return h
}

// add counts a context, under the temperature that it has with hot hints. The sums of values are
// meaningless where a profile does not know a field, which Fields tells.
func (h *Facts) add(m *memprof.MIB) {
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

// heapOfAddresses sums up a raw profile without its program: functions, frames, places and rankings
// stay empty. Fields are those that every context has.
func heapOfAddresses(raw *memprof.RawProfile) *Facts {
	known := memprof.FullSchema
	h := newHeapFacts(0)
	for c := range raw.Contexts() {
		known &= c.MIB.Fields
		h.add(&c.MIB)
	}
	h.Fields = newHeapFacts(known).Fields
	return h
}

// CollectFacts gathers the facts of a heap profile. opt.Choose restricts the rankings alone; the
// sums are of all contexts.
func CollectFacts(p *memprof.Profile, opt FactsOptions) *Facts {
	h := newHeapFacts(p.KnownFields())
	h.by = opt.By
	h.Functions, h.Frames = len(p.Records), len(p.Stacks.Frames)
	for i := range p.Records {
		h.CallSites += len(p.Records[i].CallSites)
	}
	var all []memprof.Context
	places := make(map[memprof.Frame]string)
	for c := range p.Contexts() {
		h.add(c.MIB)
		if c.Stack != 0 {
			// One call in the source is one place, whether or not the compiler inlined it.
			place := topFrame(&p.Stacks, c.Stack)
			place.Inline = false
			word := memprof.DefaultThresholds.Classify(c.MIB)
			if have, ok := places[place]; ok && have != word {
				word = "ambiguous"
			}
			places[place] = word
		}
		if opt.Choose == nil || onStack(p, c.Stack, opt.Choose) {
			all = append(all, c)
		}
	}
	for _, word := range places {
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

// hasDataAccess reports whether a profile of accesses to static data has data.
func hasDataAccess(d *memprof.DataAccess) bool {
	return d != nil && len(d.Records)+len(d.ColdSymbols)+len(d.ColdHashes) > 0
}

// topFrame returns the innermost frame of a call stack that is not empty.
func topFrame(s *memprof.Stacks, i memprof.StackIndex) (top memprof.Frame) {
	for top = range s.Walk(i) {
		break
	}
	return top
}

// onStack reports whether the name of a function on the stack matches.
func onStack(p *memprof.Profile, stack memprof.StackIndex, choose *regexp.Regexp) bool {
	for f := range p.Stacks.Walk(stack) {
		if name, ok := p.Names[f.GUID]; ok && console.MatchesFunction(choose, name) || choose.MatchString(guidName(f.GUID)) {
			return true
		}
	}
	return false
}

// guidName returns the name to print for a function without one.
func guidName(guid uint64) string { return fmt.Sprintf("0x%016x", guid) }

// rankHeap returns the n contexts with the greatest values, none of them 0. Equal ones come by
// their bytes, then in the order of the profile.
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

// describeContext describes a context with its stack, the call that allocates first. Names, files
// and absolute lines come from the program's debug information: indexed profiles and YAML have
// none.
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
		if at, ok := p.Sources[src.GUID]; ok {
			f.File, f.Line = at.File, int64(at.Line+src.LineOffset)
		}
		out.Stack = append(out.Stack, f)
	}
	return out
}
