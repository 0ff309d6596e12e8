package irpgocmd

import (
	"cmp"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile"
)

// fitOf compares a profile with an instrumented build of a program, for the compiler that will use the profile.
func fitOf(program family.Program, name string, data []byte, warn func(profile.Warning)) (*family.Fit, error) {
	if f, ok := formats.Detect(data); ok && f.Family() == formats.MemProf {
		return nil, program.NotComparable()
	}
	p, err := irpgo.Read(name, data, irpgo.ReaderOptions{Warn: warn})
	if err != nil {
		return nil, err
	}
	d, err := readDemand(program, warn)
	if err != nil {
		return nil, err
	}
	if err := d.admit(p, program.Path, name); err != nil {
		return nil, err
	}
	return compareWithDemand(p, d, program.Path).fit(), nil
}

// The conditions of functions, and the parts of the counts. From renamed on, the program has no function of the name.
const (
	fits = iota
	counters
	changed
	other
	renamed
	gone
	numConditions
)

// A fitter compares a profile with a demand, by the rules of IndexedInstrProfReader::getInstrProfRecord.
type fitter struct {
	p         *irpgo.Profile
	d         *demand
	facts     *fitFacts
	wanted    map[string][]shape // by name in the profile: what the program looks for under it
	functions []functionFit      // judged ones
	newNames  []string           // functions of the program that the profile lacks
}

// A functionFit says how the records of a function fit.
type functionFit struct {
	functionStale
	condition int
	all       uint64 // counts of all its records
	most      uint64 // greatest count
	own       []*irpgo.Record
}

func compareWithDemand(p *irpgo.Profile, d *demand, program string) *fitter {
	f := &fitter{p: p, d: d, facts: newFitFacts(d, program), wanted: make(map[string][]shape)}
	f.lookUp()
	for i := range p.Functions {
		f.addFunction(&p.Functions[i])
	}
	f.findRenamed()
	return f
}

// lookUp does what compilers do: it looks up the functions of the program in the profile, and counts warnings.
func (f *fitter) lookUp() {
	byName := make(map[string]*irpgo.Function, len(f.p.Functions))
	for i := range f.p.Functions {
		byName[f.p.Functions[i].Name] = &f.p.Functions[i]
	}
	w := &f.facts.Warnings
	for _, name := range slices.Sorted(maps.Keys(f.d.shapes)) {
		shapes, found := f.d.shapes[name], byName[name]
		if found == nil {
			found = byName[oldName(name)]
		}
		w.Functions += len(shapes)
		if found == nil {
			w.Missing += len(shapes)
			f.newNames = append(f.newNames, name)
			continue
		}
		f.wanted[found.Name] = append(f.wanted[found.Name], shapes...)
		for _, s := range shapes {
			switch s.in(found.Records) {
			case fits:
			case counters:
				w.Inconsistent++
			case changed:
				w.Mismatched++
			default:
				w.Missing++
				if !f.p.Variant.Has(irpgo.IRLevel) {
					w.Unlike++
				}
			}
		}
	}
}

// in says how compilers find a shape among the records of its name: the record of its hash (fits, or counters if it has
// another number of counters), only records with other hashes (changed), or none with the same bit for contexts in its
// hash (gone).
func (s shape) in(records []*irpgo.Record) (condition int) {
	condition = gone
	for _, r := range records {
		switch {
		case r.Hash == s.hash && s.counters != 0 && int(s.counters) != len(r.Counts):
			return counters
		case r.Hash == s.hash:
			return fits
		case r.IsCS() == s.isCS():
			condition = changed
		}
	}
	return condition
}

// addFunction adds a function of the profile, if the program says whether its records fit.
func (f *fitter) addFunction(fn *irpgo.Function) {
	shapes := f.wanted[fn.Name]
	fit := functionFit{functionStale: functionStale{Name: fn.Name}, condition: gone}
	fitting := false
	for _, r := range fn.Records {
		sum, most := countsOf(r)
		if !f.d.judges(f.p, r) {
			f.facts.Unjudged = saturate.Add(f.facts.Unjudged, sum)
			continue
		}
		fit.own = append(fit.own, r)
		fit.all = saturate.Add(fit.all, sum)
		fit.most = max(fit.most, most)
		condition := gone
		for _, s := range shapes {
			condition = min(condition, s.in([]*irpgo.Record{r}), changed)
		}
		if condition == fits {
			fitting = true
			continue
		}
		fit.Stale = saturate.Add(fit.Stale, sum)
		fit.Warned = max(fit.Warned, sum)
		fit.Hashes = append(fit.Hashes, hashText(r.Hash))
		fit.condition = min(fit.condition, condition)
	}
	if len(fit.own) == 0 {
		return
	}
	switch {
	case fitting && len(fit.Hashes) == 0:
		fit.condition = fits
	case fitting:
		fit.condition, fit.Warned = other, 0
	case fit.condition == gone:
		fit.Warned = 0
	}
	for _, s := range shapes {
		fit.ProgramHashes = append(fit.ProgramHashes, hashText(s.hash))
	}
	slices.Sort(fit.ProgramHashes)
	f.functions = append(f.functions, fit)
}

// countsOf returns the sum of the counts of a record, and the greatest. Counts of a sample profile's verdict are no counts.
func countsOf(r *irpgo.Record) (sum, most uint64) {
	if r.Pseudo() == 0 {
		sum, most, _ = sumCounts(r.Counts)
	}
	return sum, most
}

// findRenamed finds functions that have another name in the program, for people: compilers do not. It first takes
// functions whose file has another name, then functions that alone have their hash and counters. A function of one
// counter looks like too many others.
func (f *fitter) findRenamed() {
	f.renameBy(func(name string, _ shape) any {
		_, symbol := irpgo.SplitName(name)
		return symbol
	})
	f.renameBy(func(_ string, s shape) any {
		if s.counters < 2 {
			return nil
		}
		return s
	})
}

// renameBy pairs functions that are gone with new functions of the same shape, if both alone have the key.
func (f *fitter) renameBy(key func(name string, s shape) any) {
	const several = -1
	note := func(by map[any]int, key any, i int) {
		if _, ok := by[key]; ok {
			i = several
		}
		by[key] = i
	}
	from, to := make(map[any]int), make(map[any]int)
	for i := range f.functions {
		if fn := &f.functions[i]; fn.condition == gone && len(fn.own) == 1 {
			note(from, key(fn.Name, shapeOf(fn.own[0])), i)
		}
	}
	for i, name := range f.newNames {
		if shapes := f.d.shapes[name]; len(shapes) == 1 {
			note(to, key(name, shapes[0]), i)
		}
	}
	taken := make(map[int]bool)
	for k, i := range from {
		j, ok := to[k]
		if k == nil || !ok || i == several || j == several {
			continue
		}
		fn, name := &f.functions[i], f.newNames[j]
		if s := f.d.shapes[name][0]; s.in(fn.own) == fits {
			fn.condition, fn.NewName, taken[j] = renamed, name, true
			fn.ProgramHashes = []string{hashText(s.hash)}
		}
	}
	left := f.newNames[:0]
	for i, name := range f.newNames {
		if !taken[i] {
			left = append(left, name)
		}
	}
	f.newNames = left
}

func shapeOf(r *irpgo.Record) shape { return shape{r.Hash, uint32(len(r.Counts))} }

// fit returns the facts and shares. A function is hot if one of its counts reaches the hot threshold of the profile.
func (f *fitter) fit() *family.Fit {
	var all summary.Builder
	for i := range f.functions {
		for _, r := range f.functions[i].own {
			all.Add(r.Counts)
		}
	}
	hotFrom, _ := all.Summary(profile.DefaultCutoffs()).Cutoffs.Hot()
	hotFrom = max(hotFrom, 1)
	out := &family.Fit{Unit: "Counts", JSON: f.facts}
	lost, hot, hotLost := 0, 0, 0
	var stale uint64
	for i := range f.functions {
		fn := &f.functions[i]
		f.facts.add(fn)
		stale = saturate.Add(stale, fn.Stale)
		if fn.most > 0 {
			out.Ran++
			if fn.condition >= renamed {
				lost++
			}
		}
		if fn.most >= hotFrom {
			hot++
			if fn.condition != fits && fn.condition != other {
				hotLost++
			}
		}
	}
	f.facts.finish()
	out.Stale = tally.Share(stale, f.facts.Counts)
	out.Changed = f.facts.Parts[changed].Share + f.facts.Parts[counters].Share
	out.Lost, out.HotLost = tally.Share(lost, out.Ran), tally.Share(hotLost, hot)
	out.Facts, out.Parts, out.Functions = f.facts.rows, f.facts.partRows(), f.facts.table
	return out
}

// compareStale orders functions by their stale counts, the greatest first.
func compareStale(a, b functionStale) int {
	return cmp.Or(cmp.Compare(b.Stale, a.Stale), cmp.Compare(a.Name, b.Name))
}
