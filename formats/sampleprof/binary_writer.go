package sampleprof

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// A packedProfile is a profile with packed functions, from which the binary formats are written.
type packedProfile struct {
	kind      Kind
	symbols   []string
	symbolIDs []uint64
	names     *nameTable
	functions []packedFunction
	order     func() *mapOrder // LLVM's map order of functions; nil if it is their own order

	surveyed *survey  // computed when needed
	summary  *Summary // computed when needed
}

func (p *Profile) pack() *packedProfile {
	to := newPacker()
	functions := p.InMapOrder()
	out := &packedProfile{kind: p.Kind, symbols: p.Symbols, symbolIDs: p.SymbolIDs, names: to.nameTable, functions: make([]packedFunction, len(functions))}
	var bodies chunks
	for i, f := range functions {
		begin := len(bodies.last)
		packed := to.function(bodies.begin(), f)
		bodies.end(packed.body)
		packed.body = packed.body[begin:len(packed.body):len(packed.body)]
		out.functions[i] = packed
	}
	return out
}

// A binaryWriter writes functions with indexes for names and contexts.
type binaryWriter struct {
	*packedProfile
	sorted   []int    // indexes of functions in file order
	used     []uint32 // numbers of the names in the file, sorted by name
	ranks    []uint32 // index in the file's name table by name number
	contexts []uint32 // index in the context table by function; nil without contexts
	vtables  bool
	list     []packedTarget
	calls    []packedCall
}

// newBinaryWriter returns a writer with the sorted name table of the file.
func newBinaryWriter(p *packedProfile, vtables bool) *binaryWriter {
	w := &binaryWriter{packedProfile: p, vtables: vtables, sorted: p.sorted()}
	written := ofFunction
	if vtables {
		written |= ofVTable
	}
	names := p.names.names
	for number, used := range p.survey().used {
		if used&written != 0 {
			w.used = append(w.used, uint32(number))
		}
	}
	slices.SortFunc(w.used, p.names.compare)
	w.ranks = make([]uint32, len(names))
	for rank, number := range w.used {
		w.ranks[number] = uint32(rank)
	}
	return w
}

// sorted returns the indexes of the functions in file order.
func (p *packedProfile) sorted() []int {
	sorted, totals := make([]int, len(p.functions)), make([]uint64, len(p.functions))
	for i := range p.functions {
		sorted[i], totals[i] = i, p.functions[i].total()
	}
	slices.SortFunc(sorted, func(i, j int) int {
		if totals[i] != totals[j] {
			return cmp.Compare(totals[j], totals[i])
		}
		return p.compare(i, j)
	})
	return sorted
}

func (p *packedProfile) compare(i, j int) int {
	return p.names.compareFunctions(&p.functions[i], &p.functions[j])
}

// inMapOrder yields the indexes of the functions in the order of LLVM's hash map.
func (p *packedProfile) inMapOrder() iter.Seq[int] {
	return func(yield func(int) bool) {
		if p.order == nil {
			for i := range p.functions {
				if !yield(i) {
					return
				}
			}
			return
		}
		p.order().all()(func(i uint32) bool { return yield(int(i)) })
	}
}

// appendMagic appends the magic number and the version (writeMagicIdent).
func appendMagic(dst []byte, magic uint64) []byte {
	return cursor.AppendULEB(cursor.AppendULEB(dst, magic), version)
}

// appendSummary appends a summary (writeSummary).
func appendSummary(dst []byte, s *Summary) []byte {
	for _, n := range []uint64{s.Total, s.MaxCount, s.MaxHead, s.NumCounts, s.NumFunctions, uint64(len(s.Cutoffs))} {
		dst = cursor.AppendULEB(dst, n)
	}
	for _, c := range s.Cutoffs {
		dst = cursor.AppendULEB(cursor.AppendULEB(cursor.AppendULEB(dst, c.Share), c.Min), c.Values)
	}
	return dst
}

// appendNames appends the name table; with ids, GUIDs as u64 instead of strings.
func (w *binaryWriter) appendNames(dst []byte, ids bool) []byte {
	dst = cursor.AppendULEB(dst, uint64(len(w.used)))
	for _, number := range w.used {
		n := w.names.names[number]
		if ids {
			dst = le.AppendUint64(dst, n.ID)
		} else {
			dst = append(append(dst, n.String()...), 0)
		}
	}
	return dst
}

// hasUniqueSuffix reports whether a name of the file has the uniqueSuffix.
func (w *binaryWriter) hasUniqueSuffix() bool {
	return slices.ContainsFunc(w.used, func(n uint32) bool { return strings.Contains(w.names.names[n].Text, uniqueSuffix) })
}

// subject returns the index of a function's context or, without contexts, of its name.
func (w *binaryWriter) subject(i int) uint64 {
	if w.contexts != nil {
		return uint64(w.contexts[i])
	}
	return uint64(w.ranks[w.functions[i].name])
}

// appendLocationWord appends the line and the discriminator of a [Location.word].
func appendLocationWord(dst []byte, word uint64) []byte {
	return cursor.AppendULEB(cursor.AppendULEB(dst, word>>32), uint64(uint32(word)))
}

func (w *binaryWriter) appendFunction(dst []byte, i int) []byte {
	f := &w.functions[i]
	return w.appendBody(cursor.AppendULEB(cursor.AppendULEB(dst, f.head), w.subject(i)), f.body)
}

// appendBody appends a body in the form of files (writeBody): without metadata, with numbers of samples and callsites.
func (w *binaryWriter) appendBody(dst, body []byte) []byte {
	u := unpacker{b: body}
	dst = cursor.AppendULEB(dst, u.num())
	u.skip()
	u.skip()
	begin, n := len(dst), 0
	for p := u.location(); p.ok; p = u.location() {
		n++
		dst = cursor.AppendULEB(appendLocationWord(dst, p.word), u.num())
		if p.listed {
			dst = w.appendList(dst, &u, p, packedTarget.byCount)
		} else {
			dst = append(dst, 0)
		}
	}
	dst = insertULEB(dst, begin, uint64(n))
	first := len(w.calls)
	dst = cursor.AppendULEB(dst, uint64(w.gatherCalls(&u)))
	for i := first; i < len(w.calls); i++ {
		c := &w.calls[i]
		dst = cursor.AppendULEB(appendLocationWord(dst, c.word), c.name)
		dst = w.appendBody(dst, c.body)
	}
	w.calls = w.calls[:first]
	if !w.vtables {
		return dst
	}
	begin, n = len(dst), 0
	for p := u.location(); p.ok; p = u.location() {
		n++
		dst = w.appendList(appendLocationWord(dst, p.word), &u, p, packedTarget.compare)
	}
	return insertULEB(dst, begin, uint64(n))
}

func insertULEB(dst []byte, at int, n uint64) []byte {
	if n < 0x80 {
		dst = append(dst, 0)
		copy(dst[at+1:], dst[at:])
		dst[at] = byte(n)
		return dst
	}
	return slices.Insert(dst, at, cursor.AppendULEB(nil, n)...)
}

// gatherCalls appends the callsites of a function to w.calls, in file order with indexes of names.
func (w *binaryWriter) gatherCalls(u *unpacker) int {
	first := len(w.calls)
	sorted := true
	for c := u.call(); c.ok; c = u.call() {
		c.name = uint64(w.ranks[c.name])
		if n := len(w.calls); n > first && w.calls[n-1].compare(&c, false) > 0 {
			sorted = false
		}
		w.calls = append(w.calls, c)
	}
	if calls := w.calls[first:]; !sorted {
		slices.SortStableFunc(calls, func(a, b packedCall) int { return a.compare(&b, false) })
	}
	return len(w.calls) - first
}

// byCount orders targets by descending count, then by name.
func (t packedTarget) byCount(o packedTarget) int {
	if t.count != o.count {
		return cmp.Compare(o.count, t.count)
	}
	return t.compare(o)
}

// appendList appends the list of a location, with indexes in the file's name table, sorted by order.
func (w *binaryWriter) appendList(dst []byte, u *unpacker, p packedLocation, order func(a, b packedTarget) int) []byte {
	w.list = u.list(w.list[:0], p)
	for i := range w.list {
		w.list[i].name = uint64(w.ranks[w.list[i].name])
	}
	sortFew(w.list, order)
	if len(w.list) == 0 {
		return append(dst, 0)
	}
	return appendList(dst, w.list)
}

// writeBinary writes the first binary format, which cannot hold contexts, checksums and symbols.
func (p *packedProfile) writeBinary(out io.Writer) error {
	w := newBinaryWriter(p, false)
	dst := appendSummary(appendMagic(nil, magicBinary), w.summarize())
	dst = w.appendNames(dst, false)
	var functions chunks
	for _, i := range w.sorted {
		functions.end(w.appendFunction(functions.begin(), i))
	}
	_, err := out.Write(dst)
	return functions.writeTo(out, err)
}

// chunks are bytes that are appended to without moving large blocks: end takes begin() with more bytes.
type chunks struct {
	full [][]byte
	last []byte
	size int // total
}

// chunk is the least size of a full chunk, in bytes.
const chunk = 1 << 20

func whole(b []byte) chunks { return chunks{last: b, size: len(b)} }

func (c *chunks) begin() []byte { return c.last }

func (c *chunks) end(last []byte) {
	c.size += len(last) - len(c.last)
	if c.last = last; len(last) >= chunk {
		c.full, c.last = append(c.full, last), make([]byte, 0, chunk+chunk/8)
	}
}

// writeTo writes everything, unless err is set.
func (c *chunks) writeTo(out io.Writer, err error) error {
	for _, b := range append(c.full, c.last) {
		if err == nil {
			_, err = out.Write(b)
		}
	}
	return err
}
