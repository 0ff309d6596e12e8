package memprof

import (
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// SymbolizeOptions adjust [RawProfile.Symbolize]. The zero value is right for
// most uses.
type SymbolizeOptions struct {
	// LLVMCompat does what llvm-profdata 22 does: one program, the first, and
	// none of its libraries; a context for each stack of addresses, though
	// several may be the same calls; a call site for each address.
	LLVMCompat bool
	// KeepNames fills Profile.Names and Profile.Sources.
	KeepNames bool
	// Lenient goes on without debug information that is missing or damaged, as
	// LLVM does, and tells Warn of it. Otherwise that is an error, such as a
	// [*symbolize.SplitError] that names a .dwo file.
	Lenient bool
	// Warn receives what is suspicious; nil drops it.
	Warn func(error)
	// Overflow is told of each context of which a sum has been cut to what its
	// field can hold, by the index of its MIB. It may be nil.
	Overflow func(MIBIndex)
}

// Coverage counts what symbolizing has found.
type Coverage struct {
	Contexts int // of the raw profile
	// Dropped contexts have no call in a known function: those of libraries'
	// own allocations, say.
	Dropped int
	PCs     int // distinct addresses
	// Outside counts those in other programs and libraries than were found,
	// Unknown those without debug information and of MemProf's runtime. These
	// calls are left out of call stacks.
	Outside, Unknown int
	Programs         []ProgramUse // that were found
	Missing          []ProgramUse // that were not, in the order of their segments
}

// ProgramUse is a program or library that took part.
type ProgramUse struct {
	File    string // empty if it was not found
	BuildID []byte // nil if it has none, or before raw version 3
	PCs     int    // distinct addresses in it
}

// Symbolize turns the addresses of a raw profile into functions and lines, and
// makes records of its contexts by function.
//
// A context is recorded in the function that allocates; if that is inlined,
// also in the one it is inlined into, and so on up to the first that is not.
// Each other call is recorded as a call site in its function, with its inlined
// frames. Calls that no debug information tells of are left out, and with the
// last of them the context.
//
// Raw version 1 does not have access densities. The profile gets those that
// the blocks of a context would have if all of them were alike: without,
// compilers would take them for cold.
func (p *RawProfile) Symbolize(b *Binaries, opt SymbolizeOptions) (*Profile, *Coverage, error) {
	s := symbolizer{raw: p, opt: opt}
	s.about.Contexts = len(p.contexts)
	var err error
	if opt.LLVMCompat {
		s.places, err = p.placeLLVM(b)
	} else {
		s.places, err = p.place(b)
	}
	if err == nil {
		s.warnOfMain(b)
		err = s.lookup()
	}
	if err == nil {
		err = s.build()
	}
	if err != nil {
		return nil, nil, profile.InFile(err, p.Name)
	}
	return s.out, &s.about, nil
}

// symbolizer is the state of a call of Symbolize.
type symbolizer struct {
	raw    *RawProfile
	opt    SymbolizeOptions
	places placements
	about  Coverage
	out    *Profile

	pcs    numbering
	chains []chain // of the distinct PCs
	arena  []FrameIndex
}

// chain is the inlined frames at a PC: a part of the arena, innermost first.
// A PC that counts for nothing has none.
type chain struct {
	start, end int
	// same is the first PC with the same frames, or with LLVMCompat the PC.
	same int32
}

func (c *chain) len() int { return c.end - c.start }

// lookup finds the frames of all distinct PCs.
func (s *symbolizer) lookup() error {
	s.collect()
	pcs := s.pcs.list
	s.about.PCs = len(pcs)
	s.chains = make([]chain, len(pcs))
	found := make([]StackIndex, len(pcs))
	of := make([]*program, len(pcs))
	type group struct {
		addrs []uint64
		ids   []int32
	}
	groups := make(map[*program]*group)
	var order []*program
	var outside []uint64
	for i, pc := range pcs {
		at := s.places.find(pc)
		if at == nil {
			outside = append(outside, pc)
			continue
		}
		g := groups[at.program]
		if g == nil {
			g = new(group)
			groups[at.program] = g
			order = append(order, at.program)
		}
		g.addrs = append(g.addrs, pc+at.delta)
		g.ids = append(g.ids, int32(i))
		of[i] = at.program
	}
	s.countOutside(outside)
	for _, prog := range order {
		g := groups[prog]
		s.about.Programs = append(s.about.Programs, ProgramUse{prog.path, prog.file.BuildID(), len(g.addrs)})
		stacks, err := prog.lookup(g.addrs, s.opt.Lenient || s.opt.LLVMCompat)
		if err != nil {
			if stacks == nil {
				return err
			}
			s.warn(err)
		}
		for k, id := range g.ids {
			found[id] = stacks[k]
			if stacks[k] == 0 {
				s.about.Unknown++
			}
		}
	}
	s.importChains(found, of)
	return nil
}

// warnOfMain warns if only libraries of the process were found: often the
// program is there in another build.
func (s *symbolizer) warnOfMain(b *Binaries) {
	p := s.raw
	if len(p.Segments) == 0 || s.places.find(p.Segments[0].Start) != nil {
		return
	}
	s.warn(p.misplaced("build id of the program", p.mainID(), b.describe(), profile.ErrMismatch))
}

// countOutside tells which programs the addresses are of that none was found
// for.
func (s *symbolizer) countOutside(pcs []uint64) {
	s.about.Outside = len(pcs)
	slices.Sort(pcs)
	index := make(map[string]int)
	for _, g := range s.raw.Segments {
		from, _ := slices.BinarySearch(pcs, g.Start)
		to, _ := slices.BinarySearch(pcs, g.End)
		if from >= to {
			continue
		}
		i, ok := index[string(g.BuildID)]
		if !ok {
			i = len(s.about.Missing)
			index[string(g.BuildID)] = i
			s.about.Missing = append(s.about.Missing, ProgramUse{BuildID: g.BuildID})
		}
		s.about.Missing[i].PCs += to - from
	}
}

func (s *symbolizer) warn(err error) {
	if s.opt.Warn != nil {
		s.opt.Warn(err)
	}
}

// collect numbers the distinct PCs by first appearance.
func (s *symbolizer) collect() {
	add := func(c *rawContext) {
		for b := s.raw.pcs(c); len(b) > 0; b = b[8:] {
			s.pcs.add(le.Uint64(b))
		}
	}
	if s.opt.LLVMCompat && s.raw.stackIDs != nil {
		for _, i := range s.raw.llvmOrder() {
			add(&s.raw.contexts[i])
		}
		return
	}
	for i := range s.raw.contexts {
		add(&s.raw.contexts[i])
	}
}

// importChains adds the frames of the programs to the profile, in the order of
// their first appearance, which is LLVM's.
func (s *symbolizer) importChains(found []StackIndex, of []*program) {
	s.out = new(Profile)
	if s.opt.KeepNames {
		s.out.Names = make(map[uint64]string)
		s.out.Sources = make(map[uint64]SourceLocation)
	}
	type key struct {
		program *program
		stack   StackIndex
	}
	known := make(map[key]chain)
	var distinct Stacks // across programs
	first := make(map[StackIndex]int32)
	for i, stack := range found {
		if stack == 0 {
			continue
		}
		c, ok := known[key{of[i], stack}]
		if !ok {
			c.start = len(s.arena)
			s.arena = of[i].export(s.arena, stack, s.out)
			c.end = len(s.arena)
			all := distinct.addStack(s.arena[c.start:c.end])
			if c.same, ok = first[all]; !ok {
				c.same = int32(i)
				first[all] = c.same
			}
			known[key{of[i], stack}] = c
		}
		if s.opt.LLVMCompat {
			c.same = int32(i)
		}
		s.chains[i] = c
	}
}

// noFrames is the error if nothing is left of any context.
func (s *symbolizer) noFrames() error {
	found := fmt.Sprintf("none at the %d addresses of %d contexts", s.about.PCs, s.about.Contexts)
	if s.about.Outside < s.about.PCs {
		for _, p := range s.places {
			if !p.program.hasDebug() {
				found = "missing in " + p.program.path
				break
			}
		}
	}
	return &profile.FormatError{
		Section: "stacks", Offset: -1, Record: -1, Field: "debug information",
		Found: found, Want: "functions and lines (compile with -g)", Err: errRawNoEntries,
	}
}
