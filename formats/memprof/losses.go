package memprof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// A Share is a part of the contexts of a raw profile.
type Share struct {
	Contexts           int
	Allocations, Bytes uint64 // of the contexts; saturating
}

// Add adds another part.
func (s *Share) Add(c Share) {
	s.Contexts += c.Contexts
	s.Allocations = saturate.Add(s.Allocations, c.Allocations)
	s.Bytes = saturate.Add(s.Bytes, c.Bytes)
}

// A Loss is what call stacks lack at addresses of one program or library, for one cause.
type Loss struct {
	ProgramUse // File is empty if the program was not found; BuildID is nil for the cause "unloaded", too
	// Cause is a word:
	//
	//	not_given         the program or library was not found
	//	unloaded          no program or library was at the address when the profile was written
	//	no_debug_info     the program or library has no debug information
	//	no_function       the debug information lacks the function
	//	line_tables_only  the debug information lacks names and first lines of functions. Symbols
	//	                  and line tables have them, except for functions that are inlined
	//	no_frame_pointer  the stack ends at a function that has a caller
	//	stack_limit       the stack has as many calls as the runtime records by default, or more
	Cause string
	Cure  string // how to build or run the program, or what to give, so that the calls are known
	// Functions are the linkage names of functions at the addresses, from the symbol table: at most maxLostNames.
	Functions []string
	// Places are the contexts that allocate at one of the addresses. They count for the caller, or for nothing if no
	// call is known. For the cause line_tables_only, compilers cannot find the calls that allocate.
	Places Share
	// Callers are the contexts that allocate elsewhere and lack a call at one of the addresses. The outermost calls of libraries do not count.
	Callers Share
}

// The values of [Loss.Cause].
const (
	causeNotGiven   = "not_given"
	causeUnloaded   = "unloaded"
	causeNoDebug    = "no_debug_info"
	causeNoFunction = "no_function"
	causeLines      = "line_tables_only"
	causeNoPointer  = "no_frame_pointer"
	causeLimit      = "stack_limit"
)

// maxLostNames bounds the functions that a Loss names.
const maxLostNames = 8

// losses are the losses of one profile.
type losses struct {
	list  []Loss
	index map[lossKey]int32
	start []bool // by index in list: whether the outermost calls of a stack count

	of   []int32 // by distinct PC: index in list plus 1; 0 for a PC that lacks nothing
	mild []bool  // by distinct PC: what the PC lacks was found elsewhere
	ends []int32 // by distinct PC: like of, for a PC that is the last of a stack
	seen []bool  // by distinct PC: the PC is not, in all contexts, the innermost call, which is in MemProf's runtime
}

type lossKey struct{ file, buildID, cause string }

func (l *losses) expect(pcs int) {
	l.of, l.ends = make([]int32, pcs), make([]int32, pcs)
	l.mild, l.seen = make([]bool, pcs), make([]bool, pcs)
}

// note notes that the PC is lost. start says whether that matters at the outermost calls of a stack.
func (l *losses) note(pc int32, at ProgramUse, cause string, start bool) {
	l.of[pc] = l.entry(at, cause, start)
}

// entry returns the index of a loss plus 1, and adds the loss if it is missing.
func (l *losses) entry(at ProgramUse, cause string, start bool) int32 {
	key := lossKey{at.File, string(at.BuildID), cause}
	i, ok := l.index[key]
	if !ok {
		if l.index == nil {
			l.index = make(map[lossKey]int32)
		}
		i = int32(len(l.list))
		l.index[key] = i
		l.list = append(l.list, Loss{ProgramUse: ProgramUse{File: at.File, BuildID: at.BuildID}, Cause: cause})
		l.start = append(l.start, start)
	}
	return i + 1
}

// usualDepth is how many calls MemProf's runtime records by default (malloc_context_size).
const usualDepth = 30

// endOfStack notes what a context lacks whose outermost PC has frames: stacks that are complete end
// in libraries of the system, which start programs and threads, or at main.
func (s *symbolizer) endOfStack(p *lossPath, pc int32, depth int) {
	if p.place != 0 || p.caller != 0 {
		return
	}
	cause := causeNoPointer
	if depth >= usualDepth {
		cause = causeLimit
	}
	outermost := s.out.Stacks.Frames[s.arena[s.chains[pc].end-1]].GUID
	if outermost == guidOfMain {
		return
	}
	prog := s.of[pc]
	p.caller = s.lost.entry(ProgramUse{File: prog.path, BuildID: prog.file.BuildID}, cause, true)
	s.lost.ends[pc] = p.caller
}

var guidOfMain = guidOf("main")

// A lossPath collects what the stack of one context lacks, from the call that allocates outwards.
type lossPath struct {
	place, caller int32 // indexes in losses.list plus 1
	pending       int32 // a lost call that matters if another call follows
}

// lost notes a lost call. first says that no call is known yet.
func (p *lossPath) lost(l *losses, pc int32, first bool) {
	l.seen[pc] = true
	switch loss := l.of[pc]; {
	case loss == 0 || p.caller != 0:
	case first && p.place == 0:
		p.place = loss
	case first:
	case l.start[loss-1]:
		p.caller = loss
	case p.pending == 0:
		p.pending = loss
	}
}

// known notes a call with frames, which may lack something.
func (p *lossPath) known(l *losses, pc int32, first bool) {
	l.seen[pc] = true
	loss := l.of[pc]
	if loss != 0 && l.mild[pc] {
		loss = 0
	}
	switch {
	case p.caller != 0:
	case p.pending != 0:
		p.caller = p.pending
	case first && p.place == 0:
		p.place = loss
	default:
		p.caller = loss
	}
}

// measureLoss counts a context. kept says whether any of its calls is known.
func (s *symbolizer) measureLoss(c *rawContext, p *lossPath, kept bool) {
	size := s.raw.sizeOf(c)
	s.about.Bytes = saturate.Add(s.about.Bytes, size.Bytes)
	if !kept {
		s.about.Dropped++
		s.about.DroppedBytes = saturate.Add(s.about.DroppedBytes, size.Bytes)
	}
	switch {
	case p.place != 0:
		s.lost.list[p.place-1].Places.Add(size)
	case p.caller != 0:
		s.lost.list[p.caller-1].Callers.Add(size)
	}
}

// sizeOf returns the allocations and bytes of a context.
func (p *RawProfile) sizeOf(c *rawContext) Share {
	if c.merged >= 0 {
		m := &p.merged[c.merged]
		return Share{1, uint64(m.AllocCount), m.TotalSize}
	}
	mib := p.data[c.mib:]
	return Share{1, uint64(le.Uint32(mib)), le.Uint64(mib[totalSizeAt:])}
}

// finishLosses lists the losses, the loss of most bytes first, and warns of losses that a build or an option avoids.
func (s *symbolizer) finishLosses() {
	if s.opt.LLVMCompat {
		return
	}
	l := &s.lost
	for pc, loss := range l.of {
		if loss != 0 && l.seen[pc] {
			s.describeLoss(&l.list[loss-1], int32(pc))
		}
	}
	for pc, loss := range l.ends {
		if loss != 0 {
			s.describeLoss(&l.list[loss-1], int32(pc))
		}
	}
	for _, loss := range l.list {
		if loss.PCs > 0 {
			slices.Sort(loss.Functions)
			loss.Cure = loss.cure()
			s.about.Losses = append(s.about.Losses, loss)
		}
	}
	slices.SortStableFunc(s.about.Losses, func(a, b Loss) int {
		return cmp.Or(
			cmp.Compare(b.Places.Bytes, a.Places.Bytes), cmp.Compare(b.Callers.Bytes, a.Callers.Bytes), cmp.Compare(b.PCs, a.PCs),
		)
	})
	for i := range s.about.Losses {
		// The outermost addresses of a stack may be stray ones: the unwinder guesses where code keeps no frame pointers.
		l := &s.about.Losses[i]
		if l.Cause != causeNotGiven && l.Cause != causeLimit && (l.harms() || l.Cause == causeLines) {
			s.warn(l.describe(flaw.In("stacks").InFile(s.raw.Name), s.about.Contexts, s.about.Bytes))
		}
	}
}

// describeLoss counts a PC of a loss, and adds the function there.
func (s *symbolizer) describeLoss(loss *Loss, pc int32) {
	loss.PCs++
	prog := s.of[pc]
	if prog == nil || loss.Cause == causeLines || len(loss.Functions) == maxLostNames {
		return
	}
	addr := s.pcs.list[pc]
	name := prog.symbol(addr + s.places.find(addr).delta)
	if name != "" && !slices.Contains(loss.Functions, name) {
		loss.Functions = append(loss.Functions, name)
	}
}

// harms reports whether contexts lack the call that allocates, or a caller.
func (l *Loss) harms() bool { return l.Places.Contexts+l.Callers.Contexts > 0 }

// describe describes the loss and its cure; as a remark if it harms no context.
func (l *Loss) describe(at flaw.Position, contexts int, bytes uint64) error {
	found := fmt.Sprintf("missing at %d addresses", l.PCs)
	if l.PCs == 1 {
		found = "missing at 1 address"
	}
	if len(l.Functions) > 0 {
		names := slices.Clone(l.Functions)
		for i, name := range names {
			names[i] = symbols.Demangle(name)
		}
		found += " (" + strings.Join(names, ", ")
		if len(l.Functions) == maxLostNames {
			found += ", …"
		}
		found += ")"
	}
	var effects []string
	share := func(s Share, effect string) {
		if s.Contexts > 0 {
			effects = append(effects, fmt.Sprintf("%d of %d contexts with %s of the bytes %s", s.Contexts, contexts, percent(s.Bytes, bytes), effect))
		}
	}
	placed := "allocate there and count for the caller, if it is known"
	if l.Cause == causeLines {
		placed = "allocate in inlined functions, where compilers will not find them"
	}
	share(l.Places, placed)
	share(l.Callers, "lack a caller")
	if l.Cause == causeLines {
		found += ", and taken from the symbol and line tables where these have it"
	}
	if len(effects) > 0 {
		found += ": " + strings.Join(effects, ", ")
	}
	problem := at.Field(l.missing()).Got(found).Want(l.Cure)
	if l.harms() {
		return problem.Mismatch()
	}
	return problem.Remark()
}

// missing says what is missing at the addresses.
func (l *Loss) missing() string {
	switch l.Cause {
	case causeUnloaded:
		return "program or library in memory when the profile was written"
	case causeNoDebug:
		return "debug information of " + l.File
	case causeNoFunction:
		return "function in the debug information of " + l.File
	case causeLines:
		return "name or first line of functions in the debug information of " + l.File
	case causeNoPointer, causeLimit:
		return "caller of functions of " + l.File
	}
	return "program or library"
}

func (l *Loss) cure() string {
	const flags = "-g, or -gline-tables-only with -fdebug-info-for-profiling"
	switch l.Cause {
	case causeUnloaded:
		return "libraries that stay loaded until the exit (link them with -Wl,-z,nodelete), or their files with --program"
	case causeNoDebug:
		return "functions and lines (compile with " + flags + ", or give its separate debug file)"
	case causeNoFunction:
		return "all source files compiled with " + flags
	case causeLines:
		return flags
	case causeNoPointer:
		return "all code compiled with -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer, and whole stacks recorded (malloc_context_size in MEMPROF_OPTIONS)"
	case causeLimit:
		return "a larger malloc_context_size in MEMPROF_OPTIONS"
	}
	if len(l.BuildID) == 0 {
		return "programs and libraries linked with --build-id, and given"
	}
	return "the program or library with build id " + idString(l.BuildID)
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
