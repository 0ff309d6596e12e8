package covmap

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// EvaluateOptions modify [Evaluate]. The zero value keeps all counts.
type EvaluateOptions struct {
	// FirstWins takes of several records of a function only the first of each
	// object, and the function only from the first object, as llvm-cov does. The
	// counts of the others are lost if they were compiled differently. Like llvm-cov,
	// it also takes about half of the functions of another build, by compilers before
	// LLVM 22, for ones that did not run.
	FirstWins bool
	// RanOnly leaves out the source files in which nothing ran, and the functions that are
	// in such files alone.
	RanOnly bool
	// Info says what the profile was read from; nil is for one of LLVM 19 or later.
	Info *irpgo.Info
	// Counted, if not nil, tells the counts of programs apart that have functions of one
	// name and hash but of other code or in other files. It gives the records of the wanted
	// functions to add, with the build id of the program that wrote each, "" if that is not
	// known. It may reuse a record once add returns. Without Counted, or for programs without
	// a build id, each of these functions has the sum of the counts.
	Counted func(wanted func(name string) bool, add func(buildID string, r *irpgo.Record)) error
}

// bitmapsByCondition reports whether the bitmaps of MC/DC are indexed by the conditions
// that were true and not by the numbers of test vectors. LLVM 18, the first release with
// bitmaps, writes them so, in raw version 9 and indexed version 11.
func (o *EvaluateOptions) bitmapsByCondition() bool {
	return o.Info != nil && (o.Info.Format == irpgo.FormatRaw && o.Info.Version < 10 ||
		o.Info.Format == irpgo.FormatIndexed && o.Info.Version < 12)
}

// A Coverage is a profile evaluated on the mappings of programs.
type Coverage struct {
	Functions []*Function // in the order of the mappings
	// Mismatched are the functions left out because the profile has other
	// functions of their names.
	Mismatched []Mismatch

	files    map[string][]*Function // functions by the names of their virtual files
	spare    sync.Pool              // of summarizers
	unmapped coverage.Ratio         // functions of the profile that no program maps
}

// A Mismatch is a function that the profile does not fit: it knows the name with
// other hashes only, or, if Have has the hash, with fewer counters.
type Mismatch struct {
	Object string // see Mapping.Name
	Name   string
	Hash   uint64   // in the object; 0 if it has no code of the function
	Have   []uint64 // in the profile
	Cause  string   // the probable one, in words; "" with FirstWins
}

// A Function is a function with its counts.
type Function struct {
	// Name is the name without the file that precedes that of a static function.
	Name    string
	PGOName string
	Object  string // see Mapping.Name
	Hash    uint64
	Count   uint64   // of its first region
	Files   []string // virtual files: the first is the function's own, then one for every macro expansion and include
	MCDC    []MCDC

	// The regions and branches stay encoded, or are kept: see fewFiles.
	kept   *keptCode
	record *Record
	counts []uint64 // of the profile
	absent bool     // the profile does not know the function
	code   uint64   // what the mapping says but for the files; 0 if there is one record of the name
	shared bool     // the counts are those of an earlier function, too

	line  uint32   // of the first region
	main  int      // virtual file of the function's own code; -1 if there is none
	own   bool     // there is a region in it
	start Position // of the first one
}

// Evaluate joins a profile with the mappings of programs, of which there may be
// several. A function of which the profile says nothing did not run.
func Evaluate(maps []*Mapping, p *irpgo.Profile, opt EvaluateOptions) (*Coverage, error) {
	t := &task{opt: opt}
	t.index(p)
	for _, m := range maps {
		t.choose(m)
	}
	c := &Coverage{files: make(map[string][]*Function)}
	if opt.RanOnly {
		t.ran = t.chooseRan()
	}
	seen := make(variantSet)
	var lines, most uint64 // of all regions together; allowed
	most = freeLines
	const each = 256
	err := inOrder((len(t.records)+each-1)/each, func(i int, _ *producer[outcome], done []outcome) []outcome {
		e, _ := t.spare.Get().(*evaluator)
		if e == nil {
			e = &evaluator{task: t}
		}
		defer t.spare.Put(e)
		for _, r := range t.records[i*each : min((i+1)*each, len(t.records))] {
			done = append(done, e.add(r))
		}
		return done
	}, func(done []outcome) error {
		for _, d := range done {
			switch {
			case d.err != nil:
				return d.err
			case d.mismatch != nil:
				c.Mismatched = append(c.Mismatched, *d.mismatch)
			case d.function != nil && (d.key == "" || seen.add(&d)):
				f := d.function
				lines += d.lines
				if most += linesPerRegion * uint64(d.regions); lines > most {
					return flaw.In("coverage mapping").InFile(f.Object).Field("lines of all regions up to "+f.PGOName).Got(lines).
						Wantf("at most %d", most).Corrupt()
				}
				c.add(f, t.ran)
			}
		}
		return nil
	})
	if err == nil && !opt.FirstWins {
		err = t.tellApart(c, seen)
		c.explain(maps, p)
	}
	return c, err
}

// The regions of a mapping may have freeLines lines together and linesPerRegion
// lines on average: a damaged number of lines must not make a report of billions.
const (
	freeLines      = 2 << 20
	linesPerRegion = 256
)

// add adds a function to the files that it is in, of those in ran; nil is for all.
func (c *Coverage) add(f *Function, ran map[string]bool) {
	c.Functions = append(c.Functions, f)
	for i, name := range f.Files {
		if i > 0 && (name == f.Files[0] || name == f.Files[i-1]) || ran != nil && !ran[name] {
			continue
		}
		in := c.files[name]
		if len(in) == 0 || in[len(in)-1] != f {
			c.files[name] = append(in, f)
		}
	}
}

// A task is what evaluators share.
type task struct {
	opt         EvaluateOptions
	functions   map[uint64]*irpgo.Function // of the profile, by the references of their names
	records     []objectRecord
	places      map[uint64]place
	anyRepeated bool            // of places
	ran         map[string]bool // source files in which something ran; nil for all files
	spare       sync.Pool       // of evaluators
}

// An objectRecord is a record and the object that it is in.
type objectRecord struct {
	m *Mapping
	*Record
}

// A place says where the last record of a name is.
type place struct {
	m        *Mapping
	record   int  // in task.records
	repeated bool // there is another one, in this object or one before
}

// repeated reports whether there are several records of the name of one.
func (t *task) repeated(r *Record) bool { return t.anyRepeated && t.places[r.Ref].repeated }

// An outcome is what came of a record: a function, a mismatch, an error, or none of
// them.
type outcome struct {
	function *Function
	from     objectRecord
	key      string // of the function, equal for those that count once; "" if there is one record of the name
	lines    uint64 // of all regions
	regions  int
	mismatch *Mismatch
	err      error
}

// An evaluator evaluates records one after the other.
type evaluator struct {
	*task
	code    decoder
	key     []byte
	pending []*decision

	made  slab.Slab[Function]
	names slab.Slab[string]
}

func (t *task) index(p *irpgo.Profile) {
	t.functions = make(map[uint64]*irpgo.Function, len(p.Functions))
	for i := range p.Functions {
		t.functions[p.Functions[i].Ref()] = &p.Functions[i]
	}
}

// choose appends the records of an object that count, in the order of the first of
// each name.
func (t *task) choose(m *Mapping) {
	if t.places == nil {
		t.places = make(map[uint64]place, len(m.Records))
	}
	t.records = slices.Grow(t.records, len(m.Records))
	for i := range m.Records {
		r := &m.Records[i]
		last, ok := t.places[r.Ref]
		switch {
		case last.m != m:
		case t.records[last.record].dummy():
			if !r.dummy() {
				t.records[last.record].Record = r
			}
			continue
		case r.dummy(), t.opt.FirstWins, t.records[last.record].Hash == r.Hash:
			continue
		}
		t.places[r.Ref] = place{m, len(t.records), ok}
		t.anyRepeated = t.anyRepeated || ok
		t.records = append(t.records, objectRecord{m, r})
	}
}

// chooseRan keeps the records of functions in source files in which something ran, and
// returns these files. Records that cannot be decoded stay, for the error.
func (t *task) chooseRan() map[string]bool {
	ran := make(map[string]bool)
	var d decoder
	for _, r := range t.records {
		if f := t.functions[r.Ref]; f != nil && anyRan(f) && d.decodeFiles(r.Record) == nil {
			for _, name := range d.files {
				ran[name] = true
			}
		}
	}
	t.records = slices.DeleteFunc(t.records, func(r objectRecord) bool {
		return d.decodeFiles(r.Record) == nil && !slices.ContainsFunc(d.files, func(name string) bool { return ran[name] })
	})
	return ran
}

// anyRan reports whether a function has a count.
func anyRan(f *irpgo.Function) bool {
	return slices.ContainsFunc(f.Records, func(r *irpgo.Record) bool {
		return slices.ContainsFunc(r.Counts, func(n uint64) bool { return n > 0 })
	})
}

// dummy reports whether the record stands for a function that its object does not
// have code of: hash 0, one file, and one region that never runs.
func (r *Record) dummy() bool {
	if r.Hash != 0 {
		return false
	}
	var d decoder
	return d.decode(r) == nil && len(d.files) == 1 && len(d.expressions) == 0 && d.neverRuns()
}

// codeSeed is that of Function.code, which nothing outside of one process depends on.
var codeSeed = maphash.MakeSeed()

// contextBit marks the hashes of context-sensitive profiles (CS_FLAG_IN_FUNC_HASH). Those
// of front ends before LLVM 22 have it by chance: llvm-cov then takes records of another
// build for those of another kind of profile.
const contextBit = 1 << 60

// add evaluates a record.
func (e *evaluator) add(r objectRecord) (done outcome) {
	if err := e.code.decode(r.Record); err != nil {
		return outcome{err: flaw.InFile(err, r.m.Name)}
	}
	var rec *irpgo.Record
	if f := e.functions[r.Ref]; f != nil {
		i := slices.IndexFunc(f.Records, func(rec *irpgo.Record) bool { return rec.Hash == r.Hash })
		switch {
		case i >= 0:
			rec = f.Records[i]
		case e.opt.FirstWins && !slices.ContainsFunc(f.Records, func(rec *irpgo.Record) bool { return (rec.Hash^r.Hash)&contextBit == 0 }):
			// Not known, for llvm-cov.
		default:
			miss := &Mismatch{Object: r.m.Name, Name: r.Name, Hash: r.Hash}
			for _, rec := range f.Records {
				miss.Have = append(miss.Have, rec.Hash)
			}
			return outcome{mismatch: miss}
		}
	}
	f := Function{PGOName: r.Name, Object: r.m.Name, Hash: r.Hash, record: r.Record, absent: rec == nil}
	var bitmap []byte
	if rec != nil {
		f.counts, bitmap = rec.Counts, rec.Bitmap
	}
	if e.code.neverRuns() && len(f.counts) > 0 && f.counts[0] > 0 {
		return outcome{} // the function of another program
	}
	if !e.code.count(&f) {
		if e.opt.FirstWins {
			return outcome{}
		}
		return outcome{mismatch: &Mismatch{Object: r.m.Name, Name: r.Name, Hash: r.Hash, Have: []uint64{r.Hash}}}
	}
	if err := e.decide(&f, bitmap); err != nil {
		return outcome{err: flaw.InFile(err, r.m.Name)}
	}
	f.Files, f.Name = e.names.Make(len(e.code.files)), r.Name
	copy(f.Files, e.code.files)
	if len(f.Files) > 0 {
		f.Name = strings.TrimPrefix(r.Name, f.Files[0]+":")
	}
	e.describe(&f)
	done = outcome{function: &e.made.Make(1)[0], from: r, lines: e.code.lines(), regions: len(e.code.regions)}
	f.kept = e.code.keep(done.function, f.Files)
	if e.repeated(r.Record) && !e.opt.FirstWins {
		f.code = maphash.Bytes(codeSeed, r.mapping[e.code.filesEnd:])
	}
	*done.function = f
	if !e.repeated(r.Record) {
		return done
	}
	e.key = append(e.key[:0], r.Name...)
	for _, name := range f.Files {
		e.key = append(append(e.key, 0), name...)
	}
	if !e.opt.FirstWins {
		e.key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(append(e.key, 0), r.Hash), f.code)
	}
	done.key = string(e.key)
	return done
}

// decide sets the MC/DC of a function.
func (e *evaluator) decide(f *Function, bitmap []byte) error {
	e.pending = e.pending[:0]
	for i := range e.code.decisions {
		switch r := &e.code.decisions[i]; r.Kind {
		case Decision:
			e.pending = append(e.pending, &decision{region: *r})
		case Expansion:
			e.expandDecision(r)
		default:
			if err := e.condition(f, r, bitmap); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe sets what there is to know of a function without its regions.
func (e *evaluator) describe(f *Function) {
	if len(e.code.regions) > 0 {
		f.Count, f.line = e.code.regions[0].Count, e.code.regions[0].Start.Line
	}
	// The own code is in the first virtual file that no expansion stands for.
	f.main = slices.IndexFunc(e.code.uses, func(u fileUse) bool { return u.expansion == 0 })
	if f.main < 0 {
		return
	}
	if own := e.code.regionsOf(f.main); len(own) > 0 {
		f.own, f.start = true, own[0].Start
	}
}

// MainFile returns the name of the source file that the function's own code is
// in, "" if there is none.
func (f *Function) MainFile() string {
	if f.main < 0 {
		return ""
	}
	return f.Files[f.main]
}
