package irpgo

import (
	"bytes"
	"fmt"
	"math"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// The text format is lines, ended by \n or \r\n. Empty lines and lines that begin with '#' are skipped wherever
// they are. Nothing is escaped or trimmed: a name is its whole line, and so is a number.
//
//	file      = { directive } { record }
//	directive = ":ir" | ":fe" | ":csir" | ":entry_first" | ":not_entry_first"
//	          | ":instrument_loop_entries" | ":single_byte_coverage"
//	          | ":temporal_prof_traces" numTraces streamSize { weight names }
//	names     = name { "," name } [ "," ]
//	record    = name hash numCounters { count }
//	            [ "$"numBytes { byte } ]
//	            [ numKinds { kind numSites { numValues { value":"count } } } ]
//
// Directives may be in any case. The first line that does not begin with ':' ends the header. Value data follows if
// the line after the counters, or after the bitmap, is a decimal number below 2^32.
//
// Hash, numBytes, byte and the numbers of traces are in any base: decimal, 0x,
// 0b, 0o, or octal after a leading zero. All other numbers are decimal.
const (
	directiveMark = ':'
	commentMark   = '#'
	bitmapMark    = '$'

	// externalSymbol stands for a value target whose name is not known.
	externalSymbol = "** External Symbol **"
	// traceSpace is what is trimmed from the names of a trace.
	traceSpace = " \t\n\v\f\r"
)

var textDirectives = map[string]struct{ set, clear Variant }{
	"ir":                      {set: IRLevel},
	"fe":                      {set: FrontEnd},
	"csir":                    {set: IRLevel | ContextSens},
	"entry_first":             {set: EntryFirst},
	"not_entry_first":         {clear: EntryFirst},
	"instrument_loop_entries": {set: LoopEntries},
	"single_byte_coverage":    {set: SingleByte},
	"temporal_prof_traces":    {set: HasTemporal},
}

// textReader decodes a text profile line by line. After the first failure every get returns zero and err stays.
type textReader struct {
	decoded
	data   []byte
	pos    int
	record int // index of the record being read, for errors; -1 in the header
	err    error

	start int // of the records

	rec    Record
	values []ValueData // what the sites of rec are slices of
	sites  valueSites  // keeps the capacity of rec.Values, whose unused kinds are nil
	bitmap []byte      // keeps the capacity of rec.Bitmap

	names   []string // of the records, as far as any walk came
	hashed  int      // how many of names are in syms
	targets map[string]textTarget
	syms    Symtab
}

func newTextReader(name string, data []byte, opt ReaderOptions) (decoder, error) {
	d := &textReader{data: data, record: -1, targets: make(map[string]textTarget)}
	d.about.Format = FormatText
	// For LLVM a zero byte is the end of the file.
	if i := bytes.IndexByte(data, 0); i >= 0 {
		d.data = data[:i]
		if rest := bytes.TrimLeft(data[i:], "\x00"); len(rest) > 0 && opt.Warn != nil {
			err := d.at(i).Field("text").Got("a zero byte").
				Wantf("none before the last %d bytes, which are ignored", len(data)-i).
				Because(&llvmerr.Error{Code: llvmerr.Malformed})
			opt.Warn(profile.Warning{File: name, Err: err})
		}
	}
	d.header()
	if d.err != nil {
		return nil, d.err
	}
	d.start = d.pos
	return d, nil
}

// symbols adds the names of the records only now: hashing them costs more than
// reading them, and most callers never ask.
func (d *textReader) symbols() *Symtab {
	for ; d.hashed < len(d.names); d.hashed++ {
		d.syms.learn(d.names[d.hashed])
	}
	return &d.syms
}

// The first bytes of a text that decide whether it is a profile, and the least of them that
// a name takes whose line does not end within them.
const (
	textHead     = 1 << 20
	longTextName = 4 << 10
)

// beginsAsText is looksLikeText, but looks at the first lines that count.
func beginsAsText(data []byte) bool {
	data = data[:min(len(data), textHead)]
	if end := bytes.IndexByte(data, 0); end >= 0 {
		data = data[:end]
	}
	d := textReader{data: data}
	if !d.more() {
		return len(data) > 0
	}
	name := d.line()
	if name[0] == directiveMark { // also one of a newer LLVM
		return len(bytes.Trim(name[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")) == 0
	}
	if d.pos == len(data) && data[d.pos-1] != '\n' {
		return len(name) >= longTextName && !bytes.ContainsAny(name, " \t\"{}")
	}
	if !d.more() {
		return false
	}
	if _, ok := parseUint(d.line(), 0); !ok || !d.more() {
		return ok
	}
	// Next is the number of counters; AutoFDO's counts of addresses have "ADDRESS:COUNT" here.
	return bytes.IndexByte(d.line(), ':') < 0
}

func (d *textReader) header() {
	for d.err == nil && d.more() && d.data[d.pos] == directiveMark {
		start := d.pos
		line := d.line()
		directive, ok := textDirectives[lowerASCII(line[1:])]
		if !ok {
			// Most likely one of a newer LLVM.
			cause := &llvmerr.Error{Code: llvmerr.BadHeader, Class: profile.ErrUnsupported}
			d.err = d.at(start).Field("directive").Got(flaw.Quote(line)).Want("one that LLVM 22 knows").Because(cause)
			return
		}
		d.about.Variant = d.about.Variant&^directive.clear | directive.set
		if directive.set == HasTemporal {
			d.temporalTraces()
		}
	}
}

func (d *textReader) temporalTraces() {
	n := d.number(0, math.MaxUint32, llvmerr.EOF, "number of temporal traces", "")
	d.stream = d.number(0, math.MaxUint64, llvmerr.EOF, "temporal trace stream size", "")
	for ; n > 0 && d.err == nil; n-- {
		t := Trace{Weight: d.number(0, math.MaxUint64, llvmerr.EOF, "temporal trace weight", "")}
		if d.err != nil || !d.need(llvmerr.EOF, "temporal trace") {
			return
		}
		for name := range bytes.SplitSeq(d.line(), []byte{','}) {
			// Only an item of no bytes is skipped; one of blanks is the name "".
			if len(name) > 0 {
				t.NameRefs = append(t.NameRefs, d.ref(bytes.Trim(name, traceSpace), false))
			}
		}
		d.traceList = append(d.traceList, t)
	}
}

func (d *textReader) records(yield func(*Record, error) bool) {
	d.pos, d.record, d.err = d.start, -1, nil
	for d.more() {
		d.record++
		d.readRecord()
		if d.err != nil {
			yield(nil, d.err)
			return
		}
		if !yield(&d.rec, nil) {
			return
		}
	}
}

func (d *textReader) readRecord() {
	name := d.line()
	if d.record == len(d.names) { // not on a second walk
		d.names = append(d.names, d.copyName(name))
	}
	d.rec.Name = d.names[d.record]
	d.rec.Hash = d.number(0, math.MaxUint64, llvmerr.Truncated, "function hash", "function hash is not a valid integer")
	d.more()
	start := d.pos
	n := d.number(10, math.MaxUint64, llvmerr.Truncated, "number of counters", "number of counters is not a valid integer")
	if n == 0 {
		d.fail(d.at(start).Field("number of counters").Got("0").Want("at least 1").
			Because(malformed("number of counters is zero")))
	}
	// The slices grow with the lines that are there, never with the number that announces them.
	d.rec.Counts = d.rec.Counts[:0]
	for ; n > 0 && d.err == nil; n-- {
		d.rec.Counts = append(d.rec.Counts, d.number(10, math.MaxUint64, llvmerr.Truncated, "counter", "count is invalid"))
	}
	d.rec.Bitmap = nil
	if d.err == nil && d.more() && d.data[d.pos] == bitmapMark {
		d.readBitmap()
	}
	d.rec.Values = valueSites{}
	d.readValues()
}

// copyName returns the name of the next record as a string of its own. Several
// records of one name are usually neighbours and share it.
func (d *textReader) copyName(name []byte) string {
	if n := len(d.names); n > 0 && d.names[n-1] == string(name) {
		return d.names[n-1]
	}
	return string(name)
}

// readBitmap takes any number of bytes. LLVM 22 counts them in 8 bits and
// cannot read back what it writes for more than 255.
func (d *textReader) readBitmap() {
	start := d.pos
	line := d.line()
	n, ok := parseUint(bytes.Trim(line[1:], traceSpace), 0)
	if !ok {
		d.fail(d.at(start).Field("number of bitmap bytes").Got(flaw.Quote(line)).Want("an unsigned number").
			Because(malformed("number of bitmap bytes is not a valid integer")))
		return
	}
	d.bitmap = d.bitmap[:0]
	for ; n > 0 && d.err == nil; n-- {
		b := d.number(0, math.MaxUint8, llvmerr.Truncated, "bitmap byte", "bitmap byte is not a valid integer")
		d.bitmap = append(d.bitmap, byte(b))
	}
	if len(d.bitmap) > 0 {
		d.rec.Bitmap = d.bitmap
	}
}

func (d *textReader) readValues() {
	if d.err != nil || !d.more() || d.data[d.pos]-'0' > 9 {
		return
	}
	start := d.pos
	line := d.line()
	kinds, ok := parseUint(line, 10)
	if !ok || kinds > math.MaxUint32 {
		d.pos = start // the name of the next record
		return
	}
	if kinds == 0 || kinds > NumValueKinds {
		d.fail(d.at(start).Field("number of value kinds").Got(flaw.Quote(line)).Wantf("1 to %d", NumValueKinds).
			Because(malformed("number of value kinds is invalid")))
		return
	}
	d.values = d.values[:0]
	for k := range d.sites {
		d.sites[k] = d.sites[k][:0]
	}
	for ; kinds > 0 && d.err == nil; kinds-- {
		d.readKind()
	}
	for k, sites := range d.sites {
		if len(sites) > 0 {
			d.rec.Values[k] = sites
		}
	}
}

// readKind reads the sites of one kind. A kind that comes twice gets the sites of both, as in LLVM.
func (d *textReader) readKind() {
	d.more()
	start := d.pos
	k := d.number(10, math.MaxUint32, llvmerr.Truncated, "value kind", "")
	if k >= NumValueKinds {
		d.fail(d.at(start).Field("value kind").Got(k).Wantf("0 to %d", NumValueKinds-1).
			Because(malformed("value kind is invalid")))
	}
	sites := d.number(10, math.MaxUint32, llvmerr.Truncated, "number of value sites", "")
	for ; sites > 0 && d.err == nil; sites-- {
		n := d.number(10, math.MaxUint32, llvmerr.Truncated, "number of values", "")
		first := len(d.values)
		for ; n > 0 && d.err == nil; n-- {
			d.readValue(int(k))
		}
		d.sites[k] = append(d.sites[k], d.values[first:len(d.values):len(d.values)])
	}
}

func (d *textReader) readValue(k int) {
	if !d.need(llvmerr.Truncated, "value") {
		return
	}
	var (
		v     ValueData
		ok    = true
		start = d.pos
		line  = d.line()
		text  = line
		count []byte
	)
	if i := bytes.LastIndexByte(line, ':'); i >= 0 {
		text, count = line[:i], line[i+1:]
	}
	switch {
	case k == MemOPSize:
		v.Value, ok = parseUint(text, 10)
	case len(text) == 0:
		d.fail(d.at(start).Field("symbol name").Got("empty").Want("at least one byte").
			Because(malformed("symbol name is empty")))
		return
	case string(text) != externalSymbol:
		v.Value = d.ref(text, k == VTableTarget)
	}
	if ok {
		v.Count, ok = parseUint(count, 10)
	}
	if !ok {
		d.fail(d.at(start).Field("value").Got(flaw.Quote(line)).Want("VALUE:COUNT").
			Because(&llvmerr.Error{Code: llvmerr.Malformed}))
		return
	}
	d.values = append(d.values, v)
}

// textTarget is a name in value data or a trace.
type textTarget struct {
	ref    uint64
	vtable bool // it is in vtables
}

// ref returns the reference of a name and makes the name known.
func (d *textReader) ref(name []byte, vtable bool) uint64 {
	t, ok := d.targets[string(name)]
	if ok && (t.vtable || !vtable) {
		return t.ref
	}
	s := string(name)
	if !ok {
		t.ref = d.syms.learn(s)
	}
	if vtable {
		t.vtable = true
		d.about.VTableNames = append(d.about.VTableNames, s)
	}
	d.targets[s] = t
	return t.ref
}

// more moves to the next line that counts and reports whether there is one.
func (d *textReader) more() bool {
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '\n':
			d.pos++
		case c == '\r' && d.pos+1 < len(d.data) && d.data[d.pos+1] == '\n':
			d.pos += 2
		case c == commentMark:
			d.line()
		default:
			return true
		}
	}
	return false
}

// need is more, and fails with the given code at the end of the file.
func (d *textReader) need(atEnd llvmerr.Code, field string) bool {
	if d.more() {
		return true
	}
	d.fail(d.at(len(d.data)).Field(field).Got("missing").Want("a line of its own").Because(&llvmerr.Error{Code: atEnd}))
	return false
}

// line returns the rest of the current line without its end and moves past it.
func (d *textReader) line() []byte {
	rest := d.data[d.pos:]
	i := bytes.IndexByte(rest, '\n')
	if i < 0 {
		d.pos = len(d.data)
		return rest
	}
	d.pos += i + 1
	if i > 0 && rest[i-1] == '\r' {
		i--
	}
	return rest[:i]
}

// number reads a line that is an unsigned number of at most max. The detail is LLVM's for a line that is not.
func (d *textReader) number(base uint64, max uint64, atEnd llvmerr.Code, field, detail string) uint64 {
	if d.err != nil {
		return 0
	}
	if v, end := plainDecimal(d.data, d.pos); end > 0 && v <= max && (base == 10 || d.data[d.pos] != '0') {
		d.pos = end
		return v
	}
	if !d.need(atEnd, field) {
		return 0
	}
	start := d.pos
	line := d.line()
	v, ok := parseUint(line, base)
	if !ok || v > max {
		want := fmt.Sprintf("an unsigned number of at most %d", max)
		if base == 10 {
			want += ", in decimal"
		}
		d.fail(d.at(start).Field(field).Got(flaw.Quote(line)).Want(want).Because(malformed(detail)))
		return 0
	}
	return v
}

// fail keeps the first failure.
func (d *textReader) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// at returns the place of an error. It counts lines, so that reading need not.
func (d *textReader) at(off int) flaw.Position {
	return flaw.At("text", int64(off)).InRecord(d.record).OnLine(1 + bytes.Count(d.data[:off], []byte{'\n'}))
}
