package sampleprof

import (
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
)

// packedSums are functions, each the sum of those of one key or, if they are of several builds, of
// one key and checksum.
type packedSums struct {
	packer
	bodyMerger
	functions []packedFunction
	places    []uint32         // by number of a name, places of functions without context and checksum, plus 1
	builds    map[build]uint32 // places of the others, plus 1
	adopts    bool             // bodies that are added may be kept
	memory    []byte

	batches []batch // that are not in the map yet
	batched int     // places in them
	order   mapOrder
}

// A build is a function in one of several builds of a program, which have different checksums.
type build struct{ key, checksum uint64 }

// get returns the place of the sum for f. If there is none it adds one, which is empty.
func (s *packedSums) get(f *packedFunction) (place uint32, added bool) {
	b := build{}
	if s.ofBuild {
		b.checksum = f.checksum()
	}
	plain := f.context == nil && b.checksum == 0
	first := s.first(f.name)
	if plain {
		if int(first) >= len(s.places) {
			s.places = append(s.places, make([]uint32, len(s.names)-len(s.places))...)
		}
		place = s.places[first]
	} else {
		b.key = s.key(f)
		place = s.builds[b]
	}
	if place > 0 {
		return place - 1, false
	}
	// Names and contexts of the first function of a key stand for all.
	s.functions = append(s.functions, packedFunction{name: f.name, context: f.context, body: emptyBody})
	if place = uint32(len(s.functions)); plain {
		s.places[first] = place
	} else {
		if s.builds == nil {
			s.builds = make(map[build]uint32)
		}
		s.builds[b] = place
	}
	return place - 1, true
}

// add adds weight·f to the sum at a place, with LLVM's rules. It keeps nothing of f but names and
// context, and the body if it may.
func (s *packedSums) add(place uint32, f *packedFunction, weight uint64, fresh bool) result {
	to := &s.functions[place]
	if fresh && weight == 1 && s.adopts {
		to.head, to.body = f.head, f.body
		return 0
	}
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

// A mapOrder is LLVM's map of functions. Nothing is removed from it.
type mapOrder struct {
	keys   llvmorder.Unordered
	places []uint32 // of the functions, by those of the map less 1
}

func (o *mapOrder) insert(key uint64, place uint32) {
	if _, added := o.keys.Insert(key); added {
		o.places = append(o.places, place)
	}
}

// all yields the places of the functions in the order of the map.
func (o *mapOrder) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at := range o.keys.All() {
			if !yield(o.places[at-1]) {
				return
			}
		}
	}
}

// A batch is functions that LLVM adds to its map of the sums, by their places. mapped says that it
// does so in the order of a map of these alone. As few files show that order, maps are not filled
// before someone asks for it, or there are very many places in batches.
type batch struct {
	places []uint32
	mapped bool
}

// maxBatched is how many places batches may have for each function.
const maxBatched = 16

func (s *packedSums) addBatch(b batch) {
	s.batches, s.batched = append(s.batches, b), s.batched+len(b.places)
	if s.batched > maxBatched*len(s.functions) {
		s.inMapOrder()
	}
}

// inMapOrder returns the order of LLVM's map of the sums.
func (s *packedSums) inMapOrder() *mapOrder {
	for _, b := range s.batches {
		places := slices.Values(b.places)
		if b.mapped {
			places = s.mapped(b.places).all()
		}
		for place := range places {
			s.order.insert(s.key(&s.functions[place]), place)
		}
	}
	s.batches, s.batched = nil, 0
	return &s.order
}

// mapped returns LLVM's map of functions.
func (s *packedSums) mapped(places []uint32) *mapOrder {
	o := new(mapOrder)
	for _, place := range places {
		o.insert(s.key(&s.functions[place]), place)
	}
	return o
}
