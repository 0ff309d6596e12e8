package irpgocmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

type factsOptions struct {
	top    int            // hottest functions to list
	choose *regexp.Regexp // records to list in full; nil lists none
	heap   memprofcmd.FactsOptions
}

// valueKindNames are the kinds in the JSON, by index in Record.Values.
var valueKindNames = [irpgo.NumValueKinds]string{"indirect_call_target", "memop_size", "vtable_target"}

// newFacts returns facts without any records, whose lists are empty and not null in the JSON.
func newFacts(name string, size int) *counterFacts {
	f := &counterFacts{
		Head: family.NewHead(name, size, 0), Problems: family.NewProblems(),
		Variant: []string{}, BinaryIDs: []string{}, Hottest: []functionFacts{},
	}
	for _, kind := range valueKindNames {
		f.Values = append(f.Values, valueFacts{Kind: kind})
	}
	return f
}

// Unreadable returns the facts of a file that could not be read.
func Unreadable(name string, size int, err error) *counterFacts {
	f := newFacts(name, size)
	f.End(err)
	return f
}

// collectFacts returns the facts of a profile up to its end or the first error, which it also returns.
func collectFacts(name string, data []byte, opt factsOptions) (*counterFacts, error) {
	c := &collector{opt: opt, facts: newFacts(name, len(data))}
	if opt.choose != nil {
		c.facts.selecting, c.facts.Selected = true, []recordFacts{}
	}
	r, err := c.open(name, data)
	if r != nil {
		err = cmp.Or(err, c.read(r))
	}
	return c.facts, c.facts.End(err)
}

// collector gathers the facts of one profile.
type collector struct {
	facts     *counterFacts
	opt       factsOptions
	functions map[string]*functionFacts // by name; nil if the records of a name are adjacent
	current   functionFacts             // the last name, if the records of a name are adjacent
	sum, cs   summary.Builder           // of records without and with bit 60 in the hash

	// ir says that bit 60 marks context-sensitive records. Front-end hashes use all 64 bits.
	ir bool
}

// open opens the profile. With an error it returns a lenient reader, or nil if even that cannot read the header.
func (c *collector) open(name string, data []byte) (*irpgo.Reader, error) {
	if f, ok := irpgo.Detect(data); ok {
		c.facts.Family, c.facts.Format = "irpgo", string(f)
	}
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Warn: c.facts.Warn})
	if err != nil {
		r, _ = irpgo.NewReader(name, data, irpgo.ReaderOptions{Lenient: true})
	}
	return r, err
}

// read fills the facts and returns the first error. Damage ends the records; the facts of the
// records before it, of the header and of the heap profile are complete.
func (c *collector) read(r *irpgo.Reader) error {
	var failed error
	c.ir = r.Info.Variant.Has(irpgo.IRLevel)
	// Only in indexed profiles are the records of a name adjacent.
	if r.Info.Format != irpgo.FormatIndexed {
		c.functions = make(map[string]*functionFacts)
	}
	for rec, err := range r.ReusedRecords() {
		if err != nil {
			failed = err
			break
		}
		c.addRecord(rec)
	}
	c.header(r)
	failed = cmp.Or(failed, c.heap(r))
	c.summaries(r, failed == nil)
	c.rank()
	if len(c.facts.Selected) > 0 {
		c.nameValues(r.Symbols())
	}
	return failed
}

// header must follow the records: only after the last one is the number of profiles in a raw file known.
func (c *collector) header(r *irpgo.Reader) {
	f, in := c.facts, r.Info
	f.Version, f.VersionWord = int(in.Version), in.VersionWord
	f.WrittenBy, f.ReadableBy = in.Releases()
	f.variant = in.Variant
	if in.Variant != 0 {
		f.Variant = strings.Split(in.Variant.String(), "+")
	}
	f.PointerSize, f.Profiles = in.PointerSize, in.Profiles
	switch {
	case in.BigEndian:
		f.ByteOrder = "big"
	case in.Format != irpgo.FormatText:
		f.ByteOrder = "little"
	}
	f.BinaryIDs = hexIDs(in.BinaryIDs)
	f.VTableNames = len(in.VTableNames)
	traces, stream := r.Traces()
	f.Traces = traceFacts{Count: len(traces), StreamSize: stream}
	for _, t := range traces {
		f.Traces.Longest = max(f.Traces.Longest, len(t.NameRefs))
	}
}

func (c *collector) heap(r *irpgo.Reader) error {
	section := r.MemProf()
	if section == nil {
		return nil
	}
	p, err := section.Profile()
	if err == nil {
		err = c.opt.heap.NameFunctions(p)
	}
	if err != nil {
		return flaw.InFile(err, r.Name)
	}
	c.facts.MemProf = memprofcmd.CollectFacts(p, c.opt.heap)
	c.facts.MemProf.Version = int(section.Version)
	return nil
}

// addRecord counts one record.
func (c *collector) addRecord(rec *irpgo.Record) {
	f := c.facts
	f.Records++
	f.Counters += uint64(len(rec.Counts))
	if rec.IsCS() {
		c.cs.Add(rec.Counts)
	} else {
		c.sum.Add(rec.Counts)
	}
	if rec.IsCS() && c.ir {
		f.CSRecords++
	}
	fn := c.function(rec.Name)
	fn.Records++
	fn.Counters += len(rec.Counts)
	switch rec.Pseudo() {
	case irpgo.PseudoHot:
		f.PseudoHotRecords++
		fn.ran = true // Pseudo counts are marks, and in no total.
	case irpgo.PseudoWarm:
		f.PseudoWarmRecords++
		fn.ran = true
	default:
		total, most, zero := sumCounts(rec.Counts)
		f.CountersZero += zero
		f.TotalCount = saturate.Add(f.TotalCount, total)
		fn.TotalCount = saturate.Add(fn.TotalCount, total)
		fn.MaxCount = max(fn.MaxCount, most)
		fn.ran = fn.ran || most > 0
	}
	if rec.Bitmap != nil {
		f.Bitmaps.Records++
		f.Bitmaps.Bytes += len(rec.Bitmap)
		for _, b := range rec.Bitmap {
			f.Bitmaps.BitsSet += bits.OnesCount8(b)
			fn.ran = fn.ran || b != 0
		}
	}
	if rec.Uniformity != nil {
		if f.Uniform == nil {
			f.Uniform = new(uniformFacts)
		}
		f.Uniform.Records++
		f.Uniform.Counters += len(rec.Counts)
		for i := range rec.Counts {
			f.Uniform.BitsSet += int(rec.Uniformity[i/8] >> (i % 8) & 1)
		}
	}
	for k := range rec.Values {
		addSites(&f.Values[k], rec.Values[k], k != irpgo.MemOPSize)
	}
	if c.opt.choose != nil {
		c.selectRecord(rec)
	}
}

func addSites(v *valueFacts, sites [][]irpgo.ValueData, targets bool) {
	v.Sites += len(sites)
	for _, site := range sites {
		if len(site) > 0 {
			v.SitesWithValues++
		}
		v.Values += len(site)
		for _, d := range site {
			v.Count = saturate.Add(v.Count, d.Count)
			if targets && d.Value == 0 {
				v.UnknownValues++
				v.UnknownCount = saturate.Add(v.UnknownCount, d.Count)
			}
		}
	}
}

// selectRecord keeps a copy of the record if --function selects it. nameValues names its targets.
func (c *collector) selectRecord(rec *irpgo.Record) {
	symbol := nameSymbol(rec.Name)
	if !c.opt.choose.MatchString(rec.Name) && !c.opt.choose.MatchString(symbol.Demangled) {
		return
	}
	r := recordFacts{
		Symbol: symbol, Hash: rec.Hash, ContextSens: rec.IsCS() && c.ir,
		Counts: append([]uint64{}, rec.Counts...),
		Bitmap: hex.EncodeToString(rec.Bitmap), Uniformity: hex.EncodeToString(rec.Uniformity),
	}
	switch rec.Pseudo() {
	case irpgo.PseudoHot:
		r.Pseudo = "hot"
	case irpgo.PseudoWarm:
		r.Pseudo = "warm"
	default:
		r.TotalCount, r.MaxCount, _ = sumCounts(rec.Counts)
	}
	for k := range rec.Values {
		*r.sites(k) = copySites(rec.Values[k], k != irpgo.MemOPSize)
	}
	c.facts.Selected = append(c.facts.Selected, r)
}

// copySites copies value sites, the most frequent value of each first. named allocates symbols,
// for values that are targets.
func copySites(sites [][]irpgo.ValueData, named bool) []siteFacts {
	out := make([]siteFacts, 0, len(sites))
	for _, site := range sites {
		s := siteFacts{Values: make([]siteValueFact, 0, len(site))}
		for _, d := range site {
			v := siteValueFact{Value: d.Value, Count: d.Count}
			if named {
				v.Symbol = &console.Symbol{}
			}
			s.Values = append(s.Values, v)
			s.Count = saturate.Add(s.Count, d.Count)
		}
		slices.SortStableFunc(s.Values, func(a, b siteValueFact) int { return cmp.Compare(b.Count, a.Count) })
		out = append(out, s)
	}
	return out
}

// summaries takes the summaries from the file or, without stored summaries, computes them. whole
// says that all records were read; then it compares the stored summaries with them.
//
// A front-end hash may have bit 60 by chance. LLVM 9 and later take such a record for
// context-sensitive, so it is missing in the file's only summary.
func (c *collector) summaries(r *irpgo.Reader, whole bool) {
	f := c.facts
	stored := r.Info.Summary
	if !c.ir {
		plain, lost := c.sum.Summary(nil), c.cs.Summary(nil)
		switch {
		case stored == nil, stored.NumCounts == plain.NumCounts+lost.NumCounts: // before LLVM 9
			c.sum.Merge(&c.cs)
		case lost.NumFunctions > 0:
			f.WarnText(profile.ErrMismatch, fmt.Sprintf("the summary in the file lacks %s: "+
				"LLVM takes their hashes for context-sensitive ones", cli.Quantity(lost.NumFunctions, "record", "records")))
		}
	}
	f.Summary = c.summary(stored, &c.sum, whole)
	if r.Info.Variant.Has(irpgo.ContextSens) {
		f.CSSummary = c.summary(r.Info.CSSummary, &c.cs, whole)
	}
}

// summary describes a stored summary or, if it is nil, the summary of the records in b. It warns of a stored summary
// that does not match the records of a whole profile: compilers use it to decide what is hot.
func (c *collector) summary(stored *irpgo.Summary, b *summary.Builder, whole bool) *summaryFacts {
	own := irpgo.Summary(b.Summary(profile.DefaultCutoffs()))
	s := stored
	if s == nil {
		s = &own
	} else if whole && (s.NumCounts != own.NumCounts || s.TotalCount != own.TotalCount || s.MaxCount != own.MaxCount) {
		c.facts.WarnText(profile.ErrCorrupt, "the summary in the file does not match its records")
	}
	out := &summaryFacts{
		Stored: stored != nil, Functions: s.NumFunctions, Counters: s.NumCounts,
		MaxFunctionCount: s.MaxFunctionCount, MaxInternalCount: s.MaxInternalCount, MaxCount: s.MaxCount,
		TotalCount: s.TotalCount, Cutoffs: console.NewCutoffs(s.Cutoffs),
	}
	out.HotThreshold, _ = s.Cutoffs.Hot()
	out.ColdThreshold, _ = s.Cutoffs.Cold()
	return out
}

// function returns the facts of a name. If the records of a name are adjacent, it finishes the
// previous name, to bound memory.
func (c *collector) function(name string) *functionFacts {
	if c.functions == nil {
		if c.current.Name != name || c.current.Records == 0 {
			c.finish(&c.current)
			c.current = functionFacts{Symbol: console.Symbol{Name: name}}
		}
		return &c.current
	}
	fn := c.functions[name]
	if fn == nil {
		fn = &functionFacts{Symbol: console.Symbol{Name: name}}
		c.functions[name] = fn
	}
	return fn
}

// finish counts a function and keeps its facts if it is among the hottest.
func (c *collector) finish(fn *functionFacts) {
	if fn.Records == 0 {
		return
	}
	f := c.facts
	f.Functions++
	if !fn.ran {
		f.FunctionsNotRun++
	}
	if fn.TotalCount > 0 {
		f.Hottest = console.InsertBounded(f.Hottest, *fn, max(c.opt.top, 0), func(a, b functionFacts) int {
			return cmp.Or(cmp.Compare(b.TotalCount, a.TotalCount), cmp.Compare(a.Name, b.Name))
		})
	}
}

// rank finishes the functions, and adds the symbols and shares of the hottest.
func (c *collector) rank() {
	f := c.facts
	c.finish(&c.current)
	for _, fn := range c.functions {
		c.finish(fn)
	}
	for i := range f.Hottest {
		fn := &f.Hottest[i]
		fn.Symbol = nameSymbol(fn.Name)
		fn.Share = float64(fn.TotalCount) / float64(f.TotalCount)
	}
}

// nameValues names the targets of the selected records. A text profile may name a target after the record.
func (c *collector) nameValues(known *irpgo.Symtab) {
	for i := range c.facts.Selected {
		r := &c.facts.Selected[i]
		for _, sites := range [][]siteFacts{r.IndirectTargets, r.VTableTargets} {
			for _, site := range sites {
				for _, v := range site.Values {
					*v.Symbol = nameSymbol(known.Name(v.Value))
				}
			}
		}
	}
}

// nameSymbol splits a profile's name, "FILE;FUNCTION" for local functions, and demangles the function.
func nameSymbol(name string) console.Symbol {
	file, symbol := irpgo.SplitName(name)
	return console.Symbol{Name: name, Demangled: symbols.Demangle(symbol), File: file}
}

// sumCounts returns the saturating total of a record, its greatest counter and the number of zeros.
func sumCounts(counts []uint64) (total, most, zero uint64) {
	for _, n := range counts {
		total = saturate.Add(total, n)
		most = max(most, n)
		if n == 0 {
			zero++
		}
	}
	return total, most, zero
}
