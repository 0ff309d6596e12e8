package layout

import (
	"cmp"
	"slices"
)

// A Function is where the code of a function is in a linked program.
type Function struct {
	Name       string
	Addr, Size uint64 // in bytes
}

// An Image is the code of a program as it is laid out in memory.
type Image struct {
	places  []place
	byName  map[string][]int32 // places; several of functions local to files
	symbols *SymbolSet
	opt     SymbolOptions
}

// place is the code of one function, which may have several names.
type place struct {
	addr, size uint64
	names      []string
}

// maxFunction is the size from which on a function is not believed, in bytes.
const maxFunction = 1 << 28

// NewImage returns the image with the given functions. Those at one address
// are one with several names; those without size, and of 256 MiB and more, are
// left out.
func NewImage(functions []Function, opt SymbolOptions) *Image {
	sorted := slices.Clone(functions)
	slices.SortStableFunc(sorted, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name))
	})
	im := &Image{opt: opt}
	for _, f := range sorted {
		if f.Size == 0 || f.Size >= maxFunction || f.Addr+f.Size < f.Addr {
			continue
		}
		if n := len(im.places); n > 0 && im.places[n-1].addr == f.Addr {
			p := &im.places[n-1]
			p.size = max(p.size, f.Size)
			if !slices.Contains(p.names, f.Name) {
				p.names = append(p.names, f.Name)
			}
			continue
		}
		im.places = append(im.places, place{f.Addr, f.Size, []string{f.Name}})
	}
	im.index()
	return im
}

// index fills in what finds places by name.
func (im *Image) index() {
	im.byName = make(map[string][]int32, len(im.places))
	for i := range im.places {
		for _, n := range im.places[i].names {
			im.byName[n] = append(im.byName[n], int32(i))
		}
	}
	im.symbols = NewSymbolSet(func(yield func(string) bool) {
		for i := range im.places {
			for _, n := range im.places[i].names {
				if !yield(n) {
					return
				}
			}
		}
	}, im.opt)
}

// Functions returns the number of functions.
func (im *Image) Functions() int { return len(im.places) }

// Size returns the number of bytes of code, without what lies between
// functions.
func (im *Image) Size() (size uint64) {
	for i := range im.places {
		size += im.places[i].size
	}
	return size
}

// maxAlignment is the most that compilers align functions to by themselves.
const maxAlignment = 64

// Arrange returns the image as a linker might have made it of the order: the
// functions named, found as [SymbolSet.Match] finds them, one after the other,
// then the others in the order they have, from the first address on. A function
// is aligned as its address is, up to what most functions have. Linkers add
// what an image does not show, branch islands for example.
func (im *Image) Arrange(order []string) (*Image, Match) {
	m := im.symbols.Match(order)
	sequence := make([]int32, 0, len(im.places))
	taken := make([]bool, len(im.places))
	for _, name := range m.Symbols {
		for _, i := range im.byName[name] {
			if !taken[i] {
				taken[i] = true
				sequence = append(sequence, i)
			}
		}
	}
	for i := range im.places {
		if !taken[i] {
			sequence = append(sequence, int32(i))
		}
	}
	out := &Image{places: make([]place, 0, len(sequence)), opt: im.opt}
	if len(sequence) == 0 {
		out.index()
		return out, m
	}
	align := im.alignment()
	at := im.places[0].addr
	for _, i := range sequence {
		p := im.places[i]
		a := align
		if p.addr != 0 {
			a = min(a, p.addr&-p.addr)
		}
		at = (at + a - 1) &^ (a - 1)
		p.addr = at
		at += p.size
		out.places = append(out.places, p)
	}
	out.index()
	return out, m
}

// alignment is what the compiler aligned functions to: the largest power of two
// that most addresses are multiples of.
func (im *Image) alignment() uint64 {
	for a := uint64(maxAlignment); a > 1; a /= 2 {
		n := 0
		for i := range im.places {
			if im.places[i].addr%a == 0 {
				n++
			}
		}
		if 2*n > len(im.places) {
			return a
		}
	}
	return 1
}
