package ordercmd

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/profile/order"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A program is a linked program whose functions are ordered.
type program struct{ *symbolize.File }

// openProgram opens a program, or the one in a .dSYM bundle. arch chooses a part of a
// universal file. Separate debug files are not searched: only the symbols count.
func openProgram(env *cli.Env, path, arch string) (program, error) {
	in, err := sources.BinaryPath(path, sources.Options(env))
	if err != nil {
		return program{}, err
	}
	f, err := symbolize.Open(in.Name, symbolize.Options{Arch: arch, Inputs: sources.Options(env), NoDebugFiles: true})
	return program{f}, err
}

// options says how symbols are spelled: those of Mach-O begin with an underscore.
func (p program) options() order.SymbolOptions {
	return order.SymbolOptions{Underscore: p.MachO}
}

// unnamed is the error of a program without symbols of what is wanted.
func (p program) unnamed(what string) error {
	return fmt.Errorf("%s: has no %s; want the program before it was stripped", p.Name, what)
}

// A part is a range of addresses.
type part struct{ addr, size uint64 }

// symbols yields the symbols in parts of the program, by address and as linkers
// spell them, and the end of the part of each. A symbol outside of all parts is left out.
func (p program) symbols(parts []part) (iter.Seq2[symbolize.Symbol, uint64], error) {
	all, err := p.Symbols()
	if err != nil {
		return nil, err
	}
	prefix := ""
	if p.MachO {
		prefix = "_" // which package symbolize removes
	}
	return func(yield func(symbolize.Symbol, uint64) bool) {
		for s := range all {
			for _, in := range parts {
				// For an address before the part the difference wraps and is too large.
				if s.Addr-in.addr < in.size {
					s.Name = prefix + s.Name
					if !yield(s, in.addr+in.size) {
						return
					}
					break
				}
			}
		}
	}, nil
}

// names returns the names of all functions of the program, each as often as there
// are functions of the name. Functions may be in sections of any name.
func (p program) names() (names []string, err error) {
	var code []part
	for _, s := range p.Segments {
		if s.Executable {
			code = append(code, part{s.Addr, s.MemSize})
		}
	}
	symbols, err := p.symbols(code)
	if err != nil {
		return nil, err
	}
	type key struct {
		name string
		addr uint64
	}
	seen := make(map[key]bool) // a symbol may be in several tables
	for s := range symbols {
		if k := (key{s.Name, s.Addr}); !seen[k] {
			seen[k] = true
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return nil, p.unnamed("symbols")
	}
	return names, nil
}

// ReadImage returns the addresses of a program's functions. Functions that run or are called
// in every process, such as _start, are marked Always. An error tells that the program has
// no function symbols.
func ReadImage(env *cli.Env, path, arch string) (*order.Image, error) {
	p, err := openProgram(env, path, arch)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var code []part // not the segments: these can hold data as well
	var functions []order.Function
	for _, s := range p.Sections {
		if isCodeSection(s.Name) && s.Addr != 0 {
			code = append(code, part{s.Addr, s.Size})
		}
		// The dynamic linker, or the program's start, runs these, and calls pass .plt.
		if s.Addr != 0 && (s.Name == ".init" || s.Name == ".fini" || strings.HasPrefix(s.Name, ".plt")) {
			functions = append(functions, order.Function{Name: s.Name, Addr: s.Addr, Size: s.Size, Always: true})
		}
	}
	symbols, err := p.symbols(code)
	if err != nil {
		return nil, err
	}
	always := len(functions)
	var ends []uint64 // of the section of each function that symbols has
	for s, end := range symbols {
		// A damaged symbol table may have sizes that reach beyond the section.
		functions = append(functions, order.Function{Name: s.Name, Addr: s.Addr, Size: min(s.Size, end-s.Addr)})
		ends = append(ends, end)
	}
	if p.MachO {
		measure(functions[always:], ends)
	}
	if i := slices.IndexFunc(functions, func(f order.Function) bool { return f.Name == "_start" }); i >= 0 {
		start := functions[i]
		start.Always = true
		functions = append(functions, start)
	}
	image := order.NewImage(functions, p.options())
	if image.Functions == 0 {
		return nil, p.unnamed("function symbols")
	}
	return image, nil
}

// isCodeSection reports whether linkers put ordinary functions into a section of this name.
func isCodeSection(name string) bool {
	switch name {
	case ".text", "__text", ".init", ".fini":
		return true
	}
	return strings.HasPrefix(name, ".text.")
}

// measure sets the sizes of the functions of a Mach-O file, each up to the next
// symbol. Mach-O symbols have no sizes. Several at one address get the same size; the last
// one of a section ends with it. functions and ends are parallel and sorted by address.
func measure(functions []order.Function, ends []uint64) {
	for i := len(functions) - 1; i >= 0; i-- {
		f := &functions[i]
		switch {
		case i+1 == len(functions) || ends[i+1] != ends[i]:
			f.Size = ends[i] - f.Addr
		case functions[i+1].Addr == f.Addr:
			f.Size = functions[i+1].Size
		default:
			f.Size = functions[i+1].Addr - f.Addr
		}
	}
}
