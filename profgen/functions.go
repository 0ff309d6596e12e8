package profgen

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/program/dwarf"
)

// functions are the functions in the debug information of a program.
type functions struct {
	list   []function
	ranges []codeRange // by start

	byName  map[string]int32 // index in list
	byStart map[uint64]int32 // index in ranges, before sort: -1-i if several functions begin there
}

// A function is all code of the functions with one name.
type function struct {
	name   string
	ranges [][2]uint64 // first address, and the address behind the last
}

type codeRange struct {
	start, end uint64
	function   int32
	entry      bool // the function begins here
}

// add adds a function. It leaves out empty ranges and ranges below base: code that the linker has dropped.
func (f *functions) add(s *dwarf.Subprogram, base uint64) {
	i, ok := f.byName[s.Name]
	if !ok {
		i = int32(len(f.list))
		f.byName[s.Name] = i
		f.list = append(f.list, function{name: s.Name})
	}
	for _, r := range s.Ranges {
		if r[1] <= r[0] || r[0] < base {
			continue
		}
		f.list[i].ranges = append(f.list[i].ranges, r)
		switch at, ok := f.byStart[r[0]]; {
		case !ok:
			f.byStart[r[0]] = int32(len(f.ranges))
			f.ranges = append(f.ranges, codeRange{start: r[0], end: r[1], function: i})
		case at >= 0:
			f.byStart[r[0]] = -1 - at
		}
	}
}

// sort prepares find. It returns at how many addresses several functions begin.
func (f *functions) sort() (duplicates int) {
	for _, at := range f.byStart {
		if at < 0 {
			duplicates++
		}
	}
	f.byStart, f.byName = nil, nil
	slices.SortFunc(f.ranges, func(a, b codeRange) int { return cmp.Compare(a.start, b.start) })
	return duplicates
}

// find returns the range of a function that an address belongs to, or nil.
func (f *functions) find(addr uint64) *codeRange {
	i, found := f.search(addr)
	if !found {
		i--
	}
	if i < 0 || addr >= f.ranges[i].end {
		return nil
	}
	return &f.ranges[i]
}

func (f *functions) search(addr uint64) (int, bool) {
	return slices.BinarySearchFunc(f.ranges, addr, func(r codeRange, addr uint64) int { return cmp.Compare(r.start, addr) })
}

// setEntry marks the range around the address of a symbol: the only range of a function, or the range that the
// symbol of the function's name is in.
func (f *functions) setEntry(addr uint64, symbol []byte) {
	r := f.find(addr)
	if r == nil || r.entry {
		return
	}
	fn := &f.list[r.function]
	r.entry = len(fn.ranges) == 1 || bytes.HasPrefix(symbol, []byte(fn.name)) && guid.Canonical(string(symbol)) == fn.name
}

// entries returns how many functions have an entry. Functions without ranges count as having one.
func (f *functions) entries() (n int) {
	for i := range f.list {
		ranges := f.list[i].ranges
		if len(ranges) == 0 || slices.ContainsFunc(ranges, func(r [2]uint64) bool {
			at, ok := f.search(r[0])
			return ok && f.ranges[at].entry
		}) {
			n++
		}
	}
	return n
}

// called returns the name of the function that begins at an address; "" if none does.
func (f *functions) called(addr uint64) string {
	i, ok := f.search(addr)
	if !ok || !f.ranges[i].entry {
		return ""
	}
	return guid.Canonical(f.list[f.ranges[i].function].name)
}

// names returns the names of functions that are the first at some address.
func (f *functions) names() []string {
	names := make([]string, 0, len(f.ranges))
	for i := range f.ranges {
		names = append(names, f.list[f.ranges[i].function].name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
