package sampleprof

import (
	"iter"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
)

// Tables that compilers search where they are in the file are heaps (EytzingerTable): GUIDs, each once, laid out as a
// complete binary tree, level after level. The elements after i are 2i+1 and 2i+2, and everything below the first of
// these is less than element i.

// heapOrder yields the indexes of a heap of n elements in the order of the elements.
func heapOrder(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		leftmost := func(k int) int { // counting from 1
			for 2*k <= n {
				k *= 2
			}
			return k
		}
		for k := leftmost(1); k > 0 && n > 0; {
			if !yield(k - 1) {
				return
			}
			if 2*k < n {
				k = leftmost(2*k + 1)
				continue
			}
			for k%2 == 1 {
				k /= 2
			}
			k /= 2
		}
	}
}

// readHeap reads a heap of n GUIDs, which fit. Compilers do not find GUIDs in another order.
func (r *binaryReader) readHeap(c *cursor.Cursor, n int, field string) []uint64 {
	start := c.Offset()
	heap := make([]uint64, n)
	for i := range heap {
		heap[i] = c.U64(field)
	}
	last, first := uint64(0), true
	for i := range heapOrder(n) {
		if !first && heap[i] <= last {
			r.addDoubt(otherDoubt, c, c.At(start+8*int64(i)).Field(field).Gotf("%d", heap[i]).Wantf("a GUID above %d, in the order of a heap", last))
			break
		}
		last, first = heap[i], false
	}
	return heap
}

// readNameHeaps reads a name table of three heaps: functions that inline others, or all functions if their profiles are
// in one section; functions of the section with flagFlat; all other names.
//
//	heaps = nested flat others { u64:id } { u64:id } { u64:id }
func (r *binaryReader) readNameHeaps(c *cursor.Cursor) {
	c.Section = nameSection.String()
	if r.packer != nil {
		c.Fail(errNotPlain)
		return
	}
	const field = "number of names"
	var sizes [3]int
	total := 0
	for i := range sizes {
		sizes[i] = c.Count(c.ULEB(field), 8, field)
		total += sizes[i]
	}
	c.Count(uint64(total), 8, field)
	if c.Err() != nil {
		return
	}
	r.heaps, r.ids, r.nested, r.flat = true, true, sizes[0], sizes[1]
	r.names, r.used = make([]Name, 0, total), make([]bool, total)
	for _, n := range sizes {
		for _, id := range r.readHeap(c, n, "name") {
			r.names = append(r.names, Name{ID: id})
		}
	}
}

// readOffsetArray reads the offsets of the functions of the next profile section: a u32 for each name of its heap.
func (r *binaryReader) readOffsetArray(c *cursor.Cursor, flat bool) {
	first, n := 0, r.nested
	if flat {
		first, n = r.nested, r.flat
	}
	if r.p.Kind.ContextSensitive || c.Len() != 4*n {
		c.Fail(c.At(c.Offset()).Field("function offsets").Gotf("%d bytes", c.Len()).
			Wantf("4 bytes for each of the %d functions in the name table, and no contexts", n).Corrupt())
		return
	}
	r.offsets = make([]functionOffset, 0, n)
	for i := range n {
		if offset := c.U32("offset"); offset != math.MaxUint32 { // the section lacks the function
			r.offsets = append(r.offsets, functionOffset{uint64(first + i), uint64(offset)})
		}
	}
}

// readSymbolHeap reads the GUIDs of all functions of the program, to the end of the section.
func (r *binaryReader) readSymbolHeap(c *cursor.Cursor) {
	if c.Len()%8 != 0 {
		c.Fail(c.At(c.Offset()).Field("symbol list").Gotf("%d bytes", c.Len()).Want("8 bytes for each GUID").Corrupt())
		return
	}
	r.p.addSymbolIDs(r.readHeap(c, c.Len()/8, "symbol")...)
}

// symbolHeap returns the GUIDs of all symbols as a heap.
func (w *extendedWriter) symbolHeap() []byte {
	ids := slices.Clone(w.symbolIDs)
	for _, name := range w.symbols {
		ids = append(ids, guid.Of(name))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	dst := make([]byte, 8*len(ids))
	next := 0
	for i := range heapOrder(len(ids)) {
		le.PutUint64(dst[8*i:], ids[next])
		next++
	}
	return dst
}
