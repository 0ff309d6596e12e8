package sampleprof

import (
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
)

// packedSums are the sums of functions: one sum for each key or, with ofBuild, for each key and checksum.
type packedSums struct {
	packer
	bodyMerger
	functions []packedFunction
	plain     []uint32         // by name number: index in functions plus 1, if without context and checksum
	builds    map[build]uint32 // the same for functions with context or checksum
	adopts    bool             // the sums may retain the bodies that are added
	memory    []byte

	batches []batch // not yet in order
	batched int     // functions in batches
	order   mapOrder
}

// A build identifies a function in one of several builds of a program, which have different checksums.
type build struct{ key, checksum uint64 }

// get returns the index of the sum for f. If there is none, it adds an empty one.
func (s *packedSums) get(f *packedFunction) (i uint32, added bool) {
	b := build{}
	if s.ofBuild {
		b.checksum = f.checksum()
	}
	plain := f.context == nil && b.checksum == 0
	first := s.firstTwin(f.name)
	if plain {
		if int(first) >= len(s.plain) {
			s.plain = append(s.plain, make([]uint32, len(s.names)-len(s.plain))...)
		}
		i = s.plain[first]
	} else {
		b.key = s.key(f)
		i = s.builds[b]
	}
	if i > 0 {
		return i - 1, false
	}
	// The first function with a key gives the sum its name and context.
	s.functions = append(s.functions, packedFunction{name: f.name, context: f.context, body: emptyBody})
	if i = uint32(len(s.functions)); plain {
		s.plain[first] = i
	} else {
		if s.builds == nil {
			s.builds = make(map[build]uint32)
		}
		s.builds[b] = i
	}
	return i - 1, true
}

// addFunction adds weight·f to a sum, which is empty if fresh is set. With adopts, it may retain the body of f.
func (s *packedSums) addFunction(i uint32, f *packedFunction, weight uint64, fresh bool) result {
	to := &s.functions[i]
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
	s.addCount(&to.head, f.head)
	if fresh || len(sum) > cap(to.body) {
		to.body = append([]byte(nil), sum...)
	} else {
		to.body = append(to.body[:0], sum...)
	}
	return s.result
}

// A mapOrder is the order of LLVM's hash map of functions.
type mapOrder struct {
	keys      llvmorder.Unordered
	functions []uint32 // indexes, in the order of insertion
}

func (o *mapOrder) insert(key uint64, i uint32) {
	if _, added := o.keys.Insert(key); added {
		o.functions = append(o.functions, i)
	}
}

// all yields the indexes of the functions in map order.
func (o *mapOrder) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at := range o.keys.All() {
			if !yield(o.functions[at-1]) {
				return
			}
		}
	}
}

// A batch lists the functions of one input that LLVM would insert into its map of the sums. Few
// outputs show the order of that map, so batches wait until the order is needed, or until
// they become too large.
type batch struct {
	functions []uint32 // indexes
	mapped    bool     // LLVM inserts them in the order of a hash map of the input; else as listed
}

// maxBatched bounds the size of batches for each function of the sums.
const maxBatched = 16

func (s *packedSums) addBatch(b batch) {
	s.batches, s.batched = append(s.batches, b), s.batched+len(b.functions)
	if s.batched > maxBatched*len(s.functions) {
		s.inMapOrder()
	}
}

// inMapOrder returns the order of LLVM's hash map of the sums.
func (s *packedSums) inMapOrder() *mapOrder {
	for _, b := range s.batches {
		functions := slices.Values(b.functions)
		if b.mapped {
			functions = s.mapped(b.functions).all()
		}
		for i := range functions {
			s.order.insert(s.key(&s.functions[i]), i)
		}
	}
	s.batches, s.batched = nil, 0
	return &s.order
}

// mapped returns the order of LLVM's hash map of the functions with the given indexes.
func (s *packedSums) mapped(functions []uint32) *mapOrder {
	o := new(mapOrder)
	for _, i := range functions {
		o.insert(s.key(&s.functions[i]), i)
	}
	return o
}
