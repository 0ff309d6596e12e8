package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"math/bits"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

// facts is what "profuse show" tells of one profile: gathered here, printed as
// tables or as JSON elsewhere. The JSON names are part of the interface.
// Numbers are taken from the records that could be read, also when Error says
// that more could not.
type facts struct {
	File        string   `json:"file"`
	Size        int64    `json:"size"`       // bytes, decompressed
	Format      string   `json:"format"`     // "raw", "indexed", "text"; "" if none of them
	Version     uint32   `json:"version"`    // of the format; 0 for text
	WrittenBy   string   `json:"written_by"` // LLVM releases that can have; may be ""
	VersionWord uint64   `json:"version_word"`
	Variant     []string `json:"variant"` // short names of irpgo.Variant
	PointerSize int      `json:"pointer_size"`
	ByteOrder   string   `json:"byte_order"` // "little", "big", or "" for text
	Profiles    int      `json:"profiles"`   // concatenated in the file
	BinaryIDs   []string `json:"binary_ids"` // hexadecimal

	Functions         int    `json:"functions"` // distinct names
	FunctionsNotRun   int    `json:"functions_not_run"`
	Records           int    `json:"records"`
	CSRecords         int    `json:"cs_records"`
	PseudoHotRecords  int    `json:"pseudo_hot_records"`
	PseudoWarmRecords int    `json:"pseudo_warm_records"`
	Counters          uint64 `json:"counters"`
	CountersZero      uint64 `json:"counters_zero"`
	TotalCount        uint64 `json:"total_count"` // saturating

	Summary   *summaryFacts `json:"summary"`
	CSSummary *summaryFacts `json:"cs_summary"` // null unless the variant has cs

	Values      []valueFacts `json:"values"` // one per kind
	Bitmaps     bitmapFacts  `json:"bitmaps"`
	Traces      traceFacts   `json:"traces"`
	VTableNames int          `json:"vtable_names"`

	Hottest   []functionFacts `json:"hottest"`
	Selected  []recordFacts   `json:"function_records,omitzero"` // with --functions only
	Warnings  []string        `json:"warnings"`
	Error     *errorFacts     `json:"error"`
	variant   irpgo.Variant
	selecting bool
}

// summaryFacts is a profile summary, and whether it stands in the file or was
// computed from the records.
type summaryFacts struct {
	Stored           bool          `json:"stored"`
	Functions        uint64        `json:"functions"` // records, in fact
	Counters         uint64        `json:"counters"`
	MaxFunctionCount uint64        `json:"max_function_count"`
	MaxInternalCount uint64        `json:"max_internal_count"`
	MaxCount         uint64        `json:"max_count"`
	TotalCount       uint64        `json:"total_count"` // modulo 2^64
	HotThreshold     uint64        `json:"hot_threshold"`
	ColdThreshold    uint64        `json:"cold_threshold"`
	Cutoffs          []cutoffFacts `json:"cutoffs"`
}

type cutoffFacts struct {
	Cutoff   uint64 `json:"cutoff"` // share of the total count, in millionths
	MinCount uint64 `json:"min_count"`
	Counters uint64 `json:"counters"`
}

// valueFacts sums up the value sites of one kind.
type valueFacts struct {
	Kind            string `json:"kind"`
	Sites           int    `json:"sites"`
	SitesWithValues int    `json:"sites_with_values"`
	Values          int    `json:"values"`
	Count           uint64 `json:"count"` // saturating
}

type bitmapFacts struct {
	Records int `json:"records"` // that have a bitmap
	Bytes   int `json:"bytes"`
	BitsSet int `json:"bits_set"`
}

type traceFacts struct {
	Count      int    `json:"count"`
	StreamSize uint64 `json:"stream_size"`
	Longest    int    `json:"longest"` // functions
}

// symbolFacts names a function or another symbol in three ways.
type symbolFacts struct {
	Name      string `json:"name"`      // as in the profile; "" if unknown
	Demangled string `json:"demangled"` // without the file
	File      string `json:"file"`      // of a function of local linkage, else ""
}

// functionFacts sums up all records of one name.
type functionFacts struct {
	symbolFacts
	TotalCount uint64  `json:"total_count"` // saturating
	Share      float64 `json:"share"`       // of the profile's total count
	MaxCount   uint64  `json:"max_count"`
	Counters   int     `json:"counters"`
	Records    int     `json:"records"`

	ran bool // by a counter, a bitmap or a sample profile's word for it
}

// recordFacts is one record in full.
type recordFacts struct {
	symbolFacts
	Hash            uint64      `json:"hash"`
	ContextSens     bool        `json:"cs"`
	Pseudo          string      `json:"pseudo"` // "hot", "warm" or ""
	TotalCount      uint64      `json:"total_count"`
	MaxCount        uint64      `json:"max_count"`
	Counts          []uint64    `json:"counts"`
	Bitmap          string      `json:"bitmap"` // hexadecimal
	IndirectTargets []siteFacts `json:"indirect_call_targets"`
	MemOPSizes      []siteFacts `json:"memop_sizes"`
	VTableTargets   []siteFacts `json:"vtable_targets"`
}

func (r *recordFacts) sites(k irpgo.ValueKind) *[]siteFacts {
	switch k {
	case irpgo.MemOPSize:
		return &r.MemOPSizes
	case irpgo.VTableTarget:
		return &r.VTableTargets
	}
	return &r.IndirectTargets
}

// siteFacts is one value site; sites without values are there too.
type siteFacts struct {
	Count  uint64          `json:"count"`
	Values []siteValueFact `json:"values"`
}

type siteValueFact struct {
	Value  uint64       `json:"value"`
	Count  uint64       `json:"count"`
	Symbol *symbolFacts `json:"symbol"` // null for sizes
}

// errorFacts says what stopped the reading.
type errorFacts struct {
	Class   string `json:"class"`   // a word of errorClasses, or "io"
	Message string `json:"message"` // without the file
	Section string `json:"section"`
	Offset  int64  `json:"offset"` // -1 if none
	Line    int    `json:"line"`   // 0 if none
	Record  int    `json:"record"` // -1 if none
}

// factsOptions adjust collectFacts.
type factsOptions struct {
	top    int            // hottest functions to list
	choose *regexp.Regexp // records to list in full; nil lists none
}

var valueKindNames = [irpgo.NumValueKinds]string{"indirect_call_target", "memop_size", "vtable_target"}

func newFacts(name string, size int) *facts {
	f := &facts{
		File: name, Size: int64(size),
		Variant: []string{}, BinaryIDs: []string{}, Hottest: []functionFacts{}, Warnings: []string{},
	}
	for _, kind := range valueKindNames {
		f.Values = append(f.Values, valueFacts{Kind: kind})
	}
	return f
}

// unreadable is all there is to say of a file whose bytes could not be had.
func unreadable(name string, err error) *facts {
	f := newFacts(name, 0)
	f.Error = describeError(err)
	return f
}

// collectFacts reads a profile as far as it can be read. The error is what
// stopped it; the facts hold it too.
func collectFacts(name string, data []byte, opt factsOptions) (*facts, error) {
	c := &collector{opt: opt, functions: make(map[string]*functionFacts), facts: newFacts(name, len(data))}
	if c.facts.selecting = opt.choose != nil; c.facts.selecting {
		c.facts.Selected = []recordFacts{}
	}
	r, err := c.open(name, data)
	if r != nil {
		if readErr := c.read(r); err == nil {
			err = readErr
		}
	}
	if err != nil {
		c.facts.Error = describeError(err)
	}
	return c.facts, err
}

// collector gathers the facts of one profile.
type collector struct {
	facts     *facts
	opt       factsOptions
	functions map[string]*functionFacts
	sum, cs   irpgo.SummaryBuilder
}

// open begins to read. When the profile is refused for what its header says,
// the reader is returned beside the error if the header at least makes sense.
func (c *collector) open(name string, data []byte) (*irpgo.Reader, error) {
	if f, ok := irpgo.Detect(data); ok {
		c.facts.Format = f.String()
	}
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{
		Warn: func(w irpgo.Warning) { c.facts.Warnings = append(c.facts.Warnings, warningText(w)) },
	})
	if err != nil {
		lenient, lenientErr := irpgo.NewReader(name, data, irpgo.ReaderOptions{Lenient: true})
		if lenientErr != nil {
			return nil, err
		}
		return lenient, err
	}
	return r, nil
}

func (c *collector) read(r *irpgo.Reader) error {
	var failed error
	for rec, err := range r.Records() {
		if err != nil {
			failed = err
			break
		}
		c.record(rec)
	}
	c.header(r)
	c.summaries(r, failed == nil)
	c.rank()
	c.nameValues(r.Symbols())
	return failed
}

// header is taken after the records: only then is known how many profiles a
// raw file holds.
func (c *collector) header(r *irpgo.Reader) {
	f, in := c.facts, r.Info()
	f.Version, f.VersionWord, f.WrittenBy = in.Version, in.VersionWord, in.WrittenBy()
	f.variant = in.Variant
	f.Variant = append(f.Variant, in.Variant.Names()...)
	f.PointerSize, f.Profiles = in.PointerSize, in.Profiles
	switch {
	case in.BigEndian:
		f.ByteOrder = "big"
	case in.Format != irpgo.FormatText:
		f.ByteOrder = "little"
	}
	for _, id := range in.BinaryIDs {
		f.BinaryIDs = append(f.BinaryIDs, hex.EncodeToString(id))
	}
	f.VTableNames = len(r.VTableNames())
	traces, stream := r.Traces()
	f.Traces = traceFacts{Count: len(traces), StreamSize: stream}
	for _, t := range traces {
		f.Traces.Longest = max(f.Traces.Longest, len(t.NameRefs))
	}
}

func (c *collector) record(rec *irpgo.Record) {
	f := c.facts
	f.Records++
	f.Counters += uint64(len(rec.Counts))
	if rec.IsCS() {
		f.CSRecords++
		c.cs.Add(rec.Counts)
	} else {
		c.sum.Add(rec.Counts)
	}
	fn := c.functions[rec.Name]
	if fn == nil {
		fn = &functionFacts{}
		fn.Name = rec.Name
		c.functions[rec.Name] = fn
	}
	fn.Records++
	fn.Counters += len(rec.Counts)
	switch rec.Pseudo() {
	case irpgo.PseudoHot:
		f.PseudoHotRecords++
		fn.ran = true
	case irpgo.PseudoWarm:
		f.PseudoWarmRecords++
		fn.ran = true
	default:
		total, most, zero := sumCounts(rec.Counts)
		f.CountersZero += zero
		f.TotalCount = addSaturating(f.TotalCount, total)
		fn.TotalCount = addSaturating(fn.TotalCount, total)
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
	for k := range rec.Values {
		c.values(&f.Values[k], rec.Values[k])
	}
	if c.opt.choose != nil {
		c.choose(rec)
	}
}

func (c *collector) values(v *valueFacts, sites []irpgo.ValueSite) {
	v.Sites += len(sites)
	for _, site := range sites {
		if len(site) > 0 {
			v.SitesWithValues++
		}
		v.Values += len(site)
		for _, d := range site {
			v.Count = addSaturating(v.Count, d.Count)
		}
	}
}

func (c *collector) choose(rec *irpgo.Record) {
	symbol := nameSymbol(rec.Name)
	if !c.opt.choose.MatchString(rec.Name) && !c.opt.choose.MatchString(symbol.Demangled) {
		return
	}
	r := recordFacts{
		symbolFacts: symbol, Hash: rec.Hash, ContextSens: rec.IsCS(),
		Counts: append([]uint64{}, rec.Counts...),
		Bitmap: hex.EncodeToString(rec.Bitmap),
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
		kind := irpgo.ValueKind(k)
		*r.sites(kind) = copySites(rec.Values[k], kind != irpgo.MemOPSize)
	}
	c.facts.Selected = append(c.facts.Selected, r)
}

func copySites(sites []irpgo.ValueSite, named bool) []siteFacts {
	out := make([]siteFacts, 0, len(sites))
	for _, site := range sites {
		s := siteFacts{Values: make([]siteValueFact, 0, len(site))}
		for _, d := range site {
			v := siteValueFact{Value: d.Value, Count: d.Count}
			if named {
				v.Symbol = &symbolFacts{}
			}
			s.Values = append(s.Values, v)
			s.Count = addSaturating(s.Count, d.Count)
		}
		slices.SortStableFunc(s.Values, func(a, b siteValueFact) int { return cmp.Compare(b.Count, a.Count) })
		out = append(out, s)
	}
	return out
}

// summaries takes the summaries of the file, which the compiler goes by, or
// computes them. Whole profiles are checked against what they store.
func (c *collector) summaries(r *irpgo.Reader, whole bool) {
	f := c.facts
	f.Summary = c.summary(r.Summary(false), &c.sum, whole)
	if r.Info().Variant.Has(irpgo.ContextSens) {
		f.CSSummary = c.summary(r.Summary(true), &c.cs, whole)
	}
}

func (c *collector) summary(stored *irpgo.Summary, b *irpgo.SummaryBuilder, whole bool) *summaryFacts {
	own := b.Summary(irpgo.DefaultCutoffs)
	s := stored
	if s == nil {
		s = &own
	} else if whole && (s.NumCounts != own.NumCounts || s.TotalCount != own.TotalCount || s.MaxCount != own.MaxCount) {
		c.facts.Warnings = append(c.facts.Warnings, "the summary in the file is not that of its records")
	}
	out := &summaryFacts{
		Stored: stored != nil, Functions: s.NumFunctions, Counters: s.NumCounts,
		MaxFunctionCount: s.MaxFunctionCount, MaxInternalCount: s.MaxInternalCount, MaxCount: s.MaxCount,
		TotalCount: s.TotalCount, Cutoffs: make([]cutoffFacts, 0, len(s.Detailed)),
	}
	out.HotThreshold, _ = s.HotThreshold()
	out.ColdThreshold, _ = s.ColdThreshold()
	for _, e := range s.Detailed {
		out.Cutoffs = append(out.Cutoffs, cutoffFacts{e.Cutoff, e.MinCount, e.NumCounts})
	}
	return out
}

// rank orders the functions by total count and keeps the first ones.
func (c *collector) rank() {
	f := c.facts
	f.Functions = len(c.functions)
	all := make([]*functionFacts, 0, len(c.functions))
	for _, fn := range c.functions {
		if !fn.ran {
			f.FunctionsNotRun++
		}
		if fn.TotalCount > 0 {
			all = append(all, fn)
		}
	}
	slices.SortFunc(all, func(a, b *functionFacts) int {
		return cmp.Or(cmp.Compare(b.TotalCount, a.TotalCount), cmp.Compare(a.Name, b.Name))
	})
	for _, fn := range all[:min(max(c.opt.top, 0), len(all))] {
		fn.symbolFacts = nameSymbol(fn.Name)
		fn.Share = float64(fn.TotalCount) / float64(f.TotalCount)
		f.Hottest = append(f.Hottest, *fn)
	}
}

// nameValues names the targets of the chosen records. Text profiles know
// their names only after the last record.
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

func nameSymbol(name string) symbolFacts {
	file, symbol := irpgo.SplitName(name)
	return symbolFacts{Name: name, Demangled: symbols.Demangle(symbol), File: file}
}

func sumCounts(counts []uint64) (total, most, zero uint64) {
	for _, n := range counts {
		total = addSaturating(total, n)
		most = max(most, n)
		if n == 0 {
			zero++
		}
	}
	return total, most, zero
}

func addSaturating(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return 1<<64 - 1
	}
	return sum
}

var errorClasses = map[error]string{
	profile.ErrCorrupt:      "corrupt",
	profile.ErrTruncated:    "truncated",
	profile.ErrUnsupported:  "unsupported",
	profile.ErrMismatch:     "mismatch",
	profile.ErrUnrecognized: "unrecognized",
	profile.ErrEmpty:        "empty",
}

func describeError(err error) *errorFacts {
	e := &errorFacts{Class: "io", Message: err.Error(), Offset: -1, Record: -1}
	for class, word := range errorClasses {
		if errors.Is(err, class) {
			e.Class = word
		}
	}
	var fe *profile.FormatError
	if errors.As(err, &fe) {
		anonymous := *fe
		anonymous.File = ""
		e.Message = anonymous.Error()
		e.Section, e.Offset, e.Line, e.Record = fe.Section, fe.Offset, fe.Line, fe.Record
	}
	return e
}

// warningText prints a warning without the file it concerns.
func warningText(w irpgo.Warning) string {
	text := describeError(w.Err).Message
	if w.Function != "" {
		text = w.Function + ": " + text
	}
	return text
}
