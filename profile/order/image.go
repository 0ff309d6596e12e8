package order

import (
	"cmp"
	"slices"
)

// A Function is a function's name and its address in a linked program.
type Function struct {
	Name       string
	Addr, Size uint64 // in bytes
	// Always marks code that every run executes, whatever functions it calls, and that no
	// order moves: where a program starts and ends, and its calls of shared libraries.
	Always bool
}

// An Image is the layout of a program's code in memory.
type Image struct {
	Functions int    // number of functions
	Size      uint64 // bytes of code, without padding between functions

	code    []codeRange
	byName  map[string][]int32 // indexes in code; several for functions local to files
	symbols *symbolSet
	opt     SymbolOptions
	always  []Function // see Function.Always
}

// A codeRange is the code of one function, which may have several names.
type codeRange struct {
	addr, size uint64
	names      []string
}

// maxFunction is the least size in bytes that is implausible for a function.
const maxFunction = 1 << 28

// NewImage returns the image of the given functions. Functions at one address count as one with several names.
// NewImage omits functions without a size or of 256 MiB and more.
func NewImage(functions []Function, opt SymbolOptions) *Image {
	sorted := slices.Clone(functions)
	slices.SortStableFunc(sorted, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name))
	})
	im := &Image{opt: opt}
	for _, f := range sorted {
		if f.Always {
			im.always = append(im.always, f)
			continue
		}
		if f.Size == 0 || f.Size >= maxFunction || f.Addr+f.Size < f.Addr {
			continue
		}
		if n := len(im.code); n > 0 && im.code[n-1].addr == f.Addr {
			p := &im.code[n-1]
			p.size = max(p.size, f.Size)
			if !slices.Contains(p.names, f.Name) {
				p.names = append(p.names, f.Name)
			}
			continue
		}
		im.code = append(im.code, codeRange{f.Addr, f.Size, []string{f.Name}})
	}
	im.index()
	return im
}

func (im *Image) index() {
	im.byName = make(map[string][]int32, len(im.code))
	im.Functions = len(im.code)
	var names []string
	for i := range im.code {
		im.Size += im.code[i].size
		for _, n := range im.code[i].names {
			im.byName[n] = append(im.byName[n], int32(i))
			names = append(names, n)
		}
	}
	im.symbols = newSymbolSet(names, im.opt)
}

func (im *Image) resolve(names []string) (indexes []int32, m Match) {
	m = im.symbols.match(names)
	taken := make(map[int32]bool, len(m.Symbols))
	for _, name := range m.Symbols {
		for _, i := range im.byName[name] {
			if !taken[i] {
				taken[i] = true
				indexes = append(indexes, i)
			}
		}
	}
	return indexes, m
}

// maxAlignment is the largest alignment that compilers choose for functions.
const maxAlignment = 64

// Arrange returns the image as a linker would lay it out for the order: from the image's first address on, the
// named functions, found by [MatchSymbols], then the other functions in their present order. Each function keeps
// the alignment of its address, up to the alignment of most functions. Arrange does not model what linkers insert,
// such as branch islands.
func (im *Image) Arrange(order []string) (*Image, Match) {
	sequence, m := im.resolve(order)
	named := make([]bool, len(im.code))
	for _, i := range sequence {
		named[i] = true
	}
	for i := range im.code {
		if !named[i] {
			sequence = append(sequence, int32(i))
		}
	}
	out := &Image{code: make([]codeRange, 0, len(sequence)), opt: im.opt, always: im.always}
	if len(sequence) == 0 {
		out.index()
		return out, m
	}
	align := im.alignment()
	at := im.code[0].addr
	for _, i := range sequence {
		p := im.code[i]
		a := align
		if p.addr != 0 {
			a = min(a, p.addr&-p.addr)
		}
		at = (at + a - 1) &^ (a - 1)
		p.addr = at
		at += p.size
		out.code = append(out.code, p)
	}
	out.index()
	return out, m
}

// alignment estimates the compiler's alignment of functions: the largest power of two that divides most addresses.
func (im *Image) alignment() uint64 {
	for a := uint64(maxAlignment); a > 1; a /= 2 {
		n := 0
		for i := range im.code {
			if im.code[i].addr%a == 0 {
				n++
			}
		}
		if 2*n > len(im.code) {
			return a
		}
	}
	return 1
}
