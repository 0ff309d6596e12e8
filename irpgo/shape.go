package irpgo

import (
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
)

// Profiles of one binary have one shape: the same functions, hashes, counters
// and value sites in one order. What differs are counts, values, and in raw
// profiles the address that the program was loaded at. A shape is worked out
// once; a profile of that shape is then a vector of counters to be added to
// another.
//
// Nothing is taken on trust: before a profile counts as one of a shape, every
// byte that matters for where its counters belong is compared. What does not
// fit goes the general way, which also finds the words for what is wrong.
type shape struct {
	key     shapeKey
	raw     *rawShape     // one of these is there
	indexed *indexedShape // and knows what profiles of the shape look like

	functions []shapeFunction
	valued    []int32     // functions that have value sites
	counters  int         // number of counters, timestamps included
	bitmap    int         // bytes of bitmap
	sites     int         // number of value sites
	unique    bool        // no two functions have name and hash in common
	names     []*nameList // of raw profiles
	vtables   []string    // names of virtual tables
}

// shapeFunction is what does not change of a function.
type shapeFunction struct {
	name     string
	nameRef  uint64
	hash     uint64
	counters int32                // index of its first counter
	count    int32                // number of counters, a timestamp included
	bitmap   int32                // offset of its bitmap
	bits     int32                // bytes of bitmap
	sites    [NumValueKinds]int32 // number of value sites by kind
	site     int32                // index of its first site
}

// kinds returns how many kinds of value sites the function has.
func (f *shapeFunction) kinds() (n uint32) {
	for _, sites := range f.sites {
		if sites > 0 {
			n++
		}
	}
	return n
}

// valued reports whether the function has value sites.
func (f *shapeFunction) valued() bool {
	return f.sites[0]|f.sites[1]|f.sites[2] != 0
}

// shapeKey is the part of a profile that is quick to compare.
type shapeKey struct {
	format                                          Format
	word, countersDelta, bitmapDelta                uint64
	ptr                                             int
	bigEndian                                       bool
	records, counters, bitmap, names, vtables, vnum int    // sizes of sections
	buckets                                         int    // of the hash table
	sample                                          uint64 // hash of what some functions are
}

// mix adds a word to a hash of which nothing is expected but that it tells
// most shapes apart: those of one key are all compared.
func mix(hash, word uint64) uint64 {
	hash = (hash ^ word) * 0x9e3779b97f4a7c15
	return hash ^ hash>>32
}

// A shapedProfile is a profile that was found to have a shape: where its
// counters and values are.
type shapedProfile struct {
	of    *shape // that it was the model for, if it was
	data  []byte // the file
	order binary.ByteOrder
	// Values that are addresses are to be understood modulo mask+1, and are
	// farther by slide than in the profile that the shape was made from.
	slide, mask uint64

	counters []byte // the section of a raw profile
	bitmap   []byte
	records  []recordPlace // indexed: by function, where its counters are
	blobs    []int         // offsets of the value data of valued functions
}

// recordPlace is where counters are in a file and how many.
type recordPlace struct{ at, count int32 }

// maxShapes bounds the memory for shapes of programs that are seen again and
// again; with more of them the rest goes the general way.
const maxShapes = 256

// maxAttempts is how many profiles of one key may turn out not to have a shape
// before no more are looked at.
const maxAttempts = 3

// shapeRegistry holds the shapes that several workers share. The first profile
// of all gets a shape, for most often all are of one binary; another shape is
// made when its key turns up for the second time: most binaries of a large
// mixture are seen once.
type shapeRegistry struct {
	mu      sync.Mutex
	entries map[shapeKey]*shapeEntry
	count   int // shapes
}

// shapeEntry holds the shapes of one key.
type shapeEntry struct {
	shapes   []*shape
	making   chan struct{} // closed when the shape that a worker is making is there
	attempts int           // profiles without a shape
}

func newShapeRegistry() *shapeRegistry {
	return &shapeRegistry{entries: make(map[shapeKey]*shapeEntry)}
}

// find returns the shape of a profile with this key, nil if it has none. fits
// asks whether the profile has a shape; it is asked about each shape once.
// create works out a new one. While a worker does so, others with profiles of
// that key wait: theirs are most likely of the same shape.
func (g *shapeRegistry) find(key shapeKey, fits func(*shape) bool, create func() *shape) *shape {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.entries[key]
	if e == nil {
		if len(g.entries) >= 1<<16 {
			return nil
		}
		first := len(g.entries) == 0
		e = &shapeEntry{}
		g.entries[key] = e
		if !first {
			return nil
		}
	}
	for tried := 0; ; {
		shapes, making := e.shapes, e.making
		if tried < len(shapes) || making != nil {
			g.mu.Unlock()
			for ; tried < len(shapes); tried++ {
				if fits(shapes[tried]) {
					g.mu.Lock()
					return shapes[tried]
				}
			}
			if making != nil {
				<-making
			}
			g.mu.Lock()
			continue
		}
		if g.count >= maxShapes || e.attempts >= maxAttempts {
			return nil
		}
		if s := g.make(e, create); s == nil || !fits(s) {
			e.attempts++
			return nil
		} else {
			return s
		}
	}
}

// make lets create make a shape, without the lock, and registers it.
func (g *shapeRegistry) make(e *shapeEntry, create func() *shape) (s *shape) {
	e.making = make(chan struct{})
	g.mu.Unlock()
	defer func() { // also when reading faults
		g.mu.Lock()
		close(e.making)
		e.making = nil
		if s != nil {
			e.shapes = append(slices.Clone(e.shapes), s)
			g.count++
		}
	}()
	return create()
}

// findShape returns the shape of the reader's profile and where in it is
// what, nil if it has to go the general way.
func (m *Merger) findShape(r *Reader) (*shape, *shapedProfile) {
	var key shapeKey
	var fits func(*shape) bool
	var create func() *shape
	p := &m.shaped
	p.of = nil
	switch d := r.dec.(type) {
	case *rawReader:
		if d.cur.start != 0 || d.cur.version < 8 || d.cur.isLightweight() {
			return nil, nil
		}
		key = rawKey(d.cur)
		fits = func(s *shape) bool { return s.matchRaw(d, p) }
		create = func() *shape { return newRawShape(key, d) }
	case *indexedReader:
		if d.memprof != nil {
			return nil, nil
		}
		key = indexedKey(d)
		fits = func(s *shape) bool { return s.matchIndexed(d, p) }
		create = func() *shape { return newIndexedShape(key, d, p) }
	default:
		return nil, nil
	}
	if m.opt.LLVMCompat && len(m.sums) > 0 {
		// Records of two shapes must not be summed up side by side, see AddAt.
		for s := range m.sums {
			if s.key == key && fits(s) {
				return s, p
			}
		}
		return nil, nil
	}
	if s := m.shapes.find(key, fits, create); s != nil {
		return s, p
	}
	return nil, nil
}

// finish fills in what follows from the functions and returns the shape, nil
// if their counters do not make one.
func (s *shape) finish() *shape {
	for i := range s.functions {
		f := &s.functions[i]
		if f.valued() {
			s.valued = append(s.valued, int32(i))
		}
		f.site = int32(s.sites)
		for _, n := range f.sites {
			s.sites += int(n)
		}
	}
	if !s.tiled() {
		return nil
	}
	return s
}

// tiled reports whether the functions' counters lie end to end and fill their
// section, so that adding the section adds each function once.
func (s *shape) tiled() bool {
	byPlace := func(a, b shapeFunction) int { return cmp.Compare(a.counters, b.counters) }
	fs := s.functions
	if !slices.IsSortedFunc(fs, byPlace) {
		fs = slices.SortedFunc(slices.Values(fs), byPlace)
	}
	next := 0
	for i := range fs {
		if int(fs[i].counters) != next {
			return false
		}
		next += int(fs[i].count)
	}
	return next == s.counters
}

func (s *shape) temporal() bool {
	return s.raw != nil && Variant(s.key.word).Has(HasTemporal)
}

// singleByte reports whether counters are bytes, which are 0 where the
// program went.
func (s *shape) singleByte() bool {
	return s.raw != nil && Variant(s.key.word).Has(SingleByte)
}

// stampEntries is the number of counters that a function's timestamp takes, 0
// without one.
func (s *shape) stampEntries() int {
	switch {
	case !s.temporal():
		return 0
	case s.singleByte():
		return 8
	}
	return 1
}

// matchBlobs checks the value data of all functions that follows each other
// from offset pos of p.data on, as in raw profiles, and returns where it ends.
func (s *shape) matchBlobs(p *shapedProfile, pos int) (end int, ok bool) {
	p.blobs = p.blobs[:0]
	for _, i := range s.valued {
		size, ok := s.functions[i].matchBlob(p.order, p.data[pos:])
		if !ok {
			return 0, false
		}
		p.blobs = append(p.blobs, pos)
		pos += size
	}
	return pos, true
}

// matchBlob reports whether b begins with value data for the sites of f,
// exactly as announced, and how long that is.
func (f *shapeFunction) matchBlob(order binary.ByteOrder, b []byte) (size int, ok bool) {
	if len(b) < valueDataHeader {
		return 0, false
	}
	total := order.Uint32(b)
	if total%8 != 0 || uint64(total) > uint64(len(b)) || total < valueDataHeader || order.Uint32(b[4:]) != f.kinds() {
		return 0, false
	}
	b = b[valueDataHeader:total]
	for k, n := range f.sites {
		if n == 0 {
			continue
		}
		head := valueKindHeader + (int(n)+7)&^7
		if len(b) < head || order.Uint32(b) != uint32(k) || order.Uint32(b[4:]) != uint32(n) {
			return 0, false
		}
		for _, values := range b[valueKindHeader : valueKindHeader+n] {
			head += int(values) * valueDataPair
		}
		if len(b) < head {
			return 0, false
		}
		b = b[head:]
	}
	return int(total), len(b) == 0
}

// inParts calls do for parts of the range from 0 to n-1, at once on all CPUs.
func inParts(n int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), 1+n/4096)
	var wg sync.WaitGroup
	for i := 1; i < parts; i++ {
		wg.Go(func() { do(i*n/parts, (i+1)*n/parts) })
	}
	do(0, n/parts)
	wg.Wait()
}
