package irpgo

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
)

// Raw profiles of one binary have one shape: the same functions, hashes,
// counter layout, value sites and names. What differs are counts, values and
// the address that the program was loaded at. A shape is worked out once; a
// profile of that shape is then a vector of counters to be added to another.
//
// Nothing is taken on trust: before a profile counts as one of a shape, every
// byte that matters for where its counters belong is compared. What does not
// fit goes the general way, which also finds the words for what is wrong.
type shape struct {
	key     shapeKey
	records []byte // of the profile that the shape was made from
	names   []byte
	vnames  []byte
	vtables []byte
	layout  recordLayout
	ptr     int
	order   binary.ByteOrder

	functions []shapeFunction
	sites     int  // value sites in all
	unique    bool // no two functions have name and hash in common
	addrs     addressMap
	symbols   *Symtab
	known     []string // names of virtual tables
}

// shapeFunction is what does not change of a function.
type shapeFunction struct {
	name     string
	nameRef  uint64
	hash     uint64
	counters int // index of its first counter in the section
	count    int // number of counters, a timestamp included
	bitmap   int // offset of its bitmap in the section
	bits     int // bytes of bitmap
	funcPtr  uint64
	sites    [NumValueKinds]int // number of value sites by kind
}

// shapeKey is the part of a profile that is quick to compare.
type shapeKey struct {
	word, countersDelta, bitmapDelta                uint64
	ptr                                             int
	bigEndian                                       bool
	records, counters, bitmap, names, vtables, vnum int
}

func keyOf(p *rawProfile) shapeKey {
	bitmapDelta := p.fields[fBitmapDelta]
	if len(p.bitmap.data) == 0 {
		bitmapDelta = 0 // the distance from nowhere: it varies with the load address
	}
	return shapeKey{
		word: p.word, countersDelta: p.fields[fCountersDelta], bitmapDelta: bitmapDelta, ptr: p.ptr, bigEndian: p.order == binary.ByteOrder(binary.BigEndian),
		records: len(p.records.data), counters: len(p.counters.data), bitmap: len(p.bitmap.data),
		names: len(p.names.data), vtables: len(p.vtables.data), vnum: len(p.vnames.data),
	}
}

// maxShapes bounds the memory for shapes of programs that are seen again and
// again; with more of them the rest goes the general way.
const maxShapes = 256

// shapeRegistry holds the shapes that several workers share. A shape is made
// when its key turns up for the second time: most binaries of a large mixture
// are seen once.
type shapeRegistry struct {
	mu     sync.Mutex
	seen   map[shapeKey]struct{}
	shapes map[shapeKey][]*shape
	count  int
}

func newShapeRegistry() *shapeRegistry {
	return &shapeRegistry{seen: make(map[shapeKey]struct{}), shapes: make(map[shapeKey][]*shape)}
}

// candidates returns the shapes that a profile with this key can have, and
// whether another one may be made for it. eager makes shapes at first sight.
func (g *shapeRegistry) candidates(key shapeKey, eager bool) (shapes []*shape, create bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, seen := g.seen[key]
	if !seen && len(g.seen) < 1<<16 {
		g.seen[key] = struct{}{}
	}
	return g.shapes[key], (seen || eager) && g.count < maxShapes
}

// add registers a shape, unless another worker was quicker.
func (g *shapeRegistry) add(s *shape) *shape {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.shapes[s.key] {
		if o.sameAs(s) {
			return o
		}
	}
	g.count++
	g.shapes[s.key] = append(slices.Clone(g.shapes[s.key]), s)
	return s
}

func (s *shape) sameAs(o *shape) bool {
	return s.key == o.key && bytes.Equal(s.names, o.names) && bytes.Equal(s.vnames, o.vnames) &&
		slices.Equal(s.functions, o.functions) && bytes.Equal(s.vtables, o.vtables)
}

// newShape works out the shape of the reader's current profile, nil if it is
// not one for the fast way: a version without relative counter pointers,
// damage, or records without a name.
func newShape(r *rawReader) *shape {
	p := r.cur
	if r.prepare() != nil {
		return nil
	}
	s := &shape{
		key: keyOf(p), records: bytes.Clone(p.records.data), names: bytes.Clone(p.names.data),
		vnames: bytes.Clone(p.vnames.data), vtables: bytes.Clone(p.vtables.data),
		layout: p.layout, ptr: p.ptr, order: p.order,
		addrs:   addressMap{slices.Clone(r.addrs.callees), slices.Clone(r.addrs.vtables)},
		symbols: &Symtab{maps.Clone(r.syms.names)}, known: slices.Clone(r.vnames),
	}
	size := int(p.counterSize())
	for i := range p.numRecords() {
		b := p.record(i)
		known, err := r.decodeRecord(i)
		if err != nil || !known || r.rec.Name == "" {
			return nil
		}
		f := shapeFunction{
			name: r.rec.Name, nameRef: p.u64(b, p.layout.nameRef), hash: r.rec.Hash,
			count: int(p.u32(b, p.layout.numCounters)), funcPtr: p.addr(b, p.layout.funcPtr),
		}
		start := r.sectionOffset(i, p.addr(b, p.layout.counterPtr), p.fields[fCountersDelta], uint64(len(p.counters.data)))
		if start%uint64(size) != 0 {
			return nil
		}
		f.counters = int(start) / size
		if p.layout.bitmapBytes >= 0 {
			if f.bits = int(p.u32(b, p.layout.bitmapBytes)); f.bits > 0 {
				f.bitmap = int(r.sectionOffset(i, p.addr(b, p.layout.bitmapPtr), p.fields[fBitmapDelta], uint64(len(p.bitmap.data))))
			}
		}
		for k := range p.layout.kinds {
			f.sites[k] = int(p.order.Uint16(b[p.layout.valueSites+2*k:]))
			s.sites += f.sites[k]
		}
		s.functions = append(s.functions, f)
	}
	if !s.tiled() {
		return nil
	}
	type id struct{ nameRef, hash uint64 }
	ids := make(map[id]struct{}, len(s.functions))
	for i := range s.functions {
		ids[id{s.functions[i].nameRef, s.functions[i].hash}] = struct{}{}
	}
	s.unique = len(ids) == len(s.functions)
	return s
}

// tiled reports whether the functions' counters lie end to end and fill the
// section, so that adding the section adds each function once.
func (s *shape) tiled() bool {
	order := make([]int, len(s.functions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.functions[a].counters, s.functions[b].counters) })
	next := 0
	for _, i := range order {
		if s.functions[i].counters != next {
			return false
		}
		next += s.functions[i].count
	}
	return next == s.counters()
}

// match reports whether p has the shape, and how far its addresses are from
// those of the profile that the shape was made from.
func (s *shape) match(p *rawProfile, relative bool) (slide uint64, ok bool) {
	if keyOf(p) != s.key || !relative || p.layout != s.layout ||
		!bytes.Equal(p.names.data, s.names) || !bytes.Equal(p.vnames.data, s.vnames) {
		return 0, false
	}
	// Counter and bitmap pointers are distances, so they stay; only the
	// function's address and the runtime's pointer to its values move.
	l := &s.layout
	addrEnd := l.funcPtr + 2*s.ptr
	mask := p.addrMask()
	known := false
	for i := range s.functions {
		a, b := p.record(i), s.records[i*l.size:(i+1)*l.size]
		if !bytes.Equal(a[:l.funcPtr], b[:l.funcPtr]) || !bytes.Equal(a[addrEnd:], b[addrEnd:]) {
			return 0, false
		}
		was, is := s.functions[i].funcPtr, p.addr(a, l.funcPtr)
		if (was == 0) != (is == 0) {
			return 0, false
		}
		if was == 0 {
			continue
		}
		if !known {
			slide, known = (is-was)&mask, true
		}
		if (is-was)&mask != slide {
			return 0, false
		}
	}
	return slide, s.matchVTables(p, slide)
}

func (s *shape) matchVTables(p *rawProfile, slide uint64) bool {
	size := vtableRecordSize(s.ptr)
	for off := 0; off < len(s.vtables); off += size {
		a, b := p.vtables.data[off:off+size], s.vtables[off:off+size]
		if !bytes.Equal(a[:8], b[:8]) || !bytes.Equal(a[8+s.ptr:12+s.ptr], b[8+s.ptr:12+s.ptr]) ||
			(p.addr(a, 8)-p.addr(b, 8))&p.addrMask() != slide {
			return false
		}
	}
	return true
}
