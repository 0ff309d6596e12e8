package memprof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// SymbolizeOptions adjust [RawProfile.Symbolize]. The zero value is right for most uses.
type SymbolizeOptions struct {
	// LLVMCompat symbolizes like llvm-profdata 22: the first program only, without
	// libraries, with a context for each stack of addresses and a call site for each
	// address, even if several have the same frames. Missing or damaged debug
	// information goes to Warn; otherwise it is an error, which names a missing .dwo file.
	LLVMCompat bool
	// KeepNames fills Profile.Names and Profile.Sources.
	KeepNames bool
	// Warn, if not nil, is called with suspicious findings.
	Warn func(profile.Warning)
	// Overflow, if not nil, is called with the index of each MIB with a sum that saturated.
	Overflow func(uint32)
}

// Coverage counts the results of symbolizing.
type Coverage struct {
	Contexts int // of the raw profile
	// Dropped is the number of contexts without a frame in a known function, such
	// as allocations within libraries.
	Dropped int
	// Bytes and DroppedBytes are what all contexts and the dropped ones allocated; saturating.
	Bytes, DroppedBytes uint64

	PCs int // distinct addresses
	// Outside counts the addresses in programs and libraries that were not found. Unknown counts the
	// addresses without debug information or in MemProf's runtime. Call stacks lack the calls at both.
	Outside, Unknown int
	Programs         []ProgramUse // programs and libraries that were found
	Missing          []ProgramUse // programs and libraries that were not found, in the order of their segments
	Losses           []Loss       // the loss of most bytes first; empty with LLVMCompat
}

// A ProgramUse is a program or library of the process.
type ProgramUse struct {
	File    string // empty if it was not found
	BuildID []byte // nil if it has none, or before raw version 3
	PCs     int    // distinct addresses in it
}

// Symbolize turns the addresses of a raw profile into functions and lines, and its
// contexts into records by function.
//
// It records a context in the function that allocates and, if that is inlined, in each function that it
// is inlined into. It records each other call as a call site in its function, with its inlined frames.
// It omits calls without debug information, and contexts without any other call.
//
// Raw version 1 has no access densities. Symbolize estimates them as if all blocks of a
// context were alike; without densities compilers would treat all contexts as cold.
func (p *RawProfile) Symbolize(b *Binaries, opt SymbolizeOptions) (*Profile, *Coverage, error) {
	s, err := p.symbolizer(b, opt, true)
	if err != nil {
		return nil, nil, err
	}
	return s.profile(), &s.about, nil
}

// symbolizer returns a symbolizer whose further steps cannot fail. ordered asks for llvm-profdata's order.
func (p *RawProfile) symbolizer(b *Binaries, opt SymbolizeOptions, ordered bool) (*symbolizer, error) {
	s := &symbolizer{raw: p, opt: opt, out: new(Profile)}
	s.about.Contexts = len(p.contexts)
	var err error
	if opt.LLVMCompat {
		s.places, err = p.placeLLVM(b)
	} else {
		s.places, err = p.placePrograms(b)
	}
	if err == nil {
		s.warnOfMain(b)
		s.collect(ordered)
		if !opt.LLVMCompat {
			err = s.placeUnloaded(b)
		}
	}
	if err == nil {
		err = s.lookup()
	}
	if err == nil {
		err = s.checkSize()
	}
	return s, flaw.InFile(err, p.Name)
}

// symbolizer is the state of a call of Symbolize.
type symbolizer struct {
	raw    *RawProfile
	opt    SymbolizeOptions
	places placements
	about  Coverage
	out    *Profile

	pcs    numbering[uint64]
	ids    []uint16     // numbers of the PCs of the remaining contexts; nil if there are too many
	found  []StackIndex // by distinct PC: in the chains of its program
	lost   losses
	of     []*program // by distinct PC
	chains []chain    // by distinct PC
	arena  []frameIndex
}

// A chain is the inlined frames at a PC: a part of the arena, innermost first; empty for a PC that is omitted.
type chain struct {
	start, end int
	// same is the first PC with the same frames, or with LLVMCompat the PC.
	same int32
}

func (s *symbolizer) lookup() error {
	pcs := s.pcs.list
	s.about.PCs = len(pcs)
	s.found = make([]StackIndex, len(pcs))
	s.of = make([]*program, len(pcs))
	type group struct {
		addrs []uint64
		ids   []int32
	}
	groups := make(map[*program]*group)
	var order []*program
	s.lost.expect(len(pcs))
	var outside []int32
	for i, pc := range pcs {
		at := s.places.find(pc)
		if at == nil {
			outside = append(outside, int32(i))
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
		s.of[i] = at.program
	}
	s.countOutside(outside)
	for _, prog := range order {
		g := groups[prog]
		s.about.Programs = append(s.about.Programs, ProgramUse{prog.path, prog.file.BuildID, len(g.addrs)})
		found, err := prog.lookup(g.addrs, s.opt.LLVMCompat)
		if err != nil {
			if found == nil {
				return err
			}
			s.warn(err)
		}
		for k, id := range g.ids {
			s.found[id] = found[k].stack
			if found[k].stack == 0 {
				s.about.Unknown++
			}
			if !s.opt.LLVMCompat {
				s.noteLoss(prog, g.addrs[k], id, found[k])
			}
		}
	}
	if len(pcs) == s.about.Outside+s.about.Unknown && (s.about.Contexts > 0 || s.opt.LLVMCompat) {
		return s.noFrames()
	}
	return nil
}

// Bounds of the frames on all stacks, per address more than compilers inline on average.
const (
	maxFramesPerPC = 256
	freeFrames     = 1 << 20
)

func (s *symbolizer) checkSize() error {
	length := make([]int, len(s.found))
	for i, stack := range s.found {
		if stack != 0 {
			length[i] = s.of[i].length(stack)
		}
	}
	if len(length) == 0 || slices.Max(length) <= maxFramesPerPC {
		return nil
	}
	calls, frames := 0, 0
	for i := range s.raw.contexts {
		for b := s.raw.pcs(&s.raw.contexts[i]); len(b) > 0; b = b[8:] {
			if n := length[s.pcs.find(le.Uint64(b))]; n > 0 {
				calls++
				frames += n
			}
		}
		if frames > freeFrames+maxFramesPerPC*calls {
			return flaw.In("stacks").Field("frames of the call stacks").Gotf("%d of %d calls", frames, calls).
				Wantf("at most %d of each", maxFramesPerPC).Unsupported()
		}
	}
	return nil
}

// warnOfMain warns if only libraries were found: the user may have given another build of the program.
func (s *symbolizer) warnOfMain(b *Binaries) {
	p := s.raw
	if len(p.Segments) == 0 || s.places.find(p.Segments[0].Start) != nil {
		return
	}
	s.warn(flaw.In("segments").InFile(p.Name).Field("build id of the program").Got(p.mainID()).Want(b.describe()).Mismatch())
}

// countOutside counts the PCs that are in no program given.
func (s *symbolizer) countOutside(ids []int32) {
	s.about.Outside = len(ids)
	pcs := s.pcs.list
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Compare(pcs[a], pcs[b]) })
	search := func(addr uint64) int {
		i, _ := slices.BinarySearchFunc(ids, addr, func(id int32, addr uint64) int { return cmp.Compare(pcs[id], addr) })
		return i
	}
	index := make(map[string]int)
	for _, g := range s.raw.Segments {
		from, to := search(g.Start), search(g.End)
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
		for _, id := range ids[from:to] {
			s.lost.note(id, ProgramUse{BuildID: g.BuildID}, causeNotGiven, false)
		}
	}
	for _, id := range ids {
		if s.lost.of[id] == 0 {
			s.lost.note(id, ProgramUse{}, causeUnloaded, false)
		}
	}
}

// noteLoss notes what the debug information of a program lacks for a PC.
func (s *symbolizer) noteLoss(prog *program, addr uint64, pc int32, found lookedUp) {
	use := ProgramUse{File: prog.path, BuildID: prog.file.BuildID}
	switch {
	case found.stack != 0 && found.state >= completed:
		s.lost.note(pc, use, causeLines, false)
		s.lost.mild[pc] = found.state == completed
	case found.stack != 0 || found.state == inRuntime:
	case !prog.hasDebug():
		main := len(s.raw.Segments) > 0 && string(s.raw.Segments[0].BuildID) == string(use.BuildID)
		s.lost.note(pc, use, causeNoDebug, main)
	default:
		if name := prog.symbol(addr); name != startCode {
			s.lost.note(pc, use, causeNoFunction, name != "")
		}
	}
}

func (s *symbolizer) warn(err error) {
	if s.opt.Warn != nil {
		s.opt.Warn(profile.Warning{File: s.raw.Name, Err: err})
	}
}

// collect numbers the distinct PCs by first appearance; with ordered and LLVMCompat, in llvm-profdata's order.
func (s *symbolizer) collect(ordered bool) {
	contexts, total := s.raw.contexts, 0
	for i := range contexts {
		total += int(contexts[i].depth)
	}
	s.ids = make([]uint16, 0, total)
	var rank []uint32
	if ordered && s.opt.LLVMCompat && s.raw.stackIDs != nil {
		rank = make([]uint32, len(contexts))
		for k, i := range s.raw.llvmOrder() {
			rank[i] = uint32(k)
		}
	}
	var first []uint64 // by number: where llvm-profdata first finds the PC
	for i := range contexts {
		at := uint64(0)
		if rank != nil {
			at = uint64(rank[i]) << 32
		}
		for b := s.raw.pcs(&contexts[i]); len(b) > 0; b = b[8:] {
			id, isNew := s.pcs.add(le.Uint64(b))
			switch {
			case rank == nil:
			case isNew:
				first = append(first, at)
			default:
				first[id] = min(first[id], at)
			}
			s.ids = append(s.ids, uint16(id))
			at++
		}
	}
	if len(s.pcs.list) > 1<<16 {
		s.ids = nil
	}
	if rank != nil {
		s.renumber(first)
	}
}

// renumber orders the distinct PCs by the given keys.
func (s *symbolizer) renumber(by []uint64) {
	old := s.pcs.list
	order := upTo[int32](len(old))
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(by[a], by[b]) })
	s.pcs = numbering[uint64]{}
	number := make([]uint16, len(old))
	for i, id := range order {
		number[id] = uint16(i)
		s.pcs.append(old[id])
	}
	for i, id := range s.ids {
		s.ids[i] = number[id]
	}
}

// importChains adds the frames of the programs to the profile in the order of their first occurrence.
func (s *symbolizer) importChains() {
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
	s.chains = make([]chain, len(s.found))
	for i, stack := range s.found {
		if stack == 0 {
			continue
		}
		k := key{s.of[i], stack}
		c, ok := known[k]
		if !ok {
			c.start = len(s.arena)
			s.arena = k.program.export(s.arena, stack, s.out)
			c.end = len(s.arena)
			all := distinct.addStack(s.arena[c.start:c.end])
			if c.same, ok = first[all]; !ok {
				c.same = int32(i)
				first[all] = c.same
			}
			known[k] = c
		}
		if s.opt.LLVMCompat {
			c.same = int32(i)
		}
		s.chains[i] = c
	}
}

// noFrames returns the error for a profile without any context left.
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
	return flaw.In("stacks").Field("debug information").Got(found).
		Want("functions and lines (compile with -g)").Because(llvmerr.HeapNoEntries)
}
