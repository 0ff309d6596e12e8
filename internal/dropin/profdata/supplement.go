package profdata

import (
	"cmp"
	"crypto/md5"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/profile"
)

// supplementOptions are the options of --supplement-instr-with-sample.
type supplementOptions struct {
	file      string  // the sample profile; "" without the option
	zeroShare float64 // --zero-counter-threshold
	minSize   uint32  // --suppl-min-size-threshold, in counters
	cold      uint32  // --instr-prof-cold-threshold; 0 takes it from the profile
}

// uniqueSuffix begins the suffix that -funique-internal-linkage-names appends to names of static
// functions. The MD5 of the file's name follows in decimal.
const uniqueSuffix = ".__uniq."

// supplement runs the merge command with --supplement-instr-with-sample: it makes functions warm
// or hot that are cold in the instrumentation profile but not in the sample profile.
func (t *tool) supplement(list worklist) error {
	o := &t.opt
	refuse := func(message string) error { return &failure{message: message} }
	switch {
	case o.kind != instrKind:
		return refuse("-supplement-instr-with-sample can only work with -instr. ")
	case o.output == "-":
		return refuse("cannot write indexed profdata format to stdout")
	case len(list) != 1:
		return refuse("expect one input to be an instr profile")
	case list[0].weight != 1:
		return refuse("expect instr profile doesn't have weight")
	}
	samples, err := t.readSample(o.supplement.file)
	if err != nil {
		return err
	}
	s := newSupplementer(samples)
	m, err := t.loadOne(list[0], s.note)
	if err != nil {
		return err
	}
	if err := t.adjust(m.Profile(), s); err != nil {
		return err
	}
	return t.writeMerged(m)
}

// loadOne reads an instrumentation profile as merge does, but without correlation, renaming and
// temporal traces. note, unless nil, is called with the name of each record and returns the name.
func (t *tool) loadOne(in weightedFile, note func(string) string) (*irpgo.Merged, error) {
	t.rename, t.opt.traceReservoir, t.opt.maxTraceLength = note, 0, 0
	t.chooseSeed(1)
	context := t.newContext(nil)
	context.warn = t.printProblem
	var memory inputs.Reader
	defer memory.Close()
	context.load(&memory, in)
	if context.fatal != nil {
		return nil, context.fatal
	}
	if len(context.errors) > 0 {
		return nil, context.errors[0]
	}
	m := context.merger.Finish()
	t.warnUnusable(m, context.levels)
	return m, nil
}

// A suppleFunction (InstrProfileEntry) is a function of an instrumentation profile that may be adjusted.
type suppleFunction struct {
	record *irpgo.Record
	most   uint64 // greatest counter
	zeros  int    // counters that are zero
}

// A supplementer adjusts an instrumentation profile. Functions are added first, then samples.
type supplementer struct {
	functions map[string]*suppleFunction // by name, only functions with one record
	statics   map[string]string          // names of static functions in the sample profile; "" if several share one
	samples   map[string]*sampledFunction
	names     []string // of samples, in the order in which they were found

	profile *sampleprof.Profile
	unique  bool                // it has unique names of static functions
	note    func(string) string // notes the names of records; nil if their order does not matter
	noted   []string
}

// newSupplementer returns a supplementer for the samples. If they have unique names, two functions can get the same
// name; then LLVM's order of functions decides, which depends on the order of the records.
func newSupplementer(samples *sampleprof.Profile) *supplementer {
	s := &supplementer{
		functions: make(map[string]*suppleFunction), statics: make(map[string]string),
		samples: make(map[string]*sampledFunction), profile: samples,
	}
	s.unique = slices.ContainsFunc(samples.Functions, func(f *sampleprof.Function) bool { return strings.Contains(f.Label(), uniqueSuffix) })
	if s.unique {
		known := make(map[string]bool)
		s.note = func(name string) string {
			if !known[name] {
				known[name] = true
				s.noted = append(s.noted, name)
			}
			return name
		}
	}
	return s
}

// A sampledFunction holds the samples of a function of the instrumentation profile, including samples of its inlined copies.
type sampledFunction struct{ entries, most uint64 }

// A heat holds the least count of hot functions and the greatest count of cold functions.
type heat struct{ hot, cold uint64 }

// heatOf returns the thresholds of a summary. A summary without them is an error.
func heatOf(cutoffs profile.Cutoffs) (h heat, err error) {
	var hot, cold bool
	h.hot, hot = cutoffs.Hot()
	if h.cold, cold = cutoffs.Cold(); !hot || !cold {
		err = errNoCutoff
	}
	return h, err
}

// adjust (adjustInstrProfile) changes the functions of p that are cold in p but not in the
// samples. It changes only functions with a single record, at least --suppl-min-size-threshold
// counters and no counter above the cold threshold. It visits functions and samples in the order
// of LLVM's hash tables, which decides between two static functions of the same name.
func (t *tool) adjust(p *irpgo.Profile, s *supplementer) error {
	var counts summary.Builder
	single := make(map[string]*irpgo.Record)
	// The order of the records in the input if it matters, see newSupplementer.
	order := s.noted
	for _, f := range p.Functions {
		for _, r := range f.Records {
			counts.Add(r.Counts)
		}
		if len(f.Records) == 1 {
			single[f.Name] = f.Records[0]
		}
		if !s.unique {
			order = append(order, f.Name)
		}
	}
	for _, at := range llvmorder.StringMap(len(order), func(i int) string { return order[i] }, llvmorder.XXH3) {
		if r := single[order[at]]; r != nil {
			s.addFunction(order[at], r)
		}
	}
	for _, f := range s.profile.InMapOrder() {
		s.addSamples(f, f.Name.String())
	}
	summary := counts.Summary(profile.DefaultCutoffs())
	instr, err := heatOf(summary.Cutoffs)
	if err != nil {
		return err
	}
	sampled, err := heatOf(summaryOf(s.profile).Cutoffs)
	if err != nil {
		return err
	}
	instr.cold = cmp.Or(uint64(t.opt.supplement.cold), instr.cold)
	for _, at := range llvmorder.StringMap(len(s.names), func(i int) string { return s.names[i] }, llvmorder.XXH3) {
		name := s.names[at]
		// The entry count or the hottest location decides, whichever is more.
		count := max(s.samples[name].entries, s.samples[name].most)
		if count < sampled.cold {
			continue
		}
		f := s.functions[name]
		if static, ok := s.statics[name]; f == nil && ok {
			if static == "" {
				t.msg.warn("", "Static function "+name+" has multiple promoted names, cannot adjust profile.")
			}
			f = s.functions[static]
		}
		if f != nil && f.most <= instr.cold && len(f.record.Counts) >= int(t.opt.supplement.minSize) {
			t.warm(f, count >= sampled.hot, instr)
		}
	}
	return nil
}

// addFunction adds a function of the instrumentation profile. It also records the bare or unique name that a static
// function may have in the sample profile; a bare name of several functions stands for none.
func (s *supplementer) addFunction(name string, r *irpgo.Record) {
	f := &suppleFunction{record: r}
	for _, c := range r.Counts {
		f.most = max(f.most, c)
		f.zeros += bit(c == 0)
	}
	s.functions[name] = f
	file, symbol, ok := splitStatic(name)
	if !ok || symbol == "" {
		return
	}
	short, _, own := strings.Cut(symbol, uniqueSuffix)
	switch {
	case own && !s.unique:
		symbol = short
	case s.unique && !own:
		sum := md5.Sum([]byte(file))
		s.statics[symbol+uniqueSuffix+new(big.Int).SetBytes(sum[:]).String()] = name
		return
	}
	if _, taken := s.statics[symbol]; taken {
		name = ""
	}
	s.statics[symbol] = name
}

// splitStatic splits the name of a static function of C or C++ into file and symbol. The first
// extension of the list that occurs decides, in upper or lower case.
func splitStatic(name string) (file, symbol string, ok bool) {
	for _, extension := range []string{".cpp;", "cc;", ".c;", ".hpp;", ".h;"} {
		for end := len(extension); end <= len(name); end++ {
			if strings.EqualFold(name[end-len(extension):end], extension) {
				return name[:end-1], name[end:], true
			}
		}
	}
	return "", "", false
}

// addSamples adds the samples of root, or of a function that is inlined into root. They count for the inlined
// function if the instrumentation profile has it, else for root. Entries of unknown functions do not count.
func (s *supplementer) addSamples(f *sampleprof.Function, root string) {
	name, entries := f.Name.String(), f.EntryCount()
	static, isStatic := s.statics[name]
	switch {
	case s.functions[name] != nil:
		root = name
	case isStatic && static != "":
		root = static
	case !isStatic:
		entries = 0
	}
	to := s.samples[root]
	if to == nil {
		to = new(sampledFunction)
		s.samples[root] = to
		s.names = append(s.names, root)
	}
	to.entries += entries
	for i := range f.Body {
		to.most = max(to.most, f.Body[i].Count)
	}
	for i := range f.Callsites {
		s.addSamples(f.Callsites[i].Callee, root)
	}
}

// warm (updateInstrProfileEntry) makes a function warm or hot: it marks the function if most of its counts are
// zero, else it scales the counts up so that the greatest is three times the threshold.
func (t *tool) warm(f *suppleFunction, hot bool, instr heat) {
	r := f.record
	threshold, mark := instr.cold, irpgo.PseudoWarm
	if hot {
		threshold, mark = instr.hot, irpgo.PseudoHot
	}
	zeroShare := float32(f.zeros) / float32(len(r.Counts)) // LLVM's precision
	if f.most == 0 || zeroShare > float32(t.opt.supplement.zeroShare) {
		if len(r.Counts) > 0 {
			r.Counts[0] = mark
		}
		return
	}
	const above = 3 // times the threshold
	if to := threshold * above; to > f.most {
		t.scale(r, to, f.most)
	}
}

// scale multiplies all counts of a record by to/from. It warns about each count that saturates.
func (t *tool) scale(r *irpgo.Record, to, from uint64) {
	times := func(count *uint64, limit uint64) {
		high, low := bits.Mul64(*count, to)
		if high != 0 {
			low = ^uint64(0)
		}
		*count = low / from
		if high != 0 || *count > limit {
			*count = min(*count, limit)
			t.msg.warn("", words(&llvmerr.Error{Code: llvmerr.CounterOverflow}))
		}
	}
	for i := range r.Counts {
		times(&r.Counts[i], irpgo.PseudoWarm-1)
	}
	for _, sites := range r.Values {
		for _, site := range sites {
			for i := range site {
				times(&site[i].Count, ^uint64(0))
			}
		}
	}
}
