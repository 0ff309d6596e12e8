package object

import (
	"bytes"
	"cmp"
	"debug/elf"
	"math"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A Symbol is a named address in an image.
type Symbol struct {
	Name string
	Addr uint64
	Size uint64 // 0 if not known
	// File is the base name of the source file, for a local symbol of an ELF file with STT_FILE symbols; else "".
	File string
}

type symtabLocation struct {
	ok bool

	// In ELF: indexes of sections.
	symbols, strings int
	shndx            int // SHT_SYMTAB_SHNDX, or -1

	// In Mach-O.
	symOff, symCount, strOff, strSize uint64
}

// A SymbolTable finds the symbol at an address by the rules of llvm-symbolizer: of several symbols at one address
// the largest wins, of equal ones the last; an address past a symbol's size belongs to no symbol.
type SymbolTable struct {
	order   []entry // by address and size, all symbols
	at      []int32 // per distinct address, the index in order of the winning symbol
	strings []byte
	files   []fileSymbol
	strip   bool // remove Mach-O's leading underscore from names
}

type entry struct {
	addr, size uint64
	name       uint32 // offset in the strings
	local      uint32 // index in the symbol table if the symbol is local, else 0
}

// A fileSymbol is an STT_FILE symbol: it applies to the local symbols after it.
type fileSymbol struct{ index, name uint32 }

// Symbols reads the symbol table. Without one the table is empty.
func (im *Image) Symbols() (t *SymbolTable, err error) {
	defer flaw.OfProgram(&err)
	t = &SymbolTable{strip: im.Format == MachO}
	switch {
	case !im.symtab.ok:
	case im.Format == ELF:
		err = im.elfSymbols(t)
	default:
		err = im.machOSymbols(t)
	}
	if err == nil {
		err = im.limitNames(t)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.order, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.size, b.size))
	})
	for i := range t.order {
		if i+1 == len(t.order) || t.order[i].addr != t.order[i+1].addr {
			t.at = append(t.at, int32(i))
		}
	}
	return t, nil
}

// maxShared is how many times longer than the string table all names together may be.
// Names that are the end of others share its bytes.
const maxShared = 8

// limitNames refuses tables whose names overlap so much that programs which keep them all would run out of memory.
func (im *Image) limitNames(t *SymbolTable) error {
	left := maxShared*len(t.strings) + 1<<20
	for i := range t.order {
		left -= len(cstring(t.strings, uint64(t.order[i].name)))
		if left < 0 {
			return im.overlappingNames(len(t.strings))
		}
	}
	return nil
}

func (im *Image) overlappingNames(size int) error {
	return im.at("symbol table", 0).Field("names of all symbols").Gotf("more than %d times the %d bytes of the string table", maxShared, size).
		Want("names that do not overlap").Corrupt()
}

// Len returns the number of symbols, also of symbols that share an address.
func (t *SymbolTable) Len() int { return len(t.order) }

// Symbol returns the i-th symbol, in the order of addresses.
func (t *SymbolTable) Symbol(i int) Symbol { return t.symbol(&t.order[i]) }

func (t *SymbolTable) symbol(e *entry) Symbol {
	s := Symbol{Name: t.name(e.name), Addr: e.addr, Size: e.size}
	if e.local != 0 {
		// The file of a local symbol is the last STT_FILE before it.
		i := sort.Search(len(t.files), func(i int) bool { return t.files[i].index >= e.local })
		if i > 0 {
			s.File = string(cstring(t.strings, uint64(t.files[i-1].name)))
		}
	}
	return s
}

func (t *SymbolTable) name(off uint32) string {
	b := cstring(t.strings, uint64(off))
	if t.strip {
		b = bytes.TrimPrefix(b, []byte("_"))
	}
	return string(b)
}

// Find returns the symbol that the address belongs to.
func (t *SymbolTable) Find(addr uint64) (Symbol, bool) {
	i := sort.Search(len(t.at), func(i int) bool { return t.order[t.at[i]].addr > addr })
	if i == 0 {
		return Symbol{}, false
	}
	e := &t.order[t.at[i-1]]
	if e.size != 0 && addr-e.addr >= e.size {
		return Symbol{}, false
	}
	return t.symbol(e), true
}

// elfSymbols collects the symbols of functions and data, and symbols without a type, because assembly
// code often omits types.
func (im *Image) elfSymbols(t *SymbolTable) error {
	var err error
	if t.strings, err = im.Data(&im.Sections[im.symtab.strings]); err != nil {
		return err
	}
	return im.eachELFSymbol(func(i int, e entry, info byte, index elf.SectionIndex) {
		kind := elf.ST_TYPE(info)
		if elf.ST_BIND(info) == elf.STB_LOCAL {
			e.local = uint32(i)
		}
		if index == elf.SHN_UNDEF || int(index) >= len(im.Sections) {
			if kind == elf.STT_FILE {
				t.files = append(t.files, fileSymbol{uint32(i), e.name})
			}
			return
		}
		if !im.Sections[index].Loaded {
			return
		}
		switch kind {
		case elf.STT_NOTYPE, elf.STT_FUNC, elf.STT_OBJECT, elf.STT_GNU_IFUNC:
		default:
			return
		}
		if im.isMapping(t.strings, e.name) {
			return
		}
		if im.machine == elf.EM_ARM && kind == elf.STT_FUNC {
			e.addr &^= 1 // says that the function is in Thumb code
		}
		t.order = append(t.order, e)
	})
}

// eachELFSymbol calls yield with the symbols in the order of the table, from the second on: the first is always empty.
// Symbols outside sections have the section SHN_UNDEF.
func (im *Image) eachELFSymbol(yield func(i int, e entry, info byte, section elf.SectionIndex)) error {
	place := im.symtab
	section := &im.Sections[place.symbols]
	b, err := im.Data(section)
	if err != nil {
		return err
	}
	var shndx []byte
	if place.shndx >= 0 {
		if shndx, err = im.Data(&im.Sections[place.shndx]); err != nil {
			return err
		}
	}
	size := elf.Sym64Size
	if im.PtrSize == 4 {
		size = elf.Sym32Size
	}
	n := len(b) / size
	if n > math.MaxInt32 {
		return im.at(section.Name, section.Offset).Field("number of symbols").Got(n).Want("fewer than 2^31").
			Unsupported()
	}
	for i := 1; i < n; i++ {
		e, info, index := im.elfSymbol(b[i*size:])
		if index == elf.SHN_XINDEX && len(shndx) >= 4*(i+1) {
			index = elf.SectionIndex(im.Order.Uint32(shndx[4*i:]))
		} else if index >= elf.SHN_LORESERVE {
			index = elf.SHN_UNDEF
		}
		yield(i, e, info, index)
	}
	return nil
}

// A RawSymbol is an entry of the table .symtab of an ELF file.
type RawSymbol struct {
	Name     []byte // valid until the file is closed
	Addr     uint64
	Size     uint64
	Section  int // index; 0 for none
	Function bool

	// The section has code, or bytes of data that the program loads.
	InCode, InData bool
}

// RawSymbolsOf calls yield for the symbols of a *symbolize.File, see [Image.RawSymbols]. Package symbolize sets
// it, as [dwarf.ProbesOf].
var RawSymbolsOf func(file any, yield func(*RawSymbol)) error

// RawSymbols calls yield with all entries of .symtab, also of sections, files and marks, in their order. Other
// methods choose what programs call symbols, and take .dynsym of a program without .symtab.
func (im *Image) RawSymbols(yield func(*RawSymbol)) (err error) {
	defer flaw.OfProgram(&err)
	if im.Format != ELF || !im.symtab.ok || im.Sections[im.symtab.symbols].kind != elf.SHT_SYMTAB {
		return nil
	}
	strings, err := im.Data(&im.Sections[im.symtab.strings])
	if err != nil {
		return err
	}
	left := maxShared*len(strings) + 1<<20
	err = im.eachELFSymbol(func(_ int, e entry, info byte, section elf.SectionIndex) {
		if left < 0 {
			return
		}
		s := RawSymbol{Name: cstring(strings, uint64(e.name)), Addr: e.addr, Size: e.size, Function: elf.ST_TYPE(info) == elf.STT_FUNC}
		if int(section) < len(im.Sections) {
			s.Section = int(section)
			in := &im.Sections[section]
			bits := in.kind == elf.SHT_PROGBITS
			s.InCode, s.InData = bits && in.Code, bits && in.Loaded && !in.Code
		}
		left -= len(s.Name)
		yield(&s)
	})
	if err == nil && left < 0 {
		err = im.overlappingNames(len(strings))
	}
	return err
}

// 64-bit: st_name 4, st_info 1, st_other 1, st_shndx 2, st_value 8, st_size 8
// 32-bit: st_name 4, st_value 4, st_size 4, st_info 1, st_other 1, st_shndx 2
func (im *Image) elfSymbol(b []byte) (e entry, info byte, section elf.SectionIndex) {
	o := im.Order
	if im.PtrSize == 8 {
		e = entry{name: o.Uint32(b), addr: o.Uint64(b[8:]), size: o.Uint64(b[16:])}
		return e, b[4], elf.SectionIndex(o.Uint16(b[6:]))
	}
	e = entry{name: o.Uint32(b), addr: uint64(o.Uint32(b[4:])), size: uint64(o.Uint32(b[8:]))}
	return e, b[12], elf.SectionIndex(o.Uint16(b[14:]))
}

// isMapping reports whether the name at off belongs to a mapping symbol, which only marks the start
// of code or data.
func (im *Image) isMapping(strings []byte, off uint32) bool {
	// Reading each name to its end would take too long, because names may overlap.
	name := strings[min(uint64(off), uint64(len(strings))):]
	has := func(prefix string) bool { return bytes.HasPrefix(name, []byte(prefix)) }
	empty := len(name) == 0 || name[0] == 0
	switch im.machine {
	case elf.EM_AARCH64:
		return has("$d") || has("$x")
	case elf.EM_ARM:
		return empty || has("$d") || has("$t") || has("$a")
	case elf.EM_RISCV:
		return empty || has("$d") || has("$x") || has(".L")
	}
	return false
}

// Mach-O symbols (nlist): n_strx 4, n_type 1, n_sect 1, n_desc 2, and n_value, an address wide.
const (
	nStab    = 0xe0 // N_STAB: any of these bits marks debug information
	nType    = 0x0e // N_TYPE
	nSection = 0x0e // N_SECT: defined in the section n_sect
)

type machOPosition struct {
	section int // from 1 on; 0 for none
	addr    uint64
	symbol  int32 // index in the table, -1 for the end of a section
}

// machOSymbols collects the symbols that are defined in a section. Mach-O stores
// no sizes: a symbol extends to the next one or to the end of its section.
func (im *Image) machOSymbols(t *SymbolTable) error {
	p := im.symtab
	size := uint64(8 + im.PtrSize)
	b, err := part(im.data, p.symOff, p.symCount*size, "symbol table")
	if err == nil {
		t.strings, err = part(im.data, p.strOff, p.strSize, "symbol names")
	}
	if err != nil {
		return flaw.InFile(err, im.Name)
	}
	n := uint64(len(b)) / size
	places := make([]machOPosition, 0, n+uint64(len(im.Sections)))
	for i := range n {
		s := b[i*size:]
		places = append(places, machOPosition{int(s[5]), machOValue(im, s), int32(i)})
	}
	for i := range im.Sections {
		s := &im.Sections[i]
		places = append(places, machOPosition{i + 1, s.Addr + s.Size, -1})
	}
	slices.SortStableFunc(places, func(a, b machOPosition) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.addr, b.addr))
	})
	sizes := make([]uint64, n)
	for i, next := 0, 0; i < len(places); i++ {
		// Symbols at one address have one size.
		for next < len(places) && (next <= i || places[next].addr == places[i].addr) {
			next++
		}
		if places[i].symbol >= 0 && next < len(places) {
			sizes[places[i].symbol] = places[next].addr - places[i].addr
		}
	}
	for i := range n {
		s := b[i*size:]
		if s[4]&nStab != 0 || s[4]&nType != nSection || s[5] == 0 || int(s[5]) > len(im.Sections) {
			continue
		}
		t.order = append(t.order, entry{addr: machOValue(im, s), size: sizes[i], name: im.Order.Uint32(s)})
	}
	return nil
}

func machOValue(im *Image, nlist []byte) uint64 {
	if im.PtrSize == 8 {
		return im.Order.Uint64(nlist[8:])
	}
	return uint64(im.Order.Uint32(nlist[8:]))
}
