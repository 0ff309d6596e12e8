package dwarf

import (
	"math"
	"math/bits"
	"sort"
)

// A function is a DIE that may describe code: a DW_TAG_subprogram or a DW_TAG_inlined_subroutine.
type function struct {
	off     uint32 // of the DIE, from the start of its unit
	parent  int32  // index of the innermost enclosing function DIE; -1 if none
	inlined bool   // DW_TAG_inlined_subroutine
}

type codeRange struct {
	addrRange
	function int32
}

type tree struct {
	functions []function
	starts    []uint64 // of the ranges, which are disjoint and in order
	ranges    []codeEnd
}

type codeEnd struct {
	high     uint64
	function int32
}

func (t *tree) find(addr uint64) int32 {
	i := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > addr })
	if i == 0 || addr >= t.ranges[i-1].high {
		return -1
	}
	return t.ranges[i-1].function
}

func (t *tree) size() int { return 12*len(t.functions) + 24*len(t.starts) }

// readTree reads all DIEs of a unit and decodes the DIEs of functions.
func (c *cu) readTree() (*tree, error) {
	t := new(tree)
	var code []codeRange
	var ranges []addrRange
	var err error
	r := at(c.d.s.Info[:c.end], c.first, c.d.BigEndian)
	// The function that each open level of the tree is in.
	parents := make([]int32, 0, 64)
	parent := int32(-1)
	for r.more() {
		off := uint64(r.off)
		n := r.uleb()
		if n == 0 {
			if len(parents) > 0 {
				parent = parents[len(parents)-1]
				parents = parents[:len(parents)-1]
			}
			continue
		}
		a := c.abbrevs.get(n)
		if a == nil {
			return nil, c.d.badCode(off, n)
		}
		self := parent
		if a.tag != tagSubprogram && a.tag != tagInlinedSubroutine {
			skipAttrs(&r, a, c.format)
		} else {
			ranges, err = c.functionRanges(&r, a, ranges[:0])
			if err != nil {
				return nil, err
			}
			// Without code, it matters only as the parent of others.
			if len(ranges) > 0 || a.children {
				if bytesPerFunction*len(t.functions)+bytesPerRange*(len(code)+len(ranges)) > c.d.maxMemory() || len(code) > math.MaxInt32/2 {
					return nil, c.d.at("info", off).Field("functions and ranges of the unit").Gotf("%d and %d", len(t.functions), len(code)).
						Wantf("fewer in a file of %d bytes", c.d.FileSize).Unsupported()
				}
				self = int32(len(t.functions))
				t.functions = append(t.functions, function{uint32(off - c.off), parent, a.tag == tagInlinedSubroutine})
				for _, x := range ranges {
					code = append(code, codeRange{x, self})
				}
			}
		}
		if r.bad {
			return nil, c.d.cut("info", off, "entry")
		}
		if a.children {
			if len(parents) == maxNesting {
				return nil, c.d.at("info", off).Field("entries around the entry").Got(len(parents)).Want("fewer").Unsupported()
			}
			parents = append(parents, parent)
			parent = self
		}
	}
	t.build(code)
	c.done(partTree)
	return t, nil
}

// functionRanges reads the attributes of a function's DIE and appends the addresses of its code.
func (c *cu) functionRanges(r *buf, a *abbrev, dst []addrRange) ([]addrRange, error) {
	var low, high, ranges value
	for i, s := range a.specs {
		switch s.attr {
		case attrLowPC:
			low = readValue(r, s, c.format)
		case attrHighPC:
			high = readValue(r, s, c.format)
		case attrRanges:
			ranges = readValue(r, s, c.format)
		default:
			if step := a.steps[i]; step >= 0 {
				r.skip(uint64(step))
			} else {
				skipStep(r, step, c.format)
			}
		}
	}
	if low.form == 0 && ranges.form == 0 {
		return dst, nil
	}
	return c.dieRanges(dst, low, high, ranges)
}

// build turns the ranges of the functions, parents first, into disjoint ranges.
//
// Where functions nest, as they should, an address belongs to the innermost. Where they overlap otherwise, or
// coincide because the linker folded identical code, the result must equal LLVM's: LLVM keeps a map from the start
// of a range to its end and function; adding a range splits the range that contains the new start, but keeps
// ranges that begin within the new one. build does the same on an array of all addresses that can become a key.
func (t *tree) build(code []codeRange) {
	keys, at := rank(code)
	ends := make([]codeEnd, len(keys))
	present := newBitset(len(keys))
	for i, r := range code {
		low, high := at[2*i], at[2*i+1]
		if low == high {
			continue
		}
		if before := present.last(int(low)); before >= 0 && r.low < ends[before].high {
			if old := ends[before]; r.high < old.high {
				ends[high] = old
				present.set(int(high))
			}
			if keys[before] < r.low {
				ends[before].high = r.low
			}
		}
		ends[low] = codeEnd{r.high, r.function}
		present.set(int(low))
	}
	for i := range keys {
		if present.has(i) {
			t.starts = append(t.starts, keys[i])
			t.ranges = append(t.ranges, ends[i])
		}
	}
}

// rank returns the distinct addresses at which ranges begin and end, sorted. For
// range i, at[2i] and at[2i+1] are the indexes in keys of its start and end.
func rank(code []codeRange) (keys []uint64, at []int32) {
	type ref struct {
		addr uint64
		end  int32 // 2i for the start of range i, 2i+1 for its end
	}
	refs := make([]ref, 0, 2*len(code))
	for i, r := range code {
		refs = append(refs, ref{r.low, int32(2 * i)}, ref{r.high, int32(2*i + 1)})
	}
	SortByAddress(refs, func(r *ref) uint64 { return r.addr })
	at = make([]int32, len(refs))
	keys = make([]uint64, 0, len(refs))
	for i, r := range refs {
		if i == 0 || r.addr != refs[i-1].addr {
			keys = append(keys, r.addr)
		}
		at[r.end] = int32(len(keys) - 1)
	}
	return keys, at
}

// A bitset is a set of small numbers that finds the last member up to a given number. Level 0 has a bit per
// number; each level above has a bit per word of the level below, set if the word is not zero.
type bitset [][]uint64

func newBitset(n int) bitset {
	var s bitset
	for {
		n = (n + 63) / 64
		s = append(s, make([]uint64, n))
		if n <= 1 {
			return s
		}
	}
}

func (s bitset) has(i int) bool { return s[0][i/64]>>(i%64)&1 != 0 }

func (s bitset) set(i int) {
	for _, level := range s {
		level[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

// last returns the largest member that is at most i, or -1.
func (s bitset) last(i int) int {
	for k, level := range s {
		if i < 0 {
			return -1
		}
		if w := level[i/64] << (63 - i%64); w != 0 {
			i -= bits.LeadingZeros64(w)
			for k--; k >= 0; k-- {
				i = i*64 + 63 - bits.LeadingZeros64(s[k][i])
			}
			return i
		}
		i = i/64 - 1
	}
	return -1
}
