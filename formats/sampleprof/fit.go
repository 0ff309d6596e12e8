package sampleprof

import (
	"cmp"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A Fit says how much of a profile fits a program. It counts the samples of each location of each
// function once, summed over all contexts and inlined copies.
type Fit struct {
	Functions        []FunctionFit // by descending stale samples, descending samples, then name
	Samples          uint64        // all sums saturate
	Stale            uint64        // samples that do not fit
	ProgramFunctions int           // including functions that are only inlined
	// Checksums and Lines say what could be compared besides names: the checksums of functions, or
	// lines of code.
	Checksums, Lines bool
	// Staleness holds the numbers that clang -mllvm -report-profile-staleness prints, for the whole
	// program instead of one source file, functions of headers included. It ignores the contexts of
	// context-sensitive profiles.
	Staleness struct {
		Functions       int    // profile functions, not inlined, that the program has, perhaps renamed
		StaleFunctions  int    // ... with another checksum
		Samples         uint64 // sum of the totals of Functions
		StaleSamples    uint64 // ... in functions with another checksum, inlined functions included
		Calls           int    // locations of calls in the profile
		StaleCalls      int    // ... where the program calls another function, or none
		RecoveredStales int    // ... that the matching of stale profiles finds elsewhere
	}
}

// A FunctionFit says how a function fits, all its contexts and inlined copies together.
type FunctionFit struct {
	Name    Name   // with its text, if the profile or the program has it
	Changed bool   // the checksum differs, in one context at least; or some lines have no code
	Gone    bool   // the program has no such function, under this name or another
	NewName string // its name in the program; "" if unchanged
	Samples uint64 // of the function
	Max     uint64 // greatest count of a location
	// Stale are the samples that do not fit because of this function, samples of functions inlined
	// into it included.
	Stale      uint64
	Locations  int // lines with samples, in line-based profiles
	StaleLines int // ... that have no code
	// Calls is the number of locations of calls in the profile. Aligned is how many of them the program
	// has in the same order: the matching of stale profiles finds the lines or probes around these
	// (clang -mllvm -salvage-stale-profile).
	Calls, Aligned int
}

// Fit compares a profile with a program, usually a later build of the profiled program.
//
// It matches functions by their canonical names (FunctionSamples::getCanonicalFnName) or GUIDs. In a
// probe-based profile, a function has changed if the checksum of its control flow differs. For other
// profiles, the debug information of the program tells whether the lines and discriminators still have
// code. Lines whose code the optimizer removed count as stale.
//
// Fit finds renamed functions by LLVM's rules (SampleProfileMatcher): functions that are called at the
// corresponding location and have the same checksum or call mostly the same functions in the same
// order; and functions with the same demangled name.
//
// If the debug information is damaged, Fit returns both a result and an error.
func (p *Profile) Fit(program *symbolize.File) (*Fit, error) {
	facts, err := readProgram(program)
	if facts == nil {
		return nil, err
	}
	return p.fit(facts), err
}

func (p *Profile) fit(program *programFacts) *Fit {
	f := &fitter{
		profile: p, program: program, byID: make(map[uint64]*flatFunction), byLine: p.Kind.FlowDiscriminators,
		fit: &Fit{
			Checksums: program.probes && p.Kind.ProbeBased, Lines: program.lines && !p.Kind.ProbeBased,
		},
	}
	for id, in := range program.functions {
		if in.id == id { // not an alias
			f.fit.ProgramFunctions++
		}
	}
	for _, fn := range p.Functions {
		f.collect(fn)
	}
	m := matcher{fitter: f, taken: make(map[*programFunction]*flatFunction), similar: make(map[[2]uint64]bool)}
	m.matchAll()
	for _, fn := range p.Functions {
		f.addStale(fn, nil)
		if f.fit.Checksums {
			f.addStaleness(fn)
		}
	}
	f.finish()
	return f.fit
}

type fitter struct {
	profile *Profile
	program *programFacts
	fit     *Fit
	byID    map[uint64]*flatFunction // functions of the profile, by id in the program
	// byLine: discriminators are not compared, because flow-sensitive ones are not from debug information.
	byLine bool
}

// A flatFunction sums up a function of the profile over all contexts and inlined copies.
type flatFunction struct {
	FunctionFit
	id        uint64 // canonical
	checksum  uint64 // the first that is not 0
	in        *programFunction
	newName   *programFunction
	locations map[Location]bool       // locations with samples; true if stale
	callees   map[Location]calleeList // callees with samples; all callees if none has samples
	sampled   map[Location]bool       // whether some callee has samples
}

// id returns the id of a function in the program; its GUID if the program lacks it.
func (f *fitter) id(n Name) uint64 {
	id := n.ID
	if canonical := guid.Canonical(n.Text); canonical != n.Text {
		id = guid.Of(canonical)
	}
	if in := f.program.functions[id]; in != nil {
		return in.id
	}
	return id
}

func (f *fitter) flatOf(n Name) *flatFunction {
	id := f.id(n)
	flat := f.byID[id]
	if flat == nil {
		flat = &flatFunction{
			id: id, in: f.program.functions[id], FunctionFit: FunctionFit{Name: n, Gone: f.program.functions[id] == nil},
			locations: make(map[Location]bool), callees: make(map[Location]calleeList), sampled: make(map[Location]bool),
		}
		if n.isID() && flat.in != nil && flat.in.name != "" {
			flat.Name = NameOf(flat.in.name)
		}
		f.byID[id] = flat
	}
	return flat
}

// collect adds a function of the profile, and the functions inlined into it, to their flatFunctions.
func (f *fitter) collect(fn *Function) {
	for i := 1; i < len(fn.Context) && fn.Total > 0; i++ {
		caller := fn.Context[i-1]
		f.addCall(caller.Name, caller.Location, fn.Context[i].Name, fn.Total)
	}
	fn.walk(func(g *Function) bool {
		to := f.flatOf(g.Name)
		if to.checksum == 0 {
			to.checksum = g.Checksum
		}
		for i := range g.Body {
			s := &g.Body[i]
			to.Samples = saturate.Add(to.Samples, s.Count)
			to.Max = max(to.Max, s.Count)
			if s.Count > 0 {
				to.locations[s.Location] = f.isStale(to, s.Location)
			}
			for _, t := range s.Targets {
				f.addCall(g.Name, s.Location, t.Name, t.Count)
			}
		}
		for _, c := range g.Callsites {
			f.addCall(g.Name, c.Location, c.Callee.Name, c.Callee.Total)
		}
		return true
	})
}

// negativeLine is set in the offsets of lines before the first line of the function. LLVM does not match these.
const negativeLine = 0x8000

// addCall records a call. Callees without samples count only if no callee at the location has any.
func (f *fitter) addCall(caller Name, at Location, callee Name, count uint64) {
	if at.Line&negativeLine != 0 {
		return
	}
	if f.byLine {
		at.Discriminator = 0
	}
	to := f.flatOf(caller)
	if count > 0 && !to.sampled[at] {
		to.sampled[at] = true
		to.callees[at] = nil
	}
	if count > 0 || !to.sampled[at] {
		l := to.callees[at]
		l.add(f.id(callee))
		to.callees[at] = l
	}
}

// isStale reports whether a line of a function has no code.
func (f *fitter) isStale(fn *flatFunction, at Location) bool {
	if !f.fit.Lines || fn.in == nil || !fn.in.startLine {
		return false
	}
	set := fn.in.locations
	if f.byLine {
		at.Discriminator, set = 0, fn.in.lines
	}
	_, ok := set[at]
	return !ok
}

// hasChanged reports whether the checksum of a function differs from the program.
func (f *fitter) hasChanged(in *programFunction, fn *Function) bool {
	return f.fit.Checksums && in != nil && len(in.hashes) > 0 && !slices.Contains(in.hashes, fn.Checksum)
}

// addStale sums up the samples that do not fit, because of fn or of cause, the outermost function that does not fit.
func (f *fitter) addStale(fn *Function, cause *flatFunction) {
	flat := f.flatOf(fn.Name)
	changed := f.hasChanged(flat.in, fn)
	flat.Changed = flat.Changed || changed
	if cause == nil && (changed || flat.in == nil) {
		cause = flat
	}
	for i := range fn.Body {
		s := &fn.Body[i]
		f.fit.Samples = saturate.Add(f.fit.Samples, s.Count)
		to := cause
		if to == nil && flat.locations[s.Location] {
			to = flat
		}
		if to != nil {
			to.Stale = saturate.Add(to.Stale, s.Count)
			f.fit.Stale = saturate.Add(f.fit.Stale, s.Count)
		}
	}
	for _, c := range fn.Callsites {
		f.addStale(c.Callee, cause)
	}
}

// addStaleness adds a function to the numbers about checksums (countMismatchedFuncSamples).
func (f *fitter) addStaleness(fn *Function) {
	flat := f.flatOf(fn.Name)
	in := flat.in
	if in == nil {
		in = flat.newName
	}
	if in == nil || len(in.hashes) == 0 {
		return
	}
	s := &f.fit.Staleness
	s.Functions++
	s.Samples = saturate.Add(s.Samples, fn.Total)
	if flat.in == nil {
		return // LLVM knows no checksum under the old name
	}
	if f.hasChanged(in, fn) {
		s.StaleFunctions++
	}
	fn.walk(func(g *Function) bool {
		in := f.program.functions[f.id(g.Name)]
		if in == nil || len(in.hashes) == 0 {
			return false
		}
		if f.hasChanged(in, g) {
			s.StaleSamples = saturate.Add(s.StaleSamples, g.Total)
			return false
		}
		return true
	})
}

func (f *fitter) finish() {
	for flat := range maps.Values(f.byID) {
		if f.fit.Lines && flat.in != nil && flat.in.startLine {
			flat.Locations = len(flat.locations)
			for _, stale := range flat.locations {
				if stale {
					flat.StaleLines++
				}
			}
			flat.Changed = flat.StaleLines > 0
		}
		if flat.newName != nil {
			flat.Gone, flat.NewName = false, flat.newName.name
		}
		f.fit.Functions = append(f.fit.Functions, flat.FunctionFit)
	}
	slices.SortFunc(f.fit.Functions, func(a, b FunctionFit) int {
		return cmp.Or(cmp.Compare(b.Stale, a.Stale), cmp.Compare(b.Samples, a.Samples), a.Name.compare(b.Name), cmp.Compare(a.Name.ID, b.Name.ID))
	})
}
