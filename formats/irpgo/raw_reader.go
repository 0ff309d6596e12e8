package irpgo

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// rawReader reads a file of one or more raw profiles, one after the other.
type rawReader struct {
	decoded
	file   string
	data   []byte
	opt    ReaderOptions
	cur    *rawProfile
	syms   Symtab
	cache  *nameCache
	lists  []*nameList // names of the first profile, see nameOf
	at     struct{ list, name int }
	stamps []timestamp
	walked bool // records were walked once, warnings given
	warned struct{ large, correlate bool }

	// Of the current profile.
	prepared bool // names and addresses are there
	addrs    addressMap
	relative bool // counter pointers are relative to their record

	rec      Record
	counts   []uint64
	countsAt int64 // file offset of counts
	values   valueBuffer
	absent   absentValues
	earlier  *earlierTargets // nil for none; large
	rescuer  rescuer
	nameless error // about the last record, if no name of the file is its name
	// ended, unless nil, is called after the records of a profile with the offset behind its value data.
	ended func(next int64)
}

func newRawReader(file string, data []byte, opt ReaderOptions) (decoder, error) {
	r := &rawReader{file: file, data: data, opt: opt}
	r.rescuer = rescuer{opt: &r.opt, file: file}
	if err := r.open(0); err != nil {
		return nil, err
	}
	r.about = r.cur.info()
	return r, nil
}

// symbols and vtableNames know the names of the profiles walked so far, and
// of the first. Damage there is reported by records.
func (r *rawReader) symbols() *Symtab {
	_ = r.prepare()
	return &r.syms
}

func (r *rawReader) vtableNames() []string {
	_ = r.prepare()
	return r.about.VTableNames
}

// traces returns the one trace of the file: all functions that ran, over all profiles in it, by first call.
func (r *rawReader) traces() ([]Trace, uint64) {
	if len(r.stamps) == 0 {
		return nil, 0
	}
	return traceOf(r.stamps), 1
}

// open makes the profile at offset start the current one.
func (r *rawReader) open(start int64) error {
	p, err := parseRawProfile(r.data, start, r.opt.Lenient)
	if err != nil {
		return err
	}
	r.cur = p
	r.about.Profiles++
	r.about.LastWord = p.word
	if kind := p.variant.Kind(); !slices.Contains(r.about.Kinds, kind) {
		if r.about.Kinds = append(r.about.Kinds, kind); start > 0 {
			r.remark(flaw.At("header", start).Field("kind of profile").Got(kind).
				Wantf("%s like the first profile in the file", r.about.Kinds[0]))
		}
	}
	r.about.BinaryIDs = append(r.about.BinaryIDs, p.binaryIDs...)
	if err := r.correlate(); err != nil {
		return err
	}
	if p.needsCorrelation() {
		if !r.opt.Lenient {
			return flaw.At("header", start).Field("function data").
				Got("left to the debug info or the binary").
				Want("data that is in the file, or the program to correlate with").
				Because(&llvmerr.Error{Code: llvmerr.Malformed})
		}
		if !r.warned.correlate {
			r.warned.correlate = true
			r.warn("", flaw.At("header", start).Field("function data").
				Got("left to the debug info or the binary, nothing is read").Want("data in the file").
				Because(&llvmerr.Error{Code: llvmerr.Malformed}))
		}
		p.records = rawSection{}
		return nil
	}
	r.prepared = false
	r.relative = p.correlation == nil && (p.version >= 8 || p.version == 7 && r.looksRelative())
	return nil
}

// correlate completes a profile without data records, if it can be.
func (r *rawReader) correlate() error {
	p := r.cur
	if r.opt.Correlate == nil || !p.isLightweight() && !r.opt.Lenient {
		return nil
	}
	c, err := r.opt.Correlate(p.binaryIDs)
	if c == nil || err != nil {
		return err
	}
	for _, f := range []rawField{fNumData, fNamesSize, fCountersDelta, fNamesDelta} {
		if p.fields[f] != 0 {
			return flaw.At("header", p.start).Field(rawFieldNames[f]).Got(p.fields[f]).
				Want("0, in a profile that has to be correlated").
				Because(&llvmerr.Error{Code: llvmerr.UnexpectedCorrelation})
		}
	}
	p.correlation = c
	// Errors about these records give places in what the program would have written.
	p.records.data = c.appendRecords(nil, p)
	return nil
}

// prepare reads the names of the current profile and maps its addresses:
// the larger part of the work, which profiles of a known shape do without.
func (r *rawReader) prepare() error {
	if r.prepared || r.cur.needsCorrelation() {
		return nil
	}
	if err := r.cur.refuseSharing(); err != nil {
		return err
	}
	if err := r.readNames(); err != nil {
		return err
	}
	r.mapAddresses()
	r.prepared = true
	return nil
}

func (r *rawReader) warn(function string, err error) {
	if r.opt.Warn != nil && !r.walked {
		r.opt.Warn(profile.Warning{File: r.file, Function: function, Err: flaw.InFile(err, r.file)})
	}
}

// readNames fills the symbol table. Before version 3 the names are plain bytes that the records point into.
func (r *rawReader) readNames() error {
	p := r.cur
	if p.version < 3 {
		return nil
	}
	if p.correlation != nil {
		for _, name := range p.correlation.names {
			r.syms.learn(name)
		}
		return nil
	}
	err := r.cache.decode("names", p.names.off, p.names.data, func(l *nameList) {
		l.hash()
		r.syms.addList(l)
		if p.start == 0 && !r.walked {
			r.lists = append(r.lists, l)
		}
	})
	if err != nil {
		return err
	}
	return decodeNames("vtable names", p.vnames.off, p.vnames.data, func(name string) {
		r.syms.learn(name)
		if !r.walked {
			r.about.VTableNames = append(r.about.VTableNames, name)
		}
	})
}

// nameOf returns the name with the given reference, "" if it is unknown. A compiler lists names in the
// order of the records, and a linker drops some records, so most names follow the last name found.
func (r *rawReader) nameOf(ref uint64) string {
	const ahead, lists = 16, 4
	for i := range lists {
		if r.at.list+i >= len(r.lists) {
			break
		}
		l, from := r.lists[r.at.list+i], 0
		if i == 0 {
			from = r.at.name
		}
		for j, other := range l.refs[from:min(from+ahead, len(l.refs))] {
			if other == ref {
				r.at.list, r.at.name = r.at.list+i, from+j+1
				return l.names[from+j]
			}
		}
	}
	return r.syms.Name(ref)
}

// records walks all profiles of the file.
func (r *rawReader) records(yield func(*Record, error) bool) {
	r.stamps, r.rescuer.kept, r.rescuer.lost = r.stamps[:0], false, nil
	if r.about.Profiles > 1 {
		r.about.Profiles, r.about.BinaryIDs = 0, nil
		if err := r.open(0); err != nil {
			yield(nil, err)
			return
		}
	}
	defer func() { r.walked = true }()
	for {
		next, ok := r.profileRecords(yield)
		if !ok {
			return
		}
		for next < int64(len(r.data)) && r.data[next] == 0 {
			next++
		}
		if next >= int64(len(r.data)) {
			if err := r.rescuer.nothingLeft(); err != nil {
				yield(nil, err)
			}
			return
		}
		if err := r.openNext(next); err != nil {
			yield(nil, err)
			return
		}
	}
}

// openNext checks what LLVM checks of a further profile in the same file.
func (r *rawReader) openNext(next int64) error {
	left := int64(len(r.data)) - next
	need := int64(16 + 8*len(rawHeaders[r.cur.version]))
	if left < need {
		return flaw.At("header", next).Field("data after the profile").Gotf("%d bytes", left).
			Wantf("another header of %d bytes", need).Because(malformed("not enough space for another header"))
	}
	if next%8 != 0 {
		return flaw.At("header", next).Field("offset of the next header").Got(next).Want("a multiple of 8").
			Because(malformed("insufficient padding"))
	}
	ptr, order, ok := rawMagic(r.data[next:])
	if !ok || ptr != r.cur.ptr || order != r.cur.order {
		return flaw.At("header", next).Field("magic of the next profile").Gotf("% x", r.data[next:next+8]).
			Want("the magic of the first profile").Because(&llvmerr.Error{Code: llvmerr.BadMagic})
	}
	before := r.cur
	if err := r.open(next); err != nil {
		return err
	}
	r.remarkOnFork(before)
	return nil
}

// profileRecords yields the records of the current profile and returns the offset after its value data.
func (r *rawReader) profileRecords(yield func(*Record, error) bool) (next int64, ok bool) {
	p := r.cur
	next = p.valueData
	r.at.list, r.at.name = 0, 0
	r.absent, r.earlier = absentValues{}, nil
	if err := r.prepare(); err != nil {
		yield(nil, err)
		return 0, false
	}
	r.rescuer.allow(p.numRecords())
	r.rescuer.silent = r.walked
	for i := range p.numRecords() {
		stamps := len(r.stamps)
		known, end, err := r.readRecord(i, next)
		if !known || err != nil {
			r.rescuer.lose(cmp.Or(err, r.nameless))
		}
		if err != nil {
			known = false
			r.stamps = r.stamps[:stamps]
			end, err = r.rescue(i, next, err)
		}
		if err != nil {
			yield(nil, err)
			return 0, false
		}
		next = end
		r.rescuer.kept = r.rescuer.kept || known
		if known && !yield(&r.rec, nil) {
			return 0, false
		}
	}
	r.remarkOnAbsence(next)
	r.remarkOnEarlierRuns(r.earlier)
	if r.ended != nil {
		r.ended(next)
	}
	return next, true
}

// readRecord fills r.rec from data record i, whose value data, if it has any, begins at file offset off, and
// returns the offset after that. known is false for a record that has no name and is left out.
func (r *rawReader) readRecord(i int, off int64) (known bool, end int64, err error) {
	known, err = r.decodeRecord(i)
	if err == nil && r.cur.hasValueSites(r.cur.record(i)) {
		off, err = r.readValues(i, off)
	}
	if err == nil && r.opt.Rescue && r.cur.counterSize() == 8 {
		err = r.soundCounts(i)
	}
	return known, off, err
}
