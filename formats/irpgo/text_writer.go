package irpgo

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// TextOptions adjust [WriteText]. The zero value is right for most uses.
type TextOptions struct {
	// Sparse leaves out the functions that never ran: every counter and bitmap byte of their records is zero.
	Sparse bool
	// LLVMCompat writes what llvm-profdata 22 writes even where that loses names or cannot be read back: targets
	// get their names only from the functions written and from VTableNames, and what would be an error is a
	// warning.
	LLVMCompat bool
	// Warn receives what the text format cannot express; nil drops it.
	Warn func(profile.Warning)
}

// WriteText writes p in the text format, with the bytes of "llvm-profdata merge --text" of LLVM 22 except as
// [TextOptions] says about LLVMCompat. Functions are ordered by name, then hash.
//
// The format has no place for binary ids, for uniformity bits, for the function-entry-only flag, for value targets whose name is not
// known, and for names with a comma in traces; opt.Warn is told. A profile that could not be read back, such as one
// with a line break in a function name, is a [profile.FormatError] wrapping [profile.ErrUnsupported], and nothing
// is written.
func WriteText(w io.Writer, p *Profile, opt TextOptions) error {
	t := textWriter{w: w, p: p, opt: opt}
	t.collect()
	if err := t.check(); err != nil {
		return err
	}
	t.resolve()
	t.header()
	if p.Variant.Has(HasTemporal) {
		t.traces()
	}
	t.functions()
	t.flush()
	return t.err
}

// textBufferSize is how much is gathered for one write.
const textBufferSize = 64 << 10

type textWriter struct {
	w   io.Writer
	err error // of w
	buf []byte
	p   *Profile
	opt TextOptions

	recs    []*Record // what is written, in order
	targets Symtab    // names of the value targets in recs, "" where unknown
	entries Symtab    // names of the functions in traces, "" where unknown
}

// collect orders the records to write.
func (t *textWriter) collect() {
	for i := range t.p.Functions {
		f := &t.p.Functions[i]
		if t.opt.Sparse && !f.ran() {
			continue
		}
		first := len(t.recs)
		t.recs = append(t.recs, f.Records...)
		slices.SortStableFunc(t.recs[first:], func(a, b *Record) int { return cmp.Compare(a.Hash, b.Hash) })
	}
}

// check finds what would make the file unreadable, and warns of what the format has no place for.
func (t *textWriter) check() error {
	if t.p.Variant.Has(EntryOnly) {
		t.warn("", flaw.In("text").Field("variant").Got(EntryOnly.String()).Want("one that has a directive").
			Unsupported())
	}
	if t.p.Variant.Has(HasMemProf) {
		t.warn("", flaw.In("text").Field("memory profile").Got("present").Want("none").Unsupported())
	}
	if n := len(t.p.BinaryIDs); n > 0 {
		t.warn("", flaw.In("text").Field("number of binary ids").Got(n).Want("0").Unsupported())
	}
	if slices.ContainsFunc(t.recs, func(r *Record) bool { return len(r.Uniformity) > 0 }) {
		t.warn("", flaw.In("text").Field("uniformity bits").Got("left out").Want("an indexed version above 13 to hold them").Unsupported())
	}
	for i, rec := range t.recs {
		if err := unreadable(rec, i); err != nil {
			if !t.opt.LLVMCompat {
				return err
			}
			t.warn(rec.Name, err)
		}
	}
	return nil
}

// unreadable says why a record, the i-th of the file, could not be read back.
func unreadable(rec *Record, i int) error {
	switch {
	case !isLine(rec.Name):
		return flaw.In("text").InRecord(i).Field("function name").Got(flaw.Quote(rec.Name)).
			Want("one line, not empty and without NUL, that does not begin with '#'").Unsupported()
	case i == 0 && rec.Name[0] == directiveMark:
		return flaw.In("text").InRecord(i).Field("name of the first function").
			Got(flaw.Quote(rec.Name)).Want("one that does not look like a directive").Unsupported()
	case len(rec.Counts) == 0:
		return flaw.In("text").InRecord(i).Field("number of counters").Got("0").Want("at least 1").Unsupported()
	}
	return nil
}

// isLine reports whether s, written as a line, is read back as it is.
func isLine(s string) bool { return isLineStart(s) && s[len(s)-1] != '\r' }

// isLineStart reports whether s, written at the start of a line before other text, is read back as it is.
func isLineStart(s string) bool {
	return s != "" && s[0] != commentMark && !strings.ContainsAny(s, "\n\x00")
}

// isEntry reports whether s, written between commas, is read back as it is.
func isEntry(s string) bool {
	return s != "" && strings.Trim(s, traceSpace) == s && !strings.ContainsAny(s, ",\n\x00")
}

// resolve finds the names of what the values and traces refer to. Profiles
// without references do not pay for hashing all their names.
func (t *textWriter) resolve() {
	targets, entries := t.references()
	t.targets.names.addLater(maps.All(targets))
	t.entries.names.addLater(maps.All(entries))
	unknown := len(targets) + len(entries)
	learn := func(ref uint64, name string) {
		for _, m := range []map[uint64]string{targets, entries} {
			if old, ok := m[ref]; ok && old == "" && name != "" {
				m[ref] = name
				unknown--
			}
		}
	}
	if t.opt.LLVMCompat {
		for i := 0; i < len(t.recs) && unknown > 0; i++ {
			learn(NameRef(t.recs[i].Name), t.recs[i].Name)
		}
	} else {
		for _, m := range []map[uint64]string{targets, entries} {
			for ref := range m {
				learn(ref, t.p.Symbols.Name(ref))
			}
		}
		for i := 0; i < len(t.p.Functions) && unknown > 0; i++ {
			learn(NameRef(t.p.Functions[i].Name), t.p.Functions[i].Name)
		}
	}
	for i := 0; i < len(t.p.VTableNames) && unknown > 0; i++ {
		learn(NameRef(t.p.VTableNames[i]), t.p.VTableNames[i])
	}
	t.warnUnknown("value targets", targets, func(s string) bool { return isLineStart(s) && s != externalSymbol })
	t.warnUnknown("functions in traces", entries, isEntry)
}

// references returns the distinct name references of values and of traces.
func (t *textWriter) references() (targets, entries map[uint64]string) {
	targets, entries = make(map[uint64]string), make(map[uint64]string)
	for _, rec := range t.recs {
		for _, k := range []int{IndirectCallTarget, VTableTarget} {
			for _, site := range rec.Values[k] {
				for _, v := range site {
					if v.Value != 0 {
						targets[v.Value] = ""
					}
				}
			}
		}
	}
	if t.p.Variant.Has(HasTemporal) {
		for _, trace := range t.p.Traces {
			for _, ref := range trace.NameRefs {
				entries[ref] = ""
			}
		}
	}
	return targets, entries
}

// warnUnknown warns of the references that have no name or none that can be written, and forgets the latter.
func (t *textWriter) warnUnknown(what string, names map[uint64]string, writable func(string) bool) {
	lost := 0
	for ref, name := range names {
		if writable(name) {
			continue
		}
		lost++
		if !t.opt.LLVMCompat {
			names[ref] = ""
		}
	}
	if lost > 0 {
		t.warn("", flaw.In("text").Field(what).
			Gotf("%d of %d without a name that can be written", lost, len(names)).Want("a name for each").
			Unsupported())
	}
}

func (t *textWriter) header() {
	v := t.p.Variant
	switch {
	case v.Has(ContextSens):
		t.print("# CSIR level Instrumentation Flag\n:csir\n")
	case v.Has(IRLevel):
		t.print("# IR level Instrumentation Flag\n:ir\n")
	}
	if v.Has(EntryFirst) {
		t.print("# Always instrument the function entry block\n:entry_first\n")
	}
	if v.Has(LoopEntries) {
		t.print("# Always instrument the loop entry blocks\n:instrument_loop_entries\n")
	}
	if v.Has(SingleByte) {
		t.print("# Instrument block coverage\n:single_byte_coverage\n")
	}
	// A file of no bytes is no profile, and one that begins with a name in UTF-8 is not taken for text.
	if len(t.buf) == 0 && !v.Has(HasTemporal) && !t.opt.LLVMCompat &&
		(len(t.recs) == 0 || !looksLikeText([]byte(t.recs[0].Name))) {
		t.print("# Front-end level instrumentation\n")
	}
}

func (t *textWriter) traces() {
	t.print(":temporal_prof_traces\n# Num Temporal Profile Traces:\n")
	t.printNumber(uint64(len(t.p.Traces)))
	t.print("# Temporal Profile Trace Stream Size:\n")
	t.printNumber(t.p.TraceStreamSize)
	for _, trace := range t.p.Traces {
		t.print("# Weight:\n")
		t.printNumber(trace.Weight)
		start := len(t.buf)
		for _, ref := range trace.NameRefs {
			t.print(t.entries.Name(ref))
			t.print(",")
		}
		// Keep the line from being skipped: empty items are.
		if !t.opt.LLVMCompat && (len(t.buf) == start || t.buf[start] == commentMark) {
			t.buf = slices.Insert(t.buf, start, ',')
		}
		t.print("\n")
		t.flushFull()
	}
	t.print("\n")
}

// noValueData is value data without a site. After a record that has none, it keeps a name that is a number, or
// begins with '$', from being read as part of that record.
const noValueData = "# Num Value Kinds:\n1\n# ValueKind = IPVK_IndirectCallTarget:\n0\n# NumValueSites:\n0\n\n"

func (t *textWriter) functions() {
	for i, rec := range t.recs {
		if t.err != nil {
			return
		}
		if i > 0 && misread(t.recs[i-1], rec.Name) {
			if t.opt.LLVMCompat {
				t.warn(rec.Name, flaw.In("text").InRecord(i).Field("function name").
					Got(flaw.Quote(rec.Name)).
					Want("one that is not taken for a part of the record before").Unsupported())
			} else {
				t.print(noValueData)
			}
		}
		t.buf = AppendTextRecord(t.buf, rec, &t.targets)
		t.flushFull()
	}
}

// misread reports whether a name on the line after a record would be taken for the record's bitmap or value data.
func misread(prev *Record, name string) bool {
	if name == "" || !hasNone(&prev.Values) {
		return false
	}
	if name[0] == bitmapMark {
		return len(prev.Bitmap) == 0
	}
	if name[0]-'0' > 9 {
		return false
	}
	n, ok := parseUint([]byte(name), 10)
	return ok && n <= math.MaxUint32
}

// AppendTextRecord appends one record in the text format. Value targets are
// named by symtab; one that it does not know becomes "** External Symbol **".
func AppendTextRecord(dst []byte, rec *Record, symtab *Symtab) []byte {
	dst = append(dst, rec.Name...)
	dst = append(dst, "\n# Func Hash:\n"...)
	dst = appendNumber(dst, rec.Hash)
	dst = append(dst, "# Num Counters:\n"...)
	dst = appendNumber(dst, uint64(len(rec.Counts)))
	dst = append(dst, "# Counter Values:\n"...)
	for _, c := range rec.Counts {
		dst = appendNumber(dst, c)
	}
	if len(rec.Bitmap) > 0 {
		dst = append(dst, "# Num Bitmap Bytes:\n$"...)
		dst = appendNumber(dst, uint64(len(rec.Bitmap)))
		dst = append(dst, "# Bitmap Byte Values:\n"...)
		for _, b := range rec.Bitmap {
			dst = append(dst, "0x"...)
			dst = strconv.AppendUint(dst, uint64(b), 16)
			dst = append(dst, '\n')
		}
		dst = append(dst, '\n')
	}
	if !hasNone(&rec.Values) {
		dst = appendTextValues(dst, &rec.Values, symtab)
	}
	return append(dst, '\n')
}

func appendTextValues(dst []byte, values *valueSites, symtab *Symtab) []byte {
	kinds := 0
	for _, sites := range values {
		if len(sites) > 0 {
			kinds++
		}
	}
	dst = append(dst, "# Num Value Kinds:\n"...)
	dst = appendNumber(dst, uint64(kinds))
	for k, sites := range values {
		if len(sites) == 0 {
			continue
		}
		dst = append(dst, "# ValueKind = "...)
		dst = append(dst, valueKindNames[k]...)
		dst = append(dst, ":\n"...)
		dst = appendNumber(dst, uint64(k))
		dst = append(dst, "# NumValueSites:\n"...)
		dst = appendNumber(dst, uint64(len(sites)))
		for _, site := range sites {
			dst = appendNumber(dst, uint64(len(site)))
			for _, v := range site {
				if k == MemOPSize {
					dst = strconv.AppendUint(dst, v.Value, 10)
				} else if name := symtab.Name(v.Value); name != "" {
					dst = append(dst, name...)
				} else {
					dst = append(dst, externalSymbol...)
				}
				dst = append(dst, ':')
				dst = appendNumber(dst, v.Count)
			}
		}
	}
	return dst
}

// appendNumber appends a line.
func appendNumber(dst []byte, n uint64) []byte {
	return append(strconv.AppendUint(dst, n, 10), '\n')
}

func (t *textWriter) print(s string)       { t.buf = append(t.buf, s...) }
func (t *textWriter) printNumber(n uint64) { t.buf = appendNumber(t.buf, n) }

func (t *textWriter) flushFull() {
	if len(t.buf) >= textBufferSize {
		t.flush()
	}
}

// flush passes the buffer on; after an error of the writer it drops it.
func (t *textWriter) flush() {
	if t.err == nil && len(t.buf) > 0 {
		_, t.err = t.w.Write(t.buf)
	}
	t.buf = t.buf[:0]
}

func (t *textWriter) warn(function string, err error) {
	if t.opt.Warn != nil {
		t.opt.Warn(profile.Warning{Function: function, Err: err})
	}
}
