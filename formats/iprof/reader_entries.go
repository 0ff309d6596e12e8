package iprof

import (
	"math"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// The reader tries the fast path in reader_fast.go first for each entry. The fast path
// gives up, without side effects, on text that the tools would not write.

func (d *decoder) types() {
	if !d.open('[', keyTypes) {
		return
	}
	d.p.Types = make([]Type, 0, d.expect(tableEndTypes).entries)
	d.elements(keyTypes, d.fastType, d.oneType, &d.positions.types)
	d.tables[0] = d.err == nil
}

// elements reads the entries of a table or section, each with the fast path or, if that
// gives up, the general one. Both report whether they have added an entry. If positions are
// wanted, elements adds the position of each entry to list.
func (d *decoder) elements(key string, fast, general func() bool, list *[]position) {
	for first := true; d.more(first, ']', key); first = false {
		d.record++
		start := d.offset()
		if (fast() || general()) && d.keepPositions {
			*list = append(*list, position{uint32(start), uint32(d.record)})
		}
		d.lastStart, d.lastEnd = start, d.pos
	}
}

// The members of entries, as bits.
const (
	hasID = 1 << iota
	hasName
	hasSignature
	hasContext
	hasRecords
)

// An entryReader reads the members of one entry and adds unknown members to the profile.
type entryReader struct {
	*decoder
	start     int
	seen, bad uint // members
	extras    int  // of the profile, before this entry
}

func (d *decoder) entry() (entryReader, bool) {
	start := d.offset()
	return entryReader{decoder: d, start: start, extras: len(d.p.Extra)}, d.open('{', "entry")
}

// first reports whether a known key occurs for the first time. If not, it skips the value.
func (e *entryReader) first(member uint, at int, key string) bool {
	if e.seen&member == 0 {
		e.seen |= member
		return true
	}
	e.violation(at, "key", flaw.Quote(key), "each key once")
	e.bad |= member
	e.skip("value")
	return false
}

// check records whether the value of the member could be read.
func (e *entryReader) check(member uint, ok bool) {
	if !ok {
		e.bad |= member
	}
}

// extra reads an unknown member of the entry with the given index.
func (e *entryReader) extra(text []byte, index int) {
	key := string(text) // before the next string is read
	section := e.section
	if kind, ok := e.kind(section); ok && e.old {
		section = kind.Key()
	}
	if raw := e.skip("value"); e.err == nil {
		e.p.Extra = append(e.p.Extra, Member{section, index, key, append([]byte(nil), raw...)})
	}
}

// complete reports whether the entry has all members of want, with these names, and they are valid.
func (e *entryReader) complete(want uint, names ...string) bool {
	for bit := uint(1); bit <= want; bit <<= 1 {
		if want&bit == 0 {
			continue
		}
		if e.seen&bit == 0 && e.err == nil {
			e.violation(e.start, "key "+names[0], "missing", "it in every entry")
			e.bad |= bit
		}
		names = names[1:]
	}
	if e.bad == 0 && e.err == nil {
		return true
	}
	e.p.Extra = e.p.Extra[:e.extras]
	return false
}

// idOrName reads a member that types and methods share, and reports whether the key is one of these.
func (e *entryReader) idOrName(key []byte, at int, nameKey string, id *int32, name *string) bool {
	switch {
	case string(key) == keyID:
		if e.first(hasID, at, keyID) {
			v, ok := e.id(keyID)
			*id = v
			e.check(hasID, ok)
		}
	case string(key) == nameKey:
		if e.first(hasName, at, nameKey) {
			text, ok := e.text(nameKey)
			*name = e.names.add(text)
			e.check(hasName, ok)
		}
	default:
		return false
	}
	return true
}

func (d *decoder) oneType() bool {
	e, ok := d.entry()
	if !ok {
		return false
	}
	var t Type
	for first := true; d.more(first, '}', "entry"); first = false {
		at := d.pos
		switch key := d.key(); {
		case d.err != nil, e.idOrName(key, at, d.typeName, (*int32)(&t.ID), &t.Name):
		default:
			e.extra(key, len(d.p.Types))
		}
	}
	complete := e.complete(hasID|hasName, keyID, d.typeName)
	if complete {
		d.p.Types = append(d.p.Types, t)
	}
	return complete
}

func (d *decoder) methods() {
	if !d.open('[', keyMethods) {
		return
	}
	d.p.Methods = make([]Method, 0, d.expect(tableEndMethods).entries)
	d.elements(keyMethods, d.fastMethod, d.oneMethod, &d.positions.methods)
	d.tables[1] = d.err == nil
}

func (d *decoder) oneMethod() bool {
	e, ok := d.entry()
	if !ok {
		return false
	}
	var m Method
	for first := true; d.more(first, '}', "entry"); first = false {
		at := d.pos
		switch key := d.key(); {
		case d.err != nil, e.idOrName(key, at, d.methodName, (*int32)(&m.ID), &m.Name):
		case string(key) == keySignature:
			if e.first(hasSignature, at, keySignature) {
				m.Signature, ok = d.signature()
				e.check(hasSignature, ok)
			}
		default:
			e.extra(key, len(d.p.Methods))
		}
	}
	complete := e.complete(hasID|hasName|hasSignature, keyID, d.methodName, keySignature)
	if complete {
		d.p.Methods = append(d.p.Methods, m)
	}
	return complete
}

// signatureSlab is the number of ids allocated at a time.
const signatureSlab = 1 << 12

func (d *decoder) signature() (ids []TypeID, ok bool) {
	if !d.open('[', keySignature) {
		return nil, false
	}
	start := len(d.signatures)
	ok = true
	for first := true; d.more(first, ']', keySignature); first = false {
		id, valid := d.id("type id")
		ok = ok && valid
		start = d.signatureRoom(start)
		d.signatures = append(d.signatures, TypeID(id))
	}
	end := len(d.signatures)
	return d.signatures[start:end:end], ok && d.err == nil
}

// signatureRoom makes room for one more id and returns the new start of the signature that begins at start.
func (d *decoder) signatureRoom(start int) int {
	if len(d.signatures) < cap(d.signatures) {
		return start
	}
	slab := make([]TypeID, 0, max(signatureSlab, 2*(len(d.signatures)-start+1)))
	d.signatures = append(slab, d.signatures[start:]...)
	return 0
}

func (d *decoder) entries(kind Kind, key string) {
	s, list := &d.p.Sections[kind], &d.positions.entries[kind]
	at := d.offset()
	if d.old && kind == Monitors {
		d.record = 0
		if d.oneEntry(s, hasRecords) && d.keepPositions {
			*list = append(*list, position{offset: uint32(at)})
		}
		return
	}
	if !d.open('[', key) {
		return
	}
	if s.Len() == 0 {
		if kind == TypeChecks {
			d.p.checksKey = key
		}
		size := d.expect(sectionEnd)
		s.frames = make([]Frame, 0, size.frames)
		s.records = make([]int64, 0, size.records)
		s.ends = make([]entryEnd, 0, size.entries)
	} else if d.peek() != ']' { // type checks, in the other spelling
		d.violation(at, "section", "not empty, and the one of the other spelling is not, either",
			"one of "+TypeChecks.Key()+" and "+schemaTypeChecks)
	}
	fast := func() bool { return d.fastEntry(s) }
	general := func() bool { return d.oneEntry(s, hasContext|hasRecords) }
	d.elements(key, fast, general, list)
}

// oneEntry reads an entry with the given members. Only the entry of Monitors in 0.2.0 has no context.
func (d *decoder) oneEntry(s *Section, members uint) bool {
	e, ok := d.entry()
	if !ok {
		return false
	}
	index := len(s.ends)
	for first := true; d.more(first, '}', "entry"); first = false {
		at := d.pos
		switch key := d.key(); {
		case d.err != nil:
		case string(key) == d.context && members&hasContext != 0:
			if e.first(hasContext, at, d.context) {
				e.check(hasContext, d.ctx(s))
			}
		case string(key) == keyRecords:
			if e.first(hasRecords, at, keyRecords) {
				e.check(hasRecords, d.records(s))
			}
		default:
			e.extra(key, index)
		}
	}
	names := []string{d.context, keyRecords}
	if members&hasContext == 0 {
		s.frames = append(s.frames, Frame{})
		names = names[1:]
	}
	if !e.complete(members, names...) {
		s.truncate(index)
		return false
	}
	s.end()
	return true
}

// ctx reads a context and appends its frames.
func (d *decoder) ctx(s *Section) bool {
	at := d.offset()
	text, ok := d.text(d.context)
	if !ok {
		return false
	}
	escaped := d.pos-at-len("\"\"") != len(text)
	before := len(s.frames)
	var n int
	var want string
	s.frames, n, want = parseFrames(s.frames, text, d.separator)
	switch {
	case want != "":
		if !escaped {
			at += 1 + n
		}
		found := "cut short"
		if n < len(text) {
			found = flaw.Quote(text[n:])
		}
		d.violation(at, "context", found, want)
		return false
	case s.kind == CallCounts && !zeroLeaf(text):
		d.violation(at, "context", flaw.Quote(text),
			"bytecode index 0 in the first frame, the entry of the method")
		return false
	case s.kind == Monitors && (string(text) != monitorContext || len(s.frames) != before+1):
		d.violation(at, "context", flaw.Quote(text), strconv.Quote(monitorContext))
		return false
	}
	return true
}

// zeroLeaf reports whether the first frame of a valid context has the bytecode index "0".
func zeroLeaf(text []byte) bool {
	i := 0
	for text[i] != ':' {
		i++
	}
	return text[i+1] == '0' && (i+2 == len(text) || text[i+2]-'0' > 9)
}

func (d *decoder) records(s *Section) bool {
	at := d.offset()
	if !d.open('[', keyRecords) {
		return false
	}
	before := len(s.records)
	ok := true
	for first := true; d.more(first, ']', keyRecords); first = false {
		v, valid := d.record64(s.kind, len(s.records)-before)
		ok = ok && valid
		s.records = append(s.records, v)
	}
	if n := len(s.records) - before; d.err == nil && !s.kind.fits(n) {
		d.violation(at, "number of records", strconv.Itoa(n), s.kind.wantRecords())
		return false
	}
	return ok
}

// record64 reads the number at position i of an entry's records.
func (d *decoder) record64(k Kind, i int) (int64, bool) {
	if i%k.Arity() == k.Arity()-1 {
		return d.integer("count", math.MinInt64, math.MaxInt64)
	}
	field := "type id"
	if k == Conditionals {
		field = [...]string{"target", "index"}[i%k.Arity()]
	}
	return d.integer(field, math.MinInt32, math.MaxInt32)
}

// truncate drops all but the first n entries, including an incomplete last one.
func (s *Section) truncate(n int) {
	end := s.start(n)
	s.frames, s.records, s.ends = s.frames[:end.frames], s.records[:end.records], s.ends[:n]
}

// A stringArena allocates short strings together.
type stringArena struct {
	b strings.Builder
}

// arenaChunk is the number of bytes allocated at a time.
const arenaChunk = 1 << 14

func (a *stringArena) add(text []byte) string {
	if a.b.Cap()-a.b.Len() < len(text) {
		a.b = strings.Builder{}
		a.b.Grow(max(len(text), arenaChunk))
	}
	start := a.b.Len()
	a.b.Write(text)
	return a.b.String()[start:]
}
