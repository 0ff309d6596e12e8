package covmap

import (
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/irpgo"
)

// EvaluateOptions modify [Evaluate]. The zero value keeps all counts.
type EvaluateOptions struct {
	// FirstWins takes of several records of a function only the first of each
	// object, and the function only from the first object, as llvm-cov does. The
	// counts of the others are lost if they were compiled differently.
	FirstWins bool
	// BitmapsByCondition says that the bitmaps of MC/DC are indexed by the
	// conditions that were true and not by the numbers of test vectors: in
	// profiles of LLVM 18, which are raw version 9 and indexed version 11.
	BitmapsByCondition bool
}

// A Coverage is a profile evaluated on the mappings of programs.
type Coverage struct {
	Functions []*Function // in the order of the mappings
	// Mismatched are the functions left out because the profile has other
	// functions of their names.
	Mismatched []Mismatch

	files map[string][]*Function // functions by the names of their virtual files
}

// A Mismatch is a function that the profile does not fit: it knows the name with
// other hashes only.
type Mismatch struct {
	Object string // see Mapping.Name
	Name   string
	Hash   uint64   // in the object
	Have   []uint64 // in the profile
}

// A Function is a function with its counts.
type Function struct {
	// Name is the name without the file that precedes that of a static function.
	Name    string
	PGOName string
	Object  string // see Mapping.Name
	Hash    uint64
	Count   uint64   // of its first region
	Files   []string // virtual files, see Body
	Regions []CountedRegion
	// Branches are the branch regions, which Regions does not have.
	Branches []CountedBranch
	MCDC     []MCDC

	main int // virtual file of the function's own code; -1 if there is none
}

// A CountedRegion is a region with its count. Branches and decisions are none.
type CountedRegion struct {
	Start, End     Position
	Count          uint64
	File, Expanded uint32 // virtual files, see [Region]
	Kind           Kind
}

// A CountedBranch is a condition with the counts of its outcomes.
type CountedBranch struct {
	Start, End  Position
	True, False uint64
	// ConstantTrue says that the true outcome never happens, whatever runs, and
	// ConstantFalse that the false one does not.
	ConstantTrue, ConstantFalse bool
	File                        uint32
	Kind                        Kind
}

// folded reports whether neither outcome can happen.
func (b *CountedBranch) folded() bool { return b.ConstantTrue && b.ConstantFalse }

// Evaluate joins a profile with the mappings of programs, of which there may be
// several. A function of which the profile says nothing did not run.
func Evaluate(maps []*Mapping, p *irpgo.Profile, opt EvaluateOptions) (*Coverage, error) {
	e := &evaluator{opt: opt, cov: &Coverage{files: make(map[string][]*Function)}, seen: make(map[string]bool)}
	e.index(p)
	for _, m := range maps {
		for _, i := range e.choose(m) {
			if err := e.add(m, &m.Records[i]); err != nil {
				return nil, err
			}
		}
	}
	return e.cov, nil
}

// An evaluator evaluates records one after the other.
type evaluator struct {
	opt       EvaluateOptions
	cov       *Coverage
	functions map[uint64]*irpgo.Function // by the reference of their names
	seen      map[string]bool            // functions by their files and names

	body    Body
	values  values
	key     []byte
	pending []*decision
}

func (e *evaluator) index(p *irpgo.Profile) {
	e.functions = make(map[uint64]*irpgo.Function, len(p.Functions))
	for i := range p.Functions {
		e.functions[irpgo.NameRef(p.Functions[i].Name)] = &p.Functions[i]
	}
}

// choose returns the indexes of the records that count, in the order of the first
// of each name.
func (e *evaluator) choose(m *Mapping) []int {
	var chosen []int
	places := make(map[uint64][]int) // in chosen, by reference
	for i := range m.Records {
		r := &m.Records[i]
		at := places[r.Ref]
		switch {
		case len(at) == 0:
		case m.Records[chosen[at[0]]].dummy():
			if !r.dummy() {
				chosen[at[0]] = i
			}
			continue
		case r.dummy(), e.opt.FirstWins, slices.ContainsFunc(at, func(k int) bool { return m.Records[chosen[k]].Hash == r.Hash }):
			continue
		}
		places[r.Ref] = append(at, len(chosen))
		chosen = append(chosen, i)
	}
	return chosen
}

// dummy reports whether the record stands for a function that its object does not
// have code of: hash 0, one file, and one region that never runs.
func (r *Record) dummy() bool {
	if r.Hash != 0 {
		return false
	}
	var b Body
	err := r.Decode(&b)
	return err == nil && len(b.Files) == 1 && len(b.Expressions) == 0 && len(b.Regions) == 1 && b.Regions[0].Count.constant()
}

// countsOf returns the record of the profile, nil if the profile does not know the
// name. ok is false if it knows the name with other hashes only.
func (e *evaluator) countsOf(m *Mapping, r *Record) (rec *irpgo.Record, ok bool) {
	f := e.functions[r.Ref]
	if f == nil || f.Name != r.Name {
		return nil, true
	}
	for _, rec := range f.Records {
		if rec.Hash == r.Hash {
			return rec, true
		}
	}
	miss := Mismatch{Object: m.Name, Name: r.Name, Hash: r.Hash}
	for _, rec := range f.Records {
		miss.Have = append(miss.Have, rec.Hash)
	}
	e.cov.Mismatched = append(e.cov.Mismatched, miss)
	return nil, false
}

// add evaluates a record.
func (e *evaluator) add(m *Mapping, r *Record) error {
	if err := r.Decode(&e.body); err != nil {
		return err
	}
	e.values.reset(e.body.Expressions)
	rec, ok := e.countsOf(m, r)
	if !ok {
		return nil
	}
	var bitmap []byte
	e.values.counts, e.values.absent = nil, rec == nil
	if rec != nil {
		e.values.counts, bitmap = rec.Counts, rec.Bitmap
	}
	regions := e.body.Regions
	if len(regions) == 1 && regions[0].Count.constant() && len(e.values.counts) > 0 && e.values.counts[0] > 0 {
		return nil // the function of another program
	}
	f := &Function{PGOName: r.Name, Object: m.Name, Hash: r.Hash}
	if ok, err := e.evaluate(f, r, bitmap); !ok {
		return err
	}
	e.key = append(e.key[:0], r.Name...)
	for _, name := range e.body.Files {
		e.key = append(append(e.key, 0), name...)
	}
	if !e.opt.FirstWins {
		e.key = append(e.key, 0, byte(r.Hash), byte(r.Hash>>8), byte(r.Hash>>16), byte(r.Hash>>24), byte(r.Hash>>32), byte(r.Hash>>40), byte(r.Hash>>48), byte(r.Hash>>56))
	}
	if e.seen[string(e.key)] {
		return nil
	}
	e.seen[string(e.key)] = true
	f.Files = slices.Clone(e.body.Files)
	f.Name = r.Name
	if len(f.Files) > 0 {
		f.Name = strings.TrimPrefix(r.Name, f.Files[0]+":")
	}
	f.main = f.mainFile()
	e.cov.Functions = append(e.cov.Functions, f)
	for _, name := range f.Files {
		in := e.cov.files[name]
		if len(in) == 0 || in[len(in)-1] != f {
			e.cov.files[name] = append(in, f)
		}
	}
	return nil
}

// evaluate sets the regions, branches and MC/DC of a function. It reports false
// if the mapping has a counter that the profile lacks.
func (e *evaluator) evaluate(f *Function, rec *Record, bitmap []byte) (ok bool, err error) {
	e.pending = e.pending[:0]
	branches := 0
	for i := range e.body.Regions {
		if k := e.body.Regions[i].Kind; k == Branch || k == MCDCBranch {
			branches++
		}
	}
	f.Branches = make([]CountedBranch, 0, branches)
	f.Regions = make([]CountedRegion, 0, len(e.body.Regions)-branches)
	for i := range e.body.Regions {
		r := &e.body.Regions[i]
		if r.Kind == Decision {
			e.pending = append(e.pending, &decision{region: r})
			continue
		}
		count, ok := e.values.of(r.Count)
		other, okFalse := e.values.of(r.False)
		if !ok || !okFalse {
			return false, nil
		}
		if r.Kind == Branch || r.Kind == MCDCBranch {
			f.Branches = append(f.Branches, CountedBranch{
				Start: r.Start, End: r.End, True: count, False: other,
				ConstantTrue: r.Count.constant(), ConstantFalse: r.False.constant(), File: uint32(r.File), Kind: r.Kind,
			})
		} else {
			if len(f.Regions) == 0 {
				f.Count = count
			}
			f.Regions = append(f.Regions, CountedRegion{r.Start, r.End, count, uint32(r.File), uint32(r.Expanded), r.Kind})
		}
		switch r.Kind {
		case Expansion:
			e.expandDecision(r)
		case MCDCBranch:
			if err := e.condition(f, rec, r, bitmap); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// mainFile returns the first virtual file that no expansion stands for.
func (f *Function) mainFile() int {
	expanded := make([]bool, len(f.Files))
	for i := range f.Regions {
		if r := &f.Regions[i]; r.Kind == Expansion {
			expanded[r.Expanded] = true
		}
	}
	return slices.Index(expanded, false)
}

// MainFile returns the name of the source file that the function's own code is
// in, "" if there is none.
func (f *Function) MainFile() string {
	if f.main < 0 {
		return ""
	}
	return f.Files[f.main]
}
