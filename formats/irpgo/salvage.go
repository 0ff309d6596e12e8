package irpgo

import (
	"bytes"
	"compress/zlib"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/hashtable"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

// Salvaged says what [Salvage] found of a truncated profile.
type Salvaged struct {
	Missing   uint64 // bytes up to the end that the header announces, value data aside
	Functions int    // that the profile counts
	Whole     int    // complete functions, which are read
	// Why the others are not read.
	CutRecords  int // their data record is cut off
	CutCounters int // their counters, or bitmap, are cut off
	Nameless    int // complete, but their name is cut off
	Mismatching int // complete, but not as the siblings have them
	Damaged     int // their data record contradicts the format
	// ValuesLost is the number of whole functions whose value profile is cut off. They are read without values.
	ValuesLost int
}

// Siblings are the functions of a program, from other profiles of the program. They name the functions of a truncated
// profile, whose hashes and numbers of counters must be the same.
type Siblings struct {
	names     Symtab
	shapes    map[uint64][]siblingShape // by name reference
	binaryIDs [][]byte
}

type siblingShape struct {
	hash     uint64
	counters int
}

// Add takes in all functions of a profile.
func (s *Siblings) Add(r *Reader) error {
	if s.shapes == nil {
		s.shapes = make(map[uint64][]siblingShape)
	}
	for rec, err := range r.ReusedRecords() {
		if err != nil {
			return err
		}
		ref := s.names.learn(rec.Name)
		shape := siblingShape{rec.Hash, len(rec.Counts)}
		if !slices.Contains(s.shapes[ref], shape) {
			s.shapes[ref] = append(s.shapes[ref], shape)
		}
	}
	for ref, name := range r.Symbols().index() {
		s.names.add(ref, name)
	}
	s.binaryIDs = append(s.binaryIDs, r.Info.BinaryIDs...)
	return nil
}

// fits reports whether a function can belong to the program. Names of functions without counters tell nothing.
func (s *Siblings) fits(ref, hash uint64, counters int) bool {
	known := s.shapes[ref]
	return len(known) == 0 || slices.Contains(known, siblingShape{hash, counters})
}

// Salvage reads what is whole of a raw profile that is cut off: the functions whose data record, counters and
// bitmap are there and whose name is known, from what is left of the names or from siblings. A name is only taken
// if it has the reference that the data record holds, so that none can be wrong.
//
// It reads the first profile of the file; [Salvaged] is complete when the records have been read. The error is of
// the header, without which nothing is known, or says that the siblings are of another program.
func Salvage(name string, data []byte, names *Siblings) (*Reader, *Salvaged, error) {
	s := &salvager{raw: &rawReader{file: name, data: data}, names: names}
	s.raw.rescuer = rescuer{opt: &s.raw.opt, file: name}
	if len(data) == 0 {
		return nil, nil, flaw.File(name).Field("size").Got("0 bytes").Want("a profile").
			Because(&llvmerr.Error{Code: llvmerr.EmptyRawProfile})
	}
	if err := s.open(); err != nil {
		return nil, nil, flaw.InFile(err, name)
	}
	return &Reader{Name: name, Info: s.info(), dec: s}, &s.report, nil
}

// salvager is the decoder of a truncated raw profile.
type salvager struct {
	raw    *rawReader
	names  *Siblings
	report Salvaged
}

func (s *salvager) info() *Info               { return s.raw.info() }
func (s *salvager) symbols() *Symtab          { return &s.raw.syms }
func (s *salvager) vtableNames() []string     { return nil }
func (s *salvager) traces() ([]Trace, uint64) { return s.raw.traces() }
func (s *salvager) nameRef() uint64           { return 0 }

func (s *salvager) uniformCounters() *deviceSum { return s.raw.device }

func (s *salvager) open() error {
	p, missing, err := parsePartial(s.raw.data)
	if err != nil {
		return err
	}
	r := s.raw
	r.cur = p
	s.report.Missing = missing
	s.report.Functions = int(min(p.fields[fNumData], 1<<31))
	r.about = p.info()
	if p.needsCorrelation() {
		return flaw.At("header", 0).Field("function data").Got("left to the debug info or the binary").
			Want("data that is in the file").Because(&llvmerr.Error{Code: llvmerr.Malformed})
	}
	r.relative = p.version >= 8 || p.version == 7 && r.looksRelative()
	salvageNames(p.names.data, func(name string) { r.syms.learn(name) })
	if n := s.names; n != nil {
		if err := n.sameProgram(p.binaryIDs); err != nil {
			return err
		}
		for ref, name := range n.names.index() {
			r.syms.add(ref, name)
		}
	}
	r.mapAddresses()
	r.prepared = true
	return nil
}

// sameProgram compares binary ids, where both sides have them.
func (s *Siblings) sameProgram(ids [][]byte) error {
	if len(ids) == 0 || len(s.binaryIDs) == 0 {
		return nil
	}
	for _, id := range ids {
		if slices.ContainsFunc(s.binaryIDs, func(o []byte) bool { return bytes.Equal(o, id) }) {
			return nil
		}
	}
	return flaw.In("binary ids").Field("binary id").Gotf("%x", ids[0]).
		Wantf("%x, the id of the profile with the names", s.binaryIDs[0]).
		Because(&llvmerr.Error{Code: llvmerr.UnableToCorrelate})
}

// parsePartial is parseRawProfile for a file that may be cut off anywhere
// after the header; missing is by how many bytes.
func parsePartial(file []byte) (p *rawProfile, missing uint64, err error) {
	p, pos, err := parseRawHeader(file, 0, false)
	if err != nil {
		return nil, 0, err
	}
	c := &sectionCutter{file: file, pos: uint64(pos), partial: true}
	if err := p.cutSections(c); err != nil {
		return nil, 0, err
	}
	p.vtables.data = p.vtables.data[:len(p.vtables.data)/vtableRecordSize(p.ptr)*vtableRecordSize(p.ptr)]
	return p, c.missing, nil
}

// MissingBytes returns how many bytes a raw profile is shorter than its header
// announces, value data aside; 0 for what is no raw profile or is long enough.
func MissingBytes(data []byte) uint64 {
	_, missing, err := parsePartial(data)
	if err != nil {
		return 0
	}
	return missing
}

// salvageNames calls yield for the names in a blob as far as it can be read.
// Some may be wrong: their references tell.
func salvageNames(blob []byte, yield func(name string)) {
	c := cursor.New("names", 0, blob, le)
	budget := newNameBudget(blob)
	for c.Len() > 0 {
		size := c.ULEB("uncompressed size")
		packed := c.ULEB("compressed size")
		if c.Err() != nil {
			return
		}
		var text string
		if packed == 0 {
			text = string(c.Bytes(min(size, uint64(c.Len())), "names"))
		} else {
			text = inflatePrefix(c.Bytes(min(packed, uint64(c.Len())), "compressed names"), min(size, budget.text))
		}
		if !budget.take(text) {
			return
		}
		for name := range strings.SplitSeq(text, nameSeparator) {
			if name != "" {
				yield(name)
			}
		}
		for c.Len() > 0 && blob[c.Pos()] == 0 {
			c.Skip(1, "padding")
		}
	}
}

// inflatePrefix returns what can be had, size bytes at most, of a zlib stream that may be cut off.
func inflatePrefix(z []byte, size uint64) string {
	r, err := zlib.NewReader(bytes.NewReader(z))
	if err != nil {
		return ""
	}
	text, _ := zlibtext.ReadAll(r, size) // the error is that of the cut
	return string(text[:min(uint64(len(text)), size)])
}

// records yields the functions that are whole.
func (s *salvager) records(yield func(*Record, error) bool) {
	r, p := s.raw, s.raw.cur
	r.stamps = r.stamps[:0]
	rep := &s.report
	*rep = Salvaged{Missing: rep.Missing, Functions: rep.Functions}
	rep.CutRecords = rep.Functions - p.numRecords()
	values, valuesAt := !r.lacksValues(p.valueData), p.valueData
	used := uint64(0) // bytes of counters
	for i := range p.numRecords() {
		b := p.record(i)
		stamps := len(r.stamps)
		known, cut, err := s.decode(i)
		if err == nil && !cut {
			used += p.counterSize() * uint64(p.u32(b, p.layout.numCounters))
			if err := refuseShared("counters", p.counters, used); err != nil {
				yield(nil, err)
				return
			}
		}
		if p.hasValueSites(b) && values {
			end, valueErr := valuesAt, error(nil)
			if err == nil && !cut {
				end, valueErr = r.readValues(i, valuesAt)
			} else {
				end, valueErr = r.skipValues(i, valuesAt)
			}
			if valueErr == nil {
				valuesAt = end
			} else {
				values = false // where the next begin is not known any more
			}
		}
		whole := false
		switch {
		case cut:
			rep.CutCounters++
		case err != nil:
			rep.Damaged++
		case !known || r.rec.Name == "":
			rep.Nameless++
		case s.names != nil && !s.names.fits(p.nameRef(b), r.rec.Hash, len(r.rec.Counts)):
			rep.Mismatching++
		default:
			whole = true
		}
		if !whole {
			r.stamps = r.stamps[:stamps]
			continue
		}
		rep.Whole++
		if p.hasValueSites(b) && !values {
			rep.ValuesLost++
			r.rec.Values = valueSites{}
			for k := range p.layout.kinds {
				// The sites stay: their number is part of the function.
				r.rec.Values[k] = make([][]ValueData, p.sites(b, k))
			}
		}
		if !yield(&r.rec, nil) {
			return
		}
	}
}

// decode reads record i without value data; cut says that its counters, uniform counters or
// bitmap reach beyond what is there, but not beyond what was to be there.
func (s *salvager) decode(i int) (known, cut bool, err error) {
	r, p := s.raw, s.raw.cur
	b := p.record(i)
	reach := func(ptr, delta, n uint64, have int, want uint64) bool {
		start := r.sectionOffset(i, ptr, delta, want)
		return start < want && n <= want-start && start+n > uint64(have)
	}
	size := p.counterSize()
	if reach(p.addr(b, p.layout.counterPtr), p.fields[fCountersDelta], size*uint64(p.u32(b, p.layout.numCounters)),
		len(p.counters.data), size*p.fields[fNumCounters]) {
		return false, true, nil
	}
	if p.layout.bitmapBytes >= 0 && reach(p.addr(b, p.layout.bitmapPtr), p.fields[fBitmapDelta],
		uint64(p.u32(b, p.layout.bitmapBytes)), len(p.bitmap.data), p.fields[fNumBitmapBytes]) {
		return false, true, nil
	}
	if p.layout.uniformPtr >= 0 && p.addr(b, p.layout.uniformPtr) != 0 && reach(p.addr(b, p.layout.uniformPtr), p.fields[fUniformDelta],
		8*uint64(p.u32(b, p.layout.numCounters)), len(p.uniform.data), 8*p.fields[fNumUniform]) {
		return false, true, nil
	}
	known, err = r.decodeRecord(i)
	if err == nil && size == 8 {
		err = r.soundCounts(i)
	}
	return known, false, err
}

// NameRefs calls yield for the name references of the functions in a profile, also in a damaged or
// truncated profile, as far as it can be read. The reference of a damaged function may be wrong.
func NameRefs(name string, data []byte, yield func(ref uint64) bool) {
	if p, _, err := parsePartial(data); err == nil {
		for i := range p.numRecords() {
			if !yield(p.nameRef(p.record(i))) {
				return
			}
		}
		return
	}
	r, err := NewReader(name, data, ReaderOptions{Rescue: true})
	if err != nil {
		return
	}
	if ix, ok := r.dec.(*indexedReader); ok {
		// Damage ends it.
		_ = ix.table.Items(false, func(it hashtable.Item) bool { return yield(it.Hash) })
		return
	}
	for rec, err := range r.ReusedRecords() {
		if err != nil || !yield(NameRef(rec.Name)) {
			return
		}
	}
}
