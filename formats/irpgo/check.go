package irpgo

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// CheckReport is the result of [Check]. Every finding and remark wraps a [profile.FormatError].
type CheckReport struct {
	Info    *Info // nil when not even the header could be read
	Records int   // records read
	// Findings are faults in the order in which Check met them: damaged functions, contradictions
	// between parts of the file, and last the error that stopped the reading.
	Findings []error
	// Remarks are things that sound profiles can have but seldom do: local functions with one name, or
	// addresses far away from all others.
	Remarks []error
	// Omitted is the number of findings and remarks after the first thousand.
	Omitted int
	// Hashes are the CFG hashes of the functions, by name reference, without functions that have
	// several hashes. Name returns the name for a reference; it needs data.
	Hashes map[uint64]uint64
	Name   func(ref uint64) string
}

const maxFindings = 1000

// checker collects the findings and remarks about one profile.
type checker struct {
	rep  *CheckReport
	file string
}

func (c *checker) note(err error)   { c.add(&c.rep.Findings, err) }
func (c *checker) remark(err error) { c.add(&c.rep.Remarks, err) }

func (c *checker) add(list *[]error, err error) {
	if len(c.rep.Findings)+len(c.rep.Remarks) >= maxFindings {
		c.rep.Omitted++
		return
	}
	*list = append(*list, flaw.InFile(err, c.file))
}

// Check reads a whole profile strictly, past damaged functions, and compares its parts: the counters
// of the functions must fill their section without overlap, hashes must be possible for a compiler,
// the hash table must be complete, each section must begin where the previous one ends, and the
// summary must match the records. Check also checks a heap profile in the file.
func Check(name string, data []byte) CheckReport {
	var rep CheckReport
	c := &checker{&rep, name}
	r, err := NewReader(name, data, ReaderOptions{
		Warn: func(w profile.Warning) {
			if errors.Is(w.Err, flaw.ErrRemark) {
				c.remark(w.Err)
			} else {
				c.note(w.Err)
			}
		},
		Rescue: true, Rescued: func(r profile.Rescued) { c.note(r.Err) }, rescueAll: true,
	})
	if err != nil {
		c.note(err)
		return rep
	}
	rep.Info = r.Info
	rep.Name = func(ref uint64) string { return r.Symbols().Name(ref) }
	raw, isRaw := r.dec.(*rawReader)
	seen := newSeenRecords(c)
	if isRaw {
		seen.raw = true
		raw.ended = func(end int64) {
			c.raw(raw)
			c.trailingZeros(end, data[end:])
			seen.begin() // a raw file may hold several profiles of one program
		}
	}
	likely := &plausible{checker: c, r: r, seen: seen, targets: make(map[uint64]int)}
	var sum, cs summary.Builder
	for rec, err := range r.ReusedRecords() {
		if err != nil {
			c.note(err)
			return rep
		}
		ref := r.dec.nameRef()
		if ref == 0 {
			ref = NameRef(rec.Name)
		}
		seen.add(seenRecord{ref, rec.Hash}, rec, rep.Records)
		likely.add(rec, rep.Records)
		rep.Records++
		if rec.IsCS() {
			cs.Add(rec.Counts)
		} else {
			sum.Add(rec.Counts)
		}
	}
	for ref := range seen.several {
		delete(seen.hashes, ref)
	}
	rep.Hashes = seen.hashes
	c.summaries(r, &sum, &cs)
	if ix, ok := r.dec.(*indexedReader); ok {
		c.indexed(ix)
	}
	likely.end()
	heap, err := r.memProf()
	if err != nil {
		c.note(err)
	} else if heap != nil {
		findings, remarks := heap.Check()
		for _, err := range findings {
			c.note(err)
		}
		for _, err := range remarks {
			c.remark(err)
		}
	}
	return rep
}

// seenRecords finds records that are in a profile twice.
type seenRecords struct {
	*checker
	raw     bool
	first   map[uint64]uint64       // hash of each function in this profile, by name reference
	further map[seenRecord]struct{} // further hashes of functions in this profile
	hashes  map[uint64]uint64       // first hash of each function in the file
	several map[uint64]bool         // functions with several hashes
}

type seenRecord struct{ nameRef, hash uint64 }

func newSeenRecords(c *checker) *seenRecords {
	s := &seenRecords{checker: c, hashes: make(map[uint64]uint64), further: make(map[seenRecord]struct{}), several: make(map[uint64]bool)}
	s.first = s.hashes // as long as there is one profile
	return s
}

// begin begins another profile of the file.
func (s *seenRecords) begin() {
	s.first = make(map[uint64]uint64)
	clear(s.further)
}

// knows reports whether there is a record of a name.
func (s *seenRecords) knows(ref uint64) bool {
	_, ok := s.hashes[ref]
	return ok || s.several[ref]
}

// again records a record, and reports whether it was there before.
func (s *seenRecords) again(id seenRecord) bool {
	first, ok := s.first[id.nameRef]
	if !ok {
		s.first[id.nameRef] = id.hash
	}
	if !ok || first == id.hash {
		return ok
	}
	_, ok = s.further[id]
	s.further[id] = struct{}{}
	return ok
}

func (s *seenRecords) add(id seenRecord, r *Record, i int) {
	if !s.again(id) {
		s.compareHash(id, r, i)
		return
	}
	err := flaw.In("records").InRecord(i).Field("function").Gotf("%s with hash %#x again", r.Name, r.Hash).
		Want("each name and hash once").Corrupt()
	if s.raw {
		// A program may have two files with one name, and in each a local function with one name.
		s.remark(err)
	} else {
		s.note(err)
	}
}

// compareHash compares a hash with the hash of another record of the function. In profiles of several
// builds a function has several hashes, which differ in many bits.
func (s *seenRecords) compareHash(id seenRecord, r *Record, i int) {
	first, ok := s.hashes[id.nameRef]
	if !ok {
		s.hashes[id.nameRef] = id.hash
		return
	}
	if first != id.hash {
		s.several[id.nameRef] = true
	}
	if !s.rep.Info.Variant.Has(IRLevel) || first>>32 == 0 {
		return // the front end numbers small functions; those by hand are small, too
	}
	if d := (first ^ id.hash) &^ csHashBit; bits.OnesCount64(d) == 1 {
		s.remark(flaw.In("records").InRecord(i).Field("function hash of "+r.Name).Gotf("%#x", r.Hash).
			Wantf("%#x, as in another record of the function, or one that differs in more than a bit", first).Corrupt())
	}
}

// summaries compares the stored summaries with the records: sum has summed up the plain records, cs the
// context-sensitive ones.
//
// The hash of a front-end function may have the bit of context-sensitive records by chance. LLVM 9 and later
// (indexed versions 5 and later) leave such a record out of the summary; LLVM up to 8 (versions 4 and 5) do not
// know context-sensitive records.
func (c *checker) summaries(r *Reader, sum, cs *summary.Builder) {
	version := r.Info.Version
	findings := compareSummary(r.Info.Summary, sum, "summary")
	if len(findings) > 0 && version <= 5 || version == 4 {
		var all summary.Builder
		all.Merge(sum)
		all.Merge(cs)
		if old := compareSummary(r.Info.Summary, &all, "summary"); version == 4 || len(old) == 0 {
			findings = old
		}
	}
	for _, err := range append(findings, compareSummary(r.Info.CSSummary, cs, "context-sensitive summary")...) {
		c.note(err)
	}
}

// compareSummary compares a stored summary, if there is one, with the records.
func compareSummary(stored *Summary, b *summary.Builder, section string) (findings []error) {
	if stored == nil {
		return nil
	}
	cutoffs := make([]uint64, len(stored.Cutoffs))
	for i, e := range stored.Cutoffs {
		cutoffs[i] = e.Share
	}
	computed := b.Summary(cutoffs)
	differ := func(field string, found, want uint64) {
		if found != want {
			findings = append(findings, flaw.In(section).Field(field).Got(found).Wantf("%d, as the records have it", want).Corrupt())
		}
	}
	differ("number of functions", stored.NumFunctions, computed.NumFunctions)
	differ("number of counters", stored.NumCounts, computed.NumCounts)
	differ("maximum function count", stored.MaxFunctionCount, computed.MaxFunctionCount)
	differ("maximum count", stored.MaxCount, computed.MaxCount)
	differ("maximum internal count", stored.MaxInternalCount, computed.MaxInternalCount)
	differ("total count", stored.TotalCount, computed.TotalCount)
	for i, e := range stored.Cutoffs {
		differ(fmt.Sprintf("minimum count of cutoff %d", e.Share), e.Min, computed.Cutoffs[i].Min)
		differ(fmt.Sprintf("number of counters of cutoff %d", e.Share), e.Values, computed.Cutoffs[i].Values)
	}
	return findings
}

// checkTotal warns if the sum of the counters of an indexed profile differs from its summary. It is the
// cheap part of [Check], for merging.
func (m *Merger) checkTotal(r *Reader, added Added) {
	sum := r.Info.Summary
	if sum == nil || m.opt.LLVMCompat || m.opt.Warn == nil || added.Skipped > 0 || added.Count == 1<<64-1 ||
		r.dec.(*indexedReader).rescued > 0 { // a sum that saturates may have pseudo counts in it, which the summary leaves out
		return
	}
	total := sum.TotalCount
	if cs := r.Info.CSSummary; cs != nil {
		total += cs.TotalCount
	}
	if total == added.Count || total == plainTotal(r) {
		return
	}
	m.opt.Warn(profile.Warning{File: r.Name, Err: flaw.InFile(flaw.In("summary").Field("total count").
		Got(total).Wantf("%d, as the records have it", added.Count).Corrupt(), r.Name)})
}

// plainTotal returns the sum of the counters of all records that LLVM does not take for
// context-sensitive records, see [checker.summaries]. It reads r again.
func plainTotal(r *Reader) (total uint64) {
	for rec, err := range r.ReusedRecords() {
		if err == nil && !rec.IsCS() {
			for _, c := range rec.Counts {
				total = saturate.Add(total, c)
			}
		}
	}
	return total
}

// hashOfIR reports whether IR instrumentation can produce a hash. It keeps the upper four bits free; one
// of them marks context-sensitive records.
func hashOfIR(hash uint64) bool { return hash>>61 == 0 }
