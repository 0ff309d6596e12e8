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

type program struct{ *symbolize.File }

// openProgram opens a program or the program in a .dSYM bundle. arch chooses a part of a universal file.
func openProgram(env *cli.Env, path, arch string) (program, error) {
	in, err := sources.BinaryPath(path, sources.Options(env))
	if err != nil {
		return program{}, err
	}
	f, err := symbolize.Open(in.Name, symbolize.Options{Arch: arch, Inputs: sources.Options(env), NoDebugFiles: true})
	return program{f}, err
}

// symbolOptions says how symbols are spelled: symbols of Mach-O begin with an underscore.
func (p program) symbolOptions() order.SymbolOptions {
	return order.SymbolOptions{Underscore: p.MachO}
}

func (p program) strippedError(what string) error {
	return fmt.Errorf("%s: has no %s; want the program before it was stripped", p.Name, what)
}

type addrRange struct{ addr, size uint64 }

// symbols yields the symbols within ranges of the program, by address and as linkers spell them, each with the
// end of its range.
func (p program) symbols(ranges []addrRange) (iter.Seq2[symbolize.Symbol, uint64], error) {
	all, err := p.Symbols()
	if err != nil {
		return nil, err
	}
	prefix := ""
	if p.MachO {
		prefix = "_" // package symbolize removes it
	}
	return func(yield func(symbolize.Symbol, uint64) bool) {
		for s := range all {
			for _, in := range ranges {
				// The difference wraps for an address before the range.
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

// functionNames returns the names of all functions of the program; a name of several functions comes several times.
func (p program) functionNames() (names []string, err error) {
	var code []addrRange
	for _, s := range p.Segments {
		if s.Executable {
			code = append(code, addrRange{s.Addr, s.MemSize})
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
		return nil, p.strippedError("symbols")
	}
	return names, nil
}

// readImage returns the addresses of a program's functions. Functions that run in every process, such as
// _start, are marked Always.
func readImage(env *cli.Env, path, arch string) (*order.Image, error) {
	p, err := openProgram(env, path, arch)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var code []addrRange // of sections: segments may also have data
	var functions []order.Function
	for _, s := range p.Sections {
		if isCodeSection(s.Name) && s.Addr != 0 {
			code = append(code, addrRange{s.Addr, s.Size})
		}
		// They run at the start and the end of a process; calls into libraries pass .plt.
		if s.Addr != 0 && (s.Name == ".init" || s.Name == ".fini" || strings.HasPrefix(s.Name, ".plt")) {
			functions = append(functions, order.Function{Name: s.Name, Addr: s.Addr, Size: s.Size, Always: true})
		}
	}
	symbols, err := p.symbols(code)
	if err != nil {
		return nil, err
	}
	always := len(functions)
	var ends []uint64 // of the sections of the functions from symbols
	for s, end := range symbols {
		// The size in a damaged symbol table may reach beyond the section.
		functions = append(functions, order.Function{Name: s.Name, Addr: s.Addr, Size: min(s.Size, end-s.Addr)})
		ends = append(ends, end)
	}
	if p.MachO {
		setSizes(functions[always:], ends)
	}
	if i := slices.IndexFunc(functions, func(f order.Function) bool { return f.Name == "_start" }); i >= 0 {
		start := functions[i]
		start.Always = true
		functions = append(functions, start)
	}
	image := order.NewImage(functions, p.symbolOptions())
	if image.Functions == 0 {
		return nil, p.strippedError("function symbols")
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

// setSizes sets the sizes of the functions of a Mach-O file, whose symbols have none. A function ends at the next
// symbol with another address, or with its section. functions and ends are parallel and sorted by address.
func setSizes(functions []order.Function, ends []uint64) {
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
