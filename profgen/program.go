package profgen

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/decode"
	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/symbolize"
)

// page is the unit in which llvm-profgen 22 maps programs, whatever the processor's.
const page = 4096

// Options adjust [Open]. The zero value is right for programs that have their debug information.
type Options struct {
	// Debug has the debug information, if the program has none and it is not where package symbolize looks for it.
	Debug *symbolize.File
}

// A Program is what profiles are made of: the instructions and the functions of an ELF file. Its methods must not be
// called by several goroutines at once.
type Program struct {
	// Base is the address of the first segment with code, down to the start of its page. Unsymbolized profiles count
	// addresses from it. FirstBase is the address of the first segment that is loaded.
	Base, FirstBase uint64

	// Probes reports that the program was compiled with pseudo probes.
	Probes bool

	Facts Facts

	file, debug *symbolize.File
	code        code
	functions   functions
	flow        bool // discriminators are flow-sensitive
}

// Facts are the numbers about a program that explain thin profiles.
type Facts struct {
	Functions  int // with code, in the debug information, by name
	Duplicates int // addresses where several functions begin; the first counts
	Entries    int // functions whose first instruction is known
	LostUnits  int // units whose debug information is in a file that cannot be read
}

// Open reads the facts of a program. file must stay open while the program is in use. Open returns a program together
// with an error if only a part of the debug information can be read.
func Open(file *symbolize.File, opt Options) (*Program, error) {
	p := &Program{file: file, debug: file}
	if opt.Debug != nil {
		p.debug = opt.Debug
	}
	p.code.decode = decode.For(file.Arch)
	switch {
	case file.MachO, file.PointerSize != 8, file.BigEndian, p.code.decode == nil:
		return nil, flaw.File(file.Name).Field("program").Gotf("%s for %s", map[bool]string{true: "Mach-O", false: "ELF"}[file.MachO], file.Arch).
			Want("ELF for x86_64 or aarch64").Unsupported()
	case !p.findBases():
		return nil, flaw.File(file.Name).Field("segments").Got("none with code").Want("at least one").Corrupt()
	}
	p.Probes = file.Section(".pseudo_probe") != nil && file.Section(".pseudo_probe_desc") != nil
	err := p.readFunctions()
	if symErr := p.readSymbols(); symErr != nil {
		return nil, symErr
	}
	p.Facts.Functions, p.Facts.Entries = len(p.functions.list), p.functions.entries()
	return p, err
}

// findBases reports whether there is a segment with code.
func (p *Program) findBases() bool {
	for i, s := range p.file.Segments {
		start := s.Addr &^ (page - 1)
		if i == 0 {
			p.FirstBase = start
		}
		if s.Executable {
			p.Base = start
			return true
		}
	}
	return false
}

func (p *Program) readFunctions() (err error) {
	f := &p.functions
	f.byName, f.byStart = make(map[string]int32), make(map[uint64]int32)
	p.Facts.LostUnits, err = dwarf.SubprogramsOf(p.debug, func(s *dwarf.Subprogram) { f.add(s, p.Base) })
	p.Facts.Duplicates = f.sort()
	return err
}

// flowMark is the variable that says that discriminators are flow-sensitive.
var flowMark = []byte("__llvm_fs_discriminator__")

// readSymbols reads where instructions begin, and which ranges of functions are entries.
func (p *Program) readSymbols() error {
	starts := make(map[int][]uint64) // by section
	err := object.RawSymbolsOf(p.file, func(s *object.RawSymbol) {
		if s.InData && bytes.Equal(s.Name, flowMark) {
			p.flow = true
		}
		if s.InCode && p.file.Sections[s.Section].Name != ".plt" {
			starts[s.Section] = append(starts[s.Section], s.Addr)
			p.functions.setEntry(s.Addr, s.Name)
		}
	})
	if err != nil {
		return err
	}
	return p.code.read(p.file, starts)
}

// Decode decodes the whole program and returns how many stretches of its code do not decode. Without Decode
// instructions are decoded when they are needed.
func (p *Program) Decode() (invalid int) { return p.code.decodeAll() }

// Names returns the sorted names of the functions with code, for [sampleprof.Profile.Symbols].
func (p *Program) Names() []string { return p.functions.names() }
