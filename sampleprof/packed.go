package sampleprof

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvmorder"
	"github.com/profuse-pgo/profuse/internal/slab"
)

// Sums of many profiles are kept packed: each function is bytes in which names are numbers of a
// table. That takes a tenth of the memory of the model, and less time, too.
//
//	body     = total checksum attributes { sample } end { callsite } end { uses } end
//	sample   = place count [ list ]
//	callsite = place name u32:size body
//	uses     = place [ list ]
//	list     = n { name count }
//	place    = (line+1)<<2 | hasList<<1 | hasDiscriminator [ discriminator ]
//	end      = 0
//
// Numbers are ULEB128. Samples and uses are in the order of locations, lists in that of names'
// numbers, callsites in that of locations, names' numbers and checksums.
const (
	hasDiscriminator = 1 << 0
	hasList          = 1 << 1
	lineShift        = 2

	sizeBytes = 4 // of the size of a callsite's body
)

// emptyBody is the body of a function without samples.
var emptyBody = []byte{0, 0, 0, 0, 0, 0}

// A packedFunction is a function of a profile.
type packedFunction struct {
	name    Name
	context []Frame
	head    uint64
	body    []byte
}

func (f *packedFunction) key() uint64 { return keyOf(f.name, f.context) }

func (f *packedFunction) total() uint64 { return (&unpacker{b: f.body}).num() }

func (f *packedFunction) checksum() uint64 {
	u := unpacker{b: f.body}
	u.num()
	return u.num()
}

// inlines reports whether something is inlined into the function.
func (f *packedFunction) inlines() bool {
	u := unpacker{b: f.body}
	u.skip()
	u.skip()
	u.skip()
	u.skipSamples()
	return u.place().ok
}

// label is [Function.Label].
func (f *packedFunction) label() string { return (&Function{Name: f.name, Context: f.context}).Label() }

// A nameTable gives names their numbers.
type nameTable struct {
	names []Name
	index nameIndex
}

// number returns the number of a name, which it adds if it is new.
func (t *nameTable) number(n Name) uint64 {
	i, ok := t.index.get(n)
	if !ok {
		i = uint32(len(t.names))
		n.text = strings.Clone(n.text) // which is a part of the names of a file
		t.index.set(n, i)
		t.names = append(t.names, n)
	}
	return uint64(i)
}

// truncate removes all names but the first n.
func (t *nameTable) truncate(n int) {
	for _, name := range t.names[n:] {
		delete(*t.index.of(name), name.id)
	}
	t.names = t.names[:n]
}

// A nameIndex is a map by name: names are told apart by their GUIDs, which are hashed in less time
// than texts, and those that are GUIDs alone are others than texts.
type nameIndex [2]map[uint64]uint32

func (x *nameIndex) of(n Name) *map[uint64]uint32 {
	if n.text == "" && n.id != emptyID {
		return &x[1]
	}
	return &x[0]
}

func (x *nameIndex) get(n Name) (i uint32, ok bool) {
	i, ok = (*x.of(n))[n.id]
	return i, ok
}

func (x *nameIndex) set(n Name, i uint32) {
	m := x.of(n)
	if *m == nil {
		*m = make(map[uint64]uint32)
	}
	(*m)[n.id] = i
}

// A packedTarget is an element of a list.
type packedTarget struct{ name, count uint64 }

func (t packedTarget) compare(o packedTarget) int { return cmp.Compare(t.name, o.name) }

// A packedPlace is a location and whether it has a list; ok is false for the end.
type packedPlace struct {
	word   uint64 // of the location
	listed bool
	ok     bool
}

// A packedCall is a callsite.
type packedCall struct {
	packedPlace
	name, checksum uint64
	body           []byte
}

// compare orders the callsites of a function; ofBuild says whether checksums tell them apart.
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

func appendPlace(dst []byte, word uint64, listed bool) []byte {
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

// beginCall appends a callsite up to its body, and returns where that begins.
func beginCall(dst []byte, word, name uint64) ([]byte, int) {
	dst = cursor.AppendULEB(appendPlace(dst, word, false), name)
	dst = append(dst, 0, 0, 0, 0)
	return dst, len(dst)
}

// endCall ends a callsite whose body began at an index.
func endCall(dst []byte, begin int) {
	le.PutUint32(dst[begin-sizeBytes:], uint32(len(dst)-begin))
}

// An unpacker reads a body, which is never damaged.
type unpacker struct {
	b []byte
	i int
}

func (u *unpacker) num() uint64 {
	if b := u.b[u.i]; b < 0x80 {
		u.i++
		return uint64(b)
	}
	return u.longNum()
}

func (u *unpacker) longNum() uint64 {
	v, n := binary.Uvarint(u.b[u.i:])
	u.i += n
	return v
}

// skip passes over a number.
func (u *unpacker) skip() {
	for u.b[u.i] >= 0x80 {
		u.i++
	}
	u.i++
}

func (u *unpacker) place() (p packedPlace) {
	key := u.num()
	if key == 0 {
		return p
	}
	p.ok, p.listed, p.word = true, key&hasList != 0, (key>>lineShift-1)<<32
	if key&hasDiscriminator != 0 {
		p.word |= u.num()
	}
	return p
}

// list appends the list of a place.
func (u *unpacker) list(dst []packedTarget, p packedPlace) []packedTarget {
	if !p.listed {
		return dst
	}
	for n := u.num(); n > 0; n-- {
		dst = append(dst, packedTarget{u.num(), u.num()})
	}
	return dst
}

func (u *unpacker) skipList(p packedPlace) {
	if !p.listed {
		return
	}
	for n := 2 * u.num(); n > 0; n-- {
		u.skip()
	}
}

func (u *unpacker) skipSamples() {
	for p := u.place(); p.ok; p = u.place() {
		u.skip()
		u.skipList(p)
	}
}

// call reads a callsite; ok is false at the end.
func (u *unpacker) call() (c packedCall) {
	if c.packedPlace = u.place(); !c.ok {
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

// A packer makes bodies.
type packer struct {
	nameTable
	list  []packedTarget
	calls []numberedCall
}

// A numberedCall is a callsite, and the number of its name.
type numberedCall struct {
	name uint64
	*Callsite
}

// function packs a function of a profile, with a body at the end of dst.
func (p *packer) function(dst []byte, f *Function) packedFunction {
	p.number(f.Name)
	for i := range f.Context {
		p.number(f.Context[i].Name)
	}
	return packedFunction{f.Name, f.Context, f.Head, p.pack(dst, f)}
}

// pack appends the body of a function.
func (p *packer) pack(dst []byte, f *Function) []byte {
	dst = cursor.AppendULEB(dst, f.Total)
	dst = cursor.AppendULEB(dst, f.Checksum)
	dst = cursor.AppendULEB(dst, uint64(f.Attributes))
	for i := range f.Body {
		s := &f.Body[i]
		dst = cursor.AppendULEB(appendPlace(dst, s.word(), len(s.Targets) > 0), s.Count)
		dst = p.targets(dst, s.Targets)
	}
	dst = appendEnd(dst)
	first := len(p.calls)
	for i := range f.Callsites {
		p.calls = append(p.calls, numberedCall{p.number(f.Callsites[i].Callee.Name), &f.Callsites[i]})
	}
	last := len(p.calls)
	slices.SortStableFunc(p.calls[first:], func(a, b numberedCall) int {
		return cmp.Or(a.Compare(b.Location), cmp.Compare(a.name, b.name), cmp.Compare(a.Callee.Checksum, b.Callee.Checksum))
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
		dst = p.targets(appendPlace(dst, v.word(), len(v.VTables) > 0), v.VTables)
	}
	return appendEnd(dst)
}

func (p *packer) targets(dst []byte, targets []Target) []byte {
	p.list = p.list[:0]
	for i := range targets {
		p.list = append(p.list, packedTarget{p.number(targets[i].Name), targets[i].Count})
	}
	sortList(p.list)
	return appendList(dst, p.list)
}

// sortList sorts a list by the numbers of names.
func sortList(list []packedTarget) {
	if len(list) > 1 {
		slices.SortFunc(list, packedTarget.compare)
	}
}

// An expander makes functions of bodies.
type expander struct {
	names     []Name
	functions slab.Slab[Function]
	samples   slab.Slab[Sample]
	targets   slab.Slab[Target]
	body      []Sample // of the function being read
	list      []packedTarget
}

func (e *expander) function(f *packedFunction) *Function {
	to := &e.functions.Make(1)[0]
	to.Name, to.Context, to.Head = f.name, f.context, f.head
	e.expand(to, f.body)
	return to
}

// expand sets what a body has.
func (e *expander) expand(f *Function, body []byte) {
	u := unpacker{b: body}
	f.Total, f.Checksum, f.Attributes = u.num(), u.num(), Attributes(u.num())
	e.body = e.body[:0]
	for p := u.place(); p.ok; p = u.place() {
		e.body = append(e.body, Sample{Location: locationOf(p.word), Count: u.num(), Targets: e.expandList(&u, p)})
	}
	if len(e.body) > 0 {
		f.Body = e.samples.Make(len(e.body))
		copy(f.Body, e.body)
	}
	for c := u.call(); c.ok; c = u.call() {
		callee := &e.functions.Make(1)[0]
		callee.Name = e.names[c.name]
		e.expand(callee, c.body)
		f.Callsites = append(f.Callsites, Callsite{locationOf(c.word), callee})
	}
	if len(f.Callsites) > 1 {
		slices.SortStableFunc(f.Callsites, func(a, b Callsite) int { return a.compare(&b) })
	}
	for p := u.place(); p.ok; p = u.place() {
		f.VTables = append(f.VTables, VTableUses{locationOf(p.word), e.expandList(&u, p)})
	}
}

func (e *expander) expandList(u *unpacker, p packedPlace) []Target {
	if !p.listed {
		return nil
	}
	e.list = u.list(e.list[:0], p)
	targets := e.targets.Make(len(e.list))
	for i, t := range e.list {
		targets[i] = Target{e.names[t.name], t.count}
	}
	if len(targets) > 1 {
		slices.SortFunc(targets, func(a, b Target) int { return a.compare(&b) })
	}
	return targets
}

func locationOf(word uint64) Location { return Location{uint32(word >> 32), uint32(word)} }

// A bodyMerger adds bodies up (FunctionSamples::merge).
type bodyMerger struct {
	weight  uint64
	ofBuild bool // inlined functions are told apart by checksum
	result  result
	list    []packedTarget
}

// merge appends the sum of body a and weight times body b. A function with another checksum is
// left out whole, unless checksums tell functions apart: ok is false. fresh says that a is empty.
func (m *bodyMerger) merge(dst, a, b []byte, fresh bool) (sum []byte, ok bool) {
	if fresh && m.weight == 1 {
		return append(dst, b...), true
	}
	x, y := unpacker{b: a}, unpacker{b: b}
	total, checksum, attributes := x.num(), x.num(), x.num()
	m.add(&total, y.num())
	other, more := y.num(), y.num()
	switch {
	case fresh:
		checksum, attributes = other, more
	case checksum == 0:
		checksum = other
	case checksum != other && !m.ofBuild:
		return append(dst, a...), false
	}
	if m.ofBuild { // in any order
		attributes |= more
	}
	dst = cursor.AppendULEB(cursor.AppendULEB(cursor.AppendULEB(dst, total), checksum), attributes)
	dst = m.mergeLists(dst, &x, &y, true)
	dst = m.mergeCalls(dst, &x, &y)
	return m.mergeLists(dst, &x, &y, false), true
}

// add adds weight times a count.
func (m *bodyMerger) add(sum *uint64, count uint64) {
	if add(sum, count, m.weight) {
		m.result |= overflowed
	}
}

// mergeLists adds samples up or, without counts, uses of virtual tables. Runs of what a alone has
// are copied.
func (m *bodyMerger) mergeLists(dst []byte, a, b *unpacker, counts bool) []byte {
	pass := func(p packedPlace) {
		if counts {
			a.skip()
		}
		a.skipList(p)
	}
	run, at := a.i, a.i // the beginning of a run, and of place x
	x := a.place()
	for y := b.place(); y.ok; y = b.place() {
		for x.ok && x.word < y.word {
			pass(x)
			at = a.i
			x = a.place()
		}
		dst = append(dst, a.b[run:at]...)
		run = at
		count := uint64(0)
		m.list = m.list[:0]
		same := x.ok && x.word == y.word
		if same {
			if counts {
				count = a.num()
			}
			m.list = a.list(m.list, x)
			run, at = a.i, a.i
			x = a.place()
		}
		if counts {
			m.add(&count, b.num())
		}
		known := len(m.list)
		m.list = b.list(m.list, y)
		m.addList(known)
		dst = appendPlace(dst, y.word, len(m.list) > 0)
		if counts {
			dst = cursor.AppendULEB(dst, count)
		}
		dst = appendList(dst, m.list)
	}
	for x.ok {
		pass(x)
		x = a.place()
	}
	return append(dst, a.b[run:a.i]...) // with the end
}

// addList adds the elements of the list after the known ones to these.
func (m *bodyMerger) addList(known int) {
	for i := known; i < len(m.list); i++ {
		t := m.list[i]
		count := t.count
		t.count = 0
		m.add(&t.count, count)
		m.list[i] = t
	}
	if known == 0 || known == len(m.list) {
		return
	}
	slices.SortStableFunc(m.list, packedTarget.compare)
	n := 0
	for _, t := range m.list[1:] {
		if t.name != m.list[n].name {
			n++
			m.list[n] = t
		} else if add(&m.list[n].count, t.count, 1) {
			m.result |= overflowed
		}
	}
	m.list = m.list[:n+1]
}

// mergeCalls adds callsites up.
func (m *bodyMerger) mergeCalls(dst []byte, a, b *unpacker) []byte {
	run, at := a.i, a.i
	x := a.call()
	for y := b.call(); y.ok; y = b.call() {
		for x.ok && x.compare(&y, m.ofBuild) < 0 {
			at = a.i
			x = a.call()
		}
		dst = append(dst, a.b[run:at]...)
		run = at
		var begin int
		dst, begin = beginCall(dst, y.word, y.name)
		if x.ok && x.compare(&y, m.ofBuild) == 0 {
			dst, _ = m.merge(dst, x.body, y.body, false) // left out in silence, as in LLVM
			run, at = a.i, a.i
			x = a.call()
		} else {
			dst, _ = m.merge(dst, emptyBody, y.body, true)
		}
		endCall(dst, begin)
	}
	for x.ok {
		x = a.call()
	}
	return append(dst, a.b[run:a.i]...)
}

// packedSums are functions by key, in the order of LLVM's map of them.
type packedSums struct {
	packer
	bodyMerger
	order     llvmorder.Unordered
	functions []packedFunction // by place
	memory    []byte
}

// get returns the function of the key of f, which it adds, empty, if there is none.
func (s *packedSums) get(f *packedFunction) (known *packedFunction, added bool) {
	place, added := s.order.Insert(f.key())
	for place >= len(s.functions) {
		s.functions = append(s.functions, packedFunction{})
	}
	if added {
		s.functions[place] = packedFunction{name: f.name, context: f.context, body: emptyBody}
	}
	return &s.functions[place], added
}

// add adds weight·f to the function of its key, with LLVM's rules.
func (s *packedSums) add(f *packedFunction, weight uint64) result {
	to, fresh := s.get(f)
	return s.addTo(to, f, weight, fresh)
}

// addTo adds weight·f. It keeps nothing of f but names and context.
func (s *packedSums) addTo(to, f *packedFunction, weight uint64, fresh bool) result {
	s.weight, s.result = weight, 0
	sum, ok := s.merge(s.memory[:0], to.body, f.body, fresh)
	s.memory = sum
	if !ok {
		return mismatched
	}
	s.bodyMerger.add(&to.head, f.head)
	if fresh || len(sum) > cap(to.body) {
		to.body = append([]byte(nil), sum...)
	} else {
		to.body = append(to.body[:0], sum...)
	}
	return s.result
}

// places returns the places of the functions in the order of the map.
func (s *packedSums) places() []int { return slices.Collect(s.order.All()) }
