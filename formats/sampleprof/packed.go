package sampleprof

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/slab"
)

// Sums of many profiles are packed: each function is a string of bytes that refers to names by their
// numbers in a table. That takes a tenth of the memory of the model, and less time.
//
//	body     = total checksum attributes { sample } end { callsite } end { uses } end
//	sample   = location count [ list ]
//	callsite = location name u32:size body
//	uses     = location [ list ]
//	list     = n { name count }
//	location = (line+1)<<2 | hasList<<1 | hasDiscriminator [ discriminator ]
//	end      = 0
//
// Numbers are ULEB128. Samples and uses are sorted by location, lists by name number, callsites by
// location, name number and checksum.
const (
	hasDiscriminator = 1 << 0
	hasList          = 1 << 1
	lineShift        = 2

	sizeBytes = 4 // of the size of a callsite's body
)

var emptyBody = []byte{0, 0, 0, 0, 0, 0}

type packedFunction struct {
	name    uint32 // number in the name table
	context []Frame
	head    uint64
	body    []byte
}

func (f *packedFunction) total() uint64 { return (&unpacker{b: f.body}).num() }

func (f *packedFunction) checksum() uint64 {
	u := unpacker{b: f.body}
	u.num()
	return u.num()
}

func (f *packedFunction) inlines() bool {
	u := unpacker{b: f.body}
	u.skip()
	u.skip()
	u.skip()
	u.skipSamples()
	return u.location().ok
}

type packedTarget struct{ name, count uint64 }

func (t packedTarget) compare(o packedTarget) int { return cmp.Compare(t.name, o.name) }

type packedLocation struct {
	word   uint64 // see Location.word
	listed bool   // a list follows
	ok     bool   // false at the end of the locations
}

type packedCall struct {
	packedLocation
	name, checksum uint64
	body           []byte
}

// compare orders the callsites of a function; with ofBuild also by checksum.
func (c *packedCall) compare(o *packedCall, ofBuild bool) int {
	switch {
	case c.word != o.word:
		return cmp.Compare(c.word, o.word)
	case c.name != o.name:
		return cmp.Compare(c.name, o.name)
	case ofBuild:
		return cmp.Compare(c.checksum, o.checksum)
	}
	return 0
}

// appendPackedLocation appends a location. Its first number is never 0, which is the end.
func appendPackedLocation(dst []byte, word uint64, listed bool) []byte {
	key := (word>>32 + 1) << lineShift
	if listed {
		key |= hasList
	}
	discriminator := uint32(word)
	if discriminator == 0 {
		return cursor.AppendULEB(dst, key)
	}
	return cursor.AppendULEB(cursor.AppendULEB(dst, key|hasDiscriminator), uint64(discriminator))
}

func appendEnd(dst []byte) []byte { return append(dst, 0) }

// appendList appends a list. An empty list takes no bytes: the location says whether there is one.
func appendList(dst []byte, list []packedTarget) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = cursor.AppendULEB(dst, uint64(len(list)))
	for i := range list {
		dst = cursor.AppendULEB(cursor.AppendULEB(dst, list[i].name), list[i].count)
	}
	return dst
}

// beginCall appends a callsite up to its body. It returns the offset of the body, for endCall.
func beginCall(dst []byte, word, name uint64) ([]byte, int) {
	dst = cursor.AppendULEB(appendPackedLocation(dst, word, false), name)
	dst = append(dst, 0, 0, 0, 0)
	return dst, len(dst)
}

// endCall sets the size of the body that begins at the given offset and ends at the end of dst.
func endCall(dst []byte, begin int) {
	le.PutUint32(dst[begin-sizeBytes:], uint32(len(dst)-begin))
}

// An unpacker reads a body. Bodies come from this package, so it checks nothing.
type unpacker struct {
	b []byte
	i int
}

// num reads a number. Most numbers have one byte.
func (u *unpacker) num() uint64 {
	if b := u.b[u.i]; b < 0x80 {
		u.i++
		return uint64(b)
	}
	return u.longNum()
}

// longNum reads a number of at least two bytes.
func (u *unpacker) longNum() uint64 {
	b := u.b[u.i:]
	v := uint64(b[0]) + uint64(b[1])<<7 - 1<<7
	if b[1] < 0x80 {
		u.i += 2
		return v
	}
	for i, shift := 2, 14; ; i, shift = i+1, shift+7 {
		v += uint64(b[i])<<shift - 1<<shift
		if b[i] < 0x80 {
			u.i += i + 1
			return v
		}
	}
}

func (u *unpacker) skip() {
	for u.b[u.i] >= 0x80 {
		u.i++
	}
	u.i++
}

// location reads a location, numbers of one and two bytes without branches, which processors cannot predict.
func (u *unpacker) location() (p packedLocation) {
	b := u.b[u.i:]
	if b[0] == 0 {
		u.i++
		return p
	}
	long := uint64(b[0] >> 7)
	key := uint64(b[0]) + (uint64(b[1])<<7-1<<7)&-long
	if u.i += 1 + int(long); b[0]&b[1] >= 0x80 {
		u.i -= 2
		key = u.longNum()
	}
	has := key & hasDiscriminator
	discriminator := uint64(u.b[u.i]) & -has
	if u.i += int(has); discriminator >= 0x80 {
		u.i--
		discriminator = u.longNum()
	}
	return packedLocation{(key>>lineShift-1)<<32 | discriminator, key&hasList != 0, true}
}

// list reads the list of a location and appends it to dst.
func (u *unpacker) list(dst []packedTarget, p packedLocation) []packedTarget {
	if !p.listed {
		return dst
	}
	for n := u.num(); n > 0; n-- {
		dst = append(dst, packedTarget{u.num(), u.num()})
	}
	return dst
}

func (u *unpacker) skipList(p packedLocation) {
	if !p.listed {
		return
	}
	for n := 2 * u.num(); n > 0; n-- {
		u.skip()
	}
}

func (u *unpacker) skipSamples() {
	for p := u.location(); p.ok; p = u.location() {
		u.skip()
		u.skipList(p)
	}
}

// call reads a callsite; its ok is false at the end.
func (u *unpacker) call() (c packedCall) {
	if c.packedLocation = u.location(); !c.ok {
		return c
	}
	c.name = u.num()
	size := int(le.Uint32(u.b[u.i:]))
	u.i += sizeBytes + size
	c.body = u.b[u.i-size : u.i]
	in := unpacker{b: c.body}
	in.skip()
	c.checksum = in.num()
	return c
}

type packer struct {
	*nameTable
	list   []packedTarget
	calls  []numberedCall
	byLine bool // drop checksums, which mean nothing without probes
}

func newPacker() packer { return packer{nameTable: new(nameTable)} }

// A numberedCall is a callsite and the number of its callee's name.
type numberedCall struct {
	name uint64
	*Callsite
}

// function packs a function. It appends the body to dst.
func (p *packer) function(dst []byte, f *Function) packedFunction {
	name := p.number(f.Name)
	for i := range f.Context {
		p.number(f.Context[i].Name)
	}
	return packedFunction{name, f.Context, f.Head, p.pack(dst, f)}
}

func (p *packer) pack(dst []byte, f *Function) []byte {
	dst = cursor.AppendULEB(dst, f.Total)
	checksum := f.Checksum
	if p.byLine {
		checksum = 0
	}
	dst = cursor.AppendULEB(cursor.AppendULEB(dst, checksum), uint64(f.Attributes))
	for i := range f.Body {
		s := &f.Body[i]
		dst = cursor.AppendULEB(appendPackedLocation(dst, s.word(), len(s.Targets) > 0), s.Count)
		dst = p.targets(dst, s.Targets)
	}
	dst = appendEnd(dst)
	first := len(p.calls)
	for i := range f.Callsites {
		p.calls = append(p.calls, numberedCall{uint64(p.number(f.Callsites[i].Callee.Name)), &f.Callsites[i]})
	}
	last := len(p.calls)
	slices.SortStableFunc(p.calls[first:], func(a, b numberedCall) int {
		return cmp.Or(a.Location.compare(b.Location), cmp.Compare(a.name, b.name), cmp.Compare(a.Callee.Checksum, b.Callee.Checksum))
	})
	for i := first; i < last; i++ {
		var begin int
		dst, begin = beginCall(dst, p.calls[i].word(), p.calls[i].name)
		dst = p.pack(dst, p.calls[i].Callee)
		endCall(dst, begin)
	}
	p.calls = p.calls[:first]
	dst = appendEnd(dst)
	for i := range f.VTables {
		v := &f.VTables[i]
		dst = p.targets(appendPackedLocation(dst, v.word(), len(v.Targets) > 0), v.Targets)
	}
	return appendEnd(dst)
}

func (p *packer) targets(dst []byte, targets []Target) []byte {
	p.list = p.list[:0]
	for i := range targets {
		p.list = append(p.list, packedTarget{uint64(p.number(targets[i].Name)), targets[i].Count})
	}
	sortList(p.list)
	return appendList(dst, p.list)
}

func sortList(list []packedTarget) { sortFew(list, packedTarget.compare) }

// sortFew sorts a list. It is fast for the usual one or two elements.
func sortFew[E any](list []E, compare func(a, b E) int) {
	switch {
	case len(list) > 2:
		slices.SortFunc(list, compare)
	case len(list) == 2 && compare(list[0], list[1]) > 0:
		list[0], list[1] = list[1], list[0]
	}
}

// An expander turns packed functions back into the model. Each is valid until reset.
type expander struct {
	names     []Name
	functions slab.Slab[Function]
	samples   slab.Slab[Sample]
	targets   slab.Slab[Target]
	callsites slab.Slab[Callsite]
	body      []Sample   // of the function being read
	calls     []Callsite // of the functions being read
	sink      byte       // result of prefetch, so that the compiler keeps its loads
}

// reset reuses the memory of all functions made so far.
func (e *expander) reset() {
	e.functions.Reset()
	e.samples.Reset()
	e.targets.Reset()
	e.callsites.Reset()
}

// function expands a function in three walks: numbers, names, sorting by the texts of names. The loads
// of names and texts miss the caches; in separate walks the processor overlaps the misses.
func (e *expander) function(f *packedFunction) *Function {
	to := &e.functions.Make(1)[0]
	to.Name, to.Context, to.Head = numberAsName(uint64(f.name)), f.context, f.head
	e.expand(to, f.body)
	e.resolve(to)
	e.sort(to)
	return to
}

// numberAsName returns a stand-in for the name with the given number, until resolve replaces it.
func numberAsName(number uint64) Name { return Name{ID: number} }

// expand fills f from a body, with numbers in place of names.
func (e *expander) expand(f *Function, body []byte) {
	u := unpacker{b: body}
	f.Total, f.Checksum, f.Attributes = u.num(), u.num(), uint32(u.num())
	e.body = e.body[:0]
	for p := u.location(); p.ok; p = u.location() {
		e.body = append(e.body, Sample{Location: locationOf(p.word), Count: u.num(), Targets: e.expandList(&u, p)})
	}
	if len(e.body) > 0 {
		f.Body = e.samples.Make(len(e.body))
		copy(f.Body, e.body)
	}
	first := len(e.calls)
	for c := u.call(); c.ok; c = u.call() {
		callee := &e.functions.Make(1)[0]
		callee.Name = numberAsName(c.name)
		e.expand(callee, c.body)
		e.calls = append(e.calls, Callsite{locationOf(c.word), callee})
	}
	if calls := e.calls[first:]; len(calls) > 0 {
		f.Callsites = e.callsites.Make(len(calls))
		copy(f.Callsites, calls)
		e.calls = e.calls[:first]
	}
	for p := u.location(); p.ok; p = u.location() {
		f.VTables = append(f.VTables, Sample{Location: locationOf(p.word), Targets: e.expandList(&u, p)})
	}
}

// expandList reads a list, with numbers in place of names.
func (e *expander) expandList(u *unpacker, p packedLocation) []Target {
	if !p.listed {
		return nil
	}
	targets := e.targets.Make(int(u.num()))
	for i := range targets {
		targets[i] = Target{numberAsName(u.num()), u.num()}
	}
	return targets
}

func (e *expander) resolve(f *Function) {
	f.Name = e.names[f.Name.ID]
	for i := range f.Body {
		e.resolveList(f.Body[i].Targets)
	}
	for i := range f.VTables {
		e.resolveList(f.VTables[i].Targets)
	}
	for i := range f.Callsites {
		e.resolve(f.Callsites[i].Callee)
	}
}

func (e *expander) resolveList(targets []Target) {
	for i := range targets {
		targets[i].Name = e.names[targets[i].Name.ID]
	}
}

// sort sorts targets, virtual tables and callsites into the orders of [Function].
func (e *expander) sort(f *Function) {
	e.prefetch(f.Name)
	for i := range f.Body {
		e.sortTargets(f.Body[i].Targets, byCount)
	}
	for i := range f.VTables {
		e.sortTargets(f.VTables[i].Targets, byName)
	}
	for i := range f.Callsites {
		e.sort(f.Callsites[i].Callee)
	}
	if len(f.Callsites) > 1 {
		slices.SortStableFunc(f.Callsites, func(a, b Callsite) int { return a.compare(&b) })
	}
}

func (e *expander) sortTargets(targets []Target, order func(a, b Target) int) {
	for i := range targets {
		e.prefetch(targets[i].Name)
	}
	sortFew(targets, order)
}

// prefetch loads the first and the last byte of a name's text into the cache.
func (e *expander) prefetch(n Name) {
	if len(n.Text) > 0 {
		e.sink += n.Text[0] + n.Text[len(n.Text)-1]
	}
}

// locationOf is the inverse of [Location.word].
func locationOf(word uint64) Location { return Location{uint32(word >> 32), uint32(word)} }
