package symbolize

import (
	"iter"

	"github.com/profuse-pgo/profuse/internal/program/object"
)

// A Symbol is a name in the file's symbol table.
type Symbol struct {
	Name string // mangled; in Mach-O without the leading underscore
	Addr uint64
	Size uint64 // in bytes; 0 if the table does not say
	File string // the base name of the source file, for local symbols of ELF files
}

// Symbol returns the symbol that contains the address. Of several at one address it returns the largest, of
// equally large ones the last in the table. A symbol without size extends to the next.
func (f *File) Symbol(addr uint64) (s Symbol, ok bool, err error) {
	t, err := f.symbolTable()
	if err != nil {
		return Symbol{}, false, err
	}
	err = f.guard(func() error {
		var found object.Symbol
		found, ok = t.Find(addr)
		s = Symbol(found)
		return nil
	})
	return s, ok, err
}

// Symbols iterates over the symbols of code and data that the file defines, by
// address and then size. It ends early if another process truncates the file.
func (f *File) Symbols() (iter.Seq[Symbol], error) {
	t, err := f.symbolTable()
	if err != nil {
		return nil, err
	}
	return func(yield func(Symbol) bool) {
		var some [256]Symbol // guarding each would cost more than reading it
		for start := 0; start < t.Len(); start += len(some) {
			n := min(len(some), t.Len()-start)
			err := f.guard(func() error {
				for i := range n {
					some[i] = Symbol(t.Symbol(start + i))
				}
				return nil
			})
			if err != nil {
				return
			}
			for _, s := range some[:n] {
				if !yield(s) {
					return
				}
			}
		}
	}, nil
}

func (f *File) readSymbols() (t *object.SymbolTable, err error) {
	err = f.guard(func() (err error) {
		t, err = f.image.Symbols()
		return err
	})
	return t, err
}
