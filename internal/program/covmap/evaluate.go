package covmap

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// EvaluateOptions modify [Evaluate]. The zero value keeps all counts.
type EvaluateOptions struct {
	// FirstWins does as llvm-cov: counts wrap below zero, and a function counts only in the first object that has it,
	// by its first record there. The counts of differently compiled records are lost. With compilers before LLVM 22,
	// about half of the functions of another build look like functions that did not run.
	FirstWins bool
	// NotExecuted keeps what [MCDC.NotExecuted] needs.
	NotExecuted bool
	RanOnly     bool // leaves out source files in which nothing ran, and functions that are only in such files
	// Info describes the file of the profile; nil stands for a profile of LLVM 19 or later.
	Info *irpgo.Info
	// Counted, if not nil, separates the counts of programs that contain different functions with one
	// name and hash. It passes to add each record of a wanted function, with the build id of the
	// program that wrote the record, "" if not known. It may reuse a record once add returns. Without
	// Counted, or for programs without a build id, each of these functions has the sum of the counts.
	Counted func(wanted func(name string) bool, add func(buildID string, r *irpgo.Record)) error
}

// bitmapsByCondition reports whether the bitmaps of MC/DC are indexed by the set of true conditions
// instead of the number of the test vector. LLVM 18, the first release with bitmaps, writes such
// bitmaps (raw version 9, indexed version 11).
func (o *EvaluateOptions) bitmapsByCondition() bool {
	return o.Info != nil && (o.Info.Format == irpgo.FormatRaw && o.Info.Version < 10 ||
		o.Info.Format == irpgo.FormatIndexed && o.Info.Version < 12)
}

// A Coverage is a profile evaluated on the mappings of programs.
type Coverage struct {
	Functions []*Function // in the order of the mappings
	// Mismatched are functions left out because the profile has other functions with their names, or
	// because their records are damaged.
	Mismatched []Mismatch

	files    map[string][]*Function // functions by the names of their virtual files
	spare    spares[summarizer]
	unmapped []coverage.Function // functions of the profile that no program maps
}

// A Mismatch is a function that is left out. The profile has its name only with other hashes or, if
// Have contains Hash, with fewer counters; if Have is empty, the record of the function is damaged.
type Mismatch struct {
	Object string // see Mapping.Name
	Name   string
	Hash   uint64   // in the object; 0 if it has no code of the function
	Have   []uint64 // hashes in the profile
	Cause  string   // probable cause, in words; "" with FirstWins
}

// A Function is a function with its counts.
type Function struct {
	Name    string // the name without the file name that precedes the name of a static function
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
	code   uint64   // hash of the mapping without the files; 0 if the name has one record
	shared bool     // an earlier function has the same counts
	wraps  bool     // counts are modulo 2^64, as llvm-cov's
	// belowZero is how many regions and outcomes of branches have a count below zero, which counts as 0.
	belowZero int

	line  uint32   // of the first region
	main  int      // virtual file of the function's own code; -1 if there is none
	own   bool     // the file main has a region
	start Position // of the first region in it
}

// Evaluate joins a profile with the mappings of one or more programs. A function that the profile
// does not contain did not run.
func Evaluate(maps []*Mapping, p *irpgo.Profile, opt EvaluateOptions) (c *Coverage, err error) {
	defer flaw.OfProgram(&err)
	t := &task{opt: opt}
	t.index(p)
	c = &Coverage{files: make(map[string][]*Function)}
	for _, m := range maps {
		t.choose(m)
		c.Mismatched = append(c.Mismatched, m.LeftOut...)
	}
	if opt.RanOnly {
		t.ran = t.chooseRan()
	}
	seen := make(variantSet)
	var lines, most uint64 // of all regions together; allowed
	most = freeLines
	const each = 256
	err = inOrder((len(t.records)+each-1)/each, func(i int, _ *producer[outcome], done []outcome) []outcome {
		e := t.spare.get()
		if e == nil {
			e = &evaluator{task: t}
		}
		defer t.spare.put(e)
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
				most += linesPerRegion * uint64(d.regions)
				if lines > most {
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

// All regions together may have freeLines lines plus linesPerRegion lines for each region: a damaged
// number of lines must not lead to a report of billions of lines.
const (
	freeLines      = 2 << 20
	linesPerRegion = 256
)

// add adds a function to its files that are in ran, or to all of its files if ran is nil.
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

type task struct {
	opt         EvaluateOptions
	functions   map[uint64]*irpgo.Function // of the profile, by name reference
	records     []objectRecord
	last        map[uint64]lastRecord // by name reference
	anyRepeated bool                  // any of last is repeated
	ran         map[string]bool       // source files in which something ran; nil for all files
	spare       spares[evaluator]
}

type objectRecord struct {
	m *Mapping
	*Record
}

type lastRecord struct {
	m        *Mapping
	record   int  // in task.records
	repeated bool // the name has another record, in this object or an earlier one
}

func (t *task) repeated(r *Record) bool { return t.anyRepeated && t.last[r.Ref].repeated }

// An outcome is the result of evaluating a record: a function, a mismatch, an error, or none.
type outcome struct {
	function *Function
	from     objectRecord
	key      string // functions with one key count once; "" if the name has one record
	lines    uint64 // of all regions
	regions  int
	mismatch *Mismatch
	err      error
}

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
		t.functions[irpgo.NameRef(p.Functions[i].Name)] = &p.Functions[i]
	}
}

// choose appends the records of an object that count, in the order of the first record of each name.
func (t *task) choose(m *Mapping) {
	if t.last == nil {
		t.last = make(map[uint64]lastRecord, len(m.Records))
	}
	t.records = slices.Grow(t.records, len(m.Records))
	for i := range m.Records {
		r := &m.Records[i]
		last, ok := t.last[r.Ref]
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
		t.last[r.Ref] = lastRecord{m, len(t.records), ok}
		t.anyRepeated = t.anyRepeated || ok
		t.records = append(t.records, objectRecord{m, r})
	}
}

// chooseRan keeps the records of functions in source files in which something ran, and returns these
// files. It keeps records that cannot be decoded, so that evaluating them reports the error.
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

func anyRan(f *irpgo.Function) bool {
	return slices.ContainsFunc(f.Records, func(r *irpgo.Record) bool {
		return slices.ContainsFunc(r.Counts, func(n uint64) bool { return n > 0 })
	})
}

// dummy reports whether the record stands for a function without code in its object: hash 0, one
// file, and one region that never runs.
func (r *Record) dummy() bool {
	if r.Hash != 0 {
		return false
	}
	var d decoder
	return d.decode(r) == nil && len(d.files) == 1 && len(d.expressions) == 0 && d.neverRuns()
}

// codeSeed is the seed of Function.code. Nothing outside the process depends on it.
var codeSeed = maphash.MakeSeed()

// contextBit marks the hashes of context-sensitive profiles (CS_FLAG_IN_FUNC_HASH). Hashes by front
// ends before LLVM 22 have the bit by chance: llvm-cov then takes a record of another build for a
// record of another kind of profile.
const contextBit = 1 << 60

func (e *evaluator) add(r objectRecord) (done outcome) {
	if err := e.code.decode(r.Record); err != nil {
		return e.damaged(r, err)
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
	f := Function{PGOName: r.Name, Object: r.m.Name, Hash: r.Hash, record: r.Record, absent: rec == nil, wraps: e.opt.FirstWins}
	var bitmap []byte
	if rec != nil {
		f.counts, bitmap = rec.Counts, rec.Bitmap
	}
	if e.code.neverRuns() && len(f.counts) > 0 && f.counts[0] > 0 {
		return outcome{} // the function of another program
	}
	var ok bool
	if f.belowZero, ok = e.code.count(&f); !ok {
		if e.opt.FirstWins {
			return outcome{}
		}
		return outcome{mismatch: &Mismatch{Object: r.m.Name, Name: r.Name, Hash: r.Hash, Have: []uint64{r.Hash}}}
	}
	if err := e.decide(&f, bitmap); err != nil {
		return e.damaged(r, err)
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

// damaged returns the outcome for a record that cannot be decoded.
func (e *evaluator) damaged(r objectRecord, err error) outcome {
	if e.opt.FirstWins {
		return outcome{err: flaw.InFile(err, r.m.Name)}
	}
	m := r.Record.damaged(r.m.Name, err)
	return outcome{mismatch: &m}
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

func (e *evaluator) describe(f *Function) {
	if len(e.code.regions) > 0 {
		f.Count, f.line = e.code.regions[0].Count, e.code.regions[0].Start.Line
	}
	// The own code is in the first virtual file that is not an expansion.
	f.main = slices.IndexFunc(e.code.uses, func(u fileUse) bool { return u.expansion == 0 })
	if f.main < 0 {
		return
	}
	if own := e.code.regionsOf(f.main); len(own) > 0 {
		f.own, f.start = true, own[0].Start
	}
}

// MainFile returns the name of the source file with the function's own code, or "".
func (f *Function) MainFile() string {
	if f.main < 0 {
		return ""
	}
	return f.Files[f.main]
}
