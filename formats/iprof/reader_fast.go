package iprof

import "bytes"

// This is the fast path for files as tools write them: members in the usual order, no
// blanks, no escapes, ASCII only, numbers of usual size. It reads a whole entry or changes
// nothing; then the general path in reader_entries.go reads the entry or finds the error.
// checkRead in the tests compares both.

// Texts that end a table or section. In files as tools write them they occur at the end only.
const (
	tableEndTypes   = `"}]`
	tableEndMethods = `]}]`
	sectionEnd      = `]}]`
)

type expected struct {
	entries, frames, records int
}

// expect counts the elements in the text up to end: exactly in files of tools, in others for capacities only.
func (d *decoder) expect(end string) expected {
	if d.peek() == ']' {
		return expected{} // the end is missing: do not count the rest of the file
	}
	text := d.data[d.pos:]
	i := bytes.Index(text, []byte(end))
	if i < 0 {
		return expected{}
	}
	text = text[:i]
	n := expected{entries: bytes.Count(text, []byte("{"))}
	if d.section != keyTypes && d.section != keyMethods {
		// An entry has two colons and a comma, a frame one more colon, a record but the first one more comma.
		n.frames = max(0, bytes.Count(text, []byte(":"))-2*n.entries)
		n.records = max(0, bytes.Count(text, []byte(","))-n.entries+1)
	}
	return n
}

// has reports whether text begins at offset p with the given word.
func has(text []byte, p int, word string) bool {
	return len(text)-p >= len(word) && string(text[p:p+len(word)]) == word
}

// plainString returns the offset of the quote that closes the string with text from p; 0 if a byte is not plain.
func plainString(text []byte, p int) int {
	for i, c := range text[p:] {
		if plainByte[c] {
			continue
		}
		if c == '"' {
			return p + i
		}
		return 0
	}
	return 0
}

// plainByte is the set of bytes that need no decoding in a string: printable ASCII without quote and backslash.
var plainByte = func() (plain [256]bool) {
	for c := ' '; c < 0x80; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// fastNamed reads the id and name of a type or method. end is the offset of the closing quote, 0 if it gives up.
func (d *decoder) fastNamed() (id int32, name []byte, end int) {
	const head, middle = `{"id":`, `,"name":"`
	text := d.data
	if d.generalOnly || d.old || !has(text, d.pos, head) {
		return 0, nil, 0
	}
	id, p := smallInt(text, d.pos+len(head))
	if p == 0 || !has(text, p, middle) {
		return 0, nil, 0
	}
	p += len(middle)
	end = plainString(text, p)
	return id, text[p:max(p, end)], end
}

func (d *decoder) fastType() bool {
	const tail = `"}`
	id, name, end := d.fastNamed()
	if end == 0 || !has(d.data, end, tail) {
		return false
	}
	d.p.Types = append(d.p.Types, Type{TypeID(id), d.names.add(name)})
	d.pos = end + len(tail)
	return true
}

func (d *decoder) fastMethod() bool {
	const signature, tail = `","signature":[`, `]}`
	text := d.data
	id, name, end := d.fastNamed()
	if end == 0 || !has(text, end, signature) {
		return false
	}
	first := len(d.signatures)
	next := end + len(signature)
	for {
		t, q := smallInt(text, next)
		if q == 0 || q == len(text) {
			d.signatures = d.signatures[:first]
			return false
		}
		first = d.signatureRoom(first)
		d.signatures = append(d.signatures, TypeID(t))
		if next = q; text[next] != ',' {
			break
		}
		next++
	}
	if !has(text, next, tail) {
		d.signatures = d.signatures[:first]
		return false
	}
	last := len(d.signatures)
	d.p.Methods = append(d.p.Methods, Method{MethodID(id), d.names.add(name), d.signatures[first:last:last]})
	d.pos = next + len(tail)
	return true
}

// fastEntry reads an entry of any section but Monitors, which has a single entry.
func (d *decoder) fastEntry(s *Section) bool {
	const head, records, tail = `{"ctx":"`, `","records":[`, `]}`
	text, start := d.data, d.pos
	if d.generalOnly || d.old || s.kind == Monitors || !has(text, start, head) {
		return false
	}
	// Appended frames and numbers take effect when they are stored in the section.
	frames, p := fastFrames(s.frames, text, start+len(head), s.kind == CallCounts)
	if p == 0 || !has(text, p, records) {
		return false
	}
	numbers, p := fastRecords(s.records, text, p+len(records), s.kind.Arity())
	if p == 0 || !has(text, p, tail) || !s.kind.fits(len(numbers)-len(s.records)) {
		return false
	}
	s.frames, s.records = frames, numbers
	s.end()
	d.pos = p + len(tail)
	return true
}

// fastFrames appends the frames of a context and returns the offset of its closing quote, or 0.
func fastFrames(frames []Frame, text []byte, p int, entry bool) ([]Frame, int) {
	for {
		method, q := digits9(text, p)
		if q == p || q >= len(text) || text[q] != ':' {
			return nil, 0
		}
		p = q + 1
		negative := p < len(text) && text[p] == '-'
		if negative {
			p++
		}
		bci, q := digits9(text, p)
		if q == p || q >= len(text) {
			return nil, 0
		}
		if entry { // the index must be 0
			if bci != 0 || negative || q-p > 1 {
				return nil, 0
			}
			entry = false
		}
		if negative {
			bci = -bci
		}
		frames = append(frames, Frame{MethodID(method), int32(bci)})
		switch text[q] {
		case '<':
			p = q + 1
		case '"':
			return frames, q
		default:
			return nil, 0
		}
	}
}

// digits9 reads at most nine digits, which fit 31 bits; a tenth is not the separator that the caller expects.
func digits9(text []byte, p int) (v int32, next int) {
	end := min(p+9, len(text))
	for p < end && text[p]-'0' <= 9 {
		v = v*10 + int32(text[p]-'0')
		p++
	}
	return v, p
}

// smallInt reads a JSON integer of one to nine digits; next is 0 if there is none.
func smallInt(text []byte, p int) (v int32, next int) {
	v, next = digits9(text, p)
	if next == p || text[p] == '0' && next-p > 1 {
		return 0, 0
	}
	return v, next
}

// fastRecords appends numbers and returns the offset of the closing bracket, or 0. Counts have up to 18 digits.
func fastRecords(numbers []int64, text []byte, p, arity int) ([]int64, int) {
	for left := arity; ; p++ {
		negative := p < len(text) && text[p] == '-'
		if negative {
			p++
		}
		end := min(p+9, len(text))
		if left--; left == 0 {
			end = min(p+18, len(text))
			left = arity
		}
		first := p
		v := int64(0)
		for p < end && text[p]-'0' <= 9 {
			v = v*10 + int64(text[p]-'0')
			p++
		}
		if p == first || p >= len(text) || text[first] == '0' && p-first > 1 {
			return nil, 0
		}
		if negative {
			v = -v
		}
		numbers = append(numbers, v)
		switch text[p] {
		case ',':
		case ']':
			return numbers, p
		default:
			return nil, 0
		}
	}
}
